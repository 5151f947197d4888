"""Boards of suites: a column for each split, the mean, named gaps between two splits, and gaps to fresh twins."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from generation.access import What, may_mention, may_see
from generation.engine.scoring.counts.count_errors import harmonic_mean
from generation.engine.scoring.figures import (
    Figure,
    Interval,
    difference_of,
    points,
    rounded,
    signed_interval_points,
    signed_points,
)
from webapp.leaderboards import entries
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.fresh_twins.gaps import TwinGap, TwinGroup, gap_of, groups_of, steps_of
from webapp.leaderboards.models import Suite, SuiteGap, SuiteMember


class MemberGap(NamedTuple):
    """The difference between an entry's accuracies on two members; None if one of them is missing.

    `interval` is None if there is no difference, or if one of the accuracies has no interval. `harmonic` is the
    harmonic mean of both accuracies, which is low if one of them is.
    """

    label: str
    share: float | None
    interval: Interval | None = None
    harmonic: float | None = None

    @property
    def text(self) -> str:
        return "" if self.share is None else signed_points(self.share)

    @property
    def interval_text(self) -> str:
        return signed_interval_points(self.interval)

    @property
    def harmonic_text(self) -> str:
        return "" if self.harmonic is None else points(self.harmonic)

    @property
    def rounded_interval(self) -> tuple[float, float] | None:
        return None if self.interval is None else (rounded(self.interval.low), rounded(self.interval.high))


class SuiteRow(NamedTuple):
    """A method with one configuration on all members of a suite.

    Attributes
    ----------
    entry : Entry
        On its first member.
    rank : int or None
        By the mean; only entries with every member have a rank.
    figures : tuple of Figure or None
        In the order of the members.
    mean : float or None
        Mean accuracy over the members, 0 .. 1; None if a member is missing.
    gaps : tuple of MemberGap
    twin_gaps : tuple of TwinGap
        For each member with fresh twins in the suite.
    """

    entry: Entry
    rank: int | None
    figures: tuple[Figure | None, ...]
    mean: float | None
    gaps: tuple[MemberGap, ...]
    twin_gaps: tuple[TwinGap, ...] = ()

    @property
    def mean_text(self) -> str:
        return "" if self.mean is None else points(self.mean)


class SuiteBoard(NamedTuple):
    """A suite's board as one visitor sees it; `members` are those that the visitor may see."""

    suite: Suite
    members: list[SuiteMember]
    missing: int
    gaps: list[SuiteGap]
    rows: list[SuiteRow]
    twin_groups: list[TwinGroup]

    @property
    def has_rounded_gaps(self) -> bool:
        return any(gap.is_rounded for row in self.rows for gap in row.twin_gaps)


def board_of(user: Any, suite: Suite) -> SuiteBoard:
    """Return a suite's board as this visitor may see it, the highest mean first."""
    every, members = members_for(user, suite)
    gaps = [gap for gap in suite.gaps.order_by("pk") if {gap.minuend_id, gap.subtrahend_id} <= {m.pk for m in members}]
    found = _together(user, members)
    groups = groups_of(members)
    steps = steps_of([one for group in groups for one in (group.source, *group.twins)])
    rows = [
        _row(parts, members, gaps)._replace(twin_gaps=tuple(gap_of(group, parts, steps) for group in groups))
        for parts in found.values()
    ]
    named = entries.distinguish(row.entry for row in rows)  # each split has other methods
    rows = [row._replace(entry=entry) for row, entry in zip(rows, named, strict=True)]
    return SuiteBoard(suite, members, len(every) - len(members), gaps, _ranked(rows), groups)


def members_for(user: Any, suite: Suite) -> tuple[list[SuiteMember], list[SuiteMember]]:
    """Return all members of a suite, and those that it may show this visitor.

    A suite is a list. It names a link-only dataset only to the dataset's owner, and to the suite's owner, who added it.
    """
    every = list(suite.members.select_related("split__dataset", "split__parent", "split__reference"))
    is_own = user.is_authenticated and suite.owner_id == user.pk
    return every, [one for one in every if one.split.is_complete and _may_show(user, one, is_own=is_own)]


def _may_show(user: Any, member: SuiteMember, *, is_own: bool) -> bool:
    may_know = is_own or may_mention(user, member.split.dataset)
    return may_know and may_see(user, member.split, What.QUESTION)


Parts = dict[int, tuple[Entry, Figure]]
"""An entry of a method and its accuracy, by member."""


def _together(user: Any, members: Sequence[SuiteMember]) -> dict[str, Parts]:
    """Return the entries of each method and configuration by member; people on all members are one row."""
    found: dict[str, Parts] = {}
    for member in members:
        for entry in entries.entries_of(user, member.split, choose=entries.EACH):
            key = _key(entry)
            parts = found.setdefault(key, {})
            parts.setdefault(member.pk, (entry, entry.figure))
    return found


def _key(entry: Entry) -> str:
    """Return a key that is the same for entries of the same method and configuration on other splits."""
    if entry.is_human:
        return "people"
    assert entry.method is not None
    return f"baseline-{entry.method.baseline}" if entry.is_site_baseline else entry.key


def _row(parts: Parts, members: Sequence[SuiteMember], gaps: Sequence[SuiteGap]) -> SuiteRow:
    found = {member.pk: parts[member.pk][1] for member in members if member.pk in parts}
    figures = tuple(found.get(member.pk) for member in members)
    known = [one.share for one in found.values() if one.share is not None]
    mean = rounded(sum(known) / len(known)) if known and len(known) == len(members) else None
    return SuiteRow(next(iter(parts.values()))[0], None, figures, mean, tuple(_gap(gap, found) for gap in gaps))


def _gap(gap: SuiteGap, found: Mapping[int, Figure]) -> MemberGap:
    high, low = found.get(gap.minuend_id), found.get(gap.subtrahend_id)
    if high is None or low is None or high.share is None or low.share is None:
        return MemberGap(gap.label, None)
    both = rounded(harmonic_mean(high.share, low.share))
    return MemberGap(gap.label, rounded(high.share - low.share), difference_of(high, low), both)


def _ranked(rows: Sequence[SuiteRow]) -> list[SuiteRow]:
    """Return the rows with ranks, sorted by mean; people come first, rows that lack a member last."""
    means = [row.mean for row in rows if row.mean is not None and _may_rank(row)]
    ranked = [
        row._replace(rank=1 + sum(other > row.mean for other in means))
        if row.mean is not None and _may_rank(row)
        else row
        for row in rows
    ]
    return sorted(ranked, key=lambda row: (not row.entry.is_human, -(row.mean if row.mean is not None else -1.0)))


def _may_rank(row: SuiteRow) -> bool:
    return not row.entry.is_human and not row.entry.is_site_baseline
