"""The parts of items that a learner may see: texts and parts of questions, scaled pictures and boxes of elements.

Examples from a stored split and examples from a stream are made with these functions. Pictures are scaled to the size
in the learner's settings: by the mean of the pixels (Pillow's BOX) if they get smaller, bilinearly if they get larger.
This changes their proportions if the size has other proportions.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generation.engine.formats.rle import masks
from generation.engine.items import Box, Item
from generation.engine.learners.base import Learner, LearnerConfig
from generation.engine.learners.example_writer import ItemRegion
from generation.engine.worlds.base import World


class VisibleParts(NamedTuple):
    """The parts that examples must have.

    Attributes
    ----------
    answers, stories, supports, programs, regions : bool
        The parts of each example.
    size : (int, int) or None
        Height and width of images; None without images.
    """

    answers: bool
    stories: bool
    supports: bool
    programs: bool
    regions: bool
    size: tuple[int, int] | None


class VisibleQuestion(NamedTuple):
    """The text, the type and the parts of a question, which have the names of `PARTS` in `examples`."""

    text: str
    kind: str
    parts: Mapping[str, Any]


def visible_parts(learner: type[Learner], config: LearnerConfig) -> VisibleParts:
    """Return the parts that a learner sees during its training."""
    needs = learner.needs
    return VisibleParts(
        answers=True,
        stories=needs.stories or learner.uses.stories,
        supports=needs.supports,
        programs=needs.programs,
        regions=needs.regions,
        size=(int(getattr(config, "height")), int(getattr(config, "width"))) if needs.images else None,  # noqa: B009
    )


def visible_questions(item: Item, *, visible: VisibleParts, world: World) -> Iterator[VisibleQuestion]:
    """Yield the questions of an item with those of the visible parts that are known."""
    lines = world.story(item.scene) if visible.stories and item.scene is not None else ()
    for number, question in enumerate(item.questions):
        parts = {
            "answers": question.answer.text if visible.answers and question.answer is not None else None,
            "stories": lines[: question.scope] if lines else None,
            "supports": world.supporting_lines(item, number) if visible.supports else None,
            "programs": question.program if visible.programs else None,
        }
        known = {part: value for part, value in parts.items() if value is not None}
        yield VisibleQuestion(question.text, question.kind, known)


def scale(image: Image.Image, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return the pixels `(height, width, 3)` of a picture, scaled to height and width."""
    height, width = size
    is_smaller = height <= image.height and width <= image.width
    way = Image.Resampling.BOX if is_smaller else Image.Resampling.BILINEAR
    return np.asarray(image if image.size == (width, height) else image.resize((width, height), way), np.uint8)


def item_regions(
    item: Item, *, world: World, spec: Any, picture_size: tuple[int, int], ids: NDArray[np.uint16] | None
) -> tuple[ItemRegion, ...]:
    """Return the regions of an item's elements.

    Parameters
    ----------
    item : Item
    world : World
    spec : BaseSpec
        The spec of the item's split.
    picture_size : (int, int)
        Height and width of the item's picture.
    ids : array (height, width) of uint16, or None
        The object ids of the picture, 0 for no object. If it is None, the boxes are those of `World.element_boxes`.
    """
    labels = {element.id: element.label for element in world.elements(spec, item)}
    boxes = dict(world.element_boxes(spec, item)) if ids is None else _boxes_of_ids(ids)
    height, width = picture_size
    scale = np.array([width, height] * 2, np.float64)
    return tuple(
        ItemRegion(number, tuple(np.clip(np.array(box) / scale, 0, 1).tolist()), labels.get(number, ""))
        for number, box in sorted(boxes.items())
    )


def _boxes_of_ids(ids: NDArray[np.uint16]) -> dict[int, Box]:
    """Return the boxes of the visible elements of an object-id image: left, top, right and bottom in pixels."""
    boxes = {label - 1: mask.box for label, mask in masks(ids).items()}
    return {number: (x, y, x + width, y + height) for number, (x, y, width, height) in boxes.items()}
