"""The boxes of the objects that questions count, as the index of a split stores them."""

from array import array
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.items import Box, Item
from generation.engine.worlds import World

FILES = ("box_starts", "boxes", "box_known")  # names of files in the folder of an index, without their ending


class CountedBoxes(NamedTuple):
    """The boxes of the objects that each question counts, in question order.

    Attributes
    ----------
    starts : array (questions + 1,) of int64
        The boxes of question `i` are those from `starts[i]` up to, but without, `starts[i + 1]`.
    boxes : array (boxes, 4) of float32
        Left, top, right and bottom, in pixels.
    known : array (questions,) of bool
        Whether the boxes of a question are known. If they are known and there are none, the count is 0.
    """

    starts: NDArray[np.int64]
    boxes: NDArray[np.float32]
    known: NDArray[np.bool_]

    def of(self, position: int) -> NDArray[np.float32] | None:
        return self.boxes[self.starts[position] : self.starts[position + 1]] if self.known[position] else None

    def at(self, positions: NDArray[np.integer]) -> "CountedBoxes":
        """Return the boxes of some questions, in the order of `positions`."""
        counts = np.diff(self.starts)[positions]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        places = np.repeat(self.starts[:-1][positions] - starts[:-1], counts) + np.arange(starts[-1])
        return CountedBoxes(starts, self.boxes[places], self.known[positions])


class BoxColumns:
    """Collects the boxes of a split's questions in question order."""

    def __init__(self, world: World, spec: Any) -> None:
        self.world, self.spec = world, spec
        self.starts, self.edges, self.known = array("q", [0]), array("f"), array("b")

    def add(self, item: Item) -> None:
        """Add the questions of an item."""
        for boxes in boxes_of(self.world, self.spec, item):
            self.known.append(boxes is not None)
            for box in boxes or ():
                self.edges.extend(box)
            self.starts.append(len(self.edges) // 4)

    def taken(self) -> CountedBoxes | None:
        """Return all boxes; None if the boxes of no question are known."""
        if not any(self.known):
            return None
        boxes = np.frombuffer(self.edges, np.float32).reshape(-1, 4) if self.edges else np.zeros((0, 4), np.float32)
        return CountedBoxes(np.frombuffer(self.starts, np.int64), boxes, np.frombuffer(self.known, np.bool_))


def boxes_of(world: World, spec: Any, item: Item) -> Iterable[list[Box] | None]:
    """Return for each question of an item the boxes of the objects that it counts; None if they are not known."""
    counted = [world.counted(spec, item, question) for question in item.questions]
    if all(ids is None for ids in counted):
        return [None for _ in counted]
    boxes = world.element_boxes(spec, item)
    return [None if ids is None or not boxes.keys() >= set(ids) else [boxes[one] for one in ids] for ids in counted]
