"""The health pages: each part is made to fail, the status reports it, and nothing about datasets is revealed."""

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
from generation.models import AblationReport, BlindReport, Dataset, Export, Heartbeat, Job, from_now
from generation.queue import leases, runner, scheduler, workers
from generation.storage import files
from tests import riddles
from tests.faults.servers import RedisProcess, own_redis
from tests.services import S3
from webapp.leaderboards.models import Method, Submission, Training
from webapp.models import User
from webapp.monitoring import health, health_probes

pytestmark = pytest.mark.django_db

PARTS = ["database", "broker", "generation", "default", "sweep", "jobs", "disk", "store"]


@pytest.fixture
def well(settings: Any, tmp_path: Path) -> Any:
    """Make the site healthy: it is past its start, and all services and background processes are there."""
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
    """Give a dataset whose jobs have waited for 5,000 seconds."""
    monkeypatch.setitem(REGISTRY, riddles.NAME, riddles.WHERE)
    dataset = dataset_jobs.start(riddles.SPEC, slug="riddles", secrets={"test": "0f" * 16})
    dataset.jobs.update(created=from_now(-5000))
    return dataset


def check_parts(client: Client, failing: list[str]) -> dict[str, Any]:
    """Check that the page has the right status and names the failing parts, and return all parts."""
    answer = client.get("/health/")
    state = answer.json()
    assert state["failing"] == failing
    assert (answer.status_code, state["ok"]) == ((503, False) if failing else (200, True))
    assert [name for name, part in state["parts"].items() if not part["ok"]] == failing
    return state["parts"]


def test_a_healthy_site_has_no_failing_part(client: Client, well: Any) -> None:
    parts = check_parts(client, [])
    assert list(parts) == PARTS
    assert all(part["says"].endswith(".") for part in parts.values())
    assert parts["generation"]["seconds"] < 60 and parts["sweep"]["seconds"] < 60
    assert parts["jobs"]["seconds"] is None
    assert parts["disk"]["free_gb"] > 0
    assert client.get("/health/").json()["background_processes"] == 2


def test_the_page_is_indented_json(client: Client, well: Any) -> None:
    answer = client.get("/health/")
    assert answer["Content-Type"] == "application/json"
    assert answer.text == json.dumps(answer.json(), indent=2)
    assert "no-store" in answer["Cache-Control"]


def test_the_page_needs_few_queries(client: Client, well: Any, django_assert_max_num_queries: Any) -> None:
    client.get("/health/live/")  # loads every kind of job
    with django_assert_max_num_queries(2 + len(runner.RUNNERS)):  # one for each table of jobs
        client.get("/health/")


# Database


def test_a_missing_database_is_reported(client: Client, well: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise DatabaseError("no such host: db.internal")

    monkeypatch.setattr(health.connection, "cursor", broken)
    parts = check_parts(client, ["database"])
    assert parts["database"]["says"] == "Expected an answer, got DatabaseError."
    assert list(parts) == ["database", "broker", "disk", "store"]
    assert "db.internal" not in client.get("/health/").text


def test_a_database_without_tables_is_reported(client: Client, well: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Heartbeat._meta, "db_table", "none")
    parts = check_parts(client, ["database"])
    assert parts["database"]["says"] in {
        f"Expected an answer, got {name}Error." for name in ("Operational", "Programming")
    }


# Broker


def test_a_missing_embedded_broker_is_reported(client: Client, well: Any) -> None:
    settings.BROKER_FILE.unlink()
    assert check_parts(client, ["broker"])["broker"]["says"] == "Expected an answer, got OperationalError."
    assert not settings.BROKER_FILE.exists()


def test_an_embedded_broker_that_is_not_a_database_is_reported(client: Client, well: Any) -> None:
    settings.BROKER_FILE.write_bytes(b"no database" * 1000)
    check_parts(client, ["broker"])


@pytest.fixture
def own(well: Any, tmp_path: Path) -> Iterator[RedisProcess]:
    """Give a Redis server that the site uses, and that the test may break."""
    with own_redis(tmp_path / "redis") as server:
        well.REDIS_URL, well.CELERY_BROKER_URL = server.url, f"{server.url}/0"
        yield server


@pytest.mark.slow
def test_a_redis_that_stops_is_reported(client: Client, own: RedisProcess) -> None:
    check_parts(client, [])
    own.kill()
    assert check_parts(client, ["broker"])["broker"]["says"] == "Expected an answer, got ConnectionError."


@pytest.mark.slow
def test_a_full_redis_is_reported(client: Client, own: RedisProcess) -> None:
    with redis.from_url(own.url) as smaller:
        smaller.config_set("maxmemory", 1)  # byte
    assert check_parts(client, ["broker"])["broker"]["says"] == "Expected an answer, got OutOfMemoryError."


# Background processes


@pytest.mark.parametrize("name", ["generation", "default"])
def test_a_background_process_without_a_recent_heartbeat_is_reported(client: Client, well: Any, name: str) -> None:
    Heartbeat.objects.filter(queues=name).update(seen=from_now(-500))
    part = check_parts(client, [name])[name]
    assert 500 <= part["seconds"] < 600
    assert part["says"].startswith("Expected a sign of life within 60 s, got the last one 5")
    assert part["says"].endswith(f"Start: manage.py process {name}")
    assert client.get("/health/").json()["background_processes"] == 1


def test_one_of_several_background_processes_is_enough(client: Client, well: Any) -> None:
    workers.beat(name="generation@there", queues="default,generation")
    Heartbeat.objects.filter(name__endswith="@here").update(seen=from_now(-500))
    check_parts(client, [])


def test_background_processes_that_never_ran_are_reported(client: Client, well: Any) -> None:
    Heartbeat.objects.all().delete()
    parts = check_parts(client, ["generation", "default", "sweep"])
    assert parts["default"]["seconds"] is None
    assert "got none ever" in parts["default"]["says"]


def test_a_missing_sweep_is_reported(client: Client, well: Any) -> None:
    Heartbeat.objects.filter(name=Heartbeat.SWEEP).update(seen=from_now(-500))
    assert check_parts(client, ["sweep"])["sweep"]["seconds"] >= 500


def test_a_site_that_has_just_started_needs_no_background_processes(client: Client, well: Any) -> None:
    well.STARTUP_SECONDS = 1e9
    Heartbeat.objects.update(seen=from_now(-500))
    assert "has just started" in check_parts(client, [])["generation"]["says"]


# Work


def test_jobs_that_wait_too_long_are_reported(client: Client, well: Any, riddle: Dataset) -> None:
    part = check_parts(client, ["jobs"])["jobs"]
    assert part["seconds"] >= 5000 and part["idle_seconds"] >= 5000
    assert part["says"].startswith("Expected a waiting job to be begun within 30 s while processes are idle, got")


def test_jobs_that_wait_for_running_jobs_are_healthy(client: Client, well: Any, riddle: Dataset) -> None:
    job = dataset_jobs.claim()
    assert job is not None
    part = check_parts(client, [])["jobs"]
    assert part["seconds"] >= 5000 and part["idle_seconds"] == 0


def test_a_job_with_an_expired_lease_is_not_running(client: Client, well: Any, riddle: Dataset) -> None:
    job = dataset_jobs.claim()
    assert job is not None
    Job.objects.filter(pk=job.pk).update(lease=from_now(-10), started=from_now(-700))
    part = check_parts(client, ["jobs"])["jobs"]
    assert 700 <= part["idle_seconds"] < part["seconds"]


def test_recently_finished_jobs_are_healthy(client: Client, well: Any, riddle: Dataset) -> None:
    job = dataset_jobs.claim()
    assert job is not None
    dataset_jobs.RUNNER.run(job)
    assert check_parts(client, [])["jobs"]["idle_seconds"] < 30


def test_jobs_that_wait_beside_an_idle_process_are_reported(client: Client, well: Any, riddle: Dataset) -> None:
    Heartbeat.objects.filter(name="generation@here").update(processes=2)
    job = dataset_jobs.claim()
    assert job is not None
    assert check_parts(client, [])["jobs"]["idle_seconds"] < 30
    Job.objects.filter(pk=job.pk).update(started=from_now(-40))
    assert 40 <= check_parts(client, ["jobs"])["jobs"]["idle_seconds"] < 300
    Heartbeat.objects.filter(name="generation@here").update(processes=1)
    assert check_parts(client, [])["jobs"]["idle_seconds"] == 0


def test_jobs_in_a_pause_are_healthy(client: Client, well: Any, riddle: Dataset) -> None:
    riddle.jobs.update(not_before=from_now(100))
    assert dataset_jobs.claim() is None
    assert check_parts(client, [])["jobs"]["seconds"] >= 5000
    riddle.jobs.update(not_before=from_now(-5))
    scheduler.mend()
    assert check_parts(client, [])["jobs"]["idle_seconds"] < 30


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_jobs_of_failed_or_cancelled_datasets_do_not_count_as_waiting(
    client: Client, well: Any, riddle: Dataset, state: str
) -> None:
    Dataset.objects.update(state=state)
    assert check_parts(client, [])["jobs"]["seconds"] is None


def test_jobs_of_deletions_count_as_waiting(client: Client, well: Any, riddle: Dataset) -> None:
    dataset_jobs.delete(riddle)
    riddle.jobs.update(created=from_now(-400))
    check_parts(client, ["jobs"])


@pytest.fixture
def complete(riddle: Dataset) -> Dataset:
    """Give a dataset without jobs that counts as complete."""
    riddle.jobs.all().delete()
    Dataset.objects.update(state=Dataset.State.COMPLETE, fingerprint="0f" * 32, completed=from_now(0))
    return riddle


def wait_as(kind: str, dataset: Dataset) -> Any:
    """Insert and return a job of a kind of the queue `default`."""
    split, user = dataset.splits.first(), User.objects.get_or_create(username="ada")[0]
    if kind == "exports":
        return Export.objects.create(dataset=dataset, format="clevr")
    if kind == "shortcut reports":
        return BlindReport.objects.create(dataset=dataset)
    if kind == "skipped-step reports":
        return AblationReport.objects.create(split=split)
    if kind == "trainings":
        return Training.objects.create(method="n-grams", owner=user, train=split, val=split, name="n-grams")
    method = Method.objects.get_or_create(name="Guess", owner=user)[0]
    return Submission.objects.create(method=method, split=split)


DEFAULT_KINDS = ["exports", "shortcut reports", "skipped-step reports", "submissions", "trainings"]


def test_the_health_page_knows_each_kind_of_job(client: Client) -> None:
    client.get("/health/live/")
    assert sorted(runner.RUNNERS) == sorted(["datasets", *DEFAULT_KINDS])


@pytest.mark.parametrize("kind", DEFAULT_KINDS)
def test_each_kind_of_job_that_waits_beside_an_idle_process_is_reported(
    client: Client, well: Any, complete: Dataset, kind: str
) -> None:
    job = wait_as(kind, complete)
    jobs = type(job)._default_manager.filter(pk=job.pk)
    assert check_parts(client, [])["jobs"]["says"] == f"The oldest has waited for 0 s ({kind})."
    jobs.update(created=from_now(-40))
    part = check_parts(client, ["jobs"])["jobs"]
    assert 40 <= part["idle_seconds"] == part["seconds"] < 300
    assert part["says"].endswith(f" s. Waiting: {kind}.")
    assert leases.take(job)
    assert check_parts(client, [])["jobs"]["seconds"] is None


def test_jobs_that_wait_while_other_kinds_keep_all_processes_busy_are_healthy(
    client: Client, well: Any, complete: Dataset
) -> None:
    report = wait_as("shortcut reports", complete)
    wait_as("submissions", complete)
    Submission.objects.update(created=from_now(-400))
    assert leases.take(report)
    BlindReport.objects.update(started=from_now(-300))
    assert check_parts(client, [])["jobs"]["idle_seconds"] == 0
    Heartbeat.objects.filter(queues="default").update(processes=2)
    part = check_parts(client, ["jobs"])["jobs"]
    assert 300 <= part["idle_seconds"] < 400 <= part["seconds"]


def test_processes_of_one_queue_do_not_count_for_the_other(client: Client, well: Any, complete: Dataset) -> None:
    assert leases.take(wait_as("shortcut reports", complete))
    BlindReport.objects.update(started=from_now(-300))
    wait_as("submissions", complete)
    Submission.objects.update(created=from_now(-400))
    Heartbeat.objects.filter(queues="generation").update(processes=9)
    check_parts(client, [])


def test_two_workers_on_one_host_have_the_processes_of_both(client: Client, well: Any, complete: Dataset) -> None:
    Heartbeat.objects.filter(queues="default").delete()
    for pid in (1, 2):
        workers.beat(name=f"default@host/pid:[9]:{pid}", queues="default")
    assert leases.take(wait_as("shortcut reports", complete))
    BlindReport.objects.update(started=from_now(-300))
    wait_as("submissions", complete)
    Submission.objects.update(created=from_now(-400))
    check_parts(client, ["jobs"])
    Heartbeat.objects.filter(name__endswith=":2").update(seen=from_now(-70))
    check_parts(client, [])


@pytest.mark.parametrize("kind", ["exports", "trainings"])
def test_a_job_that_waits_for_the_machine_is_healthy(client: Client, well: Any, complete: Dataset, kind: str) -> None:
    Heartbeat.objects.filter(queues="default").delete()
    workers.beat(name="default@one/pid:[9]:7", queues="default", processes=3)
    first, second = wait_as(kind, complete), wait_as(kind, complete)
    assert leases.take(first)
    jobs = type(first)._default_manager
    jobs.filter(pk=first.pk).update(started=from_now(-300))
    jobs.filter(pk=second.pk).update(created=from_now(-400))
    assert check_parts(client, [])["jobs"]["idle_seconds"] == 0
    workers.beat(name="default@two/pid:[9]:7", queues="default", processes=3)
    assert 300 <= check_parts(client, ["jobs"])["jobs"]["idle_seconds"] < 400


def test_a_report_that_is_made_again_has_not_waited_since_it_was_first_made(
    client: Client, well: Any, complete: Dataset
) -> None:
    report = wait_as("shortcut reports", complete)
    BlindReport.objects.filter(pk=report.pk).update(
        state="done", key="k", figures="{}", created=from_now(-9000), started=from_now(-8000), finished=from_now(-7000)
    )
    assert BlindReport.objects.filter(pk=report.pk).start_over() == 1
    assert check_parts(client, [])["jobs"]["seconds"] < 30
    BlindReport.objects.filter(pk=report.pk).update(not_before=from_now(-50))
    assert 50 <= check_parts(client, ["jobs"])["jobs"]["seconds"] < 300


def test_exports_of_a_dataset_that_is_not_complete_cannot_be_claimed(
    client: Client, well: Any, complete: Dataset
) -> None:
    wait_as("exports", complete)
    Export.objects.update(created=from_now(-400))
    Dataset.objects.update(state=Dataset.State.FAILED)
    assert check_parts(client, [])["jobs"]["seconds"] is None


def test_times_are_by_the_clock_of_the_database(well: Any, riddle: Dataset) -> None:
    backlog = Job.objects.backlog()
    assert backlog.oldest is not None
    assert timedelta(seconds=4990) < backlog.oldest < timedelta(seconds=5200)


# Disk


def test_too_little_disk_space_is_reported(client: Client, well: Any) -> None:
    well.DISK_RESERVE_GB = 1e9
    part = check_parts(client, ["disk"])["disk"]
    assert part["free_gb"] < part["at_least"] == 1e9
    assert part["says"].startswith("Expected 1e+09 GB free under MEDIA_ROOT, got ")


def test_files_in_another_storage_need_no_disk_space(
    client: Client, well: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    well.DISK_RESERVE_GB = 1e9
    monkeypatch.setattr(files, "local_path", lambda name: None)
    assert check_parts(client, [])["disk"]["free_gb"] is None


# Files


def test_a_folder_that_cannot_be_written_is_reported(client: Client, well: Any, tmp_path: Path) -> None:
    check_parts(client, [])
    assert list((tmp_path / "media").iterdir()) == []  # no file is left
    (tmp_path / "media").rmdir()
    (tmp_path / "media").write_text("in the way")
    assert check_parts(client, ["store"])["store"]["says"] == "Expected an answer, got FileExistsError."


def test_a_missing_bucket_is_reported(client: Client, well: Any, s3: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_probes, "LIMIT", 60.0)  # the machine may be busy
    well.STORAGES = {**well.STORAGES, "default": s3.storage}
    check_parts(client, [])
    well.STORAGES = {**well.STORAGES, "default": replace(s3, bucket="another").storage}
    assert check_parts(client, ["store"])["store"]["says"] == "Expected an answer, got NoSuchBucket."


def test_only_one_probe_waits_for_a_storage_that_hangs(
    client: Client, well: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_parts(client, [])
    ended, begun = threading.Event(), []
    monkeypatch.setattr(health_probes, "LIMIT", 0.05)
    monkeypatch.setattr(files, "put", lambda *_: (begun.append(1), ended.wait(60)))
    for _ in range(3):
        assert check_parts(client, ["store"])["store"]["says"] == "Expected an answer, got none within 0 s."
    assert len(begun) == 1
    ended.set()


def test_many_requests_cost_as_much_as_one(
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
def forget_results() -> Iterator[None]:
    yield
    for kept in (health.kept, health.kept_of_web, health_probes.ready, health_probes.store):
        kept.until = 0.0


# Balancers


def test_a_process_without_a_database_is_alive_but_not_ready(
    client: Client, well: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    Heartbeat.objects.all().delete()  # readiness does not depend on background processes
    answer = client.get("/health/ready/")
    assert (answer.status_code, answer.json()["failing"]) == (200, [])

    def broken() -> None:
        raise DatabaseError

    monkeypatch.setattr(health_probes.connection, "cursor", broken)
    answer = client.get("/health/ready/")
    assert (answer.status_code, answer.json()["failing"]) == (503, ["database"])
    assert int(answer["Retry-After"]) > 0
    assert client.get("/health/live/").json() == {"ok": True}


def test_a_site_whose_database_needs_migrations_is_not_ready(
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
def test_a_site_without_redis_stays_ready_and_reports_it(client: Client, well: Any, tmp_path: Path) -> None:
    with own_redis(tmp_path / "redis") as server:
        place = {"BACKEND": "webapp.running.site_cache.SiteCache", "LOCATION": f"{server.url}/1"}
        well.CACHES = {"default": place | {"OPTIONS": {"file": tmp_path / "cache.sqlite3"}}}
        answer = client.get("/health/ready/")
        assert (answer.status_code, answer.json()["parts"]["cache"]["says"]) == (200, "Answers.")
        server.kill()
        answer = client.get("/health/ready/")
        assert (answer.status_code, answer.json()["failing"]) == (200, [])
        assert "Redis does not work." in answer.json()["parts"]["cache"]["says"]
        assert client.get("/health/live/").status_code == 200


# Visitors


def test_the_page_of_a_web_process_reports_only_its_own_parts(client: Client, well: Any, riddle: Dataset) -> None:
    Heartbeat.objects.all().delete()
    well.DISK_RESERVE_GB = 1e9
    answer = client.get("/health/web/")
    assert (answer.status_code, list(answer.json()["parts"])) == (200, ["database", "broker"])
    settings.BROKER_FILE.unlink()
    answer = client.get("/health/web/")
    assert (answer.status_code, answer.json()["failing"]) == (503, ["broker"])


def test_the_page_reveals_nothing_about_datasets(client: Client, well: Any, riddle: Dataset) -> None:
    riddle.jobs.update(message="Expected wigglytuft.", worker="machine-7:99")
    text = client.get("/health/").text
    assert not [word for word in ("riddle", "wiggly", "machine-7", "here", sys.executable) if word in text]


@pytest.mark.parametrize("address", ["/health/", "/health/web/", "/health/ready/", "/health/live/"])
def test_only_get_and_head_are_allowed(client: Client, address: str) -> None:
    assert client.post(address).status_code == 405
    assert client.head(address).status_code == 200
