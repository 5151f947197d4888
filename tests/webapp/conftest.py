"""The results of crawling the site of riddles. One process crawls it for all test processes, as many tests use it."""

import fcntl
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_django.plugin import DjangoDbBlocker

from tests import riddle_site
from tests.riddle_site import PEOPLE, SECRETS, Crawled

Crawls = Callable[[str, str], Crawled]


@pytest.fixture(scope="session")
def crawls(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Return the folder of stored crawls, which all processes of this run share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "crawls"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def crawled(crawls: Path, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Crawls]:
    """Give a function that returns the result of crawling as a visitor or user the site that a secret determines."""

    def find(who: str, secret: str) -> Crawled:
        kept = {one: crawls / f"{who}-{one}" for one in (SECRETS if who in PEOPLE else [secret])}
        with (crawls / f"{who}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # other processes wait for this crawl instead of crawling, too
            for one, path in kept.items():  # one process for both, because the order of sets differs
                if not path.exists():
                    path.write_bytes(pickle.dumps(riddle_site.crawled(who, one)))
        found: Crawled = pickle.loads(kept[secret].read_bytes())
        return found

    with django_db_blocker.unblock():
        yield find
