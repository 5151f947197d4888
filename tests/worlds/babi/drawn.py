"""Stories as tasks tell them, before a hash says which split they belong to, with what programs answer."""

from collections.abc import Iterator
from itertools import cycle
from typing import Any, NamedTuple

from generation.engine.program import execute
from generation.engine.seeding import Stage, Stream, stream
from generation.engine.worlds.babi.functions import function_table
from generation.engine.worlds.babi.knobs import Knobs
from generation.engine.worlds.babi.story import Event, Line, Story
from generation.engine.worlds.babi.tasks import BY_NUMBER
from generation.engine.worlds.babi.telling import Told


class Asked(NamedTuple):
    """A question: the lines it sees, its words, its answer and supporting facts."""

    lines: tuple[Line, ...]
    text: str
    answer: str
    supports: tuple[int, ...]

    @property
    def events(self) -> list[Event]:
        """What the lines tell, one event each."""
        return [line.events[0] for line in self.lines]


def chance(index: int = 0) -> Stream:
    """Return a stream of chance."""
    return stream(seed=7, split="train", index=index, stage=Stage.SCENE)


def told(task: int, stories: int, *, index: int = 0, **knobs: Any) -> Iterator[Told]:
    """Yield so many stories of a task."""
    random, lengths = chance(index), cycle(BY_NUMBER[task].lengths)
    while stories:
        found = BY_NUMBER[task].tell(Knobs(**knobs), random, questions=next(lengths))
        if found is not None:
            stories -= 1
            yield found


def asked(task: int, questions: int, *, index: int = 0, **knobs: Any) -> Iterator[list[Asked]]:
    """Yield the questions of stories, by story, until there are so many."""
    table = function_table()
    for story in told(task, questions, index=index, **knobs):
        found = []
        for ask in story.asks:
            last = execute(ask.program, Story(task, story.lines), table=table, scope=ask.scope)[-1]
            found.append(Asked(story.lines[: ask.scope], ask.text, last.value, last.elements))
        yield found
        questions -= len(found)
        if questions <= 0:
            return
