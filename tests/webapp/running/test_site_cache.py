"""The cache while Redis or its file does not work: no error, no long wait, limits that count, one line in the log."""

import signal
import socketserver
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import redis
from django.core.cache import cache as default_cache
from django.test import Client, override_settings

from annotations.answering.throttle import Throttle
from generation.queue import outages
from tests.faults.servers import RedisProcess, own_redis
from tests.webapp.commands import ROOT
from webapp.models import User
from webapp.running import shared_cache, site_cache
from webapp.running.site_cache import SiteCache

MakeCache = Callable[[str], SiteCache]
BOUND = 3.0  # seconds for any number of operations during an outage; the machine may be busy


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_cache, "PAUSE", 0.3)
    monkeypatch.setattr(site_cache, "_outages", {})


@pytest.fixture
def make_cache(tmp_path: Path) -> MakeCache:
    return lambda address: SiteCache(address, {"KEY_PREFIX": "k:", "OPTIONS": {"file": tmp_path / "cache.sqlite3"}})


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisProcess]:
    with own_redis(tmp_path / "redis") as running:
        yield running


def use(cache: SiteCache) -> None:
    """Check all operations of a cache, whichever store has the values, in a bounded time."""
    began = time.monotonic()
    cache.delete("n")
    assert cache.get("n") is None and cache.get("n", 7) == 7
    with pytest.raises(ValueError):
        cache.incr("n")
    assert cache.add("n", 1, 60) and not cache.add("n", 1, 60)
    assert [cache.incr("n") for _ in range(20)] == list(range(2, 22))
    cache.set("n", [1, "x"], 60)
    assert cache.get("n") == [1, "x"] and cache.get_many(["n", "m"]) == {"n": [1, "x"]}
    assert cache.touch("n", 60) and not cache.touch("m", 60)
    assert cache.delete("n") and not cache.delete("n")
    assert time.monotonic() - began < BOUND


def kill(server: RedisProcess) -> None:
    server.kill()


def pause(server: RedisProcess) -> None:
    assert server.process is not None
    server.process.send_signal(signal.SIGSTOP)


def resume(server: RedisProcess) -> None:
    assert server.process is not None
    server.process.send_signal(signal.SIGCONT)


def configure(**options: str) -> Callable[[RedisProcess], None]:
    def change(server: RedisProcess) -> None:
        with redis.from_url(server.url) as client:
            for name, value in options.items():
                client.config_set(name.replace("_", "-"), value)

    return change


def follow(server: RedisProcess) -> None:
    with redis.from_url(server.url) as client:
        client.replicaof("127.0.0.1", 1)


def lead(server: RedisProcess) -> None:
    with redis.from_url(server.url) as client:
        client.replicaof("NO", "ONE")


OUTAGES = {
    "killed": (kill, RedisProcess.start),
    "paused": (pause, resume),
    "full": (configure(maxmemory="1", maxmemory_policy="noeviction"), configure(maxmemory="0")),
    "read-only": (follow, lead),
    "unable to save": (configure(min_replicas_to_write="1"), configure(min_replicas_to_write="0")),
}


@pytest.mark.parametrize("outage", OUTAGES)
def test_the_cache_goes_on_without_redis_and_returns_to_it(
    server: RedisProcess,
    make_cache: MakeCache,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    outage: str,
) -> None:
    monkeypatch.setattr(outages, "here", outages.OutageLog())  # an outage of the test before is too recent
    begin, end = OUTAGES[outage]
    cache = make_cache(f"{server.url}/1")
    use(cache)
    cache.set("kept", 5, 600)
    begin(server)
    use(cache)
    assert "does not work" in cache.trouble()
    time.sleep(site_cache.PAUSE * 2)
    use(cache)  # the probe fails
    end(server)
    time.sleep(site_cache.PAUSE * 2)
    use(cache)
    assert cache.trouble() == ""
    cache.set("after", 6, 600)
    with redis.from_url(f"{server.url}/1") as client:
        assert client.get("k::1:after") == b"6"
    lines = [record.getMessage() for record in caplog.records if record.name == outages.__name__]
    begins, ends = "Waiting for Redis: ", "No longer waiting for Redis, after "
    assert [line.startswith(start) for line, start in zip(lines, (begins, ends), strict=True)] == [True, True]


@contextmanager
def replying(reply: bytes) -> Iterator[int]:
    """Give the port of a server that accepts connections and sends the same reply to everything."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                while self.request.recv(65536):
                    self.request.sendall(reply)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


REPLIES = {
    "silent": b"",
    "loading": b"-LOADING Redis is loading the dataset in memory\r\n" * 4,
    "wrong password": b"-WRONGPASS invalid username-password pair or user is disabled.\r\n" * 4,
    "no redis": b"HTTP/1.1 400 Bad Request\r\n\r\n",
}


@pytest.mark.parametrize("reply", REPLIES)
def test_a_server_that_is_no_working_redis_is_replaced(make_cache: MakeCache, reply: str) -> None:
    with replying(REPLIES[reply]) as port:
        use(make_cache(f"redis://:secret@127.0.0.1:{port}/1"))


def test_threads_wait_for_a_silent_server_only_once(make_cache: MakeCache) -> None:
    def read() -> None:
        cache = make_cache(f"redis://127.0.0.1:{port}/1")
        for _ in range(20):
            cache.get("key")

    with replying(b"") as port:
        began = time.monotonic()
        threads = [threading.Thread(target=read) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert time.monotonic() - began < BOUND  # 160 waits would take 80 seconds


def break_file(file: Path) -> None:
    file.write_bytes(b"this is no database" * 500)


def replace_by_folder(file: Path) -> None:
    for path in file.parent.glob(f"{file.name}*"):
        path.unlink()
    file.mkdir()


def delete_file(file: Path) -> None:
    for path in file.parent.glob(f"{file.name}*"):
        path.unlink()


@pytest.mark.parametrize("harm", [break_file, replace_by_folder, delete_file])
@pytest.mark.parametrize("is_open", [True, False])
def test_the_cache_goes_on_without_its_file(
    make_cache: MakeCache, tmp_path: Path, harm: Callable[[Path], None], is_open: bool
) -> None:
    cache = make_cache("")
    use(cache)
    harm(tmp_path / "cache.sqlite3")
    use(cache if is_open else make_cache(""))
    time.sleep(site_cache.PAUSE * 2)
    use(cache)


def test_the_cache_goes_on_while_its_file_is_locked(
    make_cache: MakeCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_cache, "PATIENCE", 0.2)
    cache = make_cache("")
    use(cache)
    other = sqlite3.connect(tmp_path / "cache.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    use(cache)
    other.execute("ROLLBACK")
    other.close()
    time.sleep(site_cache.PAUSE * 2)
    assert cache.trouble() == ""


def test_the_cache_goes_on_while_its_file_cannot_grow(make_cache: MakeCache) -> None:
    cache = make_cache("")
    use(cache)
    file = cache._stores[0].cache
    assert isinstance(file, shared_cache.SharedFileCache)
    file._ask("PRAGMA max_page_count = 1")
    cache.set("large", "x" * 100_000)  # SQLite refuses it like on a full disk
    assert cache.get("large") == "x" * 100_000
    use(cache)


def test_a_place_that_cannot_be_written_is_replaced_by_memory() -> None:
    use(SiteCache("redis://127.0.0.1:1/1", {"OPTIONS": {"file": "/proc/nothing/cache.sqlite3"}}))


# What is counted in the cache


@pytest.fixture(params=["redis", "redis and file"])
def without_redis(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    """Make the site use a Redis that is away, in one case also a file that can't be used."""
    file = "/proc/nothing/cache.sqlite3" if "file" in request.param else tmp_path / "cache.sqlite3"
    place = {"BACKEND": "webapp.running.site_cache.SiteCache", "LOCATION": "redis://127.0.0.1:1/1"}
    with override_settings(CACHES={"default": place | {"OPTIONS": {"file": file}}}):
        yield
        default_cache.clear()


def test_limits_hold_without_redis(without_redis: None) -> None:
    here, there = (Throttle(3, 60.0, name="test") for _ in range(2))
    assert [one.wait("me") > 0 for one in (here, there, here, there)] == [False, False, False, True]
    assert here.wait("other") == 0.0
    here.give_back("other")


@pytest.mark.django_db
def test_passwords_cannot_be_tried_without_end_while_redis_is_away(without_redis: None, client: Client) -> None:
    User.objects.create_user("ada", "ada@example.org", "right-horse-7")
    forms = [{"login": "ada", "password": f"wrong-{number}"} for number in range(12)]
    answers = [client.post("/accounts/login/", form, REMOTE_ADDR=f"192.0.2.{i}") for i, form in enumerate(forms)]
    assert {answer.status_code for answer in answers} <= {200, 429}
    right = client.post("/accounts/login/", {"login": "ada", "password": "right-horse-7"}, REMOTE_ADDR="192.0.2.99")
    assert "Too many failed login attempts" in right.text or right.status_code == 429
    assert "_auth_user_id" not in client.session


@pytest.mark.django_db
def test_people_sign_in_and_up_while_redis_is_away(without_redis: None, client: Client) -> None:
    User.objects.create_user("ada", "ada@example.org", "right-horse-7")
    assert client.post("/accounts/login/", {"login": "ada", "password": "right-horse-7"}).status_code == 302
    client.logout()
    fields: dict[str, Any] = {"username": "bob", "email": "bob@example.org"}
    fields |= dict.fromkeys(("password1", "password2"), "right-horse-7")
    assert client.post("/accounts/signup/", fields).status_code == 302
    assert User.objects.filter(username="bob").exists()


# Each module that uses the cache; its entries can be lost at any time, as the docstring of `site_cache` says.
USERS = {
    "annotations/answering/questions.py",
    "annotations/answering/throttle.py",
    "annotations/results/study_statistics.py",
    "generation/specs/presets.py",
    "webapp/front_page_example.py",
    "webapp/monitoring/health_probes.py",
    "webapp/running/shared_cache.py",
    "webapp/running/site_cache.py",
}


def test_every_module_that_uses_the_cache_is_known() -> None:
    modules = (path for room in ("annotations", "generation", "webapp") for path in (ROOT / room).rglob("*.py"))
    found = {str(path.relative_to(ROOT)) for path in modules if "django.core.cache" in path.read_text()}
    assert found == USERS
