"""Functions about where people went, in the order of time and not of the lines."""

from collections.abc import Mapping

from generation.engine.errors import IllPosed
from generation.engine.items import AnswerKind
from generation.engine.program import Function
from generation.engine.worlds.babi.entities import TIMES
from generation.engine.worlds.babi.step_results import Fact, Prefix, StepResult


def _dated(prefix: Prefix, facts: StepResult, person: str) -> StepResult:
    own = [fact for fact in facts.value if fact.event[0] == "go-at" and fact.event[1] == person]
    found = tuple(sorted(own, key=lambda fact: TIMES.index(fact.event[3])))
    return StepResult(found, tuple(fact.line for fact in found))


def _visit(prefix: Prefix, facts: StepResult, place: str) -> StepResult:
    for fact in reversed(facts.value):
        if fact.event[2] == place:
            return StepResult(fact, (fact.line,))
    raise IllPosed(f"Expected a visit of the {place}, got none.")


def _preceding(prefix: Prefix, facts: StepResult, visit: StepResult) -> StepResult:
    at = facts.value.index(visit.value)
    if at == 0:
        raise IllPosed("Expected something earlier, got the first.")
    earlier: Fact = facts.value[at - 1]
    return StepResult(earlier, (*visit.lines, earlier.line))


FUNCTIONS = (
    Function("dated", ("Facts",), "Facts", ("Person",), _dated, "where somebody went, in the order of time"),
    Function("visit", ("Facts",), "Fact", ("Place",), _visit, "the latest visit of the place"),
    Function("preceding", ("Facts", "Fact"), "Fact", (), _preceding, "what came right before it"),
)
VALUES: Mapping[str, tuple[str, ...]] = {}
ANSWERS: Mapping[str, AnswerKind] = {}
