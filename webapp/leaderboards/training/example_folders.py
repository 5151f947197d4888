"""Folders of examples for the training process, made from stored splits and cached below `VAR_DIR`.

The name of a folder follows from the split's content hash, the parts and the size of the images, so that several
methods use the same folder. Scenes are read a few hundred at a time.
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
from generation.engine.learners.base import Learner, LearnerConfig
from generation.engine.learners.example_writer import ExampleWriter, ItemRegion
from generation.engine.learners.examples import ABOUT
from generation.engine.learners.visible_parts import (
    VisibleParts,
    item_regions,
    scale,
    visible_parts,
    visible_questions,
)
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
    """The split and the parts of a folder of examples."""

    split: Split
    visible: VisibleParts

    @property
    def key(self) -> str:
        parts = [VERSION, ENGINE_VERSION, str(self.split), self.split.fingerprint, *self.visible]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def bytes(self) -> int:
        size = self.visible.size
        pixels = 3 * size[0] * size[1] * self.split.scenes if size is not None else 0
        return pixels + QUESTION_BYTES * self.split.questions


def examples_order(learner: type[Learner], config: LearnerConfig, split: Split, *, is_training: bool) -> ExamplesOrder:
    """Return the parts of a split that a method may see; no answers and supporting lines if it only answers it."""
    visible = visible_parts(learner, config)
    if not is_training:
        visible = visible._replace(answers=False, supports=False)
    if is_withheld(split):
        visible = visible._replace(programs=False, regions=False)
    return ExamplesOrder(split, visible)


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
    split, visible = order
    world, spec = split.dataset.get_world(), split.read_spec()
    shape = None if visible.size is None else (split.scenes, *visible.size)
    with ExampleWriter(folder, image_shape=shape) as writer:
        for stored in _stored_items(split, check):
            image = None if visible.size is None else _image(stored.scene, split, visible.size)
            writer.add_item(image=image, regions=_regions(world, spec, stored) if visible.regions else ())
            for question in visible_questions(stored.item, visible=visible, world=world):
                writer.add_question(*question)
        vocabulary = SplitIndex.open(split).answer_values
        writer.finish(name=str(split), vocabulary=vocabulary, most_counted=world.most_counted(spec))


def _stored_items(split: Split, check: Check) -> Iterator[StoredItem]:
    for first in range(0, split.scenes, SCENES):
        check()
        yield from load_items(split, first, SCENES)


def _image(scene: Scene, split: Split, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return a scene's picture, (height, width, 3) of uint8, scaled; raise `BadTraining` if it is missing."""
    try:
        content = picture_bytes(scene, split.dataset)
        with Image.open(BytesIO(content)) as image:
            return scale(image.convert("RGB"), size)
    except FileNotFoundError as error:
        where = f"{split} scene {scene.position}"
        raise BadTraining("Expected the picture of every scene, got none for one.", where=where) from error


def _regions(world: World, spec: Any, stored: StoredItem) -> tuple[ItemRegion, ...]:
    """Return the regions of a scene's elements; none if the size of its picture is not known."""
    scene = stored.scene
    if not scene.width:
        return ()
    ids = _ids(scene) if scene.ids_image else None
    return item_regions(stored.item, world=world, spec=spec, picture_size=(scene.height, scene.width), ids=ids)


def _ids(scene: Scene) -> NDArray[np.uint16]:
    with Image.open(BytesIO(files.get(scene.ids_image))) as image:
        return np.asarray(image, np.uint16)


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
    return _lacking_program(learner, first) if needs.programs and first is not None else ""


def _lacking_program(learner: type[Learner], first: StoredItem) -> str:
    programs = [question.program for question in first.item.questions]
    lacking = (learner.lacking_program(program) for program in programs if program is not None)
    return next(filter(None, lacking), "")


def _has_regions(world: World, split: Split, stored: StoredItem) -> bool:
    scene = stored.scene
    return bool(scene.ids_image) or (scene.width > 0 and bool(_regions(world, split.read_spec(), stored)))
