"""Deletes what the site no longer needs: used links, old sessions, unused files, delivered messages.

One process does this for the site once an hour, and one on each machine for the folders of the machine.
"""

import sqlite3
from contextlib import closing

from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

from generation.charts import drawing
from generation.making import ingestion
from generation.models import Upload
from generation.queue import chores, outages
from generation.storage import disk_cache, files
from webapp.api.files import questions_file
from webapp.leaderboards import deletion
from webapp.leaderboards.training import results, training_jobs
from webapp.models import LoginLink


def tidy_up() -> None:
    tidy_site()
    tidy_machine()


def tidy_site() -> None:
    """Delete used links and old sessions, and abandoned files in the storage."""
    LoginLink.objects.spent().delete()
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    Upload.objects.outdated().delete()
    files.drop_abandoned()
    ingestion.drop_forgotten_uploads()
    deletion.drop_files_without_row()
    results.drop_models_without_row()


def tidy_machine() -> None:
    """Delete abandoned files of this machine, old entries of its caches, and delivered messages."""
    files.drop_abandoned_here()
    training_jobs.drop_unused()
    questions_file.drop_unused()
    disk_cache.make_room()
    drawing.make_room(most=drawing.MOST_BYTES)
    if not settings.REDIS_URL:
        drop_delivered_messages()


SITE = chores.register(chores.Chore(name="housekeeping of the site", act=tidy_site))
MACHINE = chores.register(chores.Chore(name="housekeeping", act=tidy_machine, on_each_machine=True))


def prepare_broker() -> None:
    """Create the embedded broker's file in WAL mode, in which a process can read while another process writes.

    If the file cannot be written, this is logged: work is found without messages.
    """
    if settings.REDIS_URL:
        return
    settings.BROKER_FILE.parent.mkdir(parents=True, exist_ok=True)
    try:
        with closing(sqlite3.connect(settings.BROKER_FILE, timeout=20)) as broker:
            broker.execute("PRAGMA journal_mode=WAL")
    except sqlite3.Error as error:
        outages.note_broker(error)


def drop_delivered_messages() -> int:
    """Delete delivered messages, which the embedded broker only marks as delivered, and return their number."""
    if not settings.BROKER_FILE.exists():
        return 0
    try:
        with closing(sqlite3.connect(settings.BROKER_FILE, timeout=20)) as broker, broker:
            tables = {name for (name,) in broker.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if "kombu_message" not in tables:
                return 0
            return broker.execute("DELETE FROM kombu_message WHERE visible = 0").rowcount
    except sqlite3.Error as error:
        outages.note_broker(error)
        return 0
