"""Two complete fresh twins of a split with open answers, and their suite."""

from collections.abc import Iterator, Sequence

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.plugin import DjangoDbBlocker

from generation.making import dataset_jobs
from generation.models import Dataset, FreshTwin, Split
from tests.clients import client_of, make_researcher
from tests.leaderboards.sent import approve
from webapp.leaderboards.fresh_twins.suite import MadeTwins, make_twins_with_suite
from webapp.leaderboards.models import Method, Suite
from webapp.models import User


def finish(twins: Sequence[FreshTwin]) -> list[Split]:
    """Make the twins here, and return their complete splits."""
    for twin in twins:
        dataset_jobs.work(dataset=twin.split.dataset)
        assert Dataset.objects.get(pk=twin.split.dataset_id).state == Dataset.State.COMPLETE
    return list(Split.objects.for_browse().filter(pk__in=[twin.split_id for twin in twins]).order_by("pk"))


@pytest.fixture(scope="module")
def kept_twins(kept: int, django_db_blocker: DjangoDbBlocker) -> Iterator[int]:
    """Give the key of the suite of two complete twins of val; the changes of each test are rolled back."""
    with django_db_blocker.unblock():
        found = make_twins_with_suite(Split.objects.for_browse().get(dataset=kept, name="val"), count=2)
        splits = finish(found.twins)
    yield found.suite.pk
    with django_db_blocker.unblock():
        found.suite.delete()
        Dataset.objects.filter(splits__in=splits).delete()


@pytest.fixture
def made(kept_twins: int, val: Split, member: User) -> MadeTwins:
    """Give two complete twins of val with their suite; the member may submit to them."""
    found = MadeTwins(list(FreshTwin.objects.for_list()), Suite.objects.get(pk=kept_twins))
    for twin in found.twins:
        approve(twin.split, member)
    return found


@pytest.fixture
def twins(made: MadeTwins) -> list[Split]:
    """Give the splits of the two twins."""
    return list(Split.objects.for_browse().filter(twin__in=made.twins).order_by("twin__number"))


@pytest.fixture
def published(method: Method) -> Method:
    """Give a method that everybody sees on boards."""
    Method.objects.filter(pk=method.pk).update(published=timezone.now())
    method.refresh_from_db()
    return method


@pytest.fixture
def researcher(db: None) -> User:
    """Give an account that may make datasets, and that owns none."""
    return make_researcher("rosa")


@pytest.fixture
def as_researcher(researcher: User) -> Client:
    return client_of(researcher)
