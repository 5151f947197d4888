"""Hostile files with boxes, and pickles: each is refused with one clear message, and takes little memory and time."""

import gzip
import io
import json
import pickle
import tracemalloc
from collections.abc import Callable
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.errors import BadPredictions
from generation.engine.predictions import decompression
from tests import proof
from tests.engine.predictions.counting import WRITTEN, read, refusal, rows, write
from tests.engine.predictions.hostile import archive
from tests.engine.predictions.written import PACKINGS

MB = 1 << 20
BOX = "[1.5,2.5,30,40]"
LONG_BOX = f"[0.{'0' * 40},1,2,3]"


def line(boxes: str, *, number: int = 1) -> bytes:
    """Return a line of JSON with these boxes."""
    return f'{{"question_id": {number}, "answer": 1, "boxes": {boxes}}}\n'.encode()


def many(box: str, *, n: int, of: int = 1000) -> bytes:
    """Return `n` lines with `of` boxes each."""
    boxes = f"[{','.join([box] * of)}]"
    return b"".join(line(boxes, number=number) for number in range(n))


DIGITS = "9" * 4000
FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "deep boxes": (lambda: line("[" * 1_000_000), "Line 1: expected JSON, got lists or objects nested too deep"),
    "deep and whole": (lambda: line(f"{'[' * 900}{']' * 900}"), "Line 1: expected box 1 as four numbers"),
    "a line of 10 MB": (lambda: line(f"[{','.join([BOX] * 660_000)}]"), "at most 1,048,576 characters in a line"),
    "a record of 10 MB": (
        lambda: b"[" + line(f"[{','.join([BOX] * 660_000)}]") + b"]",
        "no end of it within 1,048,576 characters",
    ),
    "65,000 boxes in a line": (lambda: many(BOX, n=1, of=65_000), "at most 1,000 boxes, got 65,000"),
    "huge edges": (lambda: many(f"[0,0,{DIGITS},1]", n=1, of=200) * 20, "from 0 to 1,000,000 in box 1, got 9999"),
    "huge scores": (
        lambda: line('[[0,0,1,1]], "scores": [1e400]') + line(f'[[0,0,1,1]], "scores": [{DIGITS}]'),
        "expected a score from 0 to 1 for box 1, got inf. Line 2: expected a score from 0 to 1 for box 1, got 9999",
    ),
    "numbers that are too long": (lambda: line(f"[[0,0,{'9' * 5000},1]]"), "Line 1: expected JSON, got something else"),
    "wrong boxes in 150,000 lines": (lambda: line("0") * 150_000, "more than 100,000 that can't: reading stopped"),
    "right boxes in 150,000 lines": (
        lambda: line("[[0,0,1,1]]") * 150_000,
        "expected 2 answers, got more than 100,002",
    ),
    "boxes in gzip": (lambda: gzip.compress(many(LONG_BOX, n=900, of=200)), "at most 8 MB of text, got more in"),
    "names twice": (lambda: line('[], "boxes": []'), "Line 1: expected JSON, got something else (the name 'boxes'"),
}


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_hostile_file_with_boxes_is_refused(name: str) -> None:
    make, says = FILES[name]
    content = make()
    begun = process_time()
    error = refusal(content, 2, sizes=[(64, 48)] * 2)
    assert process_time() - begun < 5
    assert says in str(error)
    assert str(error).endswith("Format: /docs/predictions/") and str(error).isprintable() and len(str(error)) < 3000


def test_the_boxes_of_a_large_file_take_little_more_memory_than_they_are_stored_in() -> None:
    lines = proof.size(1100, least=550)
    content = many(LONG_BOX, n=lines, of=200)
    assert len(content) > lines * 10 * MB / 1100
    tracemalloc.start()
    found = read(content, lines, sizes=[(64, 48)] * lines)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.boxes is not None and len(found.boxes.boxes) == 200 * lines
    assert peak < lines * 30 * MB / 1100


def test_a_compressed_file_may_be_larger_if_predictions_may_have_boxes() -> None:
    content = gzip.compress(many(LONG_BOX, n=1500, of=200))
    assert read(content, 1500).boxes is not None
    error = refusal(content, 1500, most_counted=None)
    assert "expected at most 10 MB of text, got more in" in str(error)
    assert decompression.room(900, 0, has_boxes=True) - decompression.room(900, 0, has_boxes=False) == 900 * 9000
    assert decompression.room(1 << 20, 0, has_boxes=True) == decompression.LARGEST


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize("packing", sorted(PACKINGS))
def test_a_pickle_is_refused_with_the_way_to_write_json(protocol: int, packing: str) -> None:
    table = [{"question_id": 0, "answer": 1, "candidate_bbox": [([1, 2, 3, 4], 0.5)]}]
    content = PACKINGS[packing](pickle.dumps(table, protocol=protocol))
    for most_counted in (None, 15):
        assert str(refusal(content, 1, most_counted=most_counted)) == (
            "heads/val: Expected predictions, got a pickle: pickles are never opened, because they can run programs. "
            "Write JSON with Python instead: import json, pathlib; "
            'pathlib.Path("predictions.json").write_text(json.dumps([{"question_id": 0, "answer": 3}])). '
            "Format: /docs/predictions/"
        )


def test_a_pickled_table_in_a_gzip_in_a_zip_is_refused() -> None:
    file = io.BytesIO()
    np.save(file, np.array([{"answer": 1}], object), allow_pickle=True)
    packed = archive(("iou-0.2.pickle.gz", gzip.compress(pickle.dumps(file.getvalue()))))
    assert "got a pickle: pickles are never opened" in str(refusal(packed, 1))


@settings(max_examples=proof.size(3000, name="prediction files with boxes harmed at random", most=100), deadline=None)
@given(
    form=st.sampled_from(WRITTEN),
    packing=st.sampled_from(sorted(PACKINGS)),
    harms=st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=4), st.integers(0, 6)), min_size=1, max_size=4),
)
def test_a_damaged_file_with_boxes_is_read_or_refused(
    form: str, packing: str, harms: list[tuple[float, bytes, int]]
) -> None:
    records = rows([{"answer": at / 3, "boxes": [[0, 1.5, at, 4]] * at, "scores": [0.5] * at} for at in range(5)])
    content = PACKINGS[packing](write(records, form).encode())
    for place, new, dropped in harms:
        at = int(place * len(content))
        content = content[:at] + new + content[at + dropped :]
    try:
        found = read(content, 5, sizes=[(64, 48)] * 5)
    except BadPredictions as error:
        assert str(error).endswith("Format: /docs/predictions/")
    else:
        assert found.boxes is None or (found.boxes.starts[-1] == len(found.boxes.boxes) and len(found.codes) == 5)


@settings(max_examples=proof.size(3000, name="boxes made at random", most=100), deadline=None)
@given(
    boxes=st.recursive(
        st.none() | st.booleans() | st.integers(-2, 70) | st.floats() | st.text(max_size=2),
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
        max_leaves=12,
    ),
    scores=st.none() | st.lists(st.floats(-1, 2) | st.text(max_size=1), max_size=3),
)
def test_any_json_as_boxes_is_read_or_refused(boxes: object, scores: object) -> None:
    record = {"question_id": 0, "answer": 1, "boxes": boxes, "scores": scores}
    try:
        found = read(json.dumps(record), 1, sizes=[(64, 48)]).boxes
    except BadPredictions as error:
        assert "Line 1: expected" in str(error)
        return
    if found is not None:
        x1, y1, x2, y2 = found.boxes.T
        assert (x1 >= 0).all() and (x1 <= x2).all() and (x2 <= 64).all()
        assert (y1 >= 0).all() and (y1 <= y2).all() and (y2 <= 48).all()
        assert ((found.scores >= 0) & (found.scores <= 1)).all()
