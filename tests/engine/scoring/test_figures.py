"""Intervals of shares and of their differences: published values, their definition, and statsmodels."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from generation.engine.scoring.figures import (
    Averaged,
    Figure,
    Interval,
    difference_from_mean,
    difference_of,
    figure,
    wilson,
)
from tests.proof import size

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


# A figure less the mean of others


COUNTED = st.integers(30, 400).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


def figures_of(counted: Sequence[tuple[int, int]]) -> list[Figure]:
    return [figure(Averaged(n, (right,))) for n, right in counted]


@given(COUNTED, st.lists(COUNTED, min_size=1, max_size=6), st.randoms())
def test_the_interval_holds_the_difference_and_depends_on_no_order(
    first: tuple[int, int], others: list[tuple[int, int]], chance: random.Random
) -> None:
    [own], rest = figures_of([first]), figures_of(others)
    found = difference_from_mean(own, rest)
    assert found is not None
    difference = first[1] / first[0] - sum(right / n for n, right in others) / len(others)
    assert -1 - 1e-9 <= found.low <= difference + 1e-9 and difference - 1e-9 <= found.high <= 1 + 1e-9
    chance.shuffle(rest)
    assert difference_from_mean(own, rest) == pytest.approx(found)


@given(COUNTED, COUNTED, st.integers(2, 8))
def test_more_twins_with_the_same_share_narrow_the_interval(
    first: tuple[int, int], other: tuple[int, int], count: int
) -> None:
    [own], [twin] = figures_of([first]), figures_of([other])
    one, several = difference_from_mean(own, [twin]), difference_from_mean(own, [twin] * count)
    assert one is not None and several is not None
    assert one.low <= several.low + 1e-12 and several.high <= one.high + 1e-12


def test_without_all_intervals_there_is_none_of_the_difference_from_the_mean() -> None:
    own, few = figure(Averaged(90, (7,))), figure(Averaged(29, (7,)))
    assert difference_from_mean(own, []) is None
    assert difference_from_mean(own, [own, few]) is None
    assert difference_from_mean(few, [own]) is None


def interval_by_bootstrap(counted: Sequence[tuple[int, int]], *, times: int, seed: int) -> Interval:
    """Return the percentile interval of the first share less the mean of the others, drawing every answer anew."""
    chance = np.random.default_rng(seed)
    samples = [np.repeat([1, 0], [right, n - right]) for n, right in counted]
    drawn = []
    for _ in range(times):
        shares = [chance.choice(sample, len(sample)).mean() for sample in samples]
        drawn.append(shares[0] - sum(shares[1:]) / len(shares[1:]))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(low), float(high))


@pytest.mark.parametrize(
    "counted",
    [
        [(600, 480), (600, 450)],
        [(600, 480), (600, 450), (600, 455), (600, 461)],
        [(1000, 520), (300, 150), (150, 90)],
        [(200, 100), (800, 400), (800, 410), (50, 20), (90, 30)],
    ],
)
def test_the_interval_is_that_of_a_slow_bootstrap(counted: list[tuple[int, int]]) -> None:
    own, *rest = figures_of(counted)
    expected = interval_by_bootstrap(counted, times=size(20_000, least=4_000), seed=7)
    assert difference_from_mean(own, rest) == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize(("n", "others"), [(150, [150]), (400, [200, 200, 200]), (100, [300, 60]), (60, [60] * 8)])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.9), (0.97, 0.97), (0.95, 0.7)])
def test_the_interval_contains_the_true_difference_as_often_as_it_states(
    n: int, others: list[int], shares: tuple[float, float]
) -> None:
    times = size(20_000, least=1_000)
    chance = np.random.default_rng(n + len(others))
    first = chance.binomial(n, shares[0], times)
    rest = [chance.binomial(count, shares[1], times) for count in others]
    held = 0
    for number in range(times):
        own, *twins = figures_of(
            [(n, int(first[number])), *zip(others, (int(one[number]) for one in rest), strict=True)]
        )
        found = difference_from_mean(own, twins)
        assert found is not None
        held += found.low <= shares[0] - shares[1] <= found.high
    assert 0.935 <= held / times <= 0.985
