"""`manage.py backup FILE`: everything that can't be made again, in one file, while the site runs."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from tqdm import tqdm

from generation.command_line import FAILED, PlainCommand
from generation.engine.errors import EngineError
from webapp.backups.writing import Progress, write_backup


class Command(PlainCommand):
    """Write a backup."""

    help = "Write a backup of everything that can't be made again into one file, while the site runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the file."""
        parser.add_argument("file", type=Path, metavar="FILE", help="the file to write, for example site.tar")
        parser.add_argument("--overwrite", action="store_true", help="replace a file that is there")
        parser.add_argument(
            "--without-pictures", action="store_true",
            help="leave out the pictures that this release can draw again; a restore then draws them",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file and say what is in it."""
        path: Path = options["file"]
        try:
            with Bar("rows") as bar:
                overwrite, pictures = options["overwrite"], not options["without_pictures"]
                contents = write_backup(path, overwrite=overwrite, pictures=pictures, progress=bar.progress)
        except EngineError:
            raise
        except Exception as error:
            raise CommandError(f"{path}: expected to write it, got: {reason_of(error)}.", returncode=FAILED) from error
        rows, size = sum(contents.rows.values()), path.stat().st_size
        self.stdout.write(
            f"{path}: {rows:,} rows of {len(contents.rows)} tables, {contents.files:,} files, {size / 1e6:,.1f} MB. "
            "It holds secrets: keep it where only you can read it."
        )


class Bar:
    """A progress bar on a terminal: rows, with the files that come after them."""

    def __init__(self, unit: str) -> None:
        self.bar = tqdm(total=0, unit=f" {unit}", unit_scale=True, disable=None)
        self.files = self.file_bytes = 0

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.close()

    @property
    def progress(self) -> Progress:
        """Return what shows here."""
        return Progress(expect=self.expect, rows=self.count, file=self.count_file)

    def expect(self, total: int) -> None:
        """Show how much there is to do."""
        self.bar.reset(total)

    def count(self, more: int) -> None:
        """Show that so much more is done."""
        self.bar.update(more)

    def count_file(self, size: int) -> None:
        """Show that a file is done."""
        self.files, self.file_bytes = self.files + 1, self.file_bytes + size
        self.bar.set_postfix_str(f"{self.files:,} files, {self.file_bytes / 1e6:,.0f} MB", refresh=False)
        self.bar.update(0)


def reason_of(error: BaseException) -> str:
    """Return what went wrong, in one line."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(reason.split()) or type(error).__name__
