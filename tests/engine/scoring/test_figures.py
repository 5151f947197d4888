"""Intervals of shares and of their differences: published values, their definition, and statsmodels."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from generation.engine.scoring.figures import Averaged, Figure, difference_of, figure, wilson

Z = 1.959963984540054


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, table I, method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0000),
    ],
)
def test_published_examples_are_correct(right, n, low, high):
    found = wilson(right, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_each_end_is_a_share_from_which_the_count_deviates_by_z_standard_errors(counted):
    right, n = counted
    for end in wilson(right, n):
        deviation = abs(right / n - end)
        assert deviation == pytest.approx(Z * (end * (1 - end) / n) ** 0.5, abs=1e-9)


@given(st.integers(0, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_contains_the_share_and_is_symmetric(counted):
    right, n = counted
    low, high = wilson(right, n)
    assert 0 <= low <= (right / n if n else 0.5) <= high <= 1
    mirrored = wilson(n - right, n)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - high, 1 - low))


@given(st.integers(1, 10**5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_the_interval_equals_that_of_statsmodels(counted, level):
    expected = proportion_confint(*counted, alpha=1 - level, method="wilson")
    assert wilson(*counted, level=level) == pytest.approx(expected, abs=1e-9)


def test_the_interval_without_questions_is_zero_to_one():
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_higher_level_gives_a_wider_interval():
    assert wilson(5, 10, level=0.99).low < wilson(5, 10).low


@pytest.mark.parametrize("counted", [(-1, 3), (4, 3), (1, 0)])
def test_impossible_counts_are_refused(counted):
    with pytest.raises(ValueError, match="Expected a count"):
        wilson(*counted)


def test_the_interval_of_a_difference_is_that_of_newcombe() -> None:
    first, second = (figure(Averaged(n, (right,))) for right, n in ((56, 70), (48, 80)))
    found = difference_of(first, second)  # the first example of the paper, method 10
    assert found is not None
    assert found == pytest.approx((0.0524, 0.3339), abs=5e-5)


@given(st.tuples(*[st.integers(30, 400).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))] * 2))
def test_the_interval_of_a_difference_holds_it_and_turns_with_it(pair: Any) -> None:
    first, second = (figure(Averaged(n, (right,))) for n, right in pair)
    found, turned = difference_of(first, second), difference_of(second, first)
    assert found is not None and turned is not None and first.share is not None and second.share is not None
    assert -1 <= found.low <= first.share - second.share <= found.high <= 1
    assert turned == pytest.approx((-found.high, -found.low))


def test_too_few_questions_have_no_interval_of_a_difference() -> None:
    assert difference_of(figure(Averaged(29, (7,))), figure(Averaged(90, (7,)))) is None
    assert difference_of(Figure(90, 1, 0.5), figure(Averaged(90, (7,)))) is None
