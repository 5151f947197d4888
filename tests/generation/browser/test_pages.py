"""The pages of datasets in a real browser: with and without JavaScript, wide and narrow, light and dark."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from generation.models import Dataset
from tests.generation import small
from tests.generation.browser.screens import AND_ONE_AT_THE_GATE
from tests.proof import sample

pytestmark = pytest.mark.slow

BROWSE = "/datasets/shapes/train/"
QUESTION = "/datasets/shapes/train/q/5/"
PAGES = {
    "list": "/datasets/",
    "found list": "/datasets/?q=shapes&state=complete",
    "overview": "/datasets/shapes/",
    "browse": BROWSE,
    "filtered": BROWSE + "?length=3..30&q=the",
    "chosen": BROWSE + "?q=the&list=3,5",
    "nothing found": BROWSE + "?q=zebra",
    "refused": BROWSE + "?type=nothing",
    "question": QUESTION,
    "step": QUESTION + "?step=1",
    "withheld": "/datasets/shapes/test/q/1/",
    "withheld list": "/datasets/shapes/test/",
}


@pytest.fixture
def shapes(transactional_db: None) -> Dataset:
    """Give a complete public dataset."""
    return small.made()


@pytest.fixture(
    params=[
        pytest.param(True, id="with JavaScript"),
        pytest.param(False, id="without JavaScript", marks=pytest.mark.full),
    ]
)
def page(request: pytest.FixtureRequest, browser: Browser, live_server: Any, shapes: Dataset) -> Iterator[Page]:
    """Give a page of a browser that runs scripts, then of one that does not."""
    context = browser.new_context(base_url=live_server.url, java_script_enabled=request.param)
    yield context.new_page()
    context.close()


def number_of(text: str | None) -> int:
    """Return the first number in a text."""
    found = re.search(r"\d+", text or "")
    assert found is not None, text
    return int(found[0])


def test_a_filter_is_set_and_removed_by_its_chip(page: Page) -> None:
    page.goto(BROWSE)
    choice = page.locator(".facet li a").first
    address = choice.get_attribute("href")
    count = number_of(choice.locator(".count").text_content())
    choice.click()
    expect(page.locator(".chip.remove")).to_have_count(1)
    assert page.url.endswith(str(address))
    expect(page.locator(".asked a")).to_have_count(count)
    assert number_of(page.locator(".found [role=status]").text_content()) == count
    page.locator(".chip.remove").click()
    expect(page.locator(".chip.remove")).to_have_count(0)
    expect(page.locator(".asked a")).to_have_count(16)


def test_forms_set_filters_of_words_and_of_a_range(page: Page) -> None:
    page.goto(BROWSE)
    page.get_by_label("Words in the question").fill("the")
    page.get_by_role("button", name="Find").click()
    expect(page.locator(".chip.remove")).to_have_count(1)
    assert page.url.endswith("?q=the")
    page.locator(".facet summary", has_text="Number of objects").scroll_into_view_if_needed()
    page.get_by_label("Number of objects from").fill("3")
    page.get_by_label("Number of objects to").fill("10")
    form = page.locator("form", has=page.get_by_label("Number of objects to"))
    form.get_by_role("button", name="Set").click()
    expect(page.locator(".chip.remove")).to_have_count(2)
    assert page.url.endswith("?objects=3..10&q=the")


def test_going_back_undoes_a_filter(page: Page) -> None:
    page.goto(BROWSE)
    page.locator(".facet li a").first.click()
    expect(page.locator(".chip.remove")).to_have_count(1)
    page.go_back()
    expect(page.locator(".chip.remove")).to_have_count(0)
    expect(page.locator(".asked a")).to_have_count(16)


def test_steps_of_a_program_are_links(page: Page) -> None:
    page.goto(BROWSE)
    page.locator(".asked a").nth(5).click()
    expect(page.locator("h1")).to_have_count(1)
    assert page.url.endswith(QUESTION)
    steps = page.locator(".steps > li > a").count()
    page.get_by_role("link", name="First step").click()
    for number in range(steps):
        current = page.locator("[aria-current=step]")
        expect(current).to_have_attribute("id", f"step-{number}")
        assert page.url.endswith(f"?step={number}")
        outlined = page.locator("svg.outlines .over").count()
        assert outlined <= current.locator(".chip:not(.on)").count()
        if number + 1 < steps:
            page.locator(".step-nav [rel=next]").click()


def test_outlines_cover_the_picture(page: Page) -> None:
    page.goto(QUESTION + "?step=0")
    picture = page.locator(".frame-box img").bounding_box()
    outlines = page.locator("svg.outlines").bounding_box()
    assert picture is not None and outlines is not None
    for side in ("x", "y", "width", "height"):
        assert abs(picture[side] - outlines[side]) < 1  # type: ignore[literal-required]


def test_the_next_question_is_one_click_away(page: Page) -> None:
    page.goto(QUESTION + "?step=1")
    page.get_by_role("link", name="Next question").click()
    expect(page.locator(".crumbs [aria-current]")).to_have_text("Question 6")
    assert page.url.endswith("/q/6/")


@pytest.mark.parametrize(("width", "theme"), AND_ONE_AT_THE_GATE)
def test_pages_fit_and_have_no_serious_barrier(
    browser: Browser, live_server: Any, shapes: Dataset, width: int, theme: Any
) -> None:
    context = browser.new_context(
        base_url=live_server.url, viewport={"width": width, "height": 800}, color_scheme=theme
    )
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{page.url}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    for name, address in PAGES.items():
        page.goto(address, wait_until="networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        complaints += [f"{name}: {found}" for found in barriers(page)]
    context.close()
    assert [text for text in complaints if "status of 400" not in text] == []


def barriers(page: Page) -> list[str]:
    """Return the serious barriers that axe finds on the page."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]


def test_the_sidebar_keeps_its_open_facets_and_focus(browser: Browser, live_server: Any, shapes: Dataset) -> None:
    context = browser.new_context(base_url=live_server.url, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(BROWSE)
    filters = page.locator("#filters")
    expect(filters).not_to_have_attribute("open", "")
    filters.locator("> summary").click()
    page.locator("#facet-group > summary").click()
    page.locator("#facet-type li a").first.click()
    expect(page.locator(".chip.remove")).to_have_count(1)
    expect(filters).to_have_attribute("open", "")
    expect(page.locator("#facet-group")).not_to_have_attribute("open", "")
    expect(page.locator("#facet-type li a").first).to_be_focused()
    context.close()


def test_a_link_to_a_dataset_that_became_private_is_followed(
    browser: Browser, live_server: Any, shapes: Dataset
) -> None:
    context = browser.new_context(base_url=live_server.url)
    page = context.new_page()
    page.goto(BROWSE)
    Dataset.objects.update(visibility=Dataset.Visibility.PRIVATE)
    link = page.locator(".facet li a").first
    address = link.get_attribute("href")
    link.click()
    expect(page.locator("#browse")).to_have_count(0)
    assert page.url.endswith(str(address))
    context.close()


SMALL_TARGETS = """() => {
  const isSmall = (box) => box.height < 23.5 || box.width < 23.5;
  const isOfItsOwn = (one) => !one.closest("svg, .hidden-text, p") && !one.matches(".skip, .prose li a");
  return [...document.querySelectorAll("a, button, input:not([type=hidden]), select, summary, textarea")]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().width && isOfItsOwn(one))
    .filter((one) => [one, ...(one.labels ?? [])].every((part) => isSmall(part.getBoundingClientRect())))
    .map((one) => `${one.outerHTML.slice(0, 90)} ${one.getBoundingClientRect().height}`);
}"""
LANDMARKS = """() => [...document.querySelectorAll("nav, section[aria-labelledby], [role=region], [role=search]")]
  .map((one) => [one.role ?? one.tagName, one.ariaLabel ?? one.getAttribute("aria-labelledby")].join(" "))"""


@pytest.mark.parametrize("name", sample(PAGES, gate=2))
def test_targets_are_large_enough_and_landmarks_are_unique_on_a_phone(
    name: str, browser: Browser, live_server: Any, shapes: Dataset
) -> None:
    page = browser.new_page(base_url=live_server.url, viewport={"width": 390, "height": 844})
    page.goto(PAGES[name])
    assert page.evaluate(SMALL_TARGETS) == []
    landmarks = page.evaluate(LANDMARKS)
    assert len(landmarks) == len(set(landmarks))
    header = page.locator("header.site").bounding_box()
    assert header is not None
    assert header["height"] < 90  # two rows
    page.close()
