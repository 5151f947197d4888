"""Functions that draw conclusions: from a species to its members and back, from sizes, from states to actions."""

from collections.abc import Iterator, Mapping

from generation.engine.errors import IllPosed
from generation.engine.items import AnswerKind
from generation.engine.program import Function
from generation.engine.worlds.babi.entities import BEARERS, MOTIVES, PETS, SIZES
from generation.engine.worlds.babi.step_results import Fact, Prefix, StepResult


def _last_of(facts: StepResult, kind: str, name: str) -> Fact:
    """Return the last fact of a kind about a person or thing; raise `IllPosed` if there is none."""
    found = [fact for fact in facts.value if fact.event[0] == kind and fact.event[1] == name]
    if not found:
        raise IllPosed(f"Expected to be told of {name}, got nothing.")
    last: Fact = found[-1]
    return last


def _is_a(prefix: Prefix, facts: StepResult, name: str) -> StepResult:
    fact = _last_of(facts, "is-a", name)
    return StepResult(fact, (fact.line,))


def _fear(prefix: Prefix, facts: StepResult, member: StepResult) -> StepResult:
    fact = _last_of(facts, "afraid", member.value.event[2])
    return StepResult(fact, (*member.lines, fact.line))


def _feared(prefix: Prefix, fear: StepResult) -> StepResult:
    return StepResult(fear.value.event[2], fear.lines)


def _peer(prefix: Prefix, facts: StepResult, member: StepResult) -> StepResult:
    """Return the last other member of the same species whose colour is known."""
    _, name, kind = member.value.event
    coloured = {fact.event[1] for fact in facts.value if fact.event[0] == "coloured"} - {name}
    found = [fact for fact in facts.value if fact.event[0] == "is-a" and fact.event[2] == kind]
    found = [fact for fact in found if fact.event[1] in coloured]
    if not found:
        raise IllPosed(f"Expected another {kind} of a known colour, got none.")
    return StepResult(found[-1], (*member.lines, found[-1].line))


def _colour(prefix: Prefix, facts: StepResult, member: StepResult) -> StepResult:
    fact = _last_of(facts, "coloured", member.value.event[1])
    return StepResult(fact.event[2], (*member.lines, fact.line))


def smaller(fact: Fact) -> str:
    """Return the smaller one of two compared things."""
    return fact.event[1] if fact.event[0] == "fits" else fact.event[2]


def larger(fact: Fact) -> str:
    """Return the larger one of two compared things."""
    return fact.event[2] if fact.event[0] == "fits" else fact.event[1]


def _rising(facts: list[Fact], small: str, large: str, *, length: int) -> Iterator[tuple[Fact, ...]]:
    """Yield chains of `length` facts from a small thing to a large one, in the order of their lines."""
    for fact in facts:
        if smaller(fact) != small:
            continue
        if length == 1 and larger(fact) == large:
            yield (fact,)
        elif length > 1:
            yield from ((fact, *rest) for rest in _rising(facts, larger(fact), large, length=length - 1))


def _sizes(prefix: Prefix, facts: StepResult, one: str, other: str) -> StepResult:
    """Return the shortest chain of two or more facts that orders two things, from `one` to `other`."""
    own = [fact for fact in facts.value if fact.event[0] in ("fits", "bigger")]
    for length in range(2, len(own) + 1):
        found = list(_rising(own, one, other, length=length))
        found += [chain[::-1] for chain in _rising(own, other, one, length=length)]
        if found:
            chain = min(found, key=lambda chain: [fact.line for fact in chain])
            return StepResult(chain, tuple(fact.line for fact in chain))
    raise IllPosed(f"Expected facts that order the {one} and the {other}, got none.")


def _is_smaller(prefix: Prefix, chain: StepResult, thing: str) -> StepResult:
    return StepResult("yes" if smaller(chain.value[0]) == thing else "no", chain.lines)


def _is_larger(prefix: Prefix, chain: StepResult, thing: str) -> StepResult:
    return StepResult("yes" if larger(chain.value[0]) == thing else "no", chain.lines)


def _feelings(prefix: Prefix, facts: StepResult, person: str) -> StepResult:
    found = tuple(fact for fact in facts.value if fact.event[0] == "feels" and fact.event[1] == person)
    return StepResult(found, tuple(fact.line for fact in found))


def _leads_to(prefix: Prefix, feeling: StepResult) -> StepResult:
    places = [motive.place for motive in MOTIVES if motive.state == feeling.value.event[2]]
    return StepResult(places[0], feeling.lines)


def _before(facts: StepResult, feelings: StepResult, deed: tuple[str, str, str]) -> StepResult:
    """Return a person's last state before an action; only the line about the state supports the result."""
    done = [fact.line for fact in facts.value if fact.event == deed]
    found = [fact for fact in feelings.value if done and fact.line < done[-1]]
    if not found:
        raise IllPosed(f"Expected to be told what {deed[1]} felt before, got nothing.")
    return StepResult(found[-1].event[2], (found[-1].line,))


def _why_go(prefix: Prefix, facts: StepResult, feelings: StepResult, person: str, place: str) -> StepResult:
    return _before(facts, feelings, ("go", person, place))


def _why_get(prefix: Prefix, facts: StepResult, feelings: StepResult, person: str, thing: str) -> StepResult:
    return _before(facts, feelings, ("get", person, thing))


FUNCTIONS = (
    Function("is_a", ("Facts",), "Fact", ("Name",), _is_a, "which animal it is"),
    Function("fear", ("Facts", "Fact"), "Fact", (), _fear, "what animals of that kind fear"),
    Function("feared", ("Fact",), "Animal", (), _feared, "the animal feared"),
    Function("peer", ("Facts", "Fact"), "Fact", (), _peer, "another of that kind whose colour is told"),
    Function("colour", ("Facts", "Fact"), "Colour", (), _colour, "its colour"),
    Function("sizes", ("Facts",), "Chain", ("Size", "Size"), _sizes, "what orders the two"),
    Function("is_smaller", ("Chain",), "YesNo", ("Size",), _is_smaller, "whether it is the smaller one"),
    Function("is_larger", ("Chain",), "YesNo", ("Size",), _is_larger, "whether it is the bigger one"),
    Function("feelings", ("Facts",), "Facts", ("Person",), _feelings, "what is told of somebody's state"),
    Function("leads_to", ("Fact",), "Place", (), _leads_to, "where that leads to"),
    Function("why_go", ("Facts", "Facts"), "State", ("Person", "Place"), _why_go, "the state before they went"),
    Function("why_get", ("Facts", "Facts"), "State", ("Person", "Aim"), _why_get, "the state before they got it"),
)
VALUES: Mapping[str, tuple[str, ...]] = {
    "Name": tuple(dict.fromkeys((*PETS, *BEARERS))),
    "Size": SIZES,
    "Aim": tuple(motive.thing for motive in MOTIVES),
}
ANSWERS: Mapping[str, AnswerKind] = {
    "Animal": AnswerKind.WORD,
    "Colour": AnswerKind.WORD,
    "YesNo": AnswerKind.YES_NO,
    "State": AnswerKind.WORD,
}
