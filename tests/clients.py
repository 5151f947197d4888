"""Django's test clients in which somebody is signed in."""

from typing import TYPE_CHECKING

from django.test import Client

if TYPE_CHECKING:
    from webapp.models import User


def client_of(user: "User | None") -> Client:
    """Return a client in which a user, or nobody, is signed in."""
    client = Client()
    if user is not None:
        client.force_login(user)
    return client
