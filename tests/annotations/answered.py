"""Studies with random answers of random participants."""

import random
import uuid
from datetime import UTC, datetime, timedelta
from itertools import starmap
from typing import Any

from django.db.models import Max, QuerySet
from django.utils import timezone

from annotations.answering import slot_assignment
from annotations.answering.session import QUESTION
from annotations.answering.slot_assignment import Claim
from annotations.models import Answer, Baseline, Given, Participant, Showing, Slot, Study
from annotations.results import baseline
from generation.engine.scoring.score import score
from generation.models import Dataset, Split
from generation.reports.scoring import truth_of
from generation.storage.split_index import SplitIndex
from webapp.models import User

WORDS = ("yes", "no", "7", "9", "17", "18")
REASONS = Answer.Refusal.values
BEGAN = datetime(2026, 3, 2, 12, tzinfo=UTC)


def owner() -> User:
    return User.objects.get_or_create(username="rosa")[0]


def opened(split: Split, positions: list[int], **options: Any) -> Study:
    """Return an open study of some of a split's questions."""
    study = Study.objects.create(split=split, owner=owner(), title="How well people count", **options)
    scenes = SplitIndex.open(split).scenes
    slot_assignment.lay_out(study, [(one, int(scenes[one])) for one in positions], ranks=range(len(positions)))
    return study


def held_by(person: Participant) -> list[Claim]:
    """Return the slots that a person holds."""
    return list(starmap(Claim, slot_assignment.asking_held(person).rows()))


def claims_of(person: Participant, *, most: int = 1) -> list[Claim]:
    """Return up to `most` slots that a person holds; slots that nobody holds are claimed."""
    given = slot_assignment.given_to(person)
    return slot_assignment.claims(person, most=most, held=held_by(person), given=given)


def surplus() -> "QuerySet[Answer]":
    """Return the answers that are paid, but do not count."""
    return Answer.objects.current().filter(slot=None, participant__is_test=False)


def shown_for(
    person: Participant, kind: str, number: int, *, milliseconds: int | None, received: datetime | None = None
) -> datetime:
    """Store that an item was shown to a person so many milliseconds before its answer; return when the answer came.

    Without `received`, the answer comes now, but after the earlier answers of the person.
    """
    time = timedelta(milliseconds=milliseconds or 0)
    if received is None:
        mine = [rows.aggregate(last=Max("received"))["last"] for rows in (person.answers, person.easy_answers)]
        received = max([timezone.now(), *(one for one in mine if one is not None)]) + time
    shown = Showing(participant=person, kind=kind, number=number, at=received - time)
    Showing.objects.bulk_create([shown], ignore_conflicts=True)  # one query, where `get_or_create` takes four
    return received


def put(
    person: Participant, study: Study, position: int, text: str, *, number: int | None = None, **more: Any
) -> Answer:
    """Store an answer and return it: it fills the slot with this number, or is surplus if no number is given."""
    question = study.questions.get(position=position)
    slot = None if number is None else Slot.objects.get(question=question, number=number)
    Given.objects.bulk_create([Given(participant=person, question=question)], ignore_conflicts=True)
    values = {"visible": 4000, "idle": 0, "claimed": BEGAN + timedelta(seconds=Answer.objects.count()), **more}
    moment = shown_for(
        person, QUESTION, question.pk, milliseconds=values["visible"], received=more.get("received")
    )  # fmt: skip
    values["received"] = moment
    row = Answer.objects.create(
        participant=person, question=question, slot=slot, client=uuid.uuid4(), text=text, **values
    )  # fmt: skip
    if slot is not None:
        Slot.objects.filter(pk=slot.pk).update(answered=True, participant=person)
    return row


def answered(dataset: Dataset, chance: random.Random, *, split: str = "val", people: int = 5) -> Study:
    """Return a study of a small dataset whose slots are mostly filled, with right answers, wrong ones or refusals."""
    chosen = dataset.splits.get(name=split)
    index = SplitIndex.open(chosen)
    known = [one for one in range(index.n) if int(index.answers[one]) < len(index.answer_values)]
    positions = sorted(chance.sample(known, chance.randint(1, len(known))))
    study = opened(chosen, positions, per_question=chance.randint(1, 3))
    crowd = [Participant.objects.create(study=study) for _ in range(people)]
    tester = Participant.objects.create(study=study, is_test=True)
    for position in positions:
        right = index.answer_values[int(index.answers[position])]
        answering = chance.sample(crowd, study.per_question + 1)
        for number, person in enumerate(answering):
            refusal = chance.choice(REASONS) if chance.random() < 0.15 else ""
            text = "" if refusal else right if chance.random() < 0.5 else chance.choice(WORDS)
            is_surplus = number == study.per_question
            if chance.random() < 0.85:
                put(
                    person, study, position, text, refusal=refusal, visible=chance.randint(500, 9000),
                    number=None if is_surplus else number,
                )  # fmt: skip
        if chance.random() < 0.3:
            put(tester, study, position, right)
    return study


def delete(study: Study) -> None:
    """Delete a study with its answers and its owner."""
    of_people = {"participant__study": study}
    for model in (Answer, Showing, Given):
        model.objects.filter(**of_people).delete()
    study.slots.all().delete()
    study.participants.all().delete()
    owner = study.owner
    study.delete()
    owner.delete()


def rescored(row: Baseline) -> tuple[int, int]:
    """Score a published baseline with the scorer of models; return the number of right answers and of all answers."""
    arrays = baseline.load(row)
    found = score(arrays.predictions, truth_of(SplitIndex.open(row.split)), {}, among=arrays.asked)
    return int(found.right), found.n
