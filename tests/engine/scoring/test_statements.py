"""Statements about figures: intervals by the slow bootstrap and by simulation, and the three outcomes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from generation.engine.errors import BadSpec
from generation.engine.scoring.figures import Averaged, Interval, difference_of, figure, wilson
from generation.engine.scoring.question_terms import QuestionTerms, balanced_accuracy, ratio, share_of
from generation.engine.scoring.statements import (
    Inequality,
    Measurement,
    StatementOutcome,
    interval_of_sum,
    judge,
    measure_share,
    measure_terms,
    outcome_of,
    student_quantile,
)
from generation.engine.spec import read
from tests.proof import size

BITS = st.lists(st.booleans(), min_size=30, max_size=80)


def measured(scores: NDArray[np.floating], *, pool: str = "test", first: int = 0, name: str = "run") -> Measurement:
    """Return the share of `scores` (runs, n) on the questions from `first` on."""
    runs = [f"{name}-{at}" for at in range(len(scores))]
    return measure_share(scores, runs=runs, pool=pool, positions=np.arange(first, first + scores.shape[1]))


def at_least(bound: float, *, plus: tuple[str, ...] = ("a",), minus: tuple[str, ...] = ()) -> Inequality:
    return Inequality(plus=plus, minus=minus, at_least=bound)


# Intervals


@given(BITS)
def test_a_share_of_one_run_has_wilsons_interval(bits: list[bool]) -> None:
    found = interval_of_sum([(1, measured(np.array([bits], float)))])
    assert found == pytest.approx(wilson(sum(bits), len(bits)))


@given(BITS, BITS)
def test_a_difference_on_different_questions_has_newcombes_interval(first: list[bool], second: list[bool]) -> None:
    terms = [
        (1.0, measured(np.array([first], float), pool="one")),
        (-1.0, measured(np.array([second], float), pool="two")),
    ]
    figures = [figure(Averaged(len(bits), (sum(bits),))) for bits in (first, second)]
    assert interval_of_sum(terms) == pytest.approx(difference_of(*figures))


@given(BITS, st.permutations(range(3)))
def test_the_order_of_figures_does_not_matter(bits: list[bool], order: list[int]) -> None:
    scores = np.array(bits, float)
    figures = [measured(np.stack([np.roll(scores, at), np.roll(scores, 2 * at)]), name=str(at)) for at in range(3)]
    terms = [(1.0, figures[0]), (-1.0, figures[1]), (0.5, figures[2])]
    assert interval_of_sum([terms[at] for at in order]) == pytest.approx(interval_of_sum(terms))


@given(BITS, st.floats(0.1, 4))
def test_a_weight_scales_the_interval(bits: list[bool], weight: float) -> None:
    one = measured(np.array([bits, bits[::-1]], float))
    low, high = interval_of_sum([(1.0, one)])
    assert interval_of_sum([(weight, one)]) == pytest.approx((weight * low, weight * high))
    assert interval_of_sum([(-weight, one)]) == pytest.approx((-weight * high, -weight * low))


def test_parts_of_a_share_have_the_same_interval_as_a_pool_or_as_positions_that_overlap() -> None:
    chance = np.random.default_rng(3)
    scores = (chance.random((1, 400)) < 0.6).astype(float)
    whole, part = measured(scores), measured(scores[:, 100:], first=100)
    apart = measured(scores[:, 100:], first=100, pool="other")
    paired, independent = (interval_of_sum([(1, whole), (-1, one)]) for one in (part, apart))
    assert width(paired) < 0.75 * width(independent)


def width(interval: Interval) -> float:
    return interval.high - interval.low


def bootstrap(terms: list[tuple[float, NDArray[np.floating]]], n: int, resamples: int) -> Interval:
    """Return the percentile interval of a weighted sum of shares, by drawing the questions of each resample."""
    chance, found = np.random.default_rng(0), []
    for _ in range(resamples):
        drawn = chance.integers(0, n, n)
        found.append(sum(weight * scores[:, drawn].mean() for weight, scores in terms))
    return Interval(*np.quantile(found, [0.025, 0.975]))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_the_interval_over_questions_is_close_to_the_slow_bootstrap(share: float) -> None:
    n, chance = 600, np.random.default_rng(5)
    ease = chance.random(n)
    scores = [(ease * 0.7 + chance.random((1, n)) * 0.3 < at).astype(float) for at in (share, share - 0.1, share + 0.1)]
    weights = (1.0, -1.0, 0.5)
    slow = bootstrap(list(zip(weights, scores, strict=True)), n, 2000)
    fast = interval_of_sum([(weight, measured(one)) for weight, one in zip(weights, scores, strict=True)])
    assert fast == pytest.approx(slow, abs=0.15 * width(slow))


def test_the_interval_of_a_root_is_close_to_the_slow_bootstrap() -> None:
    n, chance = 500, np.random.default_rng(6)
    squares = chance.exponential(2.0, n)

    def combine(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.sqrt(ratio(sums))

    terms = QuestionTerms(np.stack([squares, np.ones(n)], axis=1), np.ones(n, np.bool_), combine)
    one = measure_terms({"run": terms}, pool="test", positions=np.arange(n))
    assert one is not None
    drawn = [math.sqrt(squares[chance.integers(0, n, n)].mean()) for _ in range(2000)]
    slow = Interval(*np.quantile(drawn, [0.025, 0.975]))
    assert interval_of_sum([(1, one)]) == pytest.approx(slow, abs=0.1 * width(slow))
    assert one.influences.sum() == pytest.approx(0, abs=1e-6)


def test_the_interval_of_a_balanced_accuracy_is_close_to_the_slow_bootstrap() -> None:
    n, chance = 600, np.random.default_rng(7)
    truth = (chance.random(n) < 0.3).astype(int)
    is_right = chance.random(n) < np.where(truth, 0.5, 0.9)
    one = measure_terms({"run": balanced_accuracy(is_right, truth)}, pool="test", positions=np.arange(n))
    assert one is not None
    draws = [chance.integers(0, n, n) for _ in range(2000)]
    figures = [np.mean([is_right[drawn][truth[drawn] == answer].mean() for answer in (0, 1)]) for drawn in draws]
    slow = Interval(*np.quantile(figures, [0.025, 0.975]))
    assert interval_of_sum([(1, one)]) == pytest.approx(slow, abs=0.1 * width(slow))


@given(BITS)
def test_a_share_as_terms_pairs_with_the_same_share_as_scores(bits: list[bool]) -> None:
    is_right = np.array(bits)
    terms = share_of(is_right, np.ones(len(bits), np.bool_))
    one = measure_terms({"run-0": terms}, pool="test", positions=np.arange(len(bits)))
    other = measured(is_right[np.newaxis].astype(float))
    assert one is not None
    assert one.influences == pytest.approx(other.influences, abs=1e-5)
    assert one.value == pytest.approx(other.value)


def test_terms_without_a_figure_are_no_measurement() -> None:
    terms = share_of(np.zeros(40, np.bool_), np.zeros(40, np.bool_))
    assert measure_terms({"run": terms}, pool="test", positions=np.arange(40)) is None


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 30])
def test_students_quantile_is_that_of_the_library(freedom: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    for level in (0.5, 0.9, 0.95, 0.99):
        assert student_quantile(freedom, level) == pytest.approx(stats.t.ppf(0.5 + level / 2, freedom))


def simulate(chance: np.random.Generator, *, runs: int, n: int, gap: float, spread: float) -> float:
    """Return whether the interval of the difference of two methods contains the true difference.

    Questions have an ease that both methods share. Each run has a skill, which varies with `spread`.
    """
    ease = chance.normal(0, 0.15, n)
    found = []
    for name, mean in (("a", 0.5 + gap), ("b", 0.5)):
        skill = mean + chance.normal(0, spread, (runs, 1))
        right = chance.random((runs, n)) < np.clip(skill + ease, 0, 1)
        found.append(measured(right.astype(float), name=name))
    low, high = interval_of_sum([(1.0, found[0]), (-1.0, found[1])])
    return low <= gap <= high


@pytest.mark.parametrize(("runs", "spread"), [(1, 0.0), (3, 0.03), (3, 0.0), (5, 0.05)])
def test_the_interval_covers_the_true_difference(runs: int, spread: float) -> None:
    chance, cases = np.random.default_rng(runs), size(4000, least=200)
    covered = sum(simulate(chance, runs=runs, n=300, gap=0.1, spread=spread) for _ in range(cases)) / cases
    assert covered >= 0.95 - 4 * math.sqrt(0.95 * 0.05 / cases)


def test_runs_widen_the_interval_and_pairs_of_runs_narrow_it() -> None:
    """A model that is good on one split is good on the other, so its drop varies less than its two figures."""
    chance = np.random.default_rng(1)
    skill = np.array([0.5, 0.7, 0.9])[:, np.newaxis]
    splits = {pool: (chance.random((3, 2000)) < skill).astype(float) for pool in ("one", "two")}
    paired = [measured(scores, pool=pool) for pool, scores in splits.items()]
    unpaired = [measured(scores, pool=pool, name=pool) for pool, scores in splits.items()]
    drop, other = (interval_of_sum([(1.0, one), (-1.0, two)]) for one, two in (paired, unpaired))
    single = interval_of_sum([(1.0, measured(splits["one"][1:2])), (-1.0, measured(splits["two"][1:2], pool="two"))])
    assert width(single) < width(other)
    assert width(drop) < width(other) / 3


def test_runs_are_paired_by_their_names_in_any_order() -> None:
    scores = (np.random.default_rng(2).random((3, 100)) < np.array([[0.2], [0.5], [0.8]])).astype(float)
    one = measure_share(scores, runs=("x", "y", "z"), pool="p", positions=np.arange(100))
    other = measure_share(scores[::-1], runs=("z", "y", "x"), pool="q", positions=np.arange(100))
    same = measure_share(scores, runs=("x", "y", "z"), pool="q", positions=np.arange(100))
    assert interval_of_sum([(1.0, one), (-1.0, other)]) == pytest.approx(interval_of_sum([(1.0, one), (-1.0, same)]))


def test_guesses_of_equal_probability_are_nearly_exact() -> None:
    one = measured(np.full((1, 50), 0.25))
    assert interval_of_sum([(1, one)]) == pytest.approx((0.25, 0.25), abs=1e-4)


# Outcomes


@given(*[st.floats(-1, 1)] * 4)
def test_an_interval_holds_fails_or_is_undecided(a: float, b: float, c: float, d: float) -> None:
    (low, high), (least, most) = sorted((a, b)), sorted((c, d))
    grid = np.linspace(low, high, 50)
    inside = [bool(least <= one <= most) for one in grid]
    found = outcome_of(Interval(low, high), Interval(least, most))
    if found == StatementOutcome.HELD:
        assert all(inside)
    elif found == StatementOutcome.NOT_HELD:
        assert not any(inside)
    else:
        assert low < least or high > most


def test_more_questions_decide_a_statement() -> None:
    outcomes = []
    for n in (10, 40, 4000):
        share = measured(np.tile([1.0, 1.0, 1.0, 0.0], n // 2)[np.newaxis])
        outcomes.append(judge(at_least(0.7), {"a": share}).outcome)
    assert outcomes == [StatementOutcome.UNDECIDED, StatementOutcome.UNDECIDED, StatementOutcome.HELD]
    assert judge(at_least(0.8), {"a": share}).outcome == StatementOutcome.NOT_HELD


def test_near_a_number_is_two_bounds() -> None:
    share = measured(np.tile([1.0, 0.0], 2000)[np.newaxis])
    near = Inequality(plus=("a",), at_least=0.45, at_most=0.55)
    assert judge(near, {"a": share}).outcome == StatementOutcome.HELD
    far = Inequality(plus=("a",), at_least=0.2, at_most=0.4)
    assert judge(far, {"a": share}).outcome == StatementOutcome.NOT_HELD


def test_a_gap_that_grows_is_a_sum_of_four_figures() -> None:
    chance = np.random.default_rng(4)
    figures = {
        name: measured((chance.random((3, 3000)) < share).astype(float), pool=name[1], name=name)
        for name, share in {"a1": 0.9, "b1": 0.85, "a2": 0.9, "b2": 0.6}.items()
    }
    grows = Inequality(plus=("a2", "b1"), minus=("b2", "a1"), at_least=0.1)
    found = judge(grows, figures)
    assert found.value == pytest.approx(0.25, abs=0.03)
    assert found.outcome == StatementOutcome.HELD
    assert judge(Inequality(plus=("a1",), minus=("a1",), at_most=0.1), figures).value == 0


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"plus": ["a"]}, "at_least, at_most or both"),
        ({"plus": [], "at_least": 0}, "plus"),
        ({"plus": ["a"], "at_least": 0.5, "at_most": 0.5}, "at_least below at_most"),
        ({"plus": ["a"], "at_least": 0, "within": 1}, "within"),
    ],
)
def test_a_wrong_statement_is_one_message(data: dict[str, object], message: str) -> None:
    with pytest.raises(BadSpec, match=message):
        read(Inequality, data)
