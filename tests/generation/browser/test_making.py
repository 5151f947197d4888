"""A researcher makes a dataset in a real browser, and watches it finish."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect

from generation.making import dataset_jobs
from generation.models import Dataset, Heartbeat, Job
from tests.clients import make_researcher
from tests.generation import small
from tests.generation.browser.screens import SCREENS
from tests.generation.conftest import Child
from webapp.models import User

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
NEW = "/datasets/new/"
ENOUGH = 60_000  # milliseconds
WORKER = ["-m", "webapp.running.worker", "generation", "--processes", "1"]


@pytest.fixture
def ada(transactional_db: None) -> User:
    return make_researcher()


def signed_in(browser: Browser, live_server: Any, user: User, **options: Any) -> BrowserContext:
    """Return a context of the browser in which the account is signed in."""
    client = Client()
    client.force_login(user)
    context = browser.new_context(base_url=live_server.url, **options)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    return context


@pytest.fixture(
    params=[
        pytest.param(True, id="with JavaScript"),
        pytest.param(False, id="without JavaScript", marks=pytest.mark.full),
    ]
)
def page(request: pytest.FixtureRequest, browser: Browser, live_server: Any, ada: User) -> Iterator[Page]:
    context = signed_in(browser, live_server, ada, java_script_enabled=request.param)
    yield context.new_page()
    context.close()


def fill(page: Page) -> None:
    """Change the first preset to a tiny dataset, first in the form and then in the JSON."""
    page.goto(NEW)
    page.get_by_label("Title", exact=True).fill("Three by hand")
    page.get_by_label("Name in web addresses").fill("three-by-hand")
    page.locator("#split-0-scenes").fill("3")
    for number in (1, 2):
        page.locator(f"#split-{number}-name").fill("")
    page.get_by_label("Width").fill("120")
    page.get_by_label("Height").fill("80")
    page.get_by_label("Samples").fill("1")
    page.get_by_label("Least pixels").fill("0")
    page.get_by_role("button", name="Update JSON from form").click()
    data = json.loads(page.get_by_label("Spec, as JSON").input_value())
    assert (data["splits"], data["title"]) == ({"train": {"scenes": 3}}, "Three by hand")
    page.get_by_label("Spec, as JSON").fill(json.dumps({**data, "questions": {"per_scene": 4}}))
    page.get_by_role("button", name="Update form from JSON").click()
    expect(page.get_by_label("Questions a scene")).to_have_value("4")


def test_a_dataset_is_made_with_the_form_and_its_page_shows_completion(page: Page, child: Child) -> None:
    fill(page)
    page.get_by_role("button", name="Preview four scenes").click()
    expect(page.locator(".previews img")).to_have_count(3)
    page.get_by_role("button", name="Create dataset").click()
    expect(page.locator("h1")).to_have_text("Three by hand")
    expect(page.locator("#making")).to_contain_text("No background process is running")
    child(*WORKER)
    end = time.monotonic() + ENOUGH / 1000
    while page.locator("#making").count():
        assert time.monotonic() < end, page.locator("#making").text_content()
        if not _runs_scripts(page):
            page.reload()
        page.wait_for_timeout(300)
    expect(page.get_by_role("link", name="Browse train")).to_be_visible()
    assert Dataset.objects.get(slug="three-by-hand").state == "complete"


def _runs_scripts(page: Page) -> bool:
    """Return whether the page runs scripts: without them, the switch of the theme is hidden."""
    return page.locator("[data-theme-switch]:visible").count() == 1


def test_cancel_resume_and_delete(page: Page, ada: User) -> None:
    small.begun(owner=ada)
    page.goto("/datasets/shapes/")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#making-head")).to_have_text("Making this dataset was cancelled")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("#making-head")).to_have_text("This dataset is being made")
    page.get_by_role("link", name="Delete …").click()
    page.get_by_label("Type shapes to confirm").fill("shapes")
    page.get_by_role("button", name="Delete the dataset").click()
    expect(page.locator(".banner")).to_have_text("Some shapes is being deleted.")


def test_an_error_is_shown_next_to_its_field(page: Page) -> None:
    page.goto(NEW)
    page.get_by_label("Objects, at most").fill("500")
    page.get_by_role("button", name="Create dataset").click()
    wrong = page.locator(".field.wrong")
    expect(wrong).to_have_count(1)
    expect(wrong).to_contain_text("Expected at most 40 objects in a scene, got 500.")


def test_a_refused_form_shows_its_errors_and_buttons_in_view(page: Page) -> None:
    page.goto(f"{NEW}?preset=clevr-mini")
    create = page.get_by_role("button", name="Create dataset")
    expect(create).to_be_in_viewport()
    expect(page.locator(".presets").first).to_be_hidden()
    page.get_by_label("Objects, at most").fill("500")
    page.get_by_label("Seed", exact=True).fill("-1")
    create.click()
    summary = page.locator(".wrong-fields")
    expect(summary).to_be_in_viewport(ratio=1)
    expect(summary.get_by_role("link")).to_have_text(["Seed", "Objects, at most"])
    summary.get_by_role("link", name="Objects, at most").click()
    expect(page.get_by_label("Objects, at most")).to_be_in_viewport(ratio=1)
    expect(create).to_be_in_viewport(ratio=1)


def test_the_page_shows_progress_without_a_reload(browser: Browser, live_server: Any, ada: User) -> None:
    dataset = small.begun(owner=ada)
    Heartbeat.objects.create(name="generation@here", host="here", pid=1, queues="generation")
    context = signed_in(browser, live_server, ada)
    page = context.new_page()
    page.goto("/datasets/shapes/")
    page.get_by_role("button", name="Cancel").focus()
    job = dataset_jobs.claim()
    assert job is not None
    dataset_jobs.RUNNER.run(job)
    expect(page.locator(".making-figures")).to_contain_text("4 of 8 scenes", timeout=10_000)
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    Job.objects.filter(dataset=dataset, state="waiting").update(state="failed", message="it broke")
    Dataset.objects.filter(pk=dataset.pk).update(state="failed", error="it broke")
    expect(page.locator("#making-head")).to_have_text("Making this dataset failed", timeout=10_000)
    expect(page.get_by_role("button", name="Try").first).to_be_visible()
    context.close()


@pytest.mark.parametrize(("width", "theme"), SCREENS)
def test_pages_fit_and_have_no_serious_barrier(
    browser: Browser, live_server: Any, ada: User, width: int, theme: Any
) -> None:
    small.begun("waiting", owner=ada)
    broken = small.begun("broken", owner=ada)
    broken.jobs.update(state="failed", message="it broke " * 30)
    Dataset.objects.filter(pk=broken.pk).update(state="failed", error="it broke")
    context = signed_in(
        browser, live_server, ada, viewport={"width": width, "height": 800}, color_scheme=theme, reduced_motion="reduce"
    )
    page = context.new_page()
    found: list[str] = []
    page.on("pageerror", lambda error: found.append(str(error)))
    broken_too = ("/datasets/broken/", "/datasets/broken/edit/", "/datasets/broken/edit/delete/")
    for address in (NEW, "/datasets/waiting/", *broken_too):
        page.goto(address)
        for fold in page.locator("details.all-settings > summary").all():
            fold.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        found += [
            f"{address} {one['id']}: {[node['target'] for node in one['nodes'][:3]]}"
            for one in Axe().run(page).response["violations"]
            if one["impact"] in ("serious", "critical")
        ]
    context.close()
    assert found == []
