"""Celery tasks. They are hints that there may be work; the jobs are rows, see `generation.queue.runner`."""

from celery import shared_task

from generation.exchange import export_jobs
from generation.making import dataset_jobs
from generation.queue import workers
from generation.reports import chart_prerendering, report_jobs


@shared_task(name="generation.tasks.work")
def work() -> None:
    dataset_jobs.RUNNER.take_turn()


@shared_task(name="generation.tasks.sweep")
def sweep() -> None:
    workers.sweep()


@shared_task(name="generation.tasks.report")
def report() -> None:
    report_jobs.SHORTCUTS.take_turn()


@shared_task(name="generation.tasks.ablate")
def ablate() -> None:
    report_jobs.SKIPPED_STEPS.take_turn()


@shared_task(name="generation.tasks.export")
def export() -> None:
    export_jobs.RUNNER.take_turn()


@shared_task(name=chart_prerendering.TASK)
def draw(split: int) -> None:
    chart_prerendering.draw_charts_of(split)
