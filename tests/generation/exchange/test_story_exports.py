"""Exports of a world of stories: general formats have the lines that a question may use, and no pictures."""

import csv
import gzip
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest

from generation.engine import formats
from generation.engine.errors import BadExport
from generation.engine.formats import lmms_eval_task
from generation.exchange import exports
from generation.models import Dataset, Question
from tests.generation.complete_datasets import shared
from tests.worlds import baskets, told
from tests.worlds.baskets import SCOPES, WORLD

pytestmark = pytest.mark.django_db


stored_dataset = shared(told.made, world=baskets, autouse=True)


def exported(folder: Path, name: str, *, splits: Sequence[str] = (), **options: Any) -> Path:
    dataset = Dataset.objects.get(slug="tales")
    format_ = formats.find(name, dataset.get_world())
    stored = exports.StoredDataset(dataset, splits=splits)
    exports.write(stored, folder / name, format_=format_, options=formats.check_options(format_, options))
    return folder / name


def questions_with_lines(split: str) -> list[tuple[str, list[str]]]:
    """Return each question of a split with the lines that it may use."""
    rows = Question.objects.filter(split__name=split).select_related("scene").order_by("position")
    return [
        (row.text, list(WORLD.story(WORLD.read_scene(row.scene.scene_json or {}))[: SCOPES[row.kind]])) for row in rows
    ]


def prompt_of(text: str, lines: list[str]) -> str:
    numbered = "\n".join(f"{number} {line}" for number, line in enumerate(lines, 1))
    return f"{numbered}\n\n{text}\nAnswer with words joined by commas."


@pytest.mark.parametrize("split", ["val", "test"])
def test_json_lines_have_the_story_also_if_answers_are_withheld(tmp_path: Path, split: str) -> None:
    with gzip.open(exported(tmp_path, "jsonl") / split / "questions.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    assert [(row["question"], row["story"]) for row in rows] == questions_with_lines(split)
    assert [row["prompt"] for row in rows] == [prompt_of(*one) for one in questions_with_lines(split)]
    assert all((row["answer"] is None) is (row["program"] is None) is (split == "test") for row in rows)


def test_exports_do_not_reveal_the_lines_of_withheld_answers(tmp_path: Path) -> None:
    for name in ("jsonl", "huggingface", "lmms-eval", "vlmevalkit"):
        folder = exported(tmp_path, name)
        for path in folder.rglob("*test*/*"):
            content = path.read_bytes()
            content = gzip.decompress(content) if path.suffix == ".gz" else content
            assert b"deeds" not in content and b"first_two" not in content, path


def test_parquet_has_lists_of_lines_and_no_column_of_pictures(tmp_path: Path) -> None:
    folder = exported(tmp_path, "huggingface")
    table = parquet.read_table(next((folder / "questions" / "val").glob("*.parquet")))
    assert "image" not in table.column_names
    assert list(zip(table["question"].to_pylist(), table["story"].to_pylist(), strict=True)) == questions_with_lines(
        "val"
    )
    scenes = parquet.read_table(next((folder / "scenes" / "test").glob("*.parquet")))
    assert {len(lines) for lines in scenes["story"].to_pylist()} == {6}
    assert scenes["scene"].null_count == len(scenes)
    described = json.loads((folder / "croissant.json").read_text())
    assert {field["name"] for part in described["recordSet"] for field in part["field"]} >= {"story", "prompt"}
    assert "image" not in {field["name"] for part in described["recordSet"] for field in part["field"]}
    card = (folder / "README.md").read_text()
    assert "the lines that it sees" in card and "PIL" not in card and "picture" not in card.replace("pictures/", "")
    assert (
        "--embed" not in (folder / "eval.yaml").read_text() and "input_image" not in (folder / "eval.yaml").read_text()
    )


@pytest.mark.parametrize("name", ["trl", "verl"])
def test_prompts_for_training_have_the_story_and_no_picture(tmp_path: Path, name: str) -> None:
    [path] = (exported(tmp_path, name, splits=["val"]) / "data" / "val").glob("*.parquet")
    table = parquet.read_table(path)
    assert not {"image", "images"} & set(table.column_names)
    prompts = [messages[0]["content"] for messages in table["prompt"].to_pylist()]
    assert prompts == [prompt_of(*one) for one in questions_with_lines("val")]


def test_tasks_of_lmms_eval_ask_with_the_story_and_read_sets_in_any_order(tmp_path: Path) -> None:
    folder = exported(tmp_path, "lmms-eval")
    spec = importlib.util.spec_from_file_location("tales_utils", folder / "utils.py")
    assert spec is not None and spec.loader is not None
    utils = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(utils)
    docs = parquet.read_table(next((folder / "data" / "val").glob("*.parquet"))).to_pylist()
    assert [utils.doc_to_text(doc) for doc in docs] == [prompt_of(*one) for one in questions_with_lines("val")]
    for doc in docs:
        assert utils.doc_to_visual(doc) == []
        parts = doc["answer"].split(",")
        said = ", ".join(parts if doc["question"].startswith("Which") else parts[::-1])
        result = utils.process_results(doc, [f"Answer: {said}."])
        assert result["accuracy"]["score"] == 1.0, said
        assert "story" not in result["accuracy"]["facets"]


def test_sequences_are_read_only_in_their_order() -> None:
    ways = ["n,w", "w,n", "s,n"]
    assert lmms_eval_task.read_answer("w then n", ways) == "w,n"
    assert lmms_eval_task.read_answer("n, s", ways) == "n, s"
    assert lmms_eval_task.read_answer("pear and fig", ["fig", "fig,pear"]) == "fig,pear"


@pytest.mark.parametrize("form", ["choices", "open"])
def test_tables_for_vlmevalkit_have_the_story_before_the_question(tmp_path: Path, form: str) -> None:
    folder = exported(tmp_path, "vlmevalkit", form=form)
    [path] = folder.glob("tales_val*.tsv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, dialect="excel-tab"))
    for row, (text, lines) in zip(rows, questions_with_lines("val"), strict=True):
        whole = prompt_of(text, lines)
        assert row["question"] == (whole if form == "open" else whole.rpartition("\n")[0])
        assert row["image"] == ""


def test_coco_refuses_a_world_of_stories(tmp_path: Path) -> None:
    with pytest.raises(BadExport, match=r"Expected pictures, .* got a story: choose another format"):
        exported(tmp_path, "coco")
