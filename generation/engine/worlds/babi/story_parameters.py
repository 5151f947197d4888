"""Spec fields for stories; the defaults are the released data's values."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from generation.engine.spec import COMMON, Frozen

TASKS = tuple(range(1, 21))
TaskNumber = Annotated[int, Field(ge=1, le=20)]


class Range(Frozen):
    """A part of all stories, by the hash of their text, which is uniform between 0 and 1."""

    low: float = Field(ge=0.0, le=1.0)
    high: float = Field(ge=0.0, le=1.0)

    @model_validator(mode="after")
    def _is_some(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"Expected low below high, got {self.low} and {self.high}")
        return self

    def overlaps(self, other: "Range") -> bool:
        """Return whether a story may belong to both parts."""
        return self.low < other.high and other.low < self.high


class StoryParameters(Frozen):
    """How stories are made. More people, places and things than in the released data make them harder."""

    people: int = Field(default=4, ge=2, le=12, title="People", description="in a story", json_schema_extra=COMMON)
    places: int = Field(default=6, ge=3, le=14, title="Places", description="in a story", json_schema_extra=COMMON)
    things: int = Field(default=3, ge=1, le=8, title="Things", description="to be carried", json_schema_extra=COMMON)
    animals: int = Field(
        default=4, ge=2, le=8, title="Animals", description="kinds of them in tasks 15 and 16", json_schema_extra=COMMON
    )
    shapes: int = Field(
        default=3, ge=3, le=8, title="Shapes", description="in stories of task 17", json_schema_extra=COMMON
    )
    sizes: int = Field(
        default=6, ge=5, le=12, title="Sizes", description="things compared in task 18", json_schema_extra=COMMON
    )
    steps: int = Field(
        default=2,
        ge=2,
        le=6,
        title="Steps",
        description="facts chained by a question of tasks 17 to 19, whose stories name one more at least",
        json_schema_extra=COMMON,
    )
    distance: int = Field(
        default=0,
        ge=0,
        le=200,
        title="Distance",
        description="lines between a question and the last of its supporting facts, at least",
        json_schema_extra=COMMON,
    )
    faithful: bool = Field(
        default=False,
        title="As released",
        description="ambiguous questions and other faults of the released data are kept, and splits may share stories",
        json_schema_extra=COMMON,
    )
    language: Literal["english", "shuffled", "hindi"] = Field(
        default="english",
        title="Language",
        description="shuffled: English whose words nobody can read; hindi: in Latin letters",
        json_schema_extra=COMMON,
    )
