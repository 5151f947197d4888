"""Which stories a split has: so many of each task that all tasks have as many questions.

Questions come in rounds: a block of `BLOCK` questions of each task after the other, then the next. So a part of a
split that is taken from its beginning has about as many questions of each task, too.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from generation.engine.items import Chunk
from generation.engine.worlds.babi.telling import Task

BLOCK = 160  # questions; what the lengths of each task's stories add up to divides it
ROUNDS = 20  # blocks of a chunk, about


class Block(NamedTuple):
    """Stories of one task: the task, the block's number among the task's, how many questions each story has."""

    task: Task
    number: int
    lengths: tuple[int, ...]


def lengths_of(task: Task, questions: int) -> tuple[int, ...]:
    """Return how many questions each story of a block has; the last may have fewer than stories of its task do."""
    found: list[int] = []
    while questions > 0:
        found.append(min(task.lengths[len(found) % len(task.lengths)], questions))
        questions -= found[-1]
    return tuple(found)


def stories_of(task: Task, questions: int) -> int:
    """Return how many stories a number of a task's questions needs."""
    whole, rest = divmod(questions, BLOCK)
    return whole * len(lengths_of(task, BLOCK)) + len(lengths_of(task, rest))


def stories(tasks: Sequence[Task], questions: int) -> int:
    """Return how many stories a number of questions of each task needs."""
    return sum(stories_of(task, questions) for task in tasks)


@cache
def shares(tasks: tuple[Task, ...], count: int) -> list[int]:
    """Return how many questions of each task a number of stories has: as many each, the first ones one more."""
    low, high = 0, count * max(max(task.lengths) for task in tasks) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if stories(tasks, middle) <= count else (low, middle)
    left, found = count - stories(tasks, low), []
    for task in tasks:
        needs = stories_of(task, low + 1) - stories_of(task, low)
        found.append(low + (1 if 0 < needs <= left else 0))
        left -= needs if found[-1] > low else 0
    return found


def round_of(tasks: Sequence[Task], wanted: Sequence[int], number: int) -> Iterator[Block]:
    """Yield the blocks of a round, of tasks that have so many questions."""
    for task, questions in zip(tasks, wanted, strict=True):
        left = min(BLOCK, questions - number * BLOCK)
        if left > 0:
            yield Block(task, number, lengths_of(task, left))


def rounds_of_a_chunk(tasks: Sequence[Task]) -> int:
    """Return how many rounds are made together."""
    return max(1, ROUNDS // len(tasks))


def blocks_of(tasks: tuple[Task, ...], count: int, chunk: int) -> list[Block]:
    """Return the blocks of a chunk of a split with a number of stories, in order."""
    wanted, each = shares(tasks, count), rounds_of_a_chunk(tasks)
    numbers = range(chunk * each, (chunk + 1) * each)
    return [block for number in numbers for block in round_of(tasks, wanted, number)]


def plan(tasks: tuple[Task, ...], count: int) -> list[Chunk]:
    """Return the chunks of a split with a number of stories."""
    chunks: list[Chunk] = []
    items = questions = 0
    while items < count:
        blocks = blocks_of(tasks, count, len(chunks))
        stories, asked = sum(len(block.lengths) for block in blocks), sum(sum(block.lengths) for block in blocks)
        chunks.append(Chunk(len(chunks), items, stories, questions, asked))
        items, questions = items + stories, questions + asked
    return chunks
