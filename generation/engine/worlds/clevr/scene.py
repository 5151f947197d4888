"""CLEVR's scene: objects on a ground plane, and how they stand to each other, in the release's JSON."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from generation.engine.errors import BadScene
from generation.engine.reading.published import shortened
from generation.engine.search import Objects, objects
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES, RELATIONS, Vocabulary

Point = tuple[float, float, float]
Related = Mapping[str, tuple[tuple[int, ...], ...]]
MAX_OBJECTS = 63


class SceneObject(NamedTuple):
    """One object.

    Attributes
    ----------
    shape, size, material, color : str
        Names from the vocabulary.
    coords : (float, float, float)
        Its centre, scene units; z is its scale.
    rotation : float
        About the vertical axis, in degrees.
    pixel_coords : (float, float, float)
        Its centre in the picture (column, row, in pixels) and its distance along the camera's view, scene units.
    published_rotation : float or None
        The number that a published file has for the rotation, which means radians there; None for scenes of ours.
    """

    shape: str
    size: str
    material: str
    color: str
    coords: Point
    rotation: float
    pixel_coords: Point
    published_rotation: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the object with the release's keys, and `published_rotation` where it has one."""
        published = {} if self.published_rotation is None else {"published_rotation": self.published_rotation}
        return {
            "shape": self.shape,
            "size": self.size,
            "material": self.material,
            "color": self.color,
            "3d_coords": list(self.coords),
            "rotation": self.rotation,
            **published,
            "pixel_coords": list(self.pixel_coords),
        }

    def describe(self) -> str:
        """Return the object in words: size, colour, material, shape."""
        return f"{self.size} {self.color} {self.material} {self.shape}"


@dataclass(frozen=True)
class Scene:
    """A scene.

    Attributes
    ----------
    objects : tuple of SceneObject
        Object `i` has id `i`.
    directions : mapping of str to (float, float, float)
        Unit vectors left, right, behind, front, above, below.
    relationships : mapping of str to tuple of tuple of int
        `relationships[r][i]`: the ids of those that are `r` of object `i`, ascending.
    """

    objects: tuple[SceneObject, ...]
    directions: Mapping[str, Point]
    relationships: Related

    @cached_property
    def masks(self) -> dict[str, tuple[int, ...]]:
        """For each relation, one bit mask an object: those that stand in it to that object."""
        return {
            name: tuple(sum(1 << j for j in related) for related in rows) for name, rows in self.relationships.items()
        }

    def having(self, attribute: str, value: str) -> int:
        """Return the mask of objects whose attribute has a value."""
        return self._having.get((attribute, value), 0)

    @cached_property
    def _having(self) -> dict[tuple[str, str], int]:
        found: dict[tuple[str, str], int] = {}
        for number, item in enumerate(self.objects):
            for attribute in ATTRIBUTES:
                key = (attribute, getattr(item, attribute))
                found[key] = found.get(key, 0) | 1 << number
        return found

    def for_search(self, vocabulary: Vocabulary) -> Objects:
        """Return the scene as the search sees it."""
        codes = {a: {value: code for code, value in enumerate(vocabulary.values(a))} for a in ATTRIBUTES}
        return objects(
            [[codes[a][getattr(item, a)] for a in ATTRIBUTES] for item in self.objects],
            [self.masks[relation] for relation in RELATIONS],
        )

    def to_json(self) -> dict[str, Any]:
        """Return the scene's objects, directions and relationships as the release writes them."""
        return {
            "objects": [item.to_json() for item in self.objects],
            "directions": {name: list(vector) for name, vector in self.directions.items()},
            "relationships": {name: [list(row) for row in rows] for name, rows in self.relationships.items()},
        }


def read_scene(data: Mapping[str, Any]) -> Scene:
    """Return the scene that the release's JSON describes; keys it doesn't need are ignored.

    Raises
    ------
    BadScene
        If a key is missing or of a wrong form, or a relation names an object that isn't there.
    """
    try:
        found = tuple(_read_object(item) for item in data["objects"])
        directions = {name: _point(vector) for name, vector in data["directions"].items()}
        related: Related = {name: tuple([_row(row) for row in data["relationships"][name]]) for name in RELATIONS}
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise _explain(data) from error
    if not 1 <= len(found) <= MAX_OBJECTS:
        raise BadScene(f"Expected 1 to {MAX_OBJECTS} objects, got {len(found)}.", where="scene.objects")
    for name, rows in related.items():
        if len(rows) != len(found) or any(not 0 <= j < len(found) for row in rows for j in row):
            raise BadScene(
                f"Expected a list of object numbers below {len(found)} for each object.",
                where=f"scene.relationships.{name}",
            )
    return Scene(found, directions, related)


def _explain(data: Any) -> BadScene:
    """Return what is wrong with the JSON of a scene that could not be read, and where."""
    for where, value, is_right, wanted in _expected(data):
        if not is_right(value):
            return BadScene(
                f"Expected {wanted}, got {'nothing' if value is ABSENT else shortened(value)}.", where=where
            )
    return BadScene("Expected objects, directions and relationships as the CLEVR release has them.", where="scene")


ABSENT: Any = object()
Test = Callable[[Any], bool]


def _expected(data: Any) -> Iterator[tuple[str, Any, Test, str]]:
    """Yield each part of a scene with what it must be, the whole before its parts."""
    yield "scene", data, _is_object, "an object with objects, directions and relationships"
    objects, directions, related = (data.get(name, ABSENT) for name in ("objects", "directions", "relationships"))
    yield "scene.objects", objects, _is_list, "a list of objects"
    for number, thing in enumerate(objects):
        where = f"scene.objects[{number}]"
        yield where, thing, _is_object, "an object"
        for name in ATTRIBUTES:
            yield f"{where}.{name}", thing.get(name, ABSENT), lambda value: value is not ABSENT, "a name"
        yield f"{where}.rotation", thing.get("rotation", ABSENT), _is_number, "a number"
        for name in ("3d_coords", "pixel_coords"):
            yield f"{where}.{name}", thing.get(name, ABSENT), _is_point, "a list of three numbers"
    yield "scene.directions", directions, _is_object, "an object with a vector for each direction"
    for name, vector in directions.items():
        yield f"scene.directions.{name}", vector, _is_point, "a list of three numbers"
    yield "scene.relationships", related, _is_object, f"an object with {', '.join(RELATIONS)}"
    for name in RELATIONS:
        rows = related.get(name, ABSENT)
        yield f"scene.relationships.{name}", rows, _is_list, "a list of object numbers for each object"
        for number, row in enumerate(rows):
            yield f"scene.relationships.{name}[{number}]", row, _is_row, "a list of object numbers"


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_point(value: Any) -> bool:
    return _is_list(value) and len(value) == 3 and all(map(_is_number, value))


def _is_row(value: Any) -> bool:
    return _is_list(value) and all(type(number) is int for number in value)


def _row(values: Any) -> tuple[int, ...]:
    """Return the numbers of a relation's row; raise TypeError for anything else, `true` too."""
    if values and not _WHOLE.issuperset(map(type, values)):
        raise TypeError
    return tuple(values)


_WHOLE = frozenset([int])


def read_published(data: Mapping[str, Any]) -> Scene:
    """Return the scene of a record whose `rotation` is in radians, with the published number of each object.

    CLEVR's generator chose a number of degrees and gave it to Blender, which takes radians. The files have that number.

    Raises
    ------
    BadScene
        As `read_scene` does.
    """
    scene = read_scene(data)
    found = [_turned(thing._replace(published_rotation=thing.rotation)) for thing in scene.objects]
    return replace(scene, objects=tuple(found))


def _turned(thing: SceneObject) -> SceneObject:
    """Return an object with the rotation that its published number means."""
    degrees = math.degrees(thing.published_rotation or 0.0)
    if not math.isfinite(degrees):
        raise BadScene(f"Expected a rotation in radians, got {thing.published_rotation}.", where="scene.objects")
    return thing._replace(rotation=round(degrees % 360.0, 6) % 360.0)


def _read_object(data: Mapping[str, Any]) -> SceneObject:
    thing = _plain_object(data)
    if thing.published_rotation is not None and _turned(thing) != thing:
        raise BadScene(
            f"Expected the published rotation in degrees, {_turned(thing).rotation}, got {thing.rotation}.",
            where="scene.objects",
        )
    return thing


def _plain_object(data: Mapping[str, Any]) -> SceneObject:
    return SceneObject(
        shape=str(data["shape"]),
        size=str(data["size"]),
        material=str(data["material"]),
        color=str(data["color"]),
        coords=_point(data["3d_coords"]),
        rotation=float(_number(data["rotation"])),
        pixel_coords=_point(data["pixel_coords"]),
        published_rotation=float(data["published_rotation"]) if "published_rotation" in data else None,
    )


def _point(values: Sequence[Any]) -> Point:
    x, y, z = values
    return (_number(x), _number(y), _number(z))


def _number(value: Any) -> Any:
    """Return a JSON number as it is: the release has whole pixels as integers, and they stay so."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"expected a number, got {value!r}")
    return value


def relationships(places: Sequence[Point], directions: Mapping[str, Point], *, threshold: float) -> Related:
    """Return who stands in which relation to whom.

    Parameters
    ----------
    places : sequence of (x, y, z)
        Objects' centres, scene units.
    directions : mapping
        Unit vectors of the relations.
    threshold : float
        How far along the direction, in scene units, one must be past the other.
    """
    return {
        name: tuple(
            tuple(j for j, there in enumerate(places) if j != i and _past(here, there, directions[name]) > threshold)
            for i, here in enumerate(places)
        )
        for name in RELATIONS
    }


def _past(here: Point, there: Point, direction: Point) -> float:
    return round(sum((there[axis] - here[axis]) * direction[axis] for axis in range(3)), 6)
