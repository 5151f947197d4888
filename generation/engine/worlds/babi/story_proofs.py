"""Proofs of this world's promises about stories and questions, from their texts alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from generation.engine.items import Item, Question
from generation.engine.verification.proof import Outputs, Proof
from generation.engine.worlds.babi.formats.published_answers import tidy
from generation.engine.worlds.babi.languages import LANGUAGES, StoryLanguage, localised_answer
from generation.engine.worlds.babi.reading import sentences
from generation.engine.worlds.babi.reading.possession import Conclusion
from generation.engine.worlds.babi.reading.reader import StoryReader
from generation.engine.worlds.babi.reading.sentences import ParsedQuestion
from generation.engine.worlds.babi.spec import BabiSpec
from generation.engine.worlds.babi.story import Line, Story
from generation.engine.worlds.babi.story_sampler import place_of
from generation.engine.worlds.babi.tasks import BY_NAME

Supports = tuple[int, ...]
# known faults of the released data
OVERLOOKED_ANSWER = "task 5: answers that overlook a later gift"
OVERLOOKED = "task 5: supporting facts that overlook a later gift"
CONTRADICTED = "task 16: colours of animals whose kind has several"


class BabiProver:
    """Proves the items of one split.

    Parameters
    ----------
    spec : BabiSpec
        The spec of the split.
    made : bool
        Whether the stories were generated from the spec, not imported.
    """

    def __init__(self, spec: BabiSpec, *, made: bool) -> None:
        self.spec, self.made = spec, made
        self.language: StoryLanguage = spec.language

    def begin(self) -> None:
        """Start a chunk; nothing is kept between items."""

    def prove(self, item: Item, given: Sequence[Outputs | None], proof: Proof) -> None:
        """Prove a story, and that its questions have the answers and supporting facts that a reader finds."""
        story = item.scene
        if not isinstance(story, Story):
            proof.leave("items without a story")
            return
        self._prove_tidy(item, proof)
        english = self._english(story)
        reader = StoryReader([line.text for line in english.lines])
        if not self.made and len(reader.unread) == len(story.lines) and self.language is not LANGUAGES["english"]:
            proof.leave("questions about stories whose language is not read", len(item.questions))
            return
        self._prove_lines(story, reader, proof)
        if self.made:
            self._prove_made(story, english, item, proof)
        for number, question in enumerate(item.questions):
            supports = _claimed_supports(item, number, given[number])
            self._prove_question(reader, question, supports, proof, number=number)

    def _prove_tidy(self, item: Item, proof: Proof) -> None:
        """Prove that no answer has blanks around its words, as those had that older versions imported."""
        for number, question in enumerate(item.questions):
            text = "" if question.answer is None else question.answer.text
            if text != (clean := tidy(text)):
                proof.flaw("answers", f"the answer {clean!r}: import the files again", repr(text), question=number)

    def prove_pictures(
        self, item: Item, rgb: NDArray[np.uint8] | None, ids: NDArray[np.uint16] | None, proof: Proof
    ) -> None:
        """Prove nothing, because stories have no pictures."""

    def _english(self, story: Story) -> Story:
        lines = [Line(self.language.english(line.text) or "", line.events, line.antecedent) for line in story.lines]
        return story._replace(lines=tuple(lines))

    def _prove_lines(self, story: Story, reader: StoryReader, proof: Proof) -> None:
        """Prove that each line has the meaning of its events, and that its pronoun means the recorded antecedent."""
        for number, line in enumerate(story.lines):
            if number in reader.unread:
                proof.flaw("texts", f"line {number + 1} in words that can be read", repr(line.text))
            elif self.made or line.events:
                proof.same("texts", reader.events[number], line.events, what=f"line {number + 1} to tell ")
                proof.same(
                    "texts", reader.antecedents[number], line.antecedent, what=f"line {number + 1} to mean line "
                )

    def _prove_made(self, story: Story, english: Story, item: Item, proof: Proof) -> None:
        """Prove that a story belongs to its split, and to the spec's tasks."""
        part = self.spec.stories
        place = place_of(english if self.language.is_placed_by_english else story)
        if part is not None:
            holds = part.low <= place < part.high
            proof.hold("scenes", holds, f"a story of this split, from {part.low:g} to {part.high:g}", f"{place:.4f}")
        proof.hold("scenes", english.task in self.spec.tasks, f"a task of {self.spec.tasks}", english.task)
        for number, question in enumerate(item.questions):
            named = BY_NAME[question.kind].number if question.kind in BY_NAME else None
            came = {named, question.family, english.task}
            proof.hold("families", len(came) == 1, "one task of story and question", came, question=number)

    def _prove_question(
        self, reader: StoryReader, question: Question, supports: Supports | None, proof: Proof, *, number: int
    ) -> None:
        """Prove a question's answer and supporting facts."""
        asked = sentences.question(self.language.english(question.text) or "")
        if not proof.hold(
            "texts", asked is not None, "a question that can be read", repr(question.text), question=number
        ):
            return
        assert asked is not None
        found = reader.answer(asked, question.scope)
        if self.spec.told.faithful:
            found = self._as_released(reader, asked, question, found, supports, proof)
        if question.answer is not None:
            expected = "an answer that is not told" if found is None else f"answer {self._spell(found, question)}"
            proof.hold("answers", self._agrees(found, question), expected, question.answer.text, question=number)
        if supports is not None and found is not None:
            own, came = (found.lines, supports) if self.made else (sorted(found.lines), sorted(supports))
            holds = own == came or (not self.made and reader.orders(asked, supports, question.scope))
            lines = f"lines {' '.join(str(line + 1) for line in found.lines)}"
            proof.hold("supports", holds, lines, " ".join(str(line + 1) for line in supports), question=number)
            if self.made and question.scope is not None:
                left, least = question.scope - 1 - max(supports), self.spec.told.distance
                proof.hold("scenes", left >= least, f"{least} lines or more after the last fact", left, question=number)

    def _as_released(
        self,
        reader: StoryReader,
        asked: ParsedQuestion,
        question: Question,
        found: Conclusion | None,
        supports: Supports | None,
        proof: Proof,
    ) -> Conclusion | None:
        """Return the intended conclusion of a question in data as released, and count its known faults."""
        if self._agrees(found, question) and reader.is_contradicted(asked, question.scope):
            proof.know(CONTRADICTED)
        if self._agrees(found, question) and found is not None and supports in (None, found.lines):
            return found
        for other in reader.others(asked, question.scope):
            if self._agrees(other, question) and supports in (None, other.lines):
                proof.know(OVERLOOKED if self._agrees(found, question) else OVERLOOKED_ANSWER)
                return other
        return found

    def _agrees(self, found: Conclusion | None, question: Question) -> bool:
        return (
            found is not None and question.answer is not None and self._spell(found, question) == question.answer.text
        )

    def _spell(self, found: Conclusion, question: Question) -> str:
        assert question.answer is not None
        return localised_answer(self.language, question.answer.kind, found.answer)


def _claimed_supports(item: Item, number: int, given: Outputs | None) -> Supports | None:
    """Return a question's supporting facts from its program, or else as published; None if they are unknown.

    Published facts are stored for all questions of a story. If some questions were left out, the match is unknown.
    """
    if given is not None:
        return tuple(given[-1].lines)
    assert isinstance(item.scene, Story)
    published = item.scene.supports
    return published[number] if published is not None and len(published) == len(item.questions) else None
