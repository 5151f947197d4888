"""Records of published questions: their checked fields, and the items that are made of them, one for each picture."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from generation.engine.errors import BadRecord
from generation.engine.items import Answer, AnswerKind, Item, Question
from generation.engine.reading.dataset_reader import ReadItem, shorten, value_of
from generation.engine.worlds.counting.picture_scene import (
    LONGEST_NAME,
    MOST_SIDE,
    Box,
    CountedObjects,
    PictureScene,
    Source,
)

SIMPLE, COMPLEX, UNKNOWN = "simple", "complex", "unknown"
MOST_TEXT = 10_000  # characters of a question
MOST_CLASS = 100  # characters of a class
MOST_BOXES = 1_000  # for each question
DIGITS = 3  # after the decimal point, in the corners of boxes
QUESTIONS_EACH = 4_000
MOST_ID = 1 << 62
NO_PARTS = frozenset({"", ".", ".."})  # parts that the path of a picture must not have
NUMBER = re.compile(r"[a-z]+|[0-9]+(?:\.[0-9]+)?", re.IGNORECASE)
NUMBERS: Mapping[str, int] = {
    word: number
    for number, word in enumerate(
        (
            *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
            *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
        )
    )
} | {"none": 0}


class PublishedPicture(NamedTuple):
    """A picture: its path, number and source in the published files, and its size in pixels, 0 if it is not known."""

    path: str
    number: int
    source: Source
    width: int = 0
    height: int = 0


class PublishedQuestion(NamedTuple):
    """A question about a picture.

    Attributes
    ----------
    text : str
    answer : int
    kind : str
    source_id : str
        The published id; empty for a question that was not published.
    class_name : str
        Empty if it was not published.
    boxes : tuple of Box or None
        None if they were not published.
    """

    text: str
    answer: int
    kind: str
    source_id: str = ""
    class_name: str = ""
    boxes: tuple[Box, ...] | None = None


class PictureQuestions:
    """Collects the questions of a file by picture. They are in memory until the file is read: about 0.5 kB for each."""

    def __init__(self) -> None:
        self.groups: dict[str, tuple[PublishedPicture, list[PublishedQuestion]]] = {}
        self.ids: set[str] = set()

    def add(self, picture: PublishedPicture, question: PublishedQuestion, *, where: str) -> None:
        """Add a question; raise `BadRecord` if it contradicts an earlier one."""
        first, questions = self.groups.setdefault(picture.path, (picture, []))
        if first != picture:
            raise BadRecord(
                f"Expected one number and one size for {picture.path}, {first[1:]} as before, got {picture[1:]}.",
                where=where,
            )
        if question.source_id in self.ids:
            message = f"Expected an id that no earlier question has, got {question.source_id} again."
            raise BadRecord(message, where=where)
        if question.source_id:
            self.ids.add(question.source_id)
        if any(one.text == question.text and one.boxes != question.boxes for one in questions):
            raise BadRecord(
                f"Expected the same boxes for the same question about {picture.path}, got others.", where=where
            )
        if len(questions) >= QUESTIONS_EACH:
            raise BadRecord(f"Expected at most {QUESTIONS_EACH:,} questions about a picture, got more.", where=where)
        questions.append(question)

    def items(self, *, classes: Sequence[str], skip: int, where: str) -> Iterator[ReadItem]:
        """Yield an item for each picture, in the order of the first questions, without the first `skip` items.

        `BadRecord` is raised if there are no questions; `where` names the file.
        """
        if not self.groups:
            raise BadRecord("Expected at least one question, got none.", where=where)
        known = frozenset(classes)
        for picture, questions in islice(self.groups.values(), skip, None):
            yield _read_item(picture, questions, known)


def _read_item(picture: PublishedPicture, questions: Sequence[PublishedQuestion], known: frozenset[str]) -> ReadItem:
    counted = {
        one.text: CountedObjects(text=one.text, name=one.class_name, boxes=one.boxes)
        for one in questions
        if one.boxes is not None
    }
    scene = PictureScene(
        image=picture.path,
        source=picture.source,
        width=picture.width,
        height=picture.height,
        counted=tuple(counted.values()),
    )
    asked = [
        Question(one.text, None, _answer(one.answer), one.kind, source_id=one.source_id or None) for one in questions
    ]
    return ReadItem(
        Item(scene, None, tuple(asked), number=picture.number, image_name=picture.path),
        most=max(one.answer for one in questions),
        words=tuple(dict.fromkeys(one.name for one in scene.counted if one.name not in known)),
        size=(picture.width, picture.height),
    )


@cache
def _answer(count: int) -> Answer:
    return Answer(str(count), AnswerKind.INTEGER)


# Fields of records


def text_of(record: Any, name: str, *, where: str, most: int = MOST_TEXT) -> str:
    """Return a text of a record without blanks around it; raise `BadRecord`."""
    text: str = value_of(record, name, str, where=where).strip()
    if not text or len(text) > most or "\0" in text:
        raise BadRecord(
            f"Expected a text of 1 to {most:,} characters without NUL, got {shorten(text)}.", where=f"{where}, {name}"
        )
    return text


def number_of(record: Any, name: str, *, where: str, most: int = MOST_ID) -> int:
    """Return a whole number from 0 of a record; raise `BadRecord`."""
    number: int = value_of(record, name, int, where=where)
    if not 0 <= number <= most:
        raise BadRecord(f"Expected a whole number from 0 to {most:,}, got {number}.", where=f"{where}, {name}")
    return number


def path_of(record: Any, name: str, *, where: str) -> str:
    """Return the relative path of a picture; raise `BadRecord` for a path that could leave its folder."""
    path: str = value_of(record, name, str, where=where)
    if len(path) > LONGEST_NAME or "\\" in path or "\0" in path or not NO_PARTS.isdisjoint(path.split("/")):
        raise BadRecord(
            f"Expected a relative path of at most {LONGEST_NAME} characters, without `..`, got {shorten(path)}.",
            where=f"{where}, {name}",
        )
    return path


def side_of(record: Any, name: str, *, where: str) -> int:
    """Return a picture's width or height in pixels; raise `BadRecord`."""
    side = number_of(record, name, where=where, most=MOST_SIDE)
    if side == 0:
        raise BadRecord("Expected a size of at least 1 pixel, got 0.", where=f"{where}, {name}")
    return side


def corners_of(values: Any, picture: PublishedPicture, *, where: str) -> Box:
    """Return a box left, top, right, bottom, cut at the edges of its picture.

    Raises
    ------
    BadRecord
        If `values` are not four numbers, or the box is inverted or more than a pixel outside of the picture.
    """
    if not isinstance(values, list) or len(values) != 4 or not all(_is_finite(value) for value in values):
        raise BadRecord(f"Expected four numbers, got {shorten(values)}.", where=where)
    left, top, right, bottom = (round(float(value), DIGITS) for value in values)
    if right < left or bottom < top:
        raise BadRecord(f"Expected left, top, right and bottom of a box, got {shorten(values)}.", where=where)
    if min(left, top) < -1 or right > picture.width + 1 or bottom > picture.height + 1:
        raise BadRecord(
            f"Expected a box in a picture of {picture.width} × {picture.height} pixels, got {shorten(values)}.",
            where=where,
        )
    x, y = float(picture.width), float(picture.height)
    return min(max(left, 0.0), x), min(max(top, 0.0), y), min(max(right, 0.0), x), min(max(bottom, 0.0), y)


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def count_in(text: Any, *, most: int, where: str) -> int:
    """Return the only number in an answer in words or digits, such as `3`, `Three.` and `2 people`.

    Raises
    ------
    BadRecord
        If the answer has no number or several, or a number above `most`.
    """
    words = [word.lower() for word in NUMBER.findall(text)] if isinstance(text, str) else []
    numbers = {NUMBERS.get(word, float(word) if word[0].isdigit() else None) for word in words} - {None}
    count = numbers.pop() if len(numbers) == 1 else None
    if count is None or count > most or count % 1:
        raise BadRecord(f"Expected an answer with one number from 0 to {most}, got {shorten(text)}.", where=where)
    return int(count)
