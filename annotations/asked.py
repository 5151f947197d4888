"""What somebody is asked next: questions of the sample, and between them some that show who reads.

Where those stand depends on the participant alone, so that loading a page again changes nothing.
"""

import functools
import random
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations import assign, colours, palette
from annotations.choices import form_of
from annotations.models import Answer, AnswerQuerySet, EasyAnswer, Participant, Study, StudyQuestion
from generation import rows
from generation.engine.worlds import AnswerForm, AnswerKind
from generation.index import NotIndexed, Range, SplitIndex
from generation.models import Scene, Split

TRIES = 2  # at practice
EASY_LENGTH, LENGTH = 6, "length"
STOCK = 20  # times as many easy questions are looked through for those that need no colour
QUESTION = "question"


class Item(NamedTuple):
    """Something that is asked: a question of the sample by its number there, else which of its kind it is."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.number}"

    @classmethod
    def read(cls, text: str) -> "Item":
        """Return the item that was written so."""
        kind, _, number = text.partition(":")
        return cls(kind, int(number))


class Asked(NamedTuple):
    """An item as a participant sees it, and what only the site knows of it: `right`."""

    item: Item
    text: str
    form: AnswerForm
    scene: Scene | None
    position: int | None
    right: str | None


class Progress(NamedTuple):
    """How many of a session's questions are answered."""

    done: int
    total: int


# What comes next


def next_item(participant: Participant) -> Item | None:
    """Return what a participant who is at the questions is asked now; None where nothing is left for them."""
    answered = answered_of(participant).count()
    for place, item in _extras(participant):
        if place <= answered and not participant.easy_answers.filter(kind=item.kind, number=item.number).exists():
            return item
    return next_question(participant)


def next_question(participant: Participant, *, besides: Item | None = None) -> Item | None:
    """Return the question of the sample that comes next, or after one that has come; it is theirs now."""
    waiting = [besides.number] if besides is not None else []
    if participant.is_test:
        question = assign.try_out(participant, besides=waiting)
        return None if question is None else Item(QUESTION, question.pk)
    slot = assign.claim(participant, besides=waiting)
    return None if slot is None else Item(QUESTION, slot.question_id)


def next_practice(participant: Participant) -> Item:
    """Return the practice question that comes next."""
    return Item(EasyAnswer.Kind.PRACTICE, participant.easy_answers.filter(kind=EasyAnswer.Kind.PRACTICE).count())


def last_answer(participant: Participant) -> Answer | None:
    """Return the answer that was given last and can be undone; None where something else was answered since."""
    last = answered_of(participant).order_by("-received", "-pk").first()
    easy = participant.easy_answers.order_by("-pk").first()
    return None if last is None or (easy is not None and easy.received > last.received) else last


def progress(participant: Participant) -> Progress:
    """Return how far a participant is with the questions and what stands between them."""
    study = participant.study
    extras = participant.easy_answers.exclude(kind=EasyAnswer.Kind.PRACTICE).count()
    total = study.asked_at_most + len(list(_extras(participant)))
    return Progress(answered_of(participant).count() + extras, total)


def answered_of(participant: Participant) -> AnswerQuerySet:
    """Return a participant's answers to questions of the sample, as they stand."""
    return Answer.objects.current().filter(participant=participant)


def items_of(participant: Participant) -> Iterator[Item]:
    """Yield everything that a participant was given or will be for practice or to be checked: what tokens may name."""
    for question in participant.given.order_by("-pk").values_list("question", flat=True):
        yield Item(QUESTION, question)
    for _, item in _extras(participant):
        yield item
    for number in range(TRIES * practice_of(participant.study)):
        yield Item(EasyAnswer.Kind.PRACTICE, number)


def practice_of(study: Study) -> int:
    """Return how many practice questions a try has."""
    return study.practice if study.easy is not None else 0


def _extras(participant: Participant) -> Iterator[tuple[int, Item]]:
    """Yield each check question and attention item, and after how many answers it comes."""
    study = participant.study
    checks = study.checks if study.easy is not None else 0
    items = [Item(EasyAnswer.Kind.CHECK, number) for number in range(checks)]
    items += [Item(EasyAnswer.Kind.ATTENTION, number) for number in range(study.attention)]
    chance = random.Random(f"places {participant.secret}")  # noqa: S311 - decides nothing but an order
    chance.shuffle(items)
    span = max(1, study.asked_at_most - 1)
    for index, item in enumerate(items):
        yield 1 + int((index + chance.random()) * span / len(items)), item


# What it is


def look_up(participant: Participant, item: Item) -> Asked | None:
    """Return an item with its text, picture and answers; None where its question is gone."""
    study = participant.study
    if item.kind == EasyAnswer.Kind.ATTENTION:
        return _attention(participant, item)
    if item.kind == QUESTION:
        split: Split | None = study.split
        position = StudyQuestion.objects.values_list("position", flat=True).get(pk=item.number)
    else:
        split = study.easy
        position = _easy_position(participant, item)
    row = rows.question_at(split, position) if split is not None else None
    if split is None or row is None:
        return None
    return Asked(item, row.text, form_of(split, row.kind), row.scene, position, row.answer)


def _attention(participant: Participant, item: Item) -> Asked:
    """Return words that say which button to press; the buttons are those of some question of the study."""
    study = participant.study
    chance = random.Random(f"attention {item.number} {participant.secret}")  # noqa: S311 - as above
    positions = list(study.questions.values_list("position", flat=True)[:100])
    row = rows.question_at(study.split, chance.choice(positions)) if positions else None
    form = form_of(study.split, row.kind if row is not None else "")
    if not form.choices:
        form = AnswerForm(AnswerKind.YES_NO, ("yes", "no"), {})
    wanted = chance.choice(form.choices)
    text = f"This one has no picture. It shows us that you read every question: please press “{wanted}”."
    return Asked(item, text, form, None, None, wanted)


def _easy_position(participant: Participant, item: Item) -> int:
    """Return which question of the easy split an item is; each is another one, as long as there are enough."""
    study = participant.study
    assert study.easy is not None
    is_spared = palette.is_spared(participant)
    wanted = (TRIES * study.practice + study.checks) * (STOCK if is_spared else 1)
    easy = easy_positions(study.easy, least=wanted)
    chance = random.Random(f"easy {participant.secret}")  # noqa: S311 - as above
    drawn = chance.sample(range(len(easy)), min(wanted, len(easy)))
    chosen = [int(easy[number]) for number in drawn]
    if is_spared:
        chosen = colours.without_colours(study.easy, chosen) or chosen
    place = item.number + (TRIES * study.practice if item.kind == EasyAnswer.Kind.CHECK else 0)
    return chosen[place % len(chosen)]


def easy_positions(split: Split, *, least: int) -> NDArray[np.int64]:
    """Return the questions of a split that are easy: of short programs; all, where these are too few."""
    found = _of_short_programs(split.pk, split.index_digest)
    return found if len(found) >= least else np.arange(split.questions)


@functools.lru_cache(maxsize=100)
def _of_short_programs(key: int, digest: str) -> NDArray[np.int64]:
    """Return the questions of a sealed split whose programs are short; found once a process."""
    try:
        index = SplitIndex.open(Split.objects.get(pk=key))
    except NotIndexed:
        return np.arange(0)
    return index.select({LENGTH: Range(None, EASY_LENGTH)}) if LENGTH in index.facets else np.arange(0)
