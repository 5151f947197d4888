"""A study of stories in a real browser: answers of several words by keys and by touch, with and without scripts."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from annotations.models import Answer, Study
from tests.annotations.browser.test_taking import open_browser
from tests.annotations.visitors import study_of
from tests.generation.complete_datasets import registered
from tests.worlds import baskets, told
from tests.worlds.baskets import TEXTS

__all__ = ["open_browser"]
pytestmark = pytest.mark.slow
Open = Callable[..., BrowserContext]
FINGER = 44  # pixels: the least height of a button


@pytest.fixture
def study(transactional_db: None) -> Iterator[Study]:
    with registered(baskets):
        yield study_of(told.made(), questions=3)


def begin(page: Page, study: Study) -> None:
    page.goto(f"/s/{study.code}/")
    page.get_by_role("button", name="Take part").click()
    page.get_by_role("button", name="Begin").click()


def check_page(page: Page) -> None:
    """Check that axe finds no serious problem, that the page fits the screen, and that buttons are large enough."""
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    boxes = [one.bounding_box() for one in page.locator(".choice").all()]
    assert all(box is not None and box["height"] >= FINGER for box in boxes)


def stored(study: Study) -> dict[str, str]:
    """Return the answers by the kind of their question."""
    rows = Answer.objects.filter(slot__question__study=study).select_related("slot__question")
    kinds = dict(study.split.question_set.values_list("position", "kind"))
    return {kinds[row.slot.question.position]: row.text for row in rows}


def answer_by_keys(page: Page) -> None:
    """Answer the question on the page only with keys."""
    text = page.locator("#asked").inner_text()
    page.wait_for_timeout(350)  # a new page ignores early input, which may be a second tap on the old page
    if text == TEXTS["inside"]:
        page.keyboard.press("4")  # "nothing", which the next key deselects
        page.keyboard.press("3")
        page.keyboard.press("1")
        expect(page.locator(".part :checked")).to_have_count(2)
        page.keyboard.press("Enter")
    elif text == TEXTS["first"]:
        page.keyboard.press("3")
        page.keyboard.press("4")
        page.keyboard.press("Enter")
    else:
        page.keyboard.press("2")


def test_sets_and_sequences_are_answered_by_keys(open_browser: Open, study: Study) -> None:
    page = open_browser(viewport={"width": 1280, "height": 800}).new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    begin(page, study)
    for _ in TEXTS:
        check_page(page)
        before = page.locator("#asked").inner_text()
        answer_by_keys(page)
        page.wait_for_function("text => document.querySelector('#asked')?.innerText !== text", arg=before)
    assert stored(study) == {"inside": "apple,pear", "first": "pear,apple", "count": "one"}


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "forms"])
def test_sets_and_sequences_are_answered_by_touch(open_browser: Open, study: Study, scripts: bool) -> None:
    options: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
    page = open_browser(java_script_enabled=scripts, **options).new_page()
    begin(page, study)
    for _ in TEXTS:
        text = page.locator("#asked").inner_text()
        page.wait_for_timeout(350)
        story = page.locator(".story-box").bounding_box()
        assert story is not None and story["height"] < 0.55 * 740
        if scripts:
            check_page(page)
        if text == TEXTS["inside"]:
            page.get_by_label("pear").tap()
            page.get_by_label("apple").tap()
            page.get_by_role("button", name="Answer", exact=True).tap()
        elif text == TEXTS["first"]:
            page.get_by_label("pear").nth(0).tap()
            page.get_by_label("apple").nth(1).tap()
            page.get_by_role("button", name="Answer", exact=True).tap()
        else:
            page.get_by_role("button", name="one", exact=True).tap()
        expect(page.get_by_role("heading", name=text)).to_have_count(0)
    assert stored(study) == {"inside": "apple,pear", "first": "pear,apple", "count": "one"}


def test_an_answer_without_a_choice_gets_a_message_beside_the_button(open_browser: Open, study: Study) -> None:
    page = open_browser().new_page()
    begin(page, study)
    while page.locator(".part").count() == 0:
        page.wait_for_timeout(350)
        page.keyboard.press("1")
        page.wait_for_timeout(300)
    page.wait_for_timeout(350)
    page.get_by_role("button", name="Answer", exact=True).click()
    expect(page.locator("[data-unsent]")).to_contain_text("Please choose")
    page.locator(".part").nth(0).click()
    assert page.locator(".part :checked").count() == 1
