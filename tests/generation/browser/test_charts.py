"""Charts in a real browser: links, tables, room, both colour schemes."""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from generation import charts, charts_drawing
from tests.generation import small

pytestmark = pytest.mark.slow

OVERVIEW = "/datasets/shapes/"


@pytest.fixture
def page(browser: Browser, live_server: Any, transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """Give a page of a site whose small dataset is large enough for charts."""
    monkeypatch.setattr(charts, "TOO_FEW", 4)
    monkeypatch.setattr(charts_drawing, "SECONDS", 60)
    small.made()
    context = browser.new_context(base_url=live_server.url)
    yield context.new_page()
    context.close()


def test_charts_are_links_tables_and_files_on_any_screen(page: Page) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    for width, scheme in ((1280, "light"), (390, "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.goto(OVERVIEW)
        expect(page.locator(".chart svg")).to_have_count(5)
        fits(page, width)
    for summary in page.locator(".chart summary").all():
        summary.click()
    fits(page, 390)
    assert barriers(page) == []
    page.emulate_media(color_scheme="light")
    assert barriers(page) == []
    assert complaints == []
    bar = page.locator("#questions ~ .charts .chart").first.locator("svg a").first
    n = int(str(bar.locator("title").text_content()).partition("(n = ")[2].partition(")")[0])
    address = str(bar.get_attribute("href"))
    bar.click()
    assert page.url.endswith(address)
    expect(page.locator(".asked a")).to_have_count(n)
    page.go_back()
    with page.expect_download() as download:
        page.locator(".chart-files a", has_text="CSV").first.click()
    assert download.value.suggested_filename == "shapes-types.csv"


OUTSIDE = """() => [...document.querySelectorAll(".chart svg")].flatMap(svg => {
    const room = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].filter(text => {
        const box = text.getBoundingClientRect();
        return box.left < room.left - 2 || box.right > room.right + 2;
    }).map(text => text.textContent);
})"""


def fits(page: Page, width: int) -> None:
    """Check that nothing scrolls sideways, and that the letters of a drawing stay within it."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUTSIDE) == []


def barriers(page: Page) -> list[str]:
    """Return what axe finds serious."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]
