"""The shapes and colours of a dataset of microworlds, and their names.

References
----------
Kuhnle and Copestake 2017, ShapeWorld, section 3.2.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from generation.engine.spec import Frozen
from generation.engine.worlds.shapeworld.phrases import CLOSED
from generation.engine.worlds.shapeworld.scene import SHAPES

ShapeName = Literal["square", "rectangle", "triangle", "pentagon", "cross", "circle", "semicircle", "ellipse"]


def _check_word(word: str) -> str:
    if not (word.isascii() and word.isalpha() and word.islower() and 2 <= len(word) <= 20):
        raise ValueError(f"Expected a word of 2 to 20 small letters a to z, which captions can have, got {word[:60]!r}")
    return word


ColorName = Annotated[str, AfterValidator(_check_word)]
Words = Annotated[str, AfterValidator(_check_word)]
Byte = Annotated[int, Field(ge=0, le=255)]


class ShapeColor(Frozen):
    """A colour: three sRGB numbers from 0 to 255."""

    rgb: tuple[Byte, Byte, Byte]

    @property
    def is_lightest(self) -> bool:
        """Whether no colour is lighter, so that it is white."""
        return min(self.rgb) == 255

    @property
    def is_darkest(self) -> bool:
        """Whether no colour is darker, so that it is black."""
        return max(self.rgb) == 0

    def shaded(self, shade: float) -> tuple[int, int, int]:
        """Return the colour, shifted by a share `shade` towards white (above 0) or black (below 0)."""
        toward, share = (255.0, shade) if shade > 0 else (0.0, -shade)
        red, green, blue = (int(value + (toward - value) * share + 0.5) for value in self.rgb)
        return (red, green, blue)


PAPER: dict[str, tuple[int, int, int]] = {
    "blue": (0, 0, 255),
    "cyan": (0, 255, 255),
    "green": (0, 255, 0),
    "magenta": (255, 0, 255),
    "red": (255, 0, 0),
    "white": (255, 255, 255),
    "yellow": (255, 255, 0),
}


class ShapeVocabulary(Frozen):
    """All shapes and colours of a dataset.

    Entries are sorted, so their order in the spec's JSON does not matter.
    """

    shapes: tuple[ShapeName, ...] = Field(default=SHAPES, min_length=1, max_length=len(SHAPES), validate_default=True)
    colors: dict[ColorName, ShapeColor] = Field(
        default={name: ShapeColor(rgb=rgb) for name, rgb in PAPER.items()}, min_length=1, max_length=60
    )
    background: tuple[Byte, Byte, Byte] = (0, 0, 0)
    vowels: tuple[Words, ...] = Field(default=(), description="words that take `an` though spelt with a consonant")
    consonants: tuple[Words, ...] = Field(default=(), description="words that take `a` though spelt with a vowel")

    @field_validator("shapes", mode="after")
    @classmethod
    def _in_order(cls, shapes: tuple[ShapeName, ...]) -> tuple[ShapeName, ...]:
        return tuple(sorted(set(shapes), key=SHAPES.index))

    @field_validator("colors", mode="after")
    @classmethod
    def _sorted(cls, colors: dict[str, Any]) -> dict[str, Any]:
        return {name: colors[name] for name in sorted(colors)}

    @model_validator(mode="after")
    def _check_distinct(self) -> Self:
        taken = CLOSED.union(SHAPES, map(self.plural, SHAPES))
        for name, color in self.colors.items():
            if name in taken:
                raise ValueError(f"Expected colours that are called otherwise than other words, got {name!r}")
            if color.rgb == self.background:
                raise ValueError(f"Expected colours other than the background's, got {name!r}")
        return self

    def values(self, attribute: str) -> tuple[str, ...]:
        """Return the names of an attribute's values, in the order of their codes."""
        return tuple(getattr(self, f"{attribute}s"))

    def plural(self, shape: str) -> str:
        """Return the plural of a shape's noun."""
        return f"{shape}es" if shape.endswith("s") else f"{shape}s"
