"""Proofs that a spec's rules hold for the objects of scenes and for questions."""

from collections.abc import Sequence

from generation.engine.items import Item
from generation.engine.only_never_rules import RuleSet, RuleValues, read_rules
from generation.engine.verification.proof import Outputs, Proof
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.facets import values_of
from generation.engine.worlds.clevr.question_rules import question_rules
from generation.engine.worlds.clevr.scene import ClevrScene
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES


class RuleProver:
    """Checks scenes and questions against the rules of a split's spec."""

    def __init__(self, spec: ClevrSpec) -> None:
        known = {name: RuleValues(spec.vocabulary.values(name)) for name in ATTRIBUTES}
        parameters = spec.scene
        self.spec = spec
        self.objects = RuleSet(
            only=read_rules(parameters.only, known=known, where="scene.only"),
            never=read_rules(parameters.never, known=known, where="scene.never"),
        )
        self.questions = question_rules(spec)

    def prove_objects(self, scene: ClevrScene, proof: Proof) -> None:
        """Prove that the rules allow each object."""
        if not self.objects.names:
            return
        for number, thing in enumerate(scene.objects):
            values = {name: getattr(thing, name) for name in ATTRIBUTES}
            expected = f"object {number} to be one that scene.only and scene.never allow"
            proof.hold("rules", self.objects.allows(values), expected, thing.describe())

    def prove_questions(self, item: Item, given: Sequence[Outputs | None], proof: Proof) -> None:
        """Prove that the rules allow each question; skip the item if a program cannot be run or a word is unknown."""
        if not self.questions.names or not isinstance(item.scene, ClevrScene):
            return
        if any(outputs is None for outputs in given) or any(flaw.check == "vocabulary" for flaw in proof.flaws):
            proof.leave("rules over questions of which one or the scene is wrong", len(given))
            return
        view = item.view if isinstance(item.view, View) else View()
        for number, values in enumerate(values_of(self.spec, item.scene, view, item.questions)):
            told = ", ".join(f"{name} {values[name]}" for name in sorted(self.questions.names))
            allowed = self.questions.allows(values)
            proof.hold("rules", allowed, "a question that the rules allow", told, question=number)
