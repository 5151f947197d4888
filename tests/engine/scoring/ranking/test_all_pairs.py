"""All pairs of methods: each pair equals its own comparison, and intervals of ranks contain the true ranks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.scoring.comparison import MCNEMAR, PERMUTATION, compare
from generation.engine.scoring.ranking import all_pairs
from generation.engine.scoring.ranking.all_pairs import AllPairs, compare_all
from generation.engine.scoring.score import GUESS
from tests import proof
from tests.engine.scoring.holm import holm_of_statsmodels

QUESTIONS = 40
CODES = st.lists(st.integers(-3, 2), min_size=QUESTIONS, max_size=QUESTIONS)
GUESSES = st.lists(st.sampled_from([GUESS - 2, GUESS - 3]), min_size=QUESTIONS, max_size=QUESTIONS)
METHODS = st.lists(st.lists(CODES, min_size=1, max_size=3) | st.lists(GUESSES, min_size=1, max_size=1), max_size=5)
TRUTH = st.lists(st.integers(0, 2), min_size=QUESTIONS, max_size=QUESTIONS)
ASKED = st.none() | st.lists(st.booleans(), min_size=QUESTIONS, max_size=QUESTIONS)


@settings(max_examples=proof.size(200))
@given(METHODS, TRUTH, ASKED, st.sampled_from([7, 2**15]))
def test_each_pair_equals_the_comparison_of_two_methods(
    methods: list[list[list[int]]], truth: list[int], asked: list[bool] | None, at_once: int
) -> None:
    runs, answers = [[np.array(run) for run in method] for method in methods], np.array(truth)
    among = None if asked is None else np.array(asked)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(all_pairs, "AT_ONCE", at_once)
        found = compare_all(runs, answers, among=among)
    keys = [(one, two) for one in range(len(runs)) for two in range(one + 1, len(runs))]
    assert list(found.pairs) == keys
    twins = [compare(runs[one], runs[two], answers, {}, among=among) for one, two in keys]
    wanted = holm_of_statsmodels([one.whole.p for one in twins]) if twins else []
    for key, twin, adjusted in zip(keys, twins, wanted, strict=True):
        assert found.pairs[key] == twin.whole._replace(adjusted=found.pairs[key].adjusted)
        assert found.pairs[key].adjusted == pytest.approx(adjusted, abs=1e-9)
        assert found.accuracies[key[0]] == pytest.approx(twin.whole.first)
    if twins:
        assert found.test == (PERMUTATION if any(twin.test == PERMUTATION for twin in twins) else MCNEMAR)


def check_ranks(found: AllPairs) -> None:
    """Compare each interval with one that is counted pair by pair."""
    for at, one in enumerate(found.ranks):
        others = [other for other in range(len(found.ranks)) if other != at]
        differences = {other: round(found.accuracies[at] - found.accuracies[other], 9) for other in others}
        is_sure = {other: found.pairs[min(at, other), max(at, other)].adjusted < 0.05 for other in others}
        assert one.rank == 1 + sum(differences[other] < 0 for other in others)
        assert one.low == 1 + sum(differences[other] < 0 and is_sure[other] for other in others)
        assert one.high == len(others) + 1 - sum(differences[other] > 0 and is_sure[other] for other in others)
        assert 1 <= one.low <= one.rank <= one.high <= len(found.ranks)


def answers_of(chance: np.random.Generator, accuracies: list[float], questions: int) -> list[list[np.ndarray]]:
    """Return a run of each method that answers as often correctly as wanted; some questions are harder for all."""
    common = chance.random(questions)
    found = []
    for share in accuracies:
        own = np.where(chance.random(questions) < 0.5, common, chance.random(questions))
        found.append([np.where(own < share, 0, 1)])
    return found


@pytest.mark.parametrize(
    "true",
    proof.sample([[0.5, 0.5, 0.6, 0.6, 0.75, 0.9], [0.7] * 6, [0.50, 0.56, 0.62, 0.68, 0.74, 0.80]], gate=2),
)
def test_intervals_contain_all_true_ranks_in_95_of_100_boards(true: list[float]) -> None:
    chance, truth = np.random.default_rng(1), np.zeros(300, np.int64)
    best = [1 + sum(other > one for other in true) for one in true]
    worst = [len(true) - sum(other < one for other in true) for one in true]
    covered, widths, boards = 0, [], proof.size(300, least=100)
    for number in range(boards):
        found = compare_all(answers_of(chance, true, 300), truth)
        if number % 10 == 0:
            check_ranks(found)
        inside = [one.low <= low and high <= one.high for one, low, high in zip(found.ranks, best, worst, strict=True)]
        covered += all(inside)
        widths += [one.high - one.low for one in found.ranks]
    assert covered >= 0.95 * boards
    if true[0] < true[-1]:
        assert np.mean(widths) < 4, "or the intervals would contain nearly all ranks"


def test_equal_methods_share_a_rank_and_can_have_any() -> None:
    run = np.arange(100) % 2
    found = compare_all([[run], [run.copy()], [run, run]], np.zeros(100, np.int64))
    assert {tuple(one) for one in found.ranks} == {(1, 1, 3)}
    assert {one.adjusted for one in found.pairs.values()} == {1.0}


def test_too_few_questions_give_no_order() -> None:
    found = compare_all([[np.zeros(20, int)], [np.ones(20, int)]], np.zeros(20, np.int64), least=30)
    assert [(one.low, one.high) for one in found.ranks] == [(1, 2), (1, 2)]
    assert found.pairs[0, 1].p == 1


def test_fewer_than_two_methods_have_no_pairs() -> None:
    assert compare_all([], np.zeros(5, np.int64)).ranks == ()
    alone = compare_all([[np.zeros(5, int)]], np.zeros(5, np.int64))
    assert (alone.ranks, alone.pairs, alone.accuracies) == (((1, 1, 1),), {}, (1.0,))


@pytest.mark.slow
def test_thirty_methods_on_100_000_questions_have_consistent_ranks() -> None:
    chance, truth = np.random.default_rng(2), np.zeros(100_000, np.int64)
    methods = answers_of(chance, [0.4 + 0.01 * at for at in range(30)], 100_000)
    found = compare_all(methods, truth)
    check_ranks(found)
