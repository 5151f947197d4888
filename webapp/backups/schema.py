"""The tables of the running program, of a database, or of an archive.

These tables may differ: after an update, the database is not migrated yet, and an archive may come from an older
release. Therefore tables are read and written as their own migrations define them, not as the current code does.
"""

import functools
from collections.abc import Mapping
from typing import Any

from django.apps import apps
from django.core.management import call_command
from django.db import connections
from django.db.migrations.exceptions import IrreversibleError
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Model

from generation.engine.errors import EngineError

Migrations = Mapping[str, list[str]]
Models = Mapping[str, type[Model]]

# These tables are not in a backup, because their rows mean nothing in another place or at another time. All other
# tables are in it.
TRANSIENT = {
    "sessions.Session": "who is logged in",
    "webapp.LoginLink": "links that log somebody in, once, within a day",
    "generation.Heartbeat": "which processes are alive",
    "generation.PreviewTurn": "whose preview is running",
}
# Migrations themselves create rows of these tables in an empty database.
BY_MIGRATIONS = frozenset({"contenttypes.ContentType", "auth.Permission", "auth.Group"})


class WrongSchema(EngineError):
    """The tables of the database are newer than those of the archive and can't be changed back."""


def known_migrations() -> Migrations:
    return _by_app(_loader().graph.nodes)


def migrations_of(using: str) -> Migrations:
    apps = known_migrations()
    seen = _by_app(MigrationRecorder(connections[using]).applied_migrations())
    return {app: names for app, names in seen.items() if app in apps}


def unknown(migrations: Migrations) -> list[str]:
    here = known_migrations()
    return [f"{app}.{name}" for app, names in migrations.items() for name in names if name not in here.get(app, [])]


def is_outdated(migrations: Migrations) -> bool:
    return any(set(names) - set(migrations.get(app, [])) for app, names in known_migrations().items())


def models_at(migrations: Migrations) -> Models:
    return _models_after(tuple((app, name) for app, names in migrations.items() for name in names))


@functools.lru_cache(maxsize=8)  # a restore asks several times for the same models, which take a tenth of a second
def _models_after(migrations: tuple[tuple[str, str], ...]) -> Models:
    """Return the models of all tables after these migrations, by label and sorted by label."""
    loader = _loader()
    nodes = [one for one in migrations if one in loader.graph.nodes]
    models = {
        model._meta.label: model
        for source in (loader.project_state(nodes).apps, apps)
        for model in source.get_models(include_auto_created=True)
        if (model._meta.app_label in loader.unmigrated_apps) == (source is apps)  # these apps have no migrations
    }
    tables = {label: model for label, model in models.items() if model._meta.managed and not model._meta.proxy}
    return dict(sorted(tables.items()))


def backed_up(models: Models) -> Models:
    return {label: model for label, model in models.items() if label not in TRANSIENT}


def columns_of(model: type[Model]) -> list[Any]:
    return [field for field in model._meta.local_concrete_fields if not field.generated]


def rows_in_the_way(using: str) -> str:
    """Return the label of a table with rows that no migration created; return an empty string if there is none."""
    migrations = migrations_of(using)
    tables = set(connections[using].introspection.table_names())
    if not any(migrations.values()):
        return ""
    for label, model in models_at(migrations).items():
        there = label not in BY_MIGRATIONS and model._meta.db_table in tables
        if there and model._base_manager.using(using).exists():
            return label
    return ""


def bring_to(migrations: Migrations, *, using: str) -> None:
    """Migrate a database without rows to the state after these migrations."""
    if not is_outdated(migrations):
        call_command("migrate", database=using, run_syncdb=True, interactive=False, verbosity=0)
        return
    executor = MigrationExecutor(connections[using])
    targets = _ends(executor.loader, migrations)
    try:
        executor.migrate(targets)
    except IrreversibleError as error:
        raise WrongSchema(
            "Expected a database without tables, for an archive of an older release; got one with newer tables. "
            "Name a new database."
        ) from error


def _ends(loader: MigrationLoader, migrations: Migrations) -> list[Any]:
    """Return the last of these migrations for each app, or (app, None) for an app without any of them."""
    wanted = {(app, name) for app, names in migrations.items() for name in names}
    ends: list[Any] = [(app, None) for app in sorted(loader.migrated_apps) if not migrations.get(app)]
    for node in sorted(wanted):
        later = {child.key for child in loader.graph.node_map[node].children if child.key[0] == node[0]}
        if not later & wanted:
            ends.append(node)
    return ends


def _loader() -> MigrationLoader:
    return MigrationLoader(None)


def _by_app(nodes: Any) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for app, name in sorted(nodes):
        result.setdefault(app, []).append(name)
    return result
