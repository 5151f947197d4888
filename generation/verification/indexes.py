"""Proving the index of a split as a whole: its files, its manifest, its vocabulary, what its reference had seen."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from generation.engine.canonical import digest
from generation.engine.items import Facet, Needs
from generation.engine.verification.verdict import Finding, Verdict
from generation.engine.worlds import SEEN, UNSEEN
from generation.models import Split
from generation.storage.index import SplitIndex, fetched
from generation.storage.key_hashes import KeyColumns
from generation.verification.columns import BROKEN, open_fresh, seen_folder

if TYPE_CHECKING:
    from generation.verification.rows import ChunkProof


def digest_of(folder: Path) -> str:
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    return digest([[name, hashlib.sha256((folder / name).read_bytes()).hexdigest()] for name in names])


class IndexProof:
    """Proves a split's index once its batches have proved their parts of it."""

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
            index = SplitIndex(fetched(split.index_digest), seen=seen_folder(split))
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
        """Prove that the index knows every word, no other, and of each as many questions as have it."""
        came = {word: len(index.containing(word)) for word in index.vocabulary}
        wrong = [word for word in sorted({*came, *self.words}) if came.get(word, 0) != self.words.get(word, 0)]
        for word in wrong:
            expected = f"{self.words.get(word, 0):,} questions with {word!r}"
            verdict.find(Finding(self.split.name, "words", expected, f"{came.get(word, 0):,}"))
        verdict.prove(self.split.name, "words", len(self.words) - len(wrong), unit="words")


def prove_digests(split: Split, verdict: Verdict) -> None:
    """Prove that an index, and its second part, have the files that their names promise."""
    parts = [(split.index_digest, split.index_digest)]
    parts += [(f"{split.index_digest}/{split.seen_digest}", split.seen_digest)] if split.seen_digest else []
    for place, name in parts:
        verdict.same(split.name, "hashes", name, digest_of(fetched(place)), unit="indexes", what="an index of digest ")


def prove_facets(index: SplitIndex, facets: Iterable[Facet], name: str, verdict: Verdict) -> None:
    """Prove that an index has these facets, said as the world says them."""
    for facet in facets:
        column = index.facets.get(facet.name)
        came = None if column is None else _said(column)
        verdict.same(name, "facets", _said(facet), came, unit="columns", what=f"the facet {facet.name}: ")


def _said(facet: Any) -> tuple[Any, ...]:
    labels = facet.labels or facet.values
    return facet.label, str(facet.kind), facet.values, labels, facet.bins, facet.reveals


class SeenProof:
    """Proves what an index says its reference had seen, once all splits have given their keys."""

    def __init__(self) -> None:
        self.hashes: dict[int, dict[str, list[NDArray[np.uint64]]]] = {}
        self.counts: dict[int, dict[str, list[NDArray[np.int64]]]] = {}

    def add(self, split: Split, keys: KeyColumns) -> None:
        """Take in a batch's keys."""
        hashes, counts = self.hashes.setdefault(split.pk, {}), self.counts.setdefault(split.pk, {})
        for name, column in keys.hashes.items():
            hashes.setdefault(name, []).append(np.array(column, np.uint64))
            starts = np.array(keys.starts[name], np.int64)
            counts.setdefault(name, []).append(starts[1:] - starts[:-1])

    def prove(self, splits: Iterable[Split], verdict: Verdict) -> None:
        """Prove the facets that need the train split."""
        for split in splits:
            if split.seen_digest and split.reference_id is not None and not split.is_derived:
                if split.reference_id in self.hashes:
                    self._prove_split(split, verdict)
                else:
                    verdict.leave(split.name, "facets of what the train split has, which was not verified along")

    def _prove_split(self, split: Split, verdict: Verdict) -> None:
        index = open_fresh(split)
        assert split.reference_id is not None
        if index is None:  # found before
            return
        facets = [one for one in split.dataset.get_world().facets(split.read_spec()) if one.needs == Needs.TRAIN]
        prove_facets(index, facets, split.name, verdict)
        for facet in facets:
            expected = self._codes(split, facet.name, values=facet.values)
            column = index.facets.get(facet.name)
            if column is None or len(column.codes) != len(expected):
                continue
            came = np.where(column.codes == column.none, -1, column.codes.astype(np.int64))
            wrong = np.flatnonzero(expected != came)
            for at in wrong.tolist():
                said = _value_of(facet, int(expected[at]))
                came_said = _value_of(facet, int(came[at]))
                verdict.find(Finding(split.name, "facets", f"{facet.name} {said}", came_said, None, at))
            verdict.prove(split.name, "facets", len(expected) - len(wrong), unit=f"values of {facet.name}")

    def _codes(self, split: Split, name: str, *, values: tuple[str, ...]) -> NDArray[np.int64]:
        """Return, for each question, whether the reference has all its keys; -1 for one without keys."""
        mine, counts = np.concatenate(self.hashes[split.pk][name]), np.concatenate(self.counts[split.pk][name])
        theirs = np.unique(np.concatenate(self.hashes[int(split.reference_id or 0)][name]))
        new = np.concatenate([[0], np.cumsum(~np.isin(mine, theirs))])
        ends = np.cumsum(counts)
        unseen = new[ends] - new[ends - counts] > 0
        codes = np.where(unseen, values.index(UNSEEN), values.index(SEEN))
        return np.where(counts > 0, codes, -1)


def _value_of(facet: Facet, code: int) -> str:
    return facet.values[code] if 0 <= code < len(facet.values) else "none"
