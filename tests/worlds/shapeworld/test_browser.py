"""Microworlds in a real browser: created with the form, browsed, replayed, answered, predicted, on a leaderboard."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotations.answering import slot_assignment
from annotations.models import Answer, Study
from generation.engine.worlds import get_world
from generation.engine.worlds.shapeworld.facets import INSTRUCTION
from generation.engine.worlds.shapeworld.spec import PRESETS
from generation.models import Question, Split
from tests.leaderboards.sent import truth_of
from tests.worlds.conftest import compare_colours, make_by_form, usable
from webapp.leaderboards import scoring
from webapp.models import User

pytestmark = [pytest.mark.slow, pytest.mark.full, pytest.mark.django_db(transaction=True)]
WORLD = get_world("shapeworld")
SIZES = {"train": 6, "validation": 4, "test": 4}


@pytest.mark.parametrize("preset", tuple(PRESETS))
def test_datasets_of_every_preset_can_be_created_browsed_and_replayed(page: Page, preset: str) -> None:
    make_by_form(page, preset, scenes=tuple(SIZES.values()))
    page.goto(f"/datasets/{preset}/train/")
    expect(page.locator(".asked a")).to_have_count(SIZES["train"])
    usable(page)
    outlined = 0
    for row in Question.objects.filter(split__dataset__slug=preset, split__name="train").order_by("position"):
        page.goto(f"/datasets/{preset}/train/q/{row.position}/")
        expect(page.get_by_text(INSTRUCTION).first).to_be_visible()
        picture = page.locator("img.crisp").first
        box = picture.bounding_box()
        assert box is not None and box["width"] >= 4 * 64
        for step in range(len(row.steps or ())):
            page.goto(f"/datasets/{preset}/train/q/{row.position}/?step={step}")
            expect(page.locator("[aria-current=step]")).to_have_id(f"step-{step}")
            outlined += page.locator("svg.outlines .over").count()
    assert outlined > 0
    usable(page)


@pytest.mark.parametrize("preset", tuple(PRESETS))
def test_a_participant_answers_captions_with_two_keys(page: Page, ada: User, preset: str) -> None:
    dataset = make_by_form(page, preset, scenes=tuple(SIZES.values()))
    split = dataset.splits.get(name="validation")
    plain = {"checks": 0, "attention": 0, "practice": 0, "completed": "DONE", "full": "FULL", "screened_out": "OUT"}
    study = Study.objects.create(
        owner=ada, title="Do they fit?", split=split, easy=dataset.splits.get(name="train"), **plain
    )
    slot_assignment.lay_out(study, [(position, position) for position in range(4)], ranks=range(4))
    page.goto(f"/s/{study.code}/")
    page.get_by_role("button", name="Take part").click()
    compare_colours(page)
    page.get_by_role("button", name="Begin").click()
    for number in range(1, 5):
        expect(page.locator(".way")).to_contain_text(f"{number} of 4")
        expect(page.get_by_text(INSTRUCTION)).to_be_visible()
        page.wait_for_load_state()
        choices = page.locator(".choice")
        expect(choices).to_have_count(2)
        expect(choices.first).to_be_enabled()
        usable(page)
        page.keyboard.press(str(choices.nth(number % 2).get_attribute("data-key")))
    expect(page.get_by_role("heading", level=1)).to_have_text("One last thing")
    assert sorted(Answer.objects.counted().values_list("text", flat=True)) == ["no", "no", "yes", "yes"]


@pytest.mark.parametrize("preset", tuple(PRESETS))
def test_predictions_are_scored_and_columns_compare_seen_with_unseen(
    page: Page, ada: User, tmp_path: Path, preset: str
) -> None:
    dataset = make_by_form(page, preset, scenes=tuple(SIZES.values()))
    split = Split.objects.select_related("dataset").get(dataset=dataset, name="test")
    for spoken in ({"yes": "yes", "no": "no"}, {"yes": "1", "no": "0"}):
        submit(page, split, spoken, tmp_path)
    page.goto(f"/leaderboards/{dataset.slug}/test/")
    for column in WORLD.columns(dataset.read_spec()):
        expect(page.get_by_role("columnheader", name=column.label).first).to_be_attached()
    expect(page.get_by_text("Says 1").first).to_be_visible()
    usable(page)


def submit(page: Page, split: Split, spoken: dict[str, str], folder: Path) -> None:
    """Submit the right answers of a split, in the given spelling, as predictions of a new method."""
    page.goto("/methods/new/")
    page.get_by_label("Name", exact=True).fill(f"Says {spoken['yes']}")
    page.get_by_label("How it was made").select_option("trained")
    page.get_by_role("button", name="Create the method").click()
    page.get_by_role("button", name="Publish").click()
    file = folder / "said.txt"
    file.write_text("".join(f"{spoken[answer]}\n" for answer in truth_of(split)))
    page.goto(f"/leaderboards/{split.dataset.slug}/test/")
    page.get_by_role("link", name="Submit predictions").click()
    page.get_by_label("Predictions").set_input_files(file)
    page.get_by_label("Method").select_option(label=f"Says {spoken['yes']}")
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.get_by_role("heading", name="This submission is waiting to be scored")).to_be_visible()
    scoring.RUNNER.take_turn()
    expect(page.get_by_role("heading", name="Scored")).to_be_visible(timeout=15_000)
    expect(page.locator("main")).to_contain_text("100")
