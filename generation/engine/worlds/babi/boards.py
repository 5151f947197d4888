"""The columns of boards, and ready-made breakdowns."""

from generation.engine.worlds import ChartView, Column
from generation.engine.worlds.babi.spec import BabiSpec
from generation.engine.worlds.boards import BoardView

VIEWS = (
    ChartView("tasks", "Tasks", "type", "task"),
    ChartView("answers", "Answers", "answer", "answer"),
)
BOARD_VIEWS = (BoardView("tasks", "By task", "type", "task"),)


def columns(spec: BabiSpec) -> tuple[Column, ...]:
    """Return a column for each task."""
    return tuple(Column(f"{task.number}", "type", task.name) for task in spec.tellers)
