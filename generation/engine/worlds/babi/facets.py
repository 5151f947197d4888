"""Facets of bAbI's questions, and the charts and boards that use them."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from generation.engine.errors import EngineError
from generation.engine.items import ChartView, Column, Facet, FacetKind, Item, Needs, Question
from generation.engine.program import outputs
from generation.engine.worlds import SEEN, UNSEEN
from generation.engine.worlds.babi import prompts
from generation.engine.worlds.babi.functions import function_table
from generation.engine.worlds.babi.spec import BabiSpec
from generation.engine.worlds.babi.step_results import Prefix
from generation.engine.worlds.babi.story import Story
from generation.engine.worlds.babi.task_interface import CountableTask
from generation.engine.worlds.babi.tasks import BY_NAME
from generation.engine.worlds.base import Repeatable
from generation.engine.worlds.breakdowns import BoardView, Tasks

LENGTHS: Mapping[str, int] = {"lines": 6, "supports": 2}
MOST_SUPPORTS, MOST_LINES = 60, 1_000  # larger numbers have no value
SPANS = (0, 5, 10, 15, 20, 30, 40, 60, 80, 120, 160, 240, 400)
TRAIN: Mapping[str, str] = {
    "seen_story": "story seen in train",
    "seen_question": "question about the same lines seen in train",
}
REPEATS = (
    Repeatable("seen_story", "stories", is_of_item=True),
    Repeatable("seen_question", "questions about the same lines", is_of_item=False),
)
Supports = tuple[int, ...]


def facets(spec: BabiSpec) -> tuple[Facet, ...]:
    """Return every facet in the order of the pages."""
    labels = tuple(f"{task.number}: {task.label}" for task in BY_NAME.values())
    category = FacetKind.CATEGORY
    return (
        Facet("type", "task", category, tuple(BY_NAME), reveals=False, labels=labels),
        Facet("answer", "answer", category, prompts.answers(spec), reveals=True),
        Facet("supports", "supporting facts", FacetKind.INTEGER, _numbers(MOST_SUPPORTS), reveals=True),
        _lines("lines", "lines before the question", reveals=False),
        _lines("distance", "lines since the first supporting fact", reveals=True),
        _lines("nearest", "lines since the last supporting fact", reveals=True),
        *(
            Facet(name, label, category, (SEEN, UNSEEN), False, Needs.TRAIN, labels=("seen", "new"))
            for name, label in TRAIN.items()
        ),
    )


def _lines(name: str, label: str, *, reveals: bool) -> Facet:
    return Facet(name, label, FacetKind.INTEGER, _numbers(MOST_LINES), reveals=reveals, bins=SPANS)


def _numbers(most: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(most + 1))


def facet_codes(spec: BabiSpec, item: Item) -> Mapping[str, Sequence[int]]:
    """Return, for each facet that needs only the item, a code for each question; -1 if the value is unknown."""
    tasks, answers = _codes(tuple(BY_NAME)), _codes(prompts.answers(spec))
    told = [_spans(item, number) for number in range(len(item.questions))]
    return {
        "type": [tasks.get(question.kind, -1) for question in item.questions],
        "answer": [answers.get(question.answer.text, -1) if question.answer else -1 for question in item.questions],
        **{name: [row[name] for row in told] for name in ("supports", "lines", "distance", "nearest")},
    }


@lru_cache(maxsize=64)
def _codes(values: tuple[str, ...]) -> Mapping[str, int]:
    return {value: code for code, value in enumerate(values)}


def _spans(item: Item, number: int) -> dict[str, int]:
    """Return the codes of the facets about the number of lines and the supporting facts."""
    story, question = item.scene, item.questions[number]
    lines = question.scope
    if lines is None and isinstance(story, Story):
        lines = len(story.lines)
    found = {"supports": -1, "lines": _code(lines, MOST_LINES), "distance": -1, "nearest": -1}
    supports = supports_of(story, question, number) if isinstance(story, Story) else None
    if supports is not None and lines is not None:
        found["supports"] = _code(len(supports), MOST_SUPPORTS)
        if supports:
            found["distance"] = _code(lines - 1 - min(supports), MOST_LINES)
            found["nearest"] = _code(lines - 1 - max(supports), MOST_LINES)
    return found


def _code(number: int | None, most: int) -> int:
    return number if number is not None and 0 <= number <= most else -1


def supports_of(story: Story, question: Question, number: int) -> Supports | None:
    """Return a question's supporting lines from its program, or else as published; None if they are unknown.

    `number` is the question's position among the questions of its story.
    """
    if question.program is not None:
        try:
            found: Supports = outputs(question.program, Prefix(story.lines, question.scope), table=function_table())[
                -1
            ].lines
        except EngineError:
            return None
        return found
    if story.supports is None or number >= len(story.supports):
        return None
    return story.supports[number]


def supports_in(item: Item, number: int) -> Supports | None:
    """Return the supporting lines of an item's question, or None if they are unknown.

    Published facts are stored for all questions of a story. If some questions were left out, the match is unknown.
    """
    story = item.scene
    if not isinstance(story, Story) or (story.supports is not None and len(story.supports) != len(item.questions)):
        return None
    return supports_of(story, item.questions[number], number)


def train_keys(item: Item, question: Question) -> Mapping[str, Sequence[str]]:
    """Return the keys that the train split must have: the whole story, and the visible lines with the question."""
    if not isinstance(item.scene, Story):
        return dict.fromkeys(TRAIN, ())
    seen = "\n".join([line.text for line in item.scene.lines[: question.scope]])
    return {"seen_story": (item.scene.text,), "seen_question": (f"{seen}\n{question.text}",)}


def spaces(spec: BabiSpec) -> Mapping[str, Mapping[str, int]]:
    """Return how many stories a task has, and how many with a question, for tasks where these can be counted."""
    found: dict[str, Mapping[str, int]] = {}
    for task in spec.tellers:
        space = task.space(spec.told) if isinstance(task, CountableTask) else None
        if space is not None:
            found[task.name] = {"seen_story": space.stories, "seen_question": space.questions}
    return found


VIEWS = (
    ChartView("tasks", "Tasks", "type", "task"),
    ChartView("answers", "Answers", "answer", "answer"),
    ChartView("supports", "Supporting facts", "supports", "supporting facts"),
    ChartView("lines", "How long stories are", "lines", "lines before the question"),
    ChartView("distance", "How far back readers must remember", "distance", "lines since the first supporting fact"),
)
BOARD_VIEWS = (
    BoardView("tasks", "By task", "type", "task"),
    BoardView("supports", "By supporting facts", "supports", "supporting facts"),
    BoardView("lines", "By length of the story", "lines", "lines before the question"),
    BoardView("distance", "By distance", "distance", "lines since the first supporting fact"),
    BoardView("answers", "By answer", "answer", "answer"),
)
TASKS = Tasks("type", "task", Fraction(95, 100))


def columns(spec: BabiSpec) -> tuple[Column, ...]:
    """Return a column for each task."""
    return tuple(Column(f"{task.number}", "type", task.name, f"{task.number}: {task.label}") for task in spec.tellers)
