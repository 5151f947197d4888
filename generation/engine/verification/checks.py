"""Checking items as every world promises them: answers are in the vocabulary, programs run and give them.

Programs are executed by the world's function table, one step after the other in plain Python; stored answers come from
the compiled search.
"""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from generation.engine.errors import BadProgram, EngineError
from generation.engine.items import Answer, Item, Question
from generation.engine.program import FunctionTable, outputs, typecheck
from generation.engine.spec import BaseSpec
from generation.engine.verification.proof import Outputs, Proof
from generation.engine.worlds import World

IDS_ALIKE = 0.999  # share of pixels that show the same object
COLOUR_APART = 1.0  # mean difference of two pictures of one scene, of 255


class Checker:
    """Proves the items of one split, chunk by chunk.

    Parameters
    ----------
    world : World
    spec : BaseSpec
        As the split has it.
    made : bool
        Whether we made the split by its spec; what was imported promises less.
    """

    def __init__(self, world: World, spec: BaseSpec, *, made: bool) -> None:
        self.answers = frozenset(world.answers(spec))
        self.table = world.functions(spec)
        self.prover = world.prover(spec, made=made)

    def begin(self) -> None:
        """Begin a chunk."""
        if self.prover is not None:
            self.prover.begin()

    def prove(self, item: Item, proof: Proof) -> None:
        """Prove scene and questions of an item; nothing in it makes this raise."""
        given = self._run_all(item, proof)
        if self.prover is None:
            proof.leave("scenes of a world that proves none")
            return
        try:
            self.prover.prove(item, given, proof)
        except EngineError as error:
            proof.flaw("scenes", "a scene that can be worked with", error)

    def _run_all(self, item: Item, proof: Proof) -> list[Outputs | None]:
        """Return what the questions' programs give; None where there is none or it can't be run."""
        context: Any = None
        given: list[Outputs | None] = [None] * len(item.questions)
        for number, question in enumerate(item.questions):
            if question.answer is None:
                proof.leave("questions without an answer")
            else:
                self._known(question.answer, number, proof)
            if question.program is None:
                proof.leave("questions without a program")
            elif item.scene is None:
                proof.leave("programs without a scene")
            elif self.table is None:
                proof.leave("programs of a world that runs none")
            else:
                if context is None or question.scope is not None:
                    context = self.table.prepare(item.scene, question.scope)
                given[number] = run_one(question, context, number, proof, table=self.table)
        return given

    def _known(self, answer: Answer, number: int, proof: Proof) -> None:
        proof.hold(
            "vocabulary", answer.text in self.answers, "an answer of the vocabulary", repr(answer.text), question=number
        )

    def prove_pictures(
        self, item: Item, rgb: NDArray[np.uint8] | None, ids: NDArray[np.uint16] | None, proof: Proof
    ) -> None:
        """Prove that what pictures there are show the item's scene."""
        if self.prover is None or item.scene is None:
            proof.leave("what pictures show", (rgb is not None) + (ids is not None))
            return
        try:
            self.prover.prove_pictures(item, rgb, ids, proof)
        except EngineError as error:
            proof.flaw("images", "a scene that can be drawn", error)


def run_one(question: Question, context: Any, number: int, proof: Proof, *, table: FunctionTable) -> Outputs | None:
    """Return what a program's steps give; prove that it runs and that its answer is the question's."""
    assert question.program is not None
    try:
        kind = typecheck(question.program, table=table)
        given = outputs(question.program, context, table=table)
    except BadProgram as error:
        proof.flaw("programs", "a program that can be run", error, question=number)
        return None
    except EngineError as error:
        proof.flaw("programs", "a program that has an answer on its scene", error, question=number)
        return None
    last = question.program[-1].function
    proof.hold("programs", kind in table.answer_kinds, "a step that gives an answer at the end", last, question=number)
    if question.kind != table.kind_of(question.program):
        wanted_kind = f"type {table.kind_of(question.program)}, which the program asks"
        proof.flaw("programs", wanted_kind, question.kind or "none", question=number)
    if question.answer is None:
        return given
    shown = str(table.show(kind, given[-1]).value)
    if shown != question.answer.text:
        proof.flaw("programs", f"answer {shown}, which the program gives", question.answer.text, question=number)
    wanted = table.answer_kinds.get(kind)
    if wanted is not None and wanted != question.answer.kind:
        proof.flaw("programs", f"an answer of kind {wanted}", question.answer.kind, question=number)
    return given


def read_picture(content: bytes, proof: Proof, *, check: str, what: str) -> NDArray[Any] | None:
    """Return the pixels of a picture file; None, and a flaw noted, where it is broken."""
    try:
        with Image.open(io.BytesIO(content)) as image:
            image.load()
            return np.asarray(image)
    except (OSError, ValueError, SyntaxError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        proof.flaw(check, f"{what} that can be read", error)
        return None


def prove_alike(rgb: NDArray[np.uint8], again: NDArray[np.uint8], proof: Proof) -> bool:
    """Return whether a picture looks like the same one drawn again, and note it."""
    if not proof.same("rerendered", again.shape, rgb.shape, what="a picture of shape "):
        return False
    apart = float(np.abs(rgb.astype(np.int16) - again).mean())
    return proof.hold(
        "rerendered",
        apart < COLOUR_APART,
        f"a mean difference below {COLOUR_APART:g} to the picture drawn again",
        f"{apart:.2f}",
    )


def spread(count: int, most: int) -> Sequence[int]:
    """Return at most `most` of the positions 0 .. count-1, evenly spread."""
    if most >= count:
        return range(count)
    return [(2 * number + 1) * count // (2 * most) for number in range(most)]
