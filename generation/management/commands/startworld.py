"""`manage.py startworld`: writes a new world that runs and can be changed into another one."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from generation.management.console import PlainCommand
from generation.management.world_packages import write_world


class Command(PlainCommand):
    help = "Write a new world as a package of its own, which runs as it is."
    needs_tables = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="of the world and its package: small letters and digits")
        parser.add_argument("--folder", type=Path, default=Path(), help="where its folder is made; here by default")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the files, and print the next steps."""
        name, folder = options["name"], options["folder"]
        for path in write_world(name, folder):
            self.stdout.write(str(path))
        self.stdout.write(f"Install it: pip install --editable {folder / name}")
        self.stdout.write(f"Then hold it to the rules: python -m tests.worlds.conformance {name}")
