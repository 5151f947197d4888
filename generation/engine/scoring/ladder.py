"""The Ladder: accuracies on withheld answers, published so coarsely and rarely that nobody can recover the answers.

Shares are integers of thousandths (a tenth of a percentage point), so that every comparison is exact.
"""

import math

WHOLE = 1000  # thousandths of a share
QUESTIONS_A_FIGURE = 100  # a split's usual budget is one figure for this many questions
LEAST_BUDGET = 3  # the smallest usual budget, in figures
GAIN = 1 / math.sqrt(2 * math.pi)  # from one figure about one question, about 0.4


def least_step(n: int) -> int:
    """Return the smallest step that is allowed for a split: 1 / sqrt(n), rounded up to a thousandth.

    Parameters
    ----------
    n : int
        Number of questions, at least 1.

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
        The number of correct answers and the number of questions (at least 1).
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
    """Return how many figures may be published for a split of `n` questions by default."""
    return max(LEAST_BUDGET, n // QUESTIONS_A_FIGURE)


def expected_gain(figures: int, n: int) -> float:
    """Return how much exact figures help an attacker who guesses yes or no, as a share of the questions.

    An attacker submits random answers and then takes, for each question, the answer of the better submissions. This is
    correct for a share of 1/2 plus the result: each question agrees with the weighted sum of `figures` random signs
    slightly more often than not. Figures of the Ladder are coarser, so they help less.

    Parameters
    ----------
    figures : int
        Number of published figures, at least 0.
    n : int
        Number of questions, at least 1.

    Returns
    -------
    float
        About 0.4 * sqrt(figures / n), at most 0.5.

    References
    ----------
    Blum and Hardt 2015, section 4.1, the boosting attack.
    """
    return min(0.5, GAIN * math.sqrt(figures / n))
