"""Scores of prediction files beside counting row by row, and what the command says."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pyarrow import parquet

from generation.engine import formats
from generation.engine.errors import BadPredictions
from generation.engine.items import FacetKind
from generation.exchange import exports
from generation.making import dataset_jobs
from generation.models import Dataset, Question, Split
from generation.reports.scoring import expected_of, score_file
from generation.splits import question_sets
from generation.splits.split_recipes import Recipe
from generation.storage import items
from generation.storage.split_index import SplitIndex
from tests.generation import small
from tests.generation.exchange.test_export_import import exported, imported

SPLITS = {"train": {"scenes": 6}, "val": {"scenes": 4}, "test": {"scenes": 2, "withheld": True}}


@pytest.fixture(scope="module")
def kept(django_db_setup: None, django_db_blocker: Any) -> Iterator[int]:
    with django_db_blocker.unblock():
        key = small.made("scored", with_images=False, splits=SPLITS).pk
    yield key
    with django_db_blocker.unblock():
        Dataset.objects.filter(pk=key).delete()


@pytest.fixture
def val(kept: int, db: None) -> Split:
    return Split.objects.for_browse().get(dataset=kept, name="val")


@pytest.fixture
def pictured(db: None) -> Split:
    dataset = small.made("pictured", splits={"val": {"scenes": 2}})
    return Split.objects.for_browse().get(dataset=dataset)


def truths(split: Split) -> list[str]:
    rows = Question.objects.filter(split=split.source).order_by("position")
    return [str(answer) for answer in rows.values_list("answer", flat=True)]


def half_right(split: Split) -> list[str]:
    """Return a right answer to every other question, some of them in words, and others to the rest."""
    said = ["none of them", "yes", "red", "It is **{}**.", "Answer: {}"]
    return [said[at % 5].format(right) if at % 2 else right.upper() for at, right in enumerate(truths(split))]


def file_of(said: list[str]) -> io.BytesIO:
    rows = (json.dumps({"question_id": at, "answer": one}) for at, one in enumerate(said))
    return io.BytesIO("\n".join(rows).encode())


def brute(split: Split, said: list[str]) -> dict[str, Any]:
    """Return what scoring gives, counted row by row."""
    world, spec = split.dataset.get_world(), split.read_spec()
    facets: dict[str, dict[str, dict[str, int]]] = {}
    n = correct = 0
    for stored in items.load_items(split, 0, split.scenes):
        codes = world.facet_codes(spec, stored.item)
        for number, row in enumerate(stored.questions):
            right = said[n].casefold() == row.answer
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


def test_scores_are_those_of_a_count_row_by_row(val: Split) -> None:
    said = half_right(val)
    found, counted = score_file(file_of(said), val).to_json(), brute(val, said)
    assert {name: found[name] for name in ("n", "accuracy")} == {name: counted[name] for name in ("n", "accuracy")}
    of_items = {name: cells for name, cells in found["facets"].items() if name in counted["facets"]}
    assert of_items == counted["facets"]
    seen = set(found["facets"]) - set(of_items)  # needs the reference
    assert all(sum(cell["n"] for cell in found["facets"][name].values()) <= val.questions for name in seen)


def test_right_answers_in_sentences_count_where_text_is_read(val: Split) -> None:
    found = score_file(file_of(half_right(val)), val)
    in_sentences = sum(at % 2 and at % 5 in (3, 4) for at in range(val.questions))
    assert in_sentences > 2
    assert (found.read.right, found.unreadable) == (
        found.strict.right + in_sentences,
        len(found.predictions.outside) - in_sentences,
    )


def test_what_is_expected_is_what_rows_say(val: Split) -> None:
    expected = expected_of(val)
    world, spec = val.dataset.get_world(), val.read_spec()
    rows = [row for stored in items.load_items(val, 0, val.scenes) for row in stored.item.questions]
    assert expected.n == len(rows) and expected.sources is None
    for kind, row in zip(expected.kinds, rows, strict=True):
        admitted = [expected.vocabulary[code] for code in expected.admitted[kind]]
        assert admitted == list(world.answer_form(spec, row).choices)


def test_questions_of_a_derived_split_have_their_parents_names_too(val: Split) -> None:
    question_sets.create(val, name="half", recipe=Recipe(parent="val", sample=6, seed=1))
    dataset_jobs.work(dataset=val.dataset)
    half = Split.objects.for_browse().get(dataset=val.dataset, name="half")
    positions = SplitIndex.open(half).positions
    assert positions is not None and positions.tolist() != list(range(6))
    said = [truths(val)[at] for at in positions]
    by_parent = json.dumps(dict(zip(positions.tolist(), said, strict=True)))
    own = json.dumps(dict(enumerate(said)))
    for content in (by_parent, own):
        assert score_file(io.BytesIO(content.encode()), half).strict.accuracy == 1


def test_our_own_exports_are_right(val: Split, tmp_path: Path) -> None:
    exported(val.dataset, tmp_path, name="jsonl")
    with (tmp_path / "val" / "questions.jsonl.gz").open("rb") as file:
        found = score_file(file, val)
    assert (found.strict.accuracy, found.predictions.packing) == (1, "gzip")


@pytest.mark.parametrize("form", ["choices", "open"])
def test_what_evaluation_tools_make_of_our_exports_is_right(pictured: Split, form: str, tmp_path: Path) -> None:
    writer = formats.find("vlmevalkit", pictured.dataset.get_world())
    stored = exports.StoredDataset(pictured.dataset, images=True)
    exports.write(stored, tmp_path, format_=writer, options={"form": form})
    csv.field_size_limit(1 << 24)
    with next(tmp_path.glob("*_val*.tsv")).open(newline="") as file:
        rows = [row | {"prediction": row["answer"]} for row in csv.DictReader(file, dialect="excel-tab")]
    assert len(rows) == pictured.questions and (form == "open") == ("A" not in rows[0])
    result = io.StringIO()
    table = csv.DictWriter(result, rows[0].keys(), dialect="excel-tab", quoting=csv.QUOTE_ALL)
    table.writeheader()
    table.writerows(rows)
    listed = json.dumps([{**row, "index": int(row["index"])} for row in rows])
    for content in (result.getvalue(), listed):
        assert score_file(io.BytesIO(content.encode()), pictured).strict.accuracy == 1


def test_rows_of_lmms_eval_are_our_questions(pictured: Split, tmp_path: Path) -> None:
    writer = formats.find("lmms-eval", pictured.dataset.get_world())
    exports.write(exports.StoredDataset(pictured.dataset, images=True), tmp_path, format_=writer, options={})
    docs = parquet.read_table(tmp_path / "data" / "val").to_pylist()
    samples = [{"doc_id": at, "doc": doc, "filtered_resps": [doc["answer"]]} for at, doc in enumerate(docs)]
    content = "\n".join(json.dumps(sample) for sample in samples)
    assert score_file(io.BytesIO(content.encode()), pictured).strict.accuracy == 1


def test_published_ids_are_known_and_answers_that_are_not_can_not_be_compared(val: Split, tmp_path: Path) -> None:
    exported(val.dataset, tmp_path)
    path = tmp_path / "CLEVR_v1.0" / "questions" / "CLEVR_val_questions.json"
    content = json.loads(path.read_text())
    for number, record in enumerate(content["questions"]):
        record["question_index"] = 500 + number
    path.write_text(json.dumps(content))
    (path.parent / "SHA256SUMS").unlink(missing_ok=True)
    theirs = imported(tmp_path / "CLEVR_v1.0")
    again, closed = (Split.objects.for_browse().get(dataset=theirs, name=name) for name in ("val", "test"))
    rows = [{"question_index": 500 + at, "answer": answer} for at, answer in enumerate(truths(val))]
    assert score_file(io.BytesIO(json.dumps(rows).encode()), again).strict.accuracy == 1
    with pytest.raises(BadPredictions, match="Expected a split whose answers are known, got one without any"):
        score_file(io.BytesIO(b"yes\n"), closed)


def test_the_command_prints_one_document(val: Split, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(file_of(half_right(val)).getvalue())
    call_command("score", str(path), "--split", "scored/val", "--json")
    document = json.loads(capsys.readouterr().out)
    counted = brute(val, half_right(val))
    assert (document["accuracy"], document["n"]) == (counted["accuracy"], counted["n"])
    assert document["facets"]["type"] == counted["facets"]["type"]
    assert set(document) == {"accuracy", "n", "accuracy_read", "outside", "unreadable", "facets"}


def test_the_command_prints_a_table(val: Split, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(file_of(half_right(val)).getvalue())
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
def test_what_can_not_be_scored_is_refused(
    content: bytes | None, split: str, says: str, val: Split, tmp_path: Path
) -> None:
    path = tmp_path / "answers.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CommandError) as refused:
        call_command("score", str(path), "--split", split)
    assert says in str(refused.value)
    assert refused.value.returncode == 2


def test_a_split_that_is_not_complete_is_refused(val: Split, tmp_path: Path) -> None:
    path = tmp_path / "answers.txt"
    path.write_bytes(b"yes\n")
    Split.objects.filter(pk=val.pk).update(state=Split.State.MAKING)
    with pytest.raises(CommandError, match="Expected a complete split, got scored/val, which is "):
        call_command("score", str(path), "--split", "scored/val")
