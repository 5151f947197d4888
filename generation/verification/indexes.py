"""Proving the index of a split as a whole: its files, manifest and vocabulary, and the overlap with its reference."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from generation.engine.content_hash import digest
from generation.engine.items import Facet, Needs
from generation.engine.verification.train_overlap import NONE
from generation.engine.verification.verdict import Finding, Verdict
from generation.models import Split
from generation.storage.split_index import SplitIndex, fetch
from generation.verification.index_columns import BROKEN, open_fresh, seen_folder

if TYPE_CHECKING:
    from generation.verification.chunk_verifier import ChunkProof


def digest_of(folder: Path) -> str:
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    return digest([[name, hashlib.sha256((folder / name).read_bytes()).hexdigest()] for name in names])


class IndexProof:
    """Proves a split's index after its batches have proved their parts of it."""

    def __init__(self, split: Split) -> None:
        self.split = split
        self.words: Counter[str] = Counter()
        self.sources = False

    def add(self, proof: "ChunkProof") -> None:
        self.words.update(proof.words)
        self.sources |= proof.sources

    def prove(self, verdict: Verdict) -> None:
        """Prove files, manifest and vocabulary."""
        split = self.split
        try:
            prove_digests(split, verdict)
            index = SplitIndex(fetch(split.index_digest), seen=seen_folder(split))
        except BROKEN as error:
            verdict.find(Finding(split.name, "hashes", "an index that can be read", str(error)))
            return
        spec, world = split.read_spec(), split.dataset.get_world()
        own = [facet for facet in world.facets(spec) if facet.needs == Needs.ITEM]
        expected: list[Any] = [world.answers(spec), split.questions]
        came: list[Any] = [index.answer_values, index.n]
        verdict.same(split.name, "facets", expected, came, unit="indexes", what="answers and number of questions ")
        prove_facets(index, own, split.name, verdict)
        self._prove_words(index, verdict)

    def _prove_words(self, index: SplitIndex, verdict: Verdict) -> None:
        """Prove that the index has exactly the words that occur, each with the right number of questions."""
        came = {word: len(index.containing(word)) for word in index.vocabulary}
        wrong = [word for word in sorted({*came, *self.words}) if came.get(word, 0) != self.words.get(word, 0)]
        for word in wrong:
            expected = f"{self.words.get(word, 0):,} questions with {word!r}"
            verdict.find(Finding(self.split.name, "words", expected, f"{came.get(word, 0):,}"))
        verdict.prove(self.split.name, "words", len(self.words) - len(wrong), unit="words")


def prove_digests(split: Split, verdict: Verdict) -> None:
    """Prove that the names of an index and of its second part are the digests of their files."""
    parts = [(split.index_digest, split.index_digest)]
    parts += [(f"{split.index_digest}/{split.seen_digest}", split.seen_digest)] if split.seen_digest else []
    for place, name in parts:
        verdict.same(split.name, "hashes", name, digest_of(fetch(place)), unit="indexes", what="an index of digest ")


def prove_facets(index: SplitIndex, facets: Iterable[Facet], name: str, verdict: Verdict) -> None:
    """Prove that an index has these facets, described in the same way as in the world."""
    for facet in facets:
        column = index.facets.get(facet.name)
        came = None if column is None else _said(column)
        verdict.same(name, "facets", _said(facet), came, unit="columns", what=f"the facet {facet.name}: ")


def _said(facet: Any) -> tuple[Any, ...]:
    labels = facet.labels or facet.values
    return facet.label, str(facet.kind), facet.values, labels, facet.bins, facet.reveals


def stated_overlap(split: Split, verdict: Verdict) -> dict[str, NDArray[np.int64]]:
    """Return the overlap with the reference that a split's index states, by facet; prove the facets themselves."""
    index = open_fresh(split)
    if index is None:  # `IndexProof` has reported it
        return {}
    facets = [one for one in split.dataset.get_world().facets(split.read_spec()) if one.needs == Needs.TRAIN]
    prove_facets(index, facets, split.name, verdict)
    columns = {one.name: index.facets[one.name] for one in facets if one.name in index.facets}
    return {
        name: np.where(column.codes == column.none, NONE, column.codes.astype(np.int64))
        for name, column in columns.items()
    }
