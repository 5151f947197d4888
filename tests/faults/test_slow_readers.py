"""Clients that ask for downloads and read nothing or very little: threads, connections to PostgreSQL, and pages."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.faults.caddy import Proxy
from tests.faults.conftest import EMBEDDED, SETTINGS
from tests.faults.servers import free_port
from tests.faults.slow_sockets import DELAY, Kind, seconds_of_pages, slow_sockets, unread_download
from tests.faults.stack import SLUG, SPEC, Site
from tests.webapp.commands import environment_of

THREADS, SPARE = 8, 4
PICTURE_BYTES = 300_000  # of each of 90 pictures: images.tar is larger than all buffers of a connection
TRIES = 4
FILES = f"/api/v1/datasets/{SLUG}/splits/train/"
TAR: list[Kind] = [(unread_download, f"{FILES}images.tar")]
DOWNLOADS: list[Kind] = [
    *TAR,
    (unread_download, f"{FILES}questions.jsonl.gz"),
    (unread_download, f"{FILES}steps.jsonl.gz"),
    (unread_download, f"{FILES}scenes/3/image"),
    (unread_download, f"/datasets/{SLUG}/train/"),
    (unread_download, "/docs/running/"),
    (unread_download, "/static/app.css"),
    (unread_download, "/no/such/page/"),
    (unread_download, "/download/made/"),
    (unread_download, "/download/file/"),
]
COUNT = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


@pytest.fixture
def site(migrated: Path, migrated_postgres_url: str, tmp_path: Path) -> Iterator[Site]:
    """Give a served site on PostgreSQL, with one web process and a dataset with large pictures."""
    folder = tmp_path / "var"
    more = {
        "DATABASE_URL": migrated_postgres_url,
        "DJANGO_SETTINGS_MODULE": "tests.faults.download_settings",
        "PUBLIC_URL": f"http://localhost:{free_port()}",
        "WEB_PROCESSES": "1",
        "WEB_THREADS": str(THREADS),
    }
    site = Site(EMBEDDED, folder, environment_of(folder, **{**SETTINGS, **more}), database=migrated_postgres_url)
    try:
        site.begin({**SPEC, "splits": {"train": {"scenes": 90}}})
        assert site.manage("work", "--dataset", SLUG).returncode == 0
        for picture in (folder / "media").rglob("*.png"):
            picture.write_bytes(os.urandom(PICTURE_BYTES))
        site.start("web")
        site.wait_for_web("/health/web/")
        yield site
    finally:
        site.end()


class Connections:
    """The number of connections that a site has to its database, looked up again and again."""

    def __init__(self, url: str) -> None:
        self.url, self.most, self.refused = url, 0, ""

    @contextmanager
    def watched(self) -> Iterator[None]:
        is_over = threading.Event()

        def watch() -> None:
            while not is_over.wait(0.1):
                self.now()

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def now(self) -> int:
        try:
            with psycopg.connect(self.url) as server:
                [(count,)] = server.execute(COUNT).fetchall()
        except psycopg.OperationalError as error:
            self.refused = str(error)
            return 0
        self.most = max(self.most, count)
        return int(count)


def threads_of(site: Site) -> int:
    """Return the largest number of threads of a process of the web server."""
    counts = [0]
    for pid in site.alive():
        with suppress(OSError):
            counts.append(len(list(Path(f"/proc/{pid}/task").iterdir())))
    return max(counts)


def check_pages(site: Site, port: int, *, addresses: int, kinds: list[Kind], reads: bool = False) -> None:
    """Compare pages during 200 slow readers with pages before and after, and count threads and connections."""
    seconds_of_pages(port)
    quiet, threads = max(seconds_of_pages(port)), threads_of(site)
    connections = Connections(site.database)
    with connections.watched():
        with slow_sockets(port, addresses=addresses, kinds=kinds, reads=reads):
            assert threads_of(site) <= threads + SPARE
            found = [max(seconds_of_pages(port))]
        quiet = max(quiet, *seconds_of_pages(port))
        # Most is sent in the first second. Other work of the machine delays pages too, but not in every try.
        while found[-1] >= quiet + DELAY and len(found) < TRIES:
            with slow_sockets(port, addresses=addresses, kinds=kinds, reads=reads):
                found.append(max(seconds_of_pages(port)))
    assert found[-1] < quiet + DELAY, (quiet, found)
    assert not connections.refused
    assert connections.most <= THREADS + SPARE
    assert connections.now() <= THREADS + SPARE


def test_slow_readers_of_all_pictures_open_no_connection_to_the_database(site: Site) -> None:
    check_pages(site, site.port, addresses=50, kinds=TAR)


@pytest.mark.full
@pytest.mark.parametrize("reads", [False, True], ids=["reads nothing", "reads one byte a second"])
def test_slow_readers_of_each_download_delay_no_page(site: Site, tmp_path: Path, reads: bool) -> None:
    port = urlsplit(site.environment["PUBLIC_URL"]).port
    with Proxy(tmp_path / "caddy", site=site.port, port=port):
        for served in (site.port, port or 0):
            for addresses in (1, 50):
                for kinds in (TAR, DOWNLOADS):
                    check_pages(site, served, addresses=addresses, kinds=kinds, reads=reads)


@pytest.mark.full
def test_a_reader_that_stops_is_disconnected(site: Site) -> None:
    """The rule on the speed of connections also holds for responses that are continued later."""
    with slow_sockets(site.port, addresses=50, kinds=TAR, count=40):
        site.wait_until(lambda: sockets_of(site) == 0, what="the connections to be closed", seconds=90)


def sockets_of(site: Site) -> int:
    """Return the number of connections to the site that are open on its side."""
    here = f"0100007F:{site.port:04X}"
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(fields[1] == here and fields[3] == "01" for fields in lines)
