"""Stored scenes and questions as the engine's items, and questions of a split by their positions.

The questions of a derived split are rows of its parent, with their positions changed to those of the derived split.
Rows with changed positions must never be saved.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine import worlds as engine
from generation.engine.program import from_text
from generation.models import Question, Scene, Split, find_one
from generation.storage.split_index import SplitIndex


def questions_at(split: Split, positions: list[int]) -> list[Question]:
    """Return the questions at these positions, in the given order, with the data of their scenes that a list shows."""
    if not split.is_derived:
        return Question.objects.for_browse(split, positions)
    rows = Question.objects.for_browse(split.source, SplitIndex.open(split).in_source(positions))
    return list(_renumbered(split, rows))


def in_full(split: Split, positions: list[int]) -> list[Question]:
    """Return the questions at these positions, in the given order, with all their data except their scenes.

    For a world of stories the scenes are included.
    """
    at = SplitIndex.open(split).in_source(positions) if split.is_derived else positions
    found = Question.objects.filter(split=split.source, position__in=at).select_related("scene")
    found = found.defer("scene__view") if split.dataset.tells else found.defer("scene__data", "scene__view")
    by_position = {row.position: row for row in found}
    rows = [(place, by_position[source]) for place, source in zip(positions, at, strict=True) if source in by_position]
    for place, row in rows:
        row.position = place
    return [row for _, row in rows]


def question_at(split: Split, position: int) -> Question | None:
    """Return one question with its scene; None if there is none."""
    at = position_in_source(split, position)
    if at is None:
        return None
    found = find_one(Question.objects.filter(split=split.source, position=at).select_related("scene"))
    if found is not None:
        found.position = position
    return found


def words_at(split: Split, position: int) -> Question | None:
    """Return one question with only its text, kind, answer and picture, which is fast; None if there is none."""
    at = position_in_source(split, position)
    if at is None:
        return None
    picture = (f"scene__{name}" for name in ("image", "linked", "width", "height"))
    found = Question.objects.filter(split_id=split.parent_id or split.pk, position=at).select_related("scene")
    return find_one(found.only("text", "kind", "answer", *picture))


def others_of(split: Split, asked: Question) -> list[Question]:
    others = Question.objects.filter(scene=asked.scene).exclude(pk=asked.pk).order_by("position")
    return list(_renumbered(split, others.only("position", "text", "answer")))


def position_in_source(split: Split, position: int) -> int | None:
    """Return the position of a split's question in its source split; None if there is none."""
    if not split.is_derived:
        return position
    if not split.is_complete or not 0 <= position < split.questions:
        return None
    return SplitIndex.open(split).in_source([position])[0]


def _renumbered(split: Split, rows: Iterable[Question]) -> Iterator[Question]:
    """Yield the rows that are questions of a split, with their positions in it."""
    if not split.is_derived:
        yield from rows
        return
    index = SplitIndex.open(split)
    for row in rows:
        place = index.place_of(row.position)
        if place is not None:
            row.position = place
            yield row


CHOSEN = 900  # questions of a derived split that are read at a time


def engine_question(row: "Question | QuestionRow") -> engine.Question:
    """Return a stored question as the engine's question."""
    answer = None
    if row.answer is not None:
        answer = engine.Answer(row.answer, engine.AnswerKind(row.answer_kind), row.spelling)
    return engine.Question(
        text=row.text,
        program=None if row.program is None else from_text(row.program),
        answer=answer,
        kind=row.kind,
        family=row.family,
        scope=row.scope,
        source_id=row.source_id or None,
    )


class SceneRow(NamedTuple):
    """The values of a stored scene that its item has."""

    pk: int
    position: int
    data: str | None
    view: str | None
    replaced: int
    source_number: int | None
    source_image: str


class QuestionRow(NamedTuple):
    """The values of a stored question that its item has."""

    scene_id: int
    position: int
    text: str
    program: str | None
    answer: str | None
    answer_kind: str
    spelling: str | None
    kind: str
    family: int | None
    scope: int | None
    source_id: str


class ItemRows(NamedTuple):
    scene: SceneRow
    questions: tuple[QuestionRow, ...]
    item: engine.Item


class StoredItem(NamedTuple):
    scene: Scene
    questions: tuple[Question, ...]
    item: engine.Item


def load_items(split: Split, first: int, count: int) -> Iterator[StoredItem]:
    """Yield the stored scenes from position `first`, at most `count`, each with its questions, in order.

    For a derived split, `first` and `count` refer to the scenes of its questions. Each scene comes with only the
    questions of the derived split, with their positions in it; the scenes keep their positions in the parent.
    """
    if split.is_derived:
        index = SplitIndex.open(split)
        assert index.positions is not None
        starts = [*index.scene_starts[first : first + count + 1].tolist(), index.n][: count + 1]
        part = slice(starts[0], starts[-1])
        yield from load_chosen(split.source, index.positions[part], scenes=index.scenes[part], start=starts[0])
        return
    world = split.dataset.get_world()
    scenes = list(Scene.objects.between(split, first, count))
    asked: dict[int, list[Question]] = {scene.pk: [] for scene in scenes}
    for question in Question.objects.filter(scene__in=list(asked)).order_by("position"):
        asked[question.scene_id].append(question)
    for scene in scenes:
        yield _stored(world, scene, asked[scene.pk])


def load_rows(split: Split, first: int, count: int) -> list[ItemRows]:
    """Return what `load_items` yields for a split with its own questions, without instances of models.

    Django needs more time to make the instances than to read the rows.
    """
    world = split.dataset.get_world()
    scenes = list(map(SceneRow._make, Scene.objects.between(split, first, count).values_list(*SceneRow._fields)))
    asked: dict[int, list[QuestionRow]] = {scene.pk: [] for scene in scenes}
    found = Question.objects.filter(scene__in=list(asked)).order_by("position")
    for question in map(QuestionRow._make, found.values_list(*QuestionRow._fields)):
        asked[question.scene_id].append(question)
    return [
        ItemRows(scene, tuple(asked[scene.pk]), item_of(scene, world=world, questions=asked[scene.pk]))
        for scene in scenes
    ]


def load_chosen(
    split: Split, positions: NDArray[np.integer], *, scenes: NDArray[np.integer], start: int = 0
) -> Iterator[StoredItem]:
    """Yield the scenes of these questions, with only these questions, in order, numbered from `start`.

    Parameters
    ----------
    split : Split
        The split that contains the questions.
    positions, scenes : arrays of int
        The position of each question and of its scene, ascending.
    start : int
    """
    world = split.dataset.get_world()
    for first, stop in batches(scenes):
        about = Scene.objects.filter(split=split, position__in=np.unique(scenes[first:stop]).tolist())
        asked: dict[int, list[Question]] = {}
        rows = Question.objects.filter(split=split, position__in=positions[first:stop].tolist()).order_by("position")
        for number, question in enumerate(rows, start + first):
            question.position = number
            asked.setdefault(question.scene_id, []).append(question)
        for scene in about.order_by("position"):
            yield _stored(world, scene, asked.get(scene.pk, []))


def batches(scenes: NDArray[np.integer]) -> Iterator[tuple[int, int]]:
    """Yield the bounds of batches of at least `CHOSEN` questions with whole scenes; `scenes` has each question's."""
    first = 0
    while first < len(scenes):
        last = scenes[min(first + CHOSEN, len(scenes)) - 1]
        stop = int(np.searchsorted(scenes, last, side="right"))
        yield first, stop
        first = stop


def _stored(world: engine.World, scene: Scene, questions: Sequence[Question]) -> StoredItem:
    return StoredItem(scene, tuple(questions), item_of(scene, world=world, questions=questions))


def item_of(
    scene: Scene | SceneRow, *, world: engine.World, questions: Sequence[Question | QuestionRow] = ()
) -> engine.Item:
    """Return a stored scene as the engine's item, with these questions."""
    return engine.Item(
        scene=None if scene.data is None else world.read_scene(json.loads(scene.data)),
        view=None if scene.view is None else world.read_view(json.loads(scene.view)),
        questions=tuple(engine_question(question) for question in questions),
        replaced=scene.replaced,
        number=scene.source_number,
        image_name=scene.source_image,
    )
