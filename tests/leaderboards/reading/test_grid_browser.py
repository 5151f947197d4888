"""The page of a grid in a real browser: charts, a link from a point to its curves, and no barriers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from generation.charts import drawing
from tests.leaderboards.reading import grids
from tests.leaderboards.reading.rows import method
from tests.leaderboards.reading.test_learning_browser import check
from webapp.models import User

pytestmark = [pytest.mark.slow, pytest.mark.full]

RIGHTS = {
    "Net": {
        "five": {100: (30, 36), 200: (38, 40)},
        "fifteen": {100: (20, 20), 200: (36, 38)},
        "sixty": {200: (30, 32)},
    },
    "Words": {name: {100: (12, 14), 200: (15, 15)} for name in grids.KS},
}


@pytest.fixture
def page(
    browser: Browser, live_server: Any, transactional_db: None, settings: Any, tmp_path: Path, monkeypatch: Any
) -> Iterator[Page]:
    """Give a page of a site with a grid of two methods."""
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(drawing, "SECONDS", 60)
    towns = grids.make_dataset("towns")
    grids.grid_of(towns)
    owner = User.objects.create_user("owner", "owner@example.org", "x")
    for name, rights in RIGHTS.items():
        made = method(owner, name)
        for split in towns.splits.filter(name__in=grids.KS).select_related("dataset", "reference"):
            grids.train(made, split, rights[split.name])
    context = browser.new_context(base_url=live_server.url)
    yield context.new_page()
    context.close()


def test_a_grid_has_charts_whose_points_link_to_curves(page: Page) -> None:
    page.goto("/suites/towns/")
    page.get_by_role("link", name="Training examples needed").click()
    page.get_by_label("Target for all methods").select_option("75")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="All methods at 75 %")).to_be_visible()
    charts = page.get_by_role("figure")
    expect(charts).to_have_count(3)
    expect(charts.nth(1).locator("svg a")).to_have_count(4 * len(grids.KS))
    expect(charts.first.get_by_text("not reached with the largest size")).to_be_visible()
    check(page)
    charts.first.locator("svg a").last.click()
    expect(page.get_by_role("heading", name="Accuracy by number of examples")).to_be_visible()


def test_a_grid_without_runs_has_no_barriers(page: Page) -> None:
    grids.Suite.objects.update(k_name="")
    page.goto("/suites/towns/grid/")
    expect(page.get_by_role("heading", name="This suite is not a grid")).to_be_visible()
    check(page)
