"""SimTown in a real browser, from the form of a dataset to the number of examples that two methods need."""

import io
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from annotations.models import Answer, Study
from generation.charts import drawing
from generation.models import Dataset, Question, Split
from tests.leaderboards.sent import truth_of
from tests.worlds.conftest import compare_colours, make_by_form, usable
from webapp.leaderboards import scoring

pytestmark = [pytest.mark.slow, pytest.mark.full, pytest.mark.django_db(transaction=True)]
SIZES = {"train": 60, "val": 8, "test": 40}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
STUDY = {
    "Questions": str(SIZES["val"]),
    "Answers per question": "1",
    "Questions per session": str(SIZES["val"]),
    "Practice questions": "0",
    "Check questions per session": "0",
    "Attention items per session": "0",
    "Pay per hour": "12",
    "Pay for a session": "2",
    "Completed": "DONE-1",
    "Screened out": "OUT-1",
    "Full": "FULL-1",
}
KINDS = {"five": 5, "fifteen": 15}
# Right answers of 40 by kinds of vehicles and training examples
RIGHT = {
    "Relation net": {"five": {20: 26, 40: 38, 60: 40}, "fifteen": {20: 22, 40: 30, 60: 38}},
    "Late fusion": {"five": {20: 22, 40: 28, 60: 36}, "fifteen": {20: 20, 40: 24, 60: 30}},
}


@pytest.fixture(autouse=True)
def time_to_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "SECONDS", 60)


def test_a_newcomer_sees_how_many_examples_two_methods_need(page: Page, browser: Browser, tmp_path: Path) -> None:
    sizes = tuple(SIZES.values())
    made = {slug: make_by_form(page, f"simtown-k{k}-distractor", slug=slug, scenes=sizes) for slug, k in KINDS.items()}
    look_at(page, made["fifteen"])
    answer_by_phone(page, browser)
    for name, by_kinds in RIGHT.items():
        create_method(page, name)
        for slug, by_size in by_kinds.items():
            split = Split.objects.select_related("dataset").get(dataset=made[slug], name="test")
            for size, right in by_size.items():
                submit(page, split, name, size=size, right=right, folder=tmp_path)
    see_the_grid(page)
    out = io.StringIO()
    call_command("verify", "fifteen", stdout=out)
    assert "108 questions" in out.getvalue(), out.getvalue()


def look_at(page: Page, dataset: Dataset) -> None:
    """Look at the charts of a dataset, at a question, and at every step of its program."""
    page.goto(dataset.get_absolute_url())
    expect(page.get_by_text("The thin marks are the shares that the spec asks for.").first).to_be_attached()
    usable(page)
    outlined = 0
    for row in Question.objects.filter(split__dataset=dataset, split__name="train", position__lt=4):
        address = f"/datasets/{dataset.slug}/train/q/{row.position}/"
        page.goto(address)
        expect(page.locator("h1")).to_contain_text(row.text)
        source = page.locator("main img").first.get_attribute("src")
        assert source is not None
        assert Image.open(io.BytesIO(page.request.get(source).body())).size == (96, 64)
        for step in range(len(row.steps or ())):
            page.goto(f"{address}?step={step}")
            outlined += page.locator("svg.outlines .over").count()
    assert outlined > 0
    usable(page)


def answer_by_phone(page: Page, browser: Browser) -> None:
    """Set a study up by its form, and answer all of it on a phone."""
    page.goto("/studies/new/?split=fifteen/val")
    page.get_by_label("Title", exact=True).fill("Streets")
    page.get_by_text("All settings").click()
    for label, value in STUDY.items():
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_role("button", name="Make the study").click()
    assert page.locator(".errorlist").all_inner_texts() == []
    page.get_by_role("button", name="Open").click()
    study = Study.objects.get()
    context = browser.new_context(base_url=re.sub(r"(https?://[^/]+).*", r"\1", page.url), **PHONE)
    phone = context.new_page()
    phone.goto(f"/s/{study.code}/")
    phone.get_by_role("button", name="take part", exact=False).tap()
    compare_colours(phone)
    phone.get_by_role("button", name="Begin").tap()
    for number in range(1, SIZES["val"] + 1):
        expect(phone.locator(".way")).to_contain_text(f"{number} of {SIZES['val']}")
        choices = phone.locator(".choice")
        expect(choices).to_have_count(2)
        expect(choices.first).to_be_enabled()
        usable(phone)
        choices.nth(number % 2).tap()
    expect(phone.get_by_role("heading", level=1)).to_have_text("One last thing")
    phone.get_by_role("button", name="Finish").tap()
    assert Answer.objects.counted().count() == SIZES["val"]
    context.close()


def create_method(page: Page, name: str) -> None:
    page.goto("/methods/new/")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("How it was made").select_option("trained")
    page.get_by_role("button", name="Create the method").click()
    page.get_by_role("button", name="Publish").click()


def submit(page: Page, split: Split, method: str, *, size: int, right: int, folder: Path) -> None:
    """Submit predictions of which so many are right, as those of a method trained on so many examples."""
    answers = truth_of(split)
    wrong = random.Random(size).sample(range(len(answers)), len(answers) - right)
    for position in wrong:
        answers[position] = "no" if answers[position] == "yes" else "yes"
    file = folder / "predictions.json"
    file.write_text(json.dumps([{"question_id": at, "answer": text} for at, text in enumerate(answers)]))
    page.goto(f"/leaderboards/{split.dataset.slug}/test/")
    page.get_by_role("link", name="Submit predictions").click()
    page.get_by_label("Predictions").set_input_files(file)
    page.get_by_label("Method").select_option(label=method)
    page.get_by_label("Trained on").fill(f"{split.dataset.slug}/train")
    page.get_by_label("Training examples").fill(str(size))
    page.get_by_role("button", name="Submit", exact=True).click()
    scoring.RUNNER.take_turn()
    expect(page.get_by_role("heading", name="Scored")).to_be_visible(timeout=15_000)
    expect(page.get_by_role("columnheader", name="Reweighted")).to_be_visible()


def see_the_grid(page: Page) -> None:
    """Make a grid of both boards, and see for each method the examples that it needs, over two numbers of kinds."""
    page.goto("/suites/new/")
    page.get_by_label("Title").fill("Streets that grow")
    page.get_by_label("Slug").fill("streets")
    page.get_by_label("Members").fill("\n".join(f"{slug}/test = {slug}" for slug in KINDS))
    page.locator("[name=k_name]").fill("entities")
    page.get_by_label("k of each split").fill("\n".join(f"{slug} = {k}" for slug, k in KINDS.items()))
    page.get_by_role("button", name="Create the suite").click()
    page.get_by_role("link", name="Training examples needed").click()
    page.get_by_label("Target for all methods").select_option("85")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="All methods at 85 %")).to_be_visible()
    usable(page)
    found = page.request.get(f"{page.url.split('?')[0].rstrip('/')}.json").json()
    needed = {
        (method["label"], size["k"]): size["reached"]
        for method in found["methods"]
        for line in method["targets"]
        for size in line["sizes"]
        if line["target"] == 85
    }
    assert needed == {
        ("Relation net", 5): 40,
        ("Relation net", 15): 60,
        ("Late fusion", 5): 60,
        ("Late fusion", 15): None,
    }
