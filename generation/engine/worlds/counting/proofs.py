"""Proofs of made questions: scenes follow the spec, texts follow the programs, and answers have their shares."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from generation.engine.items import Item, Question
from generation.engine.verification.proof import Outputs, Proof
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.proofs import ClevrProver
from generation.engine.worlds.clevr.proofs.pictures import prove_pictures
from generation.engine.worlds.clevr.proofs.scenes import prove_ours
from generation.engine.worlds.clevr.scene import ClevrScene, SceneObject
from generation.engine.worlds.counting.answer_plan import CHUNK, PlannedQuestion, most_in_chunk, wanted_shares
from generation.engine.worlds.counting.spec import CountingSpec
from generation.engine.worlds.counting.statements import (
    Description,
    Statement,
    are_apart,
    fits,
    statement_of,
    wordings,
)

LOOK_SIDE = 120  # pixels: width of the small picture that is compared, because objects are smaller than CLEVR's


class CountingProver:
    """Proves the items of one made split.

    Parameters
    ----------
    spec : CountingSpec
        The spec of the split.
    """

    def __init__(self, spec: CountingSpec) -> None:
        self.spec = spec
        self.clevr = ClevrProver(spec.clevr, our_scenes=True, our_questions=False)
        shares, questions = wanted_shares(spec), CHUNK * spec.questions.per_scene
        self.most = {
            planned: most_in_chunk(share, questions=questions, cells=len(shares)) for planned, share in shares.items()
        }
        self.begin()

    def begin(self) -> None:
        """Start a chunk, with no answers counted yet."""
        self.counts: Counter[PlannedQuestion] = Counter()

    def prove(self, item: Item, given: Sequence[Outputs | None], proof: Proof) -> None:
        """Prove the scene and the questions of an item."""
        scene, view = item.scene, item.view
        if not isinstance(scene, ClevrScene) or not isinstance(view, View):
            proof.flaw("scenes", "a scene with its view", scene)
            return
        prove_ours(self.spec.clevr, scene, view, self.clevr.drawn(scene, view), proof)
        asked = self.spec.questions.per_scene
        proof.same("families", asked, len(item.questions), what="questions about the scene: ")
        described: list[Description] = []
        for number, question in enumerate(item.questions):
            statement = None if question.program is None else statement_of(question.program)
            if statement is None:
                proof.flaw("families", "a program that counts", question.program, question=number)
                continue
            apart = all(are_apart(one, other) for one in statement.descriptions for other in described)
            proof.hold("families", apart, "no object that fits two descriptions", statement, question=number)
            described.extend(statement.descriptions)
            self._prove_question(scene, question, statement, number, proof)

    def prove_pictures(
        self, item: Item, rgb: NDArray[np.uint8] | None, ids: NDArray[np.uint16] | None, proof: Proof
    ) -> None:
        """Prove that the pictures that exist show the item's scene."""
        scene, view = item.scene, item.view
        if isinstance(scene, ClevrScene) and isinstance(view, View):
            again = self.clevr.drawn(scene, view)
            prove_pictures(self.spec.clevr, scene, view, proof, rgb=rgb, ids=ids, again=again, side=LOOK_SIDE)

    def _prove_question(
        self, scene: ClevrScene, question: Question, statement: Statement, number: int, proof: Proof
    ) -> None:
        texts = set(wordings(statement, self.spec.clevr.vocabulary))
        proof.hold("texts", question.text in texts, f"a wording of {statement}", question.text, question=number)
        answer = question.answer.text if question.answer else None
        proof.same("answers", str(self._count(scene, statement, number, proof)), answer, question=number)
        planned = PlannedQuestion(statement.kind, int(answer) if answer is not None and answer.isdecimal() else -1)
        self.counts[planned] += 1
        most = self.most.get(planned, 0)
        words = f"answer {answer} to at most {most} {planned.kind} questions of a batch"
        proof.hold("balance", self.counts[planned] <= most, words, self.counts[planned], question=number)

    def _count(self, scene: ClevrScene, statement: Statement, number: int, proof: Proof) -> int:
        """Return the number of objects that a statement counts, from their places; prove that its relation is clear."""
        found = [thing for thing in scene.objects if fits(thing, statement.counted)]
        if not statement.relation:
            return len(found)
        starts = [thing for thing in scene.objects if fits(thing, statement.anchor)]
        if not proof.same("rules", 1, len(starts), what="objects that a relation starts from: ", question=number):
            return -1
        past = [_distance(scene, starts[0], thing, statement.relation) for thing in found]
        margin = self.spec.questions.relation_margin
        near = min(map(abs, past), default=margin)
        proof.hold("rules", near >= margin, f"objects {margin:g} on one side of the start", near, question=number)
        related = sum(distance > 0 for distance in past)
        expected = "an object that fits the description but not the relation"
        proof.hold("rules", related < len(found), expected, f"{related} of {len(found)} related", question=number)
        return related


def _distance(scene: ClevrScene, start: SceneObject, thing: SceneObject, relation: str) -> float:
    """Return how far an object is past another in the direction of a relation, in scene units."""
    a, b, c = (there - here for here, there in zip(start.coords, thing.coords, strict=True))
    x, y, z = scene.directions[relation]
    return round(a * x + b * y + c * z, 6)
