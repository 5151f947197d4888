"""A small dataset, and clients of the API: with a token, with a session, or without both."""

import pytest
from django.test import Client

from tests.generation.pages.conftest import as_owner, as_stranger, kept, owner, private, shapes
from webapp.models import ApiToken, User

__all__ = ["as_owner", "as_stranger", "kept", "owner", "private", "shapes"]


def program_of(user: User) -> Client:
    """Return a client that sends a token of this account."""
    return Client(headers={"Authorization": f"Bearer {ApiToken.objects.make(user, 'test')}"})


@pytest.fixture
def program(as_owner: Client, owner: User) -> Client:
    """Give a client that acts for the dataset's owner."""
    return program_of(owner)


@pytest.fixture
def stranger(db: None) -> Client:
    """Give a client that acts for an account that owns nothing."""
    return program_of(User.objects.create_user("eve", "eve@example.org", "x"))
