"""Boxes and scores of predictions: what is read, what is refused with its line, and what is stored."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.predictions import PredictedBoxes, matching, predicted_boxes
from generation.engine.predictions.forms import rows as rows_of_files
from generation.engine.predictions.packed_predictions import PackedPredictions, pack
from tests import proof
from tests.engine.predictions import asked
from tests.engine.predictions.asked import SOURCES
from tests.engine.predictions.counting import WRITTEN, as_float32, boxes_of, read, refusal, rows, write
from tests.engine.predictions.written import PACKINGS

GOOD = [1, 2.5, 3, 4]
EDGE = st.integers(0, 1_000_000) | st.floats(0, 1_000_000) | st.integers(0, 9)


@st.composite
def drawn_boxes(draw: st.DrawFn) -> list[float]:
    x, y = sorted(draw(st.tuples(EDGE, EDGE))), sorted(draw(st.tuples(EDGE, EDGE)))
    return [x[0], y[0], x[1], y[1]]


@st.composite
def drawn_records(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the fields of a record: boxes or none, with or without scores."""
    boxes = draw(st.none() | st.lists(drawn_boxes(), max_size=4))
    score = st.floats(0, 1) | st.integers(0, 1)
    scores = draw(st.none() | st.lists(score, min_size=len(boxes or []), max_size=len(boxes or [])))
    record: dict[str, Any] = {}
    if boxes is not None or draw(st.booleans()):
        record["boxes"] = boxes
    if scores is not None:
        record["scores"] = scores
    return record


def boxes_by_twin(record: dict[str, Any]) -> tuple[list[list[float]], list[float]]:
    boxes, scores = record.get("boxes"), record.get("scores")
    boxes = [] if boxes is None else boxes
    return as_float32(boxes), as_float32([1] * len(boxes) if scores is None else scores)


@settings(max_examples=proof.size(2000), deadline=None)
@given(
    records=st.lists(drawn_records(), min_size=1, max_size=6).flatmap(
        lambda made: st.permutations([{"question_id": at, "answer": at / 2, **one} for at, one in enumerate(made)])
    ),
    form=st.sampled_from(WRITTEN),
    packing=st.sampled_from(sorted(PACKINGS)),
    sources=st.booleans(),
)
def test_boxes_are_read_and_stored_as_an_obvious_reader_reads_them(
    records: list[dict[str, Any]], form: str, packing: str, sources: bool
) -> None:
    by_question = sorted(records, key=lambda record: record["question_id"])
    named = [{**one, "question_id": SOURCES[one["question_id"]]} for one in records] if sources else records
    found = read(PACKINGS[packing](write(named, form).encode()), len(records), sources=sources)
    has_boxes = any(record.get("boxes") is not None or record.get("scores") is not None for record in records)
    assert (found.boxes is not None) == has_boxes
    content = pack(found.codes, found.read, found.outside, numbers=found.numbers, boxes=found.boxes)
    stored, without = PackedPredictions(content), PackedPredictions(content, has_boxes=False)
    for boxes in (found.boxes, stored.boxes) if has_boxes else ():
        assert boxes is not None
        assert [part.dtype for part in boxes] == ["<i8", "<f4", "<f4"]
        assert [boxes_of(boxes, at) for at in range(len(records))] == [boxes_by_twin(one) for one in by_question]
        assert boxes.starts[-1] == len(boxes.boxes) == len(boxes.scores)
    assert without.boxes is None and without.numbers is not None
    assert without.numbers.tolist() == [at / 2 for at in range(len(records))]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an object": ({"boxes": {"a": 1}}, 'expected "boxes" as a list of [x1, y1, x2, y2], got a JSON object'),
    "a text": ({"boxes": "[[1, 2, 3, 4]]"}, "expected \"boxes\" as a list of [x1, y1, x2, y2], got '[[1, 2, 3, 4]]'"),
    "truth": ({"boxes": True}, 'expected "boxes" as a list of [x1, y1, x2, y2], got True'),
    "a box alone": ({"boxes": GOOD}, "expected box 1 as four numbers [x1, y1, x2, y2], got 1"),
    "three numbers": ({"boxes": [GOOD, GOOD[:3]]}, "box 2 as four numbers [x1, y1, x2, y2], got a list of 3"),
    "five numbers": ({"boxes": [[*GOOD, 5]]}, "box 1 as four numbers [x1, y1, x2, y2], got a list of 5"),
    "no numbers": ({"boxes": [[]]}, "box 1 as four numbers [x1, y1, x2, y2], got a list of 0"),
    "names": ({"boxes": [{"x1": 1}]}, "box 1 as four numbers [x1, y1, x2, y2], got a JSON object"),
    "null": ({"boxes": [[1, 2, None, 4]]}, "expected four numbers [x1, y1, x2, y2] in box 1, got null"),
    "texts": ({"boxes": [GOOD, ["1", 2, 3, 4]]}, "expected four numbers [x1, y1, x2, y2] in box 2, got '1'"),
    "truths": ({"boxes": [[0, 0, True, 4]]}, "expected four numbers [x1, y1, x2, y2] in box 1, got True"),
    "nested": ({"boxes": [[[1], 2, 3, 4]]}, "expected four numbers [x1, y1, x2, y2] in box 1, got a list"),
    "NaN": ({"boxes": [[1, 2, float("nan"), 4]]}, "expected pixels from 0 to 1,000,000 in box 1, got nan: cut it"),
    "infinity": ({"boxes": [[1, 2, float("inf"), 4]]}, "expected pixels from 0 to 1,000,000 in box 1, got inf: cut it"),
    "negative": ({"boxes": [GOOD, [-0.5, 2, 3, 4]]}, "pixels from 0 to 1,000,000 in box 2, got -0.5: cut it to the"),
    "huge": ({"boxes": [[1, 2, 10**400, 4]]}, "expected pixels from 0 to 1,000,000 in box 1, got 1000"),
    "too far": ({"boxes": [[1, 2, 3, 1_000_000.5]]}, "pixels from 0 to 1,000,000 in box 1, got 1000000.5: cut it"),
    "inverted x": ({"boxes": [[3.5, 2, 3, 4]]}, "expected x1 <= x2 and y1 <= y2 in box 1, got [3.5, 2, 3, 4]: write"),
    "inverted y": ({"boxes": [[1, 5, 3, 4]]}, "expected x1 <= x2 and y1 <= y2 in box 1, got [1, 5, 3, 4]: write the"),
    "too many": ({"boxes": [GOOD] * 1001}, "expected at most 1,000 boxes, got 1,001: keep those with the highest"),
    "a score": ({"boxes": [GOOD], "scores": 0.5}, 'expected "scores" as a list of numbers, got 0.5'),
    "few scores": ({"boxes": [GOOD] * 2, "scores": [1]}, "expected one score for each box (2), got 1"),
    "many scores": ({"boxes": [GOOD], "scores": [1, 0]}, "expected one score for each box (1), got 2"),
    "only scores": ({"scores": [1]}, "expected one score for each box (0), got 1"),
    "a large score": ({"boxes": [GOOD] * 2, "scores": [1, 1.01]}, "expected a score from 0 to 1 for box 2, got 1.01"),
    "a small score": ({"boxes": [GOOD], "scores": [-0.1]}, "expected a score from 0 to 1 for box 1, got -0.1"),
    "no score": ({"boxes": [GOOD], "scores": [None]}, "expected a score from 0 to 1 for box 1, got null"),
    "NaN score": ({"boxes": [GOOD], "scores": [float("nan")]}, "expected a score from 0 to 1 for box 1, got nan"),
    "a text as score": ({"boxes": [GOOD], "scores": ["1"]}, "expected a score from 0 to 1 for box 1, got '1'"),
    "truth as score": ({"boxes": [GOOD], "scores": [True]}, "expected a score from 0 to 1 for box 1, got True"),
    "outside to the right": (
        {"boxes": [GOOD, [0, 0, 32.25, 24]]},
        "box 2 in the picture of 32 x 24 pixels, got [0, 0,",
    ),
    "outside below": ({"boxes": [[0, 0, 32, 24.5]]}, "of 32 x 24 pixels, got [0, 0, 32, 24.5]: cut it to the picture"),
}


@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.parametrize("name", sorted(WRONG))
def test_wrong_boxes_are_refused_with_their_line(name: str, form: str) -> None:
    wrong, says = WRONG[name]
    records = rows([{"boxes": [GOOD]}, {}, wrong, {}])
    error = refusal(write(records, form), 4, sizes=[(32, 24)] * 4)
    assert f"Expected 4 answers, got 4 (1 malformed). {'Line' if form == 'jsonl' else 'Record'} 3: " in str(error)
    assert says in str(error) and str(error).endswith(". Format: /docs/predictions/")
    assert str(error).isprintable() and len(str(error)) < 400


@pytest.mark.parametrize("name", sorted(WRONG))
def test_where_only_counts_are_answers_boxes_are_ignored(name: str) -> None:
    records = rows([WRONG[name][0], {"boxes": [GOOD]}])
    for form in ("jsonl", "json", "json-object"):
        found = read(write(records, form), 2, sizes=[(1, 1)] * 2, most_counted=None)
        assert found.boxes is None and found.codes.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("boxes", "scores"),
    [
        ([], []),
        ([[5, 5, 5, 5]], [0]),
        ([[0, 0, 32, 24]], None),
        ([GOOD] * 1000, [1] * 1000),
        ([[0, 0.5, 1, 1], GOOD], [0.25, 1.0]),
    ],
)
@pytest.mark.parametrize("form", WRITTEN)
def test_boxes_at_the_limits_are_read(boxes: list[Any], scores: list[float] | None, form: str) -> None:
    found = read(write(rows([{}, {"boxes": boxes, "scores": scores}]), form), 2, sizes=[(32, 24)] * 2).boxes
    assert found is not None
    assert boxes_of(found, 1) == (as_float32(boxes), [1.0] * len(boxes) if scores is None else scores)
    assert boxes_of(found, 0) == ([], [])


@settings(max_examples=proof.size(1000), deadline=None)
@given(data=st.data(), n=st.integers(1, 5), sources=st.booleans())
def test_boxes_beyond_their_picture_are_found_by_question(data: st.DataObject, n: int, sources: bool) -> None:
    sizes = data.draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=n, max_size=n))
    edge = st.integers(0, 9)
    box = st.tuples(edge, edge).map(lambda end: [0, 0, *end])
    boxes = data.draw(st.lists(st.lists(box, max_size=3), min_size=n, max_size=n))
    order = data.draw(st.permutations(range(n)))
    names = [SOURCES[at] if sources else at for at in order]
    records = [{"question_id": name, "answer": 0, "boxes": boxes[at]} for name, at in zip(names, order, strict=True)]
    wrong = [
        (line, number)
        for line, at in enumerate(order, 1)
        for number, (_, _, x2, y2) in enumerate(boxes[at], 1)
        if (0 < sizes[at][0] < x2) or (0 < sizes[at][1] < y2)
    ]
    firsts = dict(reversed(wrong))
    if not wrong:
        assert read(write(records, "jsonl"), n, sources=sources, sizes=sizes).boxes is not None
        return
    findings = refusal(write(records, "jsonl"), n, sources=sources, sizes=sizes).findings
    assert findings is not None
    assert [(line, int(reason.split()[2])) for line, reason in findings.malformed] == sorted(firsts.items())


def test_every_wrong_part_of_a_row_is_named_and_the_row_counts_as_an_answer() -> None:
    wrong = {"answer": "nan", "boxes": [[0, 0, 1, -1]]}
    error = refusal(
        write(rows([wrong, {"boxes": 0}, {"answer": 2, "boxes": [[0, 0, 9, 9]]}]), "jsonl"), 4, sizes=[8] * 8
    )
    assert str(error) == (
        "heads/val: Expected 4 answers, got 3 (1 missing, 4 malformed). "
        "Line 1: expected a number from -1,000,000 to 1,000,000, got 'nan'. "
        "Line 1: expected pixels from 0 to 1,000,000 in box 1, got -1: cut it to the picture. "
        'Line 2: expected "boxes" as a list of [x1, y1, x2, y2], got 0. '
        "Line 3: expected box 1 in the picture of 8 x 8 pixels, got [0, 0, 9, 9]: cut it to the picture. "
        "Question 3 has no answer. Format: /docs/predictions/"
    )


@pytest.mark.parametrize("head", ["question_id,answer,boxes,scores", "index\tprediction\tboxes"])
def test_a_table_with_boxes_is_refused(head: str) -> None:
    text = f"{head}\n"
    named = "boxes and scores" if "scores" in head else "boxes"
    assert f"Line 1: expected {named} in JSON lines, got a table with them" in str(refusal(text, 1))
    assert "1 missing" in str(refusal(text, 1, most_counted=None))


def test_records_of_other_programs_may_have_boxes() -> None:
    sample = {"doc_id": 0, "filtered_resps": ["2.7"], "boxes": [GOOD]}
    kit = {"index": 0, "prediction": 2.7, "boxes": [GOOD]}
    for content, form in ((json.dumps(sample), "lmms-eval"), (json.dumps([kit]), "vlmevalkit-json")):
        found = read(content, 1)
        assert found.boxes is not None and found.numbers is not None
        assert (found.format, found.numbers.tolist(), boxes_of(found.boxes, 0)) == (form, [2.7], ([GOOD], [1]))


def test_json_lines_are_recognised_if_the_boxes_of_the_first_one_are_long() -> None:
    box = [0.1234567890123, 1.1234567890123, 2.1234567890123, 3.1234567890123]
    records = rows([{"boxes": [box] * 1000, "scores": [0.1234567890123] * 1000}, {}])
    content = "".join(json.dumps(record, sort_keys=True) + "\n" for record in records)
    assert len(content) > 70_000
    found = read(content, 2)
    assert found.format == "jsonl" and found.boxes is not None and found.boxes.starts.tolist() == [0, 1000, 1000]


def test_an_answer_in_an_object_needs_a_name() -> None:
    assert 'Record 1: expected "question_id" and "answer", got \'boxes\'' in str(refusal('{"0": {"boxes": []}}', 1))


@pytest.mark.parametrize("size", [1, 64])
@pytest.mark.parametrize("form", WRITTEN)
def test_the_size_of_batches_does_not_matter(form: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    records = rows([{"answer": at / 7, "boxes": [[0, 0, at, at]] * (at % 3)} for at in range(40)])
    monkeypatch.setattr(rows_of_files, "ROOM", size)
    found = read(write(records, form), 40)
    assert found.boxes is not None and found.numbers is not None
    assert found.numbers.tolist() == [at / 7 for at in range(40)]
    assert [boxes_of(found.boxes, at)[0] for at in range(40)] == [[[0, 0, at, at]] * (at % 3) for at in range(40)]


def test_reading_stops_if_a_file_has_too_many_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predicted_boxes, "MOST_IN_FILE", 3)
    monkeypatch.setattr(matching, "MOST_IN_FILE", 3)
    assert read(write(rows([{"boxes": [GOOD] * 3}]), "jsonl"), 1).boxes is not None
    error = refusal(write(rows([{"boxes": [GOOD] * 2}] * 2), "jsonl"), 2)
    assert "Line 2: expected at most 3 boxes in a file, got more: reading stopped" in str(error)


def test_predictions_without_numbers_and_boxes_are_stored_as_before() -> None:
    found = asked.read("yes\nred\nIt is a cube.\nmany\n")
    content = (
        (b"\x04" + bytes(7) + b"\x01" + bytes(7) + b"\x23" + bytes(7))
        + bytes.fromhex("00000000 02000000 ffffffff ffffffff")
        + bytes.fromhex("02000000 05000000")
        + b'{"2": "It is a cube.", "3": "many"}'
    )
    assert pack(found.codes, found.read, found.outside) == content
    stored = PackedPredictions(content)
    assert (stored.codes == found.codes).all() and (stored.read == found.read).all()
    assert (stored.outside, stored.numbers, stored.boxes) == (dict(found.outside), None, None)


def test_boxes_are_stored_without_numbers() -> None:
    codes = np.zeros(2, np.int32)
    boxes = PredictedBoxes(np.array([0, 0, 1]), np.array([GOOD], np.float32), np.array([0.5], np.float32))
    stored = PackedPredictions(pack(codes, codes, {}, boxes=boxes))
    assert stored.numbers is None and stored.boxes is not None
    assert boxes_of(stored.boxes, 1) == ([GOOD], [0.5])
