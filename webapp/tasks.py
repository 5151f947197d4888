"""The site's periodic task."""

from celery import shared_task

from webapp.running.housekeeping import tidy_up


@shared_task(name="webapp.tasks.tidy")
def tidy() -> None:
    tidy_up()
