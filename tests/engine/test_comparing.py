"""Two methods compared, beside statsmodels and beside twins that look at one question after the other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_others
from statsmodels.stats.multitest import multipletests

from generation.engine.comparing import compare, holm, mcnemar
from generation.engine.score import Slicing

COUNTS = st.integers(0, 400)
RUN = st.lists(st.integers(-2, 2), min_size=30, max_size=30)
TRUTH = st.lists(st.integers(0, 2), min_size=30, max_size=30)


@given(COUNTS, COUNTS)
def test_mcnemar_is_what_others_compute(first, second):
    wanted = mcnemar_of_others([[0, first], [second, 0]], exact=True).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(min(1.0, wanted), rel=1e-9)
    assert mcnemar(first, second) == mcnemar(second, first)


@pytest.mark.parametrize(("first", "second"), [(70_500, 70_000), (300_000, 298_000), (1_000_000, 999_000)])
def test_mcnemar_holds_for_a_million_questions(first, second):
    wanted = mcnemar_of_others([[0, first], [second, 0]], exact=True).pvalue
    assert mcnemar(first, second) == pytest.approx(wanted, rel=1e-6)


def test_mcnemar_of_a_hopeless_difference_is_no_error():
    assert mcnemar(0, 1_000_000) == 0.0


@settings(max_examples=10)  # others take 50 ms each
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_is_what_others_compute(values):
    wanted = multipletests(values, method="holm")[1]
    assert holm(values) == pytest.approx(list(wanted), abs=1e-12)


def one_by_one(first, second, answers, places):
    """Return n, both mean shares, and how many questions more of the one's runs have right, question by question."""
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
def test_each_slice_is_what_counting_one_by_one_gives(first, second, truth, facet, among):
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
        n, one, two, better, worse = one_by_one(first, second, truth, among_these)
        assert (part.n, part.only_first, part.only_second) == (n, better, worse)
        assert (part.first, part.second) == pytest.approx((one, two))
        assert part.p == mcnemar(better, worse)
    asked_parts = [part for part in found.facets["facet"] if part.n]
    assert [part.adjusted for part in asked_parts] == pytest.approx(holm([part.p for part in asked_parts]))


@given(RUN, TRUTH)
def test_a_method_is_no_better_than_itself(run, truth):
    found = compare([np.array(run)] * 2, [np.array(run)], np.array(truth), {}).whole
    assert (found.difference, found.p, tuple(found.interval)) == (0, 1, (0, 0))


@pytest.mark.parametrize("runs", [1, 3])
def test_the_bootstrap_is_that_of_drawing_questions_one_by_one(runs):
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
    assert found == compare(first, second, truth, {}).whole
    assert found.interval != compare(first, second, truth, {}, seed=1).whole.interval
