"""Opening withheld answers in a real browser, wide and narrow, light and dark, without a mouse."""

import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, expect

from tests.generation import small
from webapp.models import User

pytestmark = pytest.mark.slow
SERIOUS = ("serious", "critical")


@pytest.mark.parametrize(("width", "scheme"), [pytest.param(1280, "light", marks=pytest.mark.full), (390, "dark")])
def test_owner_opens_the_answers_by_keyboard(
    transactional_db: None, browser: Browser, live_server: Any, width: int, scheme: Any
) -> None:
    owner = User.objects.create_user("owner", password="x")
    small.made(owner=owner)
    client = Client()
    client.force_login(owner)
    cookie = {"name": settings.SESSION_COOKIE_NAME, "value": client.cookies[settings.SESSION_COOKIE_NAME].value}
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    context.add_cookies([{**cookie, "url": live_server.url}])
    page = context.new_page()
    try:
        page.goto(f"{live_server.url}/datasets/shapes/")
        page.get_by_role("link", name="Open the answers of test").press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Open the answers of test?")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert [one["id"] for one in Axe().run(page).response["violations"] if one["impact"] in SERIOUS] == []
        page.get_by_role("button", name="Open the answers of test").press("Enter")
        expect(page).to_have_url(re.compile("#withheld$"))
        expect(page.get_by_role("status").filter(has_text="The answers of test are open")).to_be_visible()
        expect(page.locator("section[aria-labelledby=withheld]")).to_contain_text(small.SECRET)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert [one["id"] for one in Axe().run(page).response["violations"] if one["impact"] in SERIOUS] == []
    finally:
        context.close()
