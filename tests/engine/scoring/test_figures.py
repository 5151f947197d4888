"""Wilson's interval, against values that others have published and against its definition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from generation.engine.scoring.figures import wilson

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
def test_published_examples_come_out(right, n, low, high):
    found = wilson(right, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_its_ends_are_those_shares_from_which_the_count_is_just_so_far(counted):
    right, n = counted
    for end in wilson(right, n):
        deviation = abs(right / n - end)
        assert deviation == pytest.approx(Z * (end * (1 - end) / n) ** 0.5, abs=1e-9)


@given(st.integers(0, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_it_holds_the_share_and_mirrors(counted):
    right, n = counted
    low, high = wilson(right, n)
    assert 0 <= low <= (right / n if n else 0.5) <= high <= 1
    mirrored = wilson(n - right, n)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - high, 1 - low))


@given(st.integers(1, 10**5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_it_is_that_of_statsmodels(counted, level):
    expected = proportion_confint(*counted, alpha=1 - level, method="wilson")
    assert wilson(*counted, level=level) == pytest.approx(expected, abs=1e-9)


def test_of_nothing_nothing_is_known():
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_higher_level_reaches_further():
    assert wilson(5, 10, level=0.99).low < wilson(5, 10).low


@pytest.mark.parametrize("counted", [(-1, 3), (4, 3), (1, 0)])
def test_counts_that_cannot_be_are_refused(counted):
    with pytest.raises(ValueError, match="Expected a count"):
        wilson(*counted)
