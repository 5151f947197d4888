"""Writing a backup: a consistent picture of the database and the files it speaks of, while the site runs."""

import fcntl
import glob
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import DEFAULT_DB_ALIAS, connections

from generation import __version__, redrawing
from generation.engine import ENGINE_VERSION
from generation.engine.errors import EngineError
from webapp.backups import rows, schema, stored
from webapp.backups.archive import FORMAT, SECRETS, Contents, Header, Writer
from webapp.backups.archive import HEADER as HEADER_NAME


class NotWritten(EngineError):
    """There is no backup: what was asked for can't be done."""


class Progress(NamedTuple):
    """Who is told how far it is.

    Attributes
    ----------
    expect : function of int
        How many rows there will be.
    rows : function of int
        So many more are done.
    file : function of int
        One more file is done, of so many bytes.
    """

    expect: Callable[[int], object] = lambda count: None
    rows: Callable[[int], object] = lambda count: None
    file: Callable[[int], object] = lambda size: None


SILENT = Progress()


def write_backup(
    path: Path, *, overwrite: bool = False, pictures: bool = True, progress: Progress = SILENT
) -> Contents:
    """Return what was written into a new file at this path; it appears there whole, or not at all.

    Parameters
    ----------
    path : Path
    overwrite : bool
        Whether a file that is there may be replaced.
    pictures : bool
        Whether pictures are written that this program can draw again.
    progress : Progress

    Raises
    ------
    NotWritten
        Where that can't be asked for; errors of the disk and the database come as they are.
    """
    if path.is_dir() or (path.exists() and not overwrite):
        raise NotWritten("Expected a new file, got one that exists. Name another, or say --overwrite.", where=str(path))
    with _draft(path) as file, rows.snapshot(DEFAULT_DB_ALIAS) as using:
        migrations = _migrations(using)
        models = schema.backed_up(schema.models_at(migrations))
        progress.expect(sum(model._base_manager.using(using).count() for model in models.values()))
        writer = Writer(file)
        writer.add_json(HEADER_NAME, _header(migrations, models, pictures=pictures).model_dump(mode="json"))
        writer.add_json(SECRETS, {"secret_key": settings.SECRET_KEY})
        counts = {label: _write_table(writer, model, using=using, progress=progress) for label, model in models.items()}
        left_out = () if pictures else tuple(_drawable_folders(models, using=using))
        _write_files(writer, left_out=left_out, progress=progress)
        return writer.finish(rows=counts)


def _migrations(using: str) -> schema.Migrations:
    """Return what the database has seen; raise `NotWritten` where that is more than this program knows."""
    migrations = schema.seen_by(using)
    if strange := schema.unknown(migrations):
        raise NotWritten(
            f"Expected a database of release {__version__} or an older one, got one with {strange[0]}. "
            "Use the newer release."
        )
    return migrations


def _header(migrations: schema.Migrations, models: schema.Models, *, pictures: bool) -> Header:
    return Header(
        format=FORMAT,
        release=__version__,
        engine_version=ENGINE_VERSION,
        made=datetime.now(UTC),
        database=connections[DEFAULT_DB_ALIAS].vendor,
        pictures=pictures,
        migrations={app: list(names) for app, names in migrations.items()},
        tables={label: [field.attname for field in schema.columns_of(model)] for label, model in models.items()},
    )


def _write_table(writer: Writer, model: Any, *, using: str, progress: Progress) -> int:
    """Return how many rows of a table were written."""
    count = 0

    def note(more: int) -> None:
        nonlocal count
        count += more
        progress.rows(more)

    for number, part in enumerate(rows.parts_of(model, using=using, note=note)):
        writer.add(f"tables/{model._meta.label}/{number:06d}.jsonl.gz", part)
    return count


def _drawable_folders(models: schema.Models, *, using: str) -> Iterator[str]:
    """Yield the folders whose pictures this program draws again."""
    splits: Any = models["generation.Split"]._base_manager.using(using)
    for split in splits.select_related("dataset").order_by("pk"):
        if redrawing.is_drawable(kind=split.kind, engine_version=split.dataset.engine_version):
            yield redrawing.folder_of(dataset=split.dataset_id, split=split.name) + "/"


def _write_files(writer: Writer, *, left_out: tuple[str, ...], progress: Progress) -> None:
    for name in stored.names():
        if name.startswith(left_out):
            continue
        try:
            opened = default_storage.open(name, "rb")
        except FileNotFoundError:  # deleted since: a restore draws the picture again
            continue
        with opened as stream:
            size = stored.size_of(stream)
            writer.add_file(name, stream, size=size)
        progress.file(size)


@contextmanager
def _draft(path: Path) -> Iterator[IO[bytes]]:
    """Give a file that only we can read, and that gets this name when it is whole and on the disk."""
    _drop_drafts(path)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
            file.flush()
            os.fsync(file.fileno())
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _drop_drafts(path: Path) -> None:
    """Delete what a backup to the same path left behind that was killed; one that is being written is locked."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with left.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            left.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
