"""What background processes are told: something is to be scored. What, is rows; see `webapp.leaderboards.scoring`."""

from celery import shared_task

from webapp.leaderboards import scoring


@shared_task(name="webapp.leaderboards.tasks.score")
def score() -> None:
    scoring.work()
