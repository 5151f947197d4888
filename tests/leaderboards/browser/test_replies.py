"""The pages with replies in a real browser: they fit any screen, have no barriers, and run nothing of a reply."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site_settings
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from generation.models import Dataset, Split
from tests.generation import small
from tests.generation.browser.screens import AND_ONE_AT_THE_GATE
from tests.leaderboards import sent
from tests.leaderboards.reading.test_reading_browser import barriers
from tests.leaderboards.replies import replied
from webapp.leaderboards.models import Method
from webapp.models import User

pytestmark = pytest.mark.slow

BOARD = "/leaderboards/scored/val/"
PICTURES = os.environ.get("HORSESENSE_TEST_PICTURES")  # a folder for screenshots that a person can look at
HOSTILE = (
    "\x1b[31m<script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\">\u202e" + "x" * 300
)
LONG = "A cube stands to the left of the sphere. " * 2000


@pytest.fixture
def page(browser: Browser, live_server: Any, transactional_db: None, settings: Any, tmp_path: Path) -> Iterator[Page]:
    """Give a page of the owner of a dataset whose board has two models with replies and one without."""
    settings.VAR_DIR = tmp_path
    made = small.made("scored", with_images=False, splits={"train": {"scenes": 4}, "val": {"scenes": 40}})
    owner = User.objects.create_user("olga", "olga@example.org", "x")
    Dataset.objects.filter(pk=made.pk).update(owner=owner)
    val = Split.objects.for_browse().get(dataset=made, name="val")
    rows = [("Qwen3-VL 8B", replied.INCOMPLETE), ("LLaVA 1.6", dict.fromkeys(range(30), "failed")), ("CNN", None)]
    for name, incomplete in rows:
        method = Method.objects.create(name=name, owner=owner, made="zero-shot", published="2026-01-01T00:00:00Z")
        if incomplete is None:
            sent.submitted(method, val, sent.noisy(val, wrong=0.2))
            continue
        records = replied.records_of(val, incomplete=incomplete, model=name)
        records[3]["error"] = HOSTILE
        records[31] |= {"reply": HOSTILE, "reasoning": LONG}
        records[32] |= {"reply": LONG}
        assert replied.submit(method, val, replied.answers_of(val, incomplete=incomplete), records).is_scored
    client, name = Client(), site_settings.SESSION_COOKIE_NAME
    client.force_login(owner)
    context = browser.new_context(base_url=live_server.url)
    context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": live_server.url}])
    yield context.new_page()
    context.close()


PAGES = {
    "board": "",
    "questions": "questions/",
    "failed": "questions/?reply=failed",
    "question": "questions/31/",
    "long": "questions/32/",
    "error": "questions/3/",
    "settings": "settings/",
    "submission": "/submissions/1/",
}


@pytest.mark.parametrize(("width", "scheme"), AND_ONE_AT_THE_GATE)
def test_each_page_fits_any_screen_and_has_no_barriers(page: Page, width: int, scheme: Any) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    for name, address in PAGES.items():
        page.goto(address if address.startswith("/") else BOARD + address)
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        if PICTURES:
            page.screenshot(path=f"{PICTURES}/replies-{name}-{width}-{scheme}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert barriers(page) == [], name
        assert page.title() != "run", name


@pytest.mark.full
def test_three_clicks_lead_from_a_board_to_the_replies_of_its_worst_slice(page: Page) -> None:
    page.goto(f"{BOARD}?q=Qwen")
    page.locator("tbody th a.count").first.click()
    page.locator("ol.ranked a").first.click()
    page.locator("table.listed tbody th a").first.click()
    expect(page.locator("article.reply .chip").first).to_be_visible()
