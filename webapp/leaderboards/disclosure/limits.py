"""Limits for submissions, and the storage that an account's submissions use.

Open splits have no limit. Splits with withheld answers accept three scores per account in any 24 hours. Each published
figure of such a split reveals something about its answers, so there is also a limit for all accounts together, as long
as figures can still be published. A refused file does not count; a file under way counts until it is refused. A much
higher limit applies to attempts, to stop programs that run wild.
"""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Q, Sum

from generation.access import is_withheld
from generation.models import Split
from generation.models.jobs import from_now
from generation.storage.storage_quotas import Use
from webapp.leaderboards.disclosure import disclosure_budget
from webapp.leaderboards.models import Attempt, Disclosure, Submission
from webapp.leaderboards.models.submissions import A_DAY


def use(user: Any) -> Use:
    """Return the storage that an account's submissions use."""
    found = Submission.objects.filter(method__owner=user.pk).aggregate(
        count=Count("pk"),
        kept=Sum("kept", default=0),
        uploads=Sum("size", filter=~Q(file=""), default=0),
        replies=Sum("replies_size", filter=~Q(replies_file=""), default=0),
    )
    size = found["kept"] + found["uploads"] + found["replies"]
    advice = (
        "Delete submissions on their pages, or delete a method with all its submissions. Scored uploads are deleted."
    )
    return Use("Submissions", found["count"], size, advice)


SCORED = 3  # scores in any 24 hours, for each account and split
ATTEMPTS = 30  # attempts in any 24 hours, for each account and split
SHARED = 3  # scores of all accounts together in any 24 hours, for each split; the limit is at least this
SHARE_OF_BUDGET = 10  # a tenth of the budget may be used in any 24 hours, if that is more than `SHARED`


class RemainingSubmissions(NamedTuple):
    """What an account may still submit to a split.

    Attributes
    ----------
    scores, attempts : int or None
        How many scores and attempts are left now; None if there is no limit.
    next_at : datetime or None
        When the next submission is allowed, if none is allowed now; None if submissions under way make this unknown.
    shared : int or None
        How many figures all accounts together may still have published today; None if there is no limit.
    published : int or None
        For how many more submissions a figure can be published; None if answers are open.
    """

    scores: int | None
    attempts: int | None
    next_at: datetime | None
    shared: int | None = None
    published: int | None = None

    @property
    def is_open(self) -> bool:
        return all(one is None or one > 0 for one in (self.scores, self.attempts, self.shared))

    @property
    def is_limited(self) -> bool:
        return self.scores is not None

    @property
    def is_spent(self) -> bool:
        return self.published == 0


UNLIMITED = RemainingSubmissions(None, None, None)


class _Limit(NamedTuple):
    """One limit: its size, how many are left and under way, and the times of those that count, the oldest first."""

    most: int
    left: int
    under_way: int
    moments: list[datetime]


def remaining(user: Any, split: Split) -> RemainingSubmissions:
    """Return what an account may still submit to a split; a question set shares the limits of its parent."""
    if not is_withheld(split):
        return UNLIMITED
    same = together(split)
    mine = Submission.objects.filter(method__owner=user, split__in=same)
    tried = Attempt.objects.filter(user=user, split__in=same, made__gt=from_now(-A_DAY))
    scores = _limit(SCORED, mine.of_last_day().values_list("finished", flat=True), mine.under_way().count())
    attempts = _limit(ATTEMPTS, tried.values_list("made", flat=True), 0)
    published = disclosure_budget.submissions_left(split)
    shared = _shared(split, same) if published else None
    limits = [scores, attempts, *([shared] if shared is not None else [])]
    return RemainingSubmissions(
        scores.left, attempts.left, _next(limits), None if shared is None else shared.left, published
    )


def _limit(most: int, moments: Any, under_way: int) -> _Limit:
    found = sorted(moments)
    return _Limit(most, max(0, most - len(found) - under_way), under_way, found)


def _shared(split: Split, same: list[int]) -> _Limit:
    """Return how many figures all accounts together may still have published today."""
    found = Disclosure.objects.published().filter(source=split.source, made__gt=from_now(-A_DAY))
    found = found.filter(people=None).exclude(method__baseline__gt="")
    under_way = Submission.objects.under_way().filter(split__in=same, method__baseline="").count()
    return _limit(shared_limit(split), found.values_list("made", flat=True), under_way)


def shared_limit(split: Split) -> int:
    return max(
        SHARED, disclosure_budget.plan_of(split.source).budget // SHARE_OF_BUDGET // disclosure_budget.cost_of(split)
    )


def _next(limits: list[_Limit]) -> datetime | None:
    """Return when all limits have room again; None if they have it now, or if it depends on submissions under way."""
    used_up = [one for one in limits if one.left == 0]
    if not used_up or any(one.under_way for one in used_up):
        return None
    return max(one.moments[-one.most] for one in used_up) + timedelta(seconds=A_DAY)


def together(split: Split) -> list[int]:
    source = split.source
    return [source.pk, *source.derived.values_list("pk", flat=True)]


def note_attempt(user: Any, split: Split) -> None:
    if is_withheld(split):
        Attempt.objects.create(user=user, split=split)
