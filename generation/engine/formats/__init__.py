"""Exports: what a format is given of a dataset, and which formats there are.

A format writes a dataset into a folder as other people's tools read it. It is given `ExportDataset`: only what may be
shown, read as a stream, so a million questions need no more memory than a thousand. Neutral formats are modules beside
this one; a world's own live in its folder and are named by `World.formats`. Same dataset, same options, same bytes:
no clock, no random name, no file's own times in what is written.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadExport
from generation.engine.items import Facet, FacetKind, Item
from generation.engine.spec import BaseSpec
from generation.engine.worlds import World, usable

NEUTRAL: tuple[str, ...] = (
    "generation.engine.formats.coco:FORMAT",
    "generation.engine.formats.huggingface.dataset:FORMAT",
    "generation.engine.formats.jsonl:FORMAT",
    "generation.engine.formats.lmms_eval:FORMAT",
    "generation.engine.formats.vlmevalkit:FORMAT",
)

Tick = Callable[[int], None]
"""Called with 1 after each item, once an item in all, and with 0 now and then during other long work: it shows the
progress, and raises where the work was called off. A format lets that through."""


@dataclass(frozen=True)
class ExportItem:
    """One scene of a split with its questions, as far as they may be shown.

    Attributes
    ----------
    position : int
        0-based, consecutive in the split as it is exported.
    item : Item
        `scene` and `view` are None where they may not be shown, as are each question's `answer` and `program`.
    first_question : int
        The 0-based position of its first question in the split; the others follow it.
    image_name : str
        What to call its picture: `val_000013.png`. A format may use another name.
    width, height : int
        Of the picture, in pixels; 0 where there is none.
    image : callable or None
        Returns the file's bytes as they are stored; None where there is no picture, it may not be shown, or it was
        asked to be left out.
    story : tuple of str, or None
        The lines of its story, which may be read also where the scene may not be seen; None where there is none.
    ids : callable or None
        Returns the object ids `(height, width)` uint16, element number + 1, 0 for none; None where not to be had.
    """

    position: int
    item: Item
    first_question: int
    image_name: str
    width: int = 0
    height: int = 0
    image: Callable[[], bytes] | None = None
    ids: Callable[[], NDArray[np.uint16]] | None = None
    story: tuple[str, ...] | None = None


class ExportSplit(Protocol):
    """A complete split, as far as it may be shown."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def scenes(self) -> int:
        """Return how many scenes it has."""

    @property
    def questions(self) -> int:
        """Return how many questions it has."""

    @property
    def images(self) -> bool:
        """Return whether its items have pictures."""

    @property
    def withheld(self) -> bool:
        """Return whether its answers are withheld from others than its owner."""

    @property
    def shows_answers(self) -> bool:
        """Return whether its questions have their answers."""

    @property
    def shows_programs(self) -> bool:
        """Return whether its questions have their programs."""

    @property
    def shows_scenes(self) -> bool:
        """Return whether its items have scene and view."""

    @property
    def reference(self) -> str | None:
        """Return the name of the train split that it is measured against."""

    @property
    def parent(self) -> str | None:
        """Return the name of the split that it was derived from; None where it was not."""

    @property
    def imported(self) -> bool:
        """Return whether its questions are somebody else's, not made from the spec."""

    @property
    def fingerprint(self) -> str:
        """Return its content hash."""

    @property
    def secret_sha256(self) -> str:
        """Return the SHA-256 of the secret that its chance drew from; empty where there was none."""

    @property
    def secret(self) -> str:
        """Return that secret as hexadecimal digits; empty where there was none, or it may not be shown."""

    @property
    def spec(self) -> BaseSpec:
        """Return the spec as this split has it."""

    @property
    def facets(self) -> tuple[Facet, ...]:
        """Return the facets that may be shown, in their order."""

    def items(self) -> Iterator[ExportItem]:
        """Yield the scenes in order; may be called again."""

    def facet_codes(self, first: int, count: int) -> Mapping[str, NDArray[np.int64]]:
        """Return each shown facet's codes `(count,)` of the questions from position `first`; -1 for no value."""


class ExportDataset(Protocol):
    """A dataset, as far as it may be shown."""

    @property
    def slug(self) -> str:
        """Return its name in addresses."""

    @property
    def title(self) -> str:
        """Return what people call it."""

    @property
    def description(self) -> str:
        """Return what is said of it."""

    @property
    def authors(self) -> tuple[str, ...]:
        """Return the names of its authors."""

    @property
    def licence(self) -> str:
        """Return its licence, such as `CC BY 4.0`; empty where none is stated."""

    @property
    def version(self) -> str:
        """Return its version as its authors count; empty where they do not."""

    @property
    def citation(self) -> str:
        """Return how to cite it: a sentence, or BibTeX; empty where that is not said."""

    @property
    def completed(self) -> date:
        """Return the day on which it was complete."""

    @property
    def fingerprint(self) -> str:
        """Return its content hash."""

    @property
    def engine_version(self) -> str:
        """Return the version of the engine that made it."""

    @property
    def release(self) -> str:
        """Return the version of the program that made it."""

    @property
    def url(self) -> str:
        """Return its page's address; empty where that isn't known."""

    @property
    def world(self) -> World:
        """Return how its data are read."""

    @property
    def spec_json(self) -> Mapping[str, Any]:
        """Return its spec as JSON, every default spelled out."""

    @property
    def files(self) -> Mapping[str, bytes]:
        """Return the files that the spec names, by digest."""

    @property
    def splits(self) -> Sequence[ExportSplit]:
        """Return the splits that are exported, in their order."""

    def figures(self) -> Mapping[str, bytes]:
        """Return the dataset's charts as SVG files, by file name; empty where they can't be drawn."""


@dataclass(frozen=True)
class Option:
    """A choice that a format leaves to whoever exports: `--name` on the command line, a field on the page.

    Attributes
    ----------
    name : str
        Small letters, digits and hyphens.
    about : str
        One line for people.
    default : bool or str
        False for a switch; with `choices` one of them; else a text.
    choices : tuple of str
        All that may be said; empty for switches and free texts.
    """

    name: str
    about: str
    default: bool | str = False
    choices: tuple[str, ...] = ()


class Format(Protocol):
    """A way to write datasets.

    `label` is what people call it, `about` one line on who reads it. `sums` is where, in the folder, the SHA-256 of
    every file is written once all are there. `embeds` says whether pictures are exported (not only referred to).
    """

    name: ClassVar[str]
    label: ClassVar[str]
    about: ClassVar[str]
    options: ClassVar[tuple[Option, ...]]
    sums: ClassVar[str]
    embeds: ClassVar[bool]

    def write(self, dataset: ExportDataset, folder: Path, *, options: Mapping[str, Any], tick: Tick) -> None:
        """Write into an empty folder; `options` has a value for each of ours. Raise `BadExport` for what can't be."""


def names(world: World) -> tuple[str, ...]:
    """Return the names of the formats that a world's datasets can be exported in, sorted."""
    return tuple(sorted(_found(world)))


def find(name: str, world: World) -> Format:
    """Return a format by its name; raise `BadExport` naming those there are."""
    found = _found(world)
    if name not in found:
        raise BadExport(f"Expected one of {', '.join(sorted(found))}, got {name!r}.", where="format")
    return found[name]


def every() -> list[Format]:
    """Return the formats of all worlds, by name."""
    found: dict[str, Format] = {}
    for world in usable():
        found |= _found(world)
    return [found[name] for name in sorted(found)]


def checked(format_: Format, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value for each of a format's options; raise `BadExport` for one it hasn't or that can't be."""
    known = {option.name: option for option in format_.options}
    for name, value in given.items():
        if name not in known:
            has = f"the options {', '.join(known)}" if known else "no options"
            raise BadExport(f"Expected nothing of that name: the format {format_.name} has {has}.", where=name)
        _check_value(known[name], value)
    return {name: given.get(name, option.default) for name, option in known.items()}


def _check_value(option: Option, value: Any) -> None:
    if option.choices and value not in option.choices:
        raise BadExport(f"Expected one of {', '.join(option.choices)}, got {value!r}.", where=option.name)
    if type(value) is not type(option.default):
        kind = "a switch" if isinstance(option.default, bool) else "a text"
        raise BadExport(f"Expected {kind}, got {value!r}.", where=option.name)


class Valued(Protocol):
    """What is asked of a facet to say what its codes mean."""

    @property
    def kind(self) -> FacetKind:
        """Return how its values are to be read."""

    @property
    def values(self) -> tuple[str, ...]:
        """Return every value, by code."""


def value_of(facet: Valued, code: int) -> str | int | list[str] | None:
    """Return what a facet's code means: a value, a number, of flags the list of those that hold, None without one."""
    if code < 0:
        return None
    if facet.kind is FacetKind.FLAGS:
        return [value for bit, value in enumerate(facet.values) if code >> bit & 1]
    return int(facet.values[code]) if facet.kind is FacetKind.INTEGER else facet.values[code]


def _found(world: World) -> dict[str, Format]:
    """Return the formats that are there, by name: those of the world first."""
    loaded = [_load(place) for place in (*world.formats, *NEUTRAL)]
    return {format_.name: format_ for format_ in loaded}


def _load(place: str) -> Format:
    module, _, attribute = place.partition(":")
    found: Format = getattr(importlib.import_module(module), attribute)
    return found
