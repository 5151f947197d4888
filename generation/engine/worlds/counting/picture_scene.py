"""An imported scene: a photograph, and the boxes of the counted objects if they were published."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from generation.engine.items import Element, Question
from generation.engine.spec import Frozen

LONGEST_NAME = 200  # characters of a picture's path, as the database stores it
MOST_SIDE = 100_000  # pixels
Source = Literal["coco", "visual_genome", ""]
Pixel = Annotated[float, Field(ge=0.0, le=MOST_SIDE)]


def _not_inverted(box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    left, top, right, bottom = box
    if right < left or bottom < top:
        raise ValueError(f"Expected a box left, top, right, bottom, got {list(box)}")
    return box


Box = Annotated[tuple[Pixel, Pixel, Pixel, Pixel], AfterValidator(_not_inverted)]
"""Left, top, right and bottom in pixels of the published picture."""


class CountedObjects(Frozen):
    """What a question counts: the question's text, the class, and a box for each object of the class."""

    text: str
    name: Annotated[str, Field(min_length=1, max_length=100)]
    boxes: tuple[Box, ...] = ()


class PictureScene(Frozen):
    """A photograph.

    Attributes
    ----------
    image : str
        The picture's path in the published files.
    source : str
        `coco` or `visual_genome`; empty if it is not known.
    width, height : int
        In pixels; 0 if the size is not known.
    counted : tuple of CountedObjects
        One for each question whose boxes were published.
    """

    image: Annotated[str, Field(max_length=LONGEST_NAME)]
    source: Source = ""
    width: Annotated[int, Field(ge=0, le=MOST_SIDE)] = 0
    height: Annotated[int, Field(ge=0, le=MOST_SIDE)] = 0
    counted: tuple[CountedObjects, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the scene as JSON."""
        return self.model_dump(mode="json")

    def elements(self) -> tuple[Element, ...]:
        """Return the objects of all questions, question by question."""
        found = [(one.name, box) for one in self.counted for box in one.boxes]
        return tuple(Element(number, name, box=box) for number, (name, box) in enumerate(found))

    def ids_of(self, question: Question) -> tuple[int, ...] | None:
        """Return the ids of the elements that a question counts, or None if its boxes were not published."""
        first = 0
        for one in self.counted:
            if one.text == question.text:
                return tuple(range(first, first + len(one.boxes)))
            first += len(one.boxes)
        return None
