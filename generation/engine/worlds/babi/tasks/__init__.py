"""The twenty tasks, by number and by name."""

from collections.abc import Mapping

from generation.engine.worlds.babi.task_interface import Task
from generation.engine.worlds.babi.tasks import (
    animals,
    directions,
    knowledge,
    motives,
    one_fact,
    possession,
    pronouns,
    shapes,
    sizes,
    supporting_facts,
    times,
)

TOPICS = (
    one_fact,
    supporting_facts,
    directions,
    possession,
    knowledge,
    pronouns,
    times,
    animals,
    shapes,
    sizes,
    motives,
)
BY_NUMBER: Mapping[int, Task] = {
    task.number: task
    for task in sorted((task for topic in TOPICS for task in topic.TASKS), key=lambda task: task.number)
}
BY_NAME: Mapping[str, Task] = {task.name: task for task in BY_NUMBER.values()}
