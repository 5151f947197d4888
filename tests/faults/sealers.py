"""Two processes that seal the same split at the same time. `Site.python` runs them inside a site.

The first process ("late") claims the job and stops at a place in the code, until its lease ends. Then the second
process ("heir") claims the job and stops at a place, too. Then both continue at the same time.
"""

import os
import signal
from typing import Any

from generation.making import dataset_jobs
from generation.models import Dataset, Job, Split, from_now
from generation.splits import sealing
from generation.storage import files
from generation.storage.split_index import FOLDER
from tests.faults.forks import end_of, start, wait_until_stopped

PLACES = {
    "before its draft": (sealing.Draft, "__enter__", True),
    "in its draft": (sealing.Draft, "__enter__", False),
    "before publishing": (sealing.Draft, "publish", True),
    "after publishing": (sealing.Draft, "publish", False),
}


def race(*, slug: str, split: str, late: str, heir: str) -> dict[str, Any]:
    """Run one race and return how the processes, the job and the split ended."""
    row = Split.objects.get(dataset__slug=slug, name=split)
    seal = Job.objects.get(split=row, kind=Job.Kind.SEAL)
    _unseal(row, seal)
    first = start(lambda: _seal(seal, stop=late))
    wait_until_stopped(first)
    Job.objects.filter(pk=seal.pk).update(lease=from_now(-1))
    assert dataset_jobs.RUNNER.recover() == 1
    second = start(lambda: _seal(seal, stop=heir))
    wait_until_stopped(second)
    for process in (first, second):
        os.kill(process, signal.SIGCONT)
    ends = [end_of(process) for process in (first, second)]
    seal.refresh_from_db()
    row.refresh_from_db()
    return {"ends": ends, "job": (seal.state, seal.attempts, seal.message), "split": row.state}


def _unseal(split: Split, seal: Job) -> None:
    """Undo the seal of a complete split, so that its seal job waits again."""

    def drop() -> None:
        files.drop_folder(f"{FOLDER}/{split.index_digest}")

    assert end_of(start(drop)) == 0
    Dataset.objects.filter(pk=split.dataset_id).update(state=Dataset.State.MAKING, fingerprint="", completed=None)
    Split.objects.filter(pk=split.pk).update(state=Split.State.MAKING, fingerprint="", index_digest="")
    Job.objects.filter(pk=seal.pk).update(
        state=Job.State.WAITING, attempts=0, crashes=0, not_before=None, message="", finished=None
    )


def _seal(seal: Job, *, stop: str) -> None:
    owner, name, before = PLACES[stop]
    original = getattr(owner, name)

    def stop_before_or_after(*arguments: Any) -> Any:
        if before:
            os.kill(os.getpid(), signal.SIGSTOP)
        result = original(*arguments)
        if not before:
            os.kill(os.getpid(), signal.SIGSTOP)
        return result

    setattr(owner, name, stop_before_or_after)
    job = dataset_jobs.claim()
    assert job is not None and job.pk == seal.pk
    dataset_jobs.RUNNER.run(job)
