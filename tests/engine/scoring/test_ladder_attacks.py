"""Attacks on withheld answers: they succeed against exact scores, and gain less than five points against the Ladder."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from generation.engine.scoring.ladder import climb, expected_gain, least_step, usual_budget
from tests.proof import size

N = 600
SUBMISSIONS = 1000
SHARES = (0.5, 0.6, 0.42)  # of the answer yes, for each type of question
ALLOWED = 0.05

Answers = NDArray[np.int64]


class Hidden:
    """Yes-or-no questions with withheld answers, and a site that publishes figures by the Ladder within a budget."""

    def __init__(self, seed: int) -> None:
        self.chance = np.random.default_rng(seed)
        self.kinds = self.chance.integers(0, len(SHARES), N)
        self.truth: Answers = (self.chance.random(N) < np.array(SHARES)[self.kinds]).astype(np.int64)
        self.room, self.best = usual_budget(N), dict[int, int]()

    def submit(self, method: int, answers: Answers) -> int | None:
        """Return the published figure of a method after a submission; None if the budget is spent."""
        if not self.room:
            return None
        self.room -= 1
        right = int((answers == self.truth).sum())
        self.best[method] = climb(right, N, best=self.best.get(method), step=least_step(N))
        return self.best[method]

    @property
    def by_type(self) -> Answers:
        """Return the more frequent answer of each question's type."""
        return np.array([share > 0.5 for share in SHARES], np.int64)[self.kinds]

    def share(self, answers: Answers) -> float:
        """Return the share of right answers."""
        return float((answers == self.truth).mean())


class Told(NamedTuple):
    """Submitted answers, and the accuracy that was published for each of them."""

    sent: Answers
    shares: NDArray[np.float64]


def solved(told: Told, prior: Answers) -> Answers:
    """Return answers near a prior guess that fit the accuracies best by least squares."""
    signs, start = 2.0 * told.sent - 1, 2.0 * prior - 1
    start = start * 0.1
    wanted = (2 * told.shares - 1) * N - signs @ start
    found = start + np.linalg.lstsq(signs, wanted, rcond=None)[0]
    return (found > 0).astype(np.int64)


def voted(told: Told, prior: Answers) -> Answers:
    """Return for each question the answer of the better submissions, or the prior guess if there is a tie."""
    weights = told.shares - told.shares.mean()
    votes = weights @ (2.0 * told.sent - 1)
    return np.where(votes == 0, prior, votes > 0).astype(np.int64)


def submit_separately(site: Hidden) -> Told:
    """Submit random answers, each as a new method, so that each figure is one measurement."""
    sent = site.chance.integers(0, 2, (SUBMISSIONS, N))
    figures = [site.submit(number, one) for number, one in enumerate(sent)]
    known = [number for number, figure in enumerate(figures) if figure is not None]
    return Told(sent[known], np.array([figures[number] for number in known], float) / 1000)


def submit_near_a_step(site: Hidden) -> Told:
    """Submit answers near one step of the ladder, each as a new method. Each figure says whether they are above it."""
    rung, sent, sides = least_step(N) / 1000, [], []
    for number in range(SUBMISSIONS):
        answers = site.by_type.copy()
        flipped = site.chance.random(N) < 0.2
        answers[flipped] = 1 - answers[flipped]
        figure = site.submit(number, answers)
        if figure is not None:
            sent.append(answers)
            sides.append(figure / 1000 + rung / 2)
    return Told(np.array(sent), np.array(sides))


def climb_one_ladder(site: Hidden, prior: Answers) -> Answers:
    """Submit everything as one method: flip random answers of the best submission; keep them if the figure rises."""
    best, figure = prior.copy(), site.submit(0, prior)
    for _ in range(SUBMISSIONS - 1):
        answers = best.copy()
        flipped = site.chance.random(N) < 0.25
        answers[flipped] = 1 - answers[flipped]
        found = site.submit(0, answers)
        if found is None:
            break
        if figure is None or found > figure:
            best, figure = answers, found
    return best


ATTACKS: dict[str, Callable[[Hidden], Answers]] = {
    "least squares": lambda site: solved(submit_separately(site), site.by_type),
    "votes": lambda site: voted(submit_separately(site), site.by_type),
    "threshold and votes": lambda site: voted(submit_near_a_step(site), site.by_type),
    "threshold and least squares": lambda site: solved(submit_near_a_step(site), site.by_type),
    "climbing": lambda site: climb_one_ladder(site, site.by_type),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attacker_gains_less_than_five_points_over_guessing_by_type(name: str) -> None:
    gains = []
    for seed in range(size(400, name="attacks on a ladder of 600 questions", least=20)):
        site = Hidden(seed)
        gains.append(site.share(ATTACKS[name](site)) - site.share(site.by_type))
        assert site.room == 0
    assert np.mean(gains) < ALLOWED


@pytest.mark.parametrize("decide", [solved, voted])
def test_the_gain_of_a_blind_attacker_is_at_most_the_expected_gain(decide: Callable[[Told, Answers], Answers]) -> None:
    gains = []
    for seed in range(60):
        site = Hidden(seed)
        blind = np.zeros(N, np.int64)
        blind[site.chance.random(N) < 0.5] = 1
        told = submit_separately(site)
        gains.append(site.share(decide(told, blind)) - 0.5)
    assert np.mean(gains) < expected_gain(usual_budget(N), N) + 0.01


def test_the_same_attacker_succeeds_against_scores_with_three_digits() -> None:
    site = Hidden(1)
    sent = site.chance.integers(0, 2, (SUBMISSIONS, N))
    exact = np.round((sent == site.truth).mean(axis=1), 3)
    assert site.share(solved(Told(sent, exact), site.by_type)) > 0.99
