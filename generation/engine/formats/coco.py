"""The format `coco`: the places of all elements of each picture, in the form of COCO's instance files."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadExport
from generation.engine.formats import ExportDataset, ExportItem, ExportSplit, Format, Option, Tick
from generation.engine.formats.common import embed_image, write_readme
from generation.engine.formats.rle import Mask, compressed, masks
from generation.engine.items import Element, Media

PART = ".annotations"


class Coco(Format):
    """Writes images, and boxes and masks for splits whose scenes may be seen."""

    name: ClassVar[str] = "coco"
    label: ClassVar[str] = "COCO"
    about: ClassVar[str] = (
        "What detectors and segmenters read: a box, a mask and a category for every object. No questions."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("category", "the attribute that is an object's category; default: all of them together", default=""),
        Option(
            "masks",
            "how masks are written: compressed as COCO's tools do (default), or as lists of numbers",
            default="compressed",
            choices=("compressed", "lists"),
        ),
    )

    def write(self, dataset: ExportDataset, folder: Path, *, options: Mapping[str, Any], tick: Tick) -> None:
        """Write `images/` and `annotations/`."""
        if dataset.world.media is not Media.IMAGE:
            raise BadExport(
                f"Expected pictures, in which this format says where objects are, got a {dataset.world.media.noun}: "
                "choose another format, as jsonl.",
                where=dataset.slug,
            )
        categories = _categories(dataset, str(options["category"]), tick=tick)
        writer = _Writer(dataset, folder, categories, attribute=options["category"], lists=options["masks"] == "lists")
        for split in dataset.splits:
            writer.write(split, tick=tick)
        write_readme(dataset, folder, layout=list(_layout(dataset)), sums=self.sums)


def category_of(element: Element, attribute: str) -> str:
    """Return an element's category: the value of one attribute, or all values together."""
    return element.attributes[attribute] if attribute else " ".join(element.attributes.values()) or element.label


def _categories(dataset: ExportDataset, attribute: str, *, tick: Tick) -> dict[str, int]:
    """Return the id of every category that occurs in any split, by name: 1, 2, ... in alphabetical order."""
    found: set[str] = set()
    has_ids = False
    for split in dataset.splits:
        for entry in split.items() if split.shows_scenes else ():
            tick(0)
            has_ids = has_ids or entry.ids is not None
            for element in _elements(dataset, split, entry):
                if attribute and attribute not in element.attributes:
                    known = ", ".join(element.attributes) or "there is none"
                    raise BadExport(f"Expected an attribute ({known}), got {attribute!r}.", where="category")
                has_ids = has_ids or element.box is not None
                found.add(category_of(element, attribute))
    if not has_ids:
        raise BadExport(
            "Expected pictures with object ids, of which boxes and masks are made, got none that may be shown. Make "
            "the dataset with pictures, or export splits that don't withhold their scenes.",
            where=dataset.slug,
        )
    return {name: number for number, name in enumerate(sorted(found), 1)}


def _elements(dataset: ExportDataset, split: ExportSplit, entry: ExportItem) -> tuple[Element, ...]:
    """Return the elements of a scene; none without a scene."""
    return () if entry.item.scene is None else dataset.world.elements(split.spec, entry.item)


class _Place(NamedTuple):
    """The place of an element: box (left, top, width, height), area in pixels, mask."""

    box: tuple[float, float, float, float]
    area: float
    mask: Mask | None


class _Writer:
    """Writes one file for each split: first the list of images, then the list of annotations."""

    def __init__(
        self, dataset: ExportDataset, folder: Path, categories: Mapping[str, int], *, attribute: str, lists: bool
    ) -> None:
        self.dataset, self.folder, self.categories = dataset, folder, categories
        self.attribute, self.lists = attribute, lists
        (folder / "annotations").mkdir()

    def write(self, split: ExportSplit, *, tick: Tick) -> None:
        kind = "instances" if split.shows_scenes else "image_info"
        part = self.folder / PART
        with (
            (self.folder / "annotations" / f"{kind}_{split.name}.json").open("w", encoding="ascii") as file,
            part.open("w+", encoding="ascii") as later,
        ):
            file.write(json.dumps(self._head(split))[:-1] + ', "images": [')
            number = 0
            for entry in split.items():
                file.write((", " if entry.position else "") + json.dumps(self._image(entry)))
                embed_image(self.folder / "images" / split.name / entry.image_name, entry.image)
                for annotation in self._annotations(split, entry, first=number + 1):
                    later.write((", " if number else "") + json.dumps(annotation))
                    number += 1
                tick(1)
            file.write("]")
            if split.shows_scenes:
                later.seek(0)
                file.write(', "annotations": [')
                shutil.copyfileobj(later, file)
                file.write("]")
            file.write("}")
        part.unlink()

    def _head(self, split: ExportSplit) -> dict[str, Any]:
        dataset = self.dataset
        return {
            "info": {
                "description": dataset.title,
                "url": dataset.url,
                "version": dataset.version or "1.0",
                "year": dataset.completed.year,
                "contributor": ", ".join(dataset.authors),
                "date_created": f"{dataset.completed:%Y/%m/%d}",
                "split": split.name,
            },
            "licenses": [{"id": 1, "name": dataset.licence, "url": ""}],
            "categories": [
                {"id": number, "name": name, "supercategory": dataset.world.name}
                for name, number in self.categories.items()
            ],
        }

    def _image(self, entry: ExportItem) -> dict[str, Any]:
        return {
            "id": entry.position,
            "file_name": entry.image_name,
            "width": entry.width,
            "height": entry.height,
            "license": 1,
        }

    def _annotations(self, split: ExportSplit, entry: ExportItem, *, first: int) -> Iterator[dict[str, Any]]:
        """Yield an annotation for each visible element. Ids count from 1, because some tools read 0 as 'none'."""
        if not split.shows_scenes:
            return
        labels = None if entry.ids is None else entry.ids()
        found = {} if labels is None else masks(labels)
        number = first
        for element in _elements(self.dataset, split, entry):
            place = _place(element, found.get(element.id + 1))
            if place is not None:
                yield {
                    "id": number,
                    "image_id": entry.position,
                    "category_id": self.categories[category_of(element, self.attribute)],
                    "bbox": list(place.box),
                    "area": place.area,
                    "iscrowd": 0,
                    "segmentation": self._segmentation(place, labels),
                    "object": element.id,
                    "attributes": dict(element.attributes),
                }
                number += 1

    def _segmentation(self, place: _Place, labels: NDArray[np.uint16] | None) -> Any:
        """Return a mask in COCO's form; for an element with only a box, the outline of the box."""
        if place.mask is None or labels is None:
            left, top, width, height = place.box
            return [[left, top, left + width, top, left + width, top + height, left, top + height]]
        counts = place.mask.counts
        return {"size": list(labels.shape), "counts": counts.tolist() if self.lists else compressed(counts)}


def _place(element: Element, mask: Mask | None) -> _Place | None:
    """Return the place of an element; None if no part of it is visible."""
    if mask is not None:
        return _Place(mask.box, mask.area, mask)
    if element.box is None:
        return None
    left, top, right, bottom = element.box
    return _Place((left, top, right - left, bottom - top), (right - left) * (bottom - top), None)


def _layout(dataset: ExportDataset) -> Iterator[str]:
    shown = [split.name for split in dataset.splits if split.shows_scenes]
    hidden = [split.name for split in dataset.splits if not split.shows_scenes]
    if any(split.images for split in dataset.splits):
        yield "- `images/`: a folder a split."
    yield f"- `annotations/instances_SPLIT.json`: boxes, masks and categories of {', '.join(shown)}."
    if hidden:
        yield f"- `annotations/image_info_SPLIT.json`: images alone, of {', '.join(hidden)}."


FORMAT = Coco()
