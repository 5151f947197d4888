"""Every task follows the rules for worlds. The conformance tests of all worlds use only stories of the first tasks."""

from functools import cached_property

import pytest

from generation.engine.spec import BaseSpec
from generation.engine.worlds.babi.tasks import BY_NUMBER
from tests import proof
from tests.worlds import conformance
from tests.worlds.babi.items import WORLD, spec_of
from tests.worlds.conformance import Case

OF_MAKERS_AND_PRESETS = {
    "presets_are_readable",
    "references_are_other_splits",
    "specs_survive_json",
    "plan_covers_each_split_once",
    "metrics_add_up",
}
RULES = [rule for rule in conformance.rules(WORLD) if rule.__name__ not in OF_MAKERS_AND_PRESETS]


class TaskCase(Case):
    """A few stories of one task."""

    def __init__(self, task: int) -> None:
        super().__init__(WORLD)
        object.__setattr__(self, "task", task)

    @cached_property
    def spec(self) -> BaseSpec:
        return spec_of(self.task, questions=proof.size(24, name="questions of a task under all rules", least=6))  # type: ignore[attr-defined]

    @cached_property
    def specs(self) -> dict[str, BaseSpec]:
        return {"task": spec_of(self.task, questions=1_700)}  # type: ignore[attr-defined]


@pytest.mark.parametrize("task", sorted(BY_NUMBER))
def test_a_task_follows_every_rule(task: int) -> None:
    case = TaskCase(task)
    for rule in RULES:
        rule(case)
