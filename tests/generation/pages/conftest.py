"""Fixtures: a small dataset that is made once per test module, and the people and browsers that look at it."""

import pytest
from django.test import Client

from generation.models import Dataset
from tests.clients import client_of, make_researcher
from tests.generation import small
from tests.generation.complete_datasets import shared
from tests.generation.pages.routes import parts_of
from webapp.models import User

kept = shared(small.made)


@pytest.fixture
def shapes(kept: int, db: None) -> Dataset:
    """Give a complete public dataset; the answers of its split test are withheld."""
    return Dataset.objects.get(pk=kept)


@pytest.fixture
def owner(db: None) -> User:
    """Give an account that may own a dataset."""
    return User.objects.create_user("owner", "owner@example.org", "x")


@pytest.fixture
def as_owner(shapes: Dataset, owner: User) -> Client:
    """Give a browser in which the dataset's owner is logged in."""
    Dataset.objects.filter(pk=shapes.pk).update(owner=owner)
    return client_of(owner)


@pytest.fixture
def as_stranger(db: None) -> Client:
    """Give a browser in which a user who owns nothing is logged in."""
    return client_of(User.objects.create_user("stranger", "stranger@example.org", "x"))


@pytest.fixture
def private(shapes: Dataset) -> Dataset:
    """Make the dataset private and give it."""
    Dataset.objects.filter(pk=shapes.pk).update(visibility=Dataset.Visibility.PRIVATE)
    shapes.refresh_from_db()
    return shapes


@pytest.fixture
def researcher(db: None) -> User:
    """Give an account that may make datasets."""
    return make_researcher()


@pytest.fixture
def page(researcher: User) -> Client:
    """Give a browser in which a researcher is logged in."""
    return client_of(researcher)


@pytest.fixture
def parts(shapes: Dataset, owner: User) -> dict[str, str]:
    """Give values for the parts of addresses: of a dataset, of an open study of it, and of a participant."""
    return parts_of(shapes, owner)
