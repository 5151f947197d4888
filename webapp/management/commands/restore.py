"""`manage.py restore FILE`: restores a backup into an empty database and an empty storage."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from generation.engine.errors import EngineError
from generation.management.console import FAILED, PlainCommand
from webapp.backups.archive_reader import ArchiveReader
from webapp.backups.restoring import RestoreResult, check_archive, proofs, restore
from webapp.management.commands.backup import BackupBar, reason_of
from webapp.management.commands.quickstart import only_one_here


class Command(PlainCommand):
    help = "Restore a backup into an empty database (SQLite or PostgreSQL) and an empty storage."
    needs_tables = False  # the restore creates the tables as the archive has them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="what `manage.py backup` wrote")
        parser.add_argument("--check", action="store_true", help="look whether the file is whole, and change nothing")
        parser.add_argument(
            "--keep-files", action="store_true",
            help="the files in MEDIA_ROOT or the bucket are those of the site that was backed up: keep them",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the archive, restore it, and verify the restored rows."""
        path: Path = options["file"]
        try:
            archive = self._checked(path)
            if options["check"]:
                return
            with only_one_here():
                self._tell(self._restored(archive, keep_files=options["keep_files"]))
        except (EngineError, CommandError):
            raise
        except Exception as error:
            raise CommandError(f"{path}: expected to read it, got: {reason_of(error)}.", returncode=FAILED) from error
        self._prove()

    def _checked(self, path: Path) -> ArchiveReader:
        """Check the archive, print a summary of it, and return it."""
        with BackupBar("bytes checked") as bar:
            bar.expect(path.stat().st_size if path.exists() else 0)
            archive = check_archive(path, show=bar.count)
        header, contents = archive.header, archive.contents
        assert contents is not None
        self.stdout.write(
            f"{path} is whole: written {header.made:%Y-%m-%d %H:%M} UTC by {header.program} from "
            f"{header.database}, {sum(contents.rows.values()):,} rows, {contents.files:,} files."
        )
        return archive

    def _restored(self, archive: ArchiveReader, *, keep_files: bool) -> RestoreResult:
        with BackupBar("rows") as bar:
            return restore(archive, keep_files=keep_files, progress=bar.progress)

    def _tell(self, restored: RestoreResult) -> None:
        """Print the restored rows, the missing pictures, and whether this site keeps another secret key."""
        for label, count in restored.contents.rows.items():
            if count:
                self.stdout.write(f"  {label:<32} {count:>12,}")
        for name, count in restored.missing.drawn_again.items():
            self.stdout.write(f"{name}: {count:,} pictures are missing; background processes draw them again.")
        for name, count in restored.missing.lost.items():
            self.stdout.write(f"{name}: {count:,} pictures are missing, and only the release that drew them can again.")
        if restored.keeps_key:
            self.stdout.write("SECRET_KEY here is another one than the backup's: links that it signed are void.")

    def _prove(self) -> None:
        """Compare the content hash of each sealed split's restored rows with its sealed content hash."""
        wrong = []
        for split, holds in proofs():
            self.stdout.write(f"  {split!s:<32} {split.questions:>12,} questions  {split.fingerprint}  {_word(holds)}")
            if not holds:
                wrong.append(str(split))
        if wrong:
            raise CommandError(
                f"Expected the rows of {', '.join(wrong)} to give the content hash that is kept with them, got others: "
                "they were changed before the backup was made.",
                returncode=FAILED,
            )
        self.stdout.write("Restored.")


def _word(holds: bool) -> str:
    return "proved" if holds else "DIFFERS"
