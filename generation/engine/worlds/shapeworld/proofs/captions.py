"""Proofs of captions: each has the meaning of its program, and a type and words that the spec allows."""

from generation.engine.errors import BadRecord
from generation.engine.items import Question
from generation.engine.verification.proof import Proof
from generation.engine.worlds.shapeworld.logical_form import named_together, program_of
from generation.engine.worlds.shapeworld.parsing import Parser
from generation.engine.worlds.shapeworld.spec import ShapeWorldSpec


class CaptionProver:
    """Proves the captions of one spec; a mixture has one prover for each of its parts.

    Parameters
    ----------
    spec : ShapeWorldSpec
        The spec of the split, or of a part of a mixture.
    """

    def __init__(self, spec: ShapeWorldSpec) -> None:
        self.spec, self.parser = spec, Parser(spec.vocabulary)
        self.kinds = sorted(kind for kind, weight in spec.captions.kinds.items() if weight)

    def prove(self, number: int, question: Question, proof: Proof) -> None:
        """Prove one caption, which is a question's text."""
        proof.hold(
            "families",
            question.kind in self.kinds,
            f"a type among {', '.join(self.kinds)}",
            question.kind,
            question=number,
        )
        try:
            program = program_of(self.parser.parse(question.text))
        except BadRecord as error:
            proof.flaw("texts", "a caption of our grammar", error, question=number)
            return
        proof.same("texts", program, question.program, what="program ", question=number)
        named = sorted(self.spec.forbidden.intersection(named_together(program)))
        proof.hold("rules", not named, "no combination named that is held out", named, question=number)
