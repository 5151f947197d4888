"""Generation of items: a microworld, then captions that are definitely true or definitely false of it."""

from collections.abc import Sequence

from generation.engine.errors import Exhausted
from generation.engine.items import Answer, AnswerKind, Item, Question
from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.captions import Captioner
from generation.engine.worlds.shapeworld.scene import FlatScene
from generation.engine.worlds.shapeworld.scene_sampling import choose_weighted, sample_scene
from generation.engine.worlds.shapeworld.spec import ShapeWorldSpec

REPLACEMENTS = 500  # microworlds without a caption, after which generation fails
REPEATS = 20  # repeated captions of a microworld, after which the microworld is replaced
ANSWERS = {agreement: Answer("yes" if agreement else "no", AnswerKind.YES_NO) for agreement in (True, False)}


class MicroworldSampler:
    """Makes the items of one chunk, one after the other.

    Parameters
    ----------
    spec : ShapeWorldSpec
        The spec of the split.
    worlds, words : Stream
        Random numbers for microworlds, and for captions.
    """

    def __init__(self, spec: ShapeWorldSpec, *, worlds: Stream, words: Stream) -> None:
        self.spec, self.worlds, self.words = spec, worlds, words
        self.captioners = [Captioner(part) for part in spec.parts]
        self.numbers = range(len(spec.parts))

    def item(self, *, where: str) -> Item:
        """Return the next item; raise `Exhausted`, naming `where`, if no microworld has the captions.

        Whether captions are true is drawn first, so that the share of true ones does not depend on the microworlds.
        """
        number = choose_weighted(self.numbers, self.spec.weights, self.worlds)
        part, wanted = self.spec.parts[number], self.spec.captions
        fits = [self.words.random() < wanted.correct for _ in range(wanted.per_scene)]
        for replaced in range(REPLACEMENTS):
            scene = sample_scene(part, self.worlds)
            questions = self._questions(number, scene, fits)
            if questions is not None:
                return Item(scene, None, questions, replaced)
        raise Exhausted(
            f"Expected a microworld that admits {len(fits)} captions, got none among {REPLACEMENTS}: allow more in "
            "captions.kinds, relations, selectors or quantifiers, or more in scene.",
            where=where,
            count=REPLACEMENTS,
        )

    def _questions(self, number: int, scene: FlatScene, fits: Sequence[bool]) -> tuple[Question, ...] | None:
        """Return different captions of a microworld, or None if there are too few."""
        family = number if len(self.captioners) > 1 else None
        found: dict[str, Question] = {}
        for fit in fits:
            question = self._question(number, scene, fit, family=family, but=found)
            if question is None:
                return None
            found[question.text] = question
        return tuple(found.values())

    def _question(
        self, number: int, scene: FlatScene, fit: bool, *, family: int | None, but: dict[str, Question]
    ) -> Question | None:
        part = self.spec.parts[number]
        for _ in range(REPEATS):
            caption = self.captioners[number].caption(
                scene, self.words, fits=fit, other=lambda: sample_scene(part.elsewhere, self.worlds)
            )
            if caption is None:
                return None
            if caption.text not in but:
                return Question(caption.text, caption.program, ANSWERS[fit], caption.kind, family)
        return None
