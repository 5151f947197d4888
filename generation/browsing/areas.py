"""Objects that can be pointed at: their silhouettes as areas over the picture, each with what is said of it."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from generation.browsing.outlines import Seen
from generation.browsing.pictures import Picture
from generation.engine.worlds import Element

LETTERS_ACROSS = 58  # of a picture's width
WIDE = 0.56  # of a letter's height: how wide one is, about
PADDING = 0.5  # letters


class Tip(NamedTuple):
    """A label in the picture, in its pixels: the box, and where its text stands."""

    x: float
    y: float
    width: float
    height: float
    middle: float
    base: float
    size: float


class Area(NamedTuple):
    """An element's silhouette with its label."""

    element: Element
    text: str
    path: str
    tip: Tip


def areas_of(elements: Iterable[Element], seen: Mapping[int, Seen], picture: Picture) -> list[Area]:
    """Return an area for each element of which something is seen."""
    return [
        Area(element, text, seen[element.id].path, tip_for(text, seen[element.id], picture))
        for element in elements
        if element.id in seen
        for text in [text_of(element)]
    ]


def text_of(element: Element) -> str:
    """Return what is said of an element: what it is called, and those attributes that this leaves out."""
    missing = [value for value in element.attributes.values() if value not in element.label]
    return ", ".join([f"{element.id}: {element.label}", *missing])


def tip_for(text: str, seen: Seen, picture: Picture) -> Tip:
    """Return the place of a label: above the element, below where there is no room, within the picture."""
    size = picture.width / LETTERS_ACROSS / WIDE
    width, height = (len(text) + 2 * PADDING) * size * WIDE, 1.5 * size
    middle = min(max(seen.place.x, width / 2), max(picture.width - width / 2, width / 2))
    above = seen.top - height - size / 4
    y = above if above >= 0 else min(seen.bottom + size / 4, picture.height - height)
    numbers = (middle - width / 2, y, width, height, middle, y + 1.08 * size, size)
    return Tip(*(round(number, 1) for number in numbers))
