"""The pages that analyse a board, in a real browser: they fit any screen, have no barriers, and their controls work."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from generation.charts import drawing
from generation.models import Split
from generation.storage.split_index import SplitIndex
from tests.generation import small
from tests.generation.browser.screens import AND_ONE_AT_THE_GATE
from tests.leaderboards.reading.conftest import noisy
from tests.leaderboards.reading.rows import method, submit
from webapp.leaderboards.models import Method
from webapp.models import User

pytestmark = pytest.mark.slow

BOARD = "/leaderboards/shapes/val/"


@pytest.fixture
def page(
    browser: Browser, live_server: Any, transactional_db: None, settings: Any, tmp_path: Path, monkeypatch: Any
) -> Iterator[Page]:
    """Give a page of a site whose board has three methods and a baseline."""
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(drawing, "SECONDS", 60)
    splits = {"train": {"scenes": 4}, "val": {"scenes": 20}, "other": {"scenes": 8}}
    made = small.made(with_images=False, splits=splits, questions={"per_scene": 10})
    owner = User.objects.create_user("owner", "owner@example.org", "x")
    val, other = (Split.objects.for_browse().get(dataset=made, name=name) for name in ("val", "other"))
    fill(owner, val, other)
    context = browser.new_context(base_url=live_server.url)
    yield context.new_page()
    context.close()


def fill(owner: User, *splits: Split) -> None:
    good, bad, learner = (method(owner, name) for name in ("CNN+LSTM+SA", "LSTM", "Learner"))
    baseline = Method.objects.create(name="Q-type mode", baseline="type", made="baseline")
    for split in splits:
        index = SplitIndex.open(split)
        for seed in (1, 2, 3):
            submit(good, split, noisy(index, 0.2, seed=seed), run=str(seed))
        submit(bad, split, noisy(index, 0.7, seed=4))
        submit(baseline, split, np.zeros(index.n, np.int64))
        for size, wrong in ((100, 0.8), (700, 0.3), (3000, 0.1), (20_000, 0.05)):
            for run in (1, 2):
                submit(learner, split, noisy(index, wrong, seed=size + run), train_size=size, run=str(run))


PAGES = {
    "slices": "slices/",
    "length": "slices/?view=length-without",
    "crossed": "slices/?by=type&by=spatial",
    "across": "slices/?view=color-by-shape",
    "compare": "compare/",
    "pairs": "pairs/",
    "confusion": "confusion/",
    "costs": "costs/",
    "ranks and weights": "?ranks=1&weights=type:count=2&weigh=type",
    "views": "views/",
    "questions": "questions/",
    "curves": "curves/?target=80",
    "steps": "steps/",
}


@pytest.mark.parametrize(("width", "scheme"), AND_ONE_AT_THE_GATE)
def test_each_page_fits_any_screen_and_has_no_barriers(page: Page, width: int, scheme: Any) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    for name, address in PAGES.items():
        page.goto(BOARD + address)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert barriers(page) == [], name
    assert complaints == []


@pytest.mark.full
def test_controls_for_facets_and_rows_and_links_work(page: Page) -> None:
    page.goto(BOARD + "slices/")
    page.get_by_label("Break down by").select_option("group")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="By group")).to_be_visible()
    cell = page.locator(".panels td a").first
    n = int(page.locator(".panels td .count").first.inner_text().rpartition("n = ")[2].replace(",", ""))
    rows = row_keys(page)[:2]
    cell.click()
    expect(page.get_by_text(f"{n} questions", exact=True)).to_be_visible()
    expect(page.locator("input[name=entry]:checked")).to_have_count(1)
    page.goto(BOARD + "compare/?entry=" + "&entry=".join(rows))
    only = page.locator(".facts a").first
    count = only.inner_text()
    only.click()
    expect(page.get_by_text(f"{count} questions", exact=True)).to_be_visible()


def row_keys(page: Page) -> list[str]:
    return [box.get_attribute("value") or "" for box in page.locator("input[name=entry]").all()]


def barriers(page: Page) -> list[str]:
    """Return the barriers that axe finds on a page."""
    return [found["id"] for found in Axe().run(page).response["violations"]]
