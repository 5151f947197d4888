"""Setting up a study in a real browser: with and without JavaScript, wide and narrow, light and dark."""

from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, expect

from annotations.models import Study
from annotations.studies import lifecycle
from generation.models import Dataset
from tests.clients import make_researcher
from tests.generation import small
from tests.generation.browser.screens import SCREENS
from tests.generation.browser.test_pages import barriers
from webapp.models import User

pytestmark = pytest.mark.slow

NEW = "/studies/new/?split=shapes/train"


@pytest.fixture
def shapes(transactional_db: None) -> Dataset:
    """Give a complete public dataset."""
    return small.made()


@pytest.fixture
def rosa(shapes: Dataset) -> User:
    """Give a researcher."""
    return make_researcher("rosa")


def signed_in(browser: Browser, user: User, live_server: Any, **options: Any) -> BrowserContext:
    client = Client()
    client.force_login(user)
    context = browser.new_context(base_url=live_server.url, **options)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    return context


@pytest.mark.parametrize("scripts", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_a_study_is_set_up_and_opened(browser: Browser, live_server: Any, rosa: User, scripts: bool) -> None:
    context = signed_in(browser, rosa, live_server, java_script_enabled=scripts)
    page = context.new_page()
    page.goto(NEW)
    page.get_by_label("Questions", exact=True).fill("8")
    page.get_by_label("Questions per session", exact=True).fill("8")
    page.keyboard.press("Tab" if scripts else "Enter")  # without scripts, Enter updates the plan
    expect(page.locator("#plan dd").first).to_have_text("24")
    expect(page.get_by_label("Questions", exact=True)).to_have_value("8")
    page.get_by_role("button", name="Make the study").click()
    expect(page.locator("h1")).to_have_text("Study of shapes/train")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_text("0 of 24 answers", exact=True)).to_be_visible()
    page.get_by_role("link", name="the test link").click()
    expect(page).to_have_url(
        f"{live_server.url}/s/{Study.objects.get().code}/{Study.objects.get().participants.get().secret}/"
    )
    context.close()


@pytest.mark.parametrize(("width", "theme"), SCREENS)
def test_pages_of_studies_fit_and_have_no_serious_barrier(
    browser: Browser, live_server: Any, shapes: Dataset, rosa: User, width: int, theme: Any
) -> None:
    ends = {"completed": "DONE", "screened_out": "OUT", "full": "FULL", "consent": "May we?", "instructions": "Look."}
    splits = {"split": shapes.splits.get(name="train"), "easy": shapes.splits.get(name="val")}
    opened = Study.objects.create(**splits, owner=rosa, title="Shapes", wanted=8, **ends)
    lifecycle.open_study(opened)
    draft = Study.objects.create(split=splits["split"], owner=rosa, title="W" * 200)
    context = signed_in(browser, rosa, live_server, viewport={"width": width, "height": 800}, color_scheme=theme)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{page.url}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    both = [f"/studies/{one.code}/{part}" for one in (opened, draft) for part in ("", "edit/")]
    for address in ("/studies/", "/studies/new/", NEW, *both):
        page.goto(address, wait_until="networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        complaints += [f"{address}: {found}" for found in barriers(page)]
    context.close()
    assert complaints == []
