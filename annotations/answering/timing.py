"""How long answers took by the site's clock: what pay, exclusion rules and results go by.

A participant's browser reports for how long a question was visible. The report is kept as it came, but it counts for
no longer than the site can vouch for: from the moment when the question was first shown in the session, or from the
participant's answer before if that came later, until the answer arrived, all by the database's clock. So the counted
times of a session never overlap, whatever is reported, however many tabs are open, and however often a question is
loaded again or answered anew.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotations.answering.prepared import insert_once
from annotations.answering.session import QUESTION, Item
from annotations.models import Answer, EasyAnswer, Participant, Showing, Study

MILLISECOND = timedelta(milliseconds=1)
LONGEST_REPORT = 86_400_000  # milliseconds, a day


class Reported(NamedTuple):
    """An answer, with what its sender's browser says of the time: milliseconds, or None for no usable report."""

    item: Item
    key: int
    turn: int
    visible: int | None
    received: datetime
    superseded: bool


class CountedTime(NamedTuple):
    """Milliseconds that count.

    Attributes
    ----------
    answers, easy : dict
        By the key of an `Answer` and of an `EasyAnswer`. An answer that another one replaced counts 0: its time is
        part of the one that stands.
    people : dict
        By the key of a participant, all of it together.
    """

    answers: dict[int, int]
    easy: dict[int, int]
    people: dict[int, int]


def report_of(text: str) -> int | None:
    """Return the milliseconds that a browser reports; None for whatever is no whole number from 0 to a day."""
    is_number = text.isascii() and text.isdigit() and len(text) <= 15
    return int(text) if is_number and int(text) <= LONGEST_REPORT else None


def record_showing(participant: Participant, item: Item) -> None:
    """Store that an item is shown to a participant now; only the first time counts."""
    insert_once(Showing(participant=participant, kind=item.kind, number=item.number))


def counted(study: Study, *, people: Iterable[int] | None = None) -> CountedTime:
    """Return the times of a study's answers, or of those of some participants by their keys."""
    whose: dict[str, Any] = {"participant__study": study}
    if people is not None:
        whose["participant__in"] = list(people)
    rows: dict[int, list[Reported]] = defaultdict(list)
    for who, row in [*_answers(Answer.objects.filter(**whose)), *_easy(EasyAnswer.objects.filter(**whose))]:
        rows[who].append(row)
    shown: dict[int, dict[Item, datetime]] = defaultdict(dict)
    for who, kind, number, at in Showing.objects.filter(**whose).values_list("participant", "kind", "number", "at"):
        shown[who][Item(kind, number)] = at
    found = CountedTime({}, {}, {})
    for who, theirs in rows.items():
        times = count(theirs, shown[who], longest=60_000 * study.lease_minutes)
        for row in theirs:
            kept = found.answers if row.item.kind == QUESTION else found.easy
            kept[row.key] = 0 if row.superseded else times[row.item]
        found.people[who] = sum(times.values())
    return found


def _answers(rows: "QuerySet[Answer]") -> Iterable[tuple[int, Reported]]:
    fields = ("participant", "question", "pk", "turn", "visible", "received", "superseded")
    for who, question, *rest in rows.values_list(*fields).iterator():
        yield who, Reported(Item(QUESTION, question), *rest)


def _easy(rows: "QuerySet[EasyAnswer]") -> Iterable[tuple[int, Reported]]:
    fields = ("participant", "kind", "number", "pk", "turn", "visible", "received", "superseded")
    for who, kind, number, *rest in rows.values_list(*fields).iterator():
        yield who, Reported(Item(kind, number), *rest)


def count(rows: Iterable[Reported], shown: Mapping[Item, datetime], *, longest: int) -> dict[Item, int]:
    """Return the milliseconds that count for each item that one participant answered.

    Parameters
    ----------
    rows : iterable of Reported
        All answers of the participant, those that were replaced among them.
    shown : mapping of Item to datetime
        When each item was first shown. One that never was counts 0.
    longest : int
        The most that one item counts, in milliseconds.
    """
    times: dict[Item, int] = {}
    turns: dict[Item, int] = {}
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
