"""The metrics for Prometheus: access to them, their content, and the data that they never contain."""

import re
import secrets
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from generation.engine.worlds import REGISTRY
from generation.making import dataset_jobs
from generation.models import Dataset, JobEvent, from_now
from tests import riddles
from tests.faults.stack import Site
from tests.webapp.commands import environment_of
from webapp.models import User
from webapp.monitoring import metrics

TOKEN = "a token of 24 characters"


def samples(text: str) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Return the value of each sample by its name and labels, as Prometheus reads it."""
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def read(client: Client, settings: Any) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    settings.METRICS_TOKEN = TOKEN
    answer = client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert "no-store" in answer["Cache-Control"]
    return samples(answer.text)


@pytest.mark.django_db
def test_strangers_get_404(client: Client, settings: Any) -> None:
    headers: list[dict[str, str]] = [{}, {"authorization": "Bearer "}, {"authorization": f"Bearer {TOKEN}"}]
    for given in headers:
        assert client.get("/metrics", headers=given).status_code == 404
    settings.METRICS_TOKEN = TOKEN
    for wrong in ("", "Bearer", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer é"):
        assert client.get("/metrics", headers={"authorization": wrong}).status_code == 404
    client.force_login(User.objects.create_user("grace"))
    assert client.get("/metrics").status_code == 404
    assert client.post("/metrics", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 405


@pytest.mark.django_db
def test_staff_and_clients_with_the_token_may_read_metrics(client: Client, settings: Any) -> None:
    read(client, settings)
    client.force_login(User.objects.create_user("grace", is_staff=True))
    assert client.get("/metrics").status_code == 200


@pytest.mark.django_db
def test_requests_are_counted_by_route_verb_and_status(client: Client, settings: Any) -> None:
    labels = {name: dict(zip(("method", "route", "status"), values, strict=True)) for name, values in {
        "page": ("GET", "docs_page", "2xx"), "missing": ("GET", "docs_page", "4xx"), "nothing": ("GET", "none", "4xx"),
        "refused": ("POST", "home", "4xx"), "odd": ("other", "home", "4xx"),
    }.items()}  # fmt: skip
    before = read(client, settings).get("horsesense_request_seconds_count", {})
    client.get("/docs/running/")
    client.get("/docs/none-of-that-name/")
    client.get("/nothing/here/")
    client.post("/")
    client.generic("BREW", "/")
    after = read(client, settings)
    for name, wanted in labels.items():
        key = tuple(sorted(wanted.items()))
        assert after["horsesense_request_seconds_count"][key] - before.get(key, 0) == 1, name
    buckets = after["horsesense_request_seconds_bucket"]
    page = tuple(sorted({**labels["page"], "le": "+Inf"}.items()))
    assert buckets[page] == after["horsesense_request_seconds_count"][tuple(sorted(labels["page"].items()))]


@pytest.mark.django_db
def test_invented_addresses_add_no_labels(client: Client, settings: Any) -> None:
    read(client, settings)
    before = len(read(client, settings)["horsesense_request_seconds_count"])
    for _ in range(30):
        name = secrets.token_hex(4)
        client.get(f"/docs/{name}/")
        client.get(f"/{name}/")
        client.get(f"/s/{name}/")
        client.get(f"/datasets/{name}/")
        client.generic(name.upper(), "/")
    assert len(read(client, settings)["horsesense_request_seconds_count"]) <= before + 8


@pytest.mark.django_db
def test_waiting_jobs_are_counted_by_kind(client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REGISTRY, riddles.NAME, riddles.WHERE)
    dataset = dataset_jobs.start(riddles.SPEC, slug="riddles", secrets={"test": "0f" * 16})
    dataset.jobs.update(created=from_now(-5000))
    job = dataset_jobs.claim()
    assert job is not None
    type(job).objects.filter(pk=job.pk).update(crashes=3)
    found = read(client, settings)
    kinds = dict(dataset.jobs.values_list("kind", "pk"))
    waiting = {
        dict(key)["kind"]: value for key, value in found["horsesense_jobs"].items() if ("state", "waiting") in key
    }
    assert set(waiting) == set(kinds) and sum(waiting.values()) == dataset.jobs.count() - 1
    assert found["horsesense_jobs"][("kind", job.kind), ("state", "running")] == 1
    assert 5000 <= min(found["horsesense_job_oldest_seconds"].values()) < 6000
    assert sum(found["horsesense_job_attempts"].values()) == 1
    assert sum(found["horsesense_job_lease_losses"].values()) == 3
    assert found["horsesense_database_up"][()] == 1
    assert found["horsesense_disk_free_bytes"][()] > 0
    [build] = found["horsesense_build_info"]
    assert dict(build)["release"]


@pytest.mark.django_db
def test_events_of_jobs_are_counted_permanently(client: Client, settings: Any) -> None:
    for _ in range(2):
        JobEvent.objects.note("datasets", JobEvent.Event.CRASHED)
    found = read(client, settings)["horsesense_job_events"]
    assert found == {(("event", "crashed"), ("kind", "datasets")): 2}


@pytest.mark.django_db
def test_no_label_contains_private_data(client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REGISTRY, riddles.NAME, riddles.WHERE)
    dataset_jobs.start(
        riddles.SPEC, slug="unseen-slug", visibility=Dataset.Visibility.PRIVATE, secrets={"test": "0f" * 16}
    )
    User.objects.create_user("unseen-name", "unseen@example.org")
    for path in ("/datasets/unseen-slug/", "/s/unseen-code/?PROLIFIC_PID=unseen", "/login/unseen/", "/?q=unseen"):
        client.get(path)
    settings.METRICS_TOKEN = TOKEN
    text = client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"}).text
    assert "horsesense_jobs{" in text
    assert not re.search(r"unseen|example\.org|Bearer", text)


@pytest.mark.django_db
def test_without_a_database_the_other_metrics_are_there(
    client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.db import OperationalError

    def broken() -> Iterator[Any]:
        raise OperationalError
        yield

    monkeypatch.setattr(metrics, "_of_database", broken)
    found = read(client, settings)
    assert found["horsesense_database_up"][()] == 0
    assert "horsesense_jobs" not in found and found["horsesense_build_info"]


@pytest.mark.slow
@pytest.mark.full
def test_several_web_processes_on_postgresql_are_added_up(migrated_postgres_url: str, tmp_path: Path) -> None:
    environment = environment_of(tmp_path / "var", DATABASE_URL=migrated_postgres_url, METRICS_TOKEN=TOKEN)
    environment |= {"WEB_PROCESSES": "3", "WEB_THREADS": "2", "TMPDIR": str(tmp_path)}
    site = Site("services", tmp_path / "var", environment, database=migrated_postgres_url)
    try:
        site.start("web")
        wait_until_it_answers(site)
        for _ in range(60):
            assert fetch(site, "/docs/")[0] == 200
        key = (("method", "GET"), ("route", "docs"), ("status", "2xx"))

        def metrics() -> Any:
            return samples(fetch(site, "/metrics", Authorization=f"Bearer {TOKEN}")[1])

        # A request is counted after its answer was sent, which may be a moment after the answer is received here.
        site.wait_until(lambda: metrics()["horsesense_request_seconds_count"][key] >= 60, what="60 requests counted")
        found = metrics()
        assert found["horsesense_request_seconds_count"][key] == 60
        assert sum(found["horsesense_database_connections"].values()) >= 1
        assert found["horsesense_database_connections_most"][()] >= 10

        def files() -> list[Path]:
            fetch(site, "/health/live/")
            return list(tmp_path.glob("horsesense-metrics-*/*.db"))

        site.wait_until(lambda: len(files()) == 3, what="each of three processes counts")
        left = tmp_path / "horsesense-metrics-999999999-killed"
        left.mkdir()
        site.kill("web")
        [killed] = set(tmp_path.glob("horsesense-metrics-*")) - {left}
        site.start("web")
        wait_until_it_answers(site)
        assert not left.exists() and not killed.exists()
        site.stop("web")
        assert not list(tmp_path.glob("horsesense-metrics-*"))
    finally:
        site.end()


def wait_until_it_answers(site: Site) -> None:
    site.wait_until(lambda: fetch(site, "/health/live/")[0] == 200, what="the web server answers")


def fetch(site: Site, path: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{site.port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.slow
def test_a_stopping_web_process_is_not_ready_and_says_when_to_retry(
    migrated_environment: dict[str, str], tmp_path: Path
) -> None:
    site = Site("embedded", tmp_path / "var", migrated_environment | {"TMPDIR": str(tmp_path)})
    try:
        site.start("web", kept=False)
        wait_until_it_answers(site)
        connection = HTTPConnection("127.0.0.1", site.port, timeout=30)  # kept open, like a balancer's connection
        found = ask_whether_ready(connection)
        assert found == (200, None)
        site.send("web", signal.SIGTERM, alone=True)
        for _ in range(200):
            time.sleep(0.02)
            if (found := ask_whether_ready(connection))[0] != 200:
                break
        assert found == (503, "30")
        site.wait_until(lambda: site.processes["web"].has_ended, what="the web server ends")
    finally:
        site.end()


def ask_whether_ready(connection: HTTPConnection) -> tuple[int, str | None]:
    connection.request("GET", "/health/ready/")
    answer = connection.getresponse()
    answer.read()
    return answer.status, answer.headers["Retry-After"]
