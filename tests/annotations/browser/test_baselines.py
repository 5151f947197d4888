"""Publishing a human baseline in a real browser, its public pages, and a study of the questions that a filter finds."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from annotations.models import Participant, Study
from annotations.results import baseline
from annotations.studies import lifecycle
from generation.models import Dataset
from generation.storage.split_index import SplitIndex
from tests.annotations.answered import put
from tests.annotations.browser.test_studies import signed_in
from tests.clients import make_researcher
from tests.generation import small
from tests.generation.browser.screens import SCREENS
from tests.generation.browser.test_pages import barriers
from webapp.models import User

pytestmark = [pytest.mark.slow, pytest.mark.full]

WAYS = (
    pytest.param(True, id="with JavaScript"),
    pytest.param(False, id="without JavaScript", marks=pytest.mark.full),
)
SPLITS = {"train": {"scenes": 9}, "val": {"scenes": 2}, "test": {"scenes": 9, "withheld": True}}


@pytest.fixture
def rosa(transactional_db: None) -> User:
    """Give a researcher."""
    return make_researcher("rosa")


@pytest.fixture
def shapes(rosa: User) -> Dataset:
    """Give a complete public dataset of the researcher."""
    return small.made(owner=rosa, splits=SPLITS)


def make_answered_study(dataset: Dataset, name: str, owner: User, **options: Any) -> Study:
    """Return a closed study of all questions of a split, which five people answered, mostly correctly."""
    split, chance = dataset.splits.get(name=name), random.Random(7)
    ends = {"completed": "DONE", "screened_out": "OUT", "full": "FULL", "consent": "May we?", "instructions": "Look."}
    few = {"wanted": split.questions, "easy": dataset.splits.get(name="val"), "practice": 0, "practice_right": 0}
    study = Study.objects.create(split=split, owner=owner, title=f"People on {name}", **ends, **few, **options)
    lifecycle.open_study(study)
    index = SplitIndex.open(split)
    crowd = [Participant.objects.create(study=study, stage="completed") for _ in range(5)]
    for position in range(index.n):
        right = index.answer_values[index.answers[position]]
        for number, person in enumerate(chance.sample(crowd, 3)):
            text = right if chance.random() < 0.85 else chance.choice(index.answer_values)
            put(person, study, position, text, number=number, visible=chance.randint(2000, 9000))
    assert lifecycle.close(study)
    return study


def publish(study: Study) -> None:
    baseline.publish(study, by=study.owner_id, seal=baseline.draft(study).seal)


@pytest.mark.parametrize("scripts", WAYS)
def test_a_closed_study_becomes_the_human_row(
    browser: Browser, live_server: Any, shapes: Dataset, rosa: User, scripts: bool
) -> None:
    study = make_answered_study(shapes, "train", rosa)
    context = signed_in(browser, rosa, live_server, java_script_enabled=scripts)
    page = context.new_page()
    page.goto(f"/studies/{study.code}/results/")
    page.get_by_role("link", name="Publish the human baseline").click()
    page.get_by_label("I have read what becomes public").check()
    page.get_by_role("button", name="Publish").click()
    expect(page.locator("h1")).to_have_text("Human baseline of Some shapes/train")
    visitor = browser.new_context(base_url=live_server.url, java_script_enabled=scripts).new_page()
    visitor.goto("/datasets/shapes/")
    visitor.get_by_role("link", name="People: ").click()
    expect(visitor.get_by_text("questions answered correctly by the majority")).to_be_visible()
    assert visitor.context.cookies() == []
    visitor.context.close()
    context.close()


@pytest.mark.parametrize("scripts", WAYS)
def test_a_study_asks_only_questions_that_a_filter_finds(
    browser: Browser, live_server: Any, shapes: Dataset, rosa: User, scripts: bool
) -> None:
    context = signed_in(browser, rosa, live_server, java_script_enabled=scripts)
    page = context.new_page()
    page.goto("/datasets/shapes/train/?group=query")
    page.get_by_role("link", name="Make a study of what is found").click()
    expect(page.get_by_label("Only questions found by")).to_have_value("group=query")
    page.get_by_label("Questions", exact=True).fill("2")
    page.get_by_role("button", name="Update the plan").last.click()
    expect(page.locator("#plan")).to_contain_text("of 36 questions of train where group is query attribute")
    page.get_by_role("button", name="Make the study").click()
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_text("0 of 6 answers", exact=True)).to_be_visible()
    assert Study.objects.get().split.is_derived
    context.close()


def find_problems(context: BrowserContext, addresses: Sequence[str], *, width: int) -> list[str]:
    """Return the problems of pages: messages of the browser, pages that are too wide, and barriers."""
    found: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: found.append(message.text))
    page.on("pageerror", lambda error: found.append(str(error)))
    for address in addresses:
        page.goto(address, wait_until="networkidle")
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"{address} is too wide")
        found += [f"{address}: {barrier}" for barrier in barriers(page)]
    context.close()
    return found


EVERY = tuple(pytest.param(*one.values, None, marks=pytest.mark.full) for one in SCREENS)


@pytest.mark.parametrize(("width", "theme", "most"), [pytest.param(390, "dark", 2, id="a few"), *EVERY])
def test_pages_of_baselines_fit_and_have_no_serious_barrier(
    browser: Browser, live_server: Any, shapes: Dataset, rosa: User, width: int, theme: Any, most: int | None
) -> None:
    study, withheld, again = (make_answered_study(shapes, name, rosa) for name in ("train", "test", "train"))
    for one in (study, withheld, again):
        publish(one)
    first = study.baselines.get()
    baseline.withdraw(again.baselines.get(), "Half of the pictures were black, and nobody could have answered.")
    look = {"viewport": {"width": width, "height": 800}, "color_scheme": theme}
    hers = signed_in(browser, rosa, live_server, **look)
    everybody = browser.new_context(base_url=live_server.url, **look)
    people = "/datasets/shapes/{}/people/"
    filtered = "/studies/new/?split=shapes/train&filter=group%3Dcount%26length%3D..9&wanted=2"
    own = [f"/studies/{study.code}/{part}" for part in ("publish/", f"withdraw/{first.number}/", "", "results/")]
    private = [filtered, f"/studies/{again.code}/publish/", *own, f"{filtered}&reward=0.10", "/studies/",
               "/datasets/shapes/train/?group=count&length=..9",
               "/studies/new/?split=shapes/train&filter=colour%3Dred"]  # fmt: skip
    public = (people.format("train"), people.format("test"), f"{people.format('train')}2/", "/datasets/shapes/",
              "/datasets/shapes/train/", "/datasets/shapes/train/q/0/")  # fmt: skip
    found = find_problems(hers, private[:most], width=width)
    assert [*found, *find_problems(everybody, public[:most], width=width)] == []
