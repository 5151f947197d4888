"""Examples: the questions of a split with everything that a learner may see, in memory or in a folder.

A folder of examples has arrays as `.npy` files and texts as lines of JSON, so a training needs no database. Pictures
are read from the disk only when they are used.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadTraining
from generation.engine.program import Program, Step

Region = tuple[float, float, float, float]
"""A box in a picture: left, top, right and bottom, as shares of the picture's width and height, 0 to 1."""


class Regions(NamedTuple):
    """The boxes of the elements of each item.

    Attributes
    ----------
    starts : array (items + 1,) of int64
        The start of each item's boxes in `boxes`.
    boxes : array (boxes, 4) of float32
        Left, top, right and bottom, as shares of the picture's width and height.
    ids : array (boxes,) of int64
        The element's id in its scene, to which the steps of a program point.
    labels : tuple of str
        The element's label, for example `large red cube`.
    """

    starts: NDArray[np.int64]
    boxes: NDArray[np.float32]
    ids: NDArray[np.int64]
    labels: tuple[str, ...]

    def of_item(self, item: int) -> slice:
        """Return the place of an item's boxes."""
        return slice(int(self.starts[item]), int(self.starts[item + 1]))


@dataclass(frozen=True, eq=False)
class Examples:
    """The questions of a split, and their items.

    Attributes
    ----------
    name : str
        `dataset/split`, for messages.
    vocabulary : tuple of str
        All answers that are possible.
    texts, kinds : tuple of str
        The text and the type of each question.
    items : array (n,) of int64
        The number of each question's item.
    answers : tuple of str or None
        The answer of each question; None if answers are withheld or must not be seen.
    images : array (items, height, width, 3) of uint8 or None
        sRGB, indexed `[item, row, column]`. It may be a memory map.
    stories : tuple of tuple of str or None
        The lines of the story that each question may use.
    supports : tuple of tuple of int or None
        The numbers of the lines, counted from 0, from which each answer follows.
    programs : tuple of Program or None
        The program of each question.
    regions : Regions or None
    most_counted : int or None
        The largest count if answers are numbers.
    """

    name: str
    vocabulary: tuple[str, ...]
    texts: tuple[str, ...]
    kinds: tuple[str, ...]
    items: NDArray[np.int64]
    answers: tuple[str, ...] | None = None
    images: NDArray[np.uint8] | None = None
    stories: tuple[tuple[str, ...], ...] | None = None
    supports: tuple[tuple[int, ...], ...] | None = None
    programs: tuple[Program, ...] | None = None
    regions: Regions | None = None
    most_counted: int | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def has(self, part: str) -> bool:
        """Return whether the examples have a part, by its name in `generation.engine.learners.base.ExampleParts`."""
        return self.most_counted is not None if part == "counts" else getattr(self, part) is not None

    @property
    def codes(self) -> NDArray[np.int64]:
        """Return the place `(n,)` of each answer in the vocabulary, or -1 if the vocabulary does not have it."""
        return self.codes_at(np.arange(len(self)))

    def codes_at(self, rows: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the place in the vocabulary of the answer of each of these examples, or -1."""
        assert self.answers is not None
        return np.array([self._places.get(self.answers[row], -1) for row in rows], np.int64)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {answer: code for code, answer in enumerate(self.vocabulary)}

    def rows_by_kind(self, *, joint: bool) -> dict[str, NDArray[np.int64]]:
        """Return the positions of the examples of each type; with `joint`, those of all examples under one empty name.

        Names are in the order in which they first occur.
        """
        found: dict[str, list[int]] = {}
        for row, kind in enumerate(self.kinds):
            found.setdefault("" if joint else kind, []).append(row)
        return {name: np.array(rows, np.int64) for name, rows in found.items()}

    def select(self, positions: Sequence[int] | NDArray[np.integer]) -> "Examples":
        """Return the examples at these positions, in this order. Items and their pictures are shared, not copied."""
        at = [int(position) for position in positions]
        found = {part: getattr(self, part) for part in ("texts", "kinds", *PARTS)}
        kept: dict[str, Any] = {
            part: tuple(values[one] for one in at) for part, values in found.items() if values is not None
        }
        return replace(self, items=self.items[at], **kept)

    def without_answers(self) -> "Examples":
        """Return the examples without everything that reveals answers: answers and supporting lines."""
        return replace(self, answers=None, supports=None)


ARRAYS = ("items", "images", "starts", "boxes", "ids")
PARTS = ("answers", "stories", "supports", "programs")
ABOUT, QUESTIONS = "about.json", "questions.jsonl"


def read_examples(folder: Path) -> Examples:
    """Return the examples of a folder; raise `BadTraining` if it is not complete."""
    try:
        about = json.loads((folder / ABOUT).read_bytes())
        with (folder / QUESTIONS).open(encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        names = [name for name in ARRAYS if (folder / f"{name}.npy").exists()]
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in names}
    except (OSError, ValueError) as error:
        raise BadTraining(f"Expected a folder of examples, got: {error}", where=str(folder)) from error
    parts = {part: tuple(_part(row, part) for row in rows) for part in about["parts"]}
    labels, regions = about["labels"], None
    if labels is not None:
        regions = Regions(arrays["starts"], arrays["boxes"], arrays["ids"], tuple(labels))
    return Examples(
        name=about["name"],
        vocabulary=tuple(about["vocabulary"]),
        texts=tuple(row["text"] for row in rows),
        kinds=tuple(row["kind"] for row in rows),
        items=np.asarray(arrays["items"]),
        images=arrays["images"] if about["images"] else None,
        regions=regions,
        most_counted=about["most_counted"],
        **parts,
    )


def _part(row: Mapping[str, Any], part: str) -> Any:
    value = row[part]
    if part == "programs":
        return tuple(Step(function, tuple(inputs), tuple(values)) for function, inputs, values in value)
    return value if isinstance(value, str) else tuple(value)
