"""Finds skipped steps: compares wrong answers with the results of programs without a step, and with baselines."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.programs.ablation import ExplainedErrorCount, alike, best, count_explained
from generation.engine.scoring.figures import interval_points, is_too_few, percent, rounded, too_few_text
from generation.engine.scoring.score import NONE
from generation.models import Split
from generation.reports.scoring import truth_of
from generation.reports.shortcuts import TYPE, choices_of
from generation.reports.skipped_steps import AblatedQuestions
from generation.storage.split_index import SplitIndex
from webapp.leaderboards.entries import Contender


class ExplainedErrors(NamedTuple):
    """How many wrong answers something explains."""

    label: str
    found: ExplainedErrorCount

    @property
    def is_too_small(self) -> bool:
        return is_too_few(self.found.n)

    @property
    def share_text(self) -> str:
        return too_few_text(self.found.n) if self.is_too_small else percent(self.found.share)

    @property
    def interval_text(self) -> str:
        return "" if self.is_too_small else interval_points(self.found.interval)

    @property
    def chance_text(self) -> str:
        return "" if self.is_too_small else percent(self.found.chance)

    @property
    def p_text(self) -> str:
        if self.is_too_small:
            return ""
        return "< 0.0001" if self.found.adjusted < 0.0001 else f"{self.found.adjusted:.4f}"

    def to_json(self) -> dict[str, float | int | str | None]:
        """Return the figures as JSON data; with too few wrong answers only n."""
        one = self.found
        figures = {
            "share": rounded(one.share),
            "low": rounded(one.interval.low),
            "high": rounded(one.interval.high),
            "chance": rounded(one.chance),
            "p_holm": float(f"{one.adjusted:.4g}"),
        }
        return {"label": self.label, "n": one.n, **(dict.fromkeys(figures) if self.is_too_small else figures)}


class Skipping(NamedTuple):
    """What explains the wrong answers of a row.

    Attributes
    ----------
    key, label : str
        Of the row.
    wrong : int
        Wrong answers in the sample, averaged over runs.
    n : int
        Questions in the sample.
    of_two, usable : int
        Wrong answers to questions with two possible answers; and among the others, those whose program gives another
        answer without some step. Both averaged over runs.
    steps, baselines : list of ExplainedErrors
        For programs without each step, and for each baseline, the best first.
    step, baseline : ExplainedErrors or None
        The entry with the largest significant excess over chance; None if there is none.
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
        return all(line.is_too_small for line in self.steps)

    @property
    def unchanged(self) -> int:
        return max(0, self.wrong - self.of_two - self.usable)

    @property
    def most(self) -> int:
        return max((line.found.n for line in self.steps), default=0)

    def to_json(self) -> dict[str, Any]:
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


def skipping(split: Split, ablated: AblatedQuestions, one: Contender, baselines: Sequence[Contender]) -> Skipping:
    """Return which step a row of the board skips, and which baseline it resembles, on a sample of questions."""
    index, at = SplitIndex.open(split), ablated.positions
    labels = {ablation.name: ablation.label for ablation in split.dataset.get_world().ablations}
    truth, choices = truth_of(index)[at], choices_of(split, index)[at]
    runs = [np.asarray(run)[at] for run in one.runs]
    steps = count_explained(runs, truth, ablated.codes, kinds_of(index)[at], choices=choices)
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
    """Return the code of each question's type, shape (questions,); -1 for none."""
    facet = index.facets.get(TYPE)
    if facet is None:
        return np.full(index.n, -1, np.int64)
    codes = np.asarray(facet.codes, np.int64)
    return np.where(codes == facet.none, -1, codes)


def _pick(lines: Sequence[ExplainedErrors], place: int | None) -> ExplainedErrors | None:
    return None if place is None else lines[place]


def _by_excess(lines: Sequence[ExplainedErrors]) -> list[ExplainedErrors]:
    return sorted(lines, key=lambda line: (line.is_too_small, -line.found.excess))
