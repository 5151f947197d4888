"""The health page: every part made to fail in turn, the status that says so, and nothing told about datasets."""

import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings
from django.db import DatabaseError
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from generation.engine.worlds import REGISTRY
from generation.making import dataset_jobs
from generation.models import Dataset, Heartbeat, Job, from_now
from generation.queue import workers
from generation.storage import files
from tests import riddles
from tests.faults.servers import RedisProcess, own_redis
from tests.services import S3
from tests.webapp.backups.test_round_trip import bucket_of
from webapp.monitoring import health, health_probes

pytestmark = pytest.mark.django_db

PARTS = ["database", "broker", "generation", "default", "sweep", "jobs", "disk", "store"]


@pytest.fixture
def well(settings: Any, tmp_path: Path) -> Any:
    """Give a site that has run for a while, with everything it needs."""
    settings.STARTUP_SECONDS = 0
    settings.STORE_PROBE_SECONDS = 0
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.BROKER_FILE = tmp_path / "broker.sqlite3"
    settings.BROKER_FILE.touch()
    settings.DISK_RESERVE_GB = 0
    workers.beat(name="generation@here", queues="generation")
    workers.beat(name="default@here", queues="default")
    workers.sweep()
    return settings


@pytest.fixture
def riddle(db: None, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Give a dataset that waits to be made."""
    monkeypatch.setitem(REGISTRY, riddles.NAME, riddles.WHERE)
    dataset = dataset_jobs.start(riddles.SPEC, slug="riddles", secrets={"test": "0f" * 16})
    dataset.jobs.update(created=from_now(-5000))
    return dataset


def asked(client: Client, failing: list[str]) -> dict[str, Any]:
    """Return the page's parts, after looking whether it names those that fail, and has the status that says so."""
    answer = client.get("/health/")
    state = answer.json()
    assert state["failing"] == failing
    assert (answer.status_code, state["ok"]) == ((503, False) if failing else (200, True))
    assert [name for name, part in state["parts"].items() if not part["ok"]] == failing
    return state["parts"]


def test_all_well(client: Client, well: Any) -> None:
    parts = asked(client, [])
    assert list(parts) == PARTS
    assert all(part["says"].endswith(".") for part in parts.values())
    assert parts["generation"]["seconds"] < 60 and parts["sweep"]["seconds"] < 60
    assert parts["jobs"]["seconds"] is None
    assert parts["disk"]["free_gb"] > 0
    assert client.get("/health/").json()["background_processes"] == 2


def test_programs_and_people_can_read_it(client: Client, well: Any) -> None:
    answer = client.get("/health/")
    assert answer["Content-Type"] == "application/json"
    assert answer.text == json.dumps(answer.json(), indent=2)
    assert "no-store" in answer["Cache-Control"]


def test_it_asks_the_database_little(client: Client, well: Any, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(4):
        client.get("/health/")


# Database


def test_no_database(client: Client, well: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise DatabaseError("no such host: db.internal")

    monkeypatch.setattr(health.connection, "cursor", broken)
    parts = asked(client, ["database"])
    assert parts["database"]["says"] == "Expected an answer, got DatabaseError."
    assert list(parts) == ["database", "broker", "disk", "store"]
    assert "db.internal" not in client.get("/health/").text


def test_a_database_without_our_tables(client: Client, well: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Heartbeat._meta, "db_table", "none")
    parts = asked(client, ["database"])
    assert parts["database"]["says"] in {
        f"Expected an answer, got {name}Error." for name in ("Operational", "Programming")
    }


# Broker


def test_no_embedded_broker(client: Client, well: Any) -> None:
    settings.BROKER_FILE.unlink()
    assert asked(client, ["broker"])["broker"]["says"] == "Expected an answer, got OperationalError."
    assert not settings.BROKER_FILE.exists()


def test_an_embedded_broker_that_is_no_database(client: Client, well: Any) -> None:
    settings.BROKER_FILE.write_bytes(b"no database" * 1000)
    asked(client, ["broker"])


@pytest.fixture
def own(well: Any, tmp_path: Path) -> Iterator[RedisProcess]:
    """Give a Redis of this test's own, which the site uses, to be broken."""
    with own_redis(tmp_path / "redis") as server:
        well.REDIS_URL, well.CELERY_BROKER_URL = server.url, f"{server.url}/0"
        yield server


@pytest.mark.slow
def test_redis_stops(client: Client, own: RedisProcess) -> None:
    asked(client, [])
    own.kill()
    assert asked(client, ["broker"])["broker"]["says"] == "Expected an answer, got ConnectionError."


@pytest.mark.slow
def test_redis_is_full(client: Client, own: RedisProcess) -> None:
    with redis.from_url(own.url) as smaller:
        smaller.config_set("maxmemory", 1)  # byte
    assert asked(client, ["broker"])["broker"]["says"] == "Expected an answer, got OutOfMemoryError."


# Background processes


@pytest.mark.parametrize("name", ["generation", "default"])
def test_a_background_process_that_fell_silent(client: Client, well: Any, name: str) -> None:
    Heartbeat.objects.filter(queues=name).update(seen=from_now(-500))
    part = asked(client, [name])[name]
    assert 500 <= part["seconds"] < 600
    assert part["says"].startswith("Expected a sign of life within 60 s, got the last one 5")
    assert part["says"].endswith(f"Start: manage.py process {name}")
    assert client.get("/health/").json()["background_processes"] == 1


def test_one_of_several_is_enough(client: Client, well: Any) -> None:
    workers.beat(name="generation@there", queues="default,generation")
    Heartbeat.objects.filter(name__endswith="@here").update(seen=from_now(-500))
    asked(client, [])


def test_no_background_process_ever(client: Client, well: Any) -> None:
    Heartbeat.objects.all().delete()
    parts = asked(client, ["generation", "default", "sweep"])
    assert parts["default"]["seconds"] is None
    assert "got none ever" in parts["default"]["says"]


def test_nobody_sweeps(client: Client, well: Any) -> None:
    Heartbeat.objects.filter(name=Heartbeat.SWEEP).update(seen=from_now(-500))
    assert asked(client, ["sweep"])["sweep"]["seconds"] >= 500


def test_a_site_that_has_just_started_may_still_be_without_them(client: Client, well: Any) -> None:
    well.STARTUP_SECONDS = 1e9
    Heartbeat.objects.update(seen=from_now(-500))
    assert "has just started" in asked(client, [])["generation"]["says"]


# Work


def test_work_that_nobody_begins(client: Client, well: Any, riddle: Dataset) -> None:
    part = asked(client, ["jobs"])["jobs"]
    assert part["seconds"] >= 5000 and part["idle_seconds"] >= 5000
    assert part["says"].startswith("Expected a waiting job to be begun within 300 s, got none for 5")


def test_old_work_behind_other_work_is_well(client: Client, well: Any, riddle: Dataset) -> None:
    job = dataset_jobs.claim()
    assert job is not None
    part = asked(client, [])["jobs"]
    assert part["seconds"] >= 5000 and part["idle_seconds"] == 0


def test_work_whose_holder_is_gone_is_not_being_done(client: Client, well: Any, riddle: Dataset) -> None:
    job = dataset_jobs.claim()
    assert job is not None
    Job.objects.filter(pk=job.pk).update(lease=from_now(-10), started=from_now(-700))
    part = asked(client, ["jobs"])["jobs"]
    assert 700 <= part["idle_seconds"] < part["seconds"]


def test_work_that_was_done_lately_is_well(client: Client, well: Any, riddle: Dataset) -> None:
    job = dataset_jobs.claim()
    assert job is not None
    dataset_jobs.RUNNER.run(job)
    assert asked(client, [])["jobs"]["idle_seconds"] < 300


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_work_of_datasets_that_are_not_made_waits_for_nothing(
    client: Client, well: Any, riddle: Dataset, state: str
) -> None:
    Dataset.objects.update(state=state)
    assert asked(client, [])["jobs"]["seconds"] is None


def test_deleting_is_work_too(client: Client, well: Any, riddle: Dataset) -> None:
    dataset_jobs.delete(riddle)
    riddle.jobs.update(created=from_now(-400))
    asked(client, ["jobs"])


def test_the_clock_is_the_databases(well: Any, riddle: Dataset) -> None:
    queue = Job.objects.queue()
    assert queue.oldest is not None
    assert timedelta(seconds=4990) < queue.oldest < timedelta(seconds=5200)


# Disk


def test_too_little_disk(client: Client, well: Any) -> None:
    well.DISK_RESERVE_GB = 1e9
    part = asked(client, ["disk"])["disk"]
    assert part["free_gb"] < part["at_least"] == 1e9
    assert part["says"].startswith("Expected 1e+09 GB free under MEDIA_ROOT, got ")


def test_files_elsewhere_need_no_disk(client: Client, well: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    well.DISK_RESERVE_GB = 1e9
    monkeypatch.setattr(files, "local_path", lambda name: None)
    assert asked(client, [])["disk"]["free_gb"] is None


# Files


def test_files_that_cannot_be_written(client: Client, well: Any, tmp_path: Path) -> None:
    asked(client, [])
    assert list((tmp_path / "media").iterdir()) == []  # nothing is left
    (tmp_path / "media").rmdir()
    (tmp_path / "media").write_text("in the way")
    assert asked(client, ["store"])["store"]["says"] == "Expected an answer, got FileExistsError."


def test_a_bucket_that_is_away(client: Client, well: Any, s3: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_probes, "LIMIT", 60.0)  # machines that run tests are busy
    well.STORAGES = {**well.STORAGES, "default": bucket_of(s3)}
    asked(client, [])
    well.STORAGES = {**well.STORAGES, "default": bucket_of(replace(s3, bucket="another"))}
    assert asked(client, ["store"])["store"]["says"] == "Expected an answer, got NoSuchBucket."


def test_files_that_hang_are_waited_for_by_one_probe_alone(
    client: Client, well: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(client, [])
    ended, begun = threading.Event(), []
    monkeypatch.setattr(health_probes, "LIMIT", 0.05)
    monkeypatch.setattr(files, "put", lambda *_: (begun.append(1), ended.wait(60)))
    for _ in range(3):
        assert asked(client, ["store"])["store"]["says"] == "Expected an answer, got none within 0 s."
    assert len(begun) == 1
    ended.set()


def test_asking_often_costs_as_much_as_asking_once(
    client: Client, well: Any, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    written: list[str] = []
    put = files.put
    monkeypatch.setattr(files, "put", lambda name, content: (written.append(name), put(name, content)))
    well.HEALTH_SECONDS = well.STORE_PROBE_SECONDS = 600
    pages = ("/health/", "/health/web/", "/health/ready/", "/health/live/")
    first = [client.get(page).content for page in pages]
    with django_assert_num_queries(0):
        for _ in range(20):
            assert [client.get(page).content for page in pages] == first
    assert len(written) == 1


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    for kept in (health.kept, health.kept_of_web, health_probes.ready, health_probes.store):
        kept.until = 0.0


# Balancers


def test_ready_is_apart_from_alive(client: Client, well: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Heartbeat.objects.all().delete()  # background processes are another matter
    answer = client.get("/health/ready/")
    assert (answer.status_code, answer.json()["failing"]) == (200, [])

    def broken() -> None:
        raise DatabaseError

    monkeypatch.setattr(health_probes.connection, "cursor", broken)
    answer = client.get("/health/ready/")
    assert (answer.status_code, answer.json()["failing"]) == (503, ["database"])
    assert int(answer["Retry-After"]) > 0
    assert client.get("/health/live/").json() == {"ok": True}


def test_a_database_that_waits_for_its_update_is_not_ready(
    client: Client, well: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health_probes._Fits, "known", False)
    MigrationRecorder.Migration.objects.filter(app="sessions").delete()
    answer = client.get("/health/ready/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "30")
    assert "It waits for manage.py upgrade." in answer.json()["parts"]["database"]["says"]
    MigrationRecorder.Migration.objects.create(app="sessions", name="0001_initial")
    assert client.get("/health/ready/").status_code == 200


@pytest.mark.slow
def test_a_cache_that_is_away_is_not_ready(client: Client, well: Any, tmp_path: Path) -> None:
    with own_redis(tmp_path / "redis") as server:
        backend = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": f"{server.url}/1"}
        well.CACHES = {"default": backend}
        assert client.get("/health/ready/").status_code == 200
        server.kill()
        answer = client.get("/health/ready/")
        assert (answer.status_code, answer.json()["failing"]) == (503, ["cache"])
        assert client.get("/health/live/").status_code == 200


# Who looks


def test_a_web_process_answers_for_itself(client: Client, well: Any, riddle: Dataset) -> None:
    Heartbeat.objects.all().delete()
    well.DISK_RESERVE_GB = 1e9
    answer = client.get("/health/web/")
    assert (answer.status_code, list(answer.json()["parts"])) == (200, ["database", "broker"])
    settings.BROKER_FILE.unlink()
    answer = client.get("/health/web/")
    assert (answer.status_code, answer.json()["failing"]) == (503, ["broker"])


def test_it_tells_nothing_about_datasets(client: Client, well: Any, riddle: Dataset) -> None:
    riddle.jobs.update(message="Expected wigglytuft.", worker="machine-7:99")
    text = client.get("/health/").text
    assert not [word for word in ("riddle", "wiggly", "machine-7", "here", sys.executable) if word in text]


@pytest.mark.parametrize("address", ["/health/", "/health/web/", "/health/ready/", "/health/live/"])
def test_only_looking_is_allowed(client: Client, address: str) -> None:
    assert client.post(address).status_code == 405
    assert client.head(address).status_code == 200
