"""A question set is counted, made, viewed and deleted in a real browser, wide and narrow."""

import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from generation.models import Split
from tests.generation import small
from webapp.models import User

pytestmark = pytest.mark.slow
SERIOUS = ("serious", "critical")


def is_usable(page: Page) -> bool:
    """Return whether a page fits wide and narrow windows and has no serious barrier."""
    fits = []
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        fits.append(page.evaluate("document.documentElement.scrollWidth") <= width)
    found = [one["id"] for one in Axe().run(page).response["violations"] if one["impact"] in SERIOUS]
    return all(fits) and found == []


@pytest.mark.full
def test_owner_makes_and_deletes_a_question_set(transactional_db: None, browser: Browser, live_server: Any) -> None:
    owner = User.objects.create_user("owner", password="x")
    small.made(owner=owner, splits={"train": {"scenes": 4}}, with_images=False)
    client = Client()
    client.force_login(owner)
    cookie = {"name": settings.SESSION_COOKIE_NAME, "value": client.cookies[settings.SESSION_COOKIE_NAME].value}
    context = browser.new_context(color_scheme="dark")
    context.add_cookies([{**cookie, "url": live_server.url}])
    page = context.new_page()
    try:
        page.goto(f"{live_server.url}/datasets/shapes/train/?length=1..30")
        assert is_usable(page)
        page.get_by_role("link", name="Make a question set from these 16 questions").press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Make a question set")
        count = page.locator("#count")
        expect(count).to_contain_text("It will have 16 of 16 questions of train where program length is 1 to 30.")
        page.get_by_label("Take").select_option("sample")
        page.get_by_label("How many").fill("17")
        page.get_by_label("How many").press("Tab")
        expect(count).to_contain_text("Expected at most 16 questions (there are no more), got 17.")
        page.get_by_label("How many").fill("")
        page.get_by_label("How many").press_sequentially("5")
        expect(count).to_contain_text("It will have 5 of 16 questions")
        page.get_by_label("Name in web addresses").fill("few")
        assert is_usable(page)
        page.get_by_role("button", name="Make the question set").press("Enter")
        expect(page).to_have_url(re.compile("/datasets/shapes/few/$"))
        expect(page.get_by_role("heading", level=1)).to_contain_text("few")
        assert Split.objects.get(name="few").questions == 5
        assert is_usable(page)
        page.goto(f"{live_server.url}/datasets/shapes/few/q/2/")
        expect(page.get_by_role("link", name=re.compile("^question [0-9]+$"))).to_be_visible()
        assert is_usable(page)
        page.goto(f"{live_server.url}/datasets/shapes/")
        expect(page.get_by_role("row").filter(has_text="5 of 16 questions of train")).to_be_visible()
        assert is_usable(page)
        page.goto(f"{live_server.url}/datasets/shapes/few/")
        page.get_by_role("link", name="Delete …").press("Enter")
        assert is_usable(page)
        page.get_by_role("button", name="Delete few").press("Enter")
        expect(page.get_by_role("status").filter(has_text="few is deleted")).to_be_visible()
        assert not Split.objects.filter(name="few").exists()
    finally:
        context.close()
