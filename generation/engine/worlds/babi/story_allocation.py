"""The stories of a split: each task gets a number of stories such that all tasks have equally many questions.

Questions come in rounds: a block of `BLOCK` questions of each task, then the next round. So the beginning of a split
also has about equally many questions of each task.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from generation.engine.items import Chunk
from generation.engine.worlds.babi.task_interface import Task

BLOCK = 160  # questions; a multiple of the sum of each task's `lengths`
ROUNDS = 20  # blocks in a chunk, approximately


class Block(NamedTuple):
    """Stories of one task: the task, the block's number within the task, and each story's number of questions."""

    task: Task
    number: int
    lengths: tuple[int, ...]


def lengths_of(task: Task, questions: int) -> tuple[int, ...]:
    """Return each story's number of questions in a block; the last story may have fewer questions than usual."""
    found: list[int] = []
    while questions > 0:
        found.append(min(task.lengths[len(found) % len(task.lengths)], questions))
        questions -= found[-1]
    return tuple(found)


def stories_of(task: Task, questions: int) -> int:
    """Return the number of stories that this number of a task's questions needs."""
    whole, rest = divmod(questions, BLOCK)
    return whole * len(lengths_of(task, BLOCK)) + len(lengths_of(task, rest))


def stories(tasks: Sequence[Task], questions: int) -> int:
    """Return the number of stories for this number of questions of each task."""
    return sum(stories_of(task, questions) for task in tasks)


@cache
def shares(tasks: tuple[Task, ...], count: int) -> list[int]:
    """Return the number of each task's questions in `count` stories: equal, or one more for the first tasks."""
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
    """Yield the blocks of a round; `wanted` has each task's number of questions."""
    for task, questions in zip(tasks, wanted, strict=True):
        left = min(BLOCK, questions - number * BLOCK)
        if left > 0:
            yield Block(task, number, lengths_of(task, left))


def rounds_of_a_chunk(tasks: Sequence[Task]) -> int:
    """Return the number of rounds in a chunk."""
    return max(1, ROUNDS // len(tasks))


def blocks_of(tasks: tuple[Task, ...], count: int, chunk: int) -> list[Block]:
    """Return the blocks of one chunk, in order, of a split with `count` stories."""
    wanted, each = shares(tasks, count), rounds_of_a_chunk(tasks)
    numbers = range(chunk * each, (chunk + 1) * each)
    return [block for number in numbers for block in round_of(tasks, wanted, number)]


def plan(tasks: tuple[Task, ...], count: int) -> list[Chunk]:
    """Return the chunks of a split with `count` stories."""
    chunks: list[Chunk] = []
    items = questions = 0
    while items < count:
        blocks = blocks_of(tasks, count, len(chunks))
        stories, asked = sum(len(block.lengths) for block in blocks), sum(sum(block.lengths) for block in blocks)
        chunks.append(Chunk(len(chunks), items, stories, questions, asked))
        items, questions = items + stories, questions + asked
    return chunks
