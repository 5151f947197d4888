"""The spec of counting questions: published ones, and ones made over CLEVR's scenes."""

import math
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from generation.engine.spec import COMMON, LIMITS, BaseSpec, Frozen, PresetFiles, limit_mark
from generation.engine.worlds.clevr import spec as clevr_spec
from generation.engine.worlds.clevr.spec import ClevrSpec

PACKAGE = "generation.engine.worlds.counting"
OBJECTS, SIDE = COMMON | limit_mark("objects"), COMMON | limit_mark("side")
MOST_OBJECTS, MOST_SIDE = LIMITS["objects"].ceiling, LIMITS["side"].ceiling
BESIDE = 2  # objects that a relation needs besides the counted ones: its start, and one that is not in the relation
EXACT = 1e-6  # largest difference between the sum of shares and one

SIZES = {"large": {"scale": 0.45}, "small": {"scale": 0.25}}  # in scene units; CLEVR's are too large for 15 cubes
EXTENT, APART = 3.2, 0.15  # in scene units: half the width of the ground, and the least distance of two objects

Share = Annotated[float, Field(ge=0.0, le=1.0)]
FALLING = [  # each is about four thirds of the next share
    *(0.25, 0.19, 0.14, 0.11, 0.08, 0.06, 0.045, 0.034),
    *(0.025, 0.019, 0.014, 0.011, 0.008, 0.006, 0.0045, 0.0035),
]


class CountedSceneParameters(Frozen):
    """How scenes are sampled. Lengths are in scene units; a large object is 0.9 high."""

    objects_min: int = Field(
        default=5, ge=1, le=MOST_OBJECTS, title="Objects, at least", description="in a scene", json_schema_extra=OBJECTS
    )
    objects_max: int = Field(
        default=18, ge=1, le=MOST_OBJECTS, title="Objects, at most", description="in a scene", json_schema_extra=OBJECTS
    )
    margin: float = Field(
        default=0.1, ge=0.0, le=10.0, description="the least distance of any two objects along every direction"
    )
    min_pixels: int = Field(
        default=200,
        ge=0,
        le=100_000,
        title="Least pixels",
        description="the least number of visible pixels of every object",
        json_schema_extra=COMMON,
    )
    tries: int = Field(default=5_000, ge=1, le=100_000, description="attempts to place the objects of a scene")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.objects_min > self.objects_max:
            raise ValueError(f"Expected objects_min up to objects_max, got {self.objects_min} and {self.objects_max}")
        across = 2.0 * math.sqrt(2.0) * EXTENT
        if (self.objects_max - 1) * self.margin > across:
            raise ValueError(
                f"Expected room for {self.objects_max} objects {self.margin} apart along every direction, but the "
                f"ground is only {across:.1f} across: lower objects_max or margin"
            )
        return self


class CountedImageParameters(Frozen):
    """How pictures are drawn."""

    width: int = Field(default=480, ge=64, le=MOST_SIDE, title="Width", description="pixels", json_schema_extra=SIDE)
    height: int = Field(default=320, ge=64, le=MOST_SIDE, title="Height", description="pixels", json_schema_extra=SIDE)
    samples: int = Field(default=16, ge=1, le=4096, description="more give smoother shadows and edges, and take longer")


class CountQuestionParameters(Frozen):
    """What questions ask, and how often each number is the answer.

    `shares` holds the shares of the answers 0, 1, 2, ..., which are the same for both types of questions. By default,
    each is about three quarters of the one before, as figure 2 of the paper falls in all.

    References
    ----------
    Dancette et al. 2020, Overcoming Statistical Shortcuts for Open-ended Visual Counting, figure 2 and section 2.2.
    """

    per_scene: int = Field(default=2, ge=1, le=2, title="Questions a scene", json_schema_extra=COMMON)
    complex_share: Share = Field(
        default=0.4,
        title="Complex questions",
        description="share of questions with attributes or a relation",
        json_schema_extra=COMMON,
    )
    relation_share: Share = Field(default=0.5, description="share of complex questions with a relation")
    relation_margin: float = Field(
        default=0.25,
        ge=0.0,
        le=3.0,
        description="the least distance, in scene units, between a relation's start and the objects that it may count",
    )
    shares: list[Share] = Field(default=FALLING, min_length=1, max_length=MOST_OBJECTS)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        total = sum(self.shares)
        if abs(total - 1.0) > EXACT:
            raise ValueError(f"Expected shares of the answers 0, 1, 2, ... that sum to 1, got a sum of {total:g}")
        return self

    @property
    def largest(self) -> int:
        """The largest answer that has a share."""
        return max(answer for answer, share in enumerate(self.shares) if share > 0.0)

    @property
    def smallest(self) -> int:
        """The smallest answer that has a share."""
        return min(answer for answer, share in enumerate(self.shares) if share > 0.0)


class CountingSpec(BaseSpec):
    """The spec of counting questions. Imported ones use only `most` and `classes`."""

    world: Literal["counting"] = "counting"
    most: int = Field(
        default=15,
        ge=1,
        le=MOST_OBJECTS,
        title="Largest count",
        description="answers are 0 to this number",
        json_schema_extra=COMMON,
    )
    classes: list[Annotated[str, Field(min_length=1, max_length=100)]] = Field(
        default=[], max_length=2_000, description="what imported questions count"
    )
    scene: CountedSceneParameters = CountedSceneParameters()
    images: CountedImageParameters = CountedImageParameters()
    questions: CountQuestionParameters = CountQuestionParameters()

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        asked, largest = self.questions, self.questions.largest
        if largest > self.most:
            raise ValueError(f"Expected questions.shares of answers up to most, {self.most}, got one of {largest}")
        needed = largest + BESIDE * (asked.complex_share > 0.0)
        others = asked.smallest + BESIDE * (asked.complex_share == 1.0)
        needed += others * (asked.per_scene - 1)
        if needed > self.scene.objects_max:
            raise ValueError(
                f"Expected scene.objects_max of at least {needed}, as many as a scene with the answer {largest} may "
                f"need, got {self.scene.objects_max}: raise it, or give large answers no share in questions.shares"
            )
        return self

    @cached_property
    def clevr(self) -> ClevrSpec:
        """The spec of a CLEVR dataset with the same scenes and pictures."""
        scene = {
            "objects_min": self.scene.objects_min,
            "objects_max": self.scene.objects_max,
            "extent": EXTENT,
            "min_distance": APART,
            "margin": self.scene.margin,
            "relation_threshold": self.scene.margin / 2,  # so that any two objects are related
            "min_pixels": self.scene.min_pixels,
            "scene_tries": self.scene.tries,
        }
        data: dict[str, Any] = {
            "world": "clevr",
            "seed": self.seed,
            "splits": {"all": {"scenes": 1}},
            "scene": scene,
            "images": self.images.model_dump(),
            "vocabulary": {"sizes": SIZES},
        }
        return clevr_spec.read_spec(data, files={})


PRESETS = PresetFiles(PACKAGE, order=lambda name: (not name.endswith("-mini"), name))
