"""Background processes: every task is registered, every message is in its queue, and none is delivered twice."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.conf import settings

from generation.queue import DEFAULT
from tests.faults.servers import BlackHole, free_port
from tests.services import RedisServer
from tests.webapp.commands import manage
from webapp.celery import app
from webapp.running.housekeeping import drop_delivered_messages

SEND = "from webapp.celery import app; [app.send_task('webapp.tasks.tidy', queue=q) for q in {queues}]"


@pytest.fixture(autouse=True)
def _loaded() -> None:
    app.loader.import_default_modules()


def test_the_periodic_task_of_earlier_releases_is_accepted() -> None:
    app.tasks["webapp.tasks.tidy"]()


def test_tasks_are_named_after_their_module() -> None:
    ours = {name: task for name, task in app.tasks.items() if not name.startswith("celery.")}
    assert ours
    for name, task in ours.items():
        assert name == f"{task.__module__}.{task.__name__}"


def test_the_two_queues_do_not_share_messages() -> None:
    assert len({(queue.exchange.name, queue.routing_key) for queue in app.conf.task_queues}) == 2


def test_messages_are_hints_that_may_be_lost() -> None:
    assert app.conf.task_ignore_result
    assert not app.conf.task_acks_late
    assert not app.conf.worker_enable_remote_control
    assert not app.conf.worker_send_task_events


def test_a_message_is_in_its_queue_of_the_embedded_broker(site_environment: dict[str, str]) -> None:
    ended = manage("shell", "--no-imports", "-c", SEND.format(queues=["generation"]), environment=site_environment)
    assert ended.returncode == 0, ended.stderr
    with sqlite3.connect(Path(site_environment["VAR_DIR"], "broker.sqlite3")) as broker:
        rows = broker.execute(
            "SELECT q.name, count(m.id) FROM kombu_queue q LEFT JOIN kombu_message m ON m.queue_id = q.id GROUP BY 1"
        )
        counts = {name: number for name, number in rows if number}
    assert counts == {"generation": 1}


def test_a_deleted_broker_file_is_made_again() -> None:
    for files in (("", "-wal", "-shm"), ("",)):
        app.send_task("webapp.tasks.tidy", queue=DEFAULT)
        for suffix in files:
            Path(f"{settings.BROKER_FILE}{suffix}").unlink(missing_ok=True)
        app.send_task("webapp.tasks.tidy", queue=DEFAULT)
        with sqlite3.connect(settings.BROKER_FILE) as broker:
            assert broker.execute("SELECT count(*) FROM kombu_message").fetchall() == [(1,)]
        with app.connection_for_read() as connection, closing(connection.SimpleQueue(DEFAULT)) as queue:
            assert queue.get(timeout=10).headers["task"] == "webapp.tasks.tidy"


def test_delivered_messages_are_dropped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(settings, "BROKER_FILE", tmp_path / "broker.sqlite3")
    assert drop_delivered_messages() == 0
    with sqlite3.connect(settings.BROKER_FILE) as broker:
        broker.execute("CREATE TABLE kombu_message (id INTEGER, visible BOOLEAN)")
        broker.executemany("INSERT INTO kombu_message VALUES (?, ?)", [(1, 0), (2, 1), (3, 0)])
    assert drop_delivered_messages() == 2
    with sqlite3.connect(settings.BROKER_FILE) as broker:
        assert broker.execute("SELECT id FROM kombu_message").fetchall() == [(2,)]


@pytest.mark.slow
def test_a_message_is_in_its_queue_of_redis(site_environment: dict[str, str], redis_server: RedisServer) -> None:
    import redis

    environment = site_environment | redis_server.environment
    ended = manage("shell", "--no-imports", "-c", SEND.format(queues=["default"] * 2), environment=environment)
    assert ended.returncode == 0, ended.stderr
    with redis.from_url(f"{redis_server.url}/0") as client:
        assert client.llen(f"{redis_server.prefix}default") == 2
        assert client.llen(f"{redis_server.prefix}generation") == 0


WAKE = """
import time
from generation.making.dataset_jobs import RUNNER
for _ in range(3):
    begun = time.monotonic()
    RUNNER.wake()
    print(time.monotonic() - begun)
"""


def seconds_of_three_messages(environment: dict[str, str]) -> list[float]:
    ended = manage("shell", "--no-imports", "-c", WAKE, environment=environment)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("\n") <= 1, ended.stderr  # about the outage
    return [float(line) for line in ended.stdout.split()]


@pytest.mark.slow
def test_a_broker_that_never_answers_holds_up_one_message_for_a_second(site_environment: dict[str, str]) -> None:
    with BlackHole(free_port()) as silent:
        first, *others = seconds_of_three_messages(site_environment | {"REDIS_URL": f"redis://127.0.0.1:{silent.port}"})
    assert 0.9 < first < 2.5 and max(others) < 0.1


@pytest.mark.slow
def test_a_locked_broker_file_holds_up_one_message_for_a_second(site_environment: dict[str, str]) -> None:
    manage("shell", "--no-imports", "-c", SEND.format(queues=["generation"]), environment=site_environment)
    with closing(sqlite3.connect(Path(site_environment["VAR_DIR"], "broker.sqlite3"), isolation_level=None)) as broker:
        broker.execute("BEGIN EXCLUSIVE")
        first, *others = seconds_of_three_messages(site_environment)
    assert 0.9 < first < 4 and max(others) < 0.1
