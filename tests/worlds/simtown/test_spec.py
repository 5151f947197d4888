"""Specs of SimTown: presets as the paper has them, overrides of splits, files of frequencies, and what is refused."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from generation.engine.content_hash import digest
from generation.engine.errors import BadSpec
from generation.engine.worlds.simtown.spec import FEWEST, NAMES, PRESETS
from tests.worlds.simtown.bad_specs import BAD_FILES, FAULTS
from tests.worlds.simtown.made import MAKER, WORLD, sized, spec_of


@pytest.mark.parametrize("name", tuple(PRESETS))
def test_preset_survives_json(name: str) -> None:
    spec = spec_of(name)
    again = WORLD.read_spec(json.loads(json.dumps(spec.to_json())))
    assert again == spec
    assert digest(again.to_json()) == digest(spec.to_json())


def test_a_spec_with_everything_changed_survives_json() -> None:
    names = list(NAMES[:6])
    spec = spec_of(
        "simtown-k15-distractor",
        entities=6,
        seed=2**64 - 1,
        scene={"weathers": ["fog"], "least_pixels": 50, "tries": 10},
        questions={
            "relations": ["behind", "left"],
            "margin": 2.25,
            "exponent": 0.5,
            "ranks": names[::-1],
            "false_shares": {"reversed": 0.0, "wrong": 2.0, "absent": 1.0},
        },
        images={"width": 200, "height": 150, "samples": 9},
    )
    assert WORLD.read_spec(json.loads(json.dumps(spec.to_json()))) == spec
    assert spec.ranked == tuple(names[::-1])


def test_presets_are_those_of_the_paper() -> None:
    """Four numbers of entities, without a distractor and with one of both placements, and the paper's sizes."""
    names, thirds = tuple(PRESETS), ("", "-distractor", "-random-distractor")
    assert names[0] == "simtown-mini"
    assert list(names[1:]) == [f"simtown-k{k}{third}" for third in thirds for k in (5, 15, 31, 60)]
    for name in names[1:]:
        spec = spec_of(name)
        assert name.startswith(f"simtown-k{spec.entities}")
        assert spec.distractor == name.endswith("-distractor")
        assert spec.distractor_placement == ("random" if name.endswith("-random-distractor") else "beside")
        assert [spec.splits[split].scenes for split in ("train", "val", "test")] == [60_000, 1_000, 2_000]
        assert spec.for_split("train") == spec.for_split("val") == spec
        assert spec.for_split("test").questions.frequencies == "uniform"
        assert spec.questions.relations == ["left", "right"]


def test_the_placement_is_in_the_json_only_if_it_is_random() -> None:
    """Specs of earlier releases do not have the field, and stored specs are compared as text."""
    assert "distractor_placement" not in spec_of("simtown-k15-distractor").to_json()
    assert spec_of("simtown-k15-distractor", distractor_placement="beside") == spec_of("simtown-k15-distractor")
    assert spec_of("simtown-k15-random-distractor").to_json()["distractor_placement"] == "random"


def test_the_placement_of_a_split_can_be_another_one() -> None:
    spec = spec_of("simtown-k15-distractor", splits={"test": {"overrides": {"distractor_placement": "random"}}})
    assert [spec.for_split(split).distractor_placement for split in ("train", "test")] == ["beside", "random"]
    spec = spec_of("simtown-k15-random-distractor", splits={"test": {"overrides": {"distractor_placement": "beside"}}})
    assert [spec.for_split(split).distractor_placement for split in ("train", "test")] == ["random", "beside"]


def test_overrides_of_a_split_are_laid_over_the_dataset() -> None:
    spec = sized("simtown-k15", train=3)
    other = spec_of(
        "simtown-k15",
        splits={"test": {"overrides": {"distractor": True, "entities": 9, "scene": {"weathers": ["snow"]}}}},
    )
    own = other.for_split("test")
    assert (own.distractor, own.entities, own.scene.weathers) == (True, 9, ["snow"])
    assert (own.questions.frequencies, own.scene.least_pixels) == ("uniform", spec.scene.least_pixels)
    assert (other.distractor, other.entities) == (False, 15)
    assert own.names == NAMES[:9]
    assert len(own.marginals.subjects) == 9


def test_a_longer_list_begins_like_a_shorter_one() -> None:
    for count in range(FEWEST, len(NAMES) + 1):
        assert spec_of("simtown-k5", entities=count).names == NAMES[:count]


def test_frequent_entities_are_in_no_order_of_the_list() -> None:
    spec = spec_of("simtown-k60")
    assert sorted(spec.ranked) == sorted(spec.names)
    assert spec.ranked != spec.names
    order = [spec.names.index(name) for name in spec.ranked]
    rises = sum(one < two for one, two in pairwise(order))
    assert 18 < rises < 42


@pytest.mark.parametrize(("changes", "where", "words"), FAULTS.values(), ids=FAULTS)
def test_bad_input_is_refused_with_its_field_in_one_line(
    changes: dict[str, Any], where: str, words: tuple[str, ...]
) -> None:
    with pytest.raises(BadSpec) as refused:
        spec_of("simtown-k5", **changes)
    message = str(refused.value)
    assert refused.value.where == where
    assert message.startswith(f"{where}: Expected" if where else "Expected")
    assert "\n" not in message
    assert message.endswith(".")
    assert [word for word in words if word not in message] == []
    assert refused.value.others == ()


# Frequency files

ROWS = [{"name": name, "subject": 0.2, "object": 0.2} for name in NAMES[:5]]


def gathered(folder: Path, shares: object) -> dict[str, Any]:
    data = {"base": "simtown-k5", "questions": {"shares": shares, "margin": 2.0}}
    found, files = MAKER.gather(data, folder=folder)
    assert files == {}
    return found


def test_a_frequency_file_is_taken_into_the_spec(tmp_path: Path) -> None:
    rows = [{**row, "subject": 0.3 if not number else 0.175} for number, row in enumerate(ROWS)]
    (tmp_path / "shares.json").write_text(json.dumps(rows))
    spec = spec_of("simtown-k5", questions=gathered(tmp_path, "shares.json")["questions"])
    assert spec.marginals.subjects == (0.3, 0.175, 0.175, 0.175, 0.175)
    assert spec.marginals.objects == (0.2,) * 5
    assert spec.questions.margin == 2.0
    assert WORLD.read_spec(spec.to_json()) == spec


def test_shares_in_the_spec_itself_are_kept(tmp_path: Path) -> None:
    own = {name: {"subject": 0.2, "object": 0.2} for name in NAMES[:5]}
    assert gathered(tmp_path, own)["questions"]["shares"] == own
    assert MAKER.gather({"base": "simtown-k5"}, folder=tmp_path) == ({"base": "simtown-k5"}, {})


def test_gathering_leaves_the_given_data_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "shares.json").write_text(json.dumps(ROWS))
    data = {"questions": {"shares": "shares.json"}}
    MAKER.gather(data, folder=tmp_path)
    assert data == {"questions": {"shares": "shares.json"}}


def refused_file(folder: Path, name: str = "shares.json") -> str:
    with pytest.raises(BadSpec) as refused:
        gathered(folder, name)
    assert refused.value.where == "questions.shares"
    assert str(refused.value).startswith("questions.shares: Expected")
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(("text", "words"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_wrong_frequency_file_is_refused(text: str, words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "shares.json").write_text(text)
    message = refused_file(tmp_path)
    assert [word for word in words if word not in message] == []


def test_a_frequency_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    assert "none.json" in refused_file(tmp_path, "none.json")
    (tmp_path / "folder").mkdir()
    assert "folder" in refused_file(tmp_path, "folder")
    (tmp_path / "shares.json").write_bytes(b"\xff\xfe[]")
    assert "shares.json" in refused_file(tmp_path)


@pytest.mark.parametrize(("text", "words"), BAD_FILES.values(), ids=BAD_FILES)
@pytest.mark.parametrize("split", ["", "test"])
def test_a_wrong_frequency_file_that_came_with_a_spec_names_its_field(
    text: str, words: tuple[str, ...], split: str
) -> None:
    questions: dict[str, Any] = {"questions": {"shares": "shares.json"}}
    laid = {"splits": {split: {"scenes": 4, "overrides": questions}}} if split else questions
    with pytest.raises(BadSpec) as refused:
        WORLD.read_spec({"base": "simtown-k5", **laid}, files={"shares.json": text.encode()})
    assert refused.value.where == (f"splits.{split}.overrides." if split else "") + "questions.shares"
    assert [word for word in words if word not in str(refused.value)] == []


def test_shares_come_from_a_file_that_came_with_the_spec() -> None:
    files = {"shares.json": json.dumps(ROWS).encode()}
    spec = WORLD.read_spec({"base": "simtown-k5", "questions": {"shares": "shares.json"}}, files=files)
    shares = {row["name"]: {"subject": row["subject"], "object": row["object"]} for row in ROWS}
    assert spec == spec_of("simtown-k5", questions={"shares": shares})


def test_a_file_that_did_not_come_with_the_spec_is_asked_for() -> None:
    with pytest.raises(BadSpec, match=r"questions\.shares: Expected .*'other\.json'"):
        WORLD.read_spec({"base": "simtown-k5", "questions": {"shares": "other.json"}})


def test_shares_of_a_file_are_checked_like_others(tmp_path: Path) -> None:
    (tmp_path / "shares.json").write_text(json.dumps(ROWS[:4]))
    with pytest.raises(BadSpec, match="no shares of 'ice cream van'"):
        spec_of("simtown-k5", questions=gathered(tmp_path, "shares.json")["questions"])
