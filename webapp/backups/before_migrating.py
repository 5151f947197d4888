"""Migrates the database to this release after it has written the rows, in a form that the old release restores.

An archive from before a migration has format 1, which every release reads, and only rows: a migration changes no file,
so the files stay where they are, and the old release restores the archive with `--keep-files`.
"""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, connections

from generation import __version__
from generation.management.console import BAD_INPUT, FAILED
from webapp.backups import schema
from webapp.backups.released_migrations import release_needed_first, releases_before
from webapp.backups.writing import RowsAlone, write_backup

STEM = "before-migrating-"
KEPT = 3
LOCK = 0x686F727365  # "horse": the number of the PostgreSQL advisory lock that a process holds while it migrates

Say = Callable[[str], object]


def upgrade(*, say: Say, skip_releases: bool = False) -> None:
    """Migrate the database to this release; write a backup first if it contains data.

    Processes on several machines may call this at the same time: one of them migrates, and the others wait. Unless
    `skip_releases` is set, a database that is more than one release older is refused, because processes of its release
    may still run.
    """
    with _alone():
        if not skip_releases:
            check_release_before()
        try:
            archive = back_up_before_migrating(say=say)
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise CommandError(
                f"Expected to write a backup before the database is changed, got: {reason}. Nothing was changed.",
                returncode=FAILED,
            ) from error
        call_command("migrate", interactive=False, verbosity=0)
    if archive is not None:
        say(
            f"To go back, let the old release restore {archive} with --keep-files into a new database. What the site "
            "takes in from now on, such as answers and submissions, is not in it. See /docs/backups/#go-back."
        )


def check_release_before() -> None:
    """Raise `CommandError` if the database has data, and is of a release that is not the last one before this one."""
    needed = release_needed_first(schema.migrations_of(DEFAULT_DB_ALIAS), version=__version__)
    if needed and schema.rows_in_the_way(DEFAULT_DB_ALIAS):
        raise CommandError(
            f"Expected a database of release {releases_before(__version__)[-1]}, the last one before {__version__}, "
            f"got an older one. Install release {needed} first and run its `manage.py upgrade`. Or stop all processes "
            "of the site, and run `manage.py upgrade --skip-releases` of this release. Nothing was changed. See "
            "/docs/operating/#migrations-expand-then-contract.",
            returncode=BAD_INPUT,
        )


def back_up_before_migrating(*, say: Say) -> Path | None:
    """Write an archive of all rows if migrations are pending and there is data; return its path, otherwise None."""
    if not schema.is_outdated(schema.migrations_of(DEFAULT_DB_ALIAS)) or not schema.rows_in_the_way(DEFAULT_DB_ALIAS):
        return None
    folder: Path = settings.VAR_DIR / "backups"
    say(f"The database waits for an update. Writing a backup into {folder} first.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{STEM}{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.tar"
    write_backup(path, files=RowsAlone(), pictures=False)
    drop_old(folder)
    return path


def drop_old(folder: Path) -> None:
    for old in sorted(folder.glob(f"{STEM}*.tar"))[:-KEPT]:
        old.unlink(missing_ok=True)


@contextmanager
def _alone() -> Iterator[None]:
    """Hold a lock that only one of all processes with this database can hold; it is released if the process dies."""
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
