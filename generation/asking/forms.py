"""Forms of asking: the prompts for a question, and how its answer is read from the replies to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from generation.asking.answers import AnswerReader
from generation.asking.console import Refused
from generation.asking.questions import AskedQuestion
from generation.engine.replies.steps import without_arrays
from generation.engine.replies.thoughts import without_thoughts

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Variant(NamedTuple):
    prompt: str
    letters: Mapping[str, str]


class PlainForm:
    """Sends the prompt of the site. Other forms derive from this one."""

    has_steps = False

    def variants(self, question: AskedQuestion) -> list[Variant]:
        return [Variant(question.prompt, {})]

    def read(self, reader: AnswerReader, reply: str, *, question: AskedQuestion, variant: Variant) -> str | None:
        return reader.read(reply, question.choices, variant.letters)

    def combine(self, answers: Sequence[str | None]) -> str | None:
        return answers[0] if len(set(answers)) == 1 else None


class OptionsForm(PlainForm):
    def variants(self, question: AskedQuestion) -> list[Variant]:
        return [with_options(question, question.choices)]


class CircularForm(OptionsForm):
    def variants(self, question: AskedQuestion) -> list[Variant]:
        choices = question.choices
        return [with_options(question, choices[at:] + choices[:at]) for at in range(max(1, len(choices)))]


class StepsForm(PlainForm):
    """Asks for the results of the program's steps besides the answer."""

    has_steps = True

    def variants(self, question: AskedQuestion) -> list[Variant]:
        return [Variant(f"{question.prompt}\n{question.steps_prompt}", {})]

    def read(self, reader: AnswerReader, reply: str, *, question: AskedQuestion, variant: Variant) -> str | None:
        said = without_arrays(without_thoughts(reply))
        return super().read(reader, said, question=question, variant=variant)


FORMS: Mapping[str, PlainForm] = {
    "plain": PlainForm(),
    "options": OptionsForm(),
    "circular": CircularForm(),
    "steps": StepsForm(),
}


def with_options(question: AskedQuestion, choices: Sequence[str]) -> Variant:
    if not 1 < len(choices) <= len(LETTERS):
        raise Refused(
            f"Expected 2 to {len(LETTERS)} possible answers to question {question.number}, got {len(choices)}: use "
            "--form plain."
        )
    letters = {LETTERS[at]: choice for at, choice in enumerate(choices)}
    listed = "\n".join(f"{letter}. {choice}" for letter, choice in letters.items())
    return Variant(f"{question.prompt}\nOptions:\n{listed}\nAnswer with the letter of the right option.", letters)
