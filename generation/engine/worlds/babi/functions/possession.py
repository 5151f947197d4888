"""Functions about who has what, where things are, and who gave what to whom."""

from collections.abc import Mapping

from generation.engine.errors import IllPosed
from generation.engine.items import AnswerKind
from generation.engine.program import Function
from generation.engine.worlds.babi.entities import NUMBERS
from generation.engine.worlds.babi.step_results import Fact, Prefix, StepResult

HANDLING = ("get", "drop", "give")  # events that change who has a thing: a person, a thing, perhaps a receiver


def _handled(prefix: Prefix, facts: StepResult, thing: str) -> StepResult:
    return _facts([fact for fact in facts.value if fact.event[0] in HANDLING and fact.event[2] == thing])


def _handling(prefix: Prefix, facts: StepResult, person: str) -> StepResult:
    return _facts(
        [
            fact
            for fact in facts.value
            if fact.event[0] in HANDLING and (fact.event[1] == person or fact.event[-1] == person)
        ]
    )


def _gifts(prefix: Prefix, facts: StepResult) -> StepResult:
    return _facts([fact for fact in facts.value if fact.event[0] == "give"])


def _by(prefix: Prefix, gifts: StepResult, person: str) -> StepResult:
    return _facts([fact for fact in gifts.value if fact.event[1] == person])


def _of(prefix: Prefix, gifts: StepResult, thing: str) -> StepResult:
    return _facts([fact for fact in gifts.value if fact.event[2] == thing])


def _to(prefix: Prefix, gifts: StepResult, person: str) -> StepResult:
    return _facts([fact for fact in gifts.value if fact.event[3] == person])


def _last_but_one(prefix: Prefix, facts: StepResult) -> StepResult:
    if len(facts.value) < 2:
        raise IllPosed(f"Expected two facts, got {len(facts.value)}.")
    return StepResult(facts.value[-2], (facts.value[-2].line,))


def _brought(prefix: Prefix, facts: StepResult, handled: StepResult) -> StepResult:
    """Return the move that brought a thing to its place: its holder's last move, or the last before it was dropped."""
    line, (kind, *roles) = handled.value
    person = roles[-1] if kind == "give" else roles[0]
    moves = [fact for fact in _moves(facts, person) if kind != "drop" or fact.line < line]
    if not moves:
        raise IllPosed(f"Expected to be told where {person} is.")
    return StepResult(moves[-1], (line, moves[-1].line))


def _carried(prefix: Prefix, facts: StepResult, handled: StepResult) -> StepResult:
    """Return the moves of a thing's last holder while they had it; the first supporting line is about the thing."""
    line, (kind, person, *_) = fact = handled.value
    if kind == "give":
        person, since, until = fact.event[3], line, None
    elif kind == "get":
        since, until = line, None
    else:
        since, until = _receipt_line(facts, person, fact), line
    moves = [one for one in _moves(facts, person) if one.line > since and (until is None or one.line < until)]
    return StepResult(tuple(moves), (line, *[one.line for one in moves]))


def _receipt_line(facts: StepResult, person: str, dropped: Fact) -> int:
    """Return the line in which a person got a thing that they dropped later."""
    for fact in reversed(facts.value):
        kind, *roles = fact.event
        if kind in HANDLING and roles[1] == dropped.event[2] and fact.line < dropped.line and kind != "drop":
            return int(fact.line)
    raise IllPosed(f"Expected to be told how {person} came by the {dropped.event[2]}.")


def _arrival(prefix: Prefix, moves: StepResult, place: str) -> StepResult:
    found = [fact for fact in moves.value if fact.event[2] == place]
    if not found:
        raise IllPosed(f"Expected a move to the {place}, got none.")
    return StepResult(found[-1], (moves.lines[0], found[-1].line))


def _before(prefix: Prefix, moves: StepResult, move: StepResult) -> StepResult:
    found = [fact for fact in moves.value if fact.line < move.value.line]
    if not found:
        raise IllPosed("Expected a move before, got none.")
    return StepResult(found[-1], (*move.lines, found[-1].line))


def _holds(prefix: Prefix, facts: StepResult, person: str) -> StepResult:
    has: dict[str, None] = {}
    for fact in facts.value:
        kind, _, thing, *receiver = fact.event
        if kind == "get" or person in receiver:
            has[thing] = None
        else:
            has.pop(thing, None)
    return StepResult(tuple(has), facts.lines)


def _count(prefix: Prefix, things: StepResult) -> StepResult:
    return StepResult(NUMBERS[len(things.value)], things.lines)


def _giver(prefix: Prefix, gift: StepResult) -> StepResult:
    return StepResult(gift.value.event[1], gift.lines)


def _gift(prefix: Prefix, gift: StepResult) -> StepResult:
    return StepResult(gift.value.event[2], gift.lines)


def _receiver(prefix: Prefix, gift: StepResult) -> StepResult:
    return StepResult(gift.value.event[3], gift.lines)


def _moves(facts: StepResult, person: str) -> list[Fact]:
    return [fact for fact in facts.value if fact.event[0] == "go" and fact.event[1] == person]


def _facts(facts: list[Fact]) -> StepResult:
    return StepResult(tuple(facts), tuple([fact.line for fact in facts]))


FUNCTIONS = (
    Function("handled", ("Facts",), "Facts", ("Thing",), _handled, "what is done with the thing"),
    Function("handling", ("Facts",), "Facts", ("Person",), _handling, "what somebody gets, gives and drops"),
    Function("gifts", ("Facts",), "Facts", (), _gifts, "what is given"),
    Function("by", ("Facts",), "Facts", ("Person",), _by, "given by somebody"),
    Function("of", ("Facts",), "Facts", ("Thing",), _of, "given of that thing"),
    Function("to", ("Facts",), "Facts", ("Person",), _to, "given to somebody"),
    Function("last_but_one", ("Facts",), "Fact", (), _last_but_one, "the last but one of it"),
    Function("brought", ("Facts", "Fact"), "Fact", (), _brought, "the move that brought it there"),
    Function("carried", ("Facts", "Fact"), "Facts", (), _carried, "the moves it was carried along on"),
    Function("arrival", ("Facts",), "Fact", ("Place",), _arrival, "the last move to the place"),
    Function("before", ("Facts", "Fact"), "Fact", (), _before, "the move before it"),
    Function("holds", ("Facts",), "Things", ("Person",), _holds, "what somebody has after that"),
    Function("count", ("Things",), "Number", (), _count, "how many there are"),
    Function("giver", ("Fact",), "Person", (), _giver, "who gives"),
    Function("gift", ("Fact",), "Thing", (), _gift, "what is given"),
    Function("receiver", ("Fact",), "Person", (), _receiver, "who is given it"),
)
VALUES: Mapping[str, tuple[str, ...]] = {}
ANSWERS: Mapping[str, AnswerKind] = {
    "Person": AnswerKind.WORD,
    "Thing": AnswerKind.WORD,
    "Things": AnswerKind.SET,
    "Number": AnswerKind.WORD,
}
