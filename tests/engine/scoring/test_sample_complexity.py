"""The size that reaches a target and its growth with k, compared with twins that look at each resample in turn."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.scoring.figures import Averaged
from generation.engine.scoring.sample_complexity import MeasuredSize, size_interval, slope, slope_interval

KS = (5, 15, 31, 60)
NINE_TENTHS = Fraction(9, 10)
TARGET = st.fractions(Fraction(1, 50), 1)
POINTS = st.lists(
    st.tuples(st.floats(0.1, 1e6), st.integers(1, 10**7)), min_size=2, max_size=8, unique_by=lambda one: one[0]
).filter(lambda points: max(k for k, _ in points) > 1.01 * min(k for k, _ in points))
RIGHTS = st.lists(st.integers(0, 50), min_size=1, max_size=4)
MEASURED = st.dictionaries(st.sampled_from(KS), st.lists(RIGHTS, min_size=1, max_size=4), max_size=4)


def measured_of(found: dict[int, list[list[int]]]) -> dict[float, list[MeasuredSize]]:
    """Return measured sizes from the right answers of runs on 50 questions. Each size is twice the one before."""
    return {
        k: [MeasuredSize(100 * 2**at, Averaged(50, tuple(rights))) for at, rights in enumerate(sizes)]
        for k, sizes in found.items()
    }


def slow_size(sizes: list[tuple[int, list[int], int]], target: Fraction) -> int | None:
    for size, rights, n in sizes:
        if Fraction(sum(rights), len(rights) * n) >= target:
            return size
    return None


def slow_slopes(measured: dict[float, list[MeasuredSize]], target: Fraction, resamples: int) -> list[float]:
    """Return the slope of each resample in which at least two k reach the target."""
    random = np.random.Generator(np.random.PCG64(0))
    drawn = {}  # in the same order as the fast function draws
    for k in sorted(measured):
        for one in reversed(measured[k]):
            runs = len(one.averaged.rights)
            drawn[k, one.size] = random.integers(0, runs, (resamples, runs)).tolist()
    found = []
    for at in range(resamples):
        reached = {}
        for k, sizes in measured.items():
            tried = [(size, [one.rights[run] for run in drawn[k, size][at]], one.n) for size, one in sizes]
            reached[k] = slow_size(tried, target)
        points = [(math.log(k), math.log(size)) for k, size in reached.items() if size is not None]
        if len(points) > 1:
            found.append(float(np.polyfit(*zip(*points, strict=True), 1)[0]))
    return found


def every_size(sizes: list[MeasuredSize], target: Fraction) -> list[float]:
    """Return the sorted sizes that reach the target in all equally likely resamples; infinity if no size reaches it."""
    ways = [list(itertools.product(one.averaged.rights, repeat=len(one.averaged.rights))) for one in sizes]
    found = []
    for drawn in itertools.product(*ways):
        tried = [(one.size, list(rights), one.averaged.n) for one, rights in zip(sizes, drawn, strict=True)]
        found.append(slow_size(tried, target) or math.inf)
    return sorted(found)


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 50), min_size=2, max_size=3), min_size=1, max_size=3), TARGET)
def test_the_interval_of_a_size_equals_that_of_all_resamples(rights: list[list[int]], target: Fraction) -> None:
    sizes = measured_of({5: rights})[5]
    every = every_size(sizes, target)
    interval = size_interval(sizes, target, resamples=4_000)
    assert interval is not None
    for end, level in zip(interval, (0.025, 0.975), strict=True):
        aside = 0.012  # about 4.9 standard errors of a share in 4,000 resamples
        least = every[math.floor(max(level - aside, 0.0) * (len(every) - 1))]
        most = every[math.ceil(min(level + aside, 1.0) * (len(every) - 1))]
        assert least <= (end or math.inf) <= most


def test_the_interval_of_a_size_ends_at_measured_sizes() -> None:
    rights = [[40, 50], [44, 50], [46, 50]]  # the means reach 90 % in 3/4, 3/4 and all of the resamples
    assert size_interval(measured_of({5: rights})[5], NINE_TENTHS) == (100, 400)
    assert size_interval(measured_of({5: rights[:2]})[5], NINE_TENTHS) == (100, None)
    assert size_interval(measured_of({5: [[10, 11]]})[5], NINE_TENTHS) == (None, None)


@pytest.mark.parametrize("rights", [[], [[45]], [[45, 45], [45]]])
def test_a_size_with_a_single_run_has_no_size_interval(rights: list[list[int]]) -> None:
    assert size_interval(measured_of({5: rights})[5], NINE_TENTHS) is None


@given(POINTS)
def test_the_slope_equals_that_of_a_fitted_line(points: list[tuple[float, int]]) -> None:
    logs = np.log(np.array(points, float))
    assert slope(points) == pytest.approx(np.polyfit(logs[:, 0], logs[:, 1], 1)[0], rel=1e-6, abs=1e-6)


@given(st.floats(-3, 3), st.floats(0.1, 1000))
def test_the_slope_of_a_power_law_is_its_exponent(power: float, factor: float) -> None:
    assert slope([(k, factor * k**power) for k in KS]) == pytest.approx(power, abs=1e-9)


@given(POINTS, st.floats(0.1, 1000), st.floats(0.1, 1000))
def test_units_of_k_and_n_do_not_change_the_slope(points: list[tuple[float, int]], one: float, other: float) -> None:
    changed = slope([(one * k, other * n) for k, n in points])
    assert changed == pytest.approx(slope(points), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("points", [[], [(5, 100)]])
def test_fewer_than_two_points_have_no_slope(points: list[tuple[float, float]]) -> None:
    assert slope(points) is None


@settings(max_examples=60)
@given(MEASURED, TARGET)
def test_the_interval_equals_that_of_the_slow_twin(found: dict[int, list[list[int]]], target: Fraction) -> None:
    measured = measured_of(found)
    interval = slope_interval(measured, target, resamples=40)
    plain = {
        k: slow_size([(size, list(one.rights), one.n) for size, one in sizes], target) for k, sizes in measured.items()
    }
    reaching = [k for k, size in plain.items() if size is not None]
    have_runs = all(len(one.averaged.rights) > 1 for k in reaching for one in measured[k])
    slopes = slow_slopes(measured, target, 40)
    if len(reaching) < 2 or not have_runs or not slopes:
        assert interval is None
    else:
        assert interval == pytest.approx(tuple(np.quantile(slopes, [0.025, 0.975])), abs=1e-9)


def test_equal_runs_have_an_interval_of_width_zero() -> None:
    measured = measured_of({5: [[45, 45]], 60: [[0, 0], [45, 45]]})
    expected = math.log(2) / math.log(12)
    assert slope_interval(measured, NINE_TENTHS) == pytest.approx((expected, expected))


def test_the_interval_contains_the_slope_of_the_means() -> None:
    random = np.random.default_rng(3)
    found = {
        k: [[int(right) for right in random.binomial(50, share, 5)] for share in (0.6, 0.8, 0.9, 0.97)] for k in KS
    }
    measured = measured_of(found)
    low, high = slope_interval(measured, Fraction(85, 100)) or (0, 0)
    points = [
        (k, slow_size([(s, list(one.rights), one.n) for s, one in sizes], Fraction(85, 100)))
        for k, sizes in measured.items()
    ]
    assert low <= (slope([(k, n) for k, n in points if n]) or 0) <= high


def test_a_size_with_a_single_run_has_no_slope_interval() -> None:
    assert slope_interval(measured_of({5: [[45, 45]], 60: [[0], [45, 45]]}), NINE_TENTHS) is None


def test_a_k_that_never_reaches_the_target_may_have_single_runs() -> None:
    assert slope_interval(measured_of({5: [[45, 45]], 31: [[45, 45]], 60: [[0]]}), NINE_TENTHS) is not None
