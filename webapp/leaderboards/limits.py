"""How often somebody may submit: on open splits as often as they like, on withheld ones three scores a rolling day.

Each score of a withheld split tells something of its answers. What was refused doesn't count, what is under way does
until it is. Attempts have a limit of their own, much higher: it is for programs that run wild.
"""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Min

from generation.models import Split
from generation.models.work import from_now
from webapp.leaderboards import ladder
from webapp.leaderboards.models import Attempt, Submission
from webapp.leaderboards.models.submissions import A_DAY

SCORED = 3  # a rolling day, account and split
ATTEMPTS = 30  # the same, scored or not


class Left(NamedTuple):
    """What somebody may still submit to a split.

    Attributes
    ----------
    scores, attempts : int or None
        How many may still be scored, and sent, at this moment; None where nothing limits them.
    next_at : datetime or None
        When one more may be, where none may now and it is known; while others are under way it isn't.
    """

    scores: int | None
    attempts: int | None
    next_at: datetime | None

    @property
    def is_open(self) -> bool:
        """Return whether a file may be sent now."""
        return (self.scores is None or self.scores > 0) and (self.attempts is None or self.attempts > 0)

    @property
    def is_limited(self) -> bool:
        """Return whether anything is counted at all."""
        return self.scores is not None


UNLIMITED = Left(None, None, None)


def left(user: Any, split: Split) -> Left:
    """Return what an account may still submit to a split, for which its source counts."""
    if not ladder.is_closed(split):
        return UNLIMITED
    mine = Submission.objects.filter(method__owner=user, split__in=together(split))
    scored, under_way = mine.of_last_day(), mine.under_way().count()
    tried = Attempt.objects.filter(user=user, split__in=together(split), made__gt=from_now(-A_DAY))
    scores, attempts = max(0, SCORED - scored.count() - under_way), max(0, ATTEMPTS - tried.count())
    return Left(scores, attempts, _next(scores, attempts, scored, tried, under_way=under_way))


def _next(scores: int, attempts: int, scored: Any, tried: Any, *, under_way: int) -> datetime | None:
    """Return when the oldest of what counts is a day old, of each limit that is used up."""
    moments = []
    if scores == 0 and not under_way:
        moments.append(scored.aggregate(first=Min("finished"))["first"])
    if attempts == 0:
        moments.append(tried.aggregate(first=Min("made"))["first"])
    known = [moment for moment in moments if moment is not None]
    return max(known) + timedelta(seconds=A_DAY) if known else None


def together(split: Split) -> list[int]:
    """Return the keys of the splits whose submissions count together: all that have the same answers."""
    source = split.source
    return [source.pk, *source.derived.values_list("pk", flat=True)]


def note_attempt(user: Any, split: Split) -> None:
    """Count a file that came."""
    if ladder.is_closed(split):
        Attempt.objects.create(user=user, split=split)
