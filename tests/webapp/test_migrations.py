"""The previous release works with the new database: a column goes from the models first, and a release later for real.

Django's models name every column of a table in each query. So a release can only work without a column if its models
lack it. Each release is measured against the releases before it, in `released_migrations.RELEASED`.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models.fields import NOT_PROVIDED

from generation import __version__
from tests.release import number, sections_of
from tests.webapp.commands import ROOT
from webapp.backups import released_migrations
from webapp.backups.released_migrations import RELEASED, release_needed_first, releases_before

OURS = {"generation", "annotations", "webapp", "leaderboards"}
FIRST = "0.2.0"  # no release before it
TAKES_AWAY = (
    migrations.RemoveField,
    migrations.RenameField,
    migrations.DeleteModel,
    migrations.RenameModel,
    migrations.AlterModelTable,
)
DROPS = re.compile(r"\b(DROP\s+(COLUMN|TABLE)|RENAME|SET\s+NOT\s+NULL)\b", re.IGNORECASE)


def earlier() -> dict[str, dict[str, str]]:
    return {release: RELEASED[release] for release in releases_before(__version__)}


def is_released(app: str, name: str, released: dict[str, dict[str, str]]) -> bool:
    return any(name <= last.get(app, "") for last in released.values())


def is_optional(field: Any) -> bool:
    """Return whether a row can be inserted by a program that does not know the field."""
    return bool(field.many_to_many or field.null or field.db_default is not NOT_PROVIDED)


def operations_of(migration: migrations.Migration) -> Iterator[Operation]:
    """Yield the operations that change the database."""
    for operation in migration.operations:
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            yield from operation.database_operations
        else:
            yield operation


def complaints(
    migration: migrations.Migration, before: ProjectState, *, version: str = __version__, released: Any = None
) -> Iterator[str]:
    """Yield what the previous release could not work with after a migration.

    Parameters
    ----------
    migration : Migration
    before : ProjectState
        The models before the migration.
    version : str
        The release to which the migration belongs.
    released : dict, optional
        The last migration of each app in each earlier release.
    """
    for operation in operations_of(migration):
        what = f"{migration}: {operation.describe()}"
        if isinstance(operation, TAKES_AWAY):
            yield f"{what}: first only from the models: SeparateDatabaseAndState(state_operations=...)."
        elif isinstance(operation, migrations.AddField) and not is_optional(operation.field):
            yield f"{what}: the previous release inserts rows without it. Allow null or give it a db_default."
        elif isinstance(operation, migrations.RunSQL) and DROPS.search(str(operation.sql)):
            since = getattr(migration, "unused_since", "")
            if since not in (earlier() if released is None else released) or number(since) >= number(version):
                yield f"{what}: needs unused_since, an earlier release whose models lack it; got {since!r}."
    for operation in migration.operations:
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            yield from required_columns(migration, operation.state_operations, before)


def required_columns(migration: Any, operations: list[Operation], before: ProjectState) -> Iterator[str]:
    """Yield each column that leaves the models although the database still demands it in new rows."""
    for operation in operations:
        if isinstance(operation, migrations.RemoveField):
            field = before.models[migration.app_label, operation.model_name_lower].fields[operation.name]
            if not is_optional(field):
                yield f"{migration}: {operation.describe()}: new rows lack it. Allow null or give it a db_default."


def test_no_migration_takes_away_what_the_previous_release_uses() -> None:
    loader = MigrationLoader(None)
    found = {key: one for key, one in loader.disk_migrations.items() if key[0] in OURS}
    assert len(found) >= 20
    if number(__version__) == number(FIRST):
        assert earlier() == {}
        return
    new = {key: one for key, one in found.items() if not is_released(*key, earlier())}
    states = {key: loader.project_state(key, at_end=False) for key in new}
    assert [text for key, one in new.items() for text in complaints(one, states[key])] == []


def test_each_release_before_this_one_is_listed_with_migrations_that_exist() -> None:
    dated = [name for name, day in sections_of(ROOT) if day and number(FIRST) <= number(name) < number(__version__)]
    assert sorted(earlier()) == sorted(dated)
    known = MigrationLoader(None).disk_migrations
    assert [(app, name) for last in RELEASED.values() for app, name in last.items() if (app, name) not in known] == []


def one(*operations: Operation, **attributes: str) -> migrations.Migration:
    migration = migrations.Migration("0099_change", "generation")
    migration.operations = list(operations)
    for name, value in attributes.items():
        setattr(migration, name, value)
    return migration


@pytest.fixture(scope="module")
def models_now() -> ProjectState:
    return MigrationLoader(None).project_state()


def refusal_of(migration: migrations.Migration, before: ProjectState) -> str:
    listed = {"0.2.0": {"generation": "0017_fresh_twins"}, "0.3.0": {"generation": "0020_more"}}
    return "\n".join(complaints(migration, before, version="0.4.0", released=listed))


@pytest.mark.parametrize(
    "operation",
    [
        migrations.RemoveField("dataset", "title"),
        migrations.RenameField("dataset", "title", "name"),
        migrations.DeleteModel("Dataset"),
        migrations.RenameModel("Dataset", "Set"),
        migrations.AlterModelTable("dataset", "sets"),
        migrations.SeparateDatabaseAndState(database_operations=[migrations.RemoveField("dataset", "title")]),
    ],
)
def test_nothing_goes_from_models_and_database_at_once(operation: Operation, models_now: ProjectState) -> None:
    assert "SeparateDatabaseAndState" in refusal_of(one(operation), models_now)


def test_a_new_column_that_the_previous_release_does_not_fill_is_refused(models_now: ProjectState) -> None:
    assert "db_default" in refusal_of(
        one(migrations.AddField("dataset", "more", models.TextField(default=""))), models_now
    )
    for field in (models.TextField(db_default=""), models.TextField(null=True)):
        assert refusal_of(one(migrations.AddField("dataset", "more", field)), models_now) == ""


def test_a_column_leaves_the_models_only_if_rows_can_lack_it(models_now: ProjectState) -> None:
    def leaves(name: str) -> migrations.Migration:
        gone = migrations.RemoveField("dataset", name)
        return one(migrations.SeparateDatabaseAndState(state_operations=[gone]))

    assert "new rows lack it" in refusal_of(leaves("title"), models_now)
    assert refusal_of(leaves("completed"), models_now) == ""


@pytest.mark.parametrize(
    ("since", "is_refused"), [("", True), ("0.4.0", True), ("0.1.0", True), ("0.2.0", False), ("0.3.0", False)]
)
def test_a_column_is_dropped_a_release_after_it_left_the_models(
    since: str, is_refused: bool, models_now: ProjectState
) -> None:
    drop = migrations.RunSQL("ALTER TABLE generation_dataset DROP COLUMN title")
    assert bool(refusal_of(one(drop, unused_since=since), models_now)) == is_refused


LISTED = {"0.10.0": {"generation": "3", "webapp": "2"}, "0.9.0": {"generation": "2"}, "0.2.0": {"generation": "1"}}


@pytest.mark.parametrize(
    ("version", "generation", "needed"),
    [
        ("0.11.0", "123", ""),
        ("0.11.0", "1234", ""),
        ("0.11.0", "12", "0.10.0"),
        ("0.11.0", "1", "0.9.0"),
        ("0.11.0", "", "0.2.0"),
        ("0.10.0", "12", ""),
        ("0.2.0", "", ""),
    ],
)
def test_a_database_needs_the_first_release_that_it_lacks(
    version: str, generation: str, needed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(released_migrations, "RELEASED", LISTED)
    assert release_needed_first({"generation": list(generation), "webapp": ["1", "2"]}, version=version) == needed
