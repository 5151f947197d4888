"""Migrations expand first and contract a release later, so that the previous release works with the new database."""

import pytest
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

from generation import __version__

OURS = {"generation", "annotations", "webapp", "leaderboards"}
CONTRACTING = (
    migrations.RemoveField,
    migrations.RenameField,
    migrations.DeleteModel,
    migrations.RenameModel,
    migrations.AlterModelTable,
)


def number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def contracting(operations: list[Operation]) -> list[str]:
    """Return the operations that remove parts of the database that the previous release may still use."""
    found = []
    for operation in operations:
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            found += contracting(operation.database_operations)
        elif isinstance(operation, CONTRACTING):
            found.append(operation.describe())
    return found


def complaint(migration: migrations.Migration) -> str:
    """Return why a migration may not be part of this release, or an empty text if it may."""
    found = contracting(migration.operations)
    if not found:
        return ""
    since = getattr(migration, "expanded_in", "")
    if not since:
        return f"{migration}: {found[0]} needs expanded_in, the release whose code stopped using it."
    if number(since) >= number(__version__):
        return f"{migration}: expanded in {since}, expected a release before {__version__}."
    return ""


def test_no_migration_removes_parts_that_the_previous_release_uses() -> None:
    found = [migration for (app, _), migration in MigrationLoader(None).disk_migrations.items() if app in OURS]
    assert len(found) >= 20
    assert [complaint(migration) for migration in found if complaint(migration)] == []


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
def test_a_contracting_migration_needs_a_release_after_the_expansion(operation: Operation) -> None:
    migration = migrations.Migration("0099_contract", "generation")
    migration.operations = [operation]
    assert "needs expanded_in" in complaint(migration)
    migration.expanded_in = __version__  # type: ignore[attr-defined]
    assert f"expected a release before {__version__}" in complaint(migration)
    migration.expanded_in = "0.0.9"  # type: ignore[attr-defined]
    assert complaint(migration) == ""


def test_an_expanding_migration_is_accepted() -> None:
    migration = migrations.Migration("0099_expand", "generation")
    migration.operations = [migrations.AddField("dataset", "more", models.TextField(db_default=""))]
    assert complaint(migration) == ""
