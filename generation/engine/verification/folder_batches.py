"""Proving batches of an exported folder."""

import csv
import gzip
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from generation.engine.formats import value_of
from generation.engine.items import Facet, Item, Media, Needs
from generation.engine.reading.dataset_reader import ReadItem, SplitFiles
from generation.engine.spec import BaseSpec
from generation.engine.verification.batches import BatchItem, BatchProver, StoredPictures
from generation.engine.verification.checks import can_have_facets, read_picture
from generation.engine.verification.proof import Proof
from generation.engine.verification.train_overlap import NONE, VALUES
from generation.engine.verification.verdict import Finding
from generation.engine.worlds import get_world

SAID = {"": NONE, **{value: code for code, value in enumerate(VALUES)}}  # codes of the values in a table of facets
OTHER = -2  # the code of any other value


class FolderSplit(NamedTuple):
    """A split of an exported folder.

    Attributes
    ----------
    name : str
    files : SplitFiles
    spec, own : BaseSpec
        The dataset's spec, and the split's spec.
    is_made : bool
        Whether the split was generated from its spec.
    stated : mapping
        Facts about the split in the folder `horsesense/`; empty without that folder.
    facets : sequence of str
        The facets whose values the folder states.
    world : str
    """

    name: str
    files: SplitFiles
    spec: BaseSpec
    own: BaseSpec
    is_made: bool
    stated: Mapping[str, Any]
    facets: Sequence[str]
    world: str

    @property
    def numbers_by_position(self) -> bool:
        """Return whether pictures are numbered by position. Published scenes keep their published numbers."""
        return bool(self.stated) and not self.stated.get("imported") and not self.own.scene_files


class FolderBatch(NamedTuple):
    """A batch: its items, the first positions of items and questions, the stated facets, and items to draw again."""

    split: str
    reads: tuple[ReadItem, ...]
    first: int
    first_question: int
    rows: Sequence[Mapping[str, str]] | None
    again: frozenset[int]

    @property
    def questions(self) -> int:
        """Return the number of questions."""
        return sum(len(read.item.questions) for read in self.reads)


@dataclass
class PartProof:
    """The result of proving a batch.

    Attributes
    ----------
    findings : list of Finding
    proof : Proof
    hashed : bytes
        What the content hash covers.
    is_whole : bool
        Whether every scene, program and answer is there.
    keys : list of mapping of str to list of int
        For each question and each facet that needs the train split, the hashes of the question's keys.
    said : list of mapping of str to int
        The stated codes of those facets, for each question.
    repeats : mapping of str to list of int
        Hashes of the keys that may repeat, by facet.
    """

    findings: list[Finding]
    proof: Proof
    hashed: bytes
    is_whole: bool
    keys: list[Mapping[str, list[int]]]
    said: list[Mapping[str, int]]
    repeats: dict[str, list[int]]


def facet_rows(folder: Path, split: str) -> Iterator[Mapping[str, str]] | None:
    """Return the rows of a split's facet table; None if there is no table."""
    found = sorted(folder.glob(f"*_{split}_facets.csv.gz"))
    return _rows(found[0]) if found else None


def _rows(path: Path) -> Iterator[Mapping[str, str]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)
    except (OSError, EOFError, csv.Error, UnicodeDecodeError):  # missing rows are reported for each question
        return


def prove_part(splits: Mapping[str, FolderSplit], part: FolderBatch) -> PartProof:
    """Return the result of checking a batch."""
    return _PartProver(splits[part.split], part).prove()


class _PartProver(BatchProver):
    """Proves one batch, record by record."""

    def __init__(self, split: FolderSplit, part: FolderBatch) -> None:
        world = get_world(split.world)
        source = split.stated.get("parent") or split.name
        super().__init__(
            world,
            split.name,
            spec=split.own,
            is_made=split.is_made,
            drawn=(split.spec, source) if source in split.spec.splits else None,
            again=part.again,
        )
        self.split, self.part = split, part
        facets = {facet.name: facet for facet in world.facets(split.own)}
        self.facets = [facets[name] for name in split.facets if name in facets]
        self.repeats = world.repeats
        self.result = PartProof(self.findings, self.proof, b"", True, [], [], {one.facet: [] for one in self.repeats})

    def prove(self) -> PartProof:
        self.result.hashed = self.prove_items()
        return self.result

    def read_items(self) -> Iterator[BatchItem]:
        at = self.part.first_question
        for position, read in enumerate(self.part.reads, self.part.first):
            questions = range(at, at + len(read.item.questions))
            yield BatchItem(read, read.item, position, questions)
            at = questions.stop

    def prove_place(self, stored: BatchItem) -> None:
        item = stored.item
        if self.split.numbers_by_position and item.number is not None:
            self.proof.same("rows", stored.position, item.number, what="the next picture's number, ")
        told = all(question.answer is not None and question.program is not None for question in item.questions)
        self.result.is_whole &= item.scene is not None and told

    def prove_facets(self, stored: BatchItem) -> None:
        self._facets(stored.item, stored.questions[0] if stored.questions else 0, self.proof)
        self._repeats(stored.item)

    def _facets(self, item: Item, first: int, proof: Proof) -> None:
        """Check the stated facets of the questions, if scene and program are present and correct."""
        rows = self.part.rows
        if rows is None or not self.facets:
            return
        if item.scene is None or any(question.program is None for question in item.questions):
            proof.leave("facets of questions whose scene or program isn't there", len(item.questions))
            return
        if not can_have_facets(item, proof):
            return
        coded = self.world.facet_codes(self.split.own, item)
        for number, question in enumerate(item.questions):
            place = first + number - self.part.first_question
            row = rows[place] if place < len(rows) else {}
            proof.same("facets", str(first + number), row.get("question_index"), what="row ", question=number)
            for facet in self.facets:
                if facet.needs == Needs.ITEM:
                    expected = _said(facet, coded[facet.name][number])
                    proof.same("facets", expected, row.get(facet.name), what=f"{facet.name} ", question=number)
            keys = self.world.train_keys(self.split.own, item, question)
            self.result.keys.append({name: [_hash(key) for key in found] for name, found in keys.items()})
            self.result.said.append(
                {one.name: SAID.get(row.get(one.name, ""), OTHER) for one in self.facets if one.needs == Needs.TRAIN}
            )

    def _repeats(self, item: Item) -> None:
        """Collect the keys that may repeat."""
        for question in item.questions if self.repeats else ():
            keys = self.world.train_keys(self.split.own, item, question)
            for one in self.repeats:
                self.result.repeats[one.facet] += [_hash(key) for key in keys[one.facet]]

    def read_pictures(self, stored: BatchItem) -> StoredPictures | None:
        if self.world.media is not Media.IMAGE:
            return None
        folder, name = self.split.files.images, stored.item.image_name
        if not folder or not name:
            if self.split.stated.get("images"):
                self.proof.flaw("images", "a picture", "none")
            self.proof.leave("scenes without a picture")
            return None
        try:
            content = Path(folder, name).read_bytes()
        except OSError:
            self.proof.flaw("images", f"the file {name}", "none")
            return None
        rgb = read_picture(content, self.proof, check="images", what=f"the file {name}")
        return None if rgb is None else StoredPictures(rgb)


def _hash(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")


def _said(facet: Facet, code: int) -> str:
    """Return a facet's value as a cell of the table."""
    value = value_of(facet, code)
    if value is None:
        return ""
    return " ".join(value) if isinstance(value, list) else str(value)
