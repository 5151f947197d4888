"""CLEVR's scene: objects on a ground plane, and how they stand to each other, in the release's JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from generation.engine.errors import BadScene
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
    """

    shape: str
    size: str
    material: str
    color: str
    coords: Point
    rotation: float
    pixel_coords: Point

    def to_json(self) -> dict[str, Any]:
        """Return the object as the release writes it."""
        return {
            "shape": self.shape,
            "size": self.size,
            "material": self.material,
            "color": self.color,
            "3d_coords": list(self.coords),
            "rotation": self.rotation,
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
        related: Related = {
            name: tuple(tuple(int(j) for j in row) for row in data["relationships"][name]) for name in RELATIONS
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadScene(
            f"Expected objects, directions and relationships as the CLEVR release has them: {error!r}.",
            where="scene",
        ) from error
    if not 1 <= len(found) <= MAX_OBJECTS:
        raise BadScene(f"Expected 1 to {MAX_OBJECTS} objects, got {len(found)}.", where="scene.objects")
    for name, rows in related.items():
        if len(rows) != len(found) or any(not 0 <= j < len(found) for row in rows for j in row):
            raise BadScene(
                f"Expected a list of object numbers below {len(found)} for each object.",
                where=f"scene.relationships.{name}",
            )
    return Scene(found, directions, related)


def _read_object(data: Mapping[str, Any]) -> SceneObject:
    return SceneObject(
        shape=str(data["shape"]),
        size=str(data["size"]),
        material=str(data["material"]),
        color=str(data["color"]),
        coords=_point(data["3d_coords"]),
        rotation=float(data["rotation"]),
        pixel_coords=_point(data["pixel_coords"]),
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
