"""CLEVR's scene: objects on a ground plane and the relations between them, in the release's JSON."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from generation.engine.errors import BadScene
from generation.engine.reading.dataset_reader import shorten
from generation.engine.search import Objects, objects
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES, RELATIONS, ClevrVocabulary

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
        Its centre, in scene units; z is the object's scale.
    rotation : float
        Rotation about the vertical axis, in degrees.
    pixel_coords : (float, float, float)
        Its centre in the picture (column and row, in pixels), and its depth along the camera's view, in scene units.
    published_rotation : float or None
        The rotation as a published file has it, which the renderer took for radians; None for our own scenes.
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
        """Return the object with the release's keys, and `published_rotation` unless it is None."""
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
class ClevrScene:
    """A scene.

    Attributes
    ----------
    objects : tuple of SceneObject
        Object `i` has id `i`.
    directions : mapping of str to (float, float, float)
        Unit vectors left, right, behind, front, above, below.
    relationships : mapping of str to tuple of tuple of int
        `relationships[r][i]`: the ids of the objects that are `r` of object `i`, ascending.
    """

    objects: tuple[SceneObject, ...]
    directions: Mapping[str, Point]
    relationships: Related

    @cached_property
    def masks(self) -> dict[str, tuple[int, ...]]:
        """For each relation, one bit mask for each object: the objects that are in that relation to it."""
        return {
            name: tuple(sum(1 << j for j in related) for related in rows) for name, rows in self.relationships.items()
        }

    def having(self, attribute: str, value: str) -> int:
        """Return the mask of the objects with this value of the attribute."""
        return self._having.get((attribute, value), 0)

    @cached_property
    def _having(self) -> dict[tuple[str, str], int]:
        found: dict[tuple[str, str], int] = {}
        for number, item in enumerate(self.objects):
            for attribute in ATTRIBUTES:
                key = (attribute, getattr(item, attribute))
                found[key] = found.get(key, 0) | 1 << number
        return found

    def for_search(self, vocabulary: ClevrVocabulary) -> Objects:
        """Return the scene in the form that the search takes."""
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


def read_scene(data: Mapping[str, Any]) -> ClevrScene:
    """Return the scene that the release's JSON describes; other keys are ignored.

    Raises
    ------
    BadScene
        If a key is missing or malformed, or a relation names an unknown object.
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
    return ClevrScene(found, directions, related)


def _explain(data: Any) -> BadScene:
    """Return the error that says what is wrong with a scene's JSON, and where."""
    for where, value, is_right, wanted in _expectations(data):
        if not is_right(value):
            return BadScene(f"Expected {wanted}, got {'nothing' if value is ABSENT else shorten(value)}.", where=where)
    return BadScene("Expected objects, directions and relationships as the CLEVR release has them.", where="scene")


ABSENT: Any = object()
Test = Callable[[Any], bool]


def _expectations(data: Any) -> Iterator[tuple[str, Any, Test, str]]:
    """Yield each part of a scene with its path, a test and the expected form; the whole comes before its parts."""
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
    """Return the numbers of a relation's row; raise TypeError for other types, also for booleans."""
    if values and not _WHOLE.issuperset(map(type, values)):
        raise TypeError
    return tuple(values)


_WHOLE = frozenset([int])


def read_published(data: Mapping[str, Any]) -> ClevrScene:
    """Return the scene of a record whose `rotation` is in radians; its objects keep the published number.

    CLEVR's generator chose a number of degrees and gave it to Blender, which takes radians. Files have that number.

    Raises
    ------
    BadScene
        As `read_scene` does.
    """
    scene = read_scene(data)
    found = [_with_degrees(thing._replace(published_rotation=thing.rotation)) for thing in scene.objects]
    return replace(scene, objects=tuple(found))


def _with_degrees(thing: SceneObject) -> SceneObject:
    """Return an object with `rotation` in degrees, computed from its published number."""
    degrees = math.degrees(thing.published_rotation or 0.0)
    if not math.isfinite(degrees):
        raise BadScene(f"Expected a rotation in radians, got {thing.published_rotation}.", where="scene.objects")
    return thing._replace(rotation=round(degrees % 360.0, 6) % 360.0)


def _read_object(data: Mapping[str, Any]) -> SceneObject:
    thing = _plain_object(data)
    if thing.published_rotation is not None and _with_degrees(thing) != thing:
        raise BadScene(
            f"Expected the published rotation in degrees, {_with_degrees(thing).rotation}, got {thing.rotation}.",
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
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"expected a number, got {value!r}")
    return value


def relationships(places: Sequence[Point], directions: Mapping[str, Point], *, threshold: float) -> Related:
    """Return, for each relation and each object, the objects that are in that relation to it.

    Parameters
    ----------
    places : sequence of (x, y, z)
        The objects' centres, in scene units.
    directions : mapping
        Unit vectors of the relations.
    threshold : float
        How far the second object must be past the first along the direction, in scene units.
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
