"""Proving batches of an exported folder."""

import csv
import gzip
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from generation.engine.canonical import canonical
from generation.engine.formats import value_of
from generation.engine.items import Facet, Item, Media, Needs
from generation.engine.reading.published import ReadItem, SplitFiles
from generation.engine.spec import BaseSpec
from generation.engine.verification.checks import Checker, can_have_facets, prove_drawn_again, read_picture, rgb_of
from generation.engine.verification.proof import Proof
from generation.engine.verification.train_overlap import NONE, VALUES
from generation.engine.verification.verdict import Finding, of_item
from generation.engine.worlds import World, get_maker, get_world

SAID = {"": NONE, **{value: code for code, value in enumerate(VALUES)}}  # codes of what a table of facets says
OTHER = -2  # the code of anything else


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
    """What came of a batch.

    Attributes
    ----------
    findings : list of Finding
    proof : Proof
    hashed : bytes
        What the content hash covers.
    is_whole : bool
        Whether every scene, program and answer is there.
    keys : list of mapping of str to list of int
        For each question and each facet that needs the train split, hashes of what that split must have.
    said : list of mapping of str to int
        The codes of what is said of those facets.
    repeats : mapping of str to list of int
        Hashes of what may occur more than once, by facet.
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
    except (OSError, EOFError, csv.Error, UnicodeDecodeError):  # what is missing is found question by question
        return


def prove_part(splits: Mapping[str, FolderSplit], part: FolderBatch) -> PartProof:
    """Return the result of checking a batch."""
    return _PartProver(splits[part.split], part).prove()


class _PartProver:
    def __init__(self, split: FolderSplit, part: FolderBatch) -> None:
        self.split, self.part = split, part
        self.world: World = get_world(split.world)
        self.checker = Checker(self.world, split.own, made=split.is_made)
        facets = {facet.name: facet for facet in self.world.facets(split.own)}
        self.facets = [facets[name] for name in split.facets if name in facets]
        self.repeats = self.world.repeats
        self.result = PartProof([], Proof(), b"", True, [], [], {one.facet: [] for one in self.repeats})

    def prove(self) -> PartProof:
        result, at = self.result, self.part.first_question
        lines: list[str] = []
        self.checker.begin()
        for position, read in enumerate(self.part.reads, self.part.first):
            item, proof = read.item, result.proof
            if self.split.numbers_by_position and item.number is not None:
                proof.same("rows", position, item.number, what="the next picture's number, ")
            self.checker.prove(item, proof)
            self._facets(item, at, proof)
            self._repeats(item)
            self._picture(read, position, proof)
            lines += [canonical(None if item.scene is None else item.scene.to_json())]
            lines += [canonical(question.to_json()) for question in item.questions]
            told = all(question.answer is not None and question.program is not None for question in item.questions)
            result.is_whole &= item.scene is not None and told
            places = range(at, at + len(item.questions))
            result.findings += of_item(self.split.name, proof.settle(), scene=position, questions=places)
            at += len(item.questions)
        result.hashed = "".join(f"{line}\n" for line in lines).encode()
        return result

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

    def _picture(self, read: ReadItem, position: int, proof: Proof) -> None:
        if self.world.media is not Media.IMAGE:
            return
        folder = self.split.files.images
        if not folder or not read.item.image_name:
            if self.split.stated.get("images"):
                proof.flaw("images", "a picture", "none")
            proof.leave("scenes without a picture")
            return
        try:
            content = Path(folder, read.item.image_name).read_bytes()
        except OSError:
            proof.flaw("images", f"the file {read.item.image_name}", "none")
            return
        rgb: Any = read_picture(content, proof, check="images", what=f"the file {read.item.image_name}")
        if rgb is None:
            return
        if not self.split.is_made:  # others' pictures may be grey, or have transparency
            rgb = rgb_of(rgb)
        self.checker.prove_pictures(read.item, rgb, None, proof)
        if position in self.part.again and read.item.scene is not None:
            self._draw_again(read.item, rgb, proof)

    def _draw_again(self, item: Item, rgb: Any, proof: Proof) -> None:
        source = self.split.stated.get("parent") or self.split.name
        if source not in self.split.spec.splits or item.view is None:
            proof.leave("pictures drawn again of scenes that we did not draw")
            return
        world, spec = self.world.name, self.split.spec
        prove_drawn_again(rgb, None, proof, draw=lambda: get_maker(world).render(spec, source, item))


def _hash(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")


def _said(facet: Facet, code: int) -> str:
    """Return a facet's value as a cell of the table."""
    value = value_of(facet, code)
    if value is None:
        return ""
    return " ".join(value) if isinstance(value, list) else str(value)
