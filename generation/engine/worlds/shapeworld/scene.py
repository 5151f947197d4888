"""A microworld: flat coloured shapes on a square of side 1, in the order in which they are drawn.

References
----------
Kuhnle and Copestake 2017, ShapeWorld, section 3.2.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from generation.engine.errors import BadScene

DIGITS = 6  # every number is rounded to these digits before a decision depends on it
MAX_ENTITIES = 63  # sets of entities are masks of 64 bits
PENTAGON = 2.5 * math.sin(math.tau / 5) / (2 * math.sin(math.tau / 5) * (1 + math.cos(math.tau / 10)))
FILLED: Mapping[str, float] = {  # the share of its box that a shape fills
    "square": 1.0,
    "rectangle": 1.0,
    "triangle": 0.5,
    "pentagon": PENTAGON,
    "cross": 5 / 9,
    "circle": math.pi / 4,
    "semicircle": math.pi / 4,
    "ellipse": math.pi / 4,
}
SHAPES = tuple(FILLED)
NUMBERS = ("shade", "x", "y", "width", "height", "rotation")


class Entity(NamedTuple):
    """One coloured shape.

    Attributes
    ----------
    shape : str
        One of `SHAPES`.
    color : str
        A name from the vocabulary.
    shade : float
        -1 (black) .. 0 (the plain colour) .. 1 (white).
    x, y : float
        The centre of its box, in world units from the left and from the top.
    width, height : float
        The size of its box before rotation, in world units.
    rotation : float
        Clockwise, in turns, 0 .. 1.
    """

    shape: str
    color: str
    shade: float
    x: float
    y: float
    width: float
    height: float
    rotation: float

    @property
    def area(self) -> float:
        """The area that the entity covers, in world units squared; comparisons of size use it."""
        return round(FILLED[self.shape] * self.width * self.height, DIGITS)

    def to_json(self) -> dict[str, Any]:
        """Return the entity as JSON."""
        return self._asdict()


@dataclass(frozen=True)
class FlatScene:
    """A microworld.

    Attributes
    ----------
    entities : tuple of Entity
        In drawing order: later ones are drawn over earlier ones. The index is the entity's id.
    covers : tuple of int
        For each entity, the bit mask of earlier ones that it clearly overlaps, and is therefore in front of.
    grazes : tuple of int
        For each entity, the bit mask of earlier ones that it overlaps too little for a clear relation.
    height, width : int
        The picture's size in pixels.
    noise : float
        The standard deviation of each pixel's noise, as a share of the full range; 0 for none.
    noise_seed : int
        0 .. 2**32-1.
    """

    entities: tuple[Entity, ...]
    covers: tuple[int, ...]
    grazes: tuple[int, ...]
    height: int
    width: int
    noise: float = 0.0
    noise_seed: int = 0

    def having(self, attribute: str, value: str) -> int:
        """Return the mask of entities with this value of `shape` or `color`."""
        return self._having.get((attribute, value), 0)

    @property
    def everything(self) -> int:
        """The mask of all entities."""
        return (1 << len(self.entities)) - 1

    @cached_property
    def _having(self) -> dict[tuple[str, str], int]:
        found: dict[tuple[str, str], int] = {}
        for number, entity in enumerate(self.entities):
            for key in (("shape", entity.shape), ("color", entity.color)):
                found[key] = found.get(key, 0) | 1 << number
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the scene as JSON; masks become lists of ids."""
        return {
            "entities": [entity.to_json() for entity in self.entities],
            "covers": [_ids(mask) for mask in self.covers],
            "grazes": [_ids(mask) for mask in self.grazes],
            "height": self.height,
            "width": self.width,
            "noise": self.noise,
            "noise_seed": self.noise_seed,
        }


def read_scene(data: Mapping[str, Any]) -> FlatScene:
    """Return the scene that JSON describes.

    Raises
    ------
    BadScene
        If a key is missing or malformed, or an entity covers one that is not drawn before it.
    """
    try:
        entities = tuple(_read_entity(entity) for entity in data["entities"])
        covers, grazes = (_read_masks(data[name], where=f"scene.{name}") for name in ("covers", "grazes"))
        height, width, seed = (_whole(data[name]) for name in ("height", "width", "noise_seed"))
        noise = _number(data["noise"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadScene(
            "Expected entities, covers, grazes, height, width, noise and noise_seed of a microworld, got others.",
            where="scene",
        ) from error
    if not 1 <= len(entities) <= MAX_ENTITIES:
        raise BadScene(f"Expected 1 to {MAX_ENTITIES} entities, got {len(entities)}.", where="scene.entities")
    if not len(covers) == len(grazes) == len(entities) or any(map(int.__and__, covers, grazes)):
        raise BadScene("Expected for each entity whom it covers or grazes, not both.", where="scene.covers")
    return FlatScene(entities, covers, grazes, height, width, noise, seed)


def _ids(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def _read_masks(rows: Any, *, where: str) -> tuple[int, ...]:
    if any(not 0 <= _whole(i) < number for number, row in enumerate(rows) for i in row):
        raise BadScene("Expected for each entity a list of ids of earlier ones.", where=where)
    return tuple(sum(1 << i for i in set(row)) for row in rows)


def _read_entity(data: Mapping[str, Any]) -> Entity:
    shape, color = data["shape"], data["color"]
    if shape not in FILLED or not isinstance(color, str):
        raise ValueError(f"expected one of {', '.join(SHAPES)} of a colour, got {shape!r}, {color!r}")
    shade, x, y, width, height, rotation = (_number(data[name]) for name in NUMBERS)
    return Entity(shape, color, shade, x, y, width, height, rotation)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"expected a number, got {value!r}")
    return float(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"expected a whole number, got {value!r}")
    return value


LEAST = 40  # pixels that an easily visible entity covers
PALE = 0.3  # the largest shade with which colours are easy to name


def is_clear(scene: FlatScene) -> bool:
    """Return whether no entity overlaps another, is small, or has a shade that makes its colour hard to name."""
    pixels = scene.width * scene.height
    return (
        not any(scene.covers)
        and not any(scene.grazes)
        and all(entity.area * pixels >= LEAST and abs(entity.shade) <= PALE for entity in scene.entities)
    )
