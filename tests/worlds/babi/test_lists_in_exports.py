"""Answers of several words in every export: stored in one form, and right in any order where the task has a set."""

import csv
import gzip
import importlib.util
import json
from itertools import permutations
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow.parquet as pq
import pytest

from generation.engine import formats
from generation.engine.environment.rewards import answer_reward, compute_score
from generation.engine.reading.dataset_reader import find_reader
from generation.exchange import exports
from generation.making import imports
from generation.models import Dataset
from tests.generation.complete_datasets import finish

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("reads_here")]
LISTS = """1 Mary got the milk there.
2 Mary took the apple.
3 What is Mary carrying?\tmilk, apple\t1 2
4 Mary picked up the football.
5 What is Mary carrying? \tMilk, football and apple\t1 2 4
6 What is John carrying?\tnothing\t
"""
PATHS = """1 The office is north of the kitchen.
2 The garden is east of the office.
3 How do you go from the kitchen to the garden?\tnorth, east\t1 2
"""
STORED = ["apple,milk", "apple,football,milk", "nothing", "n,e"]
JOINS = (",", ", ", " and ", " ")


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Return an imported dataset of lists and of paths, as people write them by hand."""
    folder = tmp_path / "en"
    folder.mkdir()
    (folder / "qa8_lists-sets_train.txt").write_text(LISTS)
    (folder / "qa19_path-finding_train.txt").write_text(PATHS)
    found = find_reader("babi").find([folder])
    return finish(imports.begin(found, imports.ImportRequest(slug="theirs", format="babi")))


def export(dataset: Dataset, folder: Path, name: str, **options: Any) -> Path:
    """Export a dataset in a format, and return the folder."""
    format_ = formats.find(name, dataset.get_world())
    stored = exports.StoredDataset(dataset, images=False)
    exports.write(stored, folder, format_=format_, options=formats.check_options(format_, options))
    return folder


def module_of(path: Path) -> ModuleType:
    """Import a module from its file, as lmms-eval does."""
    spec = importlib.util.spec_from_file_location("exported_utils", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(answer: str) -> tuple[list[str], list[str]]:
    """Return texts that are right, and texts that are wrong, for a stored answer."""
    parts = {"n": "north", "e": "east"} if answer == "n,e" else {}
    words = [parts.get(part, part) for part in answer.split(",")]
    orders = [words] if parts else [list(order) for order in permutations(words)]
    right = [join.join(order) for order in orders for join in JOINS]
    wrong = [answer + ",cake", "east, north" if parts else "football", ", ".join(words[:-1])]
    return right, [text for text in wrong if text not in right]


def test_every_table_has_the_stored_form(dataset: Dataset, tmp_path: Path) -> None:
    packed = export(dataset, tmp_path / "jsonl", "jsonl") / "train" / "questions.jsonl.gz"
    lines = gzip.decompress(packed.read_bytes()).decode().splitlines()
    assert [json.loads(line)["answer"] for line in lines] == STORED
    [parquet] = (export(dataset, tmp_path / "hf", "huggingface") / "questions").rglob("*.parquet")
    assert pq.read_table(parquet)["answer"].to_pylist() == STORED
    [table] = export(dataset, tmp_path / "open", "vlmevalkit", form="open").glob("*.tsv")
    with table.open(newline="") as file:
        assert [row["answer"] for row in csv.DictReader(file, dialect="excel-tab")] == STORED


def test_the_tasks_of_lmms_eval_accept_any_order_of_a_set(dataset: Dataset, tmp_path: Path) -> None:
    folder = export(dataset, tmp_path / "lmms", "lmms-eval")
    utils = module_of(folder / "utils.py")
    docs = [row for path in sorted((folder / "data").rglob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    assert [doc["answer"] for doc in docs] == STORED
    for doc in docs:
        right, wrong = written(doc["answer"])
        assert {text: utils.process_results(doc, [text])["accuracy"]["score"] for text in right} == dict.fromkeys(
            right, 1
        )
        assert {text: utils.process_results(doc, [text])["accuracy"]["score"] for text in wrong} == dict.fromkeys(
            wrong, 0
        )


def test_rewards_accept_any_order_of_a_set(dataset: Dataset, tmp_path: Path) -> None:
    trl = next(export(dataset, tmp_path / "trl", "trl").rglob("*.parquet"))
    for row in pq.read_table(trl).to_pylist():
        right, wrong = written(row["solution"])
        texts = [*right, *wrong]
        columns = {name: [value] * len(texts) for name, value in row.items() if name != "prompt"}
        completions = [[{"role": "assistant", "content": f"Answer: {text}"}] for text in texts]
        given = answer_reward(completions=completions, prompts=[row["prompt"]] * len(texts), **columns)
        assert dict(zip(texts, given, strict=True)) == {**dict.fromkeys(right, 1.0), **dict.fromkeys(wrong, 0.0)}
    verl = next(export(dataset, tmp_path / "verl", "verl").rglob("*.parquet"))
    for row in pq.read_table(verl).to_pylist():
        truth = row["reward_model"]["ground_truth"]
        right, wrong = written(truth)
        given = [compute_score(row["data_source"], f"Answer: {text}", truth, row["extra_info"]) for text in right]
        assert given == [1.0] * len(right)
        assert not any(compute_score(row["data_source"], text, truth, row["extra_info"]) for text in wrong)
