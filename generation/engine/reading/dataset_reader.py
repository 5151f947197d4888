"""Reading published datasets: which files belong to which split, and their records as items.

A `Reader` reads one published format. It streams: a file of a gigabyte needs no more memory than one of a megabyte.
The first record that cannot be read ends it with `BadRecord`, which names the file, the record and the field. A record
with a wrong statement (an answer that its program does not give) is not an error; it is reported as a `Fault`.
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
        A file for each kind of record.
    images : str
        The folder of its pictures; empty if there is none.
    """

    name: str
    files: Mapping[str, str]
    images: str = ""


@dataclass(frozen=True)
class FoundFiles:
    """What files and folders contain.

    Attributes
    ----------
    splits : tuple of SplitFiles
        In their usual order.
    about : mapping
        Facts about the dataset, if it is an export of Horsesense: title, description, authors, version, citation.
    spec : mapping
        The spec as JSON, if it is an export of Horsesense; empty otherwise.
    contents : mapping of str to bytes
        The files that the spec names, by digest.
    left : tuple of str
        Files and folders that may look like data and are left out.
    """

    splits: tuple[SplitFiles, ...]
    about: Mapping[str, Any] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)
    contents: Mapping[str, bytes] = field(default_factory=dict)
    left: tuple[str, ...] = ()


class Fault(NamedTuple):
    """A wrong statement in a record.

    Attributes
    ----------
    question : int
        The question's position in its item.
    kind : str
        `answer` if the program gives another answer, `no-answer` if it has no answer on its scene, `supports` if the
        answer depends on other lines of the story.
    expected : str
        The program's result; empty if it has none.
    got : str
        The published value.
    """

    question: int
    kind: str
    expected: str
    got: str


class NormalisedAnswer(NamedTuple):
    """An answer that is stored in another form than its published one, such as `apple,milk` for `milk, apple`."""

    published: str
    stored: str


class ReadItem(NamedTuple):
    """One item that was read.

    Attributes
    ----------
    item : Item
    faults : tuple of Fault
    most : int
        The number of its objects, or the largest number that is an answer, whichever is larger.
    unknown_families : int
        The number of its questions that name an unknown template.
    words : tuple of str
        Words that the spec must list and does not list yet, without repeats, for example unusual answers.
    size : (width, height)
        The published size of its picture in pixels; zeros if it is not known.
    normalised : tuple of NormalisedAnswer
        Answers that changed. The order of a set is no change.
    """

    item: Item
    faults: tuple[Fault, ...] = ()
    most: int = 0
    unknown_families: int = 0
    words: tuple[str, ...] = ()
    size: tuple[int, int] = (0, 0)
    normalised: tuple[NormalisedAnswer, ...] = ()


class SplitSummary(NamedTuple):
    """Facts about a split after reading it: number of scenes, largest object count or answer, size of its pictures.

    `size` is (width, height) in pixels, or None. `words` are those of `ReadItem.words`.
    """

    scenes: int = 1
    most: int = 0
    size: tuple[int, int] | None = None
    words: tuple[str, ...] = ()


class PublishedCount(NamedTuple):
    """A count of a published dataset, with which an import is compared.

    Attributes
    ----------
    splits : tuple of str
        The counts of these splits are added; an import may lack all of them but the first.
    number : int
    of : str
        `questions` or `scenes`.
    answer : str
        If not empty, only questions with this answer are counted.
    beside : str
        If not empty, the count is compared only if this split was imported too.
    """

    splits: tuple[str, ...]
    number: int
    of: str = "questions"
    answer: str = ""
    beside: str = ""


class Reader(Protocol):
    """Reads one published format.

    Attributes
    ----------
    name, label : str
        The name in commands, and the name for people.
    world : str
    ours : str
        A kind of file that only exports of Horsesense have.
    published : sequence of PublishedCount
        Counts of the published dataset; empty if the format has been used for several datasets.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    world: ClassVar[str]
    ours: ClassVar[str]
    published: ClassVar[Sequence[PublishedCount]]

    def find(self, paths: Sequence[Path]) -> FoundFiles:
        """Return the splits in files and folders; raise `BadRecord` if there is none."""

    def sort(self, names: Sequence[str], *, opened: Open) -> FoundFiles:
        """Return the splits of single files, recognised by their content; raise `BadRecord` for an unusable file."""

    def spec(self, found: FoundFiles, known: Mapping[str, SplitSummary] | None = None) -> dict[str, Any]:
        """Return the spec of a dataset from these files. Without `known`, the spec has room for everything."""

    def stated(self, split: SplitFiles, *, opened: Open) -> str:
        """Return the licence that a split's files state; empty if they state none."""

    def read(self, split: SplitFiles, *, spec: BaseSpec, opened: Open, skip: int = 0) -> Iterator[ReadItem]:
        """Yield the split's items in order. The first `skip` items are skipped without being read."""


def find_reader(name: str) -> Reader:
    """Return the reader of a format; raise `BadRecord` with the names of the existing formats."""
    if name not in READERS:
        raise BadRecord(f"Expected one of {', '.join(sorted(READERS))}, got {name!r}.", where="format")
    module, _, attribute = READERS[name].partition(":")
    reader: Reader = getattr(importlib.import_module(module), attribute)
    return reader


class ProgressFile:
    """A file that is read once. It calls `tick` with each number of bytes; `hash` is the SHA-256 of what was read."""

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
    """Return a field of a record; raise `BadRecord` if it is missing or has the wrong type."""
    if not isinstance(record, Mapping):
        raise BadRecord(f"Expected an object, got {shorten(record)}.", where=where)
    value = record.get(name)
    if name not in record or not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        wanted = {int: "a whole number", str: "a text", list: "a list", dict: "an object"}.get(kind, kind.__name__)
        came = shorten(value) if name in record else "nothing"
        raise BadRecord(f"Expected {wanted}, got {came}.", where=f"{where}, {name}")
    return value


def shorten(value: Any) -> str:
    """Return a value as a short text for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
