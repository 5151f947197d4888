"""The instructions and answer forms for people and models."""

from collections.abc import Sequence

from generation.engine.items import JOINT, AnswerForm, AnswerKind, Question
from generation.engine.worlds.answer_prompts import answer_prompt
from generation.engine.worlds.babi.entities import PLURALS
from generation.engine.worlds.babi.languages import localised_answer
from generation.engine.worlds.babi.spec import BabiSpec
from generation.engine.worlds.babi.tasks import BY_NAME

TOLD = {
    AnswerKind.SET: "Choose everything that is right.",
    AnswerKind.SEQUENCE: "Choose the first letter of each direction, in order.",
}
NOTHING, NONE = "nothing", "none"
COMPASS = ("north", "south", "east", "west")
YES_NO = ("yes-no-questions", "simple-negation", "positional-reasoning", "size-reasoning")
KINDS = {
    "lists-sets": AnswerKind.SET,
    "path-finding": AnswerKind.SEQUENCE,
    **dict.fromkeys(YES_NO, AnswerKind.YES_NO),
}


def kind_of_answer(task: str) -> AnswerKind:
    """Return the kind of a task's answers; the kind of single-word answers is `WORD`."""
    return KINDS.get(task, AnswerKind.WORD)


def prompt(spec: BabiSpec, question: Question) -> str:
    """Return the text for a model: the question, and the form of the answer without the instruction for people."""
    return f"{question.text}\n{answer_prompt(answer_form(spec, question), synonyms(spec))}"


def synonyms(spec: BabiSpec) -> dict[str, str]:
    """Return other words for answers: `north` for the letter n, zero for none, and `wolves` for wolf."""
    answer = spec.language.answer
    plurals = {plural: one for one, plural in PLURALS.items() if one in answers(spec) and one != plural}
    return {**{word: answer(word[0]) for word in COMPASS}, "0": answer(NONE), "zero": answer(NONE), **plurals}


def answers(spec: BabiSpec) -> tuple[str, ...]:
    """Return every answer of a spec's tasks once."""
    return tuple(dict.fromkeys(answer for task in spec.tellers for answer in _choices(spec, task.name)))


def answer_form(spec: BabiSpec, question: Question) -> AnswerForm:
    """Return how a person answers a question; sets and paths are built from their parts."""
    kind, choices = kind_of_answer(question.kind), _choices(spec, question.kind)
    if kind not in TOLD:
        return AnswerForm(kind, choices, {})
    empty = spec.language.answer(NOTHING) if kind == AnswerKind.SET else ""
    whole = [choice.split(JOINT) for choice in choices if choice != empty]
    parts = tuple(dict.fromkeys(part for answer in whole for part in answer))
    length = max(map(len, whole), default=0) if kind == AnswerKind.SEQUENCE else 0
    return AnswerForm(kind, choices, {}, TOLD[kind], parts, empty, length)


def usual_answers(spec: BabiSpec, task: str) -> tuple[str, ...]:
    """Return the answers of a task, without the other answers that a spec lists."""
    language, kind = spec.language, kind_of_answer(task)
    own: Sequence[str] = BY_NAME[task].answers(spec.told) if task in BY_NAME else ()
    return tuple(localised_answer(language, kind, answer) for answer in own)


def _choices(spec: BabiSpec, task: str) -> tuple[str, ...]:
    return (*usual_answers(spec, task), *spec.answers)
