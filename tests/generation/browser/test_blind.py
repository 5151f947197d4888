"""The report on shortcuts in a real browser: it appears by itself, fits any screen, and has no barriers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from generation.charts import drawing
from generation.reports import report_jobs
from tests.generation import small

pytestmark = pytest.mark.slow

PAGE = "/datasets/shapes/shortcuts/"
ENOUGH = 60_000  # milliseconds


@pytest.fixture
def page(
    browser: Browser,
    live_server: Any,
    transactional_db: None,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    tmp_path: Path,
) -> Iterator[Page]:
    """Give a page of a site with a dataset that has enough questions for shares, and too many for a report at once."""
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 4)
    monkeypatch.setattr(drawing, "SECONDS", 60)
    monkeypatch.setattr(report_jobs, "SMALL_DATASET", 1)
    small.made(with_images=False)
    context = browser.new_context(base_url=live_server.url)
    yield context.new_page()
    context.close()


def test_the_page_shows_the_report_without_a_reload_on_any_screen(page: Page) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(PAGE)
    expect(page.get_by_role("heading", name="The report will be computed soon")).to_be_visible()
    assert barriers(page) == []
    assert report_jobs.SHORTCUTS.work() == 1
    expect(page.get_by_role("heading", name="Q-type mode for each type").first).to_be_visible(timeout=ENOUGH)
    for width, scheme in ((1280, "light"), (390, "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        chart = page.locator(".blind-chart svg:visible")
        expect(chart).to_have_count(1)
        box = chart.bounding_box()
        assert box is not None
        assert box["width"] > 0.8 * width  # the chart takes the page's width
        assert barriers(page) == []
    assert complaints == []


def barriers(page: Page) -> list[str]:
    """Return the barriers that axe finds on the page."""
    return [found["id"] for found in Axe().run(page).response["violations"]]
