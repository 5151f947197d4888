"""Stories in a real browser: created with the form, read, replayed, answered by people, predicted, on a leaderboard."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotations.answering import slot_assignment
from annotations.models import Answer, Study
from generation.engine.worlds.babi import story_allocation
from generation.engine.worlds.babi.spec import PRESETS
from generation.engine.worlds.babi.tasks import BY_NUMBER
from generation.models import Question, Split
from tests.leaderboards.sent import noisy, truth_of
from tests.worlds.conftest import make_by_form, usable
from webapp.leaderboards import scoring
from webapp.models import User

pytestmark = [pytest.mark.slow, pytest.mark.full, pytest.mark.django_db(transaction=True)]
TASKS = tuple(BY_NUMBER.values())
EACH = 40  # questions of each task in the split that is answered
STUDIED = 200


def stories_of(questions: int) -> int:
    """Return how many stories a split needs for this number of questions of each task."""
    return story_allocation.stories(TASKS, questions)


@pytest.mark.parametrize("preset", tuple(PRESETS))
def test_stories_of_every_preset_can_be_created_read_and_replayed(page: Page, preset: str) -> None:
    dataset = make_by_form(page, preset, scenes=stories_of(1))
    page.goto(f"/datasets/{preset}/")
    expect(page.get_by_role("heading", name="Repeats")).to_be_visible()
    usable(page)
    page.goto(f"/datasets/{preset}/train/")
    usable(page)
    rows = Question.objects.filter(split__dataset=dataset, split__name="train").order_by("position")
    assert {row.family for row in rows} == set(BY_NUMBER)
    for row in rows:
        address = f"/datasets/{preset}/train/q/{row.position}/"
        page.goto(address)
        expect(page.locator("#story > .story > li")).to_have_count(row.scope or 0)
        page.goto(f"{address}?step={len(row.steps or ()) - 1}")
        expect(page.locator("[aria-current=step]")).to_be_visible()
        expect(page.locator(".story li.pointed").first).to_be_visible()
    usable(page)


def visible_text(row: Question) -> tuple[str, ...]:
    """Return what a reader sees: the lines before the question, and the question."""
    lines = row.scene.scene_json["lines"] if row.scene.scene_json else []
    return (*(line["text"] for line in lines[: row.scope]), row.text)


def answer(page: Page, text: str) -> None:
    """Answer a question as people do: with a button, or with its parts."""
    if page.locator(".choice.part").count() == 0:
        page.locator("button.choice", has=page.get_by_text(text, exact=True)).click()
        return
    places = page.locator("fieldset.parts")
    for number, part in enumerate(text.split(",")):
        place = places.nth(number if places.count() > 1 else 0)
        place.locator("label", has=page.get_by_text(part, exact=True)).click()
    page.get_by_role("button", name="Answer", exact=True).click()


def test_a_participant_answers_two_hundred_questions_about_stories(page: Page, ada: User) -> None:
    dataset = make_by_form(page, "babi", scenes=stories_of(EACH))
    split = dataset.splits.get(name="test")
    rows = {visible_text(row): row for row in split.question_set.select_related("scene")}
    kinds = split.question_set.order_by("position").values_list("position", "scene__position", "family")
    of_task: dict[int, list[tuple[int, int]]] = {}
    for position, scene, task in kinds:
        of_task.setdefault(task, []).append((position, scene))
    places = [some[number] for number in range(STUDIED // len(TASKS)) for some in of_task.values()]
    plain = {"checks": 0, "attention": 0, "practice": 0, "completed": "DONE", "full": "FULL", "screened_out": "OUT"}
    study = Study.objects.create(
        owner=ada, title="Read", split=split, easy=dataset.splits.get(name="train"), per_session=STUDIED, **plain
    )
    slot_assignment.lay_out(study, places, ranks=range(STUDIED))
    page.goto(f"/s/{study.code}/")
    page.get_by_role("button", name="Take part").click()
    page.get_by_role("button", name="Begin").click()
    forms = set()
    for number in range(1, STUDIED + 1):
        expect(page.locator(".way")).to_contain_text(f"{number} of {STUDIED}")
        page.wait_for_load_state()
        row = rows[(*page.locator(".story li span").all_inner_texts(), page.locator("#asked").inner_text())]
        if row.family not in forms:
            forms.add(row.family)
            usable(page)
        assert row.answer is not None
        answer(page, row.answer)
    expect(page.get_by_role("heading", level=1)).to_have_text("One last thing")
    assert forms == set(BY_NUMBER)
    given = Answer.objects.counted().filter(slot__question__study=study)
    truth = truth_of(split)
    assert given.count() == STUDIED
    assert all(one.text == truth[one.slot.question.position] for one in given.select_related("slot__question"))


def test_predictions_are_scored_on_a_leaderboard_with_twenty_tasks(page: Page, ada: User, tmp_path: Path) -> None:
    dataset = make_by_form(page, "babi", scenes=stories_of(EACH))
    split = Split.objects.select_related("dataset").get(dataset=dataset, name="test")
    for name, answers in {"Reads well": truth_of(split), "Reads badly": noisy(split, wrong=0.4)}.items():
        page.goto("/methods/new/")
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_label("How it was made").select_option("trained")
        page.get_by_role("button", name="Create the method").click()
        page.get_by_role("button", name="Publish").click()
        file = tmp_path / "said.txt"
        file.write_text("".join(f"{one}\n" for one in answers))
        page.goto(f"/leaderboards/{dataset.slug}/test/")
        page.get_by_role("link", name="Submit predictions").click()
        page.get_by_label("Predictions").set_input_files(file)
        page.get_by_label("Method").select_option(label=name)
        page.get_by_role("button", name="Submit", exact=True).click()
        expect(page.get_by_role("heading", name="This submission is waiting to be scored")).to_be_visible()
        scoring.RUNNER.take_turn()
        expect(page.get_by_role("heading", name="Scored")).to_be_visible(timeout=15_000)
    page.goto(f"/leaderboards/{dataset.slug}/test/")
    for task in TASKS:
        expect(page.get_by_role("columnheader", name=f"{task.number}: {task.label}")).to_be_attached()
    for name, failed in (("Reads well", 0), ("Reads badly", len(TASKS))):
        expect(page.get_by_role("row", name=name).locator("td", has_text=f"{failed}of {len(TASKS)}")).to_be_visible()
    usable(page)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        usable(page)
