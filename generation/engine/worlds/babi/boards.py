"""The columns of boards, when a task is passed, and ready-made breakdowns."""

from fractions import Fraction

from generation.engine.items import ChartView, Column
from generation.engine.worlds.babi.spec import BabiSpec
from generation.engine.worlds.boards import BoardView, Tasks

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
