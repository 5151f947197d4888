"""The functions of questions' programs, for the executor and the player.

Each module has those of one kind of reasoning: `FUNCTIONS`, `VALUES` (the values of fixed arguments, by type) and
`ANSWERS` (the types that may answer a question, with the kind of the answer). What a function gives is a `StepResult`.
"""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

from generation.engine.items import AnswerKind
from generation.engine.program import Function, FunctionTable, Program, Shown
from generation.engine.worlds.babi.cast import EVERYBODY, EVERYTHING, EVERYWHERE
from generation.engine.worlds.babi.found import Fact, Prefix, StepResult
from generation.engine.worlds.babi.functions import holding, knowing, looking, reasoning, space, timing
from generation.engine.worlds.babi.languages import LANGUAGES, StoryLanguage, said
from generation.engine.worlds.babi.story import Story
from generation.engine.worlds.babi.tasks import BY_NAME

MODULES = (looking, holding, knowing, timing, space, reasoning)
FUNCTIONS: Mapping[str, Function] = {function.name: function for module in MODULES for function in module.FUNCTIONS}
VALUES: Mapping[str, tuple[str, ...]] = {
    "Task": tuple(BY_NAME),
    "Person": EVERYBODY,
    "Place": EVERYWHERE,
    "Thing": EVERYTHING,
    **{kind: values for module in MODULES for kind, values in module.VALUES.items()},
}
ANSWERS: Mapping[str, AnswerKind] = {kind: answer for module in MODULES for kind, answer in module.ANSWERS.items()}


def prepared(story: Story, scope: int | None) -> Prefix:
    """Return what programs about the first lines of a story run in."""
    return Prefix(story.lines, scope)


def show(kind: str, found: StepResult, *, language: StoryLanguage) -> Shown:
    """Return what a step gave as people and files have it; of facts the numbers of their lines, from 1."""
    if kind not in ANSWERS:
        return Shown([fact.line + 1 for fact in _facts(found.value)], found.lines)
    return Shown(said(language, ANSWERS[kind], text_of(ANSWERS[kind], found.value)), found.lines)


def text_of(kind: AnswerKind, value: Any) -> str:
    """Return an answer's canonical text: of a set in alphabetical order, of a path in its own, joined by commas."""
    if kind == AnswerKind.SET:
        return ",".join(sorted(value)) if value else "nothing"
    return ",".join(value) if kind == AnswerKind.SEQUENCE else str(value)


def _facts(value: Any) -> tuple[Fact, ...]:
    return (value,) if isinstance(value, Fact) else tuple(value)


def kind_of(program: Program) -> str:
    """Return the task that a program belongs to, which its first step names."""
    return program[0].values[0]


@lru_cache(maxsize=64)
def function_table(language: StoryLanguage = LANGUAGES["english"]) -> FunctionTable:
    """Return the functions; what they answer is shown in a language."""
    return FunctionTable(
        functions=FUNCTIONS,
        values=VALUES,
        prepare=prepared,
        show=partial(show, language=language),
        answer_kinds={kind: str(answer) for kind, answer in ANSWERS.items()},
        kind_of=kind_of,
    )
