"""Scores of prediction files, compared with counting row by row, and the output of the command."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pyarrow import parquet

from generation.engine import formats
from generation.engine.errors import BadPredictions
from generation.engine.items import FacetKind
from generation.engine.worlds.clevr.world import ClevrWorld
from generation.exchange import exports
from generation.making import dataset_jobs
from generation.models import Question, Scene, Split
from generation.reports.scoring import expected_of, score_file
from generation.splits import question_sets
from generation.splits.split_recipes import Recipe
from generation.storage import items
from generation.storage.split_index import SplitIndex
from tests.generation import small
from tests.generation.complete_datasets import shared
from tests.generation.exchange.test_export_import import exported, imported

SPLITS = {"train": {"scenes": 6}, "val": {"scenes": 4}, "test": {"scenes": 2, "withheld": True}}


dataset_key = shared(lambda: small.made("scored", with_images=False, splits=SPLITS))


@pytest.fixture
def val(dataset_key: int, db: None) -> Split:
    return Split.objects.for_browse().get(dataset=dataset_key, name="val")


@pytest.fixture
def split_with_pictures(db: None) -> Split:
    dataset = small.made("pictured", splits={"val": {"scenes": 2}})
    return Split.objects.for_browse().get(dataset=dataset)


def right_answers(split: Split) -> list[str]:
    rows = Question.objects.filter(split=split.source).order_by("position")
    return [str(answer) for answer in rows.values_list("answer", flat=True)]


def half_right_answers(split: Split) -> list[str]:
    """Return right answers to half of the questions, and to the others wrong answers or right answers in sentences."""
    answers = ["none of them", "yes", "red", "It is **{}**.", "Answer: {}"]
    return [answers[at % 5].format(right) if at % 2 else right.upper() for at, right in enumerate(right_answers(split))]


def file_of(answers: list[str]) -> io.BytesIO:
    rows = (json.dumps({"question_id": at, "answer": one}) for at, one in enumerate(answers))
    return io.BytesIO("\n".join(rows).encode())


def count_by_row(split: Split, answers: list[str]) -> dict[str, Any]:
    """Return the scores, counted row by row."""
    world, spec = split.dataset.get_world(), split.read_spec()
    facets: dict[str, dict[str, dict[str, int]]] = {}
    n = correct = 0
    for stored in items.load_items(split, 0, split.scenes):
        codes = world.facet_codes(spec, stored.item)
        for number, row in enumerate(stored.questions):
            right = answers[n].casefold() == row.answer
            n, correct = n + 1, correct + right
            for facet in world.facets(spec):
                for value in values_of(facet, codes.get(facet.name, [-1] * 99)[number]):
                    cell = facets.setdefault(facet.name, {}).setdefault(value, {"n": 0, "correct": 0})
                    cell["n"] += 1
                    cell["correct"] += right
    return {"n": n, "accuracy": correct / n, "facets": facets}


def values_of(facet: Any, code: int) -> list[str]:
    if code < 0:
        return []
    if facet.kind == FacetKind.FLAGS:
        return [value for bit, value in enumerate(facet.values) if code >> bit & 1]
    return [facet.values[code]]


def test_scores_equal_those_counted_row_by_row(val: Split) -> None:
    answers = half_right_answers(val)
    found, counted = score_file(file_of(answers), val).to_json(), count_by_row(val, answers)
    assert {name: found[name] for name in ("n", "accuracy")} == {name: counted[name] for name in ("n", "accuracy")}
    of_items = {name: cells for name, cells in found["facets"].items() if name in counted["facets"]}
    assert of_items == counted["facets"]
    seen = set(found["facets"]) - set(of_items)  # facets that need the reference split
    assert all(sum(cell["n"] for cell in found["facets"][name].values()) <= val.questions for name in seen)


def test_right_answers_in_sentences_count_only_in_read_accuracy(val: Split) -> None:
    found = score_file(file_of(half_right_answers(val)), val)
    in_sentences = sum(at % 2 and at % 5 in (3, 4) for at in range(val.questions))
    assert in_sentences > 2
    assert (found.read.right, found.unreadable) == (
        found.strict.right + in_sentences,
        len(found.predictions.outside) - in_sentences,
    )


def test_expected_answers_equal_those_of_the_rows(val: Split) -> None:
    expected = expected_of(val)
    world, spec = val.dataset.get_world(), val.read_spec()
    rows = [row for stored in items.load_items(val, 0, val.scenes) for row in stored.item.questions]
    assert expected.n == len(rows) and expected.sources is None
    for kind, row in zip(expected.kinds, rows, strict=True):
        admitted = [expected.vocabulary[code] for code in expected.admitted[kind]]
        assert admitted == list(world.answer_form(spec, row).choices)


def test_predictions_may_have_boxes_within_the_pictures_if_the_world_counts(
    split_with_pictures: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert expected_of(split_with_pictures).most_counted is None and expected_of(split_with_pictures).sizes is None
    monkeypatch.setattr(ClevrWorld, "most_counted", lambda world, spec: 10)
    Scene.objects.filter(split=split_with_pictures, position=1).update(width=90, height=70)
    own, index = expected_of(split_with_pictures), SplitIndex.open(split_with_pictures)
    assert own.most_counted == 10 and own.sizes is not None
    assert own.sizes.tolist() == [[[120, 80], [90, 70]][scene] for scene in index.scenes.tolist()]
    assert {*index.scenes.tolist()} == {0, 1}
    question_sets.create(split_with_pictures, name="half", recipe=Recipe(parent="val", sample=4, seed=1))
    dataset_jobs.work(dataset=split_with_pictures.dataset)
    half = Split.objects.for_browse().get(dataset=split_with_pictures.dataset, name="half")
    positions, derived = SplitIndex.open(half).positions, expected_of(half).sizes
    assert positions is not None and derived is not None
    assert derived.tolist() == own.sizes[positions].tolist()
    boxes = json.dumps({"question_id": 7, "answer": 2, "boxes": [[0, 0, 91, 70]]})
    with pytest.raises(BadPredictions, match="Line 1: expected box 1 in the picture of 90 x 70 pixels"):
        score_file(io.BytesIO(boxes.encode()), split_with_pictures)


def test_fractions_are_scored_as_the_nearest_counts(val: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ClevrWorld, "most_counted", lambda world, spec: 10)
    answers = [int(one) + 0.4 if one.isdecimal() else one for one in right_answers(val)]
    assert any(isinstance(one, float) for one in answers)
    found = score_file(io.BytesIO(json.dumps(dict(enumerate(answers))).encode()), val)
    assert found.strict.accuracy == 1 and found.predictions.numbers is not None
    for number, answer in zip(found.predictions.numbers.tolist(), answers, strict=True):
        assert number == answer or (number != number and isinstance(answer, str))


def test_predictions_for_a_derived_split_may_use_its_parents_numbers(val: Split) -> None:
    question_sets.create(val, name="half", recipe=Recipe(parent="val", sample=6, seed=1))
    dataset_jobs.work(dataset=val.dataset)
    half = Split.objects.for_browse().get(dataset=val.dataset, name="half")
    positions = SplitIndex.open(half).positions
    assert positions is not None and positions.tolist() != list(range(6))
    answers = [right_answers(val)[at] for at in positions]
    by_parent = json.dumps(dict(zip(positions.tolist(), answers, strict=True)))
    own = json.dumps(dict(enumerate(answers)))
    for content in (by_parent, own):
        assert score_file(io.BytesIO(content.encode()), half).strict.accuracy == 1


def test_answers_in_our_exports_score_1(val: Split, tmp_path: Path) -> None:
    exported(val.dataset, tmp_path, name="jsonl")
    with (tmp_path / "val" / "questions.jsonl.gz").open("rb") as file:
        found = score_file(file, val)
    assert (found.strict.accuracy, found.predictions.packing) == (1, "gzip")


@pytest.mark.parametrize("form", ["choices", "open"])
def test_predictions_of_vlmevalkit_are_scored(split_with_pictures: Split, form: str, tmp_path: Path) -> None:
    writer = formats.find("vlmevalkit", split_with_pictures.dataset.get_world())
    stored = exports.StoredDataset(split_with_pictures.dataset, images=True)
    exports.write(stored, tmp_path, format_=writer, options={"form": form})
    csv.field_size_limit(1 << 24)
    with next(tmp_path.glob("*_val*.tsv")).open(newline="") as file:
        rows = [row | {"prediction": row["answer"]} for row in csv.DictReader(file, dialect="excel-tab")]
    assert len(rows) == split_with_pictures.questions and (form == "open") == ("A" not in rows[0])
    result = io.StringIO()
    table = csv.DictWriter(result, rows[0].keys(), dialect="excel-tab", quoting=csv.QUOTE_ALL)
    table.writeheader()
    table.writerows(rows)
    listed = json.dumps([{**row, "index": int(row["index"])} for row in rows])
    for content in (result.getvalue(), listed):
        assert score_file(io.BytesIO(content.encode()), split_with_pictures).strict.accuracy == 1


def test_samples_of_lmms_eval_are_scored(split_with_pictures: Split, tmp_path: Path) -> None:
    writer = formats.find("lmms-eval", split_with_pictures.dataset.get_world())
    exports.write(exports.StoredDataset(split_with_pictures.dataset, images=True), tmp_path, format_=writer, options={})
    docs = parquet.read_table(tmp_path / "data" / "val").to_pylist()
    samples = [{"doc_id": at, "doc": doc, "filtered_resps": [doc["answer"]]} for at, doc in enumerate(docs)]
    content = "\n".join(json.dumps(sample) for sample in samples)
    assert score_file(io.BytesIO(content.encode()), split_with_pictures).strict.accuracy == 1


def test_published_ids_are_accepted_and_splits_without_answers_are_refused(val: Split, tmp_path: Path) -> None:
    exported(val.dataset, tmp_path)
    path = tmp_path / "CLEVR_v1.0" / "questions" / "CLEVR_val_questions.json"
    content = json.loads(path.read_text())
    for number, record in enumerate(content["questions"]):
        record["question_index"] = 500 + number
    path.write_text(json.dumps(content))
    (path.parent / "SHA256SUMS").unlink(missing_ok=True)
    theirs = imported(tmp_path / "CLEVR_v1.0")
    again, closed = (Split.objects.for_browse().get(dataset=theirs, name=name) for name in ("val", "test"))
    rows = [{"question_index": 500 + at, "answer": answer} for at, answer in enumerate(right_answers(val))]
    assert score_file(io.BytesIO(json.dumps(rows).encode()), again).strict.accuracy == 1
    with pytest.raises(BadPredictions, match="Expected a split whose answers are known, got one without any"):
        score_file(io.BytesIO(b"yes\n"), closed)


def test_the_command_prints_one_json_document(val: Split, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(file_of(half_right_answers(val)).getvalue())
    call_command("score", str(path), "--split", "scored/val", "--json")
    document = json.loads(capsys.readouterr().out)
    counted = count_by_row(val, half_right_answers(val))
    assert (document["accuracy"], document["n"]) == (counted["accuracy"], counted["n"])
    assert document["facets"]["type"] == counted["facets"]["type"]
    assert set(document) == {"accuracy", "n", "accuracy_read", "outside", "unreadable", "failures", "facets", "metrics"}
    assert document["metrics"] == {}, "answers of CLEVR are not counts alone"


def test_failures_of_a_runner_are_counted_and_not_read(
    val: Split, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, answers = tmp_path / "answers.jsonl", right_answers(val)
    failure = f"[LMMS_EVAL_REQUEST_FAILED, the answer: {answers[0]}]"
    path.write_bytes(file_of([failure, *answers[1:]]).getvalue())
    call_command("score", str(path), "--split", "scored/val", "--json")
    document = json.loads(capsys.readouterr().out)
    assert (document["failures"], document["accuracy_read"]) == (1, 15 / 16)
    call_command("score", str(path), "--split", "scored/val")
    assert "1 answer is a failure of the runner" in capsys.readouterr().out


def test_the_command_prints_a_table(val: Split, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(file_of(half_right_answers(val)).getvalue())
    call_command("score", str(path), "--split", "scored/val")
    told = capsys.readouterr().out
    assert "scored/val: 16 questions; a file of the format jsonl" in told
    assert "accuracy        5" in told and "unreadable" in told and "count as wrong in accuracy" in told


@pytest.mark.parametrize(
    ("content", "split", "says"),
    [
        (b"yes\n", "scored/val", "scored/val: Expected 16 answers, got 1 (15 missing)"),
        (b"", "scored/val", "scored/val: Expected predictions, got an empty file"),
        (None, "scored/val", "Expected a file of predictions, got none (No such file or directory)"),
        (b"yes\n", "scored", "Expected DATASET/SPLIT, got 'scored'"),
        (b"yes\n", "scored/dev", "Expected a split (train, val, test), got 'dev'"),
    ],
)
def test_files_that_cannot_be_scored_are_refused(
    content: bytes | None, split: str, says: str, val: Split, tmp_path: Path
) -> None:
    path = tmp_path / "answers.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CommandError) as refused:
        call_command("score", str(path), "--split", split)
    assert says in str(refused.value)
    assert refused.value.returncode == 2


def test_an_incomplete_split_is_refused(val: Split, tmp_path: Path) -> None:
    path = tmp_path / "answers.txt"
    path.write_bytes(b"yes\n")
    Split.objects.filter(pk=val.pk).update(state=Split.State.MAKING)
    with pytest.raises(CommandError, match="Expected a complete split, got scored/val, which is "):
        call_command("score", str(path), "--split", "scored/val")
