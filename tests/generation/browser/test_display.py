"""Small pictures in a real browser: they are enlarged, each pixel is a square, and outlines match the objects."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from generation.engine.worlds import REGISTRY
from generation.making import dataset_jobs
from generation.models import Dataset
from tests.annotations.visitors import Visitor, study_of
from tests.generation.browser.test_pages import barriers

pytestmark = [pytest.mark.slow, pytest.mark.full]
WIDTH, HEIGHT, SCALE = 48, 6, 10
SHAPE = """image => [image.getBoundingClientRect().width, image.getBoundingClientRect().height,
                     getComputedStyle(image).imageRendering, image.naturalWidth]"""


@pytest.fixture
def beads(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Give a complete public dataset of strings of beads, 48 pixels wide."""
    monkeypatch.setitem(REGISTRY, "starter", "generation.starter.world:WORLD")
    spec = {"world": "starter", "splits": {"train": {"scenes": 6}, "val": {"scenes": 3}}}
    dataset = dataset_jobs.start(spec, slug="beads", visibility="public", images=True)
    dataset_jobs.work(dataset=dataset)
    return dataset


@pytest.fixture(params=[1280, 390])
def page(request: pytest.FixtureRequest, browser: Browser, live_server: Any, beads: Dataset) -> Iterator[Page]:
    """Give a page of a wide, then of a narrow browser."""
    context = browser.new_context(base_url=live_server.url, viewport={"width": request.param, "height": 800})
    yield context.new_page()
    context.close()


def check(page: Page, picture: str) -> None:
    """Check the size and the rendering of a picture."""
    width, height, rendering, pixels = page.locator(picture).first.evaluate(SHAPE)
    room = page.viewport_size["width"]  # type: ignore[index]
    assert rendering == "pixelated"
    assert pixels == WIDTH
    assert width == WIDTH * SCALE or (room < WIDTH * SCALE and 0.8 * room < width < room)
    assert abs(width / height - WIDTH / HEIGHT) < 0.1
    assert barriers(page) == []


def test_a_question_shows_pixels_as_squares_with_outlines(page: Page) -> None:
    page.goto("/datasets/beads/val/q/1/?step=0")
    check(page, ".frame-box img")
    picture, outlines = (page.locator(one).bounding_box() for one in (".frame-box img", "svg.outlines"))
    assert picture is not None and outlines is not None
    assert all(abs(picture[name] - outlines[name]) < 1 for name in picture)  # type: ignore[literal-required]


def test_presenting_enlarges_the_picture(page: Page) -> None:
    page.goto("/datasets/beads/val/q/1/?present=1&step=0")
    width, _, rendering, _ = page.locator(".frame-box img").evaluate(SHAPE)
    assert rendering == "pixelated"
    assert width > 300


def test_participants_see_pixels_as_squares(page: Page, beads: Dataset) -> None:
    visitor = Visitor(study_of(beads, questions=3))
    visitor.to_questions()
    page.goto(visitor.address)
    check(page, ".shown img")


def test_lists_show_pixels_as_squares(page: Page) -> None:
    page.goto("/datasets/beads/val/")
    assert page.locator(".thumb img").first.evaluate(SHAPE)[2:] == ["pixelated", WIDTH]


def test_participants_can_enlarge_pictures_further(page: Page, beads: Dataset) -> None:
    visitor = Visitor(study_of(beads, questions=3))
    visitor.to_questions()
    page.goto(f"{visitor.address}?zoom=2")
    pane = page.locator(".pane").bounding_box()
    assert pane is not None
    assert abs(page.locator(".shown img").evaluate(SHAPE)[0] - 2 * pane["width"]) < 2
