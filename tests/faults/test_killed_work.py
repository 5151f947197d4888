"""kill -9 at each stage of a training, a finding and an export: the same command or the site goes on.

The outcome is that of an undisturbed run, nothing half-made stays, and no job stays running.
"""

from typing import Any

import pytest

from tests.faults.killed_work import EVERY
from tests.faults.stack import CLEVR, SLUG, Site

CHECK = """
from tests.faults.killed_work import EVERY, KINDS
from webapp.models import User
User.objects.filter(username="chief").exists() or User.objects.create_superuser("chief", password="x")
KINDS[given["kind"]]().check([EVERY[given["kind"]][number] for number in given["stages"]])
"""
SPLITS: dict[str, Any] = {"train": {"scenes": 20}, "val": {"scenes": 6}, "test": {"scenes": 4}}
A_FEW = {"training": [14], "command": [2]}  # numbers of stages


def check(site: Site, stages: dict[str, list[int]]) -> None:
    site.begin({**CLEVR, "splits": SPLITS}, images=False)
    assert site.manage("work", "--dataset", SLUG).returncode == 0
    for kind, numbers in stages.items():
        site.python(CHECK, {"kind": kind, "stages": numbers}, seconds=300 + 100 * len(numbers))


def test_work_that_is_killed_at_a_stage_goes_on_with_the_same_outcome(embedded_site: Site) -> None:
    check(embedded_site, A_FEW)


@pytest.mark.full
@pytest.mark.parametrize("kind", EVERY)
def test_work_that_is_killed_at_each_stage_goes_on_with_the_same_outcome(embedded_site: Site, kind: str) -> None:
    check(embedded_site, {kind: list(range(len(EVERY[kind])))})
