"""The words and looks of CLEVR's world: colours, materials, sizes, shapes and relations.

The vocabulary is part of the spec, so a dataset can have an orange cone. Entries are sorted by name, so their order in
the spec's JSON does not matter.
"""

import math
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, PrivateAttr, field_validator, model_validator

from generation.engine.errors import BadSpec
from generation.engine.language.names import character_name, is_invisible, quote
from generation.engine.render.mesh import Mesh
from generation.engine.replies.characters import plain_characters
from generation.engine.spec import Frozen

LONGEST_NAME, LONGEST_WORDS = 30, 40  # characters
SIGNS = " -_'"  # that words may have beside letters and digits


def _check_words(words: str, *, most: int = LONGEST_WORDS) -> str:
    if not words[:1].isalpha() or len(words) > most:
        raise ValueError(f"Expected a word of at most {most} characters that begins with a letter, got {quote(words)}")
    odd = next((sign for sign in words if not _is_of_words(sign)), None)
    if odd is not None:
        raise ValueError(
            "Expected letters of any script, the digits 0 to 9, spaces, hyphens, underscores and apostrophes, got "
            f"{quote(words)} with {character_name(odd)}"
        )
    plain = plain_characters(words)
    if plain != words:
        raise ValueError(f"Expected plain letters and signs, such as {quote(plain)}, got {quote(words)}")
    return words


def _is_of_words(sign: str) -> bool:
    is_letter = sign.isalpha() or unicodedata.category(sign)[0] == "M"
    return sign in SIGNS or (sign.isascii() and sign.isdecimal()) or (is_letter and not is_invisible(sign))


def _check_name(name: str) -> str:
    _check_words(name, most=LONGEST_NAME)
    if name != name.lower():
        raise ValueError(f"Expected a name in small letters, such as {quote(name.lower())}, got {quote(name)}")
    return name


Name = Annotated[str, AfterValidator(_check_name)]
Words = Annotated[str, AfterValidator(_check_words)]
Byte = Annotated[int, Field(ge=0, le=255)]

Relation = Literal["behind", "front", "left", "right"]
RELATIONS: tuple[Relation, ...] = ("behind", "front", "left", "right")
ATTRIBUTES = ("size", "color", "material", "shape")


def linear(value: int) -> float:
    """Return the linear light, 0 to 1, of an sRGB value from 0 to 255."""
    share = value / 255.0
    return share / 12.92 if share <= 0.04045 else math.pow((share + 0.055) / 1.055, 2.4)


def encoded(share: float) -> int:
    """Return the sRGB value, 0 to 255, of linear light from 0 to 1."""
    value = 12.92 * share if share <= 0.0031308 else 1.055 * math.pow(share, 1.0 / 2.4) - 0.055
    return round(255.0 * value)


class Color(Frozen):
    """A colour: three numbers from 0 to 255, their colour space, and synonyms.

    `srgb` is the space of screens and paint programs. The release's own colours are `linear`: its renderer read the
    numbers as linear light, and they look lighter than the same numbers on a screen.
    """

    rgb: tuple[Byte, Byte, Byte]
    space: Literal["srgb", "linear"] = "srgb"
    synonyms: tuple[Words, ...] = ()

    @property
    def light(self) -> tuple[float, float, float]:
        """The shares of red, green and blue light that the colour reflects, 0 to 1."""
        red, green, blue = (value / 255.0 if self.space == "linear" else linear(value) for value in self.rgb)
        return (red, green, blue)

    @property
    def swatch(self) -> tuple[int, int, int]:
        """The colour as a screen shows it, sRGB."""
        if self.space == "srgb":
            return self.rgb
        red, green, blue = (encoded(value / 255.0) for value in self.rgb)
        return (red, green, blue)


class Material(Frozen):
    """A material: how it reflects light, and synonyms. `roughness` 0 is a mirror, 1 is chalk."""

    kind: Literal["matte", "metal"]
    roughness: float | None = Field(default=None, ge=0.0, le=1.0)
    synonyms: tuple[Words, ...] = ()


class Size(Frozen):
    """A size: half the object's height in scene units, and synonyms."""

    scale: float = Field(gt=0.05, le=2.0)
    synonyms: tuple[Words, ...] = ()


class Shape(Frozen):
    """A shape: the solid that is drawn, its plural, and synonyms (singular to plural).

    If `solid` is `mesh`, `mesh` names an OBJ file; once the spec has been gathered, by its SHA-256.
    """

    solid: Literal["cone", "cube", "cylinder", "mesh", "sphere", "torus"]
    plural: Words | None = None
    synonyms: dict[Words, Words] = Field(default_factory=dict)
    mesh: str | None = None

    @model_validator(mode="after")
    def _mesh_for_meshes(self) -> Self:
        if (self.solid == "mesh") != (self.mesh is not None):
            raise ValueError('Expected an OBJ file in `mesh` exactly where `solid` is "mesh"')
        return self


class ClevrVocabulary(Frozen):
    """All words and looks of a dataset. Values of different attributes must not share a name."""

    colors: dict[Name, Color] = Field(min_length=1, max_length=60)
    materials: dict[Name, Material] = Field(min_length=1, max_length=20)
    sizes: dict[Name, Size] = Field(min_length=1, max_length=10)
    shapes: dict[Name, Shape] = Field(min_length=1, max_length=60)
    relations: dict[Relation, tuple[Words, ...]]
    things: dict[Words, Words] = Field(min_length=1, description="nouns for any object, singular to plural")
    vowels: tuple[Words, ...] = Field(default=(), description="words that take `an` though spelt with a consonant")
    consonants: tuple[Words, ...] = Field(default=(), description="words that take `a` though spelt with a vowel")

    _meshes: Mapping[str, Mesh] = PrivateAttr(default={})

    @property
    def meshes(self) -> Mapping[str, Mesh]:
        """The triangle meshes that shapes use, by SHA-256; `bind` sets them."""
        return self._meshes

    def bind(self, meshes: Mapping[str, Mesh]) -> None:
        """Set the meshes that shapes name."""
        object.__setattr__(self, "_meshes", meshes)

    @field_validator("colors", "materials", "sizes", "shapes", "relations", mode="after")
    @classmethod
    def _sorted(cls, entries: dict[str, Any]) -> dict[str, Any]:
        return {name: entries[name] for name in sorted(entries)}

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        seen: dict[str, str] = {"yes": "answers", "no": "answers"}
        for attribute in ATTRIBUTES:
            for name in self.values(attribute):
                if name in seen:
                    raise ValueError(f"Expected each name once, got {name!r} among {seen[name]} and {attribute}s")
                seen[name] = f"{attribute}s"
        missing = [relation for relation in RELATIONS if not self.relations.get(relation)]
        if missing:
            raise ValueError(f"Expected at least one phrase for each relation, got none for {', '.join(missing)}")
        return self

    def values(self, attribute: str) -> tuple[str, ...]:
        """Return the names of an attribute's values, in the order of their codes."""
        return tuple(getattr(self, f"{attribute}s"))

    @property
    def synonyms(self) -> dict[str, str]:
        """Other words for values, and the values that they mean; questions use them, too."""
        return {
            str(word): name
            for attribute in ATTRIBUTES
            for name, entry in getattr(self, f"{attribute}s").items()
            for word in entry.synonyms
        }

    def plural(self, shape: str) -> str:
        """Return the plural of a shape's noun: the stated plural, otherwise the regular one."""
        return self.shapes[shape].plural or regular_plural(shape)


def composed_words(value: Any, *, where: str) -> Any:
    """Return JSON with all texts and names in Unicode's composed form; raise `BadSpec` if two names become one."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, list | tuple):
        return [composed_words(one, where=where) for one in value]
    if not isinstance(value, Mapping):
        return value
    found: dict[Any, Any] = {}
    for key, inner in value.items():
        name = composed_words(key, where=where)
        if name in found:
            raise BadSpec(f"Expected each name once, got {quote(name)} in two forms of Unicode.", where=where)
        found[name] = composed_words(inner, where=f"{where}.{name}")
    return found


def regular_plural(noun: str) -> str:
    """Return the regular English plural: bus to buses, box to boxes, berry to berries, cube to cubes.

    A noun that does not end with a Latin letter has no such ending: its plural is the same word.
    """
    if not unicodedata.name(noun[-1], "").startswith("LATIN"):
        return noun if not noun[-1].isascii() else f"{noun}s"
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"
