"""Counting in a real browser: from the form of a dataset to a shift, four methods on its boards, and the gap."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from generation.charts import drawing
from generation.models import Dataset, Split
from tests.leaderboards.reading.counts import KINDS, records_of
from tests.worlds.conftest import make_by_form, usable
from webapp.leaderboards import scoring

pytestmark = [pytest.mark.slow, pytest.mark.full, pytest.mark.django_db(transaction=True)]
SIZES = (40, 30, 40, 8)  # scenes of train, val, test and grounding, with two questions each but for grounding
SHIFT = "odd-even-90"


@pytest.fixture(autouse=True)
def time_to_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "SECONDS", 60)


def test_a_newcomer_sees_which_methods_count(page: Page, tmp_path: Path) -> None:
    dataset = make_by_form(page, "clevr-counting-mini", slug="solids", scenes=SIZES)
    shift_the_counts(page, dataset)
    for kind in KINDS:
        create_method(page, kind)
        for part in ("val", "test"):
            split = Split.objects.for_browse().get(dataset=dataset, name=f"{part}-{SHIFT}")
            submit(page, split, kind, list(records_of(kind, split)), tmp_path)
    see_the_board(page)
    see_the_gap(page)


def shift_the_counts(page: Page, dataset: Dataset) -> None:
    """Make the sets of a shift by its form, and look at their histograms."""
    page.goto("/datasets/solids/train/derive/")
    page.get_by_role("link", name="shift the counts").click()
    expect(page.get_by_text("It makes 3 question sets")).to_be_visible()
    assert page.get_by_label("Groups").input_value() == "type"
    usable(page)
    page.get_by_role("button", name="Make the question sets").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Shifted counts: {SHIFT}")
    expect(page.locator("figure.chart svg")).to_have_count(3)
    expect(page.get_by_role("rowheader", name="Random (train)")).to_be_visible()
    expect(page.get_by_role("rowheader", name="Train and test after")).to_be_visible()
    usable(page)
    page.goto(dataset.get_absolute_url())
    expect(page.get_by_role("link", name=SHIFT, exact=True)).to_be_visible()


def create_method(page: Page, name: str) -> None:
    page.goto("/methods/new/")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("How it was made").select_option("trained")
    page.get_by_role("button", name="Create the method").click()
    page.get_by_role("button", name="Publish").click()


def submit(page: Page, split: Split, method: str, records: list[dict[str, Any]], folder: Path) -> None:
    file = folder / "predictions.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    page.goto(f"/leaderboards/solids/{split.name}/")
    page.get_by_role("link", name="Submit predictions").click()
    page.get_by_label("Predictions").set_input_files(file)
    page.get_by_label("Method").select_option(label=method)
    page.get_by_role("button", name="Submit", exact=True).click()
    scoring.RUNNER.take_turn()
    expect(page.get_by_role("heading", name="Scored")).to_be_visible(timeout=15_000)


def see_the_board(page: Page) -> None:
    """Look at the metrics of all methods, at one metric by the answer, and at the boxes over a picture."""
    page.goto(f"/leaderboards/solids/test-{SHIFT}/")
    for name in ("Accuracy", "RMSE", "GroundP", "AP"):
        expect(page.get_by_role("columnheader", name=name, exact=True)).to_be_visible()
    for kind in KINDS:
        expect(page.get_by_role("link", name=kind, exact=True)).to_be_visible()
    usable(page)
    page.get_by_role("navigation", name="Views of this board").get_by_role("link", name="Metrics").click()
    expect(page.get_by_role("heading", name="RMSE", exact=False)).to_be_visible()
    usable(page)
    page.get_by_role("link", name="Question by question").click()
    for kind in KINDS:
        page.get_by_label(kind, exact=False).set_checked(kind in ("Boxes", "Misses"))
    page.get_by_role("button", name="Show these rows").click()
    page.get_by_role("link", name="Question 0", exact=True).click()
    expect(page.locator("figure.answered")).to_have_count(2)
    expect(page.locator("rect.predicted").first).to_be_attached()
    usable(page)


def see_the_gap(page: Page) -> None:
    """Make a suite of val and test, and see the gap between them with its interval."""
    page.goto("/suites/new/")
    page.get_by_label("Title").fill("Shortcuts")
    page.get_by_label("Slug").fill("shortcuts")
    page.get_by_label("Members").fill(f"solids/val-{SHIFT} = val\nsolids/test-{SHIFT} = test")
    page.get_by_label("Gaps").fill("gap = val - test")
    page.get_by_role("button", name="Create the suite").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="Repeats", exact=True))
    expect(row).to_contain_text(" to ")
    expect(row).to_contain_text("harmonic mean")
    usable(page)
