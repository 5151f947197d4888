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
    """Canonical JSON of scenes and of questions, by position; those without a row are missing."""

    scenes: dict[int, str]
    questions: dict[int, str]


class KeptLines:
    """The lines of sealed splits in blocks of questions. If they become too many, all are dropped and read again."""

    def __init__(self) -> None:
        self._blocks: dict[tuple[int, int], Lines] = {}
        self._size = 0

    def read(self, split: Split, positions: NDArray[np.integer]) -> Lines:
        """Return at least the lines of the questions at these ascending positions, and of their scenes."""
        found = Lines({}, {})
        for number in range(int(positions[0]) // BLOCK, int(positions[-1]) // BLOCK + 1):
            block = self._block(split, number)
            found.scenes.update(block.scenes)
            found.questions.update(block.questions)
        return found

    def _block(self, split: Split, number: int) -> Lines:
        key = (split.pk, number)
        if key not in self._blocks:
            scenes = SplitIndex.open(split).scenes[number * BLOCK : (number + 1) * BLOCK]
            positions = np.arange(number * BLOCK, number * BLOCK + len(scenes))
            lines = _read(split, positions, scenes=scenes)
            size = sum(len(line) for part in lines for line in part.values())
            if self._size + size > MOST_KEPT:
                self._blocks.clear()
                self._size = 0
            self._blocks[key] = lines
            self._size += size
        return self._blocks[key]


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
        found = _kept[-1].read(split, at) if is_kept else _read(split, at, scenes=about)
        lines: list[str] = []
        before, count = None, 0
        for position, scene in zip(at.tolist(), about.tolist(), strict=True):
            if scene in found.scenes and position in found.questions:
                if scene != before:
                    lines.append(found.scenes[scene])
                lines.append(found.questions[position])
                before, count = scene, count + 1
        yield count, lines


def _read(split: Split, positions: NDArray[np.integer], *, scenes: NDArray[np.integer]) -> Lines:
    """Read the lines of questions and scenes at ascending positions."""
    data = Scene.objects.filter(split=split, **_filter(np.unique(scenes))).values_list("position", "data")
    rows = Question.objects.filter(split=split, **_filter(positions)).values_list("position", *FIELDS)
    return Lines({scene: text or "null" for scene, text in data}, {row[0]: question_line(*row[1:]) for row in rows})


def _filter(positions: NDArray[np.integer]) -> dict[str, Any]:
    """Return a filter for rows at these ascending positions, and for rows in between if there are few of them.

    A range is much faster than a list, which Django prepares value by value.
    """
    if _span(positions) < MOST_BETWEEN * len(positions):
        return {"position__gte": int(positions[0]), "position__lte": int(positions[-1])}
    return {"position__in": positions.tolist()}


def _span(positions: NDArray[np.integer]) -> int:
    return int(positions[-1] - positions[0])
