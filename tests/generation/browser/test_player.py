"""Playing a program, presenting, and moving between questions in a real browser, by mouse, key and link."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from generation.browsing import sidebar
from generation.models import Dataset, Question
from tests.generation import small
from tests.generation.browser.screens import SCREENS
from tests.generation.browser.test_pages import barriers

pytestmark = pytest.mark.slow

TRAIN = "/datasets/shapes/train/"
QUESTION = "/datasets/shapes/train/q/5/"
STATES = ("", "?step=1", "?ask=1", "?ask=0&present=1", "?present=1&step=1", "?list=5,3", "?q=the")


@pytest.fixture
def shapes(transactional_db: None) -> Dataset:
    """Give a complete public dataset."""
    return small.made()


@pytest.fixture
def context(browser: Browser, live_server: Any, shapes: Dataset) -> Iterator[BrowserContext]:
    """Give a browser context for this test."""
    context = browser.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 800})
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """Give a page that makes the test fail if a script raises an error."""
    page = context.new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    return page


@pytest.fixture
def page_without_scripts(browser: Browser, live_server: Any, shapes: Dataset) -> Iterator[Page]:
    """Give a page of a browser that runs no scripts."""
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    yield context.new_page()
    context.close()


def steps_of(position: int) -> int:
    """Return how many steps the program of a question has."""
    return len(Question.objects.get(split__name="train", position=position).steps or ())


def mark(page: Page) -> None:
    """Set a mark that disappears if the page is reloaded."""
    page.evaluate("window.isTheSamePage = true")


def is_the_same_page(page: Page) -> bool:
    """Return whether the mark is still there."""
    return bool(page.evaluate("window.isTheSamePage === true"))


def test_arrow_keys_step_without_a_new_page_and_leave_no_history(page: Page) -> None:
    page.goto(TRAIN)
    page.goto(QUESTION)
    mark(page)
    for number in range(3):
        page.keyboard.press("ArrowRight")
        expect(page.locator("[aria-current=step]")).to_have_id(f"step-{number}")
    assert page.url.endswith("?step=2")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[aria-current=step]")).to_have_id("step-1")
    assert is_the_same_page(page)
    page.go_back()
    assert page.url.endswith(TRAIN)


def test_a_program_plays_to_its_end_pauses_and_plays_on(page: Page) -> None:
    last = steps_of(5) - 1
    page.clock.install()
    page.goto(QUESTION)
    play = page.locator("#play")
    expect(play).to_have_text("Play the program")
    play.click()
    expect(page.locator("[aria-current=step]")).to_have_id("step-0")
    expect(play).to_have_text("Pause")
    expect(play).to_be_focused()
    page.clock.run_for(2000)
    expect(page.locator("[aria-current=step]")).to_have_id("step-1")
    play.click()
    expect(play).to_have_text("Play on")
    page.clock.run_for(10_000)
    expect(page.locator("[aria-current=step]")).to_have_id("step-1")
    play.click()
    for number in range(2, last + 1):
        expect(page.locator("[aria-current=step]")).to_have_id(f"step-{number}")
        page.clock.run_for(2000)
    expect(play).to_have_text("Play again")
    play.click()
    expect(page.locator("[aria-current=step]")).to_have_id("step-0")


def test_a_manual_step_pauses_playing(page: Page) -> None:
    page.clock.install()
    page.goto(QUESTION)
    page.keyboard.press("k")
    expect(page.locator("#play")).to_have_text("Pause")
    expect(page.locator("[aria-current=step]")).to_have_id("step-0")
    page.keyboard.press("ArrowRight")
    expect(page.locator("[aria-current=step]")).to_have_id("step-1")
    expect(page.locator("#play")).to_have_text("Play on")
    page.clock.run_for(10_000)
    expect(page.locator("[aria-current=step]")).to_have_id("step-1")


def test_nothing_plays_if_the_visitor_prefers_less_motion(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(QUESTION)
    expect(page.locator("#play")).to_be_hidden()
    page.get_by_role("link", name="First step").click()
    expect(page.locator("[aria-current=step]")).to_have_id("step-0")
    page.emulate_media(reduced_motion="no-preference")
    expect(page.locator("#play")).to_have_text("Play on")
    page.emulate_media(reduced_motion="reduce")
    expect(page.locator("#play")).to_be_hidden()


def test_no_key_is_lost_if_keys_are_faster_than_steps(page: Page) -> None:
    last = steps_of(5) - 1
    page.goto(QUESTION)
    for _ in range(last + 1):
        page.keyboard.press("ArrowRight")
    expect(page.locator("[aria-current=step]")).to_have_id(f"step-{last}")


def test_keys_in_a_field_do_not_control_the_page(page: Page) -> None:
    page.goto(TRAIN + "?q=the")
    page.keyboard.press("/")
    expect(page.get_by_label("Words in the question")).to_be_focused()
    for key in ("End", "n", "ArrowLeft", "?"):
        page.keyboard.press(key)
    expect(page.get_by_label("Words in the question")).to_have_value("the?n")
    assert page.url.endswith("?q=the")
    expect(page.locator("#keys")).not_to_be_visible()


def test_keys_with_a_modifier_do_not_control_the_page(page: Page) -> None:
    page.goto(QUESTION)
    for key in ("Control+ArrowRight", "Alt+n", "Meta+a"):
        page.keyboard.press(key)
    page.wait_for_timeout(100)
    assert page.url.endswith(QUESTION)


def test_the_tip_of_an_object_is_shown_by_mouse_keyboard_and_click(page: Page) -> None:
    page.goto(QUESTION)
    area = page.locator(".area").first
    tip = area.locator(".tip")
    expect(tip).not_to_be_visible()
    area.locator(".hit").hover()
    expect(tip).to_be_visible()
    assert tip.locator("text").text_content() == area.get_attribute("aria-label")
    page.mouse.move(0, 0)
    expect(tip).not_to_be_visible()
    area.focus()
    expect(tip).to_be_visible()
    page.keyboard.press("Tab")
    expect(tip).not_to_be_visible()
    expect(page.locator(".area").nth(1)).to_be_focused()
    area.click()
    expect(tip).to_be_visible()


def test_areas_cover_the_picture_when_presented(page: Page) -> None:
    page.goto(QUESTION + "?present=1")
    picture, areas = page.locator(".frame-box img").bounding_box(), page.locator("svg.areas").bounding_box()
    assert picture is not None and areas is not None
    for side in ("x", "y", "width", "height"):
        assert abs(picture[side] - areas[side]) < 1  # type: ignore[literal-required]


def test_presenting_fills_the_screen_and_continues_with_the_next_question(page: Page) -> None:
    page.goto(QUESTION)
    size = page.locator("h1").evaluate("node => parseFloat(getComputedStyle(node).fontSize)")
    mark(page)
    page.keyboard.press("f")
    expect(page.locator(".presenting")).to_be_visible()
    assert page.url.endswith("?present=1")
    expect(page.locator("header.site")).not_to_be_visible()
    assert page.evaluate("document.fullscreenElement !== null")
    assert page.locator("h1").evaluate("node => parseFloat(getComputedStyle(node).fontSize)") > size
    assert page.evaluate("document.documentElement.scrollHeight") <= 800
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile(r"/q/6/\?present=1$"))
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"/q/6/\?present=1&step=0$"))
    assert is_the_same_page(page)
    page.keyboard.press("f")
    expect(page.locator("header.site")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/q/6/\?step=0$"))
    assert page.evaluate("document.fullscreenElement === null")


def test_ask_first_hides_the_answer_until_a_key_shows_it(page: Page) -> None:
    page.goto(QUESTION)
    page.keyboard.press("a")
    expect(page.locator("#reveal")).to_be_visible()
    expect(page.locator(".steps")).to_have_count(0)
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile(r"/q/6/\?ask=1$"))
    page.goto("/datasets/shapes/train/q/7/")  # the setting is remembered
    page.keyboard.press("s")
    expect(page.locator(".the-answer b")).to_be_visible()
    page.keyboard.press("a")
    expect(page.locator("#ask-first")).to_contain_text("off")


def test_keys_follow_the_order_of_a_list(page: Page) -> None:
    page.goto("/datasets/shapes/train/q/9/?list=9,2,14")
    for position in (2, 14):
        page.keyboard.press("n")
        expect(page.locator(".crumbs [aria-current]")).to_have_text(f"Question {position}")
        assert page.url.endswith(f"/q/{position}/?list=9,2,14")
    expect(page.locator("#next-question")).to_have_count(0)
    page.keyboard.press("b")
    expect(page).to_have_url(re.compile(r"/datasets/shapes/train/\?list=9,2,14$"))


def test_arrow_keys_turn_the_pages_of_the_list(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sidebar.page_of.__kwdefaults__, "size", 6)
    page.goto(TRAIN)
    mark(page)
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"\?page=2$"))
    expect(page.locator(".pages [aria-current]")).to_have_text("2")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".pages [aria-current]")).to_have_text("1")
    assert is_the_same_page(page)


def test_keys_are_listed_and_can_be_turned_off(page: Page) -> None:
    page.goto(QUESTION)
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    assert not barriers(page)
    page.get_by_label("Use these keys").uncheck()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).not_to_be_visible()
    page.keyboard.press("n")
    page.reload()
    page.keyboard.press("n")
    page.wait_for_timeout(100)
    assert page.url.endswith(QUESTION)
    page.keyboard.press("?")
    expect(page.get_by_label("Use these keys")).not_to_be_checked()


def test_going_back_shows_the_previous_question(page: Page) -> None:
    page.goto(QUESTION)
    for position in (6, 7):
        page.keyboard.press("n")
        expect(page.locator(".crumbs [aria-current]")).to_have_text(f"Question {position}")
        expect(page).to_have_title(re.compile(f"^Question {position} "))
    page.go_back()
    expect(page.locator(".crumbs [aria-current]")).to_have_text("Question 6")
    page.reload()
    expect(page.locator("header.site")).to_be_visible()


def test_a_question_that_became_private_is_no_longer_shown(page: Page) -> None:
    page.goto(QUESTION)
    Dataset.objects.update(visibility=Dataset.Visibility.PRIVATE)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#question")).to_have_count(0)


def test_everything_works_by_links_without_scripts(page_without_scripts: Page) -> None:
    page_without_scripts.goto(QUESTION + "?list=5,3")
    expect(page_without_scripts.locator("[data-opens-keys]")).not_to_be_visible()
    page_without_scripts.get_by_role("link", name="Ask first: off").click()
    expect(page_without_scripts.locator(".steps")).to_have_count(0)
    page_without_scripts.get_by_role("link", name="Show the answer").click()
    page_without_scripts.get_by_role("link", name="First step").click()
    expect(page_without_scripts.locator("[aria-current=step]")).to_have_id("step-0")
    page_without_scripts.get_by_role("link", name="Present").click()
    expect(page_without_scripts.locator("header.site")).not_to_be_visible()
    page_without_scripts.get_by_role("link", name="Next question").click()
    expect(page_without_scripts).to_have_url(re.compile(r"/q/3/\?list=5,3&ask=1&present=1$"))
    page_without_scripts.locator("#reveal").click()
    area = page_without_scripts.locator(".area").first
    area.locator(".hit").hover()
    expect(area.locator(".tip")).to_be_visible()


@pytest.mark.parametrize(("width", "theme"), SCREENS)
def test_every_state_of_a_question_fits_and_has_no_serious_barrier(
    browser: Browser, live_server: Any, shapes: Dataset, width: int, theme: Any
) -> None:
    context = browser.new_context(
        base_url=live_server.url, viewport={"width": width, "height": 800}, color_scheme=theme
    )
    page = context.new_page()
    for state in STATES:
        context.clear_cookies()
        page.goto(QUESTION + state, wait_until="networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, state
        assert barriers(page) == [], state
    context.close()


def test_questions_are_selected_on_several_pages_and_presented_by_keyboard(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sidebar.page_of.__kwdefaults__, "size", 6)
    page.goto(TRAIN)
    mark(page)
    page.get_by_label("Choose question 4").focus()
    page.keyboard.press("Space")
    expect(page.locator(".chosen [role=status]")).to_have_text("1 chosen")
    expect(page.get_by_label("Choose question 4")).to_be_focused()
    expect(page).to_have_url(re.compile(r"\?list=4$"))
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"\?list=4&page=2$"))
    page.get_by_label("Choose question 8").check()
    expect(page.locator(".chosen [role=status]")).to_have_text("2 chosen")
    assert is_the_same_page(page)
    assert re.search(r"/q/4/\?list=4,8$", page.get_by_label("Link to share").input_value())
    expect(page.get_by_role("button", name="Keep the choice")).to_be_hidden()
    page.get_by_role("button", name="Present them").press("Enter")
    expect(page.locator("header.site")).to_be_hidden()
    expect(page.locator(".way")).to_have_text("1 of 2 chosen")
    expect(page.locator("#keys-button")).to_be_visible()  # the script of the new page listens to keys
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile(r"/q/8/\?list=4,8&present=1$"))
    page.keyboard.press("b")
    expect(page).to_have_url(re.compile(r"/train/\?list=4,8$"))
    page.get_by_role("link", name="Remove question 4").click()
    expect(page.locator(".chosen [role=status]")).to_have_text("1 chosen")
    expect(page).to_have_url(re.compile(r"/train/\?list=8$"))


def test_questions_are_selected_without_scripts(page_without_scripts: Page) -> None:
    page_without_scripts.goto(TRAIN + "?q=the")
    boxes = page_without_scripts.get_by_label("Choose question")
    first, last = boxes.first.get_attribute("value"), boxes.last.get_attribute("value")
    boxes.first.check()
    page_without_scripts.get_by_role("button", name="Keep the choice").click()
    expect(page_without_scripts).to_have_url(re.compile(rf"\?q=the&list={first}$"))
    boxes.last.check()
    page_without_scripts.get_by_role("button", name="Open the chosen questions").click()
    expect(page_without_scripts).to_have_url(re.compile(rf"/q/{first}/\?list={first},{last}$"))
    expect(page_without_scripts.locator(".way")).to_have_text("1 of 2 chosen")
