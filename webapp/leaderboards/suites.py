"""Suites as boards: a column for each split, their mean, and the named gaps between two of them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from generation.access import What, may_mention, may_see
from webapp.leaderboards import entries
from webapp.leaderboards.disclosure.figures import DECIMALS, Figure
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.models import Suite, SuiteGap, SuiteMember

MEAN = "mean"


class MemberGap(NamedTuple):
    """The difference between an entry's accuracies on two members; None where one of them is missing."""

    label: str
    share: float | None

    @property
    def text(self) -> str:
        return "" if self.share is None else f"{100 * self.share:+.1f}"


class SuiteRow(NamedTuple):
    """A method under the same circumstances on every member of a suite.

    Attributes
    ----------
    entry : Entry
        On the first member that it has.
    rank : int or None
        By the mean, of those that have every member.
    figures : tuple of Figure or None
        In the members' order.
    mean : float or None
        Of the members' accuracies, 0 .. 1; None unless all are there.
    gaps : tuple of Gap
    """

    entry: Entry
    rank: int | None
    figures: tuple[Figure | None, ...]
    mean: float | None
    gaps: tuple[MemberGap, ...]

    @property
    def mean_text(self) -> str:
        return "" if self.mean is None else f"{100 * self.mean:.1f}"


class SuiteBoard(NamedTuple):
    """A suite's board as somebody sees it: `members` are those that they may see."""

    suite: Suite
    members: list[SuiteMember]
    missing: int
    gaps: list[SuiteGap]
    rows: list[SuiteRow]


def board_of(user: Any, suite: Suite) -> SuiteBoard:
    """Return a suite's board with all that this visitor may see of it, the highest mean first."""
    every, members = members_for(user, suite)
    gaps = [gap for gap in suite.gaps.order_by("pk") if {gap.minuend_id, gap.subtrahend_id} <= {m.pk for m in members}]
    found = _together(user, members)
    rows = [_row(parts, members, gaps) for parts in found.values()]
    return SuiteBoard(suite, members, len(every) - len(members), gaps, _ranked(rows))


def members_for(user: Any, suite: Suite) -> tuple[list[SuiteMember], list[SuiteMember]]:
    """Return all members of a suite, and those that it may show this visitor.

    A suite is a list: a link-only dataset is shown to its own owner, and to the owner of the suite, who named it.
    """
    every = list(suite.members.select_related("split__dataset", "split__parent", "split__reference"))
    is_own = user.is_authenticated and suite.owner_id == user.pk
    return every, [one for one in every if one.split.is_complete and _may_show(user, one, is_own=is_own)]


def _may_show(user: Any, member: SuiteMember, *, is_own: bool) -> bool:
    may_know = is_own or may_mention(user, member.split.dataset)
    return may_know and may_see(user, member.split, What.QUESTION)


Parts = dict[int, tuple[Entry, Figure]]
"""By member the entry of a method there, and its accuracy."""


def _together(user: Any, members: Sequence[SuiteMember]) -> dict[str, Parts]:
    """Return, by the key of a method's circumstances, what it did on each member; people are one on all of them."""
    found: dict[str, Parts] = {}
    for member in members:
        for entry in entries.entries_of(user, member.split, choose=entries.EACH):
            key = _key(entry)
            parts = found.setdefault(key, {})
            parts.setdefault(member.pk, (entry, entry.figure))
    return found


def _key(entry: Entry) -> str:
    """Return what an entry has in common with those of the same on other splits."""
    if entry.is_human:
        return "people"
    assert entry.method is not None
    return f"baseline-{entry.method.baseline}" if entry.is_site_baseline else entry.key


def _row(parts: Parts, members: Sequence[SuiteMember], gaps: Sequence[SuiteGap]) -> SuiteRow:
    figures = tuple(parts[member.pk][1] if member.pk in parts else None for member in members)
    shares = {member.pk: one.share for member, one in zip(members, figures, strict=True) if one is not None}
    known = [share for share in shares.values() if share is not None]
    mean = round(sum(known) / len(known), DECIMALS) if known and len(known) == len(members) else None
    return SuiteRow(next(iter(parts.values()))[0], None, figures, mean, tuple(_gap(gap, shares) for gap in gaps))


def _gap(gap: SuiteGap, shares: Mapping[int, float | None]) -> MemberGap:
    high, low = shares.get(gap.minuend_id), shares.get(gap.subtrahend_id)
    return MemberGap(gap.label, None if high is None or low is None else round(high - low, DECIMALS))


def _ranked(rows: Sequence[SuiteRow]) -> list[SuiteRow]:
    """Return rows by their mean with ranks; what lacks a member stands below, people above all."""
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
