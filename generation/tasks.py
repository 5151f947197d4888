"""Hints to background processes that there may be work. The work itself is rows; see `generation.queue`."""

from celery import shared_task

from generation import ablation_jobs, blind_jobs, export_jobs, heartbeat, jobs

SLICE = 10.0  # seconds before another task may have its turn


@shared_task(name="generation.tasks.work")
def work() -> None:
    """Claim and run jobs until none is left, or the turn is over."""
    jobs.work(seconds=SLICE)


@shared_task(name="generation.tasks.sweep")
def sweep() -> None:
    """Free what dead processes held; wake background processes while there is work."""
    heartbeat.sweep()


@shared_task(name="generation.tasks.report")
def report() -> None:
    """Make the reports on shortcuts that wait."""
    blind_jobs.RUNNER.work()


@shared_task(name="generation.tasks.export")
def export() -> None:
    """Build an export that waits."""
    export_jobs.work()


@shared_task(name="generation.tasks.ablate")
def ablate() -> None:
    """Find what programs give with a step left out, for splits that wait."""
    ablation_jobs.RUNNER.work()
