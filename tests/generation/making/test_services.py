"""Datasets on PostgreSQL and Redis: they equal those on SQLite, and deleting them removes everything."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from tests.services import RedisServer
from tests.webapp.commands import ROOT, manage

pytestmark = pytest.mark.slow
GENERATE = ["generate", "fake-mini", "--secret", f"test={'0f' * 16}", "--workers", "2"]
WORKER = ["-m", "webapp.running.worker", "generation", "--processes", "2"]
RULES = [
    f"tests/generation/{name}.py"
    for name in (
        "making/test_datasets",
        "test_models",
        "storage/test_items",
        "queue/test_scheduler",
        "specs/test_deadlines",
    )
]
BEGIN = """
import django; django.setup()
from generation.making import dataset_jobs as jobs
from tests.generation.fake_world import PRESET
for number in range({datasets}):
    changes = {{"scenes_per_chunk": {chunk}, "splits": {{"train": {{"scenes": 45}}}}}}
    jobs.start({{**PRESET, **changes}}, slug=f"rows-{{number}}")
"""
CLAIM_ALL = """
import django; django.setup()
import sys
from generation.making import dataset_jobs as jobs
list(jobs.Job.objects.all()[:1])  # the database is reached before anybody begins
print("ready", flush=True)
sys.stdin.readline()
while (job := jobs.claim()) is not None:
    print(job.pk, job.token, flush=True)
"""


class Site(NamedTuple):
    """A site for one test: its PostgreSQL database, and the environment of its processes."""

    url: str
    environment: dict[str, str]

    def ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a query and return its rows."""
        with psycopg.connect(self.url) as connection:
            return connection.execute(query, values).fetchall()

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        """Start a Python program with the environment of the site."""
        return subprocess.Popen([sys.executable, *arguments], env=self.environment, cwd=ROOT, text=True, **options)

    def begin(self, *, datasets: int, chunk: int) -> None:
        """Begin datasets, so that their jobs wait."""
        assert self.start("-c", BEGIN.format(datasets=datasets, chunk=chunk)).wait(60) == 0


@pytest.fixture
def on_sqlite(site_environment: dict[str, str]) -> dict[str, str]:
    """Give the environment of a site with its own files and SQLite."""
    return {**site_environment, "DJANGO_SETTINGS_MODULE": "tests.generation.site_settings"}


@pytest.fixture
def site(on_sqlite: dict[str, str], migrated_postgres_url: str, tmp_path: Path) -> Site:
    """Give a site with its own files and PostgreSQL."""
    changes = {"DATABASE_URL": migrated_postgres_url, "VAR_DIR": str(tmp_path / "postgres")}
    return Site(migrated_postgres_url, {**on_sqlite, **changes})


def fingerprint_on(environment: dict[str, str]) -> str:
    done = manage(*GENERATE, environment=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.full
def test_a_dataset_on_postgresql_equals_that_on_sqlite_and_is_deleted_completely(
    on_sqlite: dict[str, str], site: Site
) -> None:
    expected = fingerprint_on(on_sqlite)
    assert fingerprint_on(site.environment) == expected
    assert site.ask("SELECT fingerprint, with_images FROM generation_dataset") == [(expected, True)]
    assert site.ask("SELECT count(*) FROM generation_scene WHERE image <> ''") == [(45,)]
    assert not Path(site.environment["VAR_DIR"], "horsesense.sqlite3").exists()
    stored = [path for path in Path(site.environment["VAR_DIR"]).rglob("*") if path.suffix in (".png", ".npy")]
    assert len(stored) > 90
    done = manage("delete", "fake-mini", environment=site.environment)
    assert done.returncode == 0, done.stderr
    for table in ("dataset", "split", "chunk", "scene", "question", "job"):
        assert site.ask(f"SELECT count(*) FROM generation_{table}") == [(0,)], table
    assert not [path for path in stored if path.exists()]


@pytest.mark.full
def test_two_processes_never_claim_the_same_job_on_postgresql(site: Site) -> None:
    site.begin(datasets=4, chunk=1)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    both = [site.start("-c", CLAIM_ALL, **pipes) for _ in range(2)]
    for process in both:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    claimed = [[tuple(line.split()) for line in process.communicate(timeout=120)[0].splitlines()] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert all(claimed)
    held = [(str(pk), token) for pk, token in site.ask("SELECT id, token FROM generation_job WHERE state = 'running'")]
    assert sorted(claimed[0] + claimed[1]) == sorted(held)
    assert len(held) == 180


def test_the_test_files_for_postgresql_exist() -> None:
    assert [rule for rule in RULES if not (ROOT / rule).is_file()] == []


@pytest.mark.full
def test_tests_of_claims_and_leases_pass_on_postgresql(postgres_url: str, tmp_path: Path) -> None:
    environment = {**os.environ, "DATABASE_URL": postgres_url, "HORSESENSE_TEST_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *RULES]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout


@pytest.mark.full
def test_celery_workers_make_a_dataset_with_postgresql_and_redis(
    on_sqlite: dict[str, str], site: Site, redis_server: RedisServer
) -> None:
    site.environment.update(redis_server.environment)
    site.begin(datasets=1, chunk=12)
    worker = site.start(*WORKER)
    try:
        end = time.monotonic() + 90
        while site.ask("SELECT state FROM generation_dataset") == [("making",)]:
            assert time.monotonic() < end and worker.poll() is None
            time.sleep(0.3)
        assert site.ask("SELECT state, error FROM generation_dataset") == [("complete", "")]
        assert site.ask("SELECT queues FROM generation_heartbeat WHERE queues <> ''") == [("generation",)]
        assert not Path(site.environment["VAR_DIR"], "broker.sqlite3").exists()
    finally:
        worker.terminate()
        assert worker.wait(60) == 0
    [(made,)] = site.ask("SELECT fingerprint FROM generation_dataset")
    spec = Path(site.environment["VAR_DIR"], "rows.json")
    spec.write_text(site.ask("SELECT spec FROM generation_dataset")[0][0])
    done = manage("generate", str(spec), "--no-images", environment=on_sqlite)
    assert done.stdout.strip() == made
