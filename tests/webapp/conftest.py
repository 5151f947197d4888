"""What the site of riddles answers to somebody, crawled once for all processes that test: several tests look at it."""

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
    """Return the folder in which crawls are kept: one for all processes of this run."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "crawls"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def crawled(crawls: Path, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Crawls]:
    """Give a function: what somebody meets on the site that follows from a secret."""

    def find(who: str, secret: str) -> Crawled:
        kept = {one: crawls / f"{who}-{one}" for one in (SECRETS if who in PEOPLE else [secret])}
        with (crawls / f"{who}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # whoever wants the same waits for it instead of crawling too
            for one, path in kept.items():  # what is compared comes from one process: sets have an order of its own
                if not path.exists():
                    path.write_bytes(pickle.dumps(riddle_site.crawled(who, one)))
        found: Crawled = pickle.loads(kept[secret].read_bytes())
        return found

    with django_db_blocker.unblock():
        yield find
