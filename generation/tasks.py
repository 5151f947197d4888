"""Celery tasks: hints that there may be work. They wake the processes of `generation.queue.job_processes`, which do it.

Each kind of job has a task of its own, because processes of an earlier release send these names.
"""

from celery import shared_task

from generation.exchange import export_jobs
from generation.making import dataset_jobs
from generation.queue import wakeups
from generation.reports import chart_prerendering, report_jobs


@shared_task(name="generation.tasks.work")
def work() -> None:
    wakeups.ring(dataset_jobs.RUNNER.queue)


@shared_task(name="generation.tasks.sweep")
def sweep() -> None:
    wakeups.ring()


@shared_task(name="generation.tasks.report")
def report() -> None:
    wakeups.ring(report_jobs.SHORTCUTS.queue)


@shared_task(name="generation.tasks.ablate")
def ablate() -> None:
    wakeups.ring(report_jobs.SKIPPED_STEPS.queue)


@shared_task(name="generation.tasks.export")
def export() -> None:
    wakeups.ring(export_jobs.RUNNER.queue)


@shared_task(name=chart_prerendering.TASK)
def draw(split: int) -> None:
    chart_prerendering.draw_charts_of(split)
