"""The results of a study in a real browser: figures that update by themselves, rules, links to questions."""

import random
import uuid
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from annotations.answering import exclusion_rules
from annotations.models import Answer, EasyAnswer, Participant, Study
from annotations.studies import lifecycle
from generation.models import Dataset
from tests.annotations import answered
from tests.annotations.browser.test_studies import rosa, shapes, signed_in
from tests.generation.browser.screens import SCREENS
from tests.generation.browser.test_pages import barriers
from webapp.models import User

__all__ = ["rosa", "shapes"]

pytestmark = pytest.mark.slow


@pytest.fixture
def run(shapes: Dataset, rosa: User) -> Study:
    """Give a study with rules that was answered at random; one participant breaks a rule."""
    study = answered.answered(shapes, random.Random(5), split="train")
    Study.objects.filter(pk=study.pk).update(owner=rosa, out_attention=1, out_fast="1.5", out_unfinished=True)
    study.refresh_from_db()
    exclusion_rules.freeze(study)
    [careless, *_] = study.participants.order_by("pk")
    EasyAnswer.objects.create(participant=careless, kind="attention", number=0, client=uuid.uuid4(),
                              text="x", is_right=False)  # fmt: skip
    Participant.objects.filter(study=study).update(stage="completed")
    return study


def poll(page: Page) -> None:
    """Make the page request its figures now, as it does when its tab becomes visible again."""
    with page.expect_response(lambda response: "/results/live/" in response.url):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_figures_update_without_changing_focus_scrolling_or_open_details(
    browser: Browser, live_server: Any, run: Study, rosa: User
) -> None:
    context = signed_in(browser, rosa, live_server)
    page = context.new_page()
    page.goto(f"/studies/{run.code}/results/?flag=every")
    answers = page.locator("dt:text-is('Answers') + dd")
    before = answers.inner_text()
    raw = page.locator("table.listed details").first
    raw.locator("summary").click()
    page.locator("details[id^='by-']:not([open]) > summary").last.click()
    opened = page.locator("details[open]").evaluate_all("all => all.map(one => one.innerText.split('\\n')[0])")
    link = page.locator("#figures a[href*='by=']").first
    link.focus()
    page.evaluate("window.kept = document.activeElement; window.scrollTo(0, 600)")
    poll(page)  # nothing has changed yet
    expect(answers).to_have_text(before)

    question = run.slots.filter(answered=False).select_related("question").first()
    assert question is not None
    person = Participant.objects.create(study=run, stage="questions")
    answered.put(person, run, question.question.position, "cube", number=question.number)
    poll(page)
    now = Answer.objects.counted().filter(question__study=run).count()
    expect(answers).to_have_text(f"{now} of {run.slots.count()}")
    assert answers.inner_text() != before
    assert page.evaluate("window.kept === document.activeElement && window.kept.isConnected")
    assert page.evaluate("window.scrollY") == 600
    still = page.locator("details[open]").evaluate_all("all => all.map(one => one.innerText.split('\\n')[0])")
    assert len(still) == len(opened)

    lifecycle.close(run)
    poll(page)
    expect(page.locator("[data-live]")).to_have_count(0)
    context.close()


@pytest.mark.parametrize("scripts", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_rules_are_applied_and_a_value_links_to_its_questions(
    browser: Browser, live_server: Any, run: Study, rosa: User, scripts: bool
) -> None:
    context = signed_in(browser, rosa, live_server, java_script_enabled=scripts)
    page = context.new_page()
    page.goto(f"/studies/{run.code}/people/")
    expect(page.get_by_text("P001: 1 attention item failed")).to_be_visible()
    page.get_by_role("button", name="Exclude this participant").click()
    expect(page.get_by_role("status")).to_contain_text("1 participant is excluded by the rules: P001.")
    page.get_by_role("link", name="Results").click()
    expect(page.get_by_text("The current exclusions follow the rules.")).to_be_visible()
    value = page.locator("#by-type tbody th a").first
    if not value.is_visible():
        page.locator("#by-type > summary").click()
    said = value.inner_text()
    value.click()
    expect(page.locator(".chip.remove")).to_contain_text(said)
    page.locator(".chip.remove").click()
    expect(page.locator(".chip.remove")).to_have_count(0)
    context.close()


@pytest.mark.parametrize(("width", "theme"), SCREENS)
def test_pages_of_results_fit_and_have_no_serious_barrier(
    browser: Browser, live_server: Any, run: Study, rosa: User, width: int, theme: Any
) -> None:
    context = signed_in(browser, rosa, live_server, viewport={"width": width, "height": 800}, color_scheme=theme)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{page.url}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    found = []
    for part in ("results/?flag=every", "people/", ""):
        page.goto(f"/studies/{run.code}/{part}")
        page.evaluate("document.querySelectorAll('main details').forEach(one => (one.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, part
        found += barriers(page)
    assert (found, complaints) == ([], [])
    context.close()
