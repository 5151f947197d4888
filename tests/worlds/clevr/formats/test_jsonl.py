"""Lines of JSON, and pictures in a tar file."""

import gzip
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from generation.engine import formats
from generation.engine.program import from_json
from generation.engine.worlds.clevr.world import WORLD
from tests.worlds.clevr.formats.sample import PER_SCENE, Dataset, shapes
from tests.worlds.clevr.formats.test_released import sums

FORMAT = formats.find("jsonl", WORLD)


@pytest.fixture(scope="module")
def folder(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an export that tests must not change."""
    folder = tmp_path_factory.mktemp("exports")
    FORMAT.write(dataset, folder, options={}, tick=lambda _: None)
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def test_each_question_is_a_line_with_its_answer_program_choices_and_facets(folder: Path, dataset: Dataset) -> None:
    asked = [question for entry in dataset.splits[1].items() for question in entry.item.questions]
    found = lines(folder / "val" / "questions.jsonl.gz")
    assert [one["question_id"] for one in found] == list(range(2 * PER_SCENE))
    for told, question in zip(found, asked, strict=True):
        assert question.answer is not None
        assert (told["question"], told["answer"]) == (question.text, question.answer.text)
        assert from_json(told["program"]) == question.program
        assert told["answer"] in told["choices"]
        assert told["prompt"].startswith(question.text)
        assert told["facets"]["type"] == question.kind
        assert told["facets"]["template"] == str(question.family)
        assert isinstance(told["facets"]["length"], int)


def test_pictures_have_the_names_in_the_questions(folder: Path, dataset: Dataset) -> None:
    stored = {entry.image_name: entry.image() for entry in dataset.splits[1].items() if entry.image}
    with tarfile.open(folder / "val" / "images.tar") as archive:
        members = archive.getmembers()
        assert {member.name: archive.extractfile(member).read() for member in members} == stored  # type: ignore[union-attr]
        assert {(member.mtime, member.uid, member.uname) for member in members} == {(0, 0, "")}
    assert {one["image"] for one in lines(folder / "val" / "questions.jsonl.gz")} == set(stored)


def test_each_scene_is_a_line_in_the_order_of_pictures(folder: Path, dataset: Dataset) -> None:
    found = lines(folder / "val" / "scenes.jsonl.gz")
    assert [one["image_index"] for one in found] == [0, 1]
    assert [one["scene"] for one in found] == [
        entry.item.scene.to_json() for entry in dataset.splits[1].items() if entry.item.scene
    ]


def test_a_withheld_split_has_no_answers_programs_or_revealing_facets(folder: Path) -> None:
    assert sorted(path.name for path in (folder / "hidden").iterdir()) == ["images.tar", "questions.jsonl.gz"]
    for told in lines(folder / "hidden" / "questions.jsonl.gz"):
        assert told["answer"] is told["program"] is None
        assert {"answer", "objects", "effective", "absolute"} & set(told["facets"]) == set()
        assert told["choices"]


def test_the_same_dataset_gives_the_same_bytes(folder: Path, dataset: Dataset, tmp_path: Path) -> None:
    FORMAT.write(dataset, tmp_path, options={}, tick=lambda _: None)
    assert sums(tmp_path) == sums(folder)


def test_without_pictures_questions_have_no_image(tmp_path: Path) -> None:
    FORMAT.write(shapes(splits={"val": {"scenes": 1}}, images=False), tmp_path, options={}, tick=lambda _: None)
    assert not (tmp_path / "val" / "images.tar").exists()
    assert {one["image"] for one in lines(tmp_path / "val" / "questions.jsonl.gz")} == {None}
    assert "no images of val" in (tmp_path / "README.md").read_text()
