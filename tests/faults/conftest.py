"""Sites for fault tests: one with only SQLite and files in a folder, one on PostgreSQL, Redis and a bucket."""

import functools
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import proof
from tests.faults.servers import Bucket, PostgresCluster, RedisProcess, own_postgres, own_redis
from tests.faults.stack import SLUG, Site
from tests.made_once import made_once
from tests.services import S3
from tests.webapp.commands import environment_of, manage

SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.faults.site_settings", "DISK_RESERVE_GB": "0", "GENERATION_PROCESSES": "2"}
EMBEDDED, SERVICES = "embedded", "services"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    ours = [item for item in items if here in item.path.parents]
    for item in ours:
        item.add_marker(pytest.mark.slow)
        if sys.platform != "linux":
            item.add_marker(pytest.mark.skip(reason="finds the site's processes in /proc, which only Linux has"))
    if proof.SHARE < 1:
        left_out = tests_for_full_proofs(ours)
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def tests_for_full_proofs(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests that only run in full proofs.

    In shorter proofs, a test for both stacks runs on one of them: every second test on the embedded stack, the others
    on services.
    """
    both: dict[str, list[pytest.Item]] = {}
    for item in items:
        stack = getattr(item, "callspec", None) and item.callspec.params.get("site")  # type: ignore[attr-defined]
        if stack in (EMBEDDED, SERVICES):
            both.setdefault(f"{item.path.name}::{item.originalname}", []).append(item)  # type: ignore[attr-defined]
    left_out: list[pytest.Item] = []
    for number, name in enumerate(sorted(both)):
        keep = (EMBEDDED, SERVICES)[number % 2]
        left_out += [item for item in both[name] if item.callspec.params["site"] != keep]  # type: ignore[attr-defined]
    return left_out


@pytest.fixture(scope="session")
def migrated(migrated_site: Path) -> Path:
    """Return a VAR_DIR with empty tables, to be copied. Code that is compiled at first use is compiled before."""

    def make(folder: Path) -> None:
        # On a machine that has never run a site, all processes would compile the same code at once, for minutes.
        done = manage("warm", environment=environment_of(folder, **SETTINGS), seconds=600)
        assert done.returncode == 0, done.stderr
        folder.mkdir(exist_ok=True)

    made_once("warm", make)
    return migrated_site


@contextmanager
def embedded(migrated: Path, folder: Path) -> Iterator[Site]:
    """Give a site with SQLite, the embedded broker and files in a folder."""
    shutil.copytree(migrated, folder)
    site = Site(EMBEDDED, folder, environment_of(folder, **SETTINGS))
    try:
        yield site
    finally:
        site.end()


@pytest.fixture(scope="session")
def undisturbed(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, Any]], str]:
    """Give a function that makes a dataset of a spec without any fault, and returns its content hash."""

    @functools.cache
    def made(spec: str) -> str:
        with embedded(migrated, tmp_path_factory.mktemp("undisturbed") / "var") as site:
            site.begin(json.loads(spec), images=False)
            assert site.manage("work", "--dataset", SLUG).returncode == 0
            assert site.state().state == "complete"
            return site.fingerprint()

    return lambda spec: made(json.dumps(spec))


@pytest.fixture
def redis_process(tmp_path: Path) -> Iterator[RedisProcess]:
    """Give a running Redis server that only this test uses."""
    with own_redis(tmp_path / "redis") as server:
        yield server


@pytest.fixture
def services_site(
    migrated: Path, migrated_postgres_url: str, redis_process: RedisProcess, s3: S3, tmp_path: Path
) -> Iterator[Site]:
    """Give a site, not started, on a database of the shared PostgreSQL, a separate Redis server, and a bucket."""
    site = on_services(migrated_postgres_url, redis_process, s3, tmp_path / "var")
    try:
        yield site
    finally:
        site.end()


def on_services(database: str, redis: RedisProcess, s3: S3, folder: Path) -> Site:
    bucket = Bucket(s3)
    services = {"DATABASE_URL": database, "REDIS_URL": redis.url, **bucket.environment}
    return Site(SERVICES, folder, environment_of(folder, **SETTINGS, **services), database=database, bucket=bucket)


@pytest.fixture
def embedded_site(migrated: Path, tmp_path: Path) -> Iterator[Site]:
    """Give a site, not started, with SQLite, the embedded broker and files in a folder."""
    with embedded(migrated, tmp_path / "var") as site:
        yield site


@pytest.fixture(params=[EMBEDDED, SERVICES])
def site(request: pytest.FixtureRequest) -> Site:
    """Give a site, not started, once on each stack."""
    site: Site = request.getfixturevalue(f"{request.param}_site")
    return site


@pytest.fixture
def cluster() -> Iterator[PostgresCluster]:
    """Give a running PostgreSQL server that only this test uses."""
    with own_postgres() as running:
        yield running


@pytest.fixture
def stoppable_site(cluster: PostgresCluster, redis_process: RedisProcess, s3: S3, tmp_path: Path) -> Iterator[Site]:
    """Give a site, not started, on the PostgreSQL server `cluster`, which the test can stop and start."""
    site = on_services(cluster.url, redis_process, s3, tmp_path / "var")
    done = site.manage("migrate", "--verbosity", "0")
    assert done.returncode == 0, done.stderr
    try:
        yield site
    finally:
        site.end()
