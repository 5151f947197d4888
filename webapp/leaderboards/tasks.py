"""Celery tasks: hints that submissions wait to be scored, or trainings to be run."""

from celery import shared_task

from webapp.leaderboards import scoring
from webapp.leaderboards.training import training_jobs


@shared_task(name="webapp.leaderboards.tasks.score")
def score() -> None:
    scoring.RUNNER.take_turn()


@shared_task(name="webapp.leaderboards.tasks.train")
def train() -> None:
    training_jobs.RUNNER.take_turn()
