"""The periodic task of earlier releases. Their clock may still send it, or have sent it."""

from celery import shared_task


@shared_task(name="webapp.tasks.tidy")
def tidy() -> None:
    """Do nothing: job processes do the chores of `webapp.running.housekeeping` when they are due, without messages."""
