"""The format `lmms-eval`: tasks name existing files and functions, and the functions score the rows correctly."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from generation.engine.errors import BadExport
from generation.engine.formats import lmms_eval_task
from generation.engine.formats.huggingface.rows import FIRST, PROMPT, STORY
from generation.engine.formats.lmms_eval import FORMAT
from tests.engine.formats.sample import Dataset, marbles, picture
from tests.worlds.marbles import NUMBERS


class Loader(yaml.SafeLoader):
    """Reads the YAML tag by which lmms-eval names functions."""


Loader.add_constructor("!function", lambda loader, node: f"!function {node.value}")


def write(dataset: Dataset, folder: Path) -> Path:
    folder.mkdir(parents=True)
    FORMAT.write(dataset, folder, options={}, tick=lambda _: None)
    return folder


def utils_of(folder: Path) -> ModuleType:
    """Import the `utils.py` of an export from its file, as lmms-eval does."""
    spec = importlib.util.spec_from_file_location("exported_utils", folder / "utils.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def task(folder: Path, name: str) -> dict[str, Any]:
    found = yaml.load((folder / f"{name}.yaml").read_text(), Loader)
    assert isinstance(found, dict)
    return found


def docs(folder: Path, split: str) -> list[dict[str, Any]]:
    found = pq.read_table(folder / "data" / split).to_pylist()
    assert isinstance(found, list)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(marbles(hides=frozenset({"val"})), tmp_path_factory.mktemp("exports") / "lmms")


def test_a_task_names_its_data_its_functions_and_its_metrics(folder: Path) -> None:
    said, utils = task(folder, "marbles_train"), utils_of(folder)
    assert said["task"] == "marbles_train"
    assert list(said["dataset_kwargs"]["data_files"]) == [said["test_split"]] == ["train"]
    assert list(folder.glob(said["dataset_kwargs"]["data_files"]["train"]))
    metrics = {one["metric"]: one["aggregation"] for one in said["metric_list"]}
    assert metrics == {
        "accuracy": "!function utils.aggregate_accuracy",
        "accuracy_color_black": "mean",
        "accuracy_color_white": "mean",
    }
    for value in (*said.values(), *metrics.values()):
        if isinstance(value, str) and value.startswith("!function utils."):
            assert callable(getattr(utils, value.removeprefix("!function utils.")))


def test_the_group_has_every_task(folder: Path) -> None:
    assert task(folder, "marbles") == {"group": "marbles", "task": ["marbles_train", "marbles_val"]}


def test_the_model_gets_the_picture_and_the_prompt_of_the_row(folder: Path) -> None:
    utils = utils_of(folder)
    for doc in docs(folder, "train"):
        [image] = utils.doc_to_visual(doc)
        assert image.size == (36, 4)
        assert (folder / "images/train" / doc["image"]).read_bytes() == picture(doc["image_index"])
        assert utils.doc_to_text(doc) == doc["prompt"]
        assert utils.doc_to_text(doc, {"pre_prompt": "<", "post_prompt": ">"}) == f"<{doc['prompt']}>"
        assert utils.doc_to_target(doc) == doc["answer"]


def test_right_answers_score_one_and_wrong_answers_zero_in_every_metric(folder: Path, tmp_path: Path) -> None:
    utils, rows = utils_of(folder), docs(folder, "train")
    metrics = {one["metric"] for one in task(folder, "marbles_train")["metric_list"]}
    right = [utils.process_results(doc, [f"The answer is {doc['answer']}."]) for doc in rows]
    wrong = [utils.process_results(doc, ["no idea"]) for doc in rows]
    args = SimpleNamespace(output_path=str(tmp_path / "results"))
    for scored, accuracy in ((right, 1.0), (wrong, 0.0), (right + wrong, 0.5)):
        assert {name for one in scored for name in one} == metrics
        assert utils.aggregate_accuracy([one["accuracy"] for one in scored], args=args) == accuracy
    for one, doc in zip(right, rows, strict=True):
        assert one[f"accuracy_color_{doc['color']}"] == 1.0


def test_a_file_with_scores_by_facet_is_written_next_to_the_results(folder: Path, tmp_path: Path) -> None:
    utils, rows = utils_of(folder), docs(folder, "train")
    scored = [utils.process_results(doc, [doc["answer"] if doc["color"] == "black" else "?"]) for doc in rows]
    utils.aggregate_accuracy([one["accuracy"] for one in scored], args=SimpleNamespace(output_path=str(tmp_path)))
    found = json.loads((tmp_path / "marbles_train_by_facet.json").read_text())
    assert (found["accuracy"], found["n"]) == (0.5, 14)
    assert found["facets"]["color"] == {"black": {"n": 7, "correct": 7}, "white": {"n": 7, "correct": 0}}
    assert set(found["facets"]) == {"color", "has", "facet_split"}
    assert all(cell["n"] == 14 for cell in found["facets"]["has"].values())


def test_a_withheld_split_writes_predictions_and_has_no_score(folder: Path, tmp_path: Path) -> None:
    utils, rows = utils_of(folder), docs(folder, "val")
    assert [one["metric"] for one in task(folder, "marbles_val")["metric_list"]] == ["submission"]
    assert {doc["answer"] for doc in rows} == {None}
    results = [utils.process_results(doc, ["three"])["submission"] for doc in reversed(rows)]
    assert utils.doc_to_target(rows[0]) == ""
    utils.aggregate_submission(results, args=SimpleNamespace(output_path=str(tmp_path / "results.json")))
    found = json.loads((tmp_path / "marbles_val_predictions.json").read_text())
    assert found == [{"question_id": number, "answer": "3"} for number in range(6)]


def test_results_go_to_the_current_folder_if_no_other_is_given(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    utils = utils_of(folder)
    assert utils.aggregate_accuracy([]) == 0.0
    assert [path.name for path in tmp_path.iterdir()] == ["marbles_by_facet.json"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("3", "3"), (" 3.\n", "3"), ("three", "3"), ("There are three marbles.", "3"), ("The answer is 3.", "3"),
        ("2 here and 1 there. Answer: 3", "3"), ("**3**", "3"), ("13", "13"), ("2 or 3", "2 or 3"), ("", ""),
        ("the answer is 4, I said 3", "the answer is 4, I said 3"), ("The answer is: seven", "7"),
    ],
)  # fmt: skip
def test_an_answer_is_read_if_the_text_names_exactly_one_choice(text: str, answer: str) -> None:
    assert lmms_eval_task.read_answer(text, NUMBERS) == answer


@pytest.mark.parametrize(
    ("text", "answer"), [("Yes.", "yes"), ("No, there is none", "no"), ("yes and no", "yes and no"), ("not", "not")]
)
def test_yes_and_no_are_read_only_as_whole_words(text: str, answer: str) -> None:
    assert lmms_eval_task.read_answer(text, ("yes", "no")) == answer


@pytest.mark.parametrize(("text", "answer"), [("1", "yes"), ("0.", "no"), ("True", "yes"), ("answer: false", "no")])
def test_bits_and_truth_values_are_read_as_yes_and_no(text: str, answer: str) -> None:
    assert lmms_eval_task.read_answer(text, ("no", "yes")) == answer


def test_bits_are_read_as_numbers_if_numbers_are_among_the_choices() -> None:
    assert [lmms_eval_task.read_answer(text, ("no", "yes", "0", "2")) for text in ("0", "1", "2")] == ["0", "1", "2"]


def test_a_choice_keeps_its_spelling() -> None:
    assert lmms_eval_task.read_answer("it is a light blue one", ("Light Blue", "red")) == "Light Blue"


def test_columns_that_are_no_facets_are_listed_completely() -> None:
    assert {*FIRST, PROMPT, STORY} == lmms_eval_task.NOT_FACETS


def test_without_pictures_nothing_is_written_and_the_message_names_the_splits(tmp_path: Path) -> None:
    with pytest.raises(BadExport, match=r"marbles: Expected the pictures of every split, got none of train, val"):
        write(marbles(images=False), tmp_path / "none")
    assert list((tmp_path / "none").iterdir()) == []


def test_the_same_dataset_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = write(marbles(hides=frozenset({"val"})), tmp_path / "again")
    for path in (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        assert path.read_bytes() == (again / path.relative_to(folder)).read_bytes()


@pytest.mark.slow
def test_datasets_loads_the_data_of_a_task_as_lmms_eval_does(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    import datasets

    said, utils = task(folder, "marbles_train"), utils_of(folder)
    monkeypatch.chdir(folder)
    loaded = datasets.load_dataset(
        path=said["dataset_path"], cache_dir=str(tmp_path / "cache"), **said["dataset_kwargs"]
    )
    scored = [utils.process_results(doc, [utils.doc_to_target(doc)]) for doc in loaded[said["test_split"]]]
    assert utils.aggregate_accuracy([one["accuracy"] for one in scored], SimpleNamespace(output_path=tmp_path)) == 1.0
