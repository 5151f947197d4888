"""Checking the facets that state whether the train split has all keys of a question."""

from array import array
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from generation.engine.verification.verdict import Finding, Verdict
from generation.engine.worlds import SEEN, UNSEEN

VALUES = (SEEN, UNSEEN)  # by code
NONE = -1  # the code of a question without keys
NOT_VERIFIED = "facets of what the train split has, which was not verified along"


class TrainOverlap:
    """Keeps hashes of the keys of every split's questions: 8 bytes for each key, 4 for each question and facet."""

    def __init__(self) -> None:
        self.hashes: dict[tuple[str, str], array[int]] = {}
        self.counts: dict[tuple[str, str], array[int]] = {}

    def add(self, split: str, facet: str, hashes: Iterable[int], counts: Iterable[int]) -> None:
        """Add the keys of some questions, in order, and the number of keys of each question."""
        self.hashes.setdefault((split, facet), array("Q")).extend(hashes)
        self.counts.setdefault((split, facet), array("I")).extend(counts)

    def prove(self, split: str, reference: str, stated: Mapping[str, ArrayLike], verdict: Verdict) -> None:
        """Check the stated codes of each question, by facet: codes of `VALUES`, or `NONE`."""
        for facet, codes in stated.items():
            if (reference, facet) not in self.hashes:
                verdict.leave(split, NOT_VERIFIED)
                continue
            expected, came = self._codes(split, reference, facet), np.asarray(codes, np.int64)
            if len(expected) != len(came):
                continue
            wrong = np.flatnonzero(expected != came)
            for at in wrong.tolist():
                said = f"{facet} {_value_of(int(expected[at]))}"
                verdict.find(Finding(split, "facets", said, _value_of(int(came[at])), None, at))
            verdict.prove(split, "facets", len(came) - len(wrong), unit=f"values of {facet}")

    def _codes(self, split: str, reference: str, facet: str) -> NDArray[np.int64]:
        """Return, for each question, whether the reference has all its keys."""
        mine = np.array(self.hashes[split, facet], np.uint64)
        theirs = np.unique(np.array(self.hashes[reference, facet], np.uint64))
        counts = np.array(self.counts[split, facet], np.int64)
        new = np.concatenate([[0], np.cumsum(~np.isin(mine, theirs))])
        ends = np.cumsum(counts)
        is_unseen = new[ends] - new[ends - counts] > 0
        return np.where(counts > 0, np.where(is_unseen, VALUES.index(UNSEEN), VALUES.index(SEEN)), NONE)


def _value_of(code: int) -> str:
    return VALUES[code] if 0 <= code < len(VALUES) else "none" if code == NONE else "something else"
