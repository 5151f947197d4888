"""`manage.py upgrade`: backs up and migrates the database; a container runs this before its web server."""

from typing import Any

from generation.management.console import PlainCommand
from webapp.backups.before_migrating import upgrade
from webapp.leaderboards.findings.records import move_old_files


class Command(PlainCommand):
    help = "Bring the database up to this release; one with something in it is backed up first, into VAR_DIR/backups."
    needs_tables = False

    def handle(self, *args: Any, **options: Any) -> None:
        upgrade(say=self.stdout.write)
        move_old_files()
        self.stdout.write("The database fits this release.")
