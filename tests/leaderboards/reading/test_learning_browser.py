"""Figure 5 in a real browser: seen and unseen as two curves over examples seen, and pages of tasks that fit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from generation.charts import drawing
from generation.making import dataset_jobs
from generation.models import Split
from generation.reports.scoring import truth_of
from generation.storage.split_index import SplitIndex
from tests.leaderboards.reading.rows import method, submit
from webapp.leaderboards import baselines, scoring
from webapp.models import User

pytestmark = [pytest.mark.slow, pytest.mark.full]

UNSEEN = {"held_out": {"shows_combinations": [["square", "red"]]}}
SHAPES = {"train": {"scenes": 60}, "test": {"scenes": 240, "overrides": UNSEEN}}
STORIES = {"train": {"questions": 100}, "test": {"questions": 60}}
WIDTHS = (390, 1280)


@pytest.fixture
def page(
    browser: Browser, live_server: Any, transactional_db: None, settings: Any, tmp_path: Path, monkeypatch: Any
) -> Iterator[Page]:
    """Give a page of a site with a board of captions and a board of stories, and a learner on each."""
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(drawing, "SECONDS", 60)
    learner = method(User.objects.create_user("owner", "owner@example.org", "x"), "CNN+LSTM")
    shapes = made("shapes", world="shapeworld", base="shapeworld-oneshape", splits=SHAPES)
    told = made("told", world="babi", tasks=[1], splits=STORIES)
    for split, unseen in ((shapes, "combination"), (told, "")):
        index = SplitIndex.open(split)
        facet = index.facets.get("held_out")
        new = facet.codes == facet.values.index(unseen) if facet and unseen else np.zeros(index.n, np.bool_)
        chance = np.random.default_rng(5).random(index.n)
        for seen, known in ((1_000, 0.6), (10_000, 0.8), (100_000, 0.98)):
            wrong = chance > np.where(new, 0.5 + known / 10, known)
            submit(learner, split, np.where(wrong, -1, truth_of(index)), train_size=seen // 10, examples_seen=seen)
    while baselines.begin():
        pass
    scoring.RUNNER.take_turn()
    context = browser.new_context(base_url=live_server.url)
    yield context.new_page()
    context.close()


def made(slug: str, **spec: Any) -> Split:
    """Return the split test of a complete public dataset."""
    dataset = dataset_jobs.start(spec, slug=slug, visibility="public", images=False)
    dataset_jobs.work(dataset=dataset)
    return Split.objects.for_browse().get(dataset=dataset, name="test", state=Split.State.COMPLETE)


def check(page: Page) -> None:
    """Check that a page has no barriers and fits every width."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_seen_and_unseen_are_two_curves_and_pages_of_tasks_fit(page: Page) -> None:
    page.goto("/leaderboards/shapes/test/curves/")
    page.get_by_label("Questions", exact=True).select_option(label="Seen against unseen (figure 5)")
    page.get_by_label("Horizontal axis", exact=True).select_option("examples-seen")
    page.get_by_role("button", name="Show").click()
    chart = page.get_by_role("figure").locator(".on-wide")
    expect(chart.get_by_text("CNN+LSTM: nothing held out from training", exact=True)).to_be_visible()
    expect(chart.get_by_text("CNN+LSTM: something held out from training", exact=True)).to_be_visible()
    expect(chart.locator("svg a")).to_have_count(6)
    check(page)
    page.goto("/leaderboards/told/test/")
    expect(page.get_by_role("columnheader", name="1: one supporting fact")).to_be_visible()
    expect(page.get_by_role("row", name="Last place").get_by_text("of 1", exact=True)).to_be_visible()
    check(page)
    page.get_by_role("link", name="Curves").last.click()
    row = page.get_by_role("group", name="What each task needs").get_by_role("row", name="1: one supporting fact")
    expect(row.get_by_text("10,000", exact=True)).to_be_visible()
    check(page)
