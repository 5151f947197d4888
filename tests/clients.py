"""Accounts of researchers, and Django's test clients in which somebody is signed in."""

from django.contrib.auth.models import Group
from django.test import Client

from generation.access import RESEARCHERS
from webapp.models import User


def client_of(user: User | None) -> Client:
    """Return a client in which a user, or nobody, is signed in."""
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def make_researcher(name: str = "ada") -> User:
    """Return a new account that may make datasets and studies."""
    user = User.objects.create_user(name, f"{name}@example.org", "x")
    user.groups.add(Group.objects.get_or_create(name=RESEARCHERS)[0])
    return user
