"""Looking facts up: all of them, those about somebody, the last one, and what it says."""

from collections.abc import Mapping

from generation.engine.errors import IllPosed
from generation.engine.items import AnswerKind
from generation.engine.program import Function
from generation.engine.worlds.babi.found import Fact, Found, Prefix
from generation.engine.worlds.babi.story import STAYS


def _story(prefix: Prefix, task: str) -> Found:
    return Found(prefix.facts, ())


def _stays(prefix: Prefix, facts: Found, person: str) -> Found:
    found = tuple([fact for fact in facts.value if fact.event[0] in STAYS and fact.event[1] == person])
    return Found(found, tuple(dict.fromkeys(fact.line for fact in found)))


def _last(prefix: Prefix, facts: Found) -> Found:
    if not facts.value:
        raise IllPosed("Expected a fact, got none.")
    fact: Fact = facts.value[-1]
    return Found(fact, prefix.with_antecedents((fact.line,)))


def _place(prefix: Prefix, fact: Found) -> Found:
    return Found(fact.value.event[2], fact.lines)


FUNCTIONS = (
    Function("story", (), "Facts", ("Task",), _story, "what is told"),
    Function("stays", ("Facts",), "Facts", ("Person",), _stays, "where somebody goes"),
    Function("last", ("Facts",), "Fact", (), _last, "the last of it"),
    Function("place", ("Fact",), "Place", (), _place, "the place it names"),
)
VALUES: Mapping[str, tuple[str, ...]] = {}
ANSWERS: Mapping[str, AnswerKind] = {"Place": AnswerKind.WORD}
