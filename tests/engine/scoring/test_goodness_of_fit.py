"""The chi-square test equals that of SciPy and combines rare values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from generation.engine.scoring.goodness_of_fit import chi_square, upper_gamma


@given(st.floats(0.5, 500.0), st.floats(0.0, 2000.0))
def test_the_gamma_function_equals_that_of_scipy(a: float, x: float) -> None:
    assert upper_gamma(a, x) == pytest.approx(special.gammaincc(a, x), rel=1e-9, abs=1e-12)


@given(st.lists(st.integers(5, 400), min_size=2, max_size=40), st.randoms(use_true_random=False))
def test_frequent_values_are_compared_as_scipy_does(counts: list[int], random) -> None:
    n = sum(counts)
    weights = np.array([count + random.random() * 20 for count in counts])
    shares = weights / weights.sum()
    if (n * shares).min() < 5:
        return
    found, wanted = chi_square(counts, shares.tolist()), stats.chisquare(counts, n * shares)
    assert found is not None
    assert found.degrees == len(counts) - 1
    assert found.statistic == pytest.approx(wanted.statistic)
    assert found.p == pytest.approx(wanted.pvalue, rel=1e-8, abs=1e-12)


def test_rare_values_are_combined() -> None:
    found = chi_square([50, 46, 2, 1, 1], [0.5, 0.45, 0.02, 0.02, 0.01])
    assert found is not None
    wanted = stats.chisquare([50, 46, 4], [50, 45, 5])
    assert (found.degrees, found.statistic) == (2, pytest.approx(wanted.statistic))


def test_a_value_with_an_expected_share_of_zero_does_not_fit() -> None:
    found = chi_square([60, 39, 1], [0.6, 0.4, 0.0])
    assert found is not None
    assert (found.statistic, found.p) == (math.inf, 0.0)


def test_a_single_value_cannot_be_tested() -> None:
    assert chi_square([10], [1.0]) is None
    assert chi_square([], []) is None
    assert chi_square([0, 0], [0.5, 0.5]) is None


def test_a_different_number_of_shares_is_refused() -> None:
    with pytest.raises(ValueError, match="as many shares as counts"):
        chi_square([1, 2], [1.0])
