"""Clients and a real browser of a researcher, for tests of complete workflows with datasets of worlds."""

import io
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from generation.models import Dataset
from tests.clients import client_of, make_researcher
from tests.generation.complete_datasets import finish
from webapp.models import User


@pytest.fixture
def ada(transactional_db: None) -> User:
    return make_researcher()


@pytest.fixture
def researcher(db: None) -> Client:
    """A test client of a researcher, without JavaScript."""
    return client_of(make_researcher())


@pytest.fixture
def page(browser: Browser, live_server: Any, ada: User) -> Iterator[Page]:
    """A browser page of a researcher. An error in JavaScript fails the test."""
    client = Client()
    client.force_login(ada)
    context = browser.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 800})
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = context.new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    yield page
    context.close()


def make_by_form(page: Page, preset: str, *, scenes: int | Sequence[int], slug: str = "") -> Dataset:
    """Create a public dataset of a preset with the form. All splits, or the first ones, get the numbers of scenes."""
    page.goto(f"/datasets/new/?preset={preset}")
    page.get_by_label("Name in web addresses").fill(slug or preset)
    fields = page.locator("[id^=split-][id$=-scenes]").all()
    counts = itertools.repeat(scenes) if isinstance(scenes, int) else scenes
    for field, count in zip(fields, counts, strict=False):
        field.fill(str(count))
    page.get_by_label("Who sees it").select_option(label="everybody")
    usable(page)
    page.get_by_role("button", name="Create dataset").click()
    return finish(Dataset.objects.get(slug=slug or preset))


def compare_colours(page: Page) -> None:
    """Answer for each pair of colours whether they are the same, like a participant with good colour vision."""
    expect(page.get_by_role("heading", level=1)).to_have_text("Colours on your screen")
    for pair in page.locator(".pair").all():
        source = pair.locator("img").get_attribute("src")
        assert source is not None
        picture = Image.open(io.BytesIO(page.request.get(source).body())).convert("RGB")
        width, height = picture.size
        is_same = picture.getpixel((width // 4, height // 2)) == picture.getpixel((3 * width // 4, height // 2))
        pair.locator(f"input[value={'same' if is_same else 'different'}]").check()
    page.get_by_role("button", name="Continue").click()


def usable(page: Page) -> None:
    """Check that the page has no serious violations found by axe, and is not wider than the window."""
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
