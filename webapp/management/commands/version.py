"""`manage.py version`: prints the release, the engine, the commit, Python, and the state of the database's tables."""

import json
import platform
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.db import DEFAULT_DB_ALIAS, Error, connections

from generation import __version__
from generation.engine import ENGINE_VERSION
from generation.management.console import PlainCommand
from generation.program_version import commit
from webapp.backups import schema

LABELS = {"release": "Release", "engine": "Engine", "commit": "Commit", "python": "Python", "database": "Database"}


class Command(PlainCommand):
    help = "Print the release, the engine, the commit, Python, and whether the database fits this release."
    needs_tables = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        found = {
            "release": __version__,
            "engine": ENGINE_VERSION,
            "commit": commit() or None,
            "python": platform.python_version(),
            "database": describe_database(),
        }
        if options["json"]:
            self.stdout.write(json.dumps(found, indent=2))
            return
        for name, value in found.items():
            self.stdout.write(f"{LABELS[name]:<10}{value or 'no git repository'}")


def describe_database() -> str:
    """Return the kind of the database, and whether its tables are those of this release."""
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).exists():
        return "sqlite, no file yet"
    return f"{connection.vendor}, {_state_of_tables()}"


def _state_of_tables() -> str:
    try:
        applied = schema.migrations_of(DEFAULT_DB_ALIAS)
    except Error as error:
        return f"does not answer ({type(error).__name__})"
    if newer := schema.unknown(applied):
        return f"of a newer release: it has {newer[0]}"
    if not any(applied.values()):
        return "without tables"
    waiting = sum(len(set(names) - set(applied.get(app, []))) for app, names in schema.known_migrations().items())
    return f"of an older release: {waiting} migrations wait for `manage.py upgrade`" if waiting else "fits this release"
