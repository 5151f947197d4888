"""The site: settings, accounts, front pages."""

import atexit
import gc
import os

from generation import __version__
from webapp.celery import app as celery_app

__all__ = ("__version__", "celery_app")

_PROCESS = os.getpid()


@atexit.register
def _end_quickly() -> None:
    """Close the database, and do not search the objects of all modules for garbage when the process ends.

    The search took a third of a short command's processor time. It also closed databases that were left open. A forked
    process ends as before, because it must not close the connections of its parent.
    """
    from django.apps import apps
    from django.db import connections

    if os.getpid() == _PROCESS:
        if apps.ready:
            connections.close_all()
        gc.freeze()
