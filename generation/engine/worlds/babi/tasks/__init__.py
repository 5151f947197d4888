"""The twenty tasks, by number and by name."""

from collections.abc import Mapping

from generation.engine.worlds.babi.tasks import animals, motives, one_fact, places, shapes, sizes
from generation.engine.worlds.babi.telling import Task

LISTED: tuple[Task, ...] = (
    *one_fact.TASKS,
    *places.TASKS,
    *animals.TASKS,
    *shapes.TASKS,
    *sizes.TASKS,
    *motives.TASKS,
)
BY_NUMBER: Mapping[int, Task] = {task.number: task for task in LISTED}
BY_NAME: Mapping[str, Task] = {task.name: task for task in BY_NUMBER.values()}
