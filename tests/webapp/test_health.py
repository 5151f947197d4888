"""The health page: what works, what doesn't, and the status that says so."""

from pathlib import Path

import pytest
from django.conf import settings
from django.db import DatabaseError
from django.test import Client

from webapp import health

pytestmark = pytest.mark.django_db


def test_all_well(client: Client) -> None:
    answer = client.get("/health/")
    assert answer.status_code == 200
    assert answer.json() == {"ok": True, "database": "ok", "broker": "ok", "background_processes": 0}


def test_background_processes_that_were_heard_of_are_counted(client: Client) -> None:
    from generation.heartbeat import beat

    beat(name="generation@here", queues="generation")
    assert client.get("/health/").json()["background_processes"] == 1


def test_no_database(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise DatabaseError("no such host: db.internal")

    monkeypatch.setattr(health.connection, "cursor", broken)
    answer = client.get("/health/")
    assert answer.status_code == 503
    assert answer.json()["database"] == "DatabaseError"
    assert "db.internal" not in answer.text


def test_no_embedded_broker(client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(settings, "BROKER_FILE", tmp_path / "missing" / "broker.sqlite3")
    answer = client.get("/health/")
    assert (answer.status_code, answer.json()["broker"]) == (503, "OperationalError")


def test_no_redis(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "REDIS_URL", "redis://127.0.0.1:1")
    monkeypatch.setattr(settings, "CELERY_BROKER_URL", "redis://127.0.0.1:1/0")
    answer = client.get("/health/")
    assert (answer.status_code, answer.json()["broker"]) == (503, "ConnectionError")


def test_redis_answers(client: Client, monkeypatch: pytest.MonkeyPatch, redis_url: str) -> None:
    monkeypatch.setattr(settings, "REDIS_URL", redis_url)
    monkeypatch.setattr(settings, "CELERY_BROKER_URL", f"{redis_url}/0")
    assert client.get("/health/").status_code == 200


def test_only_looking_is_allowed(client: Client) -> None:
    assert client.post("/health/").status_code == 405
