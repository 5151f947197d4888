"""Proofs of ShapeWorld's promises about microworlds, captions and pictures, from scenes and programs alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from generation.engine.items import Item
from generation.engine.verification.proof import Outputs, Proof
from generation.engine.worlds.shapeworld.proofs.captions import CaptionProver
from generation.engine.worlds.shapeworld.proofs.pictures import prove_pictures
from generation.engine.worlds.shapeworld.proofs.scenes import prove_scene
from generation.engine.worlds.shapeworld.scene import FlatScene
from generation.engine.worlds.shapeworld.spec import ShapeWorldSpec


class ShapeWorldProver:
    """Proves the items of one split.

    Parameters
    ----------
    spec : ShapeWorldSpec
        The spec of the split.
    """

    def __init__(self, spec: ShapeWorldSpec) -> None:
        self.parts, self.captions = spec.parts, [CaptionProver(part) for part in spec.parts]

    def begin(self) -> None:
        """Start a chunk; nothing is kept between items."""

    def prove(self, item: Item, given: Sequence[Outputs | None], proof: Proof) -> None:
        """Prove the scene and the captions of an item."""
        if not isinstance(item.scene, FlatScene):
            proof.leave("items without a microworld")
            return
        number = self._part(item, proof)
        prove_scene(self.parts[number], item.scene, proof)
        for at, question in enumerate(item.questions):
            self.captions[number].prove(at, question, proof)

    def prove_pictures(
        self, item: Item, rgb: NDArray[np.uint8] | None, ids: NDArray[np.uint16] | None, proof: Proof
    ) -> None:
        """Prove that the pictures that exist show the item's microworld."""
        if not isinstance(item.scene, FlatScene):
            proof.leave("what pictures without a microworld show", (rgb is not None) + (ids is not None))
            return
        prove_pictures(self.parts[self._part(item, proof)], item.scene, proof, rgb=rgb, ids=ids)

    def _part(self, item: Item, proof: Proof) -> int:
        """Return the number of the part of a mixture that made an item; 0 if its captions' families are wrong."""
        families = {question.family for question in item.questions}
        known = {None} if len(self.parts) == 1 else set(range(len(self.parts)))
        if proof.hold("families", len(families) == 1 and families <= known, f"one part among {known}", families):
            return families.pop() or 0
        return 0
