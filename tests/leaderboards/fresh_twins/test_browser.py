"""Making fresh twins in a real browser: by keyboard, wide and narrow, light and dark, with live progress."""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.contrib.auth.models import Group
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from generation.access import RESEARCHERS
from generation.making import dataset_jobs
from tests.generation import small
from webapp.models import User

pytestmark = pytest.mark.slow
SERIOUS = ("serious", "critical")


@pytest.fixture(params=[pytest.param((1280, "light"), marks=pytest.mark.full), (390, "dark")])
def page(request: Any, transactional_db: None, browser: Browser, live_server: Any) -> Iterator[Page]:
    """Give a page of a researcher, on a site with a small public dataset."""
    width, scheme = request.param
    user = User.objects.create_user("rosa", password="x")
    user.groups.add(Group.objects.get_or_create(name=RESEARCHERS)[0])
    small.made(with_images=False)
    client = Client()
    client.force_login(user)
    cookie = {"name": settings.SESSION_COOKIE_NAME, "value": client.cookies[settings.SESSION_COOKIE_NAME].value}
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, base_url=live_server.url
    )
    context.add_cookies([{**cookie, "url": live_server.url}])
    yield context.new_page()
    context.close()


def check(page: Page) -> None:
    """Fail if the page is wider than the window, or has a barrier."""
    assert page.viewport_size is not None
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    assert [one["id"] for one in Axe().run(page).response["violations"] if one["impact"] in SERIOUS] == []


def test_a_researcher_makes_twins_and_sees_them_become_complete(page: Page) -> None:
    page.goto("/datasets/shapes/val/")
    page.get_by_role("link", name="Make a fresh twin").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Fresh twins of val")
    check(page)
    page.get_by_label("Number of twins").fill("2")
    page.get_by_role("button", name="Make fresh twins").press("Enter")
    expect(page.get_by_role("progressbar")).to_have_count(2)
    check(page)
    dataset_jobs.work()
    expect(page.get_by_text("Complete", exact=True)).to_have_count(2, timeout=15_000)  # without another visit
    check(page)
    page.get_by_role("link", name="Suite with twins 1, 2").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Fresh twins of shapes/val")
    check(page)
