"""From the button of a board to the row of a trained method, in a real browser; every page is checked for barriers."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from generation.engine.learners import METHODS
from generation.models import Dataset
from tests.generation import small
from tests.leaderboards.training import toys
from webapp.leaderboards import scoring
from webapp.leaderboards.models import Training
from webapp.leaderboards.training import training_jobs
from webapp.models import LoginLink, User, address_of

pytestmark = pytest.mark.slow


@pytest.fixture
def dataset(transactional_db: None, settings: Any, tmp_path: Path) -> Dataset:
    """Give a small dataset of an administrator."""
    settings.VAR_DIR = tmp_path
    owner = User.objects.create_superuser("ada", "ada@example.org", "x")
    return small.made("shapes", with_images=False, owner=owner)


@pytest.fixture
def page(browser: Browser, live_server: Any, dataset: Dataset) -> Iterator[Page]:
    """Give a page of a browser in which the administrator is signed in."""
    context = browser.new_context(base_url=live_server.url, viewport={"width": 390, "height": 800})
    opened = context.new_page()
    opened.goto(address_of(LoginLink.objects.make(User.objects.get(username="ada"))))
    sign_in = opened.get_by_role("button", name=re.compile("sign in", re.I))
    if sign_in.count():
        sign_in.click()
    yield opened
    context.close()


def check_barriers(page: Page) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_a_baseline_is_trained_by_one_button(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in set(METHODS) - {toys.NAME}:
        monkeypatch.delitem(METHODS, name)
    page.goto("/leaderboards/shapes/val/")
    page.get_by_role("link", name="Train a baseline").click()
    page.get_by_text("What each method sees").click()
    page.get_by_text("Name and changed settings").click()
    check_barriers(page)
    page.get_by_label("Changed settings").fill('{"epochs": 0}')
    page.get_by_role("button", name="Train").click()
    expect(page.get_by_role("alert")).to_contain_text("toy: epochs")
    check_barriers(page)
    page.get_by_text("Name and changed settings").click()
    page.get_by_label("Changed settings").fill('{"epochs": 4}')
    page.get_by_role("button", name="Train").click()
    expect(page.get_by_role("heading", name="This training is waiting")).to_be_visible()
    check_barriers(page)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", name="This training was cancelled")).to_be_visible()
    check_barriers(page)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="This training is waiting")).to_be_visible()
    training_jobs.RUNNER.take_turn()
    scoring.RUNNER.take_turn()
    expect(page.get_by_role("heading", name="Trained", exact=True)).to_be_visible()  # without loading the page again
    expect(page.locator("table.epochs tbody tr")).to_have_count(4)
    check_barriers(page)
    page.get_by_role("link", name="shapes/val").last.click()
    expect(page.get_by_role("row").filter(has_text="Toy")).to_have_count(1)
    page.goto("/trainings/")
    check_barriers(page)
    page.get_by_role("link", name=str(Training.objects.get().pk), exact=True).click()
    page.get_by_role("link", name="Delete …").click()
    check_barriers(page)
    page.get_by_role("button", name="Delete the training").click()
    expect(page.get_by_text("No trainings yet")).to_be_visible()
