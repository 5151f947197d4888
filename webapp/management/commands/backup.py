"""`manage.py backup [PATH]`: writes a backup to one file, or into a folder, while the site runs."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from tqdm import tqdm

from generation.engine.errors import EngineError
from generation.management.console import BAD_INPUT, FAILED, PlainCommand
from webapp.backups.archive import Contents
from webapp.backups.backup_folder import write_into
from webapp.backups.writing import BackupProgress, write_backup

SECRETS = "It holds secrets: keep it where only you can read it."


class Command(PlainCommand):
    help = "Write a backup of everything that can't be made again, while the site runs: one file, or into a folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "path", nargs="?", metavar="PATH",
            help="a new file, for example site.tar; or a folder, where files of earlier backups are not read again "
                 "(default: backups in VAR_DIR)",
        )  # fmt: skip
        parser.add_argument("--overwrite", action="store_true", help="replace a file that is there")
        parser.add_argument("--keep", type=int, metavar="N", help="in a folder, delete all but the last N backups")
        parser.add_argument(
            "--without-pictures", action="store_true",
            help="leave out the pictures that this release can draw again; a restore then draws them",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the backup and print what it contains."""
        given = options["path"] or f"{settings.VAR_DIR / 'backups'}/"
        path = Path(given)
        is_folder = given.endswith("/") or path.is_dir()
        if options["keep"] is not None and (options["keep"] < 1 or not is_folder):
            raise CommandError(
                f"Expected --keep with a number of 1 or more and a folder, got {options['keep']} and {given}.",
                returncode=BAD_INPUT,
            )
        try:
            with BackupBar("rows") as bar:
                pictures, progress = not options["without_pictures"], bar.progress
                if is_folder:
                    written = write_into(path, keep=options["keep"], pictures=pictures, progress=progress)
                    path, contents = written.path, written.contents
                    files = f"{contents.files:,} files ({written.read:,} read, the others known from before)"
                else:
                    overwrite = options["overwrite"]
                    contents = write_backup(path, overwrite=overwrite, pictures=pictures, progress=progress)
                    files = f"{contents.files:,} files"
        except EngineError:
            raise
        except Exception as error:
            hint = "" if os.access(path.parent, os.W_OK) else " Without a path it is written into VAR_DIR."
            raise CommandError(
                f"{path}: expected to write it, got: {reason_of(error)}.{hint}", returncode=FAILED
            ) from error
        self.stdout.write(f"{path}: {_described(contents)}, {files}, {path.stat().st_size / 1e6:,.1f} MB. {SECRETS}")


def _described(contents: Contents) -> str:
    return f"{sum(contents.rows.values()):,} rows of {len(contents.rows)} tables"


class BackupBar:
    """A progress bar on a terminal, which counts rows and then files."""

    def __init__(self, unit: str) -> None:
        self.bar = tqdm(total=0, unit=f" {unit}", unit_scale=True, disable=None)
        self.files = self.file_bytes = 0

    def __enter__(self) -> "BackupBar":
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.close()

    @property
    def progress(self) -> BackupProgress:
        return BackupProgress(expect=self.expect, rows=self.count, file=self.count_file)

    def expect(self, total: int) -> None:
        self.bar.reset(total)

    def count(self, more: int) -> None:
        self.bar.update(more)

    def count_file(self, size: int) -> None:
        self.files, self.file_bytes = self.files + 1, self.file_bytes + size
        self.bar.set_postfix_str(f"{self.files:,} files, {self.file_bytes / 1e6:,.0f} MB", refresh=False)
        self.bar.update(0)


def reason_of(error: BaseException) -> str:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(reason.split()) or type(error).__name__
