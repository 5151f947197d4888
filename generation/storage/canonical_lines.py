"""Scenes and questions of a sealed split as canonical JSON, for the content hashes of its question sets.

Scenes and programs are stored as canonical JSON, so no row is parsed. Several sets of one split have most questions in
common; inside `keep_lines`, each row is read once for all of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.content_hash import question_line
from generation.models import Question, Scene, Split
from generation.storage.items import batches
from generation.storage.split_index import SplitIndex

FIELDS = ("text", "kind", "answer", "program", "family", "scope")  # of `question_line`, in its order
MOST_BETWEEN = 4  # times as many rows that may be read to read a range of rows
MOST_BETWEEN_KEPT = 50  # the same for rows that are kept, which are read only once
BLOCK = 2000  # questions that are read and kept together
MOST_KEPT = 100_000_000  # characters


class Lines(NamedTuple):
    scenes: NDArray[np.object_]  # one for each question; None for a missing row
    questions: NDArray[np.object_]


class KeptLines:
    """The lines of sealed splits, read in blocks of questions. If they become too many, all are dropped."""

    def __init__(self) -> None:
        self._lines: dict[int, Lines] = {}
        self._blocks: set[tuple[int, int]] = set()
        self._size = 0

    def read(self, split: Split, positions: NDArray[np.integer]) -> Lines:
        """Return the lines of the questions at these ascending positions."""
        numbers = range(int(positions[0]) // BLOCK, int(positions[-1]) // BLOCK + 1)
        blocks = [number for number in numbers if (split.pk, number) not in self._blocks]
        if blocks and self._size > MOST_KEPT:
            self._lines, self._blocks, self._size = {}, set(), 0
            blocks = list(numbers)
        for number in blocks:
            self._keep(split, number)
        kept = self._lines[split.pk]
        return Lines(kept.scenes[positions], kept.questions[positions])

    def _keep(self, split: Split, number: int) -> None:
        scenes = SplitIndex.open(split).scenes
        if split.pk not in self._lines:
            self._lines[split.pk] = Lines(np.full(len(scenes), None), np.full(len(scenes), None))
        block = slice(number * BLOCK, (number + 1) * BLOCK)
        positions = np.arange(len(scenes))[block]
        for kept, lines in zip(self._lines[split.pk], _read(split, positions, scenes=scenes[block]), strict=True):
            kept[block] = lines
            self._size += sum(len(line) for line in lines if line is not None)
        self._blocks.add((split.pk, number))


_kept: list[KeptLines] = []
"""What this process keeps; empty outside of `keep_lines`."""


@contextmanager
def keep_lines() -> Iterator[None]:
    """Keep lines in memory inside the block, because several sets of a split are made there one after the other."""
    _kept.append(KeptLines())
    try:
        yield
    finally:
        _kept.pop()


def canonical_lines(
    split: Split, positions: NDArray[np.integer], *, scenes: NDArray[np.integer]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the canonical JSON of the scenes of these questions, each followed by only these questions, in batches.

    The first value of a batch is the number of its questions; questions without a row, or without a scene's row, are
    left out.

    Parameters
    ----------
    split : Split
        A sealed split with its own questions.
    positions, scenes : arrays of int
        The position of each question and of its scene, ascending.
    """
    for first, stop in batches(scenes):
        at, about = positions[first:stop], scenes[first:stop]
        is_kept = bool(_kept) and _span(at) < MOST_BETWEEN_KEPT * len(at)
        yield _in_order(_kept[-1].read(split, at) if is_kept else _read(split, at, scenes=about), about)


def _in_order(found: Lines, scenes: NDArray[np.integer]) -> tuple[int, list[str]]:
    """Return the number of the questions that have all rows, and their lines, each scene's before its first question's.

    `scenes` has the position of each question's scene.
    """
    is_there = (found.scenes != None) & (found.questions != None)  # noqa: E711 - compares each line
    scenes = scenes[is_there].astype(np.int64)
    starts = np.flatnonzero(np.diff(scenes, prepend=-1))
    lines = np.insert(found.questions[is_there], starts, found.scenes[is_there][starts])
    return len(scenes), lines.tolist()


def _read(split: Split, positions: NDArray[np.integer], *, scenes: NDArray[np.integer]) -> Lines:
    """Read the lines of questions at ascending positions, and of their scenes."""
    data = Scene.objects.filter(split=split, **_filter(np.unique(scenes))).values_list("position", "data")
    rows = Question.objects.filter(split=split, **_filter(positions)).values_list("position", *FIELDS)
    by_scene = {scene: text or "null" for scene, text in data}
    by_question = {row[0]: question_line(*row[1:]) for row in rows}
    return Lines(_objects(by_scene, scenes), _objects(by_question, positions))


def _objects(lines: dict[int, str], positions: NDArray[np.integer]) -> NDArray[np.object_]:
    return np.array([lines.get(position) for position in positions.tolist()], np.object_)


def _filter(positions: NDArray[np.integer]) -> dict[str, Any]:
    """Return a filter for rows at these ascending positions, and for rows in between if there are few of them.

    A range is much faster than a list, which Django prepares value by value.
    """
    if _span(positions) < MOST_BETWEEN * len(positions):
        return {"position__gte": int(positions[0]), "position__lte": int(positions[-1])}
    return {"position__in": positions.tolist()}


def _span(positions: NDArray[np.integer]) -> int:
    return int(positions[-1] - positions[0])
