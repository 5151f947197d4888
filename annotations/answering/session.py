"""A participant's session: the questions that were given to them, and their answers, read once per request."""

import itertools
import uuid
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotations.answering import slot_assignment
from annotations.answering.prepared_statements import Asking, Prepared, ask_together
from annotations.answering.slot_assignment import Claim, QuestionPlace
from annotations.models import Answer, EasyAnswer, Participant, Study

QUESTION = "question"
CHECKING = (EasyAnswer.Kind.CHECK, EasyAnswer.Kind.ATTENTION)


class SessionItem(NamedTuple):
    """An item of a session: its kind and its number.

    For a question of the sample, `number` is the key of its `StudyQuestion`. For other items, it is the item's number
    among the items of its kind, from 0.
    """

    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.number}"

    @classmethod
    def read(cls, text: str) -> "SessionItem":
        kind, _, number = text.partition(":")
        return cls(kind, int(number))


class GivenAnswer(NamedTuple):
    """A participant's current answer to an item; `text` is empty if they gave a reason instead of an answer.

    `turn` counts how often the participant changed the answer.
    """

    item: SessionItem
    text: str
    turn: int
    client: uuid.UUID
    received: datetime


REST = ("text", "turn", "client", "received")


def _answers(participant: int) -> "QuerySet[Answer, tuple[Any, ...]]":
    rows = Answer.objects.current().filter(participant=participant).order_by()
    return rows.values_list("question", *REST)


def _checks(participant: int) -> "QuerySet[EasyAnswer, tuple[Any, ...]]":
    rows = EasyAnswer.objects.current().filter(participant=participant, kind__in=CHECKING).order_by()
    return rows.values_list("kind", "number", *REST)


_ANSWERS, _CHECKS = Prepared(_answers), Prepared(_checks)


class Sitting:
    """The questions that were given to a participant, and the participant's answers so far.

    Code that stores an answer must call `note`, or read the session again.
    """

    def __init__(self, participant: Participant) -> None:
        self.participant = participant

    @property
    def study(self) -> Study:
        return self.participant.study

    @cached_property
    def given(self) -> dict[int, QuestionPlace]:
        return _by_question(slot_assignment.asking_given(self.participant).rows())

    @cached_property
    def held(self) -> dict[int, Claim]:
        return _by_claim(slot_assignment.asking_held(self.participant).rows())

    @cached_property
    def said(self) -> dict[SessionItem, GivenAnswer]:
        return self._answers_by_item(Asking(_ANSWERS, (self.participant.pk,)).rows())

    def read(self) -> None:
        """Read all parts of the session at once, for a request that needs all of them."""
        mine = self.participant
        asked = (slot_assignment.asking_given(mine), slot_assignment.asking_held(mine), Asking(_ANSWERS, (mine.pk,)))
        given, held, said = ask_together(*asked)
        self.given, self.held, self.said = _by_question(given), _by_claim(held), self._answers_by_item(said)

    def _answers_by_item(self, rows: list[tuple[Any, ...]]) -> dict[SessionItem, GivenAnswer]:
        found = [GivenAnswer(SessionItem(QUESTION, question), *rest) for question, *rest in rows]
        if self.study.checks or self.study.attention:
            checks = _CHECKS.ask(self.participant.pk)
            found += [GivenAnswer(SessionItem(kind, number), *rest) for kind, number, *rest in checks]
        return {said.item: said for said in found}

    @property
    def answered(self) -> int:
        return sum(item.kind == QUESTION for item in self.said)

    @cached_property
    def last(self) -> GivenAnswer | None:
        return max(self.said.values(), key=lambda said: said.received, default=None)

    def note(self, said: GivenAnswer) -> None:
        """Add an answer that was just stored."""
        self.said[said.item] = said
        self.last = said
        if said.item.kind == QUESTION:
            self.held.pop(said.item.number, None)


def _by_question(rows: list[tuple[Any, ...]]) -> dict[int, QuestionPlace]:
    return {place.question: place for place in itertools.starmap(QuestionPlace, rows)}


def _by_claim(rows: list[tuple[Any, ...]]) -> dict[int, Claim]:
    return {one.question_id: one for one in itertools.starmap(Claim, rows)}
