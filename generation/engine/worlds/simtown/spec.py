"""The spec of a SimTown dataset; the defaults are the paper's values where it gives them.

References
----------
Bingham et al. 2017, Characterizing how Visual Question Answering models scale with the world, sections 2.2 and 6.3-6.5.
The paper gives neither its vehicles nor its frequencies, margin and picture size: these are ours.
"""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from generation.engine.spec import COMMON, LIMITS, BaseSpec, Frozen, PresetFiles, limit_mark
from generation.engine.worlds.simtown.entities import ENTITIES
from generation.engine.worlds.simtown.frequencies import Marginals, check_marginals, zipf
from generation.engine.worlds.simtown.road import room_for
from generation.engine.worlds.simtown.scene import WeatherName

PACKAGE = "generation.engine.worlds.simtown"
SIDE = COMMON | limit_mark("side")
NAMES = tuple(one.name for one in ENTITIES)
FEWEST = 4  # with fewer, the most frequent entity of Zipf's law would be in more than half of the pairs
RelationName = Literal["left", "right", "front", "behind"]
PlacementName = Literal["beside", "random"]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Weight = Annotated[float, Field(ge=0.0, le=1000.0)]


class StreetParameters(Frozen):
    """How scenes are sampled."""

    weathers: list[WeatherName] = Field(
        default=["clear", "overcast", "rain", "fog", "snow", "dusk"],
        min_length=1,
        description="each scene has one of them, all equally often",
    )
    least_pixels: int = Field(
        default=70,
        ge=1,
        le=100,
        title="Visible pixels, at least",
        description="of every vehicle, in a picture 96 pixels wide and 64 high",
    )
    tries: int = Field(default=1_000, ge=1, le=1_000_000, description="attempts to place the vehicles of a scene")


class SimTownImageParameters(Frozen):
    """How pictures are drawn."""

    width: int = Field(
        default=96, ge=32, le=LIMITS["side"].ceiling, title="Width", description="pixels", json_schema_extra=SIDE
    )
    height: int = Field(
        default=64, ge=24, le=LIMITS["side"].ceiling, title="Height", description="pixels", json_schema_extra=SIDE
    )
    samples: int = Field(default=4, ge=1, le=64, description="rays in each pixel at an edge")

    @model_validator(mode="after")
    def _not_tall(self) -> Self:
        if not self.height <= self.width <= 2 * self.height:
            raise ValueError(
                f"Expected a width of one to two times the height, got {self.width} × {self.height} pixels"
            )
        return self


class FalseShares(Frozen):
    """How often a question whose answer is no is false in which way; the weights need not add up to one.

    `reversed`: the relation holds the other way round. `wrong`: the subject is the distractor. `absent`: the subject or
    the object is not in the picture. Without a distractor, `wrong` is left out.
    """

    reversed: Weight = 1.0
    wrong: Weight = 1.0
    absent: Weight = 1.0

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.reversed + self.absent <= 0.0:
            raise ValueError("Expected a weight above 0 for reversed or absent, got 0 for both")
        return self


class EntityShares(Frozen):
    """How often an entity is the subject, and how often it is the object."""

    subject: Share
    object: Share


class QuestionParameters(Frozen):
    """What questions are about.

    `frequencies` are those of entities in questions: with `zipf`, shares are proportional to 1 / rank ** exponent, with
    `uniform` they are the same for all. `shares` gives them for each entity, instead of Zipf's law.
    """

    relations: list[RelationName] = Field(default=["left", "right"], min_length=1, json_schema_extra=COMMON)
    margin: float = Field(
        default=1.5,
        ge=0.1,
        le=20.0,
        title="Margin",
        description="metres that two vehicles are at least apart if one is left of the other",
    )
    false_shares: FalseShares = FalseShares()
    frequencies: Literal["zipf", "uniform"] = Field(
        default="zipf", json_schema_extra=COMMON, description="how often entities are the subject and the object"
    )
    exponent: float = Field(default=1.0, ge=0.0, le=3.0, description="of Zipf's law")
    shares: dict[str, EntityShares] = Field(default={}, max_length=len(NAMES))
    ranks: list[str] = Field(
        default=[], max_length=len(NAMES), description="the entities from the most frequent one; empty: a fixed order"
    )


class SimTownSpec(BaseSpec):
    """The spec of a SimTown dataset."""

    world: Literal["simtown"] = "simtown"
    entities: int = Field(
        default=15,
        ge=FEWEST,
        le=len(NAMES),
        title="Entities",
        description="kinds of vehicles; the first of a fixed order",
        json_schema_extra=COMMON,
    )
    distractor: bool = Field(
        default=False,
        title="Distractor",
        description="a third vehicle",
        json_schema_extra=COMMON,
    )
    distractor_placement: PlacementName = Field(
        default="beside",
        title="Placement of the distractor",
        description="beside the object of the question, or at random as in the paper",
        json_schema_extra=COMMON,
    )
    scene: StreetParameters = StreetParameters()
    questions: QuestionParameters = QuestionParameters()
    images: SimTownImageParameters = SimTownImageParameters()

    @model_serializer(mode="wrap")
    def _as_before(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out the default placement, which specs of earlier releases do not have."""
        data: dict[str, Any] = plain(self)
        return {name: value for name, value in data.items() if name != "distractor_placement" or value != "beside"}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the spec's entities."""
        return NAMES[: self.entities]

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """The spec's entities from the most frequent one; by default in a fixed order that means nothing."""
        return tuple(self.questions.ranks) or tuple(sorted(self.names, key=_arbitrary))

    @cached_property
    def usual(self) -> Marginals:
        """How often each of `names` is the subject and the object, as if `frequencies` were not uniform."""
        wanted = self.questions
        if wanted.shares:
            shares = [wanted.shares[name] for name in self.names]
            return Marginals(tuple(one.subject for one in shares), tuple(one.object for one in shares))
        by_rank = dict(zip(self.ranked, zipf(self.entities, wanted.exponent), strict=True))
        own = tuple(by_rank[name] for name in self.names)
        return Marginals(own, own)

    @cached_property
    def marginals(self) -> Marginals:
        """How often each of `names` is the subject and the object of this split's questions."""
        if self.questions.frequencies == "uniform":
            own = tuple(zipf(self.entities, 0.0))
            return Marginals(own, own)
        return self.usual

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        wanted = self.questions
        if wanted.ranks and sorted(wanted.ranks) != sorted(self.names):
            odd = sorted(set(wanted.ranks) ^ set(self.names))
            raise ValueError(
                f"Expected questions.ranks with each of the {self.entities} entities once, got "
                f"{f'{odd[0]!r} missing or unknown' if odd else 'one of them twice'}"
            )
        if wanted.shares:
            odd = sorted(set(wanted.shares) ^ set(self.names))
            if odd:
                problem = "no shares of" if odd[0] in self.names else "shares of the unknown entity"
                raise ValueError(f"Expected questions.shares of the {self.entities} entities, got {problem} {odd[0]!r}")
        check_marginals(self.marginals, self.names)
        if len(set(wanted.relations)) < len(wanted.relations):
            raise ValueError("Expected each of questions.relations once, got one of them twice")
        for relation in wanted.relations:
            room = room_for(self.names, relation)
            if wanted.margin > room.margin:
                raise ValueError(
                    f"Expected questions.margin of at most {room.margin:g} metres with the relation {relation!r}, "
                    f"because the picture shows no more of the road ({room.first} and {room.second}), got "
                    f"{wanted.margin:g}"
                )
        return self


def _arbitrary(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def _by_size(name: str) -> Any:
    rest = name.removeprefix("simtown-")
    number, _, third = rest.removeprefix("k").partition("-")
    return (rest != "mini", third, int(number) if number.isdigit() else 0)


PRESETS: Mapping[str, dict[str, Any]] = PresetFiles(PACKAGE, order=_by_size)
