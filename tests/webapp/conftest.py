"""What the site of riddles answers to somebody, crawled once a process: several tests look at it."""

from collections.abc import Callable, Iterator

import pytest
from pytest_django.plugin import DjangoDbBlocker

from tests import riddle_site
from tests.riddle_site import Crawled

Crawls = Callable[[str, str], Crawled]


@pytest.fixture
def crawled(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Crawls]:
    """Give a function: what somebody meets on the site that follows from a secret."""
    with django_db_blocker.unblock():
        yield riddle_site.crawled
