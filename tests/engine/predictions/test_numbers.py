"""Answers that are any numbers: the nearest count is the answer, and the number itself is kept."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.predictions.packed_predictions import PackedPredictions, pack
from generation.engine.scoring.score import OUTSIDE
from tests import proof
from tests.engine.predictions.counting import MOST, read, refusal, rows, write
from tests.engine.predictions.written import FORMATS, PACKINGS

NUMBERS = st.floats(-1e6, 1e6) | st.integers(-3, 20).map(lambda number: number / 2) | st.integers(-1_000_000, 1_000_000)


@settings(max_examples=proof.size(2000), deadline=None)
@given(
    said=st.lists(NUMBERS, min_size=1, max_size=6),
    name=st.sampled_from(sorted(FORMATS)),
    packing=st.sampled_from(sorted(PACKINGS)),
    as_text=st.booleans(),
)
def test_a_number_is_kept_and_its_nearest_count_is_the_answer(
    said: list[float], name: str, packing: str, as_text: bool
) -> None:
    content = FORMATS[name].write(range(len(said)), [repr(one) for one in said] if as_text else said)
    found = read(PACKINGS[packing](content.encode()), len(said))
    assert found.numbers is not None
    assert found.numbers.tolist() == said
    assert found.codes.tolist() == np.clip(np.rint(said), 0, MOST).tolist()
    assert (found.read == found.codes).all() and not found.outside


@pytest.mark.parametrize(
    ("said", "number", "code"),
    [
        (2.7, 2.7, 3),
        (2.5, 2.5, 2),
        (3.5, 3.5, 4),
        (-0.1, -0.1, 0),
        (-2, -2, 0),
        (99, 99, MOST),
        (1e6, 1e6, MOST),
        ("2.7", 2.7, 3),
        ("2.0", 2, 2),
        (" 3 ", 3, 3),
        ("1e0", 1, 1),
        ("+.5E1", 5, 5),
        ("4.", 4, 4),
        ("007", 7, 7),
        ("Three", 3, 3),
        ("twelve", 12, 12),
        ("twenty", None, OUTSIDE),
        ("many", None, OUTSIDE),
        ("1,000", None, OUTSIDE),
        ("1_0", None, OUTSIDE),
        ("٣", 3, 3),
        ("--3", None, OUTSIDE),
        (True, None, OUTSIDE),
        (None, None, OUTSIDE),
        ("", None, OUTSIDE),
    ],
)
def test_examples_of_numbers(said: Any, number: float | None, code: int) -> None:
    found = read(json.dumps({"0": said}), 1)
    assert found.numbers is not None
    assert (found.codes[0], None if math.isnan(found.numbers[0]) else found.numbers[0]) == (code, number)


@pytest.mark.parametrize(
    "said",
    [
        *("NaN", "Infinity", "-Infinity", "1e999", "1000001", "-2e6", "1" * 4000),
        *('"nan"', '"-inf"', '" Infinity"', '"1e999"', '"-1000000.5"', f'"{"9" * 100_000}"'),
    ],
)
@pytest.mark.parametrize("form", ["jsonl", "json"])
def test_numbers_that_are_none_or_too_large_are_named_with_their_line(said: str, form: str) -> None:
    content = write(rows([{}, {"answer": "it"}, {}]), form).replace('"it"', said)
    error = refusal(content, 3)
    assert f"{'Line' if form == 'jsonl' else 'Record'} 2: expected a" in str(error)
    assert "number" in str(error) and str(error).isprintable() and len(str(error)) < 500
    assert error.findings is not None
    assert error.findings.counts["malformed"] == 1


def test_the_message_says_which_numbers_are_allowed() -> None:
    assert str(refusal(write(rows([{}, {"answer": "-3e6"}]), "jsonl"), 2)) == (
        "heads/val: Expected 2 answers, got 2 (1 malformed). Line 2: expected a number from -1,000,000 to 1,000,000, "
        "got '-3e6'. Format: /docs/predictions/"
    )


def test_a_number_that_a_text_marks_is_rounded_in_free_text() -> None:
    found = read("The answer is: 2.7\nI see 3 of them.\nAnswer: inf\nAnswer: three, I think", 4)
    assert found.numbers is not None
    assert found.codes.tolist() == [OUTSIDE] * 4 and np.isnan(found.numbers).all()
    assert found.read.tolist() == [3, 3, OUTSIDE, 3]


def test_letters_stand_for_numbers() -> None:
    table = "index\tA\tB\tprediction\n0\t2.6\t4\tA\n1\t2.6\t4\t(B)\n2\t1\t2\t0.4\n"
    found = read(table, 3)
    assert found.numbers is not None
    assert found.numbers.tolist() == [2.6, 4, 0.4] and found.codes.tolist() == [3, 4, 0]


def test_a_count_that_the_vocabulary_lacks_is_outside() -> None:
    found = read('{"0": 15.8, "1": 16.1}', 2, most_counted=16)
    assert found.codes.tolist() == [OUTSIDE] * 2 and dict(found.outside) == {0: "15.8", 1: "16.1"}
    assert found.numbers is not None and found.numbers.tolist() == [15.8, 16.1]


def test_where_only_counts_are_answers_a_fraction_is_none() -> None:
    found = read('{"0": 2.7, "1": 3.0, "2": 2000000}', 3, most_counted=None)
    assert found.numbers is None and found.codes.tolist() == [OUTSIDE, 3, OUTSIDE]


@settings(max_examples=proof.size(500))
@given(numbers=st.lists(st.none() | NUMBERS, max_size=6))
def test_stored_numbers_are_those_that_were_read(numbers: list[float | None]) -> None:
    found = read(json.dumps(dict(enumerate(numbers))), len(numbers))
    stored = PackedPredictions(pack(found.codes, found.read, found.outside, numbers=found.numbers))
    assert found.numbers is not None
    assert found.numbers.tobytes() == (b"" if stored.numbers is None else stored.numbers.tobytes())
    assert (stored.codes == found.codes).all() and stored.outside == dict(found.outside) and stored.boxes is None
