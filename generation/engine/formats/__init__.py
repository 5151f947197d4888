"""Export formats: the protocols through which a format reads a dataset, and the list of formats.

A format writes a dataset into a folder that other tools can read. It reads `ExportDataset`, which contains only what
the user may see and which is a stream: a million questions need no more memory than a thousand. The formats of
`NEUTRAL` work for every world; `World.formats` names further ones. The same dataset and options give the same bytes:
no clock, random names or file times are written.
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
    "generation.engine.formats.reinforcement:TRL",
    "generation.engine.formats.reinforcement:VERL",
    "generation.engine.formats.vlmevalkit:FORMAT",
)

Tick = Callable[[int], None]
"""A callback for progress. It is called with 1 once after each item and with 0 from time to time during other long
work. It raises an exception if the export was cancelled; formats do not catch that exception."""


@dataclass(frozen=True)
class ExportItem:
    """One scene of a split with its questions, limited to what the user may see.

    Attributes
    ----------
    position : int
        0-based and consecutive within the exported split.
    item : Item
        `scene`, `view` and each question's `answer` and `program` are None if the user may not see them.
    first_question : int
        The 0-based position of its first question in the split. Its other questions follow directly.
    image_name : str
        The file name of its picture, such as `val_000013.png`. A format may use another name.
    width, height : int
        Size of the picture in pixels; 0 without a picture.
    image : callable or None
        Returns the bytes of the stored picture file. None if there is no picture, if the user may not see it, or if the
        export leaves pictures out.
    story : tuple of str, or None
        The lines of its story, which may be public even if the scene is not; None without a story.
    ids : callable or None
        Returns the object ids `(height, width)` uint16: element number + 1, or 0 for no element. None without ids.
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
    """A complete split, limited to what the user may see."""

    @property
    def name(self) -> str:
        """Return the split's name."""

    @property
    def scenes(self) -> int:
        """Return the number of scenes."""

    @property
    def questions(self) -> int:
        """Return the number of questions."""

    @property
    def images(self) -> bool:
        """Return whether its items have pictures."""

    @property
    def withheld(self) -> bool:
        """Return whether the answers are withheld from everyone except the owner."""

    @property
    def shows_answers(self) -> bool:
        """Return whether this export may contain the answers."""

    @property
    def shows_programs(self) -> bool:
        """Return whether this export may contain the programs."""

    @property
    def shows_scenes(self) -> bool:
        """Return whether this export may contain scenes and views."""

    @property
    def reference(self) -> str | None:
        """Return the name of the train split to which this split is compared, or None."""

    @property
    def parent(self) -> str | None:
        """Return the name of the split from which this one was derived, or None."""

    @property
    def imported(self) -> bool:
        """Return whether the questions were imported and not made from the spec."""

    @property
    def fingerprint(self) -> str:
        """Return the split's content hash."""

    @property
    def secret_sha256(self) -> str:
        """Return the SHA-256 of the secret that was used to generate the split; empty without a secret."""

    @property
    def secret(self) -> str:
        """Return that secret in hexadecimal; empty without a secret or if the user may not see it."""

    @property
    def spec(self) -> BaseSpec:
        """Return the spec with the overrides of this split."""

    @property
    def facets(self) -> tuple[Facet, ...]:
        """Return the facets that the user may see, in order."""

    def items(self) -> Iterator[ExportItem]:
        """Yield the scenes in order. It may be called several times."""

    def facet_codes(self, first: int, count: int) -> Mapping[str, NDArray[np.int64]]:
        """Return the codes `(count,)` of each visible facet for the questions from `first` on; -1 for no value."""


class ExportDataset(Protocol):
    """A dataset, limited to what the user may see."""

    @property
    def slug(self) -> str:
        """Return the dataset's name in addresses."""

    @property
    def title(self) -> str:
        """Return the dataset's title."""

    @property
    def description(self) -> str:
        """Return the description that its owner wrote."""

    @property
    def authors(self) -> tuple[str, ...]:
        """Return the names of the authors."""

    @property
    def licence(self) -> str:
        """Return the licence, such as `CC BY 4.0`; empty if none is stated."""

    @property
    def version(self) -> str:
        """Return the version that the authors stated; empty if they did not."""

    @property
    def citation(self) -> str:
        """Return how to cite the dataset, as a sentence or BibTeX; empty if it is not stated."""

    @property
    def completed(self) -> date:
        """Return the day on which the dataset was completed."""

    @property
    def fingerprint(self) -> str:
        """Return the dataset's content hash."""

    @property
    def engine_version(self) -> str:
        """Return the version of the engine that made it."""

    @property
    def release(self) -> str:
        """Return the version of Horsesense that made it."""

    @property
    def url(self) -> str:
        """Return the address of the dataset's page; empty if it is not known."""

    @property
    def world(self) -> World:
        """Return the dataset's world."""

    @property
    def spec_json(self) -> Mapping[str, Any]:
        """Return the spec as JSON, with all defaults written out."""

    @property
    def files(self) -> Mapping[str, bytes]:
        """Return the contents of the files that the spec names, by digest."""

    @property
    def splits(self) -> Sequence[ExportSplit]:
        """Return the exported splits, in order."""

    def figures(self) -> Mapping[str, bytes]:
        """Return the dataset's charts as SVG files, by file name; empty if they cannot be drawn."""


@dataclass(frozen=True)
class Option:
    """An option of a format: `--name` on the command line, a field on the page.

    Attributes
    ----------
    name : str
        Small letters, digits and hyphens.
    about : str
        One line for users.
    default : bool or str
        False for a switch; one of `choices` if there are any; otherwise a text.
    choices : tuple of str
        All possible values; empty for switches and free texts.
    """

    name: str
    about: str
    default: bool | str = False
    choices: tuple[str, ...] = ()


class Format(Protocol):
    """A file format for datasets.

    `label` is its name for users, and `about` says in one line who reads it. `sums` names the file with the SHA-256 of
    all other files.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    about: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    sums: ClassVar[str] = "SHA256SUMS"

    def write(self, dataset: ExportDataset, folder: Path, *, options: Mapping[str, Any], tick: Tick) -> None:
        """Write into an empty folder. `options` has a value for each option. Raise `BadExport` if that cannot work."""


def names(world: World) -> tuple[str, ...]:
    """Return the names of the formats in which a world's datasets can be exported, sorted."""
    return tuple(sorted(_found(world)))


def find(name: str, world: World) -> Format:
    """Return a format by name; raise `BadExport` with the names of the existing formats."""
    found = _found(world)
    if name not in found:
        raise BadExport(f"Expected one of {', '.join(sorted(found))}, got {name!r}.", where="format")
    return found[name]


def every() -> list[Format]:
    """Return the formats of all worlds, sorted by name."""
    found: dict[str, Format] = {}
    for world in usable():
        found |= _found(world)
    return [found[name] for name in sorted(found)]


def check_options(format_: Format, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value for each option of a format; raise `BadExport` for an unknown option or a wrong value."""
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
    """The attributes of a facet that `value_of` needs."""

    @property
    def kind(self) -> FacetKind:
        """Return how the values are interpreted."""

    @property
    def values(self) -> tuple[str, ...]:
        """Return all values, by code."""


def value_of(facet: Valued, code: int) -> str | int | list[str] | None:
    """Return the meaning of a facet's code: a value, a number, the list of flags that are set, or None for no value."""
    if code < 0:
        return None
    if facet.kind is FacetKind.FLAGS:
        return [value for bit, value in enumerate(facet.values) if code >> bit & 1]
    return int(facet.values[code]) if facet.kind is FacetKind.INTEGER else facet.values[code]


def _found(world: World) -> dict[str, Format]:
    """Return the formats by name. A neutral format replaces a world's format of the same name."""
    loaded = [_load(place) for place in (*world.formats, *NEUTRAL)]
    return {format_.name: format_ for format_ in loaded}


def _load(place: str) -> Format:
    module, _, attribute = place.partition(":")
    found: Format = getattr(importlib.import_module(module), attribute)
    return found
