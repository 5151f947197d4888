"""Proving that what a spec's rules hold back is nowhere: objects of a scene, and questions by their facets."""

from collections.abc import Sequence

from generation.engine.items import Item
from generation.engine.rules import RuleSet, RuleValues, read_rules
from generation.engine.verification.proof import Outputs, Proof
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.facets import values_of
from generation.engine.worlds.clevr.rules import question_rules
from generation.engine.worlds.clevr.scene import Scene
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES


class RuleProver:
    """Holds scenes and questions against the rules of a spec, as the split has it."""

    def __init__(self, spec: ClevrSpec) -> None:
        known = {name: RuleValues(spec.vocabulary.values(name)) for name in ATTRIBUTES}
        knobs = spec.scene
        self.spec = spec
        self.objects = RuleSet(
            only=read_rules(knobs.only, known=known, where="scene.only"),
            never=read_rules(knobs.never, known=known, where="scene.never"),
        )
        self.questions = question_rules(spec)

    def prove_objects(self, scene: Scene, proof: Proof) -> None:
        """Prove that each object is one that may be."""
        if not self.objects.names:
            return
        for number, thing in enumerate(scene.objects):
            values = {name: getattr(thing, name) for name in ATTRIBUTES}
            expected = f"object {number} to be one that scene.only and scene.never allow"
            proof.hold("rules", self.objects.allows(values), expected, thing.describe())

    def prove_questions(self, item: Item, given: Sequence[Outputs | None], proof: Proof) -> None:
        """Prove that each question is one that may be; of those whose program can't be run nothing is known."""
        if not self.questions.names or not isinstance(item.scene, Scene):
            return
        if any(outputs is None for outputs in given) or any(flaw.check == "vocabulary" for flaw in proof.flaws):
            proof.leave("rules over questions of which one or the scene is wrong", len(given))
            return
        view = item.view if isinstance(item.view, View) else View()
        for number, values in enumerate(values_of(self.spec, item.scene, view, item.questions)):
            told = ", ".join(f"{name} {values[name]}" for name in sorted(self.questions.names))
            allowed = self.questions.allows(values)
            proof.hold("rules", allowed, "a question that the rules allow", told, question=number)
