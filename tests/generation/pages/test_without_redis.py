"""Every address of the site is requested, and every form sent, while Redis is away."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client, override_settings

from generation.models import Dataset
from tests.faults.servers import own_redis
from tests.generation.pages.routes import address_of, routes
from tests.proof import sample
from webapp.models import User
from webapp.monitoring import health_probes
from webapp.running import site_cache

pytestmark = pytest.mark.slow

BOUND = 10.0  # seconds for one address; usually it is below 0.5, but the machine may be busy
REPORTS = {"health", "health_web"}  # they report that the broker does not answer
PASSWORD = "right-horse-7"
FORMS: dict[str, dict[str, str]] = {
    "account_login": {"login": "ada", "password": PASSWORD},
    "account_signup": {"username": "bob", "email": "b@example.org", "password1": PASSWORD, "password2": PASSWORD},
    "account_reset_password": {"email": "ada@example.org"},
    "account_reauthenticate": {"password": PASSWORD},
    "account_change_password": {"oldpassword": PASSWORD, "password1": "left-horse-8", "password2": "left-horse-8"},
    "account_email": {"email": "new@example.org", "action_add": ""},
    "token_new": {"name": "laptop"},
    "own_account": {"first_name": "Ada", "last_name": "L"},
}


@pytest.fixture
def without_redis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the site use a Redis, and kill it."""
    monkeypatch.setattr(site_cache, "PAUSE", 0.0)  # every call finds out anew: more than on a real site
    with own_redis(tmp_path / "redis") as server:
        place = {"BACKEND": "webapp.running.site_cache.SiteCache", "LOCATION": f"{server.url}/1"}
        place |= {"OPTIONS": {"file": tmp_path / "cache.sqlite3"}}
        with override_settings(CACHES={"default": place}, REDIS_URL=server.url, CELERY_BROKER_URL=server.url):
            caches["default"].set("kept", 1)
            server.kill()
            health_probes.ready.until = 0.0
            yield
            health_probes.ready.until = 0.0


def visitor(user: User | None) -> Client:
    client = Client(raise_request_exception=False)
    if user is not None:
        client.force_login(user)
    return client


def failures(requests: Iterator[tuple[str, Callable[[], Any]]]) -> list[str]:
    """Return the requests that fail or take too long."""
    found = []
    for label, request in requests:
        began = time.monotonic()
        status = request().status_code
        seconds = time.monotonic() - began
        found += [f"{status} {label}"] * (status >= 500) + [f"{seconds:.1f} s {label}"] * (seconds > BOUND)
    return found


@pytest.mark.parametrize("who", sample(["owner", "stranger"], gate=1))
def test_every_address_answers(
    without_redis: None, shapes: Dataset, owner: User, parts: dict[str, str], who: str
) -> None:
    Dataset.objects.filter(pk=shapes.pk).update(owner=owner)
    client = visitor(owner if who == "owner" else None)

    def requests() -> Iterator[tuple[str, Callable[[], Any]]]:
        for route in routes():
            address = address_of(route, parts)
            if "logout" not in address and route.name not in REPORTS:
                yield f"GET {address}", lambda address=address: client.get(address)

    assert failures(requests()) == []


@pytest.mark.parametrize("who", ["stranger", "owner"])
def test_every_form_answers(without_redis: None, shapes: Dataset, owner: User, parts: dict[str, str], who: str) -> None:
    Dataset.objects.filter(pk=shapes.pk).update(owner=owner)
    ada = User.objects.create_user("ada", "ada@example.org", PASSWORD)

    def requests() -> Iterator[tuple[str, Callable[[], Any]]]:
        for route in routes():
            address, form = address_of(route, parts), FORMS.get(route.name, {"token": "x", "text": "red"})
            client = visitor(None if who == "stranger" else ada if route.name in FORMS else owner)
            yield f"POST {address}", lambda c=client, a=address, f=form: c.post(a, f)

    assert failures(requests()) == []
    assert User.objects.filter(username="bob").exists() == (who == "stranger")
