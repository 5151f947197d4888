"""Stories of tasks with answered questions, for tests."""

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
COUNTS = ("people", "places", "things", "animals", "shapes", "sizes")  # parameters that add more words
MOST = {
    name: bound.le
    for name, field in StoryParameters.model_fields.items()
    if name in COUNTS
    for bound in field.metadata
    if hasattr(bound, "le")
}
DISTINCT = 4  # number of standard errors by which a share may deviate


class Asked(NamedTuple):
    """A question: the lines before it, its words and program, its answer and its supporting facts."""

    lines: tuple[Line, ...]
    text: str
    program: Program
    answer: Any
    supports: tuple[int, ...]

    def events(self, person: str) -> list[tuple[int, Event]]:
        """Return the events of a person, each with its line number."""
        return [(number, event) for number, line in enumerate(self.lines) for event in line.events if person in event]


def chance(index: int = 0) -> Stream:
    """Return a random stream for tests."""
    return stream(seed=8, split="train", index=index, stage=Stage.SCENE)


def answer_questions(task: int, told: ToldStory) -> Iterator[Asked]:
    """Yield the questions of a story with the answers of their programs."""
    for scope, text, program in told.asks:
        assert typecheck(program, table=TABLE) in ANSWERS
        last = execute(program, Story(task, told.lines), table=TABLE, scope=scope)[-1]
        yield Asked(told.lines[:scope], text, program, last.value, last.elements)


def tell(task: int, random: Stream, *, questions: int | None = None, **parameters: Any) -> ToldStory:
    """Return the next story of a task. The number of questions is that of its first length by default."""
    teller = BY_NUMBER[task]
    while True:
        told = teller.tell(StoryParameters(**parameters), random, questions=questions or teller.lengths[0])
        if told is not None:
            return told


def stories(task: int, count: int, **parameters: Any) -> list[ToldStory]:
    """Return `count` stories of a task."""
    random, lengths = chance(task), islice(cycle(BY_NUMBER[task].lengths), count)
    return [tell(task, random, questions=length, **parameters) for length in lengths]


def questions(task: int, count: int, **parameters: Any) -> list[Asked]:
    """Return at least `count` questions of a task, from complete stories."""
    needed = stories_of(BY_NUMBER[task], count)
    return [one for told in stories(task, needed, **parameters) for one in answer_questions(task, told)]


def parameters(*, people: int = 2, distance: int = 12) -> SearchStrategy[dict[str, Any]]:
    """Draw parameters of stories with at least `people` people and at most the given distance."""
    return some.fixed_dictionaries(
        {
            "people": some.integers(people, 12),
            "places": some.integers(3, 14),
            "distance": some.integers(0, distance),
            "faithful": some.booleans(),
        }
    )


def assert_shares(found: Counter[str], expected: dict[str, float], *, within: float) -> None:
    """Fail if a share deviates by more than `within` plus the sampling error."""
    total = found.total()
    assert set(found) <= set(expected), found
    for name, share in expected.items():
        allowed = within + DISTINCT * math.sqrt(share * (1 - share) / total)
        assert abs(found[name] / total - share) <= allowed, (name, found[name] / total, share)
