"""Bringing the database up to this release, after a backup of it."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, connections

from generation.management.console import FAILED
from webapp.backups import schema
from webapp.backups.folder import write_into

STEM = "before-migrating-"
KEPT = 3
LOCK = 0x686F727365  # "horse": the number of the advisory lock that PostgreSQL keeps while one process migrates

Say = Callable[[str], object]


def upgrade(*, say: Say) -> None:
    """Bring the database up to this release; one with something in it is backed up before it is changed.

    Several may call this at once, on one machine or many: one of them does it, the others wait for it.
    """
    with _alone():
        try:
            back_up_before_migrating(say=say)
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise CommandError(
                f"Expected to write a backup before the database is changed, got: {reason}. Nothing was changed.",
                returncode=FAILED,
            ) from error
        call_command("migrate", interactive=False, verbosity=0)


def back_up_before_migrating(*, say: Say) -> Path | None:
    """Return the backup that was written because migrations wait and there is something to lose; None otherwise.

    Pictures that can be drawn again stay out: migrations don't touch files.
    """
    if not schema.is_outdated(schema.seen_by(DEFAULT_DB_ALIAS)) or not schema.rows_in_the_way(DEFAULT_DB_ALIAS):
        return None
    folder: Path = settings.VAR_DIR / "backups"
    say(f"The database waits for an update. Writing a backup into {folder} first.")
    return write_into(folder, stem=STEM, keep=KEPT, pictures=False).path


@contextmanager
def _alone() -> Iterator[None]:
    """Hold a lock that one process of all that use this database can have; it is freed when the process dies."""
    if connections[DEFAULT_DB_ALIAS].vendor == "postgresql":
        connection = connections[DEFAULT_DB_ALIAS].copy()
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
            yield
        finally:
            connection.close()
        return
    settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
    with (settings.VAR_DIR / "upgrade.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
