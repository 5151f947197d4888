"""Two complete fresh twins of a split with open answers, and their suite."""

from collections.abc import Sequence

import pytest
from django.test import Client
from django.utils import timezone

from generation.making import dataset_jobs
from generation.models import Dataset, FreshTwin, Split
from tests.clients import client_of, make_researcher
from tests.leaderboards.sent import approve
from webapp.leaderboards.fresh_twins.suite import MadeTwins, make_twins_with_suite
from webapp.leaderboards.models import Method
from webapp.models import User


def finish(twins: Sequence[FreshTwin]) -> list[Split]:
    """Make the twins here, and return their complete splits."""
    for twin in twins:
        dataset_jobs.work(dataset=twin.split.dataset)
        assert Dataset.objects.get(pk=twin.split.dataset_id).state == Dataset.State.COMPLETE
    return list(Split.objects.for_browse().filter(pk__in=[twin.split_id for twin in twins]).order_by("pk"))


@pytest.fixture
def made(val: Split, member: User) -> MadeTwins:
    """Give two complete twins of val with their suite; the member may submit to them."""
    found = make_twins_with_suite(val, count=2)
    for split in finish(found.twins):
        approve(split, member)
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
