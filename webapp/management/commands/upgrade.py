"""`manage.py upgrade`: backs up and migrates the database; a container runs this before its web server."""

from argparse import ArgumentParser
from typing import Any

from generation.management.console import PlainCommand
from webapp.backups.before_migrating import upgrade
from webapp.leaderboards.findings.records import move_old_files


class Command(PlainCommand):
    help = "Bring the database up to this release; one with something in it is backed up first, into VAR_DIR/backups."
    needs_tables = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--skip-releases", action="store_true",
            help="bring up a database that is more than one release older; all processes of the site must be stopped",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        upgrade(say=self.stdout.write, skip_releases=options["skip_releases"])
        move_old_files()
        self.stdout.write("The database fits this release.")
