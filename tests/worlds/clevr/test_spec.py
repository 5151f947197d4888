"""Bad specs are refused with the path of the field, what was expected and what came. Good specs survive JSON."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from generation.engine.content_hash import digest
from generation.engine.errors import BadSpec
from generation.engine.worlds import find_preset, get_maker, get_world
from generation.engine.worlds.clevr.spec import ClevrSpec
from tests.worlds.clevr.bad_specs import FAULTS, ORANGE, at

WORLD, MAKER = get_world("clevr"), get_maker("clevr")
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n"


def read(data: Mapping[str, Any], *, files: Mapping[str, bytes] | None = None) -> ClevrSpec:
    spec = WORLD.read_spec({"base": "clevr-mini", **data}, files=files or {})
    assert isinstance(spec, ClevrSpec)
    return spec


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_input_is_refused_and_its_field_is_named(fault: str):
    changes, where, words = FAULTS[fault]
    with pytest.raises(BadSpec) as refused:
        read(changes)
    assert refused.value.where == where
    assert "xpected" in refused.value.reason
    for word in words:
        assert word in str(refused.value)


@pytest.mark.parametrize("data", [None, [], "clevr", 5])
def test_a_spec_that_is_no_object_is_refused(data: Any):
    with pytest.raises(BadSpec):
        WORLD.read_spec(data)


def test_a_spec_that_is_no_json_is_refused():
    with pytest.raises(BadSpec):
        read({"title": {1, 2}})


def test_an_unknown_preset_is_refused_and_known_ones_are_listed():
    with pytest.raises(BadSpec, match=r"clevr, clevr-mini.*'clevr-maxi'"):
        find_preset("clevr-maxi")


def test_an_unknown_world_is_refused_and_known_ones_are_listed():
    with pytest.raises(BadSpec, match=r"clevr.*'tetris'"):
        get_world("tetris")


def test_further_errors_are_counted():
    with pytest.raises(BadSpec, match=r"\(1 more to mend"):
        read({"seed": -1, "colour": 2})


BROKEN_MESHES = {
    "empty": b"",
    "no faces": b"v 0 0 0\nv 1 0 0\nv 0 1 0\n",
    "a corner that isn't there": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n",
    "a broken number": b"v 0 0 zero\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "not finite": b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "not text": bytes(range(128, 256)),
    "a picture": b"\x89PNG\r\n\x1a\n\0\0",
}


@pytest.mark.parametrize("fault", BROKEN_MESHES)
def test_a_broken_mesh_is_refused_and_its_field_is_named(fault: str, tmp_path: Path):
    (tmp_path / "duck.obj").write_bytes(BROKEN_MESHES[fault])
    data, files = MAKER.gather(at("vocabulary.shapes.duck", {"solid": "mesh", "mesh": "duck.obj"}), folder=tmp_path)
    with pytest.raises(BadSpec) as refused:
        read(data, files=files)
    assert refused.value.where.startswith("vocabulary.shapes.duck.mesh")


def test_a_valid_mesh_is_read_and_named_by_its_digest(tmp_path: Path):
    (tmp_path / "duck.obj").write_text(TETRAHEDRON)
    given = at("vocabulary.shapes.duck", {"solid": "mesh", "mesh": "duck.obj"})
    data, files = MAKER.gather(given, folder=tmp_path)
    spec = read(data, files=files)
    [name] = files
    assert spec.vocabulary.shapes["duck"].mesh == name
    assert name in spec.vocabulary.meshes
    assert given["vocabulary"]["shapes"]["duck"]["mesh"] == "duck.obj"
    assert MAKER.gather(data, folder=tmp_path) == (data, {})


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (at("vocabulary.shapes.duck", {"solid": "mesh", "mesh": "gone.obj"}), "vocabulary.shapes.duck.mesh"),
        (at("questions.families", "gone"), "questions.families"),
        (at("splits.val.overrides", at("questions.families", "gone.json")), "splits.val.overrides.questions.families"),
        (
            at("splits.val.overrides", at("vocabulary.shapes.duck", {"solid": "mesh", "mesh": "gone.obj"})),
            "splits.val.overrides.vocabulary.shapes.duck.mesh",
        ),
    ],
)
def test_a_missing_file_is_refused_and_its_field_is_named(data: dict[str, Any], where: str, tmp_path: Path):
    with pytest.raises(BadSpec, match="gone") as refused:
        MAKER.gather(data, folder=tmp_path)
    assert refused.value.where == where


def test_a_folder_without_families_is_refused(tmp_path: Path):
    with pytest.raises(BadSpec, match="none") as refused:
        MAKER.gather(at("questions.families", "."), folder=tmp_path)
    assert refused.value.where == "questions.families"


def test_a_bad_family_is_refused_with_its_field_file_and_node(tmp_path: Path):
    (tmp_path / "own.json").write_text('[{"text": [], "params": [], "nodes": [{"type": "scene", "inputs": [0]}]}]')
    data, files = MAKER.gather(at("questions.families", "own.json"), folder=tmp_path)
    with pytest.raises(BadSpec) as refused:
        read(data, files=files)
    assert "own.json, family 0, node 0" in str(refused.value)
    assert "never runs" in str(refused.value)


def test_families_that_are_not_utf_8_are_refused(tmp_path: Path):
    (tmp_path / "own.json").write_bytes(b"\xff\xfe\x80")
    data, files = MAKER.gather(at("questions.families", "own.json"), folder=tmp_path)
    with pytest.raises(BadSpec) as refused:
        read(data, files=files)
    assert "own.json" in str(refused.value)


@pytest.mark.parametrize("name", MAKER.presets())
def test_a_spec_is_unchanged_after_json(name: str):
    spec = WORLD.read_spec({"base": name})
    again = WORLD.read_spec(json.loads(json.dumps(spec.to_json())))
    assert again == spec
    assert digest(again.to_json()) == digest(spec.to_json())
    assert list(again.splits) == list(spec.splits)


def test_the_order_of_names_in_a_vocabulary_does_not_matter():
    plain = read({"vocabulary": {"colors": {"orange": ORANGE}}})
    data = plain.to_json()
    turned = copy.deepcopy(data)
    for part in ("colors", "materials", "sizes", "shapes", "relations"):
        turned["vocabulary"][part] = dict(reversed(data["vocabulary"][part].items()))
    turned["vocabulary"] = dict(reversed(turned["vocabulary"].items()))
    again = WORLD.read_spec(dict(reversed(turned.items())))
    assert digest(again.to_json()) == digest(data)
    assert again.language == plain.language  # type: ignore[attr-defined]
    assert WORLD.answers(again) == WORLD.answers(plain)
    assert generate(again) == generate(plain)


def generate(spec: Any, split: str = "train", scenes: int = 3) -> list[Any]:
    """Return the first items of a split as JSON."""
    chunk = MAKER.plan(spec, split)[0]._replace(items=scenes)
    items = MAKER.make(spec, split, chunk)
    return [(item.scene.to_json(), [q.to_json() for q in item.questions]) for item in items if item.scene]


def test_the_order_of_nouns_and_synonyms_does_not_matter():
    data = read({}).to_json()
    turned = copy.deepcopy(data)
    turned["vocabulary"]["things"] = dict(reversed(data["vocabulary"]["things"].items()))
    turned["vocabulary"]["shapes"]["cube"]["synonyms"] = {"brick": "bricks", "block": "blocks"}
    data["vocabulary"]["shapes"]["cube"]["synonyms"] = {"block": "blocks", "brick": "bricks"}
    assert digest(WORLD.read_spec(turned).to_json()) == digest(WORLD.read_spec(data).to_json())
    assert generate(WORLD.read_spec(turned)) == generate(WORLD.read_spec(data))


def test_a_split_may_have_other_colours():
    colors = dict.fromkeys(("gray", "blue", "brown", "yellow", "green", "red"))
    spec = read({"splits": {"val": {"overrides": {"vocabulary": {"colors": {**colors, "orange": ORANGE}}}}}})
    own = spec.for_split("val")
    assert own.vocabulary.values("color") == ("cyan", "orange", "purple")
    assert spec.for_split("train").vocabulary.values("color") == spec.vocabulary.values("color")
    scenes = generate(spec, "val", 8)
    seen = {thing["color"] for scene, _ in scenes for thing in scene["objects"]}
    assert seen == {"cyan", "orange", "purple"}
    words = {word for _, questions in scenes for q in questions for word in q["text"].lower().split()}
    assert not words & {"gray", "blue", "brown", "yellow", "green", "red"}
    assert words & {"orange", "tangerine"}


def test_a_split_may_have_another_number_of_objects_and_questions():
    spec = read(
        {
            "splits": {
                "val": {"overrides": {"scene": {"objects_min": 4, "objects_max": 5}, "questions": {"per_scene": 3}}}
            }
        }
    )
    for scene, questions in generate(spec, "val", 8):
        assert 4 <= len(scene["objects"]) <= 5
        assert len(questions) == 3
    [chunk] = MAKER.plan(spec, "val")
    assert (chunk.items, chunk.questions) == (20, 60)


def test_overrides_do_not_change_other_splits():
    plain, changed = read({}), read({"splits": {"val": {"overrides": {"scene": {"objects_max": 4}}}}})
    assert generate(plain) == generate(changed)
    assert generate(plain, "val") != generate(changed, "val")


def test_stated_fields_replace_those_of_the_preset():
    spec = read({"seed": 9, "splits": {"val": None}})
    assert spec.seed == 9
    assert list(spec.splits) == ["train", "test"]
    assert spec.splits["train"].scenes == 60


def test_presets_have_the_published_numbers_of_scenes():
    assert {"clevr", "clevr-mini"} <= set(MAKER.presets())
    mini, full = WORLD.read_spec({"base": "clevr-mini"}), WORLD.read_spec({"base": "clevr"})
    assert {name: split.scenes for name, split in mini.splits.items()} == {"train": 60, "val": 20, "test": 20}
    assert sum(split.scenes for split in full.splits.values()) == 100_000
    assert not any(split.withheld for spec in (mini, full) for split in spec.splits.values())


def test_the_reference_is_train_by_default():
    spec = read({"splits": {"hard": {"scenes": 1, "reference": "val"}}})
    assert [spec.reference_of(name) for name in ("train", "val", "test", "hard")] == [None, "train", "train", "val"]


def test_a_spec_does_not_change_with_the_object_it_was_read_from():
    data = at("vocabulary.colors.orange", copy.deepcopy(ORANGE))
    spec = read(data)
    before = digest(spec.to_json())
    data["vocabulary"]["colors"]["orange"]["rgb"][0] = 0
    assert digest(spec.to_json()) == before


def test_a_spec_is_frozen():
    spec = read({})
    with pytest.raises(Exception, match="frozen"):
        spec.seed = 5  # type: ignore[misc]


@pytest.mark.parametrize(
    "vocabulary",
    [
        {"colors": {"gray": None}},
        {"shapes": {"cube": None, "sphere": None}},
        {"things": {"object": None}},
        {"shapes": {"cube": {"synonyms": {"block": None}}}},
        {"colors": {"gray": None, "orange": {"rgb": [255, 128, 0]}}},
    ],
    ids=str,
)
def test_removed_words_stay_removed_after_json(vocabulary: dict[str, Any]):
    """Datasets store their spec as JSON and read it again."""
    spec = read({"vocabulary": vocabulary})
    again = WORLD.read_spec(json.loads(json.dumps(spec.to_json())))
    assert isinstance(again, ClevrSpec)
    assert again.vocabulary == spec.vocabulary != read({}).vocabulary
    assert again.for_preview().vocabulary == spec.vocabulary
    assert digest(again.to_json()) == digest(spec.to_json())
