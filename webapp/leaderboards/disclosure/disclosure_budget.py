"""Publishes figures of withheld answers: one per method, by the Ladder algorithm, within a budget.

Each score is decided once, in the transaction that stores it, under a lock on the split. Either a figure is published,
which uses the budgets of the split and of its parent, or the figure is deferred until the answers are published.
`generation.engine.scoring.ladder` has the mathematics.
"""

import json
from datetime import datetime
from typing import NamedTuple

import numpy as np
from django.db import transaction
from django.db.models import F, Q, QuerySet
from numpy.typing import NDArray

from annotations.models import Baseline
from annotations.results.study_statistics import slicing_of, values_of
from generation.access import is_withheld
from generation.engine.items import FacetKind
from generation.engine.scoring.figures import is_too_few
from generation.engine.scoring.ladder import WHOLE, climb, least_step, usual_budget
from generation.engine.scoring.score import score
from generation.models import Split
from generation.reports.scoring import truth_of
from generation.storage.split_index import IndexedFacet, SplitIndex
from webapp.leaderboards import stored_predictions
from webapp.leaderboards.models import Disclosure, DisclosureSettings, Method, Score, Submission

AT_ONCE = 50  # scores that a sweep decides upon
State = Disclosure.State


# The owner's settings


class DisclosurePlan(NamedTuple):
    """How a split's figures are published.

    Attributes
    ----------
    step : int
        In thousandths of a share.
    budget : int
        The total number of figures.
    partition : str
        The facet whose parts have figures too; empty for none.
    """

    step: int
    budget: int
    partition: str

    @property
    def step_text(self) -> str:
        return f"{self.step / 10:.1f}"


def plan_of(split: Split) -> DisclosurePlan:
    """Return how a split's figures are published, with defaults for what its owner did not choose."""
    found = DisclosureSettings.objects.filter(split=split).first()
    n = max(1, split.questions)
    if found is None:
        return DisclosurePlan(least_step(n), usual_budget(n), "")
    step = max(found.step or 0, least_step(n))
    return DisclosurePlan(step, usual_budget(n) if found.budget is None else found.budget, found.partition)


class PartOfSplit(NamedTuple):
    """A part of a split's partition: a value of its facet, its number of questions, and the step of its figures."""

    value: str
    label: str
    n: int
    step: int


def facets_for_partition(split: Split) -> list[IndexedFacet]:
    """Return the facets by which a split may be partitioned: one value per question, and revealing nothing.

    A facet that reveals something about answers is left out, because the sizes of its parts alone would reveal it.
    """
    return [
        facet
        for facet in SplitIndex.open(split).facets.values()
        if not facet.reveals and (facet.kind == FacetKind.CATEGORY or (facet.kind == FacetKind.INTEGER and facet.bins))
    ]


def parts_of(split: Split, plan: DisclosurePlan) -> list[PartOfSplit]:
    """Return the parts of a split with enough questions for figures."""
    facet = SplitIndex.open(split).facets.get(plan.partition)
    if facet is None:
        return []
    slicing, labels = slicing_of(facet)
    counts = np.bincount(slicing.codes[slicing.codes < slicing.values], minlength=slicing.values).tolist()
    return [
        PartOfSplit(value, label, n, max(plan.step, least_step(n)))
        for value, label, n in zip(values_of(facet), labels, counts, strict=True)
        if not is_too_few(n)
    ]


def cost_of(split: Split) -> int:
    return 1 + len(parts_of(split, plan_of(split)))


def is_partition_fixed(split: Split) -> bool:
    # A partition can't change after a figure of a submission was published.
    return Disclosure.objects.published().filter(split=split, people=None).exclude(method__baseline__gt="").exists()


class Spending(NamedTuple):
    """What was published on a split: the number of figures, methods and accounts, and the time of the latest."""

    figures: int
    methods: int
    accounts: int
    last: datetime | None


def spending_on(split: Split) -> Spending:
    return Spending(**Disclosure.objects.counted_on(split).summary())


def room_on(split: Split) -> int:
    return max(0, min(plan_of(one).budget - spending_on(one).figures for one in {split, split.source}))


def submissions_left(split: Split) -> int:
    return 0 if is_too_few(split.questions) else room_on(split) // cost_of(split)


# Decisions


def lock(split: Split) -> None:
    list(Split.objects.select_for_update().filter(pk=split.source.pk).values_list("pk"))


def disclose(submission: Submission, found: Score, codes: NDArray[np.int32]) -> Disclosure:
    """Decide what others learn of a score on a split with withheld answers; store and return the decision.

    Parameters
    ----------
    submission : Submission
    found : Score
        On the split that the submission was sent to.
    codes : array (questions,) of int32
        Its answers.

    The caller holds the split's `lock`, in the transaction that stores the score.
    """
    split, method = submission.split, submission.method
    plan = plan_of(split)
    parts = parts_of(split, plan)
    row = Disclosure(split=split, source=split.source, submission=submission, method=method, account_id=method.owner_id)
    if not _may_have_figure(method) or is_too_few(found.n) or room_on(split) < 1 + len(parts):
        row.state = State.DEFERRED
    else:
        _climb(row, split, found, codes, plan=plan, parts=parts)
    row.save(force_insert=True)
    return row


def _may_have_figure(method: Method) -> bool:
    return method.baseline in ("", Method.Baseline.TYPE_MODE)


def _climb(
    row: Disclosure,
    split: Split,
    found: Score,
    codes: NDArray[np.int32],
    *,
    plan: DisclosurePlan,
    parts: list[PartOfSplit],
) -> None:
    before = list(Disclosure.objects.published().filter(split=split, method=row.method))
    best = max((one.figure for one in before if one.figure is not None), default=None)
    row.state, row.cost, row.step = State.PUBLISHED, 1 + len(parts), plan.step
    row.figure = climb(int(found.right), found.n, best=best, step=plan.step)
    row.is_new = best is None or row.figure > best
    if parts:
        row.partition = plan.partition
        row.parts = json.dumps(_climb_parts(row, split, codes, parts=parts, before=before))


def _climb_parts(
    row: Disclosure, split: Split, codes: NDArray[np.int32], *, parts: list[PartOfSplit], before: list[Disclosure]
) -> dict[str, int]:
    """Return the figure of each part after this score."""
    index = SplitIndex.open(split)
    facet = index.facets[row.partition]
    found = score(codes, truth_of(index), {row.partition: slicing_of(facet)[0]})
    rights = found.facets[row.partition].right.tolist()
    by_value = dict(zip(values_of(facet), rights, strict=True))
    earlier = [one.part_figures for one in before if one.partition == row.partition]
    return {
        part.value: climb(
            by_value[part.value],
            part.n,
            best=max((one[part.value] for one in earlier if part.value in one), default=None),
            step=part.step,
        )
        for part in parts
    }


def disclose_people(baseline: Baseline) -> Disclosure | None:
    """Decide what others learn of a published human baseline; None if the answers are open. Needs a transaction."""
    split = baseline.split
    if not is_withheld(split):
        return None
    lock(split)
    known = Disclosure.objects.filter(people=baseline).first()
    if known is not None:
        return known
    row = Disclosure(split=split, source=split.source, people=baseline, state=State.DEFERRED)
    if not is_too_few(baseline.asked) and room_on(split) >= 1:
        row.state, row.cost, row.is_new = State.PUBLISHED, 1, True
        row.step = max(plan_of(split).step, least_step(baseline.asked))
        row.figure = climb(baseline.right, baseline.asked, best=None, step=row.step)
    row.save(force_insert=True)
    return row


def share_of_people(baseline: Baseline) -> float | None:
    found = Disclosure.objects.published().filter(people=baseline).first()
    return None if found is None or found.figure is None else found.figure / WHOLE


# Scores and human baselines that are older than the Ladder


def catch_up() -> int:
    """Decide on scores and human baselines without a decision, the oldest first; return how many."""
    decided = 0
    for submission in _undecided():
        with transaction.atomic():
            lock(submission.split)
            if not Disclosure.objects.filter(submission=submission).exists():
                found = submission.scores.get(split=submission.split)
                disclose(submission, found, stored_predictions.load(submission.predictions).codes)
                decided += 1
    for baseline in _undecided_people():
        with transaction.atomic():
            disclose_people(baseline)
        decided += 1
    return decided


_CLOSED = Q(split__withheld=True) | Q(split__parent__withheld=True)


def _undecided() -> QuerySet[Submission]:
    rows = Submission.objects.scored().filter(_CLOSED, disclosure=None, scores__split=F("split"))
    return rows.select_related("method", "split__dataset", "split__parent").order_by("finished", "pk")[:AT_ONCE]


def _undecided_people() -> QuerySet[Baseline]:
    rows = Baseline.objects.published().filter(_CLOSED, disclosure=None)
    return rows.select_related("split__dataset", "split__parent").order_by("published", "pk")[:AT_ONCE]
