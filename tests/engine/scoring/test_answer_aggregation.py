"""Majority votes, the model of Dawid and Skene, agreement and the crossed bootstrap, compared with slow twins."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa

from generation.engine.scoring.answer_aggregation import PRIOR, Votes, count_votes, dawid_skene, majority
from generation.engine.scoring.figures import wilson
from generation.engine.scoring.score import NONE, OUTSIDE, TIE, Slicing, score
from generation.engine.scoring.statistics import crossed_bootstrap, krippendorff_alpha
from tests import proof

CELLS = st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 3))  # question, person, answer


def votes_of(cells: Sequence[tuple[int, int, int]], n: int = 6) -> Votes:
    """Return votes in which each person answers a question at most once. The last answer counts."""
    kept = {(question, person): answer for question, person, answer in cells}
    rows = [(question, person, answer) for (question, person), answer in kept.items()]
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    return Votes(columns[0], columns[1], columns[2], n)


VOTES = st.lists(CELLS, max_size=24).map(votes_of)


def answers_to(votes: Votes, question: int) -> list[int]:
    return votes.answers[votes.questions == question].tolist()


@settings(max_examples=proof.size(2000))
@given(VOTES)
def test_the_majority_equals_that_of_the_twin(votes: Votes) -> None:
    expected = []
    for question in range(votes.n):
        most = Counter(answers_to(votes, question)).most_common(2)
        is_tie = len(most) == 2 and most[0][1] == most[1][1]
        expected.append(NONE if not most else TIE if is_tie else most[0][0])
    assert majority(votes).tolist() == expected


@settings(max_examples=proof.size(2000))
@given(VOTES)
def test_alpha_compares_disagreement_within_questions_with_that_of_all_answers(votes: Votes) -> None:
    pairable = [answers_to(votes, question) for question in range(votes.n)]
    pairable = [answers for answers in pairable if len(answers) > 1]
    every = [answer for answers in pairable for answer in answers]
    n = len(every)
    expected = [one != other for one, other in combinations(every, 2)]
    if not any(expected):
        assert krippendorff_alpha(votes) is None
        return
    observed = sum(
        2 * sum(one != other for one, other in combinations(answers, 2)) / (len(answers) - 1) for answers in pairable
    )
    alpha = 1 - (observed / n) / (sum(expected) / (n * (n - 1) / 2))
    assert krippendorff_alpha(votes) == pytest.approx(alpha)


def test_alpha_of_complete_tables_follows_from_fleiss_kappa() -> None:
    votes, _ = crowd([0.9, 0.7, 0.5, 0.6], questions=60, classes=4, seed=5)
    table = np.array([np.bincount(answers_to(votes, question), minlength=4) for question in range(votes.n)])
    expected = 1 - (1 - fleiss_kappa(table)) * (table.sum() - 1) / table.sum()
    assert krippendorff_alpha(votes) == pytest.approx(expected)


def test_alpha_of_a_published_example_is_correct() -> None:
    """Krippendorff 2011, Computing Krippendorff's alpha-reliability, example C: nominal data, four observers, gaps."""
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    cells = [(q, p, value) for p, row in enumerate(rows) for q, value in enumerate(row) if value is not None]
    assert krippendorff_alpha(votes_of(cells, 12)) == pytest.approx(0.743, abs=5e-4)


def slow_dawid_skene(votes: Votes, classes: Sequence[int], enough: int, passes: int) -> dict[int, dict[int, float]]:
    """Return the probability of each class for each question, computed in loops over people, classes and answers."""
    cells = [
        (q, p, a)
        for q, p, a in zip(votes.questions.tolist(), votes.people.tolist(), votes.answers.tolist(), strict=True)
        if a in classes
    ]
    asked = sorted({q for q, _, _ in cells})
    belief = {}
    for q in asked:
        mine = [a for other, _, a in cells if other == q]
        belief[q] = {c: mine.count(c) / len(mine) for c in classes}
    for _ in range(passes):
        confusion = {}
        for person in {p for _, p, _ in cells}:
            mine = [(q, a) for q, p, a in cells if p == person]
            seen = {(t, a): sum(belief[q][t] for q, b in mine if b == a) for t in classes for a in classes}
            right = sum(seen[c, c] for c in classes) + PRIOR
            share = right / (sum(seen.values()) + 2 * PRIOR)
            for t in classes:
                row = {a: seen[t, a] + (PRIOR if a == t else PRIOR / (len(classes) - 1)) for a in classes}
                for a in classes:
                    simple = share if a == t else (1 - share) / (len(classes) - 1)
                    confusion[person, t, a] = row[a] / sum(row.values()) if len(mine) >= enough else simple
        prior = {c: sum(belief[q][c] for q in asked) + 1 / len(classes) for c in classes}
        after = {}
        for q in asked:
            mass = {t: prior[t] * math.prod(confusion[p, t, a] for other, p, a in cells if other == q) for t in classes}
            after[q] = {t: mass[t] / sum(mass.values()) for t in classes}
        belief = after
    return belief


@settings(max_examples=proof.size(300), deadline=None)
@given(VOTES, st.sampled_from([1, 3, 50]))
def test_dawid_skene_equals_the_slow_twin(votes: Votes, enough: int) -> None:
    classes = [0, 1, 2]  # answer 3 belongs to another kind
    found = dawid_skene(votes, classes, enough=enough)
    slow = slow_dawid_skene(votes, classes, enough, found.passes)
    for question in range(votes.n):
        if question not in slow:
            assert (found.answers[question], found.sure[question]) == (NONE, 0.0)
            continue
        best = max(slow[question].values())
        assert found.sure[question] == pytest.approx(best, abs=1e-9)
        assert slow[question][int(found.answers[question])] == pytest.approx(best, abs=1e-9)


def crowd(people: Sequence[float], *, questions: int, classes: int, seed: int) -> tuple[Votes, np.ndarray]:
    """Return the answers of people with the given shares of right answers to all questions, and the true answers."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, classes, questions)
    cells = []
    for person, skill in enumerate(people):
        wrong = (truth + random.integers(1, classes, questions)) % classes
        said = np.where(random.random(questions) < skill, truth, wrong)
        cells += [(q, person, int(a)) for q, a in enumerate(said)]
    return votes_of(cells, questions), truth


def test_one_expert_outweighs_two_people_who_guess() -> None:
    votes, truth = crowd([0.98, 0.55, 0.55], questions=400, classes=3, seed=1)
    estimate = dawid_skene(votes, [0, 1, 2])
    by_model, by_vote = (estimate.answers == truth).mean(), (majority(votes) == truth).mean()
    assert by_model > by_vote + 0.15
    assert estimate.skill[0] > estimate.skill[1:].max() + 0.15
    assert not estimate.is_simple.any()
    assert dawid_skene(votes, [0, 1, 2], enough=401).is_simple.all()


def test_dawid_skene_without_votes_gives_no_answers() -> None:
    found = dawid_skene(votes_of([], 3), [0, 1])
    assert found.answers.tolist() == [NONE] * 3
    assert found.skill.tolist() == []


def test_the_bootstrap_equals_a_slow_one_with_the_same_draws() -> None:
    votes, truth = crowd([0.9, 0.7, 0.6, 0.8], questions=25, classes=4, seed=2)
    found = crossed_bootstrap(votes, truth, seed=3, resamples=200)
    assert found is not None
    random = np.random.Generator(np.random.PCG64(3))
    by_vote, single = [], []
    for _ in range(200):
        questions, people = random.integers(0, 25, 25).tolist(), random.integers(0, 4, 4).tolist()
        rights, each = [], []
        for question in questions:
            said = [int(votes.answers[(votes.questions == question) & (votes.people == p)][0]) for p in people]
            most = Counter(said).most_common(2)
            is_tie = len(most) == 2 and most[0][1] == most[1][1]
            rights.append(not is_tie and most[0][0] == truth[question])
            each += [answer == truth[question] for answer in said]
        by_vote.append(np.mean(rights))
        single.append(np.mean(each))
    assert tuple(found.majority) == pytest.approx(tuple(np.quantile(by_vote, [0.025, 0.975])))
    assert tuple(found.single) == pytest.approx(tuple(np.quantile(single, [0.025, 0.975])))


def test_the_bootstrap_interval_is_wider_than_wilson_if_people_differ() -> None:
    votes, truth = crowd([0.95, 0.95, 0.4], questions=200, classes=4, seed=4)
    found = crossed_bootstrap(votes, truth)
    assert found is not None
    plain = wilson(int((votes.answers == truth[votes.questions]).sum()), len(votes.answers))
    assert found.single.high - found.single.low > 2 * (plain.high - plain.low)
    assert crossed_bootstrap(votes_of([]), np.zeros(6, np.int64)) is None


@settings(max_examples=proof.size(2000))
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(-3, 3), st.sampled_from([0, 1, 2, 255]), st.integers(0, 7)),
        max_size=30,
    ),
    st.integers(0, 2**30),
)
def test_scores_equal_those_counted_one_by_one(rows: list[tuple[int, int, int, int]], chosen: int) -> None:
    columns = np.array(rows, np.int64).reshape(-1, 4).T
    among = np.array([chosen >> number & 1 == 1 for number in range(len(rows))], np.bool_)
    slicings = {
        "plain": Slicing(columns[2].astype(np.uint8), 3),
        "flags": Slicing(columns[3].astype(np.uint8), 3, is_flags=True),
    }
    found = score(columns[1], columns[0], slicings, among=among)
    kept = [row for row, is_in in zip(rows, among, strict=True) if is_in]
    right = [row[0] == row[1] for row in kept]
    assert (found.n, found.right) == (len(kept), sum(right))
    assert found.accuracy == (sum(right) / len(kept) if kept else None)
    for value in range(3):
        plain = [is_right for row, is_right in zip(kept, right, strict=True) if row[2] == value]
        flags = [is_right for row, is_right in zip(kept, right, strict=True) if row[3] >> value & 1]
        assert (found.facets["plain"].n[value], found.facets["plain"].right[value]) == (len(plain), sum(plain))
        assert (found.facets["flags"].n[value], found.facets["flags"].right[value]) == (len(flags), sum(flags))


def test_a_negative_prediction_is_never_right() -> None:
    for code in (OUTSIDE, NONE, TIE):
        assert score(np.array([code]), np.array([code]), {}).right == 0


def test_arrays_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="Expected 2 type, got 1"):
        score(np.zeros(2), np.zeros(2), {"type": Slicing(np.zeros(1, np.uint8), 3)})


def test_votes_are_counted_with_their_weights() -> None:
    pairs = count_votes(votes_of([(0, 0, 1), (0, 1, 1), (0, 2, 2)]), np.array([1.0, 2.0, 5.0]))
    assert (pairs.answers.tolist(), pairs.times.tolist()) == ([1, 2], [3.0, 5.0])
