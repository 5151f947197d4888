"""Proving a batch of items. Rows of the database and files of a folder get the same checks.

A subclass reads the items, and checks what only its kind of storage has: chunks and indexes, or tables of facets.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.content_hash import canonical
from generation.engine.items import Item
from generation.engine.spec import BaseSpec
from generation.engine.verification.checks import Checker, prove_drawn_again, rgb_of
from generation.engine.verification.proof import Proof
from generation.engine.verification.verdict import Finding, of_item
from generation.engine.worlds import World, get_maker


class BatchItem(NamedTuple):
    """An item, its source, its position in the split, and the positions of its questions."""

    source: Any
    item: Item
    position: int
    questions: Sequence[int]


class StoredPictures(NamedTuple):
    """The pixels of an item's picture and of its object ids; None for pixels that are missing or cannot be read."""

    rgb: NDArray[Any] | None
    ids: NDArray[np.uint16] | None = None


class BatchProver(ABC):
    """Proves the items of one batch in order.

    Parameters
    ----------
    world : World
    split : str
        The name of the split in findings.
    spec : BaseSpec
        The spec with the split's overrides.
    is_made : bool
        Whether the split was generated from its spec.
    drawn : tuple of (BaseSpec, str), optional
        The dataset's spec and the name of the split for drawing pictures; None for pictures that were not drawn here.
    again : collection of int
        Positions of the items whose pictures are drawn again.
    """

    def __init__(
        self,
        world: World,
        split: str,
        *,
        spec: BaseSpec,
        is_made: bool,
        drawn: tuple[BaseSpec, str] | None,
        again: Collection[int],
    ) -> None:
        self.world, self.name, self.spec, self.is_made = world, split, spec, is_made
        self.drawn, self.again = drawn, again
        self.checker = Checker(world, spec, made=is_made)
        self.proof = Proof()
        self.findings: list[Finding] = []

    @abstractmethod
    def read_items(self) -> Iterator[BatchItem]:
        """Yield the batch's items in order. Flaws noted before an item is yielded belong to that item."""

    @abstractmethod
    def prove_place(self, stored: BatchItem) -> None:
        """Check that the item is where it should be stored."""

    @abstractmethod
    def prove_facets(self, stored: BatchItem) -> None:
        """Check what is stored about the facets of the item's questions."""

    @abstractmethod
    def read_pictures(self, stored: BatchItem) -> StoredPictures | None:
        """Return the item's pictures. If none can be checked, note that and return None."""

    def scene_line(self, stored: BatchItem) -> str:
        """Return the line for the item's scene that the content hash covers."""
        return canonical(None if stored.item.scene is None else stored.item.scene.to_json())

    def prove_items(self) -> bytes:
        """Check every item. Return what the content hash covers: a line of JSON for each scene and question."""
        lines: list[str] = []
        self.checker.begin()
        for stored in self.read_items():
            lines += [self.scene_line(stored), *(canonical(one.to_json()) for one in stored.item.questions)]
            self.prove_place(stored)
            self.checker.prove(stored.item, self.proof)
            self.prove_facets(stored)
            self._prove_pictures(stored)
            flaws = self.proof.settle()
            self.findings += of_item(self.name, flaws, scene=stored.position, questions=stored.questions)
        return "".join(f"{line}\n" for line in lines).encode(errors="surrogatepass")

    def _prove_pictures(self, stored: BatchItem) -> None:
        pictures, item = self.read_pictures(stored), stored.item
        if pictures is None:
            return
        rgb, ids = pictures
        if rgb is not None and not self.is_made:  # imported pictures may be grey, or have transparency
            rgb = rgb_of(rgb)
        self.checker.prove_pictures(item, rgb, ids, self.proof)
        if stored.position in self.again and item.scene is not None and rgb is not None:
            self._draw_again(item, rgb, ids)

    def _draw_again(self, item: Item, rgb: NDArray[Any], ids: NDArray[np.uint16] | None) -> None:
        if self.drawn is None or item.view is None:
            self.proof.leave("pictures drawn again of scenes that we did not draw")
            return
        spec, split = self.drawn
        maker = get_maker(self.world.name)
        prove_drawn_again(rgb, ids, self.proof, draw=lambda: maker.render(spec, split, item))
