"""The backup that is written before a database is changed by an update."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS

from webapp.backups import schema
from webapp.backups.writing import write_backup

STEM = "before-migrating-"
KEPT = 3


def back_up_before_migrating(*, say: Callable[[str], object]) -> Path | None:
    """Return the backup that was written because migrations wait and there is something to lose; None otherwise.

    Pictures that can be drawn again stay out: migrations don't touch files.
    """
    if not schema.is_outdated(schema.seen_by(DEFAULT_DB_ALIAS)) or not schema.rows_in_the_way(DEFAULT_DB_ALIAS):
        return None
    folder: Path = settings.VAR_DIR / "backups"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{STEM}{datetime.now(UTC):%Y%m%d-%H%M%S}.tar"
    say(f"The database waits for an update. Writing a backup first: {path}")
    write_backup(path, overwrite=True, pictures=False)
    drop_old(folder)
    return path


def drop_old(folder: Path) -> None:
    """Delete all but the last few backups of this kind, and what is left of those that were not finished."""
    for left in folder.glob(f".{STEM}*.part"):
        left.unlink(missing_ok=True)
    for old in sorted(folder.glob(f"{STEM}*.tar"))[:-KEPT]:
        old.unlink(missing_ok=True)
