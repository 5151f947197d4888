"""Charts in a real browser: links, tables and sizes in both colour schemes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from generation.charts import drawing
from tests.generation import small
from tests.generation.browser.test_pages import barriers

pytestmark = [pytest.mark.slow, pytest.mark.full]

OVERVIEW = "/datasets/shapes/"


@pytest.fixture
def page(
    browser: Browser,
    live_server: Any,
    transactional_db: None,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    tmp_path: Path,
) -> Iterator[Page]:
    """Give a page of a site whose small dataset is large enough for charts."""
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 4)
    monkeypatch.setattr(drawing, "SECONDS", 60)
    small.made()
    context = browser.new_context(base_url=live_server.url)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_charts_and_their_tables_fit_any_screen(page: Page, width: int, scheme: Any) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(OVERVIEW)
    expect(page.locator(".chart svg")).to_have_count(7)
    for _ in ("folded", "unfolded"):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OUTSIDE) == []
        page.evaluate("document.querySelectorAll('.chart details').forEach(table => (table.open = true))")
    assert barriers(page) == []
    assert complaints == []


def test_bars_and_numbers_are_links_and_charts_can_be_downloaded(page: Page) -> None:
    page.goto(OVERVIEW)
    said, address = page.evaluate("[document.querySelector('.chart a title').textContent, BAR]".replace("BAR", BAR))
    page.locator(".chart svg a").first.click()
    page.wait_for_url(f"**{address}")
    expect(page.locator(".asked a")).to_have_count(int(said.partition("(n = ")[2].partition(")")[0]))
    page.goto(OVERVIEW)
    page.locator(".chart summary").first.click()
    page.locator(".chart td a").first.click()
    page.wait_for_url(f"**{address}")
    page.goto(OVERVIEW)
    with page.expect_download() as download:
        page.locator(".chart-files a", has_text="CSV").first.click()
    assert download.value.suggested_filename == "shapes-types.csv"


BAR = "document.querySelector('.chart svg a').getAttribute('href')"
OUTSIDE = """() => [...document.querySelectorAll(".chart svg")].flatMap(svg => {
    const room = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].filter(text => {
        const box = text.getBoundingClientRect();
        return box.left < room.left - 2 || box.right > room.right + 2;
    }).map(text => text.textContent);
})"""
