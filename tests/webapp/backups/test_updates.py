"""Updates: archives of older releases are restored and migrated, and a start backs up the site before it migrates."""

import io
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from generation.management.console import BAD_INPUT
from tests.webapp.commands import ROOT, environment_of, manage
from tests.webapp.running.test_quickstart import (
    Site,
    small_site,  # noqa: F401  # fixtures
    start,  # noqa: F401
)
from webapp.backups import before_migrating, released_migrations, schema
from webapp.backups.archive_reader import ArchiveReader
from webapp.backups.before_migrating import KEPT, STEM, back_up_before_migrating, drop_old, upgrade
from webapp.models import User

pytestmark = pytest.mark.slow
LATEST = schema.known_migrations()["generation"][-1]
FIRST = "0001_initial"


def rows(folder: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(folder / "horsesense.sqlite3")) as connection:
        return connection.execute(query).fetchall()


def last_migration(folder: Path) -> str:
    """Return the last migration of the app `generation` that was applied on a site."""
    query = "SELECT name FROM django_migrations WHERE app = 'generation' ORDER BY name DESC LIMIT 1"
    return str(rows(folder, query)[0][0])


@pytest.fixture(scope="session")
def first_old_site(small_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: F811
    """Return the VAR_DIR of a site of an older release, to be copied."""
    folder = tmp_path_factory.mktemp("old") / "var"
    shutil.copytree(small_site, folder)
    ended = manage("migrate", "generation", FIRST, "--verbosity", "0", environment=environment_of(folder), seconds=300)
    assert ended.returncode == 0, ended.stderr
    return folder


@pytest.fixture
def old_site(first_old_site: Path, own_folder: Path) -> Path:
    """Return the VAR_DIR of a site of an older release."""
    shutil.copytree(first_old_site, own_folder, dirs_exist_ok=True)
    return own_folder


@pytest.mark.full
def test_an_archive_of_an_older_release_is_restored_and_migrated(old_site: Path, tmp_path: Path) -> None:
    archive, new = tmp_path / "old.tar", tmp_path / "new"
    ended = manage("backup", str(archive), environment=environment_of(old_site), seconds=300)
    assert ended.returncode == 0, ended.stderr
    header = ArchiveReader(archive).header
    assert header.migrations["generation"] == [FIRST]
    assert "generation.Quota" not in header.tables and "licence" not in header.tables["generation.Dataset"]
    assert last_migration(old_site) == FIRST  # a backup changes nothing
    ended = manage("restore", str(archive), environment=environment_of(new), seconds=300)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("  proved") == 1 and last_migration(new) == LATEST
    kept = "SELECT id, slug, fingerprint, substr(created, 1, 23) FROM generation_dataset"
    assert rows(new, kept) == rows(old_site, kept)
    assert rows(new, "SELECT licence FROM generation_dataset") == [("CC BY 4.0",)]


@pytest.mark.full
def test_a_start_backs_up_before_it_changes_the_database_or_changes_nothing(
    start: Callable[..., Site],  # noqa: F811
    old_site: Path,
) -> None:
    folder = old_site / "backups"
    folder.write_text("in the way")
    ended = manage("quickstart", "--port", "0", environment=environment_of(old_site), seconds=300)
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert ended.stderr.startswith("Expected to write a backup before the database is changed, got: ")
    assert ended.stderr.endswith(" Nothing was changed.\n")
    assert last_migration(old_site) == FIRST

    folder.unlink()
    site = start()
    site.wait_until_ready()
    (backup,) = folder.glob("*.tar")
    assert f"The database waits for an update. Writing a backup into {folder} first." in site.lines
    assert ArchiveReader(backup).header.migrations["generation"] == [FIRST]
    assert last_migration(old_site) == LATEST

    site.process.terminate()
    assert site.process.wait(60) == 0


@pytest.mark.django_db(transaction=True)
def test_no_backup_is_written_without_migrations_or_without_rows(own_folder: Path) -> None:
    assert back_up_before_migrating(say=pytest.fail) is None
    User.objects.create_user("grace")
    assert back_up_before_migrating(say=pytest.fail) is None
    assert list(own_folder.iterdir()) == []


def test_only_the_last_backups_are_kept_and_other_files_stay(own_folder: Path) -> None:
    names = [f"{STEM}2026112{day}-120000.tar" for day in range(KEPT + 2)]
    for name in [*names, "mine.tar"]:
        (own_folder / name).touch()
    drop_old(own_folder)
    assert sorted(path.name for path in own_folder.iterdir()) == [*names[-KEPT:], "mine.tar"]


def start_upgrades(environment: dict[str, str], *, count: int) -> "list[subprocess.Popen[str]]":
    command = [sys.executable, "manage.py", "upgrade"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return [subprocess.Popen(command, cwd=ROOT, env=environment, **pipes) for _ in range(count)]


@pytest.mark.full
def test_two_hosts_that_start_at_once_migrate_an_old_database_once(migrated_postgres_url: str, tmp_path: Path) -> None:
    hosts = [environment_of(tmp_path / name) | {"DATABASE_URL": migrated_postgres_url} for name in ("one", "two")]
    account = ["createsuperuser", "--noinput", "--username", "grace", "--email", "grace@example.org"]
    assert manage(*account, environment=hosts[0] | {"DJANGO_SUPERUSER_PASSWORD": "x"}).returncode == 0
    with psycopg.connect(migrated_postgres_url) as server:
        server.execute("DELETE FROM django_migrations WHERE app = 'sessions'")
        server.execute("DROP TABLE django_session")
    running = [start_upgrades(host, count=1)[0] for host in hosts]
    said = ["".join(process.communicate(timeout=300)) for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    assert sum("Writing a backup" in text for text in said) == 1
    assert len(list(tmp_path.glob("*/backups/*.tar"))) == 1
    with psycopg.connect(migrated_postgres_url) as server:
        found = server.execute("SELECT count(*) FROM django_migrations WHERE app = 'sessions'").fetchone()
    assert found == (1,)


@pytest.mark.django_db(transaction=True)
def test_a_backup_that_fails_leaves_the_database_as_it_is(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    User.objects.create_user("grace")
    monkeypatch.setattr(schema, "is_outdated", lambda _: True)
    (own_folder / "backups").write_text("in the way")
    migrated: list[str] = []
    monkeypatch.setattr(before_migrating, "call_command", lambda name, **_: migrated.append(name))
    with pytest.raises(CommandError, match=r"^Expected to write a backup before the database is changed, got: .*\.$"):
        upgrade(say=lambda _: None)
    assert migrated == []
    (own_folder / "backups").unlink()
    upgrade(say=lambda _: None)
    assert migrated == ["migrate"] and len(list((own_folder / "backups").glob("*.tar"))) == 1


@pytest.mark.django_db(transaction=True)
def test_an_update_that_skips_a_release_is_refused_with_the_release_to_install_first(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "migrations_of", lambda using: {"generation": [FIRST]})
    monkeypatch.setattr(before_migrating, "__version__", "0.4.0")
    listed = {"0.3.0": {"generation": LATEST}, "0.2.0": {"generation": FIRST}}
    monkeypatch.setattr(released_migrations, "RELEASED", listed)
    migrated: list[str] = []
    monkeypatch.setattr(before_migrating, "call_command", lambda name, **_: migrated.append(name))
    monkeypatch.setattr(before_migrating, "back_up_before_migrating", lambda say: None)
    call_command("upgrade", stdout=io.StringIO())
    assert migrated == ["migrate"]  # an empty database

    User.objects.create_user("grace")
    with pytest.raises(
        CommandError, match=r"^Expected a database of release 0\.3\.0, .* Install release 0\.3\.0 first"
    ) as e:
        call_command("upgrade", stdout=io.StringIO())
    assert e.value.returncode == BAD_INPUT and "--skip-releases" in str(e.value) and migrated == ["migrate"]
    call_command("upgrade", "--skip-releases", stdout=io.StringIO())
    listed["0.3.0"] = {"generation": FIRST}
    call_command("upgrade", stdout=io.StringIO())
    assert migrated == ["migrate"] * 3
