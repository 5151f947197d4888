"""The spec of a ShapeWorld dataset; the defaults are the paper's values where it gives them.

References
----------
Kuhnle and Copestake 2017, ShapeWorld, sections 3.2 and 4; other constants are those of the original generator.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from generation.engine.errors import BadSpec
from generation.engine.spec import (
    COMMON,
    LIMITS,
    BaseSpec,
    Frozen,
    PresetFiles,
    check_references,
    limit_mark,
    merge,
    over_preset,
    read,
)
from generation.engine.worlds.shapeworld.caption_parameters import CaptionParameters
from generation.engine.worlds.shapeworld.scene import MAX_ENTITIES
from generation.engine.worlds.shapeworld.vocabulary import ColorName, ShapeName, ShapeVocabulary

PACKAGE = "generation.engine.worlds.shapeworld"
MAX_SIDE = LIMITS["side"].ceiling
OBJECTS, SIDE = COMMON | limit_mark("objects"), COMMON | limit_mark("side")
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Length = Annotated[float, Field(ge=0.03, le=1.0)]
Weight = Annotated[float, Field(gt=0.0, le=1000.0)]
Combination = tuple[ShapeName, ColorName]
Combinations = Annotated[list[Combination], Field(max_length=400)]
Counts = Annotated[list[Annotated[int, Field(ge=1, le=MAX_ENTITIES)]], Field(max_length=MAX_ENTITIES)]
Choosing = Literal["random", "limited", "reinforced"]
OF_THE_WHOLE = ("images", "title", "description", "seed", "splits")  # the parts of a mixture take these over from it
ORDER = (
    *("oneshape", "oneshape-balanced", "multishape", "spatial", "spatial-corrupt", "quantifier"),
    *("existential", "relational", "selection", "quantification", "quantification-complex", "logical"),
    "mixer",
)
CAPTIONS_OF_THE_WHOLE = ("per_scene", "correct", "thresholds")


class MicroworldParameters(Frozen):
    """How microworlds are sampled. Lengths are shares of the world's side.

    `choosing` has the weights of three ways to choose shapes and colours: `random` from all; `limited` from `kinds_min`
    to `kinds_max` shapes and as many colours; `reinforced` from pools to which each entity adds up to `reinforced_max`
    copies of its own shape and colour.
    """

    entities_min: int = Field(
        default=1,
        ge=1,
        le=MAX_ENTITIES,
        title="Entities, at least",
        description="in a world",
        json_schema_extra=OBJECTS,
    )
    entities_max: int = Field(
        default=10,
        ge=1,
        le=MAX_ENTITIES,
        title="Entities, at most",
        description="in a world",
        json_schema_extra=OBJECTS,
    )
    size_min: Length = Field(default=0.1, title="Least size", description="share of the side", json_schema_extra=COMMON)
    size_max: Length = Field(
        default=0.15, title="Largest size", description="share of the side", json_schema_extra=COMMON
    )
    size_by: Literal["area", "length"] = Field(default="area", description="which of them is uniformly distributed")
    distortion_min: float = Field(
        default=2.0, ge=1.2, le=6.0, description="of rectangles and ellipses, width to height"
    )
    distortion_max: float = Field(default=3.0, ge=1.2, le=6.0)
    rotation: bool = Field(default=True, description="entities are turned at random")
    shade: Share = Field(default=0.5, description="how far colours are shifted towards black or white at most")
    choosing: dict[Choosing, Weight] = Field(default={"random": 1.0}, min_length=1)
    kinds_min: int = Field(default=3, ge=1, le=8)
    kinds_max: int = Field(default=4, ge=1, le=8)
    reinforced_max: int = Field(default=3, ge=1, le=20)
    collision_tolerance: Share = Field(
        default=0.0,
        title="Overlap",
        description="the share of the smaller of two entities that may overlap; 0 keeps all apart",
        json_schema_extra=COMMON,
    )
    boundary_tolerance: Share | None = Field(
        default=None, description="the share of an entity that may lie outside; that of overlap where it isn't given"
    )
    collision_rate: Share = Field(
        default=0.33, description="how often overlaps are provoked at most, where they may be"
    )
    collision_shade: float = Field(
        default=0.5, ge=0.0, le=2.0, description="entities of one colour overlap only where shades differ by so much"
    )
    placement_tries: int = Field(default=10, ge=1, le=10_000, description="an entity")
    scene_tries: int = Field(default=1_000, ge=1, le=100_000)

    @property
    def outside(self) -> float:
        """The largest share of an entity that may lie outside the world."""
        return self.collision_tolerance if self.boundary_tolerance is None else self.boundary_tolerance

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for name in ("entities", "size", "distortion", "kinds"):
            low, high = getattr(self, f"{name}_min"), getattr(self, f"{name}_max")
            if low > high:
                raise ValueError(f"Expected {name}_min up to {name}_max, got {low} and {high}")
        if self.entities_max * self.size_min**2 > 1.0:
            raise ValueError(
                f"Expected entities that fit into the world, got {self.entities_max} of size {self.size_min}: "
                "lower entities_max or size_min"
            )
        return self


class MicroworldImageParameters(Frozen):
    """How pictures are drawn."""

    width: int = Field(default=64, ge=16, le=MAX_SIDE, title="Width", description="pixels", json_schema_extra=SIDE)
    height: int = Field(default=64, ge=16, le=MAX_SIDE, title="Height", description="pixels", json_schema_extra=SIDE)
    noise: float = Field(
        default=0.05,
        ge=0.0,
        le=0.5,
        title="Noise",
        description="standard deviation of every pixel's, as a share of the full range; it deviates twice that at most",
        json_schema_extra=COMMON,
    )

    @model_validator(mode="after")
    def _square(self) -> Self:
        if self.width != self.height:
            raise ValueError(f"Expected pictures of square worlds, got {self.width} by {self.height} pixels")
        return self


class HeldOutParameters(Frozen):
    """Which combinations of shape and colour, and which numbers of entities, are held out from training.

    A split has none of them, except those in `shows_combinations` and `shows_counts`. A share `combination_rate` of its
    worlds has a first entity with a shown combination; in these worlds, a share of the other entities, which is drawn
    between `space_min` and `space_max`, also has shown combinations. A share `count_rate` of the worlds has a shown
    number of entities. `other_rate` replaces `combination_rate` in the other worlds of which false captions are true.
    """

    combinations: Combinations = Field(default=[])
    counts: Counts = Field(default=[])
    shows_combinations: Combinations = Field(default=[])
    shows_counts: Counts = Field(default=[])
    combination_rate: Share = 0.5
    other_rate: Share | None = None
    count_rate: Share = 0.5
    space_min: Share = 0.0
    space_max: Share = 1.0

    @model_validator(mode="after")
    def _shows_what_is_held_out(self) -> Self:
        for name in ("combinations", "counts"):
            unknown = [one for one in getattr(self, f"shows_{name}") if one not in getattr(self, name)]
            if unknown:
                raise ValueError(f"Expected shows_{name} among held_out.{name}, got {unknown[0]}")
        if self.space_min > self.space_max:
            raise ValueError(f"Expected space_min up to space_max, got {self.space_min} and {self.space_max}")
        return self


class ShapeWorldSpec(BaseSpec):
    """The spec of a ShapeWorld dataset.

    If `mix` names presets with weights, each world is made with the split `mix_as` of one of them, but with this spec's
    pictures, number of captions and share of true captions.
    """

    world: Literal["shapeworld"] = "shapeworld"
    scene: MicroworldParameters = MicroworldParameters()
    images: MicroworldImageParameters = MicroworldImageParameters()
    captions: CaptionParameters = CaptionParameters()
    held_out: HeldOutParameters = HeldOutParameters()
    vocabulary: ShapeVocabulary = ShapeVocabulary()
    mix: dict[str, Weight] = Field(default={}, max_length=20)
    mix_as: Literal["train", "validation", "test"] = "train"

    @cached_property
    def parts(self) -> tuple["ShapeWorldSpec", ...]:
        """The specs from which worlds are made: this one, or those of the presets in `mix`, sorted by name."""
        return tuple(self._part(name) for name in sorted(self.mix)) or (self,)

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """The weights of the parts."""
        return tuple(self.mix[name] for name in sorted(self.mix)) or (1.0,)

    def part(self, number: int | None) -> "ShapeWorldSpec":
        """Return the part that a question's `family` names."""
        return self.parts[number or 0]

    @cached_property
    def elsewhere(self) -> "ShapeWorldSpec":
        """The spec of the other worlds of which false captions are true."""
        rate = self.held_out.other_rate
        if rate is None:
            return self
        return read(ShapeWorldSpec, merge(self.to_json(), {"held_out": {"combination_rate": rate}}), where="held_out")

    @cached_property
    def forbidden(self) -> frozenset[tuple[str, str]]:
        """The combinations of shape and colour that the split neither shows nor names."""
        return frozenset(self.held_out.combinations) - frozenset(self.held_out.shows_combinations)

    @cached_property
    def combinations(self) -> tuple[tuple[str, str], ...]:
        """The combinations of shape and colour that the split's worlds may have."""
        words = self.vocabulary
        return tuple(
            (shape, color) for shape in words.shapes for color in words.colors if (shape, color) not in self.forbidden
        )

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """The allowed numbers of entities, without those that are held out."""
        held_out = self.held_out.counts
        return tuple(n for n in range(self.scene.entities_min, self.scene.entities_max + 1) if n not in held_out)

    @cached_property
    def most_entities(self) -> int:
        """The largest number of entities in the worlds of any part."""
        return max(max(part.scene.entities_max, *part.held_out.counts, 1) for part in self.parts)

    def _part(self, name: str) -> "ShapeWorldSpec":
        where = f"mix.{name}"
        if name not in PRESETS or PRESETS[name].get("mix"):
            known = ", ".join(one for one, preset in PRESETS.items() if not preset.get("mix"))
            raise BadSpec(f"Expected one of {known}, got {name!r}.", where=where)
        own = read_spec(PRESETS[name]).for_split(self.mix_as).to_json()
        captions = {key: self.to_json()["captions"][key] for key in CAPTIONS_OF_THE_WHOLE}
        whole = {key: value for key, value in self.to_json().items() if key in OF_THE_WHOLE}
        return read(ShapeWorldSpec, merge(own | whole, {"captions": captions}), where=where)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        words, held_out = self.vocabulary, self.held_out
        for shape, color in held_out.combinations:
            if color not in words.colors or shape not in words.shapes:
                raise ValueError(f"Expected held-out combinations of the vocabulary, got {shape} {color}")
        if not self.combinations or not self.counts:
            raise ValueError("Expected combinations and numbers of entities that are not held out, got none")
        return self


def check(spec: ShapeWorldSpec, *, where: str = "") -> None:
    """Raise `BadSpec` if a part of a mixture uses a shape or colour that the mixture's vocabulary does not have."""
    for name, part in zip(sorted(spec.mix), spec.parts, strict=False):
        lacking = [one for one in part.vocabulary.colors if one not in spec.vocabulary.colors]
        lacking += [one for one in part.vocabulary.shapes if one not in spec.vocabulary.shapes]
        if lacking:
            raise BadSpec(f"Expected a vocabulary with {lacking[0]!r}, which {name} has.", where=f"{where}vocabulary")


def _with_vocabulary(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a preset with its whole vocabulary, so that specs can change single entries of it."""
    return merge({"vocabulary": ShapeVocabulary().model_dump(mode="json")}, data)


PRESETS = PresetFiles(
    PACKAGE, order=lambda name: (ORDER.index(name.removeprefix("shapeworld-")), name), complete=_with_vocabulary
)


def read_spec(data: Mapping[str, Any]) -> ShapeWorldSpec:
    """Return the validated spec; its JSON is merged over the preset that `base` names."""
    spec = read(ShapeWorldSpec, over_preset(data, PRESETS))
    check_references(spec)
    for name, split in spec.splits.items():
        check(spec.for_split(name), where=f"splits.{name}.overrides." if split.overrides else "")
    return spec
