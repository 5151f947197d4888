"""Response times by the site's clock: the times that pay, exclusion rules and results use.

A participant's browser reports how long a question was visible. The report is stored as it came, but it counts only up
to a limit that the site knows by itself. That limit runs from when the question was first shown in the session, or from
the participant's previous answer if that came later, until the answer arrived, all by the database's clock. So the
counted times of a session never overlap, whatever is reported, however many tabs are open, and however often a question
is reloaded or its answer changed.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotations.answering.prepared_statements import insert_once
from annotations.answering.session import QUESTION, SessionItem
from annotations.models import Answer, EasyAnswer, Participant, Showing, Study

MILLISECOND = timedelta(milliseconds=1)
LONGEST_REPORT = 86_400_000  # milliseconds, a day


class ReportedAnswer(NamedTuple):
    """An answer with the time that the browser reports: milliseconds, or None if the report is not usable."""

    item: SessionItem
    key: int
    turn: int
    visible: int | None
    received: datetime
    superseded: bool


class CountedTime(NamedTuple):
    """Counted times in milliseconds.

    Attributes
    ----------
    answers, easy : dict
        By the key of an `Answer` or `EasyAnswer`. A superseded answer counts 0: its time is in the current answer.
    people : dict
        By the key of a participant, the sum of their times.
    """

    answers: dict[int, int]
    easy: dict[int, int]
    people: dict[int, int]


def report_of(text: str) -> int | None:
    """Return the milliseconds that a browser reports, or None unless they are a whole number from 0 to one day."""
    is_number = text.isascii() and text.isdigit() and len(text) <= 15
    return int(text) if is_number and int(text) <= LONGEST_REPORT else None


def record_showing(participant: Participant, item: SessionItem) -> None:
    """Store that an item is shown to a participant now, unless it was shown before."""
    insert_once(Showing(participant=participant, kind=item.kind, number=item.number))


def count_time(study: Study, *, people: Iterable[int] | None = None) -> CountedTime:
    """Return the counted times of a study's answers, or only of some participants, given by their keys."""
    whose: dict[str, Any] = {"participant__study": study}
    if people is not None:
        whose["participant__in"] = list(people)
    rows: dict[int, list[ReportedAnswer]] = defaultdict(list)
    for who, row in [*_answers(Answer.objects.filter(**whose)), *_easy(EasyAnswer.objects.filter(**whose))]:
        rows[who].append(row)
    shown: dict[int, dict[SessionItem, datetime]] = defaultdict(dict)
    for who, kind, number, at in Showing.objects.filter(**whose).values_list("participant", "kind", "number", "at"):
        shown[who][SessionItem(kind, number)] = at
    found = CountedTime({}, {}, {})
    for who, theirs in rows.items():
        times = count(theirs, shown[who], longest=60_000 * study.lease_minutes)
        for row in theirs:
            kept = found.answers if row.item.kind == QUESTION else found.easy
            kept[row.key] = 0 if row.superseded else times[row.item]
        found.people[who] = sum(times.values())
    return found


def _answers(rows: "QuerySet[Answer]") -> Iterable[tuple[int, ReportedAnswer]]:
    fields = ("participant", "question", "pk", "turn", "visible", "received", "superseded")
    for who, question, *rest in rows.values_list(*fields).iterator():
        yield who, ReportedAnswer(SessionItem(QUESTION, question), *rest)


def _easy(rows: "QuerySet[EasyAnswer]") -> Iterable[tuple[int, ReportedAnswer]]:
    fields = ("participant", "kind", "number", "pk", "turn", "visible", "received", "superseded")
    for who, kind, number, *rest in rows.values_list(*fields).iterator():
        yield who, ReportedAnswer(SessionItem(kind, number), *rest)


def count(
    rows: Iterable[ReportedAnswer], shown: Mapping[SessionItem, datetime], *, longest: int
) -> dict[SessionItem, int]:
    """Return the counted milliseconds of each item that one participant answered.

    Parameters
    ----------
    rows : iterable of Reported
        All answers of the participant, superseded ones included.
    shown : mapping of Item to datetime
        When each item was first shown. An item that was never shown counts 0.
    longest : int
        Upper limit for one item, in milliseconds.
    """
    times: dict[SessionItem, int] = {}
    turns: dict[SessionItem, int] = {}
    before: datetime | None = None
    for row in sorted(rows, key=lambda row: (row.received, row.key)):
        begin = shown.get(row.item, row.received)
        if before is not None:
            begin = max(begin, before)
        span = max(0, (row.received - begin) // MILLISECOND)
        if row.turn < turns.get(row.item, 0):  # it arrived after the answer that replaces it
            span = 0
        time = span if row.visible is None else min(row.visible, span)
        times[row.item] = min(longest, times.get(row.item, 0) + time)
        turns[row.item] = max(row.turn, turns.get(row.item, 0))
        before = row.received
    return times
