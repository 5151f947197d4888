"""The index of a sealed split, which filters, counts and scores read instead of rows.

An index is a folder of memory-mapped arrays with one value for each question. Its name is the digest of its files.
`SplitIndex` reads it, `generation.splits.sealing` writes it, and `generation.splits.train_overlap` writes a second part
into the same folder. Codes are positions in a facet's `values`. The highest code of an array's type (255 or 65535)
means that a question has no value. The compiled steps are in `split_index_steps`, which is imported only where they are
used, because it loads numba.
"""

import functools
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from django.core.files.storage import default_storage
from numpy.typing import NDArray

from generation.engine.items import FacetKind
from generation.models import Split
from generation.storage import disk_cache, files
from generation.storage.counted_boxes import FILES, CountedBoxes
from generation.storage.question_hashes import PARTS, Keys

FORMAT = 1
FOLDER = "index"
MANIFEST = "manifest.json"
POSITIONS = "positions.npy"
MAPPED = 1 << 16  # smaller files are read, because each mapped file needs a descriptor
WORD = re.compile(r"\w+(?:'\w+)*")  # a word of the search, in lower-cased texts

Codes = NDArray[np.uint8] | NDArray[np.uint16]


class IntegerRange(NamedTuple):
    low: int | None = None  # both ends are included; None for no bound
    high: int | None = None


Selection = Collection[int] | IntegerRange
"""The values that a filter accepts: a set of codes or, for integer facets, a range of values."""

Filters = Mapping[str, Selection]


class NotIndexed(LookupError):
    """There is no index: the split is not sealed, or the facet does not exist."""


@dataclass(frozen=True, eq=False)
class IndexedFacet:
    """A facet in a split's index.

    Attributes
    ----------
    name, label : str
    kind : FacetKind
        For flags, a code is a bit mask: bit `i` is set if `values[i]` holds.
    values, labels : tuple of str
        `labels` are for users; there is one for each value.
    reveals : bool
        Whether the facet tells more than the question's words.
    codes : array (questions,) of uint8 or uint16
    bins : tuple of int
        For integers, the first value of each bin, ascending; empty for no bins.
    """

    name: str
    label: str
    kind: FacetKind
    values: tuple[str, ...]
    labels: tuple[str, ...]
    reveals: bool
    codes: Codes
    bins: tuple[int, ...] = ()

    @property
    def none(self) -> int:
        return int(np.iinfo(self.codes.dtype).max)

    def allowed(self, selection: Selection) -> NDArray[np.bool_]:
        """Return, for every possible code, whether the selection accepts it."""
        table = np.zeros(self.none + 1, dtype=np.bool_)
        wanted = sorted(self._chosen(selection))
        if self.kind == FacetKind.FLAGS:
            mask = sum(1 << code for code in wanted)
            table[: self.none] = (np.arange(self.none) & mask) != 0
        else:
            table[wanted] = True
        return table

    def _chosen(self, selection: Selection) -> list[int]:
        if not isinstance(selection, IntegerRange):
            return [code for code in set(selection) if 0 <= code < len(self.values)]
        if self.kind != FacetKind.INTEGER:
            raise ValueError(f"Expected single values of {self.name}, got a range: its values are no integers.")
        low = -np.inf if selection.low is None else selection.low
        high = np.inf if selection.high is None else selection.high
        return [code for code, value in enumerate(self.values) if low <= int(value) <= high]

    def sort(self, positions: NDArray[np.int64], *, is_descending: bool) -> NDArray[np.int64]:
        # Questions without a value come last.
        codes = self.codes[positions].astype(np.int32)
        keys = np.where(codes == self.none, len(self.values), -codes if is_descending else codes)
        return positions[np.argsort(keys, kind="stable")]

    def counts(self, histogram: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how often each of `values` occurs, given the number of each code."""
        if self.kind != FacetKind.FLAGS:
            return histogram[: len(self.values)].copy()
        masks = np.arange(self.none)
        return np.array(
            [histogram[: self.none][(masks >> bit) & 1 == 1].sum() for bit in range(len(self.values))],
            dtype=np.int64,
        )


class Matches(NamedTuple):
    positions: NDArray[np.int64]
    counts: Callable[[], dict[str, NDArray[np.int64]]]  # of `SplitIndex.counts`


class Postings(NamedTuple):
    vocabulary: list[str]
    starts: NDArray[np.int64]  # of each word's postings, and the end of the last
    postings: NDArray[np.uint32]


class SplitIndex:
    """The index of a sealed split, in question order. Open it with `SplitIndex.open(split)`.

    Attributes
    ----------
    n : int
        Number of questions.
    facets : dict of str to IndexedFacet
        In the world's order.
    answer_values : tuple of str
        The whole vocabulary of answers.
    answers : array (n,) of uint8 or uint16
        Codes of `answer_values`; the type's highest code for no answer.
    scenes : array (n,) of uint32
        The position of each question's scene.
    vocabulary : tuple of str
        Every lower-cased word that occurs, sorted.
    positions : array (n,) of int32, or None
        For a derived split, each question's position in the parent, ascending.
    keys : dict of str to Keys
        For each facet that needs the train split, the keys of each question.
    boxes : CountedBoxes or None
        The boxes of the objects that questions count; None if they are not known.
    """

    hold: IO[bytes] | None = None  # protects this machine's copy while the index is open

    def __init__(self, folder: Path, *, seen: Path | None = None) -> None:
        manifest = _manifest(folder)
        self.n: int = manifest["n"]
        self.facets = _facets(folder, manifest) | (_facets(seen, _manifest(seen)) if seen else {})
        self.answer_values: tuple[str, ...] = tuple(manifest["answers"])
        self.answers: Codes = _array(folder, "answers.npy")
        self.scenes: NDArray[np.uint32] = _array(folder, "scenes.npy")
        self.vocabulary: tuple[str, ...] = tuple(manifest["words"])
        self._word_codes = {word: code for code, word in enumerate(self.vocabulary)}
        self._starts: NDArray[np.uint32] = _array(folder, "word_starts.npy")
        self._postings: NDArray[np.uint32] = _array(folder, "word_postings.npy")
        self._sources: NDArray[np.bytes_] | None = _array(folder, "sources.npy") if manifest["sources"] else None
        self.positions: NDArray[np.int32] | None = _array(folder, POSITIONS) if manifest.get("derived") else None
        self.boxes = CountedBoxes(*(_array(folder, f"{name}.npy") for name in FILES)) if manifest.get("boxes") else None
        self.keys = {
            entry["name"]: Keys(*(_array(folder, entry[part]) for part in PARTS)) for entry in manifest.get("keys", ())
        }

    @classmethod
    def open(cls, split: Split) -> "SplitIndex":
        if not split.is_complete:
            raise NotIndexed(f"Expected a complete split, got {split}, which is {split.get_state_display()}.")
        return open_digest(split.index_digest, split.seen_digest)  # each process opens it only once

    def source_id(self, position: int) -> str | None:
        return None if self._sources is None else bytes(self._sources[position]).decode() or None  # the published id

    def sources_of(self, positions: NDArray[np.int64]) -> NDArray[np.bytes_] | None:
        return None if self._sources is None else self._sources[positions]

    def in_source(self, positions: Sequence[int]) -> list[int]:
        return list(positions) if self.positions is None else self.positions[list(positions)].tolist()

    def place_of(self, position: int) -> int | None:
        """Return the position in this split for a position in the source split, or None."""
        if self.positions is None:
            return position if 0 <= position < self.n else None
        at = int(np.searchsorted(self.positions, position))
        return at if at < self.n and self.positions[at] == position else None

    @functools.cached_property
    def scene_starts(self) -> NDArray[np.int64]:
        changes = np.flatnonzero(np.diff(self.scenes.astype(np.int64), prepend=-1))
        return changes.astype(np.int64)

    def words_of(self, positions: NDArray[np.int64]) -> "Postings":
        """Return the words of these questions (ascending positions), as an index of only these questions has them."""
        place = np.full(self.n, -1, dtype=np.int32)
        place[positions] = np.arange(len(positions), dtype=np.int32)
        moved = place[self._postings]
        kept = moved >= 0
        counts = np.add.reduceat(kept, self._starts[:-1].astype(np.int64), dtype=np.int64) if self.vocabulary else kept
        occurring = np.flatnonzero(counts)
        starts = np.concatenate([[0], np.cumsum(counts[occurring])])
        return Postings([self.vocabulary[code] for code in occurring.tolist()], starts, moved[kept].astype(np.uint32))

    def containing(self, word: str) -> NDArray[np.uint32]:
        """Return the positions of the questions that contain a word in any case, in order."""
        code = self._word_codes.get(word.lower())
        if code is None:
            return np.zeros(0, dtype=np.uint32)
        return self._postings[self._starts[code] : self._starts[code + 1]]

    def word_counts(self) -> NDArray[np.int64]:
        return np.bincount(self._postings, minlength=self.n).astype(np.int64)

    def select(self, filters: Filters, words: Sequence[str] = ()) -> NDArray[np.int64]:
        return self.find(filters, words).positions

    def counts(self, filters: Filters, words: Sequence[str] = ()) -> dict[str, NDArray[np.int64]]:
        """Return, for each facet, how many questions have each of its values.

        A facet's own filter is ignored for its counts, but all other filters apply. So each count tells how many
        questions there would be if that value were selected instead.
        """
        return self.find(filters, words).counts()

    def find(self, filters: Filters, words: Sequence[str] = ()) -> "Matches":
        # Counts are computed only on demand.
        marks, numbers = self._marks(filters, words)
        positions = np.flatnonzero(marks == 0)
        return Matches(positions, functools.partial(self._counts, positions, marks, numbers))

    def _counts(
        self, positions: NDArray[np.int64], marks: NDArray[np.uint8], numbers: Mapping[str, int]
    ) -> dict[str, NDArray[np.int64]]:
        from generation.storage.split_index_steps import count_codes  # loads numba

        result = {}
        for name, facet in self.facets.items():
            histogram = np.zeros(facet.none + 1, dtype=np.int64)
            others = np.flatnonzero((marks == 0) | (marks == numbers[name])) if name in numbers else positions
            count_codes(facet.codes, others, histogram)
            result[name] = facet.counts(histogram)
        return result

    def _marks(self, filters: Filters, words: Sequence[str]) -> tuple[NDArray[np.uint8], dict[str, int]]:
        """Return the mark of each question, as `mark_codes` sets it, and the number of each filter."""
        from generation.storage.split_index_steps import MANY, mark_codes  # loads numba

        marks = np.zeros(self.n, dtype=np.uint8)
        if words:
            marks[:] = MANY
            marks[self._with_all(words)] = 0
        numbers: dict[str, int] = {}
        for name, selection in filters.items():
            if name not in self.facets:
                raise NotIndexed(f"Expected one of {', '.join(self.facets)}, got {name!r}.")
            facet = self.facets[name]
            numbers[name] = len(numbers) + 1
            mark_codes(facet.codes, facet.allowed(selection), numbers[name], marks)
        return marks, numbers

    def _with_all(self, words: Sequence[str]) -> NDArray[np.uint32]:
        found = sorted((self.containing(word) for word in words), key=len)
        return functools.reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), found)


def _manifest(folder: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    if manifest["format"] != FORMAT:
        raise NotIndexed(f"Expected an index of format {FORMAT}, got {manifest['format']} in {folder}.")
    return manifest


def _facets(folder: Path, manifest: Mapping[str, Any]) -> dict[str, IndexedFacet]:
    return {entry["name"]: _facet(entry, _array(folder, entry["file"])) for entry in manifest["facets"]}


def _facet(entry: Mapping[str, Any], codes: Codes) -> IndexedFacet:
    values = tuple(entry["values"])
    return IndexedFacet(
        name=entry["name"],
        label=entry["label"],
        kind=FacetKind(entry["kind"]),
        values=values,
        labels=tuple(entry["labels"]) or values,
        bins=tuple(entry.get("bins", ())),
        reveals=entry["reveals"],
        codes=codes,
    )


def _array(folder: Path, name: str) -> Any:
    """Return a read-only array of the index: memory-mapped if it is large, otherwise read into memory."""
    path = folder / name
    array = np.load(path, mmap_mode="r" if path.stat().st_size >= MAPPED else None, allow_pickle=False)
    array.flags.writeable = False
    return array


@functools.lru_cache(maxsize=64)
def open_digest(digest: str, seen: str = "") -> SplitIndex:
    """Return the index with this digest, with its second part `seen` if given.

    If files are stored elsewhere, it is first copied to this machine, and the copy is kept while the index is open.
    """
    folder, hold = _held(digest)
    index = SplitIndex(folder, seen=fetch(f"{digest}/{seen}") if seen else None)
    index.hold = hold
    return index


def _held(digest: str) -> tuple[Path, IO[bytes] | None]:
    """Return the folder of an index, and a file that protects a copy from removal; None for local storage."""
    while True:
        folder = fetch(digest)
        if files.local_path(FOLDER) is not None:
            return folder, None
        if (hold := disk_cache.hold(folder)) is not None:
            return folder, hold


@functools.lru_cache(maxsize=64)
def counts_of_all(digest: str, seen: str = "") -> Mapping[str, NDArray[np.int64]]:
    return open_digest(digest, seen).counts({})


def fetch(digest: str) -> Path:
    """Return the folder of an index, or of its second part, on this machine's disk; raise `NotIndexed` if missing."""
    local = files.local_path(f"{FOLDER}/{digest}")
    folder = local if local is not None else disk_cache.folder() / digest
    if local is None and not (folder / MANIFEST).exists():
        _fetch(digest, folder)
    if not (folder / MANIFEST).exists():
        raise NotIndexed(f"Expected the index {digest} in {folder}, got nothing. Restore it from a backup.")
    return folder


def _fetch(digest: str, folder: Path) -> None:
    """Copy an index from the storage. The manifest comes last, because it marks a complete copy."""
    folder.mkdir(parents=True, exist_ok=True)
    names = default_storage.listdir(f"{FOLDER}/{digest}")[1]
    for name in sorted(names, key=lambda name: name == MANIFEST):
        files.write_whole(folder / name, files.get(f"{FOLDER}/{digest}/{name}"))
    disk_cache.make_room()
