"""The reader of COCO's instances: it makes a question about one class for each chosen picture, with boxes.

As in COCO-Grounding, equally many questions have the answers 0, 1 and 2, and every larger count has a question.

References
----------
Dancette et al. 2020, Overcoming Statistical Shortcuts for Open-ended Visual Counting, section 6.3.
"""

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadRecord
from generation.engine.reading.bounded_json import Guarded
from generation.engine.reading.dataset_reader import Open, ReadItem, SplitFiles
from generation.engine.reading.json_stream import JsonText, records
from generation.engine.seeding import Stage, Stream, stream
from generation.engine.worlds.counting.formats.question_files import (
    QuestionFile,
    QuestionFilesReader,
    add_file,
    split_of,
)
from generation.engine.worlds.counting.formats.records import (
    MOST_CLASS,
    SIMPLE,
    PictureQuestions,
    PublishedPicture,
    PublishedQuestion,
    corners_of,
    number_of,
    path_of,
    side_of,
    text_of,
)
from generation.engine.worlds.counting.imported_facets import plural
from generation.engine.worlds.counting.spec import CountingSpec

INSTANCES = "instances"
PART = re.compile(r"(?:train|val|test)20\d\d")  # the folder of the pictures, in the name of a file
OTHERWISE = "grounding"  # the split of a file whose name contains no split


class CocoInstancesReader(QuestionFilesReader):
    """Reads files such as instances_val2014.json."""

    name: ClassVar[str] = "coco-instances"
    label: ClassVar[str] = "COCO's instances, for questions as in COCO-Grounding"

    def assign(self, files: Sequence[QuestionFile]) -> dict[str, dict[str, str]]:
        """Return the files by split; the name of a file contains its split."""
        found: dict[str, dict[str, str]] = {}
        for file in files:
            if file.is_named or file.name.startswith(INSTANCES):
                add_file(found, split_of(file.name) or OTHERWISE, INSTANCES, file.path)
        if not found:
            where = ", ".join(file.path for file in files)
            raise BadRecord("Expected a file such as instances_val2014.json, got none.", where=where)
        return found

    def images_of(self, files: Mapping[str, str], folder: str) -> str:
        """Return the folder of the part of COCO that is in a file's name, or `folder` if there is none."""
        part = PART.search(PurePosixPath(files[INSTANCES]).name)
        return str(Path(folder, part[0])) if folder and part and Path(folder, part[0]).is_dir() else folder

    def items(self, split: SplitFiles, *, spec: CountingSpec, opened: Open, skip: int) -> Iterator[ReadItem]:
        """Yield the chosen pictures with their questions."""
        instances = _read(split.files[INSTANCES], opened=opened)
        chance = stream(seed=spec.seed, split=split.name, index=0, stage=Stage.QUESTIONS)
        chosen = sorted(_choose(instances, most=spec.most, chance=chance))
        questions = PictureQuestions()
        for image, number in chosen:
            name, rows = instances.classes[number], instances.rows(image, number)
            boxes = tuple((left, top, right, bottom) for left, top, right, bottom in instances.boxes[rows].tolist())
            text = f"How many {plural(name)}?"
            asked = PublishedQuestion(text, len(boxes), SIMPLE, class_name=name, boxes=boxes)
            questions.add(instances.pictures[image], asked, where=instances.name)
        yield from questions.items(classes=spec.classes, skip=skip, where=instances.name)


class _Instances(NamedTuple):
    """The content of a file: pictures and classes in their order, and the objects sorted by picture and class.

    `images`, `numbers` (n,) are the positions of each object's picture and class, `boxes` (n, 4) float64 are left,
    top, right, bottom in pixels, and `crowds` (n,) says which boxes are around several objects.
    """

    name: str
    pictures: Sequence[PublishedPicture]
    classes: Sequence[str]
    images: NDArray[np.int64]
    numbers: NDArray[np.int64]
    boxes: NDArray[np.float64]
    crowds: NDArray[np.bool_]

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Return the number of each object's pair of picture and class (n,), ascending."""
        return self.images * len(self.classes) + self.numbers

    def rows(self, image: int, number: int) -> slice:
        """Return the positions in the arrays of the objects of a class in a picture."""
        pair = image * len(self.classes) + number
        return slice(*np.searchsorted(self.pairs, [pair, pair + 1]).tolist())


def _read(path: str, *, opened: Open) -> _Instances:
    name = PurePosixPath(path).name

    def each(key: str) -> Iterator[tuple[Any, str]]:
        with closing(opened(path)) as file:
            for place, record in enumerate(records(JsonText(Guarded(file)), key, where=name)):
                yield record, f"{name}, {key}[{place}]"

    classes: dict[int, str] = {}
    for record, where in each("categories"):
        classes[_new_id(record, classes, where=where)] = text_of(record, "name", where=where, most=MOST_CLASS)
    pictures: dict[int, PublishedPicture] = {}
    for record, where in each("images"):
        number = _new_id(record, pictures, where=where)
        width, height = (side_of(record, side, where=where) for side in ("width", "height"))
        pictures[number] = PublishedPicture(path_of(record, "file_name", where=where), number, "coco", width, height)
    of_image = {number: place for place, number in enumerate(pictures)}
    of_class = {number: place for place, number in enumerate(classes)}
    objects, boxes = array("q"), array("d")
    for record, where in each("annotations"):
        if isinstance(record, Mapping) and "keypoints" in record:
            raise BadRecord("Expected instances of COCO, got key points. Give instances_val2014.json.", where=where)
        image = _known(record, "image_id", of_image, where=where)
        number = _known(record, "category_id", of_class, where=where)
        objects.extend((of_image[image], of_class[number], record.get("iscrowd") == 1))
        boxes.extend(corners_of(_corners(record), pictures[image], where=f"{where}, bbox"))
    found = np.array(objects, np.int64).reshape(-1, 3)
    order = np.lexsort((found[:, 1], found[:, 0]))
    images, numbers, crowds = found[order].T
    return _Instances(
        name,
        list(pictures.values()),
        list(classes.values()),
        images,
        numbers,
        np.array(boxes, np.float64).reshape(-1, 4)[order],
        crowds.astype(np.bool_),
    )


def _new_id(record: Any, met: Mapping[int, Any], *, where: str) -> int:
    number = number_of(record, "id", where=where)
    if number in met:
        raise BadRecord(f"Expected an id that no earlier record has, got {number} again.", where=f"{where}, id")
    return number


def _known(record: Any, name: str, known: Mapping[int, int], *, where: str) -> int:
    number = number_of(record, name, where=where)
    if number not in known:
        raise BadRecord(f"Expected an id that the file lists, got {number}.", where=f"{where}, {name}")
    return number


def _corners(record: Mapping[str, Any]) -> Any:
    """Return the corners of an annotation's box, which is written as left, top, width and height."""
    match record.get("bbox"):
        case [int() | float() as left, int() | float() as top, int() | float() as width, int() | float() as height]:
            return [left, top, left + width, top + height]
        case other:
            return other


def _choose(instances: _Instances, *, most: int, chance: Stream) -> Iterator[tuple[int, int]]:
    """Yield the positions of the picture and of the class of each question.

    Equally many pairs with no, one and two objects are drawn, and all pairs with more, up to `most`. Pairs with a box
    around several objects are left out, because their count is not known.
    """
    pairs, counts = np.unique(instances.pairs, return_counts=True)
    counts[np.isin(pairs, instances.pairs[instances.crowds])] = 0
    ones, twos = ([*pairs[counts == count].tolist()] for count in (1, 2))
    chance.shuffle(ones)
    chance.shuffle(twos)
    zeros = _absent(instances, chance, count=min(len(ones), len(twos)))
    many = pairs[(counts > 2) & (counts <= most)].tolist()
    for pair in (*ones[: len(zeros)], *twos[: len(zeros)], *zeros, *many):
        yield divmod(pair, len(instances.classes))


def _absent(instances: _Instances, chance: Stream, *, count: int) -> list[int]:
    """Return up to `count` pairs of a picture and a class that is not in it, from as many pictures as possible."""
    met, order = set(instances.pairs.tolist()), list(range(len(instances.pictures)))
    found: list[int] = []
    chance.shuffle(order)
    for _ in instances.classes:
        for image in islice(order, count - len(found)):
            first = image * len(instances.classes)
            absent = [pair for pair in range(first, first + len(instances.classes)) if pair not in met]
            if absent:
                found.append(chance.choice(absent))
                met.add(found[-1])
    return found


READER = CocoInstancesReader()
