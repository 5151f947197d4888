"""Scripts in every field, on the pages for researchers and for participants, in a real browser.

The browser ignores the site's content security policy, because no script may run even without this policy.
"""

import html
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from annotations.answering import slot_assignment
from annotations.models import Participant, Study
from annotations.studies import lifecycle
from generation.models import Dataset, Question
from tests.annotations import answered
from tests.annotations.browser.test_studies import rosa, shapes, signed_in
from webapp.models import User

__all__ = ["rosa", "shapes"]

pytestmark = [pytest.mark.slow, pytest.mark.full]

ATTACK = (
    "<script>attacked('script')</script><img src=x onerror=attacked('picture')>\"><svg onload=attacked('svg')>"
    "</textarea></title><a href=\"javascript:attacked('link')\">x</a>{{ 7|add:7 }}"
)
SHORT = "<img src=x onerror=attacked('name')>"  # a participant id that an attacker may make the platform send
MARKDOWN = f"{ATTACK}\n\n[x](javascript:attacked('markdown')) ![x](x\"onerror=\"attacked('image'))"
STRANGE = "script:not([src]), main :is([onerror], [onload], [href^='javascript:'], script), svg[onload]"
EXPORT = (
    "Submission id,Participant id,Status,Started at,Time taken,Completion code\n"
    f'"{SHORT}","{SHORT}x",AWAITING REVIEW,,60,{SHORT}\n'
)


@pytest.fixture
def study(shapes: Dataset, rosa: User) -> Study:
    """Give an open study with scripts in every text, also in the texts of its questions."""
    Question.objects.filter(split__dataset=shapes).update(text=ATTACK)
    splits = {"split": shapes.splits.get(name="train"), "easy": shapes.splits.get(name="val")}
    ends = {
        "completed": "<b onclick=attacked(1)>",
        "screened_out": "javascript:attacked(1)",
        "full": "data:text/html,x",
    }
    study = Study.objects.create(
        **splits, **ends, owner=rosa, title=ATTACK[:200], consent=MARKDOWN, instructions=MARKDOWN, wanted=4,
        per_question=1, practice=0, practice_right=0, checks=0, attention=0,
    )  # fmt: skip
    lifecycle.open_study(study)
    left_out = Participant.objects.create(study=study, identity=SHORT, session=SHORT, comment=ATTACK, stage="completed")
    position = study.questions.values_list("position", flat=True)[0]
    answered.put(left_out, study, position, ATTACK[:200], number=0)
    slot_assignment.exclude(left_out, reason=ATTACK[:500])
    split = Participant.objects.create(study=study, identity="+cmd|' /C calc'!A0", comment=MARKDOWN, stage="comment")
    answered.put(split, study, position, "=HYPERLINK(1)", number=0)
    return study


@pytest.fixture
def attacked() -> list[str]:
    """Give a list that will hold the scripts that ran."""
    return []


@pytest.fixture
def page(browser: Browser, live_server: Any, rosa: User, attacked: list[str]) -> Iterator[Page]:
    """Give a page of the researcher that records each script that runs."""
    context = signed_in(browser, rosa, live_server, bypass_csp=True)
    page = context.new_page()
    page.expose_function("attacked", lambda what: attacked.append(what))
    page.on("dialog", lambda dialog: (attacked.append(dialog.message), dialog.dismiss())[1])
    yield page
    context.close()


def open_page(page: Page, address: str) -> None:
    """Open a page and check that its HTML contains no attack."""
    page.goto(address)
    assert page.locator(STRANGE).count() == 0, (address, page.locator(STRANGE).first.evaluate("one => one.outerHTML"))


def test_the_browser_would_run_what_is_not_escaped(page: Page, attacked: list[str]) -> None:
    page.goto("/docs/")
    page.evaluate("text => document.querySelector('main').innerHTML = text", ATTACK)
    page.wait_for_function("document.querySelector('main img[onerror]')")
    page.wait_for_timeout(300)
    assert "picture" in attacked


def test_no_script_runs_on_pages_for_researchers(page: Page, study: Study, attacked: list[str]) -> None:
    other = Study.objects.create(split=study.split, owner=study.owner, title="Another")
    home = f"/studies/{study.code}/"
    for address in (
        "/studies/", home, f"{home}edit/", f"{home}results/?flag=every", f"{home}people/",
        f"/studies/{other.code}/edit/", "/studies/new/",
    ):  # fmt: skip
        open_page(page, address)
    open_page(page, f"{home}people/")
    expect(page.get_by_text("<script>attacked('script')</script>").first).to_be_visible()
    page.get_by_label("Prolific’s export").set_input_files(
        {"name": "x.csv", "mimeType": "text/csv", "buffer": EXPORT.encode()}
    )
    page.get_by_role("button", name="Compare").click()
    page.wait_for_load_state("networkidle")
    assert page.locator(STRANGE).count() == 0
    assert attacked == []


def test_no_script_runs_on_pages_for_participants(page: Page, study: Study, attacked: list[str]) -> None:
    for stage in Participant.Stage:
        person = Participant.objects.create(study=study, stage=stage, identity=f"{SHORT}{stage}", session=SHORT)
        odd = ("?again=1", f"?zoom={SHORT}", f"?seen={SHORT}") if stage == Participant.Stage.QUESTIONS else ()
        for query in (*odd, "?stop=1", ""):
            open_page(page, f"/s/{study.code}/{person.secret}/{query}")
        if stage in (Participant.Stage.CONSENT, Participant.Stage.INSTRUCTIONS, Participant.Stage.QUESTIONS):
            expect(page.get_by_text("7|add:7").first).to_be_visible()
        if stage == Participant.Stage.QUESTIONS:
            page.locator(".choice").first.click()
            expect(page.locator(".way")).to_contain_text("2 of 4")
            assert page.locator(STRANGE).count() == 0
    for query in (f"?PROLIFIC_PID={SHORT}", f"?PROLIFIC_PID={SHORT}%0a", f"?test={SHORT}"):
        open_page(page, f"/s/{study.code}/{query}")
    open_page(page, f"/s/{html.escape(SHORT)}/x/")
    page.wait_for_timeout(300)
    assert attacked == []


def test_files_hold_no_formulas(page: Page, study: Study) -> None:
    text = page.request.get(f"/studies/{study.code}/answers.csv").text()
    assert "'=HYPERLINK(1)" in text
    assert not any(cell.startswith(("=", "+", "-", "@")) for line in text.splitlines() for cell in line.split(","))
