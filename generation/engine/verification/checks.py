"""Checks that apply to items of every world: answers are in the vocabulary, and programs run and give them.

The world's function table executes programs step by step in plain Python. The stored answers come from the compiled
search, so the check is independent.
"""

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from generation.engine.errors import BadProgram, EngineError
from generation.engine.items import Answer, Item, Question
from generation.engine.program import FunctionTable, outputs, typecheck
from generation.engine.spec import BaseSpec
from generation.engine.verification.proof import IDS_ALIKE, Outputs, Proof, prove_alike
from generation.engine.worlds import World


class Checker:
    """Proves the items of one split, chunk by chunk.

    Parameters
    ----------
    world : World
    spec : BaseSpec
        The spec with the split's overrides.
    made : bool
        Whether the split was generated from its spec. Fewer checks apply to imported splits.
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
        """Check the scene and the questions of an item. Faults go into `proof`; this raises no exception for them."""
        given = self._run_all(item, proof)
        if self.prover is None:
            proof.leave("scenes of a world that proves none")
            return
        try:
            self.prover.prove(item, given, proof)
        except EngineError as error:
            proof.flaw("scenes", "a scene that can be worked with", error)

    def _run_all(self, item: Item, proof: Proof) -> list[Outputs | None]:
        """Return the outputs of each question's program; None without a program or if it cannot be run."""
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
        """Check that the given pictures show the item's scene."""
        if self.prover is None or item.scene is None:
            proof.leave("what pictures show", (rgb is not None) + (ids is not None))
            return
        try:
            self.prover.prove_pictures(item, rgb, ids, proof)
        except EngineError as error:
            proof.flaw("images", "a scene that can be drawn", error)


def run_one(question: Question, context: Any, number: int, proof: Proof, *, table: FunctionTable) -> Outputs | None:
    """Return the outputs of a program's steps, or None; check that it runs and gives the question's answer."""
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
    """Return the pixels of a picture file; for a broken file, note a flaw and return None."""
    try:
        with Image.open(io.BytesIO(content)) as image:
            image.load()
            return np.asarray(image)
    except (OSError, ValueError, SyntaxError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        proof.flaw(check, f"{what} that can be read", error)
        return None


def prove_drawn_again(
    rgb: NDArray[np.uint8],
    ids: NDArray[np.uint16] | None,
    proof: Proof,
    *,
    draw: Callable[[], tuple[NDArray[np.uint8], NDArray[np.uint16]]],
) -> None:
    """Prove that a picture looks the same when it is drawn again. Small differences between machines are allowed."""
    try:
        again, ids_again = draw()
    except EngineError as error:
        proof.leave(f"pictures that can't be drawn here: {error}")
        return
    if prove_alike(rgb, again, proof) and ids is not None and ids.shape == ids_again.shape:
        alike = float((ids == ids_again).mean())
        expected = f"object ids as drawn again in {100 * IDS_ALIKE:g} % of pixels"
        proof.hold("rerendered", alike >= IDS_ALIKE, expected, f"{100 * alike:.2f} %")


def rgb_of(pixels: NDArray[Any]) -> NDArray[Any]:
    """Return the pixels (height, width, 3) of an imported picture, which may be grey or have transparency."""
    return pixels[:, :, :3] if pixels.ndim == 3 else np.repeat(pixels[:, :, None], 3, axis=2)


def can_have_facets(item: Item, proof: Proof) -> bool:
    """Return whether facets of an item's questions can be computed. If something that they need is wrong, note that."""
    if any(flaw.check in ("programs", "vocabulary", "scenes") for flaw in proof.flaws):
        proof.leave("facets of questions of which program or scene is wrong", len(item.questions))
        return False
    return True


def spread(count: int, most: int) -> Sequence[int]:
    """Return at most `most` of the positions 0 .. count-1, evenly spread."""
    if most >= count:
        return range(count)
    return [(2 * number + 1) * count // (2 * most) for number in range(most)]
