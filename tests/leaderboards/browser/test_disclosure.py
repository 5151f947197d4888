"""The pages of withheld answers in a real browser: they fit any screen and have no barriers."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from generation.models import Dataset, Split
from generation.storage.split_index import SplitIndex
from tests.generation import small
from tests.generation.browser.screens import AND_ONE_AT_THE_GATE
from tests.leaderboards.reading.conftest import noisy
from tests.leaderboards.reading.rows import method, submit
from tests.leaderboards.reading.test_reading_browser import barriers
from webapp.leaderboards.disclosure import disclosure_budget, submitter_approvals
from webapp.leaderboards.models import DisclosureSettings, Submission
from webapp.models import User

pytestmark = pytest.mark.slow

BOARD = "/leaderboards/shapes/test/"
PICTURES = os.environ.get("HORSESENSE_TEST_PICTURES")  # a folder for screenshots that a person can look at


@pytest.fixture
def page(browser: Browser, live_server: Any, transactional_db: None, settings: Any, tmp_path: Path) -> Iterator[Page]:
    """Give a page of a site with a withheld split that has published and deferred figures and requests for approval."""
    settings.VAR_DIR = tmp_path
    splits = {"train": {"scenes": 4}, "test": {"scenes": 40, "withheld": True}}
    made = small.made(with_images=False, splits=splits)
    owner = User.objects.create_user("owner", "owner@example.org", "x")
    Dataset.objects.filter(pk=made.pk).update(owner=owner)
    split = Split.objects.for_browse().get(dataset=made, name="test")
    [facet, *_] = [one for one in disclosure_budget.facets_for_partition(split) if len(one.values) > 1]
    cost = 1 + len(disclosure_budget.parts_of(split, disclosure_budget.plan_of(split)._replace(partition=facet.name)))
    DisclosureSettings.objects.create(split=split, budget=3 * cost, partition=facet.name)
    index = SplitIndex.open(split)
    for number, (name, wrong) in enumerate((("CNN+LSTM+SA", 0.2), ("LSTM", 0.7), ("LSTM", 0.65), ("Late", 0.1))):
        mine = owner.methods.filter(name=name).first() or method(owner, name)
        submit(mine, split, noisy(index, wrong, seed=number), filename="a.txt")
    for name in ("nina", "omar", "a-researcher-with-a-very-long-account-name"):
        row = submitter_approvals.ask(User.objects.create_user(name), split)
        if name == "omar":
            submitter_approvals.decide(split, row.pk, by=owner, is_approved=True)
    context = browser.new_context(base_url=live_server.url)
    yield context.new_page()
    context.close()


def sign_in(page: Page, live_server: Any, name: str) -> None:
    """Sign an account in."""
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(User.objects.get(username=name))
    value = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": live_server.url}])


@pytest.mark.parametrize(("width", "scheme"), AND_ONE_AT_THE_GATE)
def test_each_page_fits_any_screen_and_has_no_barriers(page: Page, live_server: Any, width: int, scheme: Any) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    newcomer = User.objects.create_user("newcomer")
    method(newcomer, "Mine")
    first, *_, last = Submission.objects.order_by("pk")
    visits = [("owner", "owner", f"{BOARD}disclosure/"), ("board", None, BOARD)]
    visits += [("published", None, first.get_absolute_url()), ("deferred", None, last.get_absolute_url())]
    visits += [("form", "newcomer", "/submissions/new/?to=shapes/test")]
    for name, who, address in visits:
        page.context.clear_cookies()
        if who is not None:
            sign_in(page, live_server, who)
        assert page.goto(address).status == 200, name  # type: ignore[union-attr]
        if PICTURES:
            page.screenshot(path=f"{PICTURES}/{name}-{width}-{scheme}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert barriers(page) == [], name
    assert complaints == []
