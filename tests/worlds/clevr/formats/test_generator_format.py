"""CLEVR's files in the format of the original generator."""

import json
from pathlib import Path
from typing import Any

import pytest

from generation.engine import formats
from generation.engine.program import from_json
from generation.engine.worlds.clevr.world import WORLD
from tests.worlds.clevr.formats.sample import Dataset

FORMAT = formats.find("clevr-generator", WORLD)
FILES = {  # the released template files in the order of family numbers, and their numbers of families
    "compare_integer.json": 9,
    "comparison.json": 16,
    "three_hop.json": 6,
    "single_and.json": 5,
    "same_relate.json": 28,
    "single_or.json": 8,
    "one_hop.json": 6,
    "two_hop.json": 6,
    "zero_hop.json": 6,
}


@pytest.fixture(scope="module")
def folder(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an export that tests must not change."""
    folder = tmp_path_factory.mktemp("exports")
    FORMAT.write(dataset, folder, options={}, tick=lambda _: None)
    return folder


def questions(folder: Path, split: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / split / "CLEVR_questions.json").read_text())["questions"]
    return found


def test_questions_have_the_keys_of_the_generator(folder: Path) -> None:
    asked = questions(folder, "val")[3]
    assert set(asked) == {
        *("split", "image_filename", "image_index", "image", "question", "program", "answer"),
        *("template_filename", "question_family_index", "question_index"),
    }
    assert asked["image"] == "CLEVR_val_000000"
    assert {key for step in asked["program"] for key in step} == {"inputs", "type", "value_inputs"}


def test_families_are_numbered_within_their_file(folder: Path, dataset: Dataset) -> None:
    first = dict(zip(FILES, [sum(list(FILES.values())[:n]) for n in range(len(FILES))], strict=True))
    families = [question.family for entry in dataset.splits[0].items() for question in entry.item.questions]
    told = questions(folder, "train")
    assert [first[one["template_filename"]] + one["question_family_index"] for one in told] == families
    assert all(one["question_family_index"] < FILES[one["template_filename"]] for one in told)


def test_answers_are_json_values(folder: Path, dataset: Dataset) -> None:
    asked = [question for entry in dataset.splits[0].items() for question in entry.item.questions]
    for told, question in zip(questions(folder, "train"), asked, strict=True):
        assert question.answer is not None and question.program is not None
        spoken = {True: "yes", False: "no"}[told["answer"]] if isinstance(told["answer"], bool) else told["answer"]
        assert str(spoken) == question.answer.text
        assert isinstance(told["answer"], int if question.kind in ("count", "exist") else bool | str)
        assert from_json(told["program"]) == question.program


def test_scenes_are_in_one_file_and_in_single_files(folder: Path) -> None:
    together = json.loads((folder / "val" / "CLEVR_scenes.json").read_text())["scenes"]
    alone = [json.loads(path.read_text()) for path in sorted((folder / "val" / "scenes").iterdir())]
    assert together == alone
    assert [scene["image_index"] for scene in alone] == [0, 1]
    assert sorted(path.name for path in (folder / "val" / "images").iterdir()) == [
        "CLEVR_val_000000.png",
        "CLEVR_val_000001.png",
    ]


def test_the_test_split_has_answers_unless_it_is_withheld(folder: Path) -> None:
    assert all("answer" in asked for asked in questions(folder, "test"))
    for asked in questions(folder, "hidden"):
        assert {"answer", "program"} & set(asked) == set()
    assert sorted(path.name for path in (folder / "hidden").iterdir()) == ["CLEVR_questions.json", "images"]
