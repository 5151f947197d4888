"""The page of a finding in a real browser: its first screen, its folds, and links that open them."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.leaderboards.findings.made_findings import record_of
from tests.leaderboards.reading.test_reading_browser import barriers
from webapp.leaderboards.findings import records
from webapp.leaderboards.findings.definitions import load

NAME = "clevr-diagnosis"

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("transactional_db")]


@pytest.fixture
def recorded(own_records: Path) -> None:
    records.write(record_of(NAME, "mini", load(NAME)), folder=own_records)


def open_page(browser: Browser, live_server: Any, address: str, *, width: int) -> Page:
    page = browser.new_context(base_url=live_server.url, viewport={"width": width, "height": 900}).new_page()
    page.goto(address)
    return page


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("width", [1280, 390])
def test_the_first_screen_has_headline_chart_and_outcomes(browser: Browser, live_server: Any, width: int) -> None:
    page = open_page(browser, live_server, f"/findings/{NAME}/", width=width)
    expect(page.get_by_text(load(NAME).headline.says)).to_be_in_viewport()
    chart = page.locator(".glance .chart svg:visible")
    expect(chart).to_be_visible()
    if width > 1000:
        expect(chart).to_be_in_viewport()
        expect(page.get_by_text("not held", exact=False).first).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.documentElement.scrollHeight") < 4 * 900
    assert barriers(page) == []
    page.context.close()


@pytest.mark.usefixtures("recorded")
def test_a_link_to_a_folded_table_opens_it(browser: Browser, live_server: Any) -> None:
    page = open_page(browser, live_server, f"/findings/{NAME}/#table-types", width=1280)
    table, statements = (page.locator(f"details:has(> summary > #{name})") for name in ("table-types", "statements"))
    expect(table.get_by_role("table")).to_be_visible()
    expect(page.locator("#table-types")).to_be_in_viewport()
    expect(statements).not_to_have_attribute("open", "")
    page.locator("#statements").click()
    link = statements.locator('a[href="#table-words"]').first
    link.click()
    expect(page.locator("details:has(> summary > #table-words)")).to_have_attribute("open", "")
    page.context.close()
