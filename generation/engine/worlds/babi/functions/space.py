"""Functions about where places and shapes lie: beside one another, or linked by chains of facts."""

from collections.abc import Mapping
from itertools import pairwise

from generation.engine.errors import IllPosed
from generation.engine.items import AnswerKind
from generation.engine.program import Function
from generation.engine.worlds.babi.entities import SHAPES, SIDES
from generation.engine.worlds.babi.grid import COMPASS, Cell
from generation.engine.worlds.babi.step_results import Fact, Prefix, StepResult

LETTERS: Mapping[Cell, str] = {move: direction[0] for direction, move in COMPASS.items()}
MOVES: Mapping[str, Cell] = {**COMPASS, **SIDES}


def _step(fact: Fact, start: str) -> Cell:
    east, north = MOVES[fact.event[2]]
    return (-east, -north) if start == fact.event[1] else (east, north)


def _other(fact: Fact, start: str) -> str:
    return fact.event[3] if fact.event[1] == start else fact.event[1]


def _beside(facts: StepResult, direction: str, place: str, *, back: bool) -> StepResult:
    east, north = COMPASS[direction]
    wanted = (-east, -north) if back else (east, north)
    found = [fact for fact in facts.value if fact.event[0] == "lies" and place in (fact.event[1], fact.event[3])]
    found = [fact for fact in found if _step(fact, place) == wanted]
    if len({_other(fact, place) for fact in found}) != 1:
        raise IllPosed(f"Expected one place that lies {direction} of another, the {place}, got {len(found)}.")
    return StepResult(_other(found[0], place), (found[0].line,))


def _that_lies(prefix: Prefix, facts: StepResult, direction: str, place: str) -> StepResult:
    return _beside(facts, direction, place, back=False)


def _lies_of(prefix: Prefix, facts: StepResult, direction: str, place: str) -> StepResult:
    return _beside(facts, direction, place, back=True)


def chains(facts: tuple[Fact, ...], kind: str, start: str, end: str) -> list[tuple[Fact, ...]]:
    """Return the shortest chains of facts of a kind from start to end, with their facts in order."""
    own = [fact for fact in facts if fact.event[0] == kind]
    reached: set[str] = {start}
    ways: list[tuple[str, tuple[Fact, ...]]] = [(start, ())]
    while ways:
        found = [way for at, way in ways if at == end]
        if found:
            return found
        ways = [
            (after, (*way, fact))
            for at, way in ways
            for fact in own
            if at in (fact.event[1], fact.event[3]) and (after := _other(fact, at)) not in reached
        ]
        reached.update(at for at, _ in ways)
    return []


def _only(facts: StepResult, kind: str, start: str, end: str) -> StepResult:
    found = chains(facts.value, kind, start, end)
    if len(found) != 1:
        raise IllPosed(f"Expected one shortest way from the {start} to the {end}, got {len(found)}.")
    return StepResult(found[0], tuple(fact.line for fact in found[0]))


def _way(prefix: Prefix, facts: StepResult, start: str, end: str) -> StepResult:
    return _only(facts, "lies", start, end)


def _chain(prefix: Prefix, facts: StepResult, start: str, end: str) -> StepResult:
    return _only(facts, "stands", start, end)


def _moves(chain: StepResult, start: str) -> list[Cell]:
    names = [start]
    for fact in chain.value:
        names.append(_other(fact, names[-1]))
    return [_step(fact, at) for fact, (at, _) in zip(chain.value, pairwise(names), strict=True)]


def _directions(prefix: Prefix, way: StepResult, start: str) -> StepResult:
    return StepResult(tuple(LETTERS[move] for move in _moves(way, start)), way.lines)


def _is_side(prefix: Prefix, chain: StepResult, shape: str, side: str) -> StepResult:
    """Return whether a chain's first shape is on a side of its last, which lies where the moves lead."""
    moves = _moves(chain, shape)
    east, north = SIDES[side]
    off = east * sum(move[0] for move in moves) + north * sum(move[1] for move in moves)
    return StepResult("yes" if off < 0 else "no", chain.lines)


FUNCTIONS = (
    Function("that_lies", ("Facts",), "Place", ("Direction", "Place"), _that_lies, "what lies in a direction of it"),
    Function("lies_of", ("Facts",), "Place", ("Direction", "Place"), _lies_of, "what it lies in a direction of"),
    Function("way", ("Facts",), "Chain", ("Place", "Place"), _way, "the shortest way from one to the other"),
    Function("directions", ("Chain",), "Directions", ("Place",), _directions, "which way one goes"),
    Function("chain", ("Facts",), "Chain", ("Shape", "Shape"), _chain, "what leads from one to the other"),
    Function("is_side", ("Chain",), "YesNo", ("Shape", "Side"), _is_side, "whether it is on that side"),
)
VALUES: Mapping[str, tuple[str, ...]] = {"Direction": tuple(COMPASS), "Shape": SHAPES, "Side": tuple(SIDES)}
ANSWERS: Mapping[str, AnswerKind] = {
    "Place": AnswerKind.WORD,
    "Directions": AnswerKind.SEQUENCE,
    "YesNo": AnswerKind.YES_NO,
}
