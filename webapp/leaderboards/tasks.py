"""Celery tasks: hints that submissions wait to be scored, or trainings to be run."""

from celery import shared_task

from generation.queue import wakeups
from webapp.leaderboards import scoring
from webapp.leaderboards.training import training_jobs


@shared_task(name="webapp.leaderboards.tasks.score")
def score() -> None:
    wakeups.ring(scoring.RUNNER.queue)


@shared_task(name="webapp.leaderboards.tasks.train")
def train() -> None:
    wakeups.ring(training_jobs.RUNNER.queue)
