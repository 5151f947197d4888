"""The gap between the accuracy on a split and the mean accuracy on its fresh twins, with its interval.

Split and twins are independent samples from the same spec. A method that did not learn the questions of the split by
heart has the same expected accuracy on all of them, so its expected gap is 0.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from generation.engine.scoring.figures import (
    Averaged,
    Figure,
    Interval,
    difference_from_mean,
    figure,
    points,
    rounded,
    rounded_or_none,
    signed_interval_points,
    signed_points,
)
from generation.engine.scoring.ladder import WHOLE, least_step
from generation.models import FreshTwin
from webapp.leaderboards.disclosure import disclosure_budget
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.models import SuiteMember


class TwinGroup(NamedTuple):
    """A member of a suite with its fresh twins in the same suite, in the order of the columns."""

    source: SuiteMember
    twins: list[SuiteMember]

    @property
    def gap_label(self) -> str:
        return f"{self.source.label} − fresh twins"

    @property
    def lowest_label(self) -> str:
        return f"Lowest twin of {self.source.label}"

    @property
    def name(self) -> str:
        return f"{self.source.label} fresh twins"  # the start of the names of its columns in files


def groups_of(members: Sequence[SuiteMember]) -> list[TwinGroup]:
    """Return the members that have fresh twins among the members, each with its twins."""
    here = {member.split_id: member for member in members}
    rows = FreshTwin.objects.filter(split__in=here, source__in=here).values_list("split", "source")
    source_of = dict(rows)
    groups = [
        TwinGroup(one, [other for other in members if source_of.get(other.split_id) == one.split_id]) for one in members
    ]
    return [group for group in groups if group.twins]


class FigureRange(NamedTuple):
    """The lowest and the highest figure that an accuracy can have.

    They differ only for a published figure of withheld answers, which was rounded down to a multiple of the step. Both
    follow from the published figure and published steps alone.
    """

    lowest: Figure
    highest: Figure


def range_of(entry: Entry, found: Figure, *, step: int) -> FigureRange:
    """Return the range of an entry's figure; `step` is the step of the figures of its split, in thousandths."""
    if entry.disclosure is None or entry.disclosure.figure is None:
        return FigureRange(found, found)
    # People answer only a sample, and their figure has a larger step. The owner may have changed the step since then.
    step = max(step, least_step(found.n), entry.disclosure.step or 0)
    low, high = entry.disclosure.figure, min(WHOLE, entry.disclosure.figure + step)
    return FigureRange(*(figure(Averaged(found.n, (found.n * share / WHOLE,))) for share in (low, high)))


def steps_of(members: Sequence[SuiteMember]) -> dict[int, int]:
    # Only members with withheld answers have published figures.
    withheld = [member for member in members if member.split.withheld or member.split.source.withheld]
    return {member.pk: disclosure_budget.plan_of(member.split).step for member in withheld}


class TwinGap(NamedTuple):
    """The accuracies of an entry on a split and its fresh twins, and the gap between them.

    Attributes
    ----------
    group : TwinGroup
    answered : int
        The number of twins on which the entry has a figure.
    missing : tuple of str
        The labels of the other members of the group.
    mean : float or None
        The mean accuracy over the answered twins.
    share : float or None
        The gap: the accuracy on the split minus the mean; None if one of them is missing.
    interval : Interval or None
        The 95 % interval of `share` over the questions.
    lowest : Figure or None
        The lowest accuracy on an answered twin.
    lowest_label : str
        The label of this twin.
    is_rounded : bool
        Whether a figure was rounded down to a step, because answers are withheld.
    """

    group: TwinGroup
    answered: int
    missing: tuple[str, ...]
    mean: float | None = None
    share: float | None = None
    interval: Interval | None = None
    lowest: Figure | None = None
    lowest_label: str = ""
    is_rounded: bool = False

    @property
    def text(self) -> str:
        return "" if self.share is None else signed_points(self.share)

    @property
    def interval_text(self) -> str:
        return signed_interval_points(self.interval)

    @property
    def mean_text(self) -> str:
        return "" if self.mean is None else points(self.mean)

    @property
    def missing_text(self) -> str:
        if not self.missing or not self.answered:
            return ""
        return f"{self.answered} of {len(self.group.twins)} twins; not yet: {', '.join(self.missing)}"

    @property
    def excludes_zero(self) -> bool:
        return self.interval is not None and not self.interval.low <= 0 <= self.interval.high

    def to_json(self) -> dict[str, Any]:
        return {
            "twins": len(self.group.twins),
            "answered": self.answered,
            "missing": list(self.missing),
            "mean": rounded_or_none(self.mean),
            "gap": rounded_or_none(self.share),
            "low": None if self.interval is None else rounded(self.interval.low),
            "high": None if self.interval is None else rounded(self.interval.high),
            "lowest": None if self.lowest is None else rounded_or_none(self.lowest.share),
            "lowest_twin": self.lowest_label,
            "rounded": self.is_rounded,
        }


def gap_of(group: TwinGroup, parts: Mapping[int, tuple[Entry, Figure]], steps: Mapping[int, int]) -> TwinGap:
    """Return the gap of an entry.

    `parts` has the entry and its figure, and `steps` the step of published figures, both by the key of the member.
    """
    known = {pk: part for pk, part in parts.items() if part[1].share is not None}
    twins = [member for member in group.twins if member.pk in known]
    missing = tuple(member.label for member in (group.source, *group.twins) if member.pk not in known)
    if not twins:
        return TwinGap(group, 0, missing)
    figures = [known[member.pk][1] for member in twins]
    entries = [known[member.pk][0] for member in (group.source, *twins) if member.pk in known]
    mean = sum(one.share or 0.0 for one in figures) / len(figures)
    at = min(range(len(twins)), key=lambda number: figures[number].share or 0.0)
    found = TwinGap(
        group, len(twins), missing, mean, lowest=figures[at], lowest_label=twins[at].label,
        is_rounded=any(entry.disclosure is not None for entry in entries),
    )  # fmt: skip
    if group.source.pk not in known:
        return found
    ranges = [range_of(*known[one.pk], step=steps.get(one.pk, 0)) for one in (group.source, *twins)]
    share = known[group.source.pk][1].share or 0.0
    return found._replace(share=share - mean, interval=_interval(ranges[0], ranges[1:]))


def _interval(source: FigureRange, twins: Sequence[FigureRange]) -> Interval | None:
    # This interval contains the interval of every gap that is possible within the ranges.
    low = difference_from_mean(source.lowest, [one.highest for one in twins])
    high = difference_from_mean(source.highest, [one.lowest for one in twins])
    return None if low is None or high is None else Interval(low.low, high.high)
