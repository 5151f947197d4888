"""Folders of examples for the training process, made from stored splits and cached below `VAR_DIR`.

The name of a folder follows from the split's content hash, the parts and the size of the images, so that several
methods use the same folder. Scenes are read a few hundred at a time. Pictures are scaled to the size in the method's
settings: by the mean of the pixels (Pillow's BOX) if they get smaller, bilinearly if they get larger. This changes
their proportions if the size has other proportions.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generation.access import is_withheld
from generation.engine import ENGINE_VERSION
from generation.engine.errors import BadTraining
from generation.engine.formats.rle import masks
from generation.engine.items import Item
from generation.engine.learners.base import Learner, LearnerConfig
from generation.engine.learners.example_writer import ExampleWriter, ItemRegion
from generation.engine.learners.examples import ABOUT
from generation.engine.worlds.base import World
from generation.models import Scene, Split
from generation.storage import disk_cache, files
from generation.storage.items import StoredItem, load_items
from generation.storage.pictures import picture_bytes
from generation.storage.split_index import SplitIndex

CACHE_FOLDER = "examples"  # in the cache of this machine
VERSION = 1  # of the content of the folders
SCENES = 200  # scenes that one query reads
QUESTION_BYTES = 400  # estimate of the bytes that a question without a story needs
Check = Callable[[], None]


class ExamplesOrder(NamedTuple):
    """The content that a folder of examples must have.

    Attributes
    ----------
    split : Split
    answers, stories, supports, programs, regions : bool
        The parts of each example.
    size : (int, int) or None
        Height and width of images; None without images.
    """

    split: Split
    answers: bool
    stories: bool
    supports: bool
    programs: bool
    regions: bool
    size: tuple[int, int] | None

    @property
    def key(self) -> str:
        parts = [VERSION, ENGINE_VERSION, str(self.split), self.split.fingerprint, *self[1:]]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def bytes(self) -> int:
        pixels = 3 * self.size[0] * self.size[1] * self.split.scenes if self.size is not None else 0
        return pixels + QUESTION_BYTES * self.split.questions


def examples_order(learner: type[Learner], config: LearnerConfig, split: Split, *, is_training: bool) -> ExamplesOrder:
    """Return the parts of a split that a method may see; no answers and supporting lines if it only answers it."""
    needs = learner.needs
    size = (int(getattr(config, "height")), int(getattr(config, "width"))) if needs.images else None  # noqa: B009
    return ExamplesOrder(
        split=split,
        answers=is_training,
        stories=needs.stories or learner.uses.stories,
        supports=needs.supports and is_training,
        programs=needs.programs and not is_withheld(split),
        regions=needs.regions and not is_withheld(split),
        size=size,
    )


@contextmanager
def open_folder(order: ExamplesOrder, *, check: Check) -> Iterator[Path]:
    """Yield the folder of examples. It is made if it does not exist, and is not deleted during the block.

    `check` is called between batches of scenes. An exception from it stops the work.

    Raises
    ------
    NoSpace
        If the disk has no room for the folder.
    """
    place = disk_cache.folder() / CACHE_FOLDER / order.key
    hold = disk_cache.hold(place)
    if hold is None:
        _make(order, place, check=check)
        hold = disk_cache.hold(place)
        disk_cache.make_room()
    if hold is None:
        raise BadTraining("Expected a folder of examples, but it was deleted at once. Try again.", where=str(place))
    with hold:
        yield place


def _make(order: ExamplesOrder, place: Path, *, check: Check) -> None:
    """Write a folder of examples completely, and then give it its name. Another process may do the same."""
    place.parent.mkdir(parents=True, exist_ok=True)
    files.check_room(place.parent, order.bytes)
    draft = place.with_name(files.draft_name(order.key[:12]))
    try:
        _write(order, draft, check=check)
        (draft / disk_cache.HELD).write_text(json.dumps({"split": str(order.split)}))
        draft.rename(place)
    except OSError:
        if not (place / ABOUT).exists():  # no other process was faster
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _write(order: ExamplesOrder, folder: Path, *, check: Check) -> None:
    split = order.split
    world, spec = split.dataset.get_world(), split.read_spec()
    shape = None if order.size is None else (split.scenes, *order.size)
    with ExampleWriter(folder, image_shape=shape) as writer:
        for stored in _stored_items(split, check):
            item = stored.item
            image = None if order.size is None else _image(stored.scene, split, order.size)
            writer.add_item(image=image, regions=_regions(world, spec, stored) if order.regions else ())
            lines = world.story(item.scene) if order.stories and item.scene is not None else ()
            for number in range(len(item.questions)):
                question = item.questions[number]
                writer.add_question(question.text, question.kind, _parts(order, world, item, number, lines))
        vocabulary = SplitIndex.open(split).answer_values
        writer.finish(name=str(split), vocabulary=vocabulary, most_counted=world.most_counted(spec))


def _stored_items(split: Split, check: Check) -> Iterator[StoredItem]:
    for first in range(0, split.scenes, SCENES):
        check()
        yield from load_items(split, first, SCENES)


def _parts(order: ExamplesOrder, world: World, item: Item, number: int, lines: tuple[str, ...]) -> dict[str, Any]:
    """Return the parts of a question that the order has and that are known."""
    question = item.questions[number]
    supports = world.supporting_lines(item, number) if order.supports else None
    parts = {
        "answers": question.answer.text if order.answers and question.answer is not None else None,
        "stories": lines[: question.scope] if order.stories and lines else None,
        "supports": supports,
        "programs": question.program if order.programs else None,
    }
    return {part: value for part, value in parts.items() if value is not None}


def _image(scene: Scene, split: Split, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return a scene's picture, (height, width, 3) of uint8, scaled; raise `BadTraining` if it is missing."""
    try:
        content = picture_bytes(scene, split.dataset)
        with Image.open(BytesIO(content)) as image:
            return scale(image.convert("RGB"), size)
    except FileNotFoundError as error:
        where = f"{split} scene {scene.position}"
        raise BadTraining("Expected the picture of every scene, got none for one.", where=where) from error


def scale(image: Image.Image, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return the pixels of a picture, scaled to height and width."""
    height, width = size
    is_smaller = height <= image.height and width <= image.width
    way = Image.Resampling.BOX if is_smaller else Image.Resampling.BILINEAR
    return np.asarray(image if image.size == (width, height) else image.resize((width, height), way), np.uint8)


def _regions(world: World, spec: Any, stored: StoredItem) -> tuple[ItemRegion, ...]:
    """Return the regions of a scene's elements; none if the size of its picture is not known."""
    scene = stored.scene
    if not scene.width:
        return ()
    labels = {element.id: element.label for element in world.elements(spec, stored.item)}
    boxes = _boxes_of_ids(scene) if scene.ids_image else dict(world.element_boxes(spec, stored.item))
    scale = np.array([scene.width, scene.height] * 2, np.float64)
    return tuple(
        ItemRegion(number, tuple(np.clip(np.array(box) / scale, 0, 1).tolist()), labels.get(number, ""))
        for number, box in sorted(boxes.items())
    )


def _boxes_of_ids(scene: Scene) -> dict[int, tuple[float, float, float, float]]:
    """Return the boxes of the visible elements of an object-id image: left, top, right, bottom in pixels."""
    with Image.open(BytesIO(files.get(scene.ids_image))) as image:
        found = masks(np.asarray(image, np.uint16))
    boxes = {label - 1: mask.box for label, mask in found.items()}
    return {number: (x, y, x + width, y + height) for number, (x, y, width, height) in boxes.items()}


# Parts of a split


def missing_part(learner: type[Learner], split: Split, *, is_training: bool) -> str:
    """Return a part that a method needs and a split does not have, in words; empty if there is none."""
    needs, world = learner.needs, split.dataset.get_world()
    scenes = Scene.objects.filter(split=split.source)
    if needs.images and scenes.filter(image="", linked="").exists():
        return "pictures"
    if needs.stories and not world.has_stories:
        return "stories"
    if needs.counts and world.most_counted(split.read_spec()) is None:
        return "numbers as answers"
    if needs.programs and split.source.question_set.filter(program=None).exists():
        return "programs"
    first = next(load_items(split, 0, 1), None)
    if needs.supports and is_training and (first is None or world.supporting_lines(first.item, 0) is None):
        return "supporting lines"
    if needs.regions and (first is None or not _has_regions(world, split, first)):
        return "boxes of objects"
    return ""


def _has_regions(world: World, split: Split, stored: StoredItem) -> bool:
    scene = stored.scene
    return bool(scene.ids_image) or (scene.width > 0 and bool(_regions(world, split.read_spec(), stored)))
