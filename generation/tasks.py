"""Hints to background processes that there may be work. The work itself is rows; see `generation.queue`."""

from celery import shared_task

from generation.exchange import export_jobs
from generation.making import datasets
from generation.models import BlindReport, Dataset, Split
from generation.queue import workers
from generation.reports import charts_ahead, shortcut_jobs, skipped_step_jobs

SLICE = 10.0  # seconds before another task may have its turn


@shared_task(name="generation.tasks.work")
def work() -> None:
    datasets.work(seconds=SLICE)


@shared_task(name="generation.tasks.sweep")
def sweep() -> None:
    """Free what dead processes held; wake background processes while there is work."""
    workers.sweep()


@shared_task(name="generation.tasks.report")
def report() -> None:
    """Make the reports on shortcuts that wait, and draw the charts of their datasets."""
    waiting = list(BlindReport.objects.waiting().values_list("pk", flat=True))
    shortcut_jobs.RUNNER.work()
    for made in BlindReport.objects.filter(pk__in=waiting, state=BlindReport.State.DONE).select_related("dataset"):
        charts_ahead.draw(made.dataset)


@shared_task(name=charts_ahead.TASK)
def draw(split: int) -> None:
    """Draw the charts of a split that was completed."""
    kept = Split.objects.select_related("dataset").exclude(dataset__state=Dataset.State.DELETING)
    found = kept.filter(pk=split, state=Split.State.COMPLETE).first()
    if found is not None:
        charts_ahead.draw(found.dataset, wanted=found.name if found.is_derived else None)


@shared_task(name="generation.tasks.export")
def export() -> None:
    export_jobs.work()


@shared_task(name="generation.tasks.ablate")
def ablate() -> None:
    skipped_step_jobs.RUNNER.work()
