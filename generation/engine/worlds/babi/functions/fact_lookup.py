"""Functions that look up facts: all facts, those about a person, the last one, and its place."""

from collections.abc import Mapping

from generation.engine.errors import IllPosed
from generation.engine.items import AnswerKind
from generation.engine.program import Function
from generation.engine.worlds.babi.step_results import Fact, Prefix, StepResult
from generation.engine.worlds.babi.story import STAYS


def _story(prefix: Prefix, task: str) -> StepResult:
    return StepResult(prefix.facts, ())


def _stays(prefix: Prefix, facts: StepResult, person: str) -> StepResult:
    found = tuple([fact for fact in facts.value if fact.event[0] in STAYS and fact.event[1] == person])
    return StepResult(found, tuple(dict.fromkeys(fact.line for fact in found)))


def _last(prefix: Prefix, facts: StepResult) -> StepResult:
    if not facts.value:
        raise IllPosed("Expected a fact, got none.")
    fact: Fact = facts.value[-1]
    return StepResult(fact, prefix.with_antecedents((fact.line,)))


def _place(prefix: Prefix, fact: StepResult) -> StepResult:
    return StepResult(fact.value.event[2], fact.lines)


FUNCTIONS = (
    Function("story", (), "Facts", ("Task",), _story, "what is told"),
    Function("stays", ("Facts",), "Facts", ("Person",), _stays, "where somebody goes"),
    Function("last", ("Facts",), "Fact", (), _last, "the last of it"),
    Function("place", ("Fact",), "Place", (), _place, "the place it names"),
)
VALUES: Mapping[str, tuple[str, ...]] = {}
ANSWERS: Mapping[str, AnswerKind] = {"Place": AnswerKind.WORD}
