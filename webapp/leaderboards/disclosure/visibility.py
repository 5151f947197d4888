"""Who sees what of a board: the single rule that pages, files, API and commands use.

Visitors who may see the result of each question see everything. While answers are withheld, others see one figure for
each method that the Ladder published (`webapp.leaderboards.disclosure.disclosure_budget`), and one for each
part of the partition that the owner chose. Everything else is shown once the answers are published.
"""

from typing import Any, NamedTuple

from generation.access import Visitor, What, may_see, may_see_exact_figures, may_see_facet
from generation.engine.scoring.figures import Averaged, Figure, figure, percent
from generation.engine.scoring.ladder import WHOLE
from generation.engine.worlds.breakdowns import BoardView
from generation.models import Split
from generation.storage.split_index import IndexedFacet, SplitIndex
from webapp.leaderboards.disclosure import disclosure_budget
from webapp.leaderboards.models import Disclosure, Score, Submission

DEFERRED = "shown when the answers are opened"


def facets_for(user: Visitor, split: Split, index: SplitIndex) -> list[IndexedFacet]:
    if not may_see_exact_figures(user, split):
        return []
    return [facet for facet in index.facets.values() if may_see_facet(user, split, facet)]


def views_for(user: Visitor, split: Split, index: SplitIndex) -> list[BoardView]:
    allowed = {facet.name for facet in facets_for(user, split, index)}
    return [view for view in split.dataset.get_world().board_views if view.facets <= allowed]


# What the Ladder published


def published_figure(n: int, disclosure: Disclosure | None) -> Figure:
    if disclosure is None or disclosure.figure is None:
        return Figure(n, 1, note=DEFERRED)
    return Figure(n, 1, disclosure.figure / WHOLE)


class Outcome(NamedTuple):
    """The result of a submission on a split, as a visitor may see it.

    Attributes
    ----------
    split : Split
    figure : Figure
        The accuracy; if answers are withheld, only if this submission set the method's published figure.
    read : Figure or None
        The accuracy with answers extracted from free text, if there was any and the visitor may see it.
    unreadable : int or None
        The number of answers from which none could be extracted, if the visitor may see it.
    score : Score or None
        All counts; None if answers are withheld.
    disclosure : Disclosure or None
        The Ladder's decision, if answers are withheld and it is made.
    """

    split: Split
    figure: Figure
    read: Figure | None = None
    unreadable: int | None = None
    score: Score | None = None
    disclosure: Disclosure | None = None

    @property
    def is_open(self) -> bool:
        return self.score is not None

    @property
    def unreadable_text(self) -> str:
        return "" if self.unreadable is None else percent(self.unreadable / max(1, self.figure.n))

    @property
    def published(self) -> Figure:
        return published_figure(self.split.questions, self.disclosure)

    @property
    def parts(self) -> list[tuple[str, Figure]]:
        return part_figures(self.disclosure)


def outcomes_of(user: Visitor, submission: Submission) -> list[Outcome]:
    rows = submission.scores.select_related("split__dataset", "split__parent").order_by("split__ordinal")
    found = (_outcome(user, submission, one) for one in rows if may_see(user, one.split, What.QUESTION))
    return [one for one in found if one is not None]


def _outcome(user: Visitor, submission: Submission, found: Score) -> Outcome | None:
    split = found.split
    if not may_see_exact_figures(user, split):
        if split.pk != submission.split_id:  # figures are published only for the split that it was sent to
            return None
        disclosure = Disclosure.objects.filter(submission=submission).first()
        return Outcome(split, figure_of(split.questions, disclosure), disclosure=disclosure)
    read = figure(Averaged(found.n, (found.right_read,))) if found.has_text else None
    return Outcome(split, figure(Averaged(found.n, (found.right,))), read, found.unreadable, found)


def figure_of(n: int, disclosure: Disclosure | None) -> Figure:
    """Return a submission's figure for visitors who may not see the answers."""
    found = published_figure(n, disclosure)
    if disclosure is None or found.share is None or disclosure.is_new:
        return found
    return Figure(n, 1, note=f"less than a step above {found.points} %")


def part_figures(disclosure: Disclosure | None) -> list[tuple[str, Figure]]:
    """Return label and figure of each part of the partition for which a disclosure has figures."""
    if disclosure is None or disclosure.split is None or not disclosure.part_figures:
        return []
    split = disclosure.split
    plan = disclosure_budget.plan_of(split)._replace(partition=disclosure.partition)
    known = disclosure.part_figures
    return [
        (part.label, Figure(part.n, 1, known[part.value] / WHOLE))
        for part in disclosure_budget.parts_of(split, plan)
        if part.value in known
    ]


def outcome_json(outcome: Outcome) -> dict[str, Any] | None:
    """Return the Ladder's decision on a submission as JSON data; None if the visitor sees everything."""
    if outcome.is_open:
        return None
    disclosure = outcome.disclosure
    return {
        "state": "undecided" if disclosure is None else str(disclosure.state),
        "is_new": disclosure is not None and disclosure.is_new,
        "figure": outcome.published.share,
        "step": disclosure_budget.plan_of(outcome.split).step / WHOLE,
        "parts": {label: one.share for label, one in outcome.parts},
    }
