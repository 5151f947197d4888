"""Things that the first process that needs them makes once for a run, like databases with empty tables to copy."""

import fcntl
import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test import TransactionTestCase

from tests.services import create_database, drop_database, temporary_database, url_of_database
from tests.webapp.commands import environment_of, manage

MIGRATE = ("migrate", "--verbosity", "0")


def shared_folder() -> Path:
    """Return the folder that all processes of this run share."""
    return Path(os.environ["HORSESENSE_TEST_DIR"], "shared")


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """Return a path in the shared folder. One process makes it by `make`, while the others wait."""
    path, draft = shared_folder() / name, shared_folder() / f"{name}.draft"
    path.parent.mkdir(exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            make(draft)
            draft.rename(path)
    return path


@pytest.fixture(scope="session")
def migrated_site() -> Path:
    """Return the VAR_DIR of a site with empty tables in SQLite, to be copied."""

    def make(folder: Path) -> None:
        done = manage(*MIGRATE, environment=environment_of(folder), seconds=600)
        assert done.returncode == 0, done.stderr

    return made_once("migrated-site", make)


@pytest.fixture
def site_environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which `manage.py` runs a site for this test alone, with default settings."""
    return environment_of(tmp_path / "var")


@pytest.fixture
def migrated_environment(migrated_site: Path, tmp_path: Path) -> dict[str, str]:
    """Return the environment of a site for this test alone, with empty tables."""
    return environment_of(Path(shutil.copytree(migrated_site, tmp_path / "var")))


def _postgres_name() -> str:
    return f"horsesense_migrated_{hashlib.sha256(os.environ['HORSESENSE_TEST_DIR'].encode()).hexdigest()[:12]}"


@pytest.fixture(scope="session")
def migrated_postgres() -> str:
    """Return the name of a PostgreSQL database with empty tables, to be copied; it is dropped after the run."""

    def make(folder: Path) -> None:
        drop_database(_postgres_name())  # if an earlier try failed
        create_database(_postgres_name())
        url = url_of_database(_postgres_name())
        done = manage(*MIGRATE, environment=environment_of(folder, DATABASE_URL=url), seconds=600)
        assert done.returncode == 0, done.stderr

    made_once("postgres", make)
    return _postgres_name()


@pytest.fixture
def migrated_postgres_url(migrated_postgres: str) -> Iterator[str]:
    """Return the address of a PostgreSQL database with empty tables, which is dropped after the test."""
    with temporary_database(template=migrated_postgres) as url:
        yield url


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Drop the database of the run when all of its processes have ended."""
    is_worker = hasattr(session.config, "workerinput")
    if not is_worker and Path(shared_folder(), "postgres.lock").exists():
        drop_database(_postgres_name())


def _is_sqlite() -> bool:
    return bool(settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"))


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """On SQLite, use a copy of the migrated site's database instead of migrating in each test process."""
    return _is_sqlite()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    request: pytest.FixtureRequest, django_db_modify_db_settings_parallel_suffix: None
) -> None:
    """On SQLite, copy the migrated site's database to the path of this process's test database."""
    if _is_sqlite():
        site: Path = request.getfixturevalue("migrated_site")
        shutil.copy(site / "horsesense.sqlite3", settings.DATABASES["default"]["TEST"]["NAME"])


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> None:
    """On SQLite, keep a copy of the empty tables. After a test with real transactions it is copied back.

    Django empties the tables one by one, which takes 45 ms of processor time; this takes 4 ms.
    """
    if not _is_sqlite():
        return
    tables = Path(settings.DATABASES["default"]["NAME"])
    kept = tables.with_name("empty.sqlite3")
    copy_tables(tables, kept)

    def empty_tables(case: TransactionTestCase) -> None:
        connection.close()
        copy_tables(kept, tables)

    TransactionTestCase._fixture_teardown = empty_tables


def copy_tables(source: Path, target: Path) -> None:
    """Copy an SQLite database over another one; wait for transactions of other connections, but not for ever."""
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(target, timeout=60)) as other:
        one.backup(other, progress=_check_end)


def _check_end(status: int, remaining: int, total: int) -> None:
    assert status == sqlite3.SQLITE_DONE, f"Expected to empty the tables after a test, got SQLite's status {status}."
