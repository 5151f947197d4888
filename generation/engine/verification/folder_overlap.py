"""Proving, in an exported folder, what is said of the train split: whether it has what a question is made of."""

from array import array
from collections.abc import Mapping, Sequence

import numpy as np

from generation.engine.verification.folder_parts import FolderSplit
from generation.engine.verification.verdict import Finding, Verdict
from generation.engine.worlds import SEEN, UNSEEN

CODES = {SEEN: 0, UNSEEN: 1, "": 2}
WRONG = 3


class SeenInTrain:
    """Keeps hashes of what every split has: 8 bytes each, and what is said of every question: a byte a facet."""

    def __init__(self) -> None:
        self.hashes: dict[tuple[str, str], array[int]] = {}
        self.counts: dict[tuple[str, str], array[int]] = {}
        self.said: dict[tuple[str, str], array[int]] = {}

    def add(self, split: str, keys: Sequence[Mapping[str, list[int]]], said: Sequence[Mapping[str, str]]) -> None:
        """Take in some questions, in order."""
        for own, told in zip(keys, said, strict=True):
            for name, hashes in own.items():
                self.hashes.setdefault((split, name), array("Q")).extend(hashes)
                self.counts.setdefault((split, name), array("I")).append(len(hashes))
            for name, value in told.items():
                self.said.setdefault((split, name), array("B")).append(CODES.get(value, WRONG))

    def prove(self, splits: Sequence[FolderSplit], verdict: Verdict) -> None:
        """Prove what is said, split by split."""
        reference = {split.name: split.stated.get("reference") for split in splits}
        for split, name in self.said:
            theirs = self.hashes.get((str(reference[split]), name))
            if reference[split] is None:
                continue
            if theirs is None:
                verdict.leave(split, "facets of what the train split has, which was not verified along")
                continue
            expected = self._codes(split, name, np.array(theirs, np.uint64))
            came = np.array(self.said[split, name], np.uint8)
            wrong = np.flatnonzero(expected != came)
            values = [*CODES, "something else"]
            for at in wrong.tolist():
                said = f"{name} {values[expected[at]] or 'none'}"
                verdict.find(Finding(split, "facets", said, values[came[at]] or "none", None, at))
            verdict.prove(split, "facets", len(came) - len(wrong), unit=f"values of {name}")

    def _codes(self, split: str, name: str, theirs: np.ndarray) -> np.ndarray:
        mine = np.array(self.hashes[split, name], np.uint64)
        counts = np.array(self.counts[split, name], np.int64)
        new = np.concatenate([[0], np.cumsum(~np.isin(mine, theirs))])
        ends = np.cumsum(counts)
        codes = np.where(new[ends] - new[ends - counts] > 0, CODES[UNSEEN], CODES[SEEN])
        return np.where(counts > 0, codes, CODES[""])
