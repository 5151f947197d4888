"""Which step did it skip? Programs with one step left out, and whether a method's wrong answers are what they give.

A method that skips a step answers another question, and its wrong answers are that question's answers. So each wrong
answer is held against what the question's program gives without the step. A wrong answer tells something only where
there was more than one to give: of yes-or-no questions, and others with two possible answers, none counts.
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
from generation.engine.scoring.score import NONE
from generation.engine.scoring.statistics import TOO_FEW, Interval, wilson

LEAST = TOO_FEW  # wrong answers that a share is shown for
SURE = 0.05  # an adjusted p-value below which an excess over chance is called certain

Ints = NDArray[np.integer]


class Ablation(NamedTuple):
    """A step that may be left out of programs.

    Attributes
    ----------
    name : str
        In addresses and files: small letters, digits and hyphens.
    label : str
        For people.
    change : callable
        `change(program)` gives the program without the step, well typed; None where it has no such step.
    """

    name: str
    label: str
    change: Callable[[Program], Program | None]


def answer_without(ablation: Ablation, program: Program, context: Any, *, table: FunctionTable) -> str | None:
    """Return what a program gives without a step, in a context that `table.prepare` made.

    None where it has no such step, or has no answer without it: `unique` then meets no or several objects.
    """
    changed = ablation.change(program)
    if changed is None:
        return None
    try:
        found = outputs(changed, context, table=table)[-1]
    except IllPosed:
        return None
    return str(table.show(table.functions[changed[-1].function].output, found).value)


class Explained(NamedTuple):
    """How many of a method's wrong answers are those that something else gives.

    Attributes
    ----------
    n : int
        Its wrong answers that could be such; of several runs, on average.
    share : float
        Of these, how many are; 0 of none.
    chance : float
        The share that chance would give.
    interval : Interval
        Of `share`.
    p : float
        How often chance alone gives as many; of several runs, in the run where that is most often.
    adjusted : float
        `p` after Holm, over all that was tried; 1 where there are fewer than `LEAST`.
    """

    n: int
    share: float
    chance: float
    interval: Interval
    p: float
    adjusted: float = 1.0

    @property
    def excess(self) -> float:
        """Return by how much the share is above chance."""
        return self.share - self.chance

    @property
    def is_certain(self) -> bool:
        """Return whether the share is above chance for certain."""
        return self.excess > 0 and self.adjusted < SURE


class _Counted(NamedTuple):
    """Of one run: wrong answers that count, hits among them, and how many hits chance gives: mean and variance."""

    n: int
    hits: int
    mean: float
    variance: float


def skipped(runs: Runs, answers: Ints, without: Ints, kinds: Ints, *, choices: Ints) -> list[Explained]:
    """Return, for each step left out, how many of a method's wrong answers are what programs give without it.

    Only questions count to which the program gives another answer without the step. Chance is a shuffle of the wrong
    answers to these questions among those of one kind and one right answer: its mean and variance are exact, and the
    p-value takes their sum for normal.

    Parameters
    ----------
    runs : sequence of arrays (questions,)
        A method's predictions; negative ones are outside the vocabulary, `NONE` is no answer and doesn't count.
    answers : array (questions,)
        The right answers; negative where there is none.
    without : array (steps, questions)
        What programs give without each step; negative for nothing.
    kinds : array (questions,)
        Codes of the questions' types; negative for none.
    choices : array (questions,)
        How many answers a question of its type may have.

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


def alike(runs: Runs, answers: Ints, others: Ints, *, choices: Ints) -> list[Explained]:
    """Return, for each of other methods, how many of a method's wrong answers are its answers too.

    Chance is any wrong answer that a question's type allows, each as likely. `others` has shape (methods, questions);
    for the rest see `skipped`.
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


def best(found: Sequence[Explained]) -> int | None:
    """Return the position of what explains most above chance; None where nothing does for certain."""
    certain = [place for place, one in enumerate(found) if one.is_certain]
    return max(certain, key=lambda place: found[place].excess, default=None)


def _wrong(run: Ints, answers: Ints) -> NDArray[np.bool_]:
    return (run != answers) & (run != NONE)


def _shuffled(run: Ints, without: Ints, groups: Ints, wrong: NDArray[np.bool_]) -> _Counted:
    """Return how a run's wrong answers fare beside all shuffles of them within groups."""
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


def _explained(runs: Sequence[_Counted]) -> Explained:
    total, hits = sum(one.n for one in runs), sum(one.hits for one in runs)
    if not total:
        return Explained(0, 0.0, 0.0, Interval(0.0, 1.0), 1.0)
    n, share = round(total / len(runs)), hits / total
    p = max(_beyond(one) for one in runs)
    return Explained(n, share, sum(one.mean for one in runs) / total, wilson(share * n, n), p)


def _beyond(one: _Counted) -> float:
    """Return how often chance gives as many hits or more, by the normal curve, to the nearest half."""
    if one.variance < 1e-9:
        return 1.0
    return 1 - NormalDist(one.mean, math.sqrt(one.variance)).cdf(one.hits - 0.5)


def _adjusted(found: Sequence[Explained]) -> list[Explained]:
    """Return all with their adjusted p-values; those of too few wrong answers are not tried."""
    tried = [one for one in found if one.n >= LEAST]
    values = iter(holm([one.p for one in tried]))
    return [one._replace(adjusted=next(values)) if one.n >= LEAST else one for one in found]
