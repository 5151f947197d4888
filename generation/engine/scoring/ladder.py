"""The Ladder: accuracies on hidden answers, published so coarsely and so seldom that they cannot be recovered.

Shares are whole thousandths (a tenth of a percentage point) here, so that every comparison is exact.
"""

import math

WHOLE = 1000  # thousandths of a share
QUESTIONS_A_FIGURE = 100  # questions of a split for each figure of its usual budget
LEAST_BUDGET = 3  # figures of the smallest usual budget
GAIN = 1 / math.sqrt(2 * math.pi)  # of one measurement of one question, about 0.4


def least_step(n: int) -> int:
    """Return the smallest step that a split may have: 1 / sqrt(n), rounded up to a thousandth.

    Parameters
    ----------
    n : int
        Questions, at least 1.

    Returns
    -------
    int
        Thousandths, 1 to 1000.
    """
    step = math.isqrt(WHOLE**2 // n)
    return step if step * step * n >= WHOLE**2 else step + 1


def climb(right: int, n: int, *, best: int | None, step: int) -> int:
    """Return the figure that is published after a new score.

    It is the best published figure, unless the score beats that by at least the step. Then it is the score, rounded
    down to a multiple of the step.

    Parameters
    ----------
    right, n : int
        Questions answered correctly, and all questions (at least 1).
    best : int or None
        The best figure published so far, in thousandths; None for the first score.
    step : int
        Thousandths, at least 1.

    Returns
    -------
    int
        Thousandths.

    References
    ----------
    Blum and Hardt 2015, The Ladder: A Reliable Leaderboard for Machine Learning Competitions, section 3, figure 1.
    """
    if best is not None and right * WHOLE < (best + step) * n:
        return best
    return right * WHOLE // (n * step) * step


def usual_budget(n: int) -> int:
    """Return how many figures may be published on a split of `n` questions unless its owner allows more."""
    return max(LEAST_BUDGET, n // QUESTIONS_A_FIGURE)


def expected_gain(figures: int, n: int) -> float:
    """Return by how much exact figures help somebody who guesses yes or no, as a share of the questions.

    Somebody who submits random answers, and then takes for each question the answer that the better submissions gave,
    is right on 1/2 plus this share: each question agrees with the weighted sum of `figures` random signs slightly more
    often than not. Figures of the Ladder are coarser, so they help less.

    Parameters
    ----------
    figures : int
        Published so far, at least 0.
    n : int
        Questions, at least 1.

    Returns
    -------
    float
        About 0.4 * sqrt(figures / n), at most 0.5.

    References
    ----------
    Blum and Hardt 2015, section 4.1, the boosting attack.
    """
    return min(0.5, GAIN * math.sqrt(figures / n))
