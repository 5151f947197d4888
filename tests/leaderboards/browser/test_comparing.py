"""Comparing on a board in a real browser: three clicks to questions, weights, costs, and saved views."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.generation.browser.screens import AND_ONE_AT_THE_GATE
from tests.leaderboards.browser import test_replies
from tests.leaderboards.reading.test_reading_browser import barriers

pytestmark = pytest.mark.slow

page = test_replies.page  # its owner is signed in; the board has two models with replies and one without
BOARD = test_replies.BOARD
PAGES = (
    "?ranks=1",
    "?weights=type:count=2&weigh=type",
    "pairs/",
    "confusion/",
    "costs/",
    "costs/?along=latency",
    "views/",
)


@pytest.mark.parametrize(("width", "scheme"), AND_ONE_AT_THE_GATE)
def test_each_page_fits_any_screen_and_has_no_barriers(page: Page, width: int, scheme: Any) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    for address in PAGES:
        page.goto(BOARD + address)
        expect(page.locator("h1")).to_be_visible()
        for fold in page.locator("details.save-view > summary, details.weights:not([open]) > summary").all():
            fold.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        assert barriers(page) == [], address
    assert complaints == []


def test_a_number_of_the_confusion_opens_exactly_its_questions(page: Page) -> None:
    page.goto(BOARD)
    page.get_by_role("link", name="Confusion").click()
    mistake = page.locator(".mistakes li").first
    times = int(mistake.locator("b").inner_text())
    mistake.get_by_role("link").click()
    expect(page.get_by_text(f"{times} question{'' if times == 1 else 's'}", exact=True)).to_be_visible()
    expect(page.get_by_label("Filters")).to_contain_text("Right answer: ")
    assert page.locator(".listed tbody tr").count() == min(times, 20)


def test_weights_are_chosen_in_a_form_and_stay_in_the_address(page: Page) -> None:
    page.goto(BOARD)
    page.get_by_text("Weights of slices").click()
    page.get_by_label("Give weights to the values of").select_option("type")
    page.get_by_role("button", name="Show its values").click()
    page.get_by_label("count", exact=False).first.fill("3")
    page.get_by_role("button", name="Weight the rows").click()
    assert "weights=type%3Acount%3D3" in page.url and "weigh=" not in page.url
    expect(page.get_by_role("columnheader", name="Weighted")).to_be_visible()
    page.get_by_label("Interval of ranks").check()
    page.get_by_role("button", name="Show", exact=True).click()
    assert "weights=" in page.url and "ranks=1" in page.url
    expect(page.get_by_role("columnheader", name="Ranks, 95 %")).to_be_visible()


def test_a_view_is_saved_opened_renamed_and_deleted(page: Page) -> None:
    page.goto(f"{BOARD}?ranks=1&sort=date")
    page.get_by_text("Save this view").click()
    form = page.get_by_role("form", name="Save this view")
    form.get_by_role("textbox", name="Name").fill("Ranks by date")
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The view “Ranks by date” is saved.")).to_be_visible()
    assert page.url.endswith("?ranks=1&sort=date")
    page.goto(BOARD)
    page.get_by_role("link", name="Ranks by date").click()
    assert page.url.endswith("?ranks=1&sort=date")
    page.get_by_role("link", name="All saved views").click()
    page.get_by_role("link", name="Edit Ranks by date").click()
    page.get_by_role("textbox", name="Name").fill("By date")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Delete By date").click()
    page.get_by_role("button", name="Delete the view").click()
    expect(page.get_by_text("The view “By date” is deleted.")).to_be_visible()
    expect(page.get_by_text("No saved views yet")).to_be_visible()
