"""Metrics of predicted numbers, compared with plain loops, and with a table that was computed by hand."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.scoring.counts.count_errors import LARGEST, count_terms, harmonic_mean, round_counts
from generation.engine.scoring.score import Slicing

MOST = 15
NUMBER = st.one_of(st.just(math.nan), st.integers(-3, 20).map(lambda half: half / 2), st.floats(-50, 50))
ROWS = st.lists(st.tuples(NUMBER, st.integers(0, MOST), st.integers(-1, 4)), min_size=1, max_size=40)
Row = tuple[float, int, int]


def figures(rows: Sequence[Row]) -> dict[str, float | None]:
    return {name: terms.figure() for name, terms in terms_of(rows).items()}


def terms_of(rows: Sequence[Row]):
    predicted, true, frequent = zip(*rows, strict=True)
    return count_terms(
        np.array(predicted, np.float64), np.array(true), most=MOST, frequent=np.array(frequent, np.int64)
    )


def mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def rounded_twin(number: float) -> int | None:
    return None if math.isnan(number) else round(min(max(number, 0), MOST))


def figures_twin(rows: Sequence[Row]) -> dict[str, float | None]:
    right = [rounded_twin(number) == true for number, true, _ in rows]
    errors = [(abs(number - true), true) for number, true, _ in rows if not math.isnan(number)]
    squares = mean([error**2 for error, _ in errors])
    labels = [
        [is_right for is_right, (_, true, _) in zip(right, rows, strict=True) if true == label]
        for label in sorted({true for _, true, _ in rows})
    ]
    return {
        "accuracy_rounded": mean(right),
        "rmse": None if squares is None else math.sqrt(squares),
        "l1": mean([error for error, _ in errors]),
        "relative_error": mean([error / max(true, 1) for error, true in errors]),
        "mean_over_labels": mean([sum(label) / len(label) for label in labels]),
        "odd": mean([is_right for is_right, row in zip(right, rows, strict=True) if row[1] % 2 == 1]),
        "even": mean([is_right for is_right, row in zip(right, rows, strict=True) if row[1] % 2 == 0]),
        "biased_errors": mean(
            [
                rounded_twin(number) == frequent
                for is_right, (number, _, frequent) in zip(right, rows, strict=True)
                if not is_right and frequent >= 0
            ]
        ),
    }


def assert_equal(found: dict[str, float | None], expected: dict[str, float | None]) -> None:
    assert found == {name: None if one is None else pytest.approx(one) for name, one in expected.items()}


@given(ROWS)
def test_figures_equal_those_of_plain_loops(rows: list[Row]) -> None:
    assert_equal(figures(rows), figures_twin(rows))


@given(ROWS, st.integers(1, 4))
def test_slices_equal_the_figures_of_their_own_questions(rows: list[Row], values: int) -> None:
    codes = np.arange(len(rows)) % values
    sliced = {name: terms.slices(Slicing(codes.astype(np.uint8), values)) for name, terms in terms_of(rows).items()}
    for value in range(values):
        own = rows[value::values]
        found = {name: float(one.figures[value]) for name, one in sliced.items()}
        expected = figures_twin(own) if own else dict.fromkeys(found)
        assert_equal({name: None if math.isnan(one) else one for name, one in found.items()}, expected)


@given(ROWS)
def test_rmse_is_at_least_l1_and_shares_are_from_0_to_1(rows: list[Row]) -> None:
    found = figures(rows)
    if found["rmse"] is not None and found["l1"] is not None:
        assert found["rmse"] >= found["l1"] * (1 - 1e-12) - 1e-150  # squares of smaller errors are 0
    for name in ("accuracy_rounded", "mean_over_labels", "odd", "even", "biased_errors"):
        share = found[name]
        assert share is None or 0 <= share <= 1


@given(ROWS)
def test_right_numbers_have_no_errors(rows: list[Row]) -> None:
    found = figures([(float(true), true, frequent) for _, true, frequent in rows])
    assert found["accuracy_rounded"] == found["mean_over_labels"] == 1
    assert found["rmse"] == found["l1"] == found["relative_error"] == 0
    assert found["biased_errors"] is None


def test_a_half_is_rounded_to_the_even_neighbour_and_numbers_are_clipped() -> None:
    numbers = np.array([0.5, 1.5, 2.5, 2.51, -0.4, -7, 15.4, 15.5, 99, math.nan])
    assert round_counts(numbers, MOST).tolist() == [0, 2, 2, 3, 0, 0, 15, 15, 15, -1]


def test_figures_of_a_table_that_was_computed_by_hand() -> None:
    rows = [(2.4, 2, 1), (3.0, 2, 1), (1.2, 3, 1), (0.0, 0, 1), (0.6, 0, 1), (math.nan, 1, 1)]
    assert_equal(
        figures(rows),
        {
            "accuracy_rounded": 2 / 6,
            "rmse": math.sqrt((0.16 + 1 + 3.24 + 0 + 0.36) / 5),
            "l1": (0.4 + 1 + 1.8 + 0 + 0.6) / 5,
            "relative_error": (0.2 + 0.5 + 0.6 + 0 + 0.6) / 5,
            "mean_over_labels": (0.5 + 0 + 0.5 + 0) / 4,
            "odd": 0.0,
            "even": 0.5,
            "biased_errors": 2 / 4,
        },
    )
    assert {name: terms.count() for name, terms in terms_of(rows).items()} == {
        **dict.fromkeys(["accuracy_rounded", "mean_over_labels"], 6),
        **dict.fromkeys(["rmse", "l1", "relative_error"], 5),
        "odd": 2,
        "even": 4,
        "biased_errors": 4,
    }


def test_without_numbers_errors_have_no_size() -> None:
    found = figures([(math.nan, 2, -1)])
    assert found["accuracy_rounded"] == 0
    assert found["rmse"] is found["l1"] is found["relative_error"] is found["odd"] is None


def test_there_are_no_biased_errors_without_a_train_split() -> None:
    assert "biased_errors" not in count_terms(np.zeros(2), np.array([0, 1]), most=MOST)


@given(ROWS, st.booleans())
def test_own_and_opposite_parity_are_odd_and_even_or_the_other_way_round(rows: list[Row], is_odd: bool) -> None:
    predicted, true = (np.array(column) for column in list(zip(*rows, strict=True))[:2])
    terms = count_terms(predicted.astype(np.float64), true, most=MOST, is_own=(true % 2 == 1) == is_odd)
    found = {name: one.figure() for name, one in terms.items()}
    own, opposite = ("odd", "even") if is_odd else ("even", "odd")
    assert (found["own_parity"], found["opposite_parity"]) == (found[own], found[opposite])
    assert "own_parity" not in count_terms(predicted.astype(np.float64), true, most=MOST)


@pytest.mark.parametrize(
    ("predicted", "true", "frequent", "message"),
    [
        ([1.0], [1, 2], [1, 1], "Expected 2 predicted numbers, got 1"),
        ([1.0, 2.0], [1, 2], [1], "Expected 2 frequent answers, got 1"),
        ([1.0, math.inf], [1, 2], [1, 1], "got inf at 1"),
        ([1.0, 2 * LARGEST], [1, 2], [1, 1], "Expected numbers from -1e.09 to 1e.09"),
        ([1.0, 2.0], [1, 16], [1, 1], "Expected right answers from 0 to 15, got 16 at 1"),
        ([1.0, 2.0], [-1, 2], [1, 1], "Expected right answers from 0 to 15, got -1 at 0"),
    ],
)
def test_numbers_out_of_their_range_are_refused(
    predicted: list[float], true: list[int], frequent: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        count_terms(np.array(predicted), np.array(true), most=MOST, frequent=np.array(frequent))


@pytest.mark.parametrize(
    ("first", "second", "expected"), [(0.5, 0.5, 0.5), (1.0, 0.5, 2 / 3), (0.0, 0.9, 0.0), (0.0, 0.0, 0.0)]
)
def test_the_harmonic_mean_is_that_of_two_accuracies(first: float, second: float, expected: float) -> None:
    assert harmonic_mean(first, second) == pytest.approx(expected) == harmonic_mean(second, first)
