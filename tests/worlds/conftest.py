"""A researcher in a real browser, for walks through what worlds make."""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import Group
from django.test import Client
from playwright.sync_api import Browser, Page

from webapp.models import User


@pytest.fixture
def ada(transactional_db: None) -> User:
    user = User.objects.create_user("ada", "ada@example.org", "x")
    user.groups.add(Group.objects.get_or_create(name="researcher")[0])
    return user


@pytest.fixture
def researcher(db: None) -> Client:
    """Give a researcher's browser that runs no scripts."""
    user = User.objects.create_user("ada", "ada@example.org", "x")
    user.groups.add(Group.objects.get_or_create(name="researcher")[0])
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def page(browser: Browser, live_server: Any, ada: User) -> Iterator[Page]:
    """Give a researcher's page, which fails the test when a script of ours does."""
    client = Client()
    client.force_login(ada)
    context = browser.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 800})
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = context.new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    yield page
    context.close()


def usable(page: Page) -> None:
    """Hold a page to what axe finds, and to its width."""
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
