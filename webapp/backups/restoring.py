"""Restores a backup into an empty site: the whole backup, or nothing if an error occurs."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import F
from django.db.models.functions import Greatest

from generation.engine.errors import EngineError
from generation.making import lost_pictures
from generation.models import AbstractJob, Dataset, Split
from generation.program_version import PROGRAM
from generation.splits import sealing
from webapp.backups import rows, schema, stored_files
from webapp.backups.archive import BadArchive, Contents
from webapp.backups.archive_reader import ArchiveReader, Member
from webapp.backups.parallel_files import in_order
from webapp.backups.writing import SILENT, BackupProgress
from webapp.running import secret_files
from webapp.settings import env

USING = DEFAULT_DB_ALIAS
KEY_FILE = "secret_key"

log = logging.getLogger(__name__)


class NotEmpty(EngineError):
    """The site into which the backup should be restored already contains data."""


class SealProof(NamedTuple):
    split: Split
    holds: bool  # its rows, or those of its parent, have the sealed fingerprint


class RestoreResult(NamedTuple):
    """The result of a restore.

    Attributes
    ----------
    contents : Contents
    missing : Missing
        The pictures that are missing.
    keeps_key : bool
        Whether this site keeps a secret key that differs from the backup's key, because the environment of this site
        sets a key, or the backup's key is too short.
    """

    contents: Contents
    missing: "Missing"
    keeps_key: bool


class Missing(NamedTuple):
    """The number of pictures that are not in the storage, by the name of their split.

    Attributes
    ----------
    drawn_again : dict of str to int
        Pictures that a background process will draw again.
    lost : dict of str to int
        Pictures that this release can't draw again identically.
    """

    drawn_again: dict[str, int]
    lost: dict[str, int]


def check_archive(path: Path, *, show: Callable[[int], object] = lambda size: None) -> ArchiveReader:
    """Return an archive after checking that it is complete and that this release can restore it; change nothing.

    Raises
    ------
    BadArchive
        If the archive is not complete, or this release can't restore it.
    """
    archive = ArchiveReader(path)
    header = archive.header
    if strange := schema.unknown(header.migrations):
        raise BadArchive(
            f"Expected an archive of {PROGRAM} or an older release, got one of {header.program} with {strange[0]}. "
            "Use that release.",
            where=str(path),
        )
    models = schema.models_at(header.migrations)
    for label, columns in header.tables.items():  # only these: the set of transient tables may have changed since
        if label not in models or columns != [field.attname for field in schema.columns_of(models[label])]:
            raise BadArchive(f"Expected the tables of {header.program}, got another {label}.", where=str(path))
    archive.verify(show=show)
    return archive


def restore(archive: ArchiveReader, *, keep_files: bool = False, progress: BackupProgress = SILENT) -> RestoreResult:
    """Restore a checked archive into an empty site, and return the result.

    Parameters
    ----------
    archive : ArchiveReader
    keep_files : bool
        Whether the files that are in the storage belong to this site and are kept.
    progress : BackupProgress

    Raises
    ------
    NotEmpty, BadArchive, BadRow
        If the site is not empty, or the archive or one of its rows is not valid. Nothing was changed, or all changes
        were undone.
    """
    contents = archive.contents
    assert contents is not None  # `check_archive` has set it
    check_empty(contents, keep_files=keep_files)
    schema.bring_to(archive.header.migrations, using=USING)
    outdated = schema.is_outdated(archive.header.migrations)
    missing = Missing({}, {})
    with _undone_on_failure(contents, keep_files=keep_files), transaction.atomic(using=USING):
        filling = Filling(archive, progress=progress)
        keeps_key = filling.fill()
        if not keep_files:
            filling.check_files()
        if not outdated:
            missing = look_for_pictures()
    if outdated:
        call_command("migrate", database=USING, run_syncdb=True, interactive=False, verbosity=0)
        with transaction.atomic(using=USING):
            missing = look_for_pictures()
    return RestoreResult(contents, missing, keeps_key)


def check_empty(contents: Contents, *, keep_files: bool) -> None:
    """Raise `NotEmpty` if the site has data; files that an interrupted restore of the same archive left are allowed."""
    if label := schema.rows_in_the_way(USING):
        raise NotEmpty(
            f"Expected an empty database, got one with rows of {label}. Name a new one: DATABASE_URL or VAR_DIR."
        )
    if not keep_files and not stored_files.is_empty() and not stored_files.is_marked(contents.digest):
        raise NotEmpty(
            "Expected an empty MEDIA_ROOT or bucket, got one with files. Name a new one; or, where they are the files "
            "of the site that was backed up, say --keep-files."
        )


@contextmanager
def _undone_on_failure(contents: Contents, *, keep_files: bool) -> Iterator[None]:
    """If the block fails, restore the old secret key, and delete all files unless `keep_files` is set.

    If the process dies before it can do this, the mark stays in the storage, so that a new restore of the same archive
    is allowed.
    """
    key = settings.VAR_DIR / KEY_FILE
    before = key.read_text() if key.exists() else ""
    if not keep_files:
        stored_files.mark(contents.digest)
    try:
        yield
    except BaseException:
        if before:
            secret_files.put_secret(key, before)
        if not keep_files:
            stored_files.erase()
            stored_files.unmark()
        raise
    stored_files.unmark()


class Filling:
    """Writes an archive into tables and storage, within a transaction."""

    def __init__(self, archive: ArchiveReader, *, progress: BackupProgress) -> None:
        self.archive, self.progress = archive, progress
        self.models = schema.models_at(archive.header.migrations)
        self.keeps_key = False

    def fill(self) -> bool:
        """Write everything, and return whether this site keeps a secret key that differs from the backup's key.

        Raises
        ------
        BadArchive, BadRow
            If the archive is damaged, or a row does not fit its table.
        """
        assert self.archive.contents is not None  # `check_archive` has set it
        self.progress.expect(sum(self.archive.contents.rows.values()))
        rows.clear(self.models, using=USING)
        counts = dict.fromkeys(self.archive.header.tables, 0)
        for size in in_order(self._writes(counts)):
            self.progress.file(size)
        if counts != self.archive.contents.rows:
            raise BadArchive("Expected as many rows as were written, got others.", where=str(self.archive.path))
        self._let_jobs_wait()
        rows.check_references(USING)
        rows.reset_sequences(self.models, using=USING)
        stored_files.sync()
        return self.keeps_key

    def check_files(self) -> None:
        """Raise `BadArchive` if the archive has no files although it has a complete split, which has an index."""
        assert self.archive.contents is not None  # `check_archive` has set it
        splits = self.models["generation.Split"]._base_manager.using(USING)
        if not self.archive.contents.files and splits.filter(state=Split.State.COMPLETE).exists():
            raise BadArchive(
                "Expected an archive with the files of the site, got one with rows only. Restore it where MEDIA_ROOT "
                "or the bucket has the files, and say --keep-files. Or restore a backup that has the files.",
                where=str(self.archive.path),
            )

    def _writes(self, counts: dict[str, int]) -> Iterator[Callable[[], int]]:
        """Insert and count the rows; for each file, yield a job that writes the file and returns its size."""
        for member in self.archive.members():
            if member.table:
                counts[member.table] += self._insert(member)
            elif member.file:
                yield partial(_write, stored_files.write(member.file, member.stream), member.size)
            else:
                self._take_secrets(member)

    def _insert(self, member: Member) -> int:
        lines = self.archive.read_rows(member)
        return rows.insert(self.models[member.table], lines, using=USING, note=self.progress.rows)

    def _take_secrets(self, member: Member) -> None:
        found = self.archive.read_json(member)
        key = found.get("secret_key") if isinstance(found, dict) else None
        if not isinstance(key, str):
            raise BadArchive("Expected a secret key, got none.", where=str(self.archive.path))
        if env["SECRET_KEY"] or len(key) < secret_files.LENGTH:
            self.keeps_key = key != settings.SECRET_KEY
        else:
            secret_files.put_secret(settings.VAR_DIR / KEY_FILE, key)

    def _let_jobs_wait(self) -> None:
        """Set running jobs back to waiting; the interrupted attempt does not count."""
        for model in apps.get_models():
            if issubclass(model, AbstractJob) and model._meta.label in self.models:
                held = self.models[model._meta.label]._base_manager.using(USING).filter(state=AbstractJob.State.RUNNING)
                held.update(
                    state=AbstractJob.State.WAITING, token="", lease=None, attempts=Greatest(F("attempts") - 1, 0)
                )


def _write(job: Callable[[], object], size: int) -> int:
    job()
    return size


def look_for_pictures() -> Missing:
    """Count the pictures that are not in the storage, and queue those that this program can draw again identically."""
    missing = Missing({}, {})
    drawn = Split.objects.filter(dataset__with_images=True).exclude(dataset__state=Dataset.State.DELETING)
    for split in drawn.select_related("dataset").order_by("pk"):
        if lost_pictures.is_drawable(kind=split.kind, engine_version=split.dataset.engine_version):
            count, where = lost_pictures.draw_again(split), missing.drawn_again
        else:
            count, where = sum(1 for _ in lost_pictures.lost(split)), missing.lost
        if count:
            where[str(split)] = count
    return missing


def proofs() -> Iterator[SealProof]:
    """Yield each sealed split, and whether its rows still have the sealed fingerprint."""
    sealed = Split.objects.filter(state=Split.State.COMPLETE)
    for split in sealed.select_related("dataset", "parent__dataset").order_by("dataset__slug", "ordinal"):
        try:
            holds = sealing.fingerprint_of(split) == split.fingerprint
        except EngineError as error:
            log.error("%s", error)
            holds = False
        yield SealProof(split, holds)
