"""Writes a backup: a consistent snapshot of the database and its files, while the site runs."""

import fcntl
import glob
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

from generation import __version__
from generation.engine import ENGINE_VERSION
from generation.engine.errors import EngineError
from generation.making import lost_pictures
from generation.program_version import PROGRAM
from generation.storage.files import sync_folder
from webapp.backups import rows, schema, stored_files
from webapp.backups.archive import FORMAT, SECRETS, Contents, Header, Writer
from webapp.backups.archive import HEADER as HEADER_NAME
from webapp.backups.parallel_files import in_order


class NotWritten(EngineError):
    """The backup can't be written as the caller requested."""


class BackupProgress(NamedTuple):
    """Functions that are called to report progress.

    Attributes
    ----------
    expect : function of int
        It is called once with the total number of rows.
    rows : function of int
        It is called with the number of rows done since its last call.
    file : function of int
        It is called with the size of each finished file.
    """

    expect: Callable[[int], object] = lambda count: None
    rows: Callable[[int], object] = lambda count: None
    file: Callable[[int], object] = lambda size: None


SILENT = BackupProgress()


def write_backup(
    path: Path,
    *,
    overwrite: bool = False,
    files: "Files | None" = None,
    pictures: bool = True,
    progress: BackupProgress = SILENT,
) -> Contents:
    """Write a backup to a new file and return its contents; the file appears only when it is complete.

    Parameters
    ----------
    path : Path
    overwrite : bool
        Whether an existing file may be replaced.
    files : Files, optional
        Without it, the files are written into the archive.
    pictures : bool
        Whether to write the pictures that this program can draw again.
    progress : BackupProgress

    Raises
    ------
    NotWritten
        If the path can't be used. Errors of the disk and the database are not caught.
    """
    if path.is_dir() or (path.exists() and not overwrite):
        raise NotWritten("Expected a new file, got one that exists. Name another, or say --overwrite.", where=str(path))
    with draft_of(path) as file:
        return write_archive(file, files=files or InArchive(), pictures=pictures, progress=progress)


class Files(Protocol):
    """A way to store the files of a backup, and the number of the archive's format."""

    format: int

    def write(
        self, writer: Writer, entries: Iterator[stored_files.StoredFile], *, note: Callable[[int], object]
    ) -> None:
        """Write the files, and call `note` with the size of each file."""


def write_archive(file: IO[bytes], *, files: Files, pictures: bool, progress: BackupProgress) -> Contents:
    with rows.snapshot(DEFAULT_DB_ALIAS) as using:
        migrations = _migrations(using)
        models = schema.backed_up(schema.models_at(migrations))
        progress.expect(sum(model._base_manager.using(using).count() for model in models.values()))
        writer = Writer(file)
        header = _header(migrations, models, number=files.format, pictures=pictures)
        writer.add_json(HEADER_NAME, header.model_dump(mode="json"))
        writer.add_json(SECRETS, {"secret_key": settings.SECRET_KEY})
        counts = {label: _write_table(writer, model, using=using, progress=progress) for label, model in models.items()}
        left_out = () if pictures else tuple(_drawable_folders(models, using=using))
        entries = (entry for entry in stored_files.entries() if not entry.name.startswith(left_out))
        files.write(writer, entries, note=progress.file)
        return writer.finish(rows=counts)


def _migrations(using: str) -> schema.Migrations:
    """Return the applied migrations of the database; raise `NotWritten` if this program does not know all of them."""
    migrations = schema.migrations_of(using)
    if strange := schema.unknown(migrations):
        raise NotWritten(
            f"Expected a database of {PROGRAM} or an older release, got one with {strange[0]}. Use the newer release."
        )
    return migrations


def _header(migrations: schema.Migrations, models: schema.Models, *, number: int, pictures: bool) -> Header:
    return Header(
        format=number,
        release=__version__,
        engine_version=ENGINE_VERSION,
        made=datetime.now(UTC),
        database=connections[DEFAULT_DB_ALIAS].vendor,
        pictures=pictures,
        migrations={app: list(names) for app, names in migrations.items()},
        tables={label: [field.attname for field in schema.columns_of(model)] for label, model in models.items()},
    )


def _write_table(writer: Writer, model: Any, *, using: str, progress: BackupProgress) -> int:
    """Write the rows of a table and return their number."""
    count = 0

    def note(more: int) -> None:
        nonlocal count
        count += more
        progress.rows(more)

    for number, part in enumerate(rows.parts_of(model, using=using, note=note)):
        writer.add(f"tables/{model._meta.label}/{number:06d}.jsonl.gz", part)
    return count


def _drawable_folders(models: schema.Models, *, using: str) -> Iterator[str]:
    """Yield the folders of the storage whose pictures this program can draw again."""
    splits: Any = models["generation.Split"]._base_manager.using(using)
    for split in splits.select_related("dataset").order_by("pk"):
        if lost_pictures.is_drawable(kind=split.kind, engine_version=split.dataset.engine_version):
            yield lost_pictures.folder_of(dataset=split.dataset_id, split=split.name) + "/"


class InArchive:
    """Writes the files into the archive itself, so that one file contains everything."""

    format = FORMAT

    def write(
        self, writer: Writer, entries: Iterator[stored_files.StoredFile], *, note: Callable[[int], object]
    ) -> None:
        """Write the files; several files are read at the same time."""
        for name, stream in in_order(
            partial(_opened, entry.name, stored_files.reader(entry.name)) for entry in entries
        ):
            if stream is None:  # the file was deleted in the meantime; a restore draws the picture again
                continue
            with stream:
                size = stored_files.size_of(stream)
                writer.add_file(name, stream, size=size)
            note(size)


class RowsAlone:
    """Leaves all files out, for an archive that is restored beside the files of the site."""

    format = FORMAT

    def write(
        self, writer: Writer, entries: Iterator[stored_files.StoredFile], *, note: Callable[[int], object]
    ) -> None:
        """Write nothing."""


def _opened(name: str, job: Callable[[], IO[bytes] | None]) -> tuple[str, IO[bytes] | None]:
    return name, job()


@contextmanager
def draft_of(path: Path) -> Iterator[IO[bytes]]:
    """Yield a private draft file; after the block it is synced to disk and gets its final name."""
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
    sync_folder(path.parent)


def _drop_drafts(path: Path) -> None:
    """Delete the drafts that killed backups to the same path left behind; drafts in use are locked and stay."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with left.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            left.unlink(missing_ok=True)
