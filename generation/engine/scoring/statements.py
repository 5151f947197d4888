"""Statements about figures of methods, such as "A is at least 5 points better than B", and whether they hold.

A statement bounds a sum of figures, some of them with a minus sign. It holds if the whole 95 % interval of the sum
satisfies the bounds, it does not hold if no part of the interval does, and otherwise it is undecided.

The interval has two parts. The part of the questions pairs figures on the same questions. The part of the runs pairs
figures of the same runs, such as those of one trained model on two splits. With a single run, this part is not known,
and the interval describes only that run.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from generation.engine.scoring.figures import LEVEL, Interval, wilson
from generation.engine.scoring.question_terms import QuestionTerms, mean_over_runs
from generation.engine.spec import Frozen

STEP = 1e-6  # the relative change of a sum of terms by which the slope of a figure is computed
MOST, TINY = 1e12, 1e-12  # limits of questions and variance, for figures that are the same for all questions


class StatementOutcome(StrEnum):
    """Whether a statement holds."""

    HELD = "held"
    NOT_HELD = "not held"
    UNDECIDED = "undecided"
    NOT_TESTED = "not tested"  # a method in it has learned nothing; `judge` does not know that


class Inequality(Frozen):
    """A statement: the sum of the figures of `plus`, minus the sum of those of `minus`, is between two bounds.

    Attributes
    ----------
    plus, minus : tuple of str
        Names of figures. A name may occur several times.
    divisor : int
        The number by which the sum is divided, for a difference of means.
    at_least, at_most : float or None
        The bounds, of which one may be missing. Both together say that the sum is near a number.
    """

    plus: tuple[str, ...] = Field(min_length=1)
    minus: tuple[str, ...] = ()
    divisor: int = Field(1, ge=1)
    at_least: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _has_bounds(self) -> Self:
        low, high = self.bounds
        if self.at_least is None and self.at_most is None:
            raise ValueError("Expected at_least, at_most or both, got none")
        if low >= high:
            raise ValueError(f"Expected at_least below at_most, got {low:g} and {high:g}")
        return self

    @property
    def bounds(self) -> Interval:
        """Return both bounds; a missing bound is infinite."""
        low = -math.inf if self.at_least is None else self.at_least
        return Interval(low, math.inf if self.at_most is None else self.at_most)

    @property
    def weights(self) -> dict[str, float]:
        """Return the weight of each figure in the sum, negative for `minus`."""
        names = dict.fromkeys((*self.plus, *self.minus))
        return {name: (self.plus.count(name) - self.minus.count(name)) / self.divisor for name in names}


@dataclass(frozen=True, eq=False)
class Measurement:
    """A figure of some runs on some questions, with the data for its interval.

    Attributes
    ----------
    pool : str
        The name of the set that `positions` counts. Figures with the same pool are paired by question.
    positions : array (n,) of int64
        The questions, each once, in rising order.
    influences : array (n,) of float64
        The slope of the figure (the mean over runs) with the weight of each question. The sum is 0.
    below, above : float
        The distances from the figure to the ends of its interval over the questions.
    values : array (runs,) of float64
        The figure of each run.
    runs : tuple of str
        The name of each run. Figures with the same names are paired by run.
    """

    pool: str
    positions: NDArray[np.int64]
    influences: NDArray[np.float64]
    below: float
    above: float
    values: NDArray[np.float64]
    runs: tuple[str, ...]

    @property
    def n(self) -> int:
        """Return the number of questions."""
        return len(self.positions)

    @property
    def value(self) -> float:
        """Return the figure: the mean over runs."""
        return float(self.values.mean())


class Judgement(NamedTuple):
    """The sum of a statement's figures, its 95 % interval, and whether the statement holds."""

    value: float
    interval: Interval
    outcome: StatementOutcome


def measure_share(
    scores: NDArray[np.floating] | NDArray[np.bool_],
    *,
    runs: Sequence[str],
    pool: str,
    positions: NDArray[np.int64],
    level: float = LEVEL,
) -> Measurement:
    """Return the share of right answers of some runs.

    The interval over the questions is Wilson's. If the mean scores of questions are between 0 and 1, as for guesses or
    several runs, it is narrower, as if there were more questions.

    Parameters
    ----------
    scores : array (runs, n)
        Whether each run answers each question rightly, or the probability of it, 0 to 1.
    runs : sequence of str
    pool : str
    positions : array (n,) of int64
    level : float
    """
    each = np.asarray(scores, np.float64)
    of_question = each.mean(axis=0)
    share, n = float(of_question.mean()), len(positions)
    spread, most = float(of_question.var()), share * (1 - share)
    effective = n if not most else round(min(MOST, n * most / max(spread, TINY)))
    low, high = wilson(share * effective, effective, level=level)
    influences = (of_question - share) / n
    return Measurement(pool, positions, influences, share - low, high - share, each.mean(axis=1), tuple(runs))


def measure_terms(
    runs: Mapping[str, QuestionTerms],
    among: NDArray[np.bool_] | None = None,
    *,
    pool: str,
    positions: NDArray[np.int64],
    level: float = LEVEL,
) -> Measurement | None:
    """Return the figure of a metric; None if it is not defined for a run.

    Parameters
    ----------
    runs : mapping of str to QuestionTerms
        The terms of each run, by its name.
    among : array (questions,) of bool, or None
        The questions to use; None for all.
    pool : str
    positions : array (questions,) of int64
        The position in the pool of every question, also of those that are not used.
    level : float
    """
    values = [one.figure(among) for one in runs.values()]
    if not values or any(value is None for value in values):
        return None
    mean = mean_over_runs(list(runs.values()))
    is_used = mean.is_counted if among is None else mean.is_counted & among
    terms = mean.terms[is_used]
    influences = terms @ _slopes(mean.combine, terms.sum(axis=0))
    reach = NormalDist().inv_cdf(0.5 + level / 2) * math.sqrt(float(influences @ influences))
    figures = np.array(values, np.float64)
    return Measurement(pool, positions[is_used], influences, reach, reach, figures, tuple(runs))


def _slopes(
    combine: Callable[[NDArray[np.float64]], NDArray[np.float64]], sums: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the slope of a figure with each sum (terms,); 0 if a small step has no figure."""
    steps = np.diag(STEP * np.maximum(np.abs(sums), 1.0))
    up, down = combine(sums + steps), combine(np.maximum(sums - steps, 0.0))
    width = np.diag(steps) + np.minimum(np.diag(steps), sums)
    return np.nan_to_num((up - down) / width)


def judge(inequality: Inequality, measured: Mapping[str, Measurement], *, level: float = LEVEL) -> Judgement:
    """Return whether a statement holds.

    Parameters
    ----------
    inequality : Inequality
    measured : mapping of str to Measurement
        The figures by the names that the statement uses.
    level : float
        The level of the interval.
    """
    terms = [(weight, measured[name]) for name, weight in inequality.weights.items() if weight]
    value = sum(weight * one.value for weight, one in terms)
    interval = interval_of_sum(terms, level=level)
    return Judgement(value, interval, outcome_of(interval, inequality.bounds))


def outcome_of(interval: Interval, bounds: Interval) -> StatementOutcome:
    """Return whether all of an interval, no part of it, or a part of it is between two bounds."""
    if bounds.low <= interval.low and interval.high <= bounds.high:
        return StatementOutcome.HELD
    is_outside = interval.high < bounds.low or interval.low > bounds.high
    return StatementOutcome.NOT_HELD if is_outside else StatementOutcome.UNDECIDED


def interval_of_sum(terms: Sequence[tuple[float, Measurement]], *, level: float = LEVEL) -> Interval:
    """Return the interval of a weighted sum of figures.

    The distance to each end is the root of the sum of squares of the figures' own distances, with the correlation of
    figures on the same questions. The runs add Student's interval of the sum of each group of paired runs.

    References
    ----------
    Zou and Donner 2008, Construction of confidence limits about effect measures: a general approach. For two shares it
    is the method of Newcombe 1998.
    """
    value = sum(weight * one.value for weight, one in terms)
    runs = _squared_reach_of_runs(terms, level)
    correlations = _correlations([one for _, one in terms])
    ends = []
    for side in (-1, 1):
        reach = np.array([weight * (one.above if side * weight > 0 else one.below) for weight, one in terms])
        squared = max(0.0, float(reach @ correlations @ reach)) if terms else 0.0
        ends.append(value + side * math.sqrt(squared + runs))
    return Interval(*ends)


def _correlations(found: Sequence[Measurement]) -> NDArray[np.float64]:
    """Return the correlations (figures, figures) of figures over the questions."""
    size = [math.sqrt(float(one.influences @ one.influences)) for one in found]
    correlations = np.eye(len(found))
    for row, one in enumerate(found):
        for column, other in enumerate(found[:row]):
            if one.pool == other.pool and size[row] and size[column]:
                _, mine, its = np.intersect1d(one.positions, other.positions, assume_unique=True, return_indices=True)
                together = float(one.influences[mine] @ other.influences[its])
                correlations[row, column] = correlations[column, row] = together / size[row] / size[column]
    return correlations


def _squared_reach_of_runs(terms: Sequence[tuple[float, Measurement]], level: float) -> float:
    """Return the squared distance from a sum to the ends of its interval over the runs; 0 for single runs."""
    groups: dict[tuple[str, ...], NDArray[np.float64]] = {}
    for weight, one in terms:
        order = np.argsort(np.array(one.runs))
        names = tuple(one.runs[at] for at in order)
        groups[names] = groups.get(names, np.zeros(len(names))) + weight * one.values[order]
    several = [sums for sums in groups.values() if len(sums) > 1]
    return sum(student_quantile(len(sums) - 1, level) ** 2 * float(sums.var(ddof=1)) / len(sums) for sums in several)


def student_quantile(freedom: int, level: float = LEVEL) -> float:
    """Return the distance from 0 within which Student's t stays with the probability `level`.

    References
    ----------
    Abramowitz and Stegun 1964, Handbook of mathematical functions, formulas 26.7.3 and 26.7.4.
    """
    low, high = 0.0, math.pi / 2  # the angle whose tangent is t / sqrt(freedom)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_within(middle, freedom) < level else (low, middle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _student_within(angle: float, freedom: int) -> float:
    """Return the probability that t is within sqrt(freedom) * tan(angle) of 0."""
    odd = freedom % 2
    squared, term, total = math.cos(angle) ** 2, math.cos(angle) if odd else 1.0, 0.0
    for power in range(1 + odd, freedom, 2):
        total += term
        term *= squared * power / (power + 1)
    return (angle + math.sin(angle) * total) * 2 / math.pi if odd else math.sin(angle) * total
