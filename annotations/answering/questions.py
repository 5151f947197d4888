"""Chooses the next item of a participant: a question of the sample, a practice or check question, or an attention item.

The items and their places are fixed for each participant, so that reloading a page changes nothing. Practice and check
questions are easy: their text and program are short, and nothing that they ask about is hidden. The world defines what
is short (`World.lengths`) and what is not hidden (`World.is_clear`).
"""

import functools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from django.core.cache import cache
from numpy.typing import NDArray

from annotations.answering import color_vision, slot_assignment
from annotations.answering.answer_forms import form_of, is_told, media_of, plain_form
from annotations.answering.participant_lookup import sealed_split
from annotations.answering.session import QUESTION, SessionItem, Sitting
from annotations.models import EasyAnswer, Participant, Study, StudyQuestion
from annotations.secret_seeds import chance_for
from generation.browsing.stories import lines_of
from generation.engine.items import AnswerForm, AnswerKind
from generation.models import Question, Scene, Split
from generation.storage.items import item_of, question_at
from generation.storage.items import words_at as stored_words_at
from generation.storage.split_index import IndexedFacet, NotIndexed, SplitIndex

TRIES = 2  # the number of tries at practice
WORDS = 5000  # the number of questions that a process caches
STOCK = 20  # this many times the needed number of easy questions are searched for questions that need no colour


class AskedItem(NamedTuple):
    """An item as a participant sees it, and its right answer, which the participant does not see.

    `lines` are the lines of the story that the question may use, or None if there is no story.
    """

    item: SessionItem
    text: str
    form: AnswerForm
    scene: Scene | None
    position: int | None
    right: str | None
    lines: tuple[str, ...] | None = None


class SessionProgress(NamedTuple):
    done: int
    total: int


# The next items


def next_items(sitting: Sitting) -> list[SessionItem]:
    """Return the item that a participant is asked now, and the next item that has a picture.

    Both items belong to the participant from now on. The list has one item if nothing else is left, and is empty at the
    end. The page fetches the picture of the second item in advance. The second item may be a check question: if
    pictures were fetched in advance only for questions of the sample, participants could recognise check questions.
    """
    due = _checks_due(sitting, sitting.answered)
    following = due[1:] if due else _checks_due(sitting, sitting.answered + 1)
    checks = [item for item in following if item.kind == EasyAnswer.Kind.CHECK]
    most = 1 if due or checks else 2
    questions = [SessionItem(QUESTION, question) for question in _questions(sitting, most=most)]
    if not due and not questions:
        return []
    return [*(due or questions)[:1], *[*checks, *(questions if due else questions[1:])][:1]]


def _checks_due(sitting: Sitting, answered: int) -> list[SessionItem]:
    extras = _extras(sitting.participant)
    return [item for place, item in extras if place <= answered and item not in sitting.said]


def _questions(sitting: Sitting, *, most: int) -> list[int]:
    if sitting.participant.is_test:
        return slot_assignment.try_out(sitting.participant, most=most)
    held, given = sitting.held.values(), sitting.given.values()
    found = slot_assignment.claims(sitting.participant, most=most, held=held, given=given)
    sitting.given.update({one.question_id: one.place for one in found})
    return [one.question_id for one in found]


def next_practice(participant: Participant) -> SessionItem:
    return SessionItem(EasyAnswer.Kind.PRACTICE, participant.easy_answers.filter(kind=EasyAnswer.Kind.PRACTICE).count())


def progress(sitting: Sitting) -> SessionProgress:
    total = sitting.study.asked_at_most + sum(1 for _ in _extras(sitting.participant))
    return SessionProgress(len(sitting.said), total)


def items_of(sitting: Sitting) -> Iterator[SessionItem]:
    """Yield all items that were or may be given to the participant. A token can belong to one of these items."""
    for question in reversed(sitting.given):
        yield SessionItem(QUESTION, question)
    for _, item in _extras(sitting.participant):
        yield item
    for number in range(TRIES * practice_of(sitting.study)):
        yield SessionItem(EasyAnswer.Kind.PRACTICE, number)


def practice_of(study: Study) -> int:
    return study.practice if study.easy_id is not None else 0


def _extras(participant: Participant) -> Iterator[tuple[int, SessionItem]]:
    """Yield each check question and attention item, with the number of answers after which it is asked."""
    study = participant.study
    checks = study.checks if study.easy_id is not None else 0
    items = [SessionItem(EasyAnswer.Kind.CHECK, number) for number in range(checks)]
    items += [SessionItem(EasyAnswer.Kind.ATTENTION, number) for number in range(study.attention)]
    chance = chance_for(participant, "places")
    chance.shuffle(items)
    span = max(1, study.asked_at_most - 1)
    for index, item in enumerate(items):
        yield 1 + int((index + chance.random()) * span / len(items)), item


# The content of an item


def look_up(sitting: Sitting, item: SessionItem) -> AskedItem | None:
    """Return an item with its text, its picture or story, and its answers; None if its question does not exist."""
    study = sitting.study
    if item.kind == EasyAnswer.Kind.ATTENTION:
        return _attention(sitting.participant, item)
    if item.kind == QUESTION:
        split: Split | None = study.split
        position = _position(sitting, item.number)
    else:
        split = study.easy
        position = _easy_position(sitting.participant, item)
    row = words_at(split, position) if split is not None else None
    if split is None or row is None:
        return None
    form, lines = form_of(split, row.kind), lines_at(split, position)
    return AskedItem(item, row.text, form, row.scene, position, row.answer, lines)


def words_at(split: Split, position: int) -> Question | None:
    # From a cache, because many people get the same question, and it never changes.
    return _words_at(split.pk, split.index_digest, position)


@functools.lru_cache(maxsize=WORDS)
def _words_at(split: int, digest: str, position: int) -> Question | None:
    return stored_words_at(sealed_split(split, digest), position)


def lines_at(split: Split, position: int) -> tuple[str, ...] | None:
    return _lines_at(split.pk, split.index_digest, position) if is_told(split) else None


@functools.lru_cache(maxsize=WORDS)
def _lines_at(split: int, digest: str, position: int) -> tuple[str, ...] | None:
    sealed = sealed_split(split, digest)
    row = question_at(sealed, position)
    lines = lines_of(row.scene, sealed.dataset) if row is not None else None
    return None if row is None or lines is None else lines[: row.scope]


def _position(sitting: Sitting, question: int) -> int:
    place = sitting.given.get(question)
    return place.position if place is not None else StudyQuestion.objects.get(pk=question).position


def _attention(participant: Participant, item: SessionItem) -> AskedItem:
    """Return an item whose text says which button to press; the buttons are those of a random question of the study."""
    study = participant.study
    chance = chance_for(participant, f"attention {item.number}")
    positions = list(study.questions.values_list("position", flat=True)[:100])
    row = words_at(study.split, chance.choice(positions)) if positions else None
    form = plain_form(form_of(study.split, row.kind if row is not None else ""))
    if not form.choices:
        form = AnswerForm(AnswerKind.YES_NO, ("yes", "no"), {})
    wanted = chance.choice(form.choices)
    noun = media_of(study.split).noun
    text = f"This question has no {noun}. It checks that you read every question: please press “{wanted}”."
    return AskedItem(item, text, form._replace(instruction=""), None, None, wanted)


def _easy_position(participant: Participant, item: SessionItem) -> int:
    """Return the position of an item's question in the easy split; a participant's items differ if there are enough."""
    study = participant.study
    assert study.easy is not None
    least = TRIES * study.practice + study.checks
    if color_vision.gets_colour_free(participant):
        stock = STOCK * least
        drawn = [_draw_easy(participant, study.easy, least=one, wanted=stock) for one in (least, stock)]
        plain = (color_vision.without_colours(study.easy, some) for some in drawn)
        chosen = next((some for some in plain if some), drawn[0])
    else:
        chosen = _draw_easy(participant, study.easy, least=least, wanted=least)
    place = item.number + (TRIES * study.practice if item.kind == EasyAnswer.Kind.CHECK else 0)
    return chosen[place % len(chosen)]


def _draw_easy(participant: Participant, split: Split, *, least: int, wanted: int) -> list[int]:
    found = positions(split, least=least)
    drawn = chance_for(participant, "easy").sample(range(len(found)), min(wanted, len(found)))
    return [int(found[number]) for number in drawn]


LOOKED_AT = 200  # scenes that are checked, evenly spaced: enough for any session, and it takes about a second
KEPT = 7 * 24 * 3600  # seconds for which the clear scenes of a split are cached
SOME = 50  # scenes that are read at once

Positions = NDArray[np.int64]


class Easy(NamedTuple):
    clear: Positions  # short questions about clear scenes
    short: Positions
    by_length: Positions  # all questions, the shortest first


def positions(split: Split, *, least: int) -> Positions:
    """Return the positions of at least `least` easy questions of a split, or of all if the split has fewer.

    These are the short questions about clear scenes. If they are too few, these are all short questions, and if these
    are too few, the shortest questions.
    """
    clear, short, by_length = _found(split.pk, split.index_digest)
    return next((some for some in (clear, short) if len(some) >= least), by_length[:least])


@functools.lru_cache(maxsize=100)
def _found(key: int, digest: str) -> Easy:
    """Return the easy questions of a sealed split. The process caches them; the shared cache has the clear scenes."""
    split = Split.objects.for_browse().get(pk=key)
    try:
        index = SplitIndex.open(split)
    except NotIndexed:
        nothing = np.arange(0)
        return Easy(nothing, nothing, np.arange(split.questions))
    limits = split.dataset.get_world().lengths
    lengths = _lengths(index, limits)
    short = np.flatnonzero(lengths <= 1).astype(np.int64)
    by_length = np.argsort(lengths, kind="stable").astype(np.int64)
    name = f"easy-scenes-{digest}-{'-'.join(map(str, limits.values()))}"
    clear: list[int] | None = cache.get(name)
    if clear is None:
        clear = _clear(split, np.unique(index.scenes[short]))
        cache.set(name, clear, KEPT)
    return Easy(short[np.isin(index.scenes[short], clear)], short, by_length)


def _lengths(index: SplitIndex, limits: Mapping[str, int]) -> NDArray[np.float64]:
    """Return the length of each question, shape (questions,): the largest ratio of one of its numbers to its limit.

    Facets that no question of the split has are ignored. If a question lacks a number that other questions have, its
    length is infinite.
    """
    longest = np.zeros(index.n)
    for name, most in limits.items():
        facet = index.facets.get(name)
        if facet is not None and (facet.codes != facet.none).any():
            longest = np.maximum(longest, _numbers(facet)[facet.codes] / most)
    return longest


def _numbers(facet: IndexedFacet) -> NDArray[np.float64]:
    table = np.full(facet.none + 1, np.inf)
    table[: len(facet.values)] = [int(value) for value in facet.values]
    return table


def _clear(split: Split, scenes: NDArray[np.uint32]) -> list[int]:
    """Check up to `LOOKED_AT` of the scenes, and return those that are clear or of which this is not known."""
    looked = scenes[np.linspace(0, len(scenes) - 1, min(LOOKED_AT, len(scenes)), dtype=np.int64)].tolist()
    world, spec = split.dataset.get_world(), split.read_spec()
    rows = Scene.objects.filter(split=split.source, position__in=looked).order_by("position")
    read = rows.iterator(chunk_size=SOME)
    return [row.position for row in read if world.is_clear(spec, item_of(row, world=world)) is not False]
