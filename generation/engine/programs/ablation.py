"""Programs with one step left out, and whether they explain a method's wrong answers.

A method that skips a step answers a different question. Therefore each wrong answer is compared with the answer that
the program gives without the step. Questions with only two possible answers, such as yes-or-no questions, do not
count, because they have only one wrong answer.
"""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import IllPosed
from generation.engine.program import FunctionTable, Program, outputs
from generation.engine.scoring.comparison import Runs, holm
from generation.engine.scoring.figures import Interval, is_too_few, wilson
from generation.engine.scoring.score import NONE

SURE = 0.05  # an adjusted p-value below which an excess over chance is called certain

Ints = NDArray[np.integer]


class Ablation(NamedTuple):
    """A step that can be left out of programs.

    Attributes
    ----------
    name : str
        Used in addresses and files: small letters, digits and hyphens.
    label : str
        Shown to users.
    change : callable
        `change(program)` returns the well-typed program without the step, or None if it has no such step.
    """

    name: str
    label: str
    change: Callable[[Program], Program | None]


def answer_without(ablation: Ablation, program: Program, context: Any, *, table: FunctionTable) -> str | None:
    """Return the answer of a program without a step, in a context made by `table.prepare`.

    None if the program has no such step or no answer without it (`unique` then gets zero or several objects).
    """
    changed = ablation.change(program)
    if changed is None:
        return None
    try:
        found = outputs(changed, context, table=table)[-1]
    except IllPosed:
        return None
    return str(table.show(table.functions[changed[-1].function].output, found).value)


class ExplainedErrorCount(NamedTuple):
    """How many of a method's wrong answers agree with a program without a step, or with another method.

    Attributes
    ----------
    n : int
        The number of wrong answers that are compared; for several runs the mean.
    share : float
        The share of these wrong answers that agree; 0 if there are none.
    chance : float
        The share that agrees by chance.
    interval : Interval
        Wilson's interval of `share`.
    p : float
        The probability that at least as many agree by chance; for several runs the largest one.
    adjusted : float
        `p` with Holm's correction over all tests; 1 if there are too few wrong answers.
    """

    n: int
    share: float
    chance: float
    interval: Interval
    p: float
    adjusted: float = 1.0

    @property
    def excess(self) -> float:
        """Return the difference between the share and chance."""
        return self.share - self.chance

    @property
    def is_certain(self) -> bool:
        """Return whether the share is significantly above chance."""
        return self.excess > 0 and self.adjusted < SURE


class _Counted(NamedTuple):
    """Counts of one run: compared wrong answers, agreements, and the mean and variance of agreements by chance."""

    n: int
    hits: int
    mean: float
    variance: float


def count_explained(
    runs: Runs, answers: Ints, without: Ints, kinds: Ints, *, choices: Ints
) -> list[ExplainedErrorCount]:
    """Return, for each step, how many of a method's wrong answers agree with the programs without that step.

    Only questions whose answer changes without the step count. Chance is a random shuffle of the wrong answers to these
    questions among questions of the same type with the same right answer. The mean and variance are exact; the p-value
    uses a normal approximation.

    Parameters
    ----------
    runs : sequence of arrays (questions,)
        A method's predictions. Negative codes are outside the vocabulary; `NONE` means no answer and does not count.
    answers : array (questions,)
        The right answers; negative if there is none.
    without : array (steps, questions)
        The answers of the programs without each step; negative if there is none.
    kinds : array (questions,)
        Codes of the question types; negative if there is none.
    choices : array (questions,)
        The number of possible answers for the type of each question.

    References
    ----------
    Hoeffding 1951, A combinatorial central limit theorem.
    """
    groups = np.unique(np.stack([kinds, answers]), axis=1, return_inverse=True)[1].reshape(-1)
    tells = (answers >= 0) & (choices > 2)
    found = []
    for one in without:
        asked = tells & (one >= 0) & (one != answers)
        found.append(_explained([_shuffled(run, one, groups, asked & _wrong(run, answers)) for run in runs]))
    return _adjusted(found)


def alike(runs: Runs, answers: Ints, others: Ints, *, choices: Ints) -> list[ExplainedErrorCount]:
    """Return, for each other method, how many of a method's wrong answers are also that method's answers.

    By chance, all wrong answers that a question's type allows are equally likely. `others` has shape
    (methods, questions); for the other parameters see `count_explained`.
    """
    tells = (answers >= 0) & (choices > 2)
    found = []
    for one in others:
        counted = []
        for run in runs:
            wrong = tells & _wrong(run, answers)
            hit = 1 / np.maximum(1, choices[wrong] - 1) * ((one[wrong] >= 0) & (one[wrong] != answers[wrong]))
            hits = int(((run == one) & (one >= 0))[wrong].sum())
            counted.append(_Counted(int(wrong.sum()), hits, float(hit.sum()), float((hit * (1 - hit)).sum())))
        found.append(_explained(counted))
    return _adjusted(found)


def best(found: Sequence[ExplainedErrorCount]) -> int | None:
    """Return the position of the entry with the largest significant excess over chance; None if there is none."""
    certain = [place for place, one in enumerate(found) if one.is_certain]
    return max(certain, key=lambda place: found[place].excess, default=None)


def _wrong(run: Ints, answers: Ints) -> NDArray[np.bool_]:
    return (run != answers) & (run != NONE)


def _shuffled(run: Ints, without: Ints, groups: Ints, wrong: NDArray[np.bool_]) -> _Counted:
    """Return a run's agreements and their mean and variance over all shuffles within groups."""
    n = int(wrong.sum())
    if not n:
        return _Counted(0, 0, 0.0, 0.0)
    group = np.unique(groups[wrong], return_inverse=True)[1].reshape(-1)
    size = np.bincount(group).astype(np.float64)
    wide = int(max(run[wrong].max(), without[wrong].max())) + 2
    cells = len(size) * wide
    given, wanted = (
        np.bincount(group * wide + codes[wrong] + 1, minlength=cells).reshape(-1, wide)[:, 1:].astype(np.float64)
        for codes in (np.maximum(run, -1), without)
    )
    pairs = given * wanted
    squares = pairs.sum(1) - (pairs * (given + wanted)).sum(1) / size + pairs.sum(1) ** 2 / size**2
    variance = squares / np.maximum(1, size - 1)
    return _Counted(n, int((run == without)[wrong].sum()), float((pairs.sum(1) / size).sum()), float(variance.sum()))


def _explained(runs: Sequence[_Counted]) -> ExplainedErrorCount:
    total, hits = sum(one.n for one in runs), sum(one.hits for one in runs)
    if not total:
        return ExplainedErrorCount(0, 0.0, 0.0, Interval(0.0, 1.0), 1.0)
    n, share = round(total / len(runs)), hits / total
    p = max(_beyond(one) for one in runs)
    return ExplainedErrorCount(n, share, sum(one.mean for one in runs) / total, wilson(share * n, n), p)


def _beyond(one: _Counted) -> float:
    if one.variance < 1e-9:
        return 1.0
    return 1 - NormalDist(one.mean, math.sqrt(one.variance)).cdf(one.hits - 0.5)


def _adjusted(found: Sequence[ExplainedErrorCount]) -> list[ExplainedErrorCount]:
    """Return the entries with adjusted p-values. Entries with too few wrong answers are not tested."""
    tried = [one for one in found if not is_too_few(one.n)]
    values = iter(holm([one.p for one in tried]))
    return [one if is_too_few(one.n) else one._replace(adjusted=next(values)) for one in found]
