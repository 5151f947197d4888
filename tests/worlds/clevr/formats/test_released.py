"""CLEVR's files in the format of the release: other people's readers accept them, and withheld data is not in them."""

import csv
import gzip
import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generation.engine import formats
from generation.engine.content_hash import Fingerprint
from generation.engine.items import Question
from generation.engine.program import from_json
from generation.engine.worlds.clevr.formats.file_dialects import COGENT_RELEASE, RELEASE
from generation.engine.worlds.clevr.scene import read_scene
from generation.engine.worlds.clevr.world import WORLD
from tests.shared_data import shared_path
from tests.worlds.clevr.formats import consumers
from tests.worlds.clevr.formats.sample import COGENT, PER_SCENE, Dataset, shapes

FORMAT = formats.find("clevr", WORLD)


def write_export(dataset: Dataset, folder: Path) -> Path:
    FORMAT.write(dataset, folder, options={}, tick=lambda _: None)
    return folder


@pytest.fixture(scope="module")
def folder(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an export that tests must not change."""
    return write_export(dataset, tmp_path_factory.mktemp("exports"))


@pytest.fixture
def release(folder: Path) -> Path:
    """The folder with the name of the release."""
    return folder / RELEASE


def records(path: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text())[name]
    return found


# Readers of other people ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("split", "scenes"), [("train", 4), ("val", 2), ("test", 2), ("hidden", 1)])
def test_shapeworld_reads_the_files_character_by_character(release: Path, split: str, scenes: int) -> None:
    read = consumers.shapeworld(release, split, is_test=split in ("test", "hidden"))
    assert [len(questions) for _, questions in read] == [PER_SCENE] * scenes


def test_torchvision_finds_pictures_and_counts_objects(folder: Path, tmp_path: Path, dataset: Dataset) -> None:
    (tmp_path / "clevr").symlink_to(folder)
    for split in dataset.splits[:3]:
        read = consumers.torchvision(tmp_path, split.name)
        scenes = [entry.item.scene for entry in split.items()]
        counts = [None if split.name == "test" else len(scene.to_json()["objects"]) for scene in scenes if scene]
        assert [count for _, count in read] == counts
        assert {picture.size for picture, _ in read} == {(64, 64)}


def test_iep_reads_programs_and_answers(release: Path) -> None:
    programs = consumers.iep(release)
    assert {split: len(found) for split, found in programs.items()} == {"train": 20, "val": 10, "test": 0}
    assert all(program[-1] == "scene" for program in programs["train"])


def test_parlai_groups_questions_by_image(release: Path) -> None:
    for split, scenes in (("train", 4), ("val", 2), ("test", 2)):
        read = consumers.parlai(release, split)
        assert sum(image is not None for _, _, image in read) == scenes
        assert all((labels is None) == (split == "test") for _, labels, _ in read)


def test_openvqa_counts_words_and_answers(release: Path) -> None:
    words, answers = consumers.openvqa(release)
    assert len(words) > 20
    assert set(answers) <= consumers.ANSWERS


def test_tensorflow_datasets_joins_pictures_and_scenes(folder: Path) -> None:
    read = consumers.tensorflow_datasets(folder)
    assert {split: len(found) for split, found in read.items()} == {"train": 4, "val": 2, "test": 2}
    assert all(record["objects"] and len(record["questions"]) == PER_SCENE for record in read["train"])
    assert all(answer == "" for record in read["test"] for _, answer in record["questions"])


# Contents of the files ------------------------------------------------------------------------------------------


def test_files_have_the_keys_and_the_spaces_of_the_release(release: Path, dataset: Dataset) -> None:
    text = (release / "questions" / "CLEVR_val_questions.json").read_text()
    assert text == json.dumps(json.loads(text))
    assert json.loads(text)["info"] == {"split": "val", "license": "CC BY 4.0", "version": "1.2", "date": "03/09/2026"}
    real = json.loads(shared_path("data", "clevr-v1", "CLEVR_train_scenes.json").read_text())
    ours = json.loads((release / "scenes" / "CLEVR_train_scenes.json").read_text())
    assert set(ours["info"]) == {*real["info"], "rotation"}  # the unit of the rotation
    mine, other = ours["scenes"][0], real["scenes"][0]
    assert set(mine) - set(other) == set()
    assert set(mine["objects"][0]) == set(other["objects"][0])
    assert set(mine["directions"]) == set(other["directions"])
    assert set(mine["relationships"]) == set(other["relationships"])


def test_the_release_folder_contains_no_other_files(release: Path) -> None:
    found = sorted(str(path.relative_to(release)) for path in release.rglob("*") if path.suffix != ".png")
    assert [name for name in found if name.endswith(".json")] == [
        *(f"questions/CLEVR_{split}_questions.json" for split in ("hidden", "test", "train", "val")),
        *(f"scenes/CLEVR_{split}_scenes.json" for split in ("train", "val")),
    ]
    assert {name for name in found if not name.endswith(".json")} == {
        *("images", "questions", "scenes"),
        *(f"images/{split}" for split in ("hidden", "test", "train", "val")),
    }


def test_reading_an_open_split_back_gives_the_same_content_hash(folder: Path, dataset: Dataset) -> None:
    for split in dataset.splits[:3]:
        assert fingerprint_of(folder, split.name) == split.fingerprint


def fingerprint_of(folder: Path, split: str) -> str:
    """Return the content hash of the files: those of the release if they have the answers, else the additional ones."""
    told = (
        folder / RELEASE if (folder / RELEASE / "scenes" / f"CLEVR_{split}_scenes.json").exists() else folder / BESIDE
    )
    questions = records(told / "questions" / f"CLEVR_{split}_questions.json", "questions")
    fingerprint = Fingerprint()
    for scene in records(told / "scenes" / f"CLEVR_{split}_scenes.json", "scenes"):
        asked = [one for one in questions if one["image_index"] == scene["image_index"]]
        fingerprint.add(read_scene(scene).to_json(), map(json_for_hash, asked))
    return fingerprint.hexdigest()


BESIDE = "horsesense"


def json_for_hash(told: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a question that the content hash covers."""
    program = from_json(told["program"])
    asked = Question(told["question"], program, None, program[-1].function, told["question_family_index"])
    return {**asked.to_json(), "answer": told["answer"]}


def test_withheld_data_is_in_no_file(folder: Path, dataset: Dataset) -> None:
    found = [path for path in folder.rglob("*") if "hidden" in path.name]
    assert sorted(path.name for path in found if path.suffix != ".png" and path.is_file()) == [
        "CLEVR_hidden_facets.csv.gz",
        "CLEVR_hidden_questions.json",
    ]
    with gzip.open(folder / BESIDE / "facets" / "CLEVR_hidden_facets.csv.gz", "rt") as file:
        names = file.readline().strip().split(",")
    reveals = {facet.name for facet in WORLD.facets(dataset.splits[0].spec) if facet.reveals}
    assert reveals & set(names) == set()
    assert set(records(folder / RELEASE / "questions" / "CLEVR_hidden_questions.json", "questions")[0]) == {
        *("image_index", "image_filename", "question_index", "question", "split")
    }


def test_cameras_facets_and_spec_are_in_an_additional_folder(folder: Path, dataset: Dataset) -> None:
    views = records(folder / BESIDE / "views" / "CLEVR_test_views.json", "views")
    assert [view["image_index"] for view in views] == [0, 1]
    assert {"camera", "key", "fill", "back", "focal"} <= set(views[0])
    with gzip.open(folder / BESIDE / "facets" / "CLEVR_val_facets.csv.gz", "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    answers = [
        one["answer"] for one in records(folder / RELEASE / "questions" / "CLEVR_val_questions.json", "questions")
    ]
    assert [row["answer"] for row in rows] == answers
    assert [row["question_index"] for row in rows] == [str(number) for number in range(10)]
    assert json.loads((folder / BESIDE / "spec.json").read_text()) == dataset.spec_json
    about = json.loads((folder / BESIDE / "dataset.json").read_text())
    assert about["authors"] == ["Ada Example", "Bob Example"]
    assert [split["fingerprint"] for split in about["splits"]] == [split.fingerprint for split in dataset.splits]


def test_the_readme_names_authors_licence_citation_and_what_is_missing(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    for told in ("# Some shapes", "Ada Example, Bob Example", "CC BY 4.0", "1.2", "@misc{shapes,", "answers of hidden"):
        assert told in text


def test_splits_of_cogent_are_in_the_folder_of_its_release(tmp_path: Path) -> None:
    folder = write_export(shapes(splits=COGENT, images=False), tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == ["CLEVR_CoGenT_v1.0", "README.md", "horsesense"]
    scenes = sorted(path.name for path in (folder / COGENT_RELEASE / "scenes").iterdir())
    assert scenes == [f"CLEVR_{split}_scenes.json" for split in ("trainA", "valA", "valB")]
    assert "no images of trainA" in (folder / "README.md").read_text()


def test_the_same_dataset_gives_the_same_bytes(folder: Path, dataset: Dataset, tmp_path: Path) -> None:
    assert sums(write_export(dataset, tmp_path)) == sums(folder)


def sums(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_files_that_the_spec_names_are_in_the_additional_folder(tmp_path: Path) -> None:
    dataset = replace(shapes(splits={"val": {"scenes": 1}}, images=False), files={"d" * 64: b"content"})
    folder = write_export(dataset, tmp_path)
    assert (folder / BESIDE / "files" / ("d" * 64)).read_bytes() == b"content"


def test_tick_counts_each_scene_once(dataset: Dataset, tmp_path: Path) -> None:
    ticks: list[int] = []
    FORMAT.write(dataset, tmp_path, options={}, tick=ticks.append)
    assert sum(ticks) == sum(split.scenes for split in dataset.splits)


# Checks of these tests ------------------------------------------------------------------------------------------


def damaged_texts() -> Iterator[tuple[str, str, str]]:
    yield "indented", '"questions": [{', '"questions": [\n {'
    yield "a newline at the end", "]}", "]}\n"
    yield "another name", '"CLEVR_val_000001.png"', '"CLEVR_val_1.png"'
    yield "a missing key", '"split": "val", "question_', '"splt": "val", "question_'


@pytest.mark.parametrize(("old", "new"), [pytest.param(old, new, id=name) for name, old, new in damaged_texts()])
def test_the_streaming_reader_refuses_the_files_that_the_original_refuses(
    folder: Path, tmp_path: Path, old: str, new: str
) -> None:
    copy = tmp_path / "questions.json"
    text = (folder / RELEASE / "questions" / "CLEVR_val_questions.json").read_text()
    copy.write_text(text.replace(old, new) if old != "]}" else text + "\n")
    spoiled_text = copy.read_text()
    assert spoiled_text != text
    with pytest.raises((AssertionError, KeyError, json.JSONDecodeError)):
        found = list(consumers._stream(copy, "questions"))
        assert all(asked["split"] == "val" and len(asked["image_filename"]) == 20 for asked in found)


def test_an_image_is_the_stored_file(folder: Path, dataset: Dataset) -> None:
    [first, *_] = dataset.splits[0].items()
    assert first.image is not None
    stored = (folder / RELEASE / "images" / "train" / "CLEVR_train_000000.png").read_bytes()
    assert io.BytesIO(stored).getvalue() == first.image()
