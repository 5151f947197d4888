"""Reading what other people published: which files belong to which split, and their records as our items.

A `Reader` knows one published format. It streams: a file of a gigabyte needs no more memory than one of a megabyte.
The first record that can't be read ends it with `BadRecord`, which names file, record and field; what a record says
that isn't so (an answer its program does not give) is no such thing, but a `Fault`, and is handed on.
"""

import hashlib
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, NamedTuple, Protocol

from generation.engine.errors import BadRecord
from generation.engine.items import Item
from generation.engine.spec import BaseSpec
from generation.engine.worlds import READERS

Open = Callable[[str], BinaryIO]
"""Opens a file that `SplitFiles` names."""


@dataclass(frozen=True)
class SplitFiles:
    """The files of one split.

    Attributes
    ----------
    name : str
    files : mapping of str to str
        A file for each kind of record there is.
    images : str
        The folder of its pictures; empty where there is none.
    """

    name: str
    files: Mapping[str, str]
    images: str = ""


@dataclass(frozen=True)
class Found:
    """What lies in files and folders.

    Attributes
    ----------
    splits : tuple of SplitFiles
        In their usual order.
    about : mapping
        What is said of the dataset as a whole, where it is ours: title, description, authors, version, citation.
    spec : mapping
        The spec it was made from, as JSON, where it is ours; empty otherwise.
    contents : mapping of str to bytes
        The files which that spec names, by digest.
    """

    splits: tuple[SplitFiles, ...]
    about: Mapping[str, Any] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)
    contents: Mapping[str, bytes] = field(default_factory=dict)


class Fault(NamedTuple):
    """Something that a record says and that isn't so.

    Attributes
    ----------
    question : int
        The question's place in its item.
    kind : str
        `answer` where its program gives another one, `no-answer` where the program gives none on its scene, `supports`
        where it stands on other lines of its story.
    expected : str
        What the program gives; empty where it gives nothing.
    got : str
        What was published.
    """

    question: int
    kind: str
    expected: str
    got: str


class Read(NamedTuple):
    """One item as it was read.

    Attributes
    ----------
    item : Item
    faults : tuple of Fault
    most : int
        The number of its objects, or the largest number that answers a question of it.
    unknown_families : int
        How many of its questions name a template that is none of ours.
    words : tuple of str
        Answers of its questions that the world doesn't foresee, each once.
    """

    item: Item
    faults: tuple[Fault, ...] = ()
    most: int = 0
    unknown_families: int = 0
    words: tuple[str, ...] = ()


class SplitSummary(NamedTuple):
    """What is known of a split once it is read: how many scenes, the most objects or largest count, its pictures' size.

    `size` is (width, height) in pixels, or None; `words` are answers that the world doesn't foresee.
    """

    scenes: int = 1
    most: int = 0
    size: tuple[int, int] | None = None
    words: tuple[str, ...] = ()


class Reader(Protocol):
    """Reads one published format; `ours` is a kind of file that what we made has, and no release."""

    name: ClassVar[str]
    label: ClassVar[str]
    world: ClassVar[str]
    ours: ClassVar[str]

    def find(self, paths: Sequence[Path]) -> Found:
        """Return what lies in files and folders; raise `BadRecord` where there is nothing of use."""

    def sort(self, names: Sequence[str], *, opened: Open) -> Found:
        """Return what single files are, by what is in them; raise `BadRecord` for one of no use."""

    def spec(self, found: Found, known: Mapping[str, SplitSummary] | None = None) -> dict[str, Any]:
        """Return the spec of a dataset of what was found; before anything is `known`, one with room for everything."""

    def stated(self, split: SplitFiles, *, opened: Open) -> str:
        """Return the licence that a split's files name; empty where they name none."""

    def read(self, split: SplitFiles, *, spec: BaseSpec, opened: Open, skip: int = 0) -> Iterator[Read]:
        """Yield the split's items in order, after the first `skip`, which are passed over unread."""


def find_reader(name: str) -> Reader:
    """Return the reader of a format; raise `BadRecord` naming those there are."""
    if name not in READERS:
        raise BadRecord(f"Expected one of {', '.join(sorted(READERS))}, got {name!r}.", where="format")
    module, _, attribute = READERS[name].partition(":")
    reader: Reader = getattr(importlib.import_module(module), attribute)
    return reader


class CountingFile:
    """A file that is read once from its start: `tick` hears how many bytes came, `hash` is their SHA-256."""

    def __init__(self, file: BinaryIO, *, tick: Callable[[int], None] = lambda count: None) -> None:
        self.file, self.tick = file, tick
        self.hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        content = self.file.read(size)
        self.hash.update(content)
        self.tick(len(content))
        return content

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def value_of(record: Any, name: str, kind: type, *, where: str) -> Any:
    """Return a field of a record; raise `BadRecord` where it is missing or of another kind."""
    if not isinstance(record, Mapping):
        raise BadRecord(f"Expected an object, got {shortened(record)}.", where=where)
    value = record.get(name)
    if name not in record or not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        wanted = {int: "a whole number", str: "a text", list: "a list", dict: "an object"}.get(kind, kind.__name__)
        came = shortened(value) if name in record else "nothing"
        raise BadRecord(f"Expected {wanted}, got {came}.", where=f"{where}, {name}")
    return value


def shortened(value: Any) -> str:
    """Return a value as a message shows it."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
