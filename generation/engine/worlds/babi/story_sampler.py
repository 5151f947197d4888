"""Generation of stories: tasks make them, the hash of their text decides their split, and programs give answers."""

import hashlib
from collections.abc import Iterator

from generation.engine.errors import Exhausted, IllPosed
from generation.engine.items import Answer, AnswerKind, Item, Question
from generation.engine.program import FunctionTable, outputs
from generation.engine.seeding import Stage, Stream, stream
from generation.engine.worlds.babi import story_allocation
from generation.engine.worlds.babi.functions import ANSWERS, function_table, text_of
from generation.engine.worlds.babi.languages import StoryLanguage, localised_answer
from generation.engine.worlds.babi.spec import BabiSpec
from generation.engine.worlds.babi.step_results import Prefix
from generation.engine.worlds.babi.story import Story
from generation.engine.worlds.babi.story_parameters import Range, StoryParameters
from generation.engine.worlds.babi.task_interface import Ask, Task

TRIES = 100_000  # stories that are made before one belongs to the split
HASHED = 8  # bytes of a hash that give a story's place between 0 and 1


def place_of(story: Story) -> float:
    """Return a story's place between 0 and 1, from the hash of its text."""
    digest = hashlib.sha256(story.text.encode()).digest()
    return int.from_bytes(digest[:HASHED], "big") / 2 ** (8 * HASHED)


class StorySampler:
    """Makes the items of a split.

    Parameters
    ----------
    spec : BabiSpec
        The spec of the split.
    split : str
    secret : bytes
    """

    def __init__(self, spec: BabiSpec, split: str, *, secret: bytes) -> None:
        self.spec, self.split, self.secret = spec, split, secret
        self.parameters: StoryParameters = spec.told
        self.part: Range = spec.part_of(split)
        self.table: FunctionTable = function_table()
        self.language: StoryLanguage = spec.language

    def items(self, chunk: int) -> Iterator[Item]:
        """Yield the items of a chunk; raise `Exhausted` if a task makes no story that belongs to the split."""
        for block in story_allocation.blocks_of(self.spec.tellers, self.spec.splits[self.split].scenes, chunk):
            chance = stream(
                seed=self.spec.seed,
                split=self.split,
                index=block.number,
                stage=Stage.SCENE,
                attempt=block.task.number,
                secret=self.secret,
            )
            for questions in block.lengths:
                yield self._item(block.task, chance, questions)

    def _item(self, task: Task, chance: Stream, questions: int) -> Item:
        for replaced in range(TRIES):
            told = task.tell(self.parameters, chance, questions=questions)
            if told is None:
                continue
            story = Story(task.number, told.lines)
            placed = story if self.language.is_placed_by_english else self.language.story(story)
            if self.part.low <= place_of(placed) < self.part.high:
                whole = Prefix(story.lines, None)
                asked = tuple([self._question(task, whole.upto(ask.scope), ask) for ask in told.asks])
                return Item(self.language.story(story), None, asked, replaced)
        raise Exhausted(
            f"Expected a story of task {task.number} among {TRIES:,} that belongs to the split, got none: give the "
            "split a larger part of `stories`, or change the settings of `told`.",
            where=f"{self.split}, task {task.number}",
            count=TRIES,
        )

    def _question(self, task: Task, context: Prefix, ask: Ask) -> Question:
        try:
            found = outputs(ask.program, context, table=self.table)[-1]
        except IllPosed as error:
            raise AssertionError(f"task {task.number} asks what has no answer: {ask.text}") from error
        kind = ANSWERS[self.table.functions[ask.program[-1].function].output]
        return Question(
            self.language.text(ask.text),
            ask.program,
            self._answer(kind, found.value),
            task.name,
            family=task.number,
            scope=ask.scope,
        )

    def _answer(self, kind: AnswerKind, value: object) -> Answer:
        """Return an answer; the published spelling of a set has its members in the order in which they were found."""
        text = localised_answer(self.language, kind, text_of(kind, value))
        if kind != AnswerKind.SET or not isinstance(value, tuple) or len(value) < 2:
            return Answer(text, kind)
        spelling = ",".join(self.language.answer(word) for word in value)
        return Answer(text, kind, spelling if spelling != text else None)
