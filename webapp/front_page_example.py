"""The example question on the front page; its program is shown at the last step that points at objects."""

from typing import NamedTuple

from django.core.cache import cache

from generation.access import Visitor, What, may_see
from generation.browsing.question import Player, QuestionView, show
from generation.engine.errors import EngineError
from generation.models import Dataset, Question, Split

LOOKED_AT = 40  # the first questions of the split, from which the example is chosen
TRIED = 12  # at most this many of these questions are compared: those with the longest programs
STEPS = range(5, 9)  # a program with this many steps is easy to read


class Example(NamedTuple):
    question: Question
    shown: QuestionView
    player: Player


def example_for(user: Visitor) -> Example | None:
    """Return a question of the newest public dataset with pictures, or None if there is no suitable question."""
    split = (
        Split.objects.filter(
            state=Split.State.COMPLETE,
            kind=Split.Kind.GENERATED,
            withheld=False,
            dataset__state=Dataset.State.COMPLETE,
            dataset__visibility=Dataset.Visibility.PUBLIC,
            dataset__with_images=True,
        )
        .select_related("dataset")
        .order_by("-dataset__created", "ordinal")
        .first()
    )
    if split is None:
        return None
    try:
        return _chosen(split, user)
    except (EngineError, OSError):  # this release does not have the dataset's world, or files are missing
        return None


def _chosen(split: Split, user: Visitor) -> Example | None:
    """Return the question of this split whose smallest outlined object is the largest; its position is cached."""
    key = f"example-{split.index_digest}"
    position = cache.get(key)
    if position is not None:
        asked = Question.objects.filter(split=split, position=position).select_related("scene").first()
        return None if asked is None else _example(split, asked, user=user)
    found = [_example(split, asked, user=user) for asked in _readable(split)]
    best = max(filter(None, found), key=_size_of_what_is_outlined, default=None)
    if best is not None:
        cache.set(key, best.question.position)
    return best


def _example(split: Split, asked: Question, *, user: Visitor) -> Example | None:
    """Return a question with its picture and program; None if it has no picture, no outlines or no pointing step."""
    shown = show(split, asked, allowed=[what for what in What if may_see(user, split, what)])
    pointing = [row.number for row in shown.rows if row.elements]
    if shown.picture is None or not shown.has_places or not pointing:
        return None
    return Example(question=asked, shown=shown, player=shown.at(pointing[-1]))


def _size_of_what_is_outlined(example: Example) -> int:
    places = {one.element.id: one.place for one in example.shown.elements}
    outlined = [places[number] for number in example.player.pointed_at]
    return min((place.pixels if place else 0 for place in outlined), default=0)


def _readable(split: Split) -> list[Question]:
    """Return the questions with the longest programs that are still easy to read."""
    questions = Question.objects.filter(split=split, position__lt=LOOKED_AT).exclude(program=None)
    lengths = {question: len(question.steps or ()) for question in questions.select_related("scene")}
    fitting = [question for question, length in lengths.items() if length in STEPS]
    return sorted(fitting, key=lambda question: -lengths[question])[:TRIED]
