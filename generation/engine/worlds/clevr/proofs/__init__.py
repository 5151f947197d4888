"""Proofs of CLEVR's promises about scenes, questions and pictures, from scenes and programs alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadScene
from generation.engine.items import Item
from generation.engine.verification.proof import Outputs, Proof
from generation.engine.worlds.clevr.camera import View, solve_view
from generation.engine.worlds.clevr.proofs.pictures import draw_known, prove_pictures
from generation.engine.worlds.clevr.proofs.questions import QuestionProver
from generation.engine.worlds.clevr.proofs.scenes import prove_ours, prove_theirs, sees
from generation.engine.worlds.clevr.proofs.spec_rules import RuleProver
from generation.engine.worlds.clevr.scene import ClevrScene
from generation.engine.worlds.clevr.spec import ClevrSpec

USUAL = ((480, 320), (320, 240))  # picture sizes of the release and of the original generator


class ClevrProver:
    """Proves the items of one split.

    Parameters
    ----------
    spec : ClevrSpec
        The spec of the split.
    our_scenes : bool
        Whether we sampled the scenes. Scenes of other people promise no distances.
        our_questions : bool
            Whether we generated the questions. Questions of other people need not follow the families of the spec.
    """

    def __init__(self, spec: ClevrSpec, *, our_scenes: bool, our_questions: bool) -> None:
        self.spec, self.our_scenes = spec, our_scenes
        self.rules = RuleProver(spec)
        self._drawn: tuple[ClevrScene | None, NDArray[np.uint16] | None] = None, None
        self.questions = QuestionProver(spec) if our_questions else None

    def begin(self) -> None:
        """Start a chunk, with no answers counted yet."""
        if self.questions is not None:
            self.questions.begin()

    def prove(self, item: Item, given: Sequence[Outputs | None], proof: Proof) -> None:
        """Prove the scene and the questions of an item."""
        scene = item.scene
        if not isinstance(scene, ClevrScene):
            proof.leave("items without a scene")
            return
        if self.our_scenes:
            view = item.view if isinstance(item.view, View) else View()
            self.rules.prove_objects(scene, proof)
            prove_ours(self.spec, scene, view, self.drawn(scene, view), proof)
        else:
            prove_theirs(self.spec, scene, seen_from(self.spec, item), proof)
        if self.questions is None:
            proof.leave("families, wording and balance of questions that we did not ask", len(item.questions))
        else:
            self.questions.prove(scene, item.questions, given, proof)
            self.rules.prove_questions(item, given, proof)

    def prove_pictures(
        self, item: Item, rgb: NDArray[np.uint8] | None, ids: NDArray[np.uint16] | None, proof: Proof
    ) -> None:
        """Prove that the pictures that exist show the item's scene."""
        view = item.view if isinstance(item.view, View) else None
        if not isinstance(item.scene, ClevrScene) or view is None:
            proof.leave("what pictures of scenes without a camera show", (rgb is not None) + (ids is not None))
            return
        prove_pictures(self.spec, item.scene, view, proof, rgb=rgb, ids=ids, again=self.drawn(item.scene, view))

    def drawn(self, scene: ClevrScene, view: View) -> NDArray[np.uint16] | None:
        """Return a scene's object ids, drawn again, or None if an object cannot be drawn."""
        if self._drawn[0] is not scene:
            self._drawn = scene, draw_known(self.spec, scene, view)
        return self._drawn[1]


def seen_from(spec: ClevrSpec, item: Item) -> View | None:
    """Return the view of an item, computed from its objects' pixels if it is not stated, or None if that fails.

    The picture is taken to have the spec's size; if that does not fit, the size of the release or of its generator.
    """
    if isinstance(item.view, View):
        return item.view
    assert isinstance(item.scene, ClevrScene)
    views = [_solve(item.scene, *size) for size in ((spec.images.width, spec.images.height), *USUAL)]
    return next((view for view in views if view is not None and sees(view, item.scene)), views[0])


def _solve(scene: ClevrScene, width: int, height: int) -> View | None:
    places, pixels = [thing.coords for thing in scene.objects], [thing.pixel_coords for thing in scene.objects]
    try:
        return solve_view(places, pixels, width=width, height=height)
    except BadScene:
        return None
