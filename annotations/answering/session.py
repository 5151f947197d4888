"""One participant's sitting: what they were given and what they answered, read once for a request."""

import itertools
import uuid
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotations.answering import slots
from annotations.answering.prepared import Asking, Prepared, ask_together
from annotations.answering.slots import Claim, Place
from annotations.models import Answer, EasyAnswer, Participant, Study

QUESTION = "question"
CHECKING = (EasyAnswer.Kind.CHECK, EasyAnswer.Kind.ATTENTION)


class Item(NamedTuple):
    """Something that is asked: a question of the sample by its number there, else which of its kind it is."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.number}"

    @classmethod
    def read(cls, text: str) -> "Item":
        kind, _, number = text.partition(":")
        return cls(kind, int(number))


class GivenAnswer(NamedTuple):
    """An answer as it stands: to what, the answer or nothing but a reason against, how often it was given anew."""

    item: Item
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
    """What a participant did so far. Whoever stores an answer reads it anew, or says so with `note`."""

    def __init__(self, participant: Participant) -> None:
        self.participant = participant

    @property
    def study(self) -> Study:
        return self.participant.study

    @cached_property
    def given(self) -> dict[int, Place]:
        """Return the questions of the sample that were given to them, by number, in that order."""
        return _by_question(slots.asking_given(self.participant).rows())

    @cached_property
    def held(self) -> dict[int, Claim]:
        """Return the slots that are theirs and wait for an answer, by question, in order of claim."""
        return _by_claim(slots.asking_held(self.participant).rows())

    @cached_property
    def said(self) -> dict[Item, GivenAnswer]:
        return self._said(Asking(_ANSWERS, (self.participant.pk,)).rows())

    def read(self) -> None:
        """Read all of it at once, for a request that needs all."""
        mine = self.participant
        asked = (slots.asking_given(mine), slots.asking_held(mine), Asking(_ANSWERS, (mine.pk,)))
        given, held, said = ask_together(*asked)
        self.given, self.held, self.said = _by_question(given), _by_claim(held), self._said(said)

    def _said(self, rows: list[tuple[Any, ...]]) -> dict[Item, GivenAnswer]:
        found = [GivenAnswer(Item(QUESTION, question), *rest) for question, *rest in rows]
        if self.study.checks or self.study.attention:
            checks = _CHECKS.ask(self.participant.pk)
            found += [GivenAnswer(Item(kind, number), *rest) for kind, number, *rest in checks]
        return {said.item: said for said in found}

    @property
    def answered(self) -> int:
        return sum(item.kind == QUESTION for item in self.said)

    @cached_property
    def last(self) -> GivenAnswer | None:
        """Return what was answered last; None at the beginning."""
        return max(self.said.values(), key=lambda said: said.received, default=None)

    def note(self, said: GivenAnswer) -> None:
        """Know an answer that was stored just now."""
        self.said[said.item] = said
        self.last = said
        if said.item.kind == QUESTION:
            self.held.pop(said.item.number, None)


def _by_question(rows: list[tuple[Any, ...]]) -> dict[int, Place]:
    return {place.question: place for place in itertools.starmap(Place, rows)}


def _by_claim(rows: list[tuple[Any, ...]]) -> dict[int, Claim]:
    return {one.question_id: one for one in itertools.starmap(Claim, rows)}
