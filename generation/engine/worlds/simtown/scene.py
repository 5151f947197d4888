"""A scene: vehicles on the road, the things of the street, and the weather."""

from typing import Annotated, Any, Literal

from pydantic import Field

from generation.engine.spec import Frozen
from generation.engine.worlds.simtown.camera import GROUND_AXES

DIGITS = 3  # every number is rounded to these digits before a decision depends on it
LaneName = Literal["near", "far"]
WeatherName = Literal["clear", "overcast", "rain", "fog", "snow", "dusk"]
Metres = Annotated[float, Field(ge=-100.0, le=100.0)]


class Vehicle(Frozen):
    """A vehicle on the road: its entity, its lane, and its middle on the ground in metres."""

    entity: str
    lane: LaneName
    x: Metres
    y: Metres

    def along(self, relation: str) -> float:
        """Return how far it is in the direction of a relation, in metres."""
        a, b = GROUND_AXES[relation]
        return round(a * self.x + b * self.y, DIGITS)


class Building(Frozen):
    """A building: its style, its colour, and the middle of its front in metres."""

    style: str
    colour: str
    x: Metres
    y: Metres


class Thing(Frozen):
    """A tree, a mailbox or another thing beside the road: its kind and its place in metres."""

    kind: str
    x: Metres
    y: Metres


class Street(Frozen):
    """Everything that is not on the road."""

    buildings: tuple[Building, ...] = ()
    things: tuple[Thing, ...] = ()


class SimTownScene(Frozen):
    """A scene of SimTown.

    Attributes
    ----------
    vehicles : tuple of Vehicle
        Two, or three with a distractor, which is the last.
    distractor : bool
        Whether the last vehicle is a distractor.
    street : Street
    weather : str
    """

    vehicles: Annotated[tuple[Vehicle, ...], Field(min_length=1, max_length=3)]
    distractor: bool = False
    street: Street = Street()
    weather: WeatherName = "clear"

    def to_json(self) -> dict[str, Any]:
        """Return the scene as JSON."""
        return self.model_dump(mode="json")

    def number_of(self, entity: str) -> int | None:
        """Return the number of the vehicle that is an entity, or None."""
        return next((number for number, one in enumerate(self.vehicles) if one.entity == entity), None)


def is_related(one: Vehicle, two: Vehicle, relation: str, *, margin: float) -> bool:
    """Return whether one vehicle is, for example, left of another, by at least a margin in metres."""
    return round(one.along(relation) - two.along(relation), DIGITS) >= margin
