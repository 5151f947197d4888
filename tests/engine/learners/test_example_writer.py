"""Folders of examples are read as they were written."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generation.engine.learners.example_writer import ExampleWriter, ItemRegion
from generation.engine.learners.examples import PARTS, Examples, read_examples
from tests.engine.learners import made_examples


def write_by_items(folder: Path, examples: Examples) -> None:
    """Write examples with the writer; the questions of an item must follow each other."""
    images, regions = examples.images, examples.regions
    items = int(examples.items.max()) + 1
    shape = None if images is None else (items, images.shape[1], images.shape[2])
    with ExampleWriter(folder, image_shape=shape) as writer:
        for item in range(items):
            place = regions.of_item(item) if regions is not None else slice(0)
            of_item: tuple[ItemRegion, ...] = ()
            if regions is not None:
                boxes = map(tuple, regions.boxes[place].tolist())
                of_item = tuple(map(ItemRegion, regions.ids[place].tolist(), boxes, regions.labels[place]))
            writer.add_item(image=None if images is None else images[item], regions=of_item)
            for at in np.flatnonzero(examples.items == item):
                parts = {part: getattr(examples, part)[at] for part in PARTS if examples.has(part)}
                writer.add_question(examples.texts[at], examples.kinds[at], parts)
        writer.finish(name=examples.name, vocabulary=examples.vocabulary, most_counted=examples.most_counted)


def as_lists(examples: Examples) -> dict[str, Any]:
    found: dict[str, Any] = {field.name: getattr(examples, field.name) for field in fields(examples)}
    if examples.regions is not None:
        regions = examples.regions
        found["regions"] = [*(array.tolist() for array in regions[:3]), regions.labels]
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in found.items()}


@pytest.mark.parametrize("make", [made_examples.pictures, made_examples.counts, made_examples.stories])
def test_examples_are_read_as_they_were_written(make: Callable[[int], Examples], tmp_path: Path) -> None:
    examples = make(9)
    write_by_items(tmp_path, examples)
    assert as_lists(read_examples(tmp_path)) == as_lists(examples)


def test_the_disk_space_of_pictures_is_taken_before_they_are_written(tmp_path: Path) -> None:
    """Otherwise a disk that fills up would end the process by a signal, without a message."""
    with ExampleWriter(tmp_path, image_shape=(100, 64, 96)):
        about = (tmp_path / "images.npy").stat()
    assert about.st_blocks * 512 >= about.st_size > 100 * 64 * 96 * 3


def test_a_part_that_one_question_lacks_is_left_out(tmp_path: Path) -> None:
    with ExampleWriter(tmp_path) as writer:
        writer.add_item()
        writer.add_question("Is it?", "exist", {"answers": "yes", "supports": (0,)})
        writer.add_question("How many?", "count", {"answers": "2"})
        writer.finish(name="a/b", vocabulary=("yes", "2"), most_counted=None)
    found = read_examples(tmp_path)
    assert (found.answers, found.supports, found.items.tolist()) == (("yes", "2"), None, [0, 0])
