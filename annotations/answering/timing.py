"""Counted times: the response times that pay, exclusion rules and results use, limited by the site's own clock.

A participant's browser reports how long a question was visible. The report is stored unchanged, but it counts only up
to a limit that the site measures itself, by the database's clock. This limit is the time from the first showing of the
question in the session, or from the participant's previous answer if that came later, until the answer arrived.
Therefore the counted times of a session never overlap, even if the reports are wrong, several tabs are open, or a
question is reloaded or its answer is changed many times.
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
LONGEST_REPORT = 86_400_000  # milliseconds: one day


class ReportedAnswer(NamedTuple):
    """An answer with the time that the browser reported, in milliseconds, or None if the report is not usable."""

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
        The time of each answer, by the key of the `Answer` or `EasyAnswer`. The time of a superseded answer is 0,
        because it is included in the time of the current answer.
    people : dict
        The sum of each participant's times, by the participant's key.
    """

    answers: dict[int, int]
    easy: dict[int, int]
    people: dict[int, int]


def reported_milliseconds(text: str) -> int | None:
    is_number = text.isascii() and text.isdigit() and len(text) <= 15
    return int(text) if is_number and int(text) <= LONGEST_REPORT else None


def record_first_showing(participant: Participant, item: SessionItem) -> None:
    insert_once(Showing(participant=participant, kind=item.kind, number=item.number))


def count_time(study: Study, *, people: Iterable[int] | None = None) -> CountedTime:
    """Return the counted times of a study's answers, or only of the participants with the keys `people`."""
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
    rows : iterable of ReportedAnswer
        All answers of the participant, including superseded ones.
    shown : mapping of SessionItem to datetime
        The time when each item was first shown. The counted time of an item that was never shown is 0.
    longest : int
        The upper limit for one item, in milliseconds.
    """
    times: dict[SessionItem, int] = {}
    turns: dict[SessionItem, int] = {}
    before: datetime | None = None
    for row in sorted(rows, key=lambda row: (row.received, row.key)):
        begin = shown.get(row.item, row.received)
        if before is not None:
            begin = max(begin, before)
        span = max(0, (row.received - begin) // MILLISECOND)
        if row.turn < turns.get(row.item, 0):  # this answer arrived after the answer that replaces it
            span = 0
        time = span if row.visible is None else min(row.visible, span)
        times[row.item] = min(longest, times.get(row.item, 0) + time)
        turns[row.item] = max(row.turn, turns.get(row.item, 0))
        before = row.received
    return times
