"""Proving items: checking everything that can be computed again from scene and program.

A `Proof` collects what was proved, what is wrong and what cannot be checked. `checks.Checker` checks what holds in
every world. A world's `Prover` checks what else the world guarantees: how objects are placed, how questions are asked,
what pictures show.
"""

from collections import Counter
from collections.abc import Callable, Sequence
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
    """A fault; `question` is a position among the item's questions, or None if the fault is about the scene."""

    check: str
    expected: str
    came: str
    question: int | None = None


IDS_ALIKE = 0.999  # share of pixels that must show the same object
COLOUR_APART = 1.0  # largest mean difference between two pictures of one scene, of 255
Outputs = Sequence[Any]  # raw outputs of a program's steps
SCENES, QUESTIONS = "scenes", "questions"


class Proof:
    """What was proved, what is wrong, and what cannot be checked.

    Attributes
    ----------
    proved : Counter of (str, str)
        For each check and unit (scenes, questions, ...), how many were proved correct.
    open : Counter of str
        What cannot be checked, in words, and how often.
    known : Counter of str
        Known faults of published data, in words, and how often they occur.
    flaws : list of Flaw
        Faults of the current item, until `settle` is called.
    """

    def __init__(self) -> None:
        self.proved: Counter[tuple[str, str]] = Counter()
        self.open: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        self.flaws: list[Flaw] = []
        self._seen: set[tuple[str, int | None]] = set()

    def same(self, check: str, expected: Any, came: Any, *, what: str = "", question: int | None = None) -> bool:
        """Return whether two values are equal; note a flaw if they are not."""
        self._seen.add((check, question))
        if expected != came:
            self.flaw(check, f"{what}{expected}", came, question=question)
        return bool(expected == came)

    def hold(self, check: str, holds: bool, expected: str, came: Any, *, question: int | None = None) -> bool:
        """Return `holds`; note a flaw if it is false."""
        self._seen.add((check, question))
        if not holds:
            self.flaw(check, expected, came, question=question)
        return holds

    def flaw(self, check: str, expected: Any, came: Any, *, question: int | None = None) -> None:
        """Note a fault."""
        self.flaws.append(Flaw(check, str(expected), str(came), question))

    def leave(self, what: str, count: int = 1) -> None:
        """Note something that cannot be checked."""
        if count:
            self.open[what] += count

    def know(self, what: str) -> None:
        """Count a known fault of published data. It is not a flaw."""
        self.known[what] += 1

    def settle(self) -> list[Flaw]:
        """Finish an item: return its flaws, and count the checks without flaws as proved."""
        wrong, flaws = {(flaw.check, flaw.question) for flaw in self.flaws}, self.flaws
        for check, question in self._seen - wrong:
            self.proved[check, SCENES if question is None else QUESTIONS] += 1
        self.flaws, self._seen = [], set()
        return flaws


class Prover(Protocol):
    """Checks the further guarantees of a world for the items of one split, in question order."""

    def begin(self) -> None:
        """Begin a chunk: reset what is kept between items."""

    def prove(self, item: "Item", given: Sequence[Outputs | None], proof: Proof) -> None:
        """Check the scene and the questions of an item; `given` has each program's outputs or None."""

    def prove_pictures(
        self, item: "Item", rgb: NDArray[np.uint8] | None, ids: NDArray[np.uint16] | None, proof: Proof
    ) -> None:
        """Check that the given pictures show the item's scene."""


class PictureProver:
    """Checks pictures by drawing their scenes again. It does not check the scenes.

    Parameters
    ----------
    draw : callable
        Returns an item's picture and object ids, like `Maker.render`.
    """

    def __init__(self, draw: "Callable[[Item], tuple[NDArray[np.uint8], NDArray[np.uint16]]]") -> None:
        self.draw = draw

    def begin(self) -> None:
        """Begin a chunk. Nothing is kept between items."""

    def prove(self, item: "Item", given: Sequence[Outputs | None], proof: Proof) -> None:
        """Note that scenes are not checked. `Checker` has already run the programs."""
        proof.leave("scenes of a world that proves none")

    def prove_pictures(
        self, item: "Item", rgb: NDArray[np.uint8] | None, ids: NDArray[np.uint16] | None, proof: Proof
    ) -> None:
        """Check that the pictures are those of the scene."""
        again, ids_again = self.draw(item)
        if rgb is not None:
            prove_alike(rgb, again, proof)
        if ids is not None and proof.same("masks", ids_again.shape, ids.shape, what="object ids of shape "):
            alike = float((ids == ids_again).mean())
            proof.hold("masks", alike >= IDS_ALIKE, f"{IDS_ALIKE:.1%} of the pixels as drawn again", f"{alike:.1%}")


def prove_alike(rgb: NDArray[np.uint8], again: NDArray[np.uint8], proof: Proof) -> bool:
    """Return whether a picture looks the same when drawn again, and note the result."""
    if not proof.same("rerendered", again.shape, rgb.shape, what="a picture of shape "):
        return False
    apart = float(np.abs(rgb.astype(np.int16) - again).mean())
    return proof.hold(
        "rerendered",
        apart < COLOUR_APART,
        f"a mean difference below {COLOUR_APART:g} to the picture drawn again",
        f"{apart:.2f}",
    )
