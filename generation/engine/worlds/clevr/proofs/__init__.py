"""What CLEVR promises of its scenes, questions and pictures, proved from scene and program alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadScene
from generation.engine.items import Item
from generation.engine.verification.proof import Outputs, Proof
from generation.engine.worlds.clevr.camera import View, solve_view
from generation.engine.worlds.clevr.proofs.pictures import draw_known, prove_pictures
from generation.engine.worlds.clevr.proofs.questions import QuestionProver
from generation.engine.worlds.clevr.proofs.rules import RuleProver
from generation.engine.worlds.clevr.proofs.scenes import prove_ours, prove_theirs, sees
from generation.engine.worlds.clevr.scene import Scene
from generation.engine.worlds.clevr.spec import ClevrSpec

USUAL = ((480, 320), (320, 240))  # pictures of the release, and of the program it was made with


class ClevrProver:
    """Proves the items of one split.

    Parameters
    ----------
    spec : ClevrSpec
        As the split has it.
    our_scenes : bool
        Whether we placed the objects; else the scenes are somebody else's and promise no distances.
    our_questions : bool
        Whether we asked; else the questions are somebody else's and follow no families of the spec.
    """

    def __init__(self, spec: ClevrSpec, *, our_scenes: bool, our_questions: bool) -> None:
        self.spec, self.our_scenes = spec, our_scenes
        self.rules = RuleProver(spec)
        self._drawn: tuple[Scene | None, NDArray[np.uint16] | None] = None, None
        self.questions = QuestionProver(spec) if our_questions else None

    def begin(self) -> None:
        """Begin a chunk: the balance of answers starts anew."""
        if self.questions is not None:
            self.questions.begin()

    def prove(self, item: Item, given: Sequence[Outputs | None], proof: Proof) -> None:
        """Prove scene and questions of an item."""
        scene = item.scene
        if not isinstance(scene, Scene):
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
        """Prove that what pictures there are show the item's scene."""
        view = item.view if isinstance(item.view, View) else None
        if not isinstance(item.scene, Scene) or view is None:
            proof.leave("what pictures of scenes without a camera show", (rgb is not None) + (ids is not None))
            return
        prove_pictures(self.spec, item.scene, view, proof, rgb=rgb, ids=ids, again=self.drawn(item.scene, view))

    def drawn(self, scene: Scene, view: View) -> NDArray[np.uint16] | None:
        """Return a scene's object ids, drawn anew; None where an object is of a kind that can't be drawn."""
        if self._drawn[0] is not scene:
            self._drawn = scene, draw_known(self.spec, scene, view)
        return self._drawn[1]


def seen_from(spec: ClevrSpec, item: Item) -> View | None:
    """Return the camera of an item, worked out from where its objects are seen where it isn't stated.

    None where that can't be done. Pictures have the spec's size or, where nobody said it, that of the release or of
    the program it was made with.
    """
    if isinstance(item.view, View):
        return item.view
    assert isinstance(item.scene, Scene)
    views = [_solved(item.scene, *size) for size in ((spec.images.width, spec.images.height), *USUAL)]
    return next((view for view in views if view is not None and sees(view, item.scene)), views[0])


def _solved(scene: Scene, width: int, height: int) -> View | None:
    places, pixels = [thing.coords for thing in scene.objects], [thing.pixel_coords for thing in scene.objects]
    try:
        return solve_view(places, pixels, width=width, height=height)
    except BadScene:
        return None
