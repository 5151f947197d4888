"""The comparison of two methods, checked against statsmodels and against twins that look at each question in turn."""

import itertools
import math
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_others

from generation.engine.scoring import comparison
from generation.engine.scoring.comparison import MCNEMAR, PERMUTATION, compare, holm, mcnemar, permutation_test
from generation.engine.scoring.score import GUESS, NONE, Slicing, score
from tests.engine.scoring.holm import holm_of_statsmodels

COUNTS = st.integers(0, 400)
RUN = st.lists(st.integers(-2, 2), min_size=30, max_size=30)
TRUTH = st.lists(st.integers(0, 2), min_size=30, max_size=30)


@given(COUNTS, COUNTS)
def test_mcnemar_equals_that_of_statsmodels(first, second):
    wanted = mcnemar_of_others([[0, first], [second, 0]], exact=True).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(min(1.0, wanted), rel=1e-9)
    assert mcnemar(first, second) == mcnemar(second, first)


@pytest.mark.parametrize(("first", "second"), [(70_500, 70_000), (300_000, 298_000), (1_000_000, 999_000)])
def test_mcnemar_is_correct_for_a_million_questions(first, second):
    wanted = mcnemar_of_others([[0, first], [second, 0]], exact=True).pvalue
    assert mcnemar(first, second) == pytest.approx(wanted, rel=1e-6)


def test_mcnemar_of_an_extreme_difference_is_zero():
    assert mcnemar(0, 1_000_000) == 0.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_equals_that_of_statsmodels(values):
    assert holm(values) == pytest.approx(list(holm_of_statsmodels(values)), abs=1e-12)


def permutation_p_value(first, second, answers, places):
    """Return the share of all ways to swap both methods on single questions that give at least this difference."""
    ahead = Counter({0: 1})
    steps = []
    for place in places:
        one, two = (sum(run[place] >= 0 and run[place] == answers[place] for run in runs) for runs in (first, second))
        steps.append(one * len(second) - two * len(first))
    for step in filter(None, steps):
        both = Counter()
        for total, ways in ahead.items():
            both[total + step] += ways
            both[total - step] += ways
        ahead = both
    far = sum(ways for total, ways in ahead.items() if abs(total) >= abs(sum(steps)))
    return far / sum(ahead.values())


def compare_one_by_one(first, second, answers, places):
    """Return n, both mean shares, and on how many questions the first runs are better and worse, counted one by one."""
    shares = [[], []]
    for place in places:
        for side, runs in enumerate((first, second)):
            right = [run[place] >= 0 and run[place] == answers[place] for run in runs]
            shares[side].append(sum(right) / len(right))
    better = sum(a > b for a, b in zip(*shares, strict=True))
    worse = sum(a < b for a, b in zip(*shares, strict=True))
    n = len(shares[0])
    return n, sum(shares[0]) / max(1, n), sum(shares[1]) / max(1, n), better, worse


@given(st.lists(RUN, min_size=1, max_size=3), st.lists(RUN, min_size=1, max_size=3), TRUTH, TRUTH, TRUTH)
def test_each_slice_equals_counting_one_by_one(first, second, truth, facet, among):
    asked = np.array(among) > 0
    found = compare(
        [np.array(run) for run in first],
        [np.array(run) for run in second],
        np.array(truth),
        {"facet": Slicing(np.array(facet, np.uint8), 3)},
        among=asked,
    )
    places = [place for place in range(30) if among[place]]
    parts = [(found.whole, places)]
    parts += [(part, [p for p in places if facet[p] == value]) for value, part in enumerate(found.facets["facet"])]
    for part, among_these in parts:
        n, one, two, better, worse = compare_one_by_one(first, second, truth, among_these)
        assert (part.n, part.only_first, part.only_second) == (n, better, worse)
        assert (part.first, part.second) == pytest.approx((one, two))
        assert part.p == pytest.approx(permutation_p_value(first, second, truth, among_these), abs=1e-9)
    assert found.test == (MCNEMAR if len(first) == len(second) == 1 else PERMUTATION)
    asked_parts = [part for part in found.facets["facet"] if part.n]
    assert [part.adjusted for part in asked_parts] == pytest.approx(holm([part.p for part in asked_parts]))


@given(RUN, TRUTH)
def test_a_method_compared_with_itself_has_no_difference(run, truth):
    found = compare([np.array(run)] * 2, [np.array(run)], np.array(truth), {}).whole
    assert (found.difference, found.p, tuple(found.interval)) == (0, 1, (0, 0))


@pytest.mark.parametrize("runs", [1, 3])
def test_the_bootstrap_interval_equals_that_of_drawing_questions_one_by_one(runs):
    random = np.random.default_rng(5)
    n = 300
    truth = random.integers(0, 4, n)
    first, second = (
        [np.where(random.random(n) < share, truth, (truth + 1) % 4) for _ in range(runs)] for share in (0.8, 0.7)
    )
    each = np.mean([run == truth for run in first], axis=0) - np.mean([run == truth for run in second], axis=0)
    drawn = [each[random.integers(0, n, n)].mean() for _ in range(4000)]
    found = compare(first, second, truth, {}).whole
    assert found.interval == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.01)


@given(st.lists(st.sampled_from([-3, -1, 0, 2]), min_size=2, max_size=5))
def test_the_interval_equals_that_of_all_possible_draws(ahead):
    truth = np.zeros(len(ahead), np.int64)
    first = [np.where(np.array(ahead) > run, 0, 1) for run in range(2)]
    second = [np.where(-np.array(ahead) > run, 0, 1) for run in range(3)]
    steps = [3 * min(2, max(0, one)) - 2 * min(3, max(0, -one)) for one in ahead]
    sums = sorted(sum(drawn) for drawn in itertools.product(steps, repeat=len(steps)))
    ends = [sums[math.ceil(level * len(sums)) - 1] / 6 / len(steps) for level in (0.025, 0.975)]
    found = compare(first, second, truth, {}).whole
    assert found.interval == pytest.approx(tuple(ends))


def runs_of(random, accuracy, *, runs, questions):
    """Return runs whose right answers are 0."""
    return [np.where(random.random(questions) < accuracy, 0, 1) for _ in range(runs)]


def test_a_normal_distribution_replaces_one_that_needs_too_many_terms(monkeypatch):
    random, truth = np.random.default_rng(7), np.zeros(900, np.int64)
    first, second = (runs_of(random, share, runs=runs, questions=900) for share, runs in ((0.62, 3), (0.6, 4)))
    exact = compare(first, second, truth, {}).whole
    monkeypatch.setattr(comparison, "MOST_TERMS", 0)
    normal = compare(first, second, truth, {}).whole
    assert normal.p != exact.p and normal.p == pytest.approx(exact.p, abs=0.01)
    assert normal.interval == pytest.approx(exact.interval, abs=0.001)


def test_hundreds_of_runs_need_little_memory():
    random, truth = np.random.default_rng(8), np.zeros(600, np.int64)
    first, second = (runs_of(random, 0.6, runs=runs, questions=600) for runs in (197, 199))
    tracemalloc.start()
    try:
        whole = compare(first, second, truth, {}).whole
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 300_000_000
    assert whole.interval.low < whole.difference < whole.interval.high


def test_interval_and_test_agree_on_several_runs():
    random = np.random.default_rng(11)
    apart = together = 0
    for number in range(80):
        n = int(random.integers(30, 200))
        truth, share = np.zeros(n, np.int64), random.uniform(0.3, 0.9)
        first = [np.where(random.random(n) < share, 0, 1) for _ in range(3)]
        behind = share - (0.12 if number % 2 else 0.0)
        second = [np.where(random.random(n) < behind, 0, 1) for _ in range(2)]
        whole = compare(first, second, truth, {}).whole
        low, high = whole.interval
        margin = 0.15 * (high - low)
        if low > margin or high < -margin:
            apart += 1
            assert whole.p < 0.05, whole
        if low < -margin and high > margin:
            together += 1
            assert whole.p > 0.05, whole
    assert apart > 10 and together > 10


def test_a_slice_of_too_few_questions_is_not_tested():
    random = np.random.default_rng(3)
    truth, codes = np.zeros(90, np.int64), np.repeat(np.array([0, 1, 2], np.uint8), [10, 40, 40])
    runs = [np.where(random.random(90) < share, 0, 1) for share in (0.9, 0.5)]
    few, one, two = compare(runs[:1], runs[1:], truth, {"f": Slicing(codes, 3)}, least=30).facets["f"]
    assert (few.n, few.p, few.adjusted, tuple(few.interval)) == (10, 1, 1, (-1, 1))
    assert [one.adjusted, two.adjusted] == holm([one.p, two.p])


def test_guesses_count_as_their_expected_value():
    random = np.random.default_rng(2)
    n = 4000
    truth, choices = random.integers(-2, 2, n), random.choice([2, 3, 11], n)
    guesses, run = GUESS - choices, np.where(random.random(n) < 0.6, truth, NONE)
    expected = np.where(truth >= 0, 1 / choices, 0.0)
    found = compare([run], [guesses], truth, {"f": Slicing(choices.astype(np.uint8), 12)})
    assert found.whole.second == pytest.approx(expected.mean(), abs=1e-9)
    assert found.test == PERMUTATION
    for value in (2, 3, 11):
        assert found.facets["f"][value].second == pytest.approx(expected[choices == value].mean(), abs=1e-9)
    low, high = found.whole.interval
    assert low < found.whole.difference < high and found.whole.p < 1e-6
    counted = score(guesses, truth, {"f": Slicing(choices.astype(np.uint8), 12)})
    assert counted.right == pytest.approx(expected.sum(), abs=1e-5)
    assert counted.facets["f"].right[11] == pytest.approx(expected[choices == 11].sum(), abs=1e-5)
    assert permutation_test(np.array([1, -1]), np.array([5, 0])) == mcnemar(5, 0)
