"""The Ladder, compared with a slow twin, and the guarantees that it gives."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.scoring.ladder import climb, expected_gain, least_step, usual_budget


def slow_climb(right: int, n: int, best: int | None, step: int) -> int:
    """Return the published figure, computed with fractions and by climbing the ladder step by step."""
    score = Fraction(right, n)
    if best is not None and score - Fraction(best, 1000) < Fraction(step, 1000):
        return best
    rung = 0
    while Fraction(rung + step, 1000) <= score:
        rung += step
    return rung


@st.composite
def scores(draw: st.DrawFn) -> tuple[list[int], int, int]:
    n = draw(st.integers(1, 5000))
    step = draw(st.integers(least_step(n), 1000))
    return draw(st.lists(st.integers(0, n), min_size=1, max_size=12)), n, step


def figures(rights: list[int], n: int, step: int) -> list[int]:
    found: list[int] = []
    for right in rights:
        found.append(climb(right, n, best=max(found, default=None), step=step))
    return found


@given(scores())
def test_figures_equal_those_of_the_slow_twin(case: tuple[list[int], int, int]) -> None:
    rights, n, step = case
    best: int | None = None
    for right in rights:
        expected = slow_climb(right, n, best, step)
        assert climb(right, n, best=best, step=step) == expected
        best = expected


@given(scores())
def test_every_figure_is_a_multiple_of_the_step_and_no_higher_than_the_best_score(
    case: tuple[list[int], int, int],
) -> None:
    rights, n, step = case
    for number, figure in enumerate(figures(rights, n, step)):
        assert figure % step == 0
        assert Fraction(figure, 1000) <= Fraction(max(rights[: number + 1]), n)


@given(scores())
def test_a_figure_changes_only_when_a_score_beats_it_by_a_step(case: tuple[list[int], int, int]) -> None:
    rights, n, step = case
    found = figures(rights, n, step)
    for right, old, new in zip(rights[1:], found, found[1:], strict=False):
        beats = Fraction(right, n) >= Fraction(old + step, 1000)
        assert (new != old) == beats
        assert new >= old


@given(st.integers(1, 10**7))
def test_the_least_step_is_the_smallest_of_at_least_one_over_the_square_root(n: int) -> None:
    step = least_step(n)
    assert Fraction(step, 1000) ** 2 >= Fraction(1, n)
    assert step == 1 or Fraction(step - 1, 1000) ** 2 < Fraction(1, n)


@given(scores(), st.integers(1, 1000))
def test_a_larger_step_does_not_lower_a_published_figure(case: tuple[list[int], int, int], other: int) -> None:
    rights, n, step = case
    best = figures(rights, n, step)[-1]
    assert all(climb(right, n, best=best, step=other) >= best for right in rights)


def test_the_default_budget_is_one_figure_for_a_hundred_questions() -> None:
    assert [usual_budget(n) for n in (1, 299, 300, 600, 15_000)] == [3, 3, 3, 6, 150]
    assert all(expected_gain(usual_budget(n), n) < 0.0401 for n in (300, 600, 15_000))


def test_the_expected_gain_equals_that_of_a_blind_attacker_with_exact_figures() -> None:
    chance, n, k, gains = np.random.default_rng(7), 2000, 40, []
    for _ in range(200):
        truth = chance.integers(0, 2, n)
        sent = chance.integers(0, 2, (k, n))
        weights = (sent == truth).mean(axis=1) - 0.5
        guess = (weights @ (2.0 * sent - 1) > 0).astype(int)
        gains.append((guess == truth).mean() - 0.5)
    assert math.isclose(float(np.mean(gains)), expected_gain(k, n), abs_tol=0.004)
