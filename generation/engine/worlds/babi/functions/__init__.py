"""The functions of questions' programs.

Each module has the functions of one kind of reasoning: `FUNCTIONS`, `VALUES` (the values of fixed arguments, by type)
and `ANSWERS` (the types that can be answers, with the kind of answer). Functions return a `StepResult`.
"""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

from generation.engine.items import AnswerKind
from generation.engine.program import Function, FunctionTable, Program, Shown
from generation.engine.worlds.babi.entities import EVERYBODY, EVERYTHING, EVERYWHERE
from generation.engine.worlds.babi.functions import (
    chronology,
    fact_lookup,
    possession,
    possible_places,
    reasoning,
    space,
)
from generation.engine.worlds.babi.languages import LANGUAGES, StoryLanguage, localised_answer
from generation.engine.worlds.babi.step_results import Fact, Prefix, StepResult
from generation.engine.worlds.babi.story import Story
from generation.engine.worlds.babi.tasks import BY_NAME

MODULES = (fact_lookup, possession, possible_places, chronology, space, reasoning)
FUNCTIONS: Mapping[str, Function] = {function.name: function for module in MODULES for function in module.FUNCTIONS}
VALUES: Mapping[str, tuple[str, ...]] = {
    "Task": tuple(BY_NAME),
    "Person": EVERYBODY,
    "Place": EVERYWHERE,
    "Thing": EVERYTHING,
    **{kind: values for module in MODULES for kind, values in module.VALUES.items()},
}
ANSWERS: Mapping[str, AnswerKind] = {kind: answer for module in MODULES for kind, answer in module.ANSWERS.items()}


def prepare(story: Story, scope: int | None) -> Prefix:
    """Return the context in which programs about the first `scope` lines of a story run."""
    return Prefix(story.lines, scope)


def show(kind: str, found: StepResult, *, language: StoryLanguage) -> Shown:
    """Return a step's result for people and files; facts become the numbers of their lines, from 1."""
    if kind not in ANSWERS:
        return Shown([fact.line + 1 for fact in _facts(found.value)], found.lines)
    return Shown(localised_answer(language, ANSWERS[kind], text_of(ANSWERS[kind], found.value)), found.lines)


def text_of(kind: AnswerKind, value: Any) -> str:
    """Return an answer's canonical text, joined by commas; the words of a set are sorted, those of a path are not."""
    if kind == AnswerKind.SET:
        return ",".join(sorted(value)) if value else "nothing"
    return ",".join(value) if kind == AnswerKind.SEQUENCE else str(value)


def _facts(value: Any) -> tuple[Fact, ...]:
    return (value,) if isinstance(value, Fact) else tuple(value)


def kind_of(program: Program) -> str:
    """Return the task of a program, which is the value of its first step."""
    return program[0].values[0]


@lru_cache(maxsize=64)
def function_table(language: StoryLanguage = LANGUAGES["english"]) -> FunctionTable:
    """Return the functions; answers are shown in a language."""
    return FunctionTable(
        functions=FUNCTIONS,
        values=VALUES,
        prepare=prepare,
        show=partial(show, language=language),
        answer_kinds={kind: str(answer) for kind, answer in ANSWERS.items()},
        kind_of=kind_of,
    )
