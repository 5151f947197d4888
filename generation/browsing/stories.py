"""Stories on pages: the numbered lines that a question may use, and the beginnings of stories in lists."""

import functools
import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from generation.access import Visitor, What, may_see
from generation.engine.errors import EngineError
from generation.engine.worlds import get_world
from generation.engine.worlds.story_text import story_of
from generation.models import Dataset, Question, Scene, Split

BEGINNING = 4  # lines in a list
READ = 256  # cached stories per process; consecutive questions are often about the same story


class NumberedLine(NamedTuple):
    number: int  # from 1
    text: str


class StoryView(NamedTuple):
    seen: list[NumberedLine]  # the lines that the question may use
    later: list[NumberedLine]


class Beginning(NamedTuple):
    scene: int
    lines: list[NumberedLine]
    more: int  # the number of further lines


def lines_of(scene: Scene, dataset: Dataset) -> tuple[str, ...] | None:
    """Return the lines of a stored scene; None if its world has no stories or cannot read it."""
    if not dataset.tells or scene.data is None:
        return None
    try:
        return _read(dataset.world, scene.data)
    except EngineError:
        return None


@functools.lru_cache(maxsize=READ)
def _read(name: str, data: str) -> tuple[str, ...] | None:
    world = get_world(name)
    return story_of(world, world.read_scene(json.loads(data)))


def story_view(scene: Scene, dataset: Dataset, *, scope: int | None) -> StoryView | None:
    """Return a scene's story for a question; None without a story."""
    lines = lines_of(scene, dataset)
    if lines is None:
        return None
    numbered = [NumberedLine(number, text) for number, text in enumerate(lines, 1)]
    return StoryView(numbered[:scope], [] if scope is None else numbered[scope:])


def supports_of(asked: Question, dataset: Dataset) -> list[int]:
    """Return the line numbers, from 1, on which a stored answer depends, as published; empty if they are not known.

    The caller must check that the user may see the program, which tells the same.
    """
    try:
        world, data = dataset.get_world(), asked.scene.scene_json
        if data is None:
            return []
        number = Question.objects.filter(scene=asked.scene, pk__lt=asked.pk).count()
        return [line + 1 for line in world.supports(world.read_scene(data), number)]
    except EngineError:
        return []


def beginnings(scenes: Iterable[Scene], split: Split) -> dict[int, Beginning]:
    """Return, by position, the beginnings of the stories of these scenes, with one query."""
    if not split.dataset.tells:
        return {}
    wanted = Scene.objects.filter(pk__in=[scene.pk for scene in scenes]).only("position", "data")
    return _begun((scene, split.dataset) for scene in wanted)


def strips(datasets: Sequence[Dataset], *, user: Visitor, stories: int) -> dict[int, list[Beginning]]:
    """Return, for each dataset's id, the beginnings of the first stories of its first split, with one query."""
    telling = [dataset for dataset in datasets if dataset.tells]
    if not telling:
        return {}
    firsts = Scene.objects.filter(split__dataset__in=telling, split__ordinal=0, position__lt=stories)
    found: dict[int, list[Beginning]] = {}
    for scene in firsts.select_related("split__dataset").defer("view").order_by("position"):
        if may_see(user, scene.split, What.STORY):
            begun = _begun([(scene, scene.split.dataset)])
            found.setdefault(scene.split.dataset_id, []).extend(begun.values())
    return found


def _begun(scenes: Iterable[tuple[Scene, Dataset]]) -> dict[int, Beginning]:
    found = {}
    for scene, dataset in scenes:
        lines = lines_of(scene, dataset)
        if lines:
            first = [NumberedLine(number, text) for number, text in enumerate(lines[:BEGINNING], 1)]
            found[scene.position] = Beginning(scene.position, first, len(lines) - len(first))
    return found
