"""Stories that a task tells, with its questions answered, for tests."""

import math
from collections import Counter
from collections.abc import Iterator
from itertools import cycle, islice
from typing import Any, NamedTuple

from hypothesis import strategies as some
from hypothesis.strategies import SearchStrategy

from generation.engine.program import Program, execute, typecheck
from generation.engine.seeding import Stage, Stream, stream
from generation.engine.worlds.babi.functions import ANSWERS, function_table
from generation.engine.worlds.babi.story import Event, Line, Story
from generation.engine.worlds.babi.story_allocation import stories_of
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.task_interface import ToldStory
from generation.engine.worlds.babi.tasks import BY_NUMBER

TABLE = function_table()
COUNTS = ("people", "places", "things", "animals", "shapes", "sizes")  # parameters that bring further words
MOST = {
    name: bound.le
    for name, field in StoryParameters.model_fields.items()
    if name in COUNTS
    for bound in field.metadata
    if hasattr(bound, "le")
}
DISTINCT = 4  # standard errors that a share may be off


class Asked(NamedTuple):
    """A question: the lines it sees, its words and program, its answer and supporting facts."""

    lines: tuple[Line, ...]
    text: str
    program: Program
    answer: Any
    supports: tuple[int, ...]

    def events(self, person: str) -> list[tuple[int, Event]]:
        """Return what is told of somebody, with the line that tells it."""
        return [(number, event) for number, line in enumerate(self.lines) for event in line.events if person in event]


def chance(index: int = 0) -> Stream:
    """Return a stream of a test's own."""
    return stream(seed=8, split="train", index=index, stage=Stage.SCENE)


def answered(task: int, told: ToldStory) -> Iterator[Asked]:
    """Yield a story's questions, each with what its program gives."""
    for scope, text, program in told.asks:
        assert typecheck(program, table=TABLE) in ANSWERS
        last = execute(program, Story(task, told.lines), table=TABLE, scope=scope)[-1]
        yield Asked(told.lines[:scope], text, program, last.value, last.elements)


def tell(task: int, random: Stream, *, questions: int | None = None, **parameters: Any) -> ToldStory:
    """Return the next story that a task tells, with so many questions, or as many as its first one has."""
    teller = BY_NUMBER[task]
    while True:
        told = teller.tell(StoryParameters(**parameters), random, questions=questions or teller.lengths[0])
        if told is not None:
            return told


def stories(task: int, count: int, **parameters: Any) -> list[ToldStory]:
    """Return so many stories of a task."""
    random, lengths = chance(task), islice(cycle(BY_NUMBER[task].lengths), count)
    return [tell(task, random, questions=length, **parameters) for length in lengths]


def questions(task: int, count: int, **parameters: Any) -> list[Asked]:
    """Return so many questions of a task, or some more: those of whole stories."""
    needed = stories_of(BY_NUMBER[task], count)
    return [one for told in stories(task, needed, **parameters) for one in answered(task, told)]


def parameters(*, people: int = 2, distance: int = 12) -> SearchStrategy[dict[str, Any]]:
    """Draw how stories are told: of at least so many people, with at most such a distance."""
    return some.fixed_dictionaries(
        {
            "people": some.integers(people, 12),
            "places": some.integers(3, 14),
            "distance": some.integers(0, distance),
            "faithful": some.booleans(),
        }
    )


def assert_shares(found: Counter[str], expected: dict[str, float], *, within: float) -> None:
    """Fail where a share is off by more than `within` and what chance makes of so few cases."""
    total = found.total()
    assert set(found) <= set(expected), found
    for name, share in expected.items():
        allowed = within + DISTINCT * math.sqrt(share * (1 - share) / total)
        assert abs(found[name] / total - share) <= allowed, (name, found[name] / total, share)
