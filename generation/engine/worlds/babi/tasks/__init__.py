"""The twenty tasks, by number and by name."""

from collections.abc import Mapping

from generation.engine.worlds.babi.tasks import one_fact
from generation.engine.worlds.babi.telling import Task

BY_NUMBER: Mapping[int, Task] = {task.number: task for task in (*one_fact.TASKS,)}
BY_NAME: Mapping[str, Task] = {task.name: task for task in BY_NUMBER.values()}
