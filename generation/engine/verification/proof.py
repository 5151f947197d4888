"""Proving items: what nobody has to believe, because it can be worked out again from scene and program.

A `Proof` gathers what was proved, what is wrong and what can't be told. `checking.Checker` proves what holds in every
world; what a world promises beyond that (how things stand, how questions are asked, what pictures show) its `Prover`
knows.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from generation.engine.items import Item

CHECKS = {
    "rows": "scenes and questions stand where the plan has them",
    "scenes": "scenes are what the spec asks for",
    "references": "relations and places in the picture follow from the scene",
    "programs": "programs, executed again, give the stored answers",
    "vocabulary": "answers and attribute values are in the vocabulary",
    "families": "programs are what their families allow",
    "rules": "objects and questions keep the rules of the spec, only and never",
    "degeneracy": "no relation is idle that must not be",
    "texts": "texts say what programs ask, in a wording of the family",
    "answers": "answers are what a reader of the text alone comes to",
    "supports": "supporting facts are those that such a reader finds",
    "balance": "answers stay as balanced as the spec asks, batch by batch",
    "facets": "questions are filed under what they demand",
    "words": "the index finds every word of every question",
    "images": "pictures have their size and look like the scene",
    "masks": "object-id pictures show every object in its place",
    "hashes": "content hashes are those of the content",
    "recipe": "derived splits hold what their recipe says",
    "files": "files have their published SHA-256",
    "rerendered": "pictures drawn again look the same",
}


class Flaw(NamedTuple):
    """Something that does not hold; `question` is a position among the item's, None where it is about the scene."""

    check: str
    expected: str
    came: str
    question: int | None = None


Outputs = Sequence[Any]  # of a program's steps, raw
SCENES, QUESTIONS = "scenes", "questions"


class Proof:
    """What was proved, what is wrong, and what can't be told.

    Attributes
    ----------
    proved : Counter of (str, str)
        For each check and unit (scenes, questions, ...), of how many it was proved that all is right.
    open : Counter of str
        What can't be proved, in words, and how often.
    known : Counter of str
        Faults that published data are known to have, in words, and how often.
    flaws : list of Flaw
        Of the item at hand, until `settle`.
    """

    def __init__(self) -> None:
        self.proved: Counter[tuple[str, str]] = Counter()
        self.open: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        self.flaws: list[Flaw] = []
        self._seen: set[tuple[str, int | None]] = set()

    def same(self, check: str, expected: Any, came: Any, *, what: str = "", question: int | None = None) -> bool:
        """Return whether two values are the same; note the flaw where they aren't."""
        self._seen.add((check, question))
        if expected != came:
            self.flaw(check, f"{what}{expected}", came, question=question)
        return bool(expected == came)

    def hold(self, check: str, holds: bool, expected: str, came: Any, *, question: int | None = None) -> bool:
        """Return `holds`; note the flaw where it is false."""
        self._seen.add((check, question))
        if not holds:
            self.flaw(check, expected, came, question=question)
        return holds

    def flaw(self, check: str, expected: Any, came: Any, *, question: int | None = None) -> None:
        """Note something that does not hold."""
        self.flaws.append(Flaw(check, str(expected), str(came), question))

    def leave(self, what: str, count: int = 1) -> None:
        """Note something that can't be proved."""
        if count:
            self.open[what] += count

    def know(self, what: str) -> None:
        """Count a fault that published data are known to have, in place of a flaw."""
        self.known[what] += 1

    def settle(self) -> list[Flaw]:
        """Return what is wrong with an item once all of it was looked at; count what is right."""
        wrong, flaws = {(flaw.check, flaw.question) for flaw in self.flaws}, self.flaws
        for check, question in self._seen - wrong:
            self.proved[check, SCENES if question is None else QUESTIONS] += 1
        self.flaws, self._seen = [], set()
        return flaws


class Prover(Protocol):
    """What a world promises of the items of one split beyond what holds in every world; used in question order."""

    def begin(self) -> None:
        """Begin a chunk: what is kept from item to item starts anew."""

    def prove(self, item: "Item", given: Sequence[Outputs | None], proof: Proof) -> None:
        """Prove scene and questions of an item; `given`: what each question's program gives, None where it can't."""

    def prove_pictures(
        self, item: "Item", rgb: NDArray[np.uint8] | None, ids: NDArray[np.uint16] | None, proof: Proof
    ) -> None:
        """Prove that what pictures there are show the item's scene."""
