"""Functions about what is known of a person: where they are, where they are not, or which two places are possible."""

from collections.abc import Mapping

from generation.engine.errors import IllPosed
from generation.engine.items import AnswerKind
from generation.engine.program import Function
from generation.engine.worlds.babi.step_results import Prefix, StepResult
from generation.engine.worlds.babi.story import STAYS

KNOWLEDGE = (*STAYS, "not-in", "either")


def _knowledge(prefix: Prefix, facts: StepResult, person: str) -> StepResult:
    found = tuple([fact for fact in facts.value if fact.event[0] in KNOWLEDGE and fact.event[1] == person])
    return StepResult(found, tuple(dict.fromkeys(fact.line for fact in found)))


def _may_be_in(prefix: Prefix, fact: StepResult, place: str) -> StepResult:
    kind, who, *places = fact.value.event
    if kind == "not-in" and place not in places:
        raise IllPosed(f"Expected to be told whether {who} is in the {place}, got that it is not the {places[0]}.")
    if place not in places or kind == "not-in":
        return StepResult("no", fact.lines)
    return StepResult("maybe" if kind == "either" else "yes", fact.lines)


def _is_in(prefix: Prefix, fact: StepResult, place: str) -> StepResult:
    found = _may_be_in(prefix, fact, place)
    if found.value == "maybe":
        raise IllPosed(f"Expected to be told whether {fact.value.event[1]} is in the {place}, got that it may be.")
    return found


FUNCTIONS = (
    Function("knowledge", ("Facts",), "Facts", ("Person",), _knowledge, "what is told of where somebody is"),
    Function("is_in", ("Fact",), "YesNo", ("Place",), _is_in, "whether that is in the place"),
    Function("may_be_in", ("Fact",), "Certainty", ("Place",), _may_be_in, "whether that is, or may be, in the place"),
)
VALUES: Mapping[str, tuple[str, ...]] = {}
ANSWERS: Mapping[str, AnswerKind] = {"YesNo": AnswerKind.YES_NO, "Certainty": AnswerKind.WORD}
