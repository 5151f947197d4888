"""Spec fields for captions; the defaults are the paper's values, otherwise those of the original code.

References
----------
Kuhnle and Copestake 2017, ShapeWorld, sections 3.3, 4 and 5.2.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from generation.engine.spec import COMMON, Frozen
from generation.engine.worlds.shapeworld.phrases import (
    COMPARISONS,
    CONNECTIVES,
    MOST_BOUND,
    NEAR,
    PAPER,
    PROXIMITIES,
    QUANTIFIERS,
    RELATIONS,
    SELECTORS,
    SPATIAL,
)

Kind = Literal[
    "existential",
    "single-attribute",
    "relational",
    "relational-single-attribute",
    "selection",
    "unique",
    "quantification",
    "number-bound",
    "comparative-quantification",
    "logical",
]
KINDS: tuple[Kind, ...] = Kind.__args__  # type: ignore[attr-defined]
Pattern = Literal["thing-color", "thing-shape", "thing-both", "shape-color", "color-shape", "relation"]
PATTERNS: tuple[Pattern, ...] = Pattern.__args__  # type: ignore[attr-defined]


def _some_weight(weights: Mapping[str, float]) -> Mapping[str, float]:
    if not any(weights.values()):
        raise ValueError("Expected at least one weight above 0")
    return weights


def _among(known: Sequence[str]) -> AfterValidator:
    def check(names: list[str]) -> list[str]:
        unknown = [name for name in names if name not in known]
        if unknown or not names or len(set(names)) != len(names):
            raise ValueError(f"Expected some of {', '.join(known)}, each once, got {', '.join(names) or 'none'}")
        return names

    return AfterValidator(check)


Share = Annotated[float, Field(ge=0.0, le=1.0)]
Weight = Annotated[float, Field(ge=0.0, le=1e6)]
Weights = AfterValidator(_some_weight)
ALL_RELATIONS = (*RELATIONS, *PROXIMITIES)
ALL_SELECTORS = (*SELECTORS, *NEAR)


class Thresholds(Frozen):
    """The smallest differences that make a caption definitely true or false; the world's side is 1."""

    distance: float = Field(default=0.15, ge=0.0, le=1.0, description="by which one is closer than another")
    axis: float = Field(default=0.10, ge=0.0, le=1.0, description="left, right, above, below: between centres")
    overlap: float = Field(default=0.10, ge=0.0, le=1.0, description="behind, in front: share of the smaller covered")
    area: float = Field(default=0.005, ge=0.0, le=1.0, description="between bigger and smaller")
    shade: float = Field(default=0.2, ge=0.0, le=2.0, description="between darker and lighter")
    ratio: float = Field(default=0.005, ge=0.0, le=0.1, description="up to which a share counts as the one named")

    def times(self, factor: float) -> "Thresholds":
        """Return thresholds multiplied by `factor`, except `overlap` and `ratio`, which stay the same."""
        wide = {name: min(getattr(self, name) * factor, 2.0) for name in ("distance", "axis", "area", "shade")}
        return Thresholds.model_construct(**{**self.model_dump(), **wide})


Parts = Literal["restrictor", "comparison", "body", "nearest", "range", "quantity", "any"]


class Corruption(Frozen):
    """Which part of a true caption is changed to make a false one, by weight.

    For quantifiers and comparisons: `nearest` is the nearest quantity, `range` another comparator (at most, more than),
    `quantity` another quantity, and `any` any other one.
    """

    noun: Annotated[dict[Literal["shape", "color", "both"], Weight], Weights] = Field(
        default={"shape": 1.0, "color": 1.0, "both": 1.0}
    )
    existential: Annotated[dict[Literal["restrictor", "body"], Weight], Weights] = Field(
        default={"restrictor": 1.0, "body": 1.0}
    )
    relation: Annotated[dict[Literal["reference", "relation", "inverse"], Weight], Weights] = Field(
        default={"reference": 2.0, "relation": 1.0, "inverse": 1.0}
    )
    negation: Annotated[dict[Literal["negation", "relation"], Weight], Weights] = Field(
        default={"negation": 1.0, "relation": 1.0}
    )
    selection: Annotated[dict[Literal["selector", "body"], Weight], Weights] = Field(
        default={"selector": 1.0, "body": 1.0}
    )
    quantifier: Annotated[dict[Parts, Weight], Weights] = Field(
        default={"restrictor": 3.0, "body": 3.0, "nearest": 3.0, "range": 1.0, "quantity": 1.0, "any": 1.0}
    )
    number_bound: Annotated[dict[Literal["quantifier", "one", "two", "random"], Weight], Weights] = Field(
        default={"quantifier": 3.0, "one": 1.0, "two": 1.0, "random": 1.0}, description="which, or the bound by so many"
    )
    comparative: Annotated[dict[Parts, Weight], Weights] = Field(
        default={
            "restrictor": 2.0,
            "comparison": 2.0,
            "body": 2.0,
            "nearest": 3.0,
            "range": 1.0,
            "quantity": 1.0,
            "any": 1.0,
        }
    )
    conjunction: Annotated[dict[Literal["first", "second", "both"], Weight], Weights] = Field(
        default={"first": 1.0, "second": 1.0, "both": 1.0}
    )


class CaptionParameters(Frozen):
    """What captions say, and how false captions are made."""

    kinds: Annotated[dict[Kind, Weight], Weights] = Field(
        default={"existential": 1.0}, title="Caption types", description="how often each, by weight"
    )
    correct: Share = Field(
        default=0.5,
        title="True captions",
        description="their share; the paper trains with 0.33",
        json_schema_extra=COMMON,
    )
    per_scene: int = Field(default=1, ge=1, le=20, title="Captions a picture", json_schema_extra=COMMON)
    negatives: Literal["world", "corrupt"] = Field(
        default="world",
        title="False captions",
        description="are true of another microworld, or are true ones with one part changed",
        json_schema_extra=COMMON,
    )
    existential: Annotated[dict[Literal["there", "body"], Weight], Weights] = Field(
        default={"there": 1.0}, description="there is a red square; there is a square that is red"
    )
    nouns: Annotated[dict[Literal["both", "shape", "color"], Weight], Weights] = Field(
        default={"both": 1.0}, description="what relations are about: a red square, a square, a red shape"
    )
    articles: Annotated[dict[Literal["a", "the"], Weight], Weights] = Field(
        default={"a": 1.0}, description="of what relations are about"
    )
    relations: Annotated[list[str], _among(ALL_RELATIONS)] = Field(default=list(SPATIAL), description="each as likely")
    negation: Share = Field(default=0.0, description="share of relational captions that negate the relation")
    selectors: Annotated[list[str], _among(ALL_SELECTORS)] = Field(
        default=list(ALL_SELECTORS), description="each as likely"
    )
    quantifiers: Annotated[list[str], _among(tuple(QUANTIFIERS))] = Field(
        default=list(PAPER), description="each as likely"
    )
    patterns: Annotated[dict[Pattern, Weight], Weights] = Field(
        default=dict.fromkeys(PATTERNS[:-1], 1.0), description="what a quantifier's noun and its body name"
    )
    comparisons: Annotated[list[str], _among(tuple(COMPARISONS))] = Field(
        default=list(COMPARISONS), description="each as likely"
    )
    bounds: tuple[int, int] = Field(default=(2, MOST_BOUND), description="least and most of five in: two of the five")
    connectives: Annotated[list[str], _among(CONNECTIVES)] = Field(
        default=list(CONNECTIVES), description="each as likely"
    )
    parts: Annotated[dict[Kind, Weight], Weights] = Field(
        default={"existential": 1.0, "relational": 1.0, "selection": 1.0, "quantification": 1.0},
        description="caption types that connectives join",
    )
    existing_attribute_rate: Share = Field(
        default=1.0, description="of changed parts, how many name what the picture has elsewhere"
    )
    corruption: Corruption = Corruption()
    thresholds: Thresholds = Thresholds()
    tries: int = Field(default=40, ge=1, le=1000, description="for a false caption, before another microworld is taken")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        low, high = self.bounds
        if not 2 <= low <= high <= MOST_BOUND:
            raise ValueError(f"Expected bounds from 2 to {MOST_BOUND}, the least first, got {low} and {high}")
        if self.parts.get("logical"):
            raise ValueError("Expected parts that are no logical captions themselves")
        if self.kinds.get("number-bound") and not any(QUANTIFIERS[name].of for name in self.quantifiers):
            raise ValueError("Expected a quantifier that goes with a number bound, as at least 2")
        return self
