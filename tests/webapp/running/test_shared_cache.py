"""The cache that processes share if there is no Redis, and the limits that are counted in it."""

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.core.cache import caches
from django.test import override_settings

from annotations.answering.throttle import Throttle
from generation.site_addresses import network_of
from tests.webapp.commands import ROOT
from webapp.running import shared_cache
from webapp.running.shared_cache import SharedFileCache

COUNT = """
import sys
from pathlib import Path
from webapp.running.shared_cache import SharedFileCache
import django.conf
django.conf.settings.configure()
cache = SharedFileCache(sys.argv[1], {})
for _ in range(500):
    cache.add("n", 0, 60)
    cache.incr("n")
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "cache.sqlite3"


@pytest.fixture
def cache(file: Path) -> SharedFileCache:
    return SharedFileCache(str(file), {})


def test_the_cache_has_the_usual_operations(cache: SharedFileCache) -> None:
    assert cache.get("a") is None and cache.get("a", 7) == 7
    for value in (0, 5, 2.5, "x", True, None, [1.0, "y"], {"k": [1]}):
        cache.set("a", value)
        assert cache.get("a", "nothing") == value
    assert not cache.add("a", 1) and cache.add("b", 1) and cache.get("b") == 1
    assert cache.incr("b", 4) == 5 and cache.decr("b") == 4
    assert cache.delete("b") and not cache.delete("b")
    with pytest.raises(ValueError, match="Expected a number"):
        cache.incr("b")
    cache.set_many({"c": 1, "d": 2})
    assert cache.get_many(["c", "d", "e"]) == {"c": 1, "d": 2}
    assert cache.has_key("c") and cache.touch("c", 60) and not cache.touch("e", 60)
    cache.clear()
    assert not cache.has_key("c")


def test_each_entry_expires_at_its_own_time(cache: SharedFileCache, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(shared_cache.time, "time", lambda: now[0])
    cache.set("short", 1, 10)
    cache.set("long", 1, 100)
    cache.set("ever", 1, None)
    cache.set("never", 1, 0)
    assert cache.get("never") is None
    now[0] += 11
    assert cache.get("short") is None and cache.add("short", 2, 10)
    assert (cache.get("long"), cache.get("ever")) == (1, 1)


def test_a_full_cache_drops_the_entries_that_expire_first(
    cache: SharedFileCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_cache, "MOST", 100)
    monkeypatch.setattr(shared_cache, "TIDIES", 1)
    cache.set("mine", 42, 10_000)
    for number in range(1000):
        cache.add(f"key-{number}", 1, 60 + number)
    assert cache.get("mine") == 42
    [(n,)] = cache._ask("SELECT COUNT(*) FROM entries")
    assert n <= 101


def test_processes_count_together(file: Path, cache: SharedFileCache) -> None:
    command = [sys.executable, "-c", COUNT, str(file)]
    several = [subprocess.Popen(command, cwd=ROOT) for _ in range(3)]
    assert [one.wait(120) for one in several] == [0, 0, 0]
    assert cache.get("n") == 1500


def test_threads_count_together(file: Path) -> None:
    def count() -> None:
        mine = SharedFileCache(str(file), {})
        for _ in range(200):
            mine.add("n", 0, 60)
            mine.incr("n")

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert SharedFileCache(str(file), {}).get("n") == 1600


def test_a_file_that_is_no_database_is_made_again(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(b"this is no database" * 100)
    cache = SharedFileCache(str(file), {})
    with pytest.raises(sqlite3.DatabaseError):
        cache.set("a", 1)
    cache.set("a", 1)
    assert cache.get("a") == 1


def test_an_error_of_a_file_that_cannot_be_used_is_raised(tmp_path: Path) -> None:
    cache = SharedFileCache(str(tmp_path), {})
    for operation in (lambda: cache.set("a", 1), lambda: cache.get("a"), lambda: cache.add("a", 1)):
        with pytest.raises(sqlite3.OperationalError):
            operation()


def test_a_site_without_redis_uses_the_shared_cache(site_environment: dict[str, str]) -> None:
    script = "from webapp import settings as s; c = s.CACHES['default']; print(c['BACKEND'], c['OPTIONS']['file'])"
    found = subprocess.run(
        [sys.executable, "-c", script], env=site_environment, cwd=ROOT, text=True, stdout=subprocess.PIPE, check=True
    ).stdout.split()
    assert found[0] == "webapp.running.site_cache.SiteCache" and found[1].startswith(site_environment["VAR_DIR"])


# Limits


@pytest.fixture
def counted(file: Path) -> object:
    """Make the site count limits in the shared file cache."""
    backend = {"default": {"BACKEND": "webapp.running.shared_cache.SharedFileCache", "LOCATION": str(file)}}
    with override_settings(CACHES=backend):
        yield caches["default"]


def test_two_processes_share_one_limit(counted: object) -> None:
    here, there = (Throttle(3, 60.0, name="test") for _ in range(2))
    assert [one.wait("me") > 0 for one in (here, there, here, there)] == [False, False, False, True]
    assert here.wait("other") == 0.0


def test_counts_are_kept_during_requests_of_many_others(counted: object) -> None:
    throttle = Throttle(2, 60.0, name="test")
    assert [throttle.wait("me") > 0 for _ in range(3)] == [False, False, True]
    for number in range(25_000):  # the throttle once forgot all counts at 20,000
        throttle.wait(f"other-{number}")
    assert throttle.wait("me") > 0


def test_a_returned_turn_can_be_used_again(counted: object) -> None:
    throttle = Throttle(1, 60.0, name="test")
    assert throttle.wait("me") == 0.0
    throttle.give_back("me")
    assert throttle.wait("me") == 0.0 and throttle.wait("me") > 0


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", ""),
        ("unix:", "unix:"),
    ],
)
def test_a_visitor_is_an_ipv4_address_or_an_ipv6_network(address: str, network: str) -> None:
    assert network_of(address) == network
