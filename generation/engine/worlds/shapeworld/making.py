"""Making instances: a microworld, then captions that are definitely true or definitely false of it."""

from collections.abc import Sequence

from generation.engine.errors import Exhausted
from generation.engine.items import Answer, AnswerKind, Item, Question
from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.captions import Captioner
from generation.engine.worlds.shapeworld.kinds import weighted
from generation.engine.worlds.shapeworld.sampling import sample_scene
from generation.engine.worlds.shapeworld.scene import Scene
from generation.engine.worlds.shapeworld.spec import ShapeWorldSpec

REPLACEMENTS = 500  # microworlds that may admit no caption, before it is given up
REPEATS = 20  # captions of a microworld that may have been said of it before
ANSWERS = {agreement: Answer("yes" if agreement else "no", AnswerKind.YES_NO) for agreement in (True, False)}


class Making:
    """Makes the items of one chunk, one after the other.

    Parameters
    ----------
    spec : ShapeWorldSpec
        As the split has it.
    worlds, words : Stream
        Chance of microworlds and of captions.
    """

    def __init__(self, spec: ShapeWorldSpec, *, worlds: Stream, words: Stream) -> None:
        self.spec, self.worlds, self.words = spec, worlds, words
        self.captioners = [Captioner(part) for part in spec.parts]
        self.numbers = range(len(spec.parts))

    def item(self, *, where: str) -> Item:
        """Return the next item; raise `Exhausted`, naming `where`, if no microworld admits its captions.

        Whether captions are true is drawn first: what a microworld admits does not change their share.
        """
        number = weighted(self.numbers, self.spec.weights, self.worlds)
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

    def _questions(self, number: int, scene: Scene, fits: Sequence[bool]) -> tuple[Question, ...] | None:
        """Return captions of a microworld, no two alike; None where it admits too few."""
        family = number if len(self.captioners) > 1 else None
        found: dict[str, Question] = {}
        for fit in fits:
            question = self._question(number, scene, fit, family=family, but=found)
            if question is None:
                return None
            found[question.text] = question
        return tuple(found.values())

    def _question(
        self, number: int, scene: Scene, fit: bool, *, family: int | None, but: dict[str, Question]
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
