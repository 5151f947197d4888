"""Deletes a dataset with processes that are killed half-way. `Site.python` runs it inside a site."""

import random
from collections.abc import Callable
from typing import Any

from django.db.models import Model, QuerySet

from generation.making import dataset_jobs
from generation.models import Dataset
from generation.splits import sealing
from generation.storage import files
from tests.faults.forks import die, end_of, start

STEPS = 500  # approximate number of steps to delete 120 scenes
KILLS = 2  # processes that are killed in each deletion
STATES = ("complete", "half made", "killed while it was sealed")


def make_and_delete(spec: dict[str, Any], *, slug: str, state: str, seed: int) -> list[int]:
    """Make a dataset and delete it; return the exit status of each process that worked on the deletion.

    All processes but the last one may be killed half-way.
    """
    chance = random.Random(seed)
    dataset = dataset_jobs.start(spec, slug=slug, secrets={"test": "0f" * 16})
    assert end_of(start(lambda: _make(dataset, state, jobs_done=chance.randrange(1, 25)))) in (0, -9)
    dataset_jobs.delete(dataset)
    ends = []
    for _ in range(KILLS):
        at = chance.randrange(1, STEPS)
        ends.append(end_of(start(lambda at=at: _delete(die_at=at))))
        dataset_jobs.RUNNER.recover()
    return [*ends, end_of(start(dataset_jobs.work))]


def _make(dataset: Dataset, state: str, *, jobs_done: int) -> None:
    left = iter(range(jobs_done))
    if state == "killed while it was sealed":
        _wrap(sealing.Draft, "publish", after=die)
    half = state == "half made"
    dataset_jobs.work(dataset=dataset, keep_going=lambda: not half or next(left, None) is not None)


def _delete(*, die_at: int) -> None:
    """Run the deletion, and kill this process before or after one of its steps: the one with the number `die_at`."""
    steps = iter(range(1, die_at))

    def step() -> None:
        if next(steps, None) is None:
            die()

    for owner, name in ((files, "drop"), (files, "drop_folder"), (QuerySet, "delete"), (Model, "delete")):
        _wrap(owner, name, before=step, after=step)
    dataset_jobs.work()


def _wrap(
    owner: Any, name: str, *, before: Callable[[], None] = lambda: None, after: Callable[[], None] = lambda: None
) -> None:
    original = getattr(owner, name)

    def wrapped(*arguments: Any, **options: Any) -> Any:
        before()
        result = original(*arguments, **options)
        after()
        return result

    setattr(owner, name, wrapped)
