"""Which step did it skip? A method's wrong answers beside what programs give without a step, and beside baselines."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.programs.ablation import LEAST, Explained, alike, best, skipped
from generation.engine.scoring.score import NONE
from generation.models import Split
from generation.reports.scoring import truth_of
from generation.reports.shortcuts import TYPE, choices_of
from generation.reports.skipped_steps import Ablated
from generation.storage.index import SplitIndex
from webapp.leaderboards.entries import Contender


class ExplainedErrors(NamedTuple):
    """How many wrong answers something explains."""

    label: str
    found: Explained

    @property
    def share_text(self) -> str:
        few = self.found.n < LEAST
        return f"too few (n = {self.found.n:,})" if few else f"{100 * self.found.share:.1f} %"

    @property
    def interval_text(self) -> str:
        low, high = self.found.interval
        return "" if self.found.n < LEAST else f"{100 * low:.1f}–{100 * high:.1f}"

    @property
    def chance_text(self) -> str:
        return "" if self.found.n < LEAST else f"{100 * self.found.chance:.1f} %"

    @property
    def p_text(self) -> str:
        if self.found.n < LEAST:
            return ""
        return "< 0.0001" if self.found.adjusted < 0.0001 else f"{self.found.adjusted:.4f}"

    def to_json(self) -> dict[str, float | int | str | None]:
        """Return it for other programs; of too few wrong answers n alone is told."""
        one = self.found
        figures = {
            "share": round(one.share, 6),
            "low": round(one.interval.low, 6),
            "high": round(one.interval.high, 6),
            "chance": round(one.chance, 6),
            "p_holm": float(f"{one.adjusted:.4g}"),
        }
        return {"label": self.label, "n": one.n, **(dict.fromkeys(figures) if one.n < LEAST else figures)}


class Skipping(NamedTuple):
    """What a row's wrong answers are.

    Attributes
    ----------
    key, label : str
        Of the row.
    wrong : int
        Its wrong answers in the sample, of several runs on average; `n` of them are of the questions looked at.
    n : int
    of_two, usable : int
        Of the wrong answers, those to questions with two possible answers, and of the others those to whose question
        the program gives another answer without some step; of several runs on average.
    steps, baselines : list of Line
        What programs give without each step; what baselines say. The best first.
    step, baseline : Line or None
        What explains most above chance; None where nothing does for certain.
    """

    key: str
    label: str
    wrong: int
    n: int
    of_two: int
    usable: int
    steps: list[ExplainedErrors]
    baselines: list[ExplainedErrors]
    step: ExplainedErrors | None
    baseline: ExplainedErrors | None

    @property
    def is_too_small(self) -> bool:
        return all(line.found.n < LEAST for line in self.steps)

    @property
    def unchanged(self) -> int:
        return max(0, self.wrong - self.of_two - self.usable)

    @property
    def most(self) -> int:
        return max((line.found.n for line in self.steps), default=0)

    def to_json(self) -> dict[str, Any]:
        """Return it for other programs."""
        return {
            "key": self.key,
            "label": self.label,
            "wrong": self.wrong,
            "n": self.n,
            "of_two": self.of_two,
            "usable": self.usable,
            "step": None if self.step is None else self.step.label,
            "baseline": None if self.baseline is None else self.baseline.label,
            "steps": [line.to_json() for line in self.steps if line.found.n],
            "baselines": [line.to_json() for line in self.baselines],
        }


def skipping(split: Split, ablated: Ablated, one: Contender, baselines: Sequence[Contender]) -> Skipping:
    """Return which step a row of the board skips, and which baseline it resembles, on a sample of questions."""
    index, at = SplitIndex.open(split), ablated.positions
    labels = {ablation.name: ablation.label for ablation in split.dataset.get_world().ablations}
    truth, choices = truth_of(index)[at], choices_of(split, index)[at]
    runs = [np.asarray(run)[at] for run in one.runs]
    steps = skipped(runs, truth, ablated.codes, kinds_of(index)[at], choices=choices)
    others = np.stack([np.asarray(other.runs[0])[at] for other in baselines]) if baselines else np.zeros((0, len(at)))
    found = alike(runs, truth, others.astype(np.int64), choices=choices)
    named = [ExplainedErrors(labels.get(name, name), step) for name, step in zip(ablated.names, steps, strict=True)]
    likes = [ExplainedErrors(other.label, like) for other, like in zip(baselines, found, strict=True)]
    wrong = np.mean([(run != truth) & (truth >= 0) & (run != NONE) for run in runs], axis=0)
    is_changed = ((ablated.codes >= 0) & (ablated.codes != truth)).any(axis=0)
    return Skipping(
        one.key,
        one.label,
        round(wrong.sum()),
        len(at),
        round(wrong[choices <= 2].sum()),
        round(wrong[(choices > 2) & is_changed].sum()),
        _by_excess(named),
        _by_excess(likes),
        _pick(named, best(steps)),
        _pick(likes, best(found)),
    )


def kinds_of(index: SplitIndex) -> NDArray[np.int64]:
    """Return (questions,) the codes of their types; -1 for none."""
    facet = index.facets.get(TYPE)
    if facet is None:
        return np.full(index.n, -1, np.int64)
    codes = np.asarray(facet.codes, np.int64)
    return np.where(codes == facet.none, -1, codes)


def _pick(lines: Sequence[ExplainedErrors], place: int | None) -> ExplainedErrors | None:
    return None if place is None else lines[place]


def _by_excess(lines: Sequence[ExplainedErrors]) -> list[ExplainedErrors]:
    """Return lines with the most above chance first; what too few wrong answers tell of comes last."""
    return sorted(lines, key=lambda line: (line.found.n < LEAST, -line.found.excess))
