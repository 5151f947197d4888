"""A split that is large enough for shares, made once for each file of tests, and accounts that submit to it."""

import pytest
from django.test import Client

from generation.charts import drawing
from generation.models import Dataset, Split
from tests.clients import client_of
from tests.generation import small
from tests.generation.complete_datasets import shared
from tests.leaderboards.sent import approve
from webapp.leaderboards.models import Method
from webapp.models import User

SPLITS = {"train": {"scenes": 20}, "val": {"scenes": 40}, "test": {"scenes": 30, "withheld": True}}


kept = shared(lambda: small.made("scored", with_images=False, splits=SPLITS))


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace charts by an empty drawing, because tests in a browser check how charts look."""
    monkeypatch.setattr(drawing, "_drawn", lambda orders: {order.digest: b"<svg/>" for order in orders})


@pytest.fixture
def scored(kept: int, db: None) -> Dataset:
    """Give a complete public dataset; the answers of its split test are withheld."""
    return Dataset.objects.get(pk=kept)


@pytest.fixture
def val(scored: Dataset) -> Split:
    """Give a split with 160 questions whose answers are open."""
    return scored.splits.select_related("dataset", "parent", "reference").get(name="val")


@pytest.fixture
def withheld(scored: Dataset, member: User) -> Split:
    """Give a split with 120 questions whose answers are withheld, to which the member may submit."""
    split = scored.splits.select_related("dataset", "parent", "reference").get(name="test")
    approve(split, member)
    return split


@pytest.fixture
def member(db: None) -> User:
    """Give an account that submits."""
    return User.objects.create_user("mira", "mira@example.org", "x")


@pytest.fixture
def as_member(member: User) -> Client:
    """Give a browser in which the member is signed in."""
    return client_of(member)


@pytest.fixture
def method(member: User) -> Method:
    """Give a private method of the member."""
    return Method.objects.create(name="Oracle with noise", owner=member)
