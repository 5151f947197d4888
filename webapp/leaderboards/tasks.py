"""The Celery task that scores waiting submissions; see `webapp.leaderboards.scoring`."""

from celery import shared_task

from webapp.leaderboards import scoring


@shared_task(name="webapp.leaderboards.tasks.score")
def score() -> None:
    scoring.RUNNER.take_turn()
