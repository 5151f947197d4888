"""Exports are requested, followed and downloaded in a real browser, with and without JavaScript."""

import zipfile
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from generation.exchange import export_jobs
from generation.models import Dataset, Export
from tests.generation import small
from webapp.models import User

pytestmark = [pytest.mark.slow, pytest.mark.full]
PAGE = "/datasets/shapes/export/"


@pytest.fixture
def shapes(transactional_db: None) -> Dataset:
    """Give a complete public dataset that has an owner."""
    return small.made(owner=User.objects.create_user("owner", "owner@example.org", "x"))


@pytest.fixture
def session(live_server: Any, shapes: Dataset) -> Any:
    """Give the cookie of a browser in which the owner is logged in."""
    client = Client()
    client.force_login(User.objects.get(username="owner"))
    return {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}


@pytest.mark.parametrize("scripts", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_an_owner_requests_follows_and_downloads_an_export(
    browser: Browser, session: Any, tmp_path: Path, scripts: bool
) -> None:
    page = page_of(browser, session, java_script_enabled=scripts)
    page.goto(PAGE)
    page.get_by_label("COCO coco").check()
    page.get_by_label("The attribute that is an object's category").fill("shape")
    page.get_by_role("checkbox", name="test", exact=True).uncheck()
    page.get_by_role("button", name="Build the export").click()
    expect(page.get_by_text("Waiting since")).to_be_visible()
    assert export_jobs.RUNNER.take_turn() == 1
    if not scripts:
        page.reload()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    download.value.save_as(tmp_path / "file.zip")
    assert download.value.suggested_filename == "shapes-train-val-coco.zip"
    with zipfile.ZipFile(tmp_path / "file.zip") as archive:
        assert "shapes-train-val-coco/annotations/instances_val.json" in archive.namelist()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("There are no exports at the moment.")).to_be_visible()
    assert not Export.objects.exists()
    page.context.close()


def page_of(browser: Browser, session: Any, **options: Any) -> Page:
    context = browser.new_context(base_url=session["url"], **options)
    context.add_cookies([session])
    return context.new_page()


def test_the_page_fits_and_has_no_barrier(browser: Browser, session: Any, shapes: Dataset) -> None:
    create_every_state(shapes)
    for width, scheme in product((390, 1280), ("light", "dark")):
        page = page_of(browser, session, viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.goto(PAGE)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert Axe().run(page).response["violations"] == []
        page.context.close()


def create_every_state(shapes: Dataset) -> None:
    """Create an export in each state."""
    owner = User.objects.get(username="owner")
    for number, state in enumerate(("failed", "cancelled", "waiting")):
        message = "category: Expected an attribute (size, color, material, shape), got 'weight'." if not number else ""
        Export.objects.create(
            dataset=shapes, user=owner, format="coco", state=state, message=message, splits="train val", total=6
        )
    running = {"token": "t", "lease": shapes.created, "worker": "w", "total": 8, "done": 3, "started": shapes.created}
    Export.objects.create(dataset=shapes, user=owner, format="clevr", state="running", **running)
    done = {"file": "exports/1/1-a.zip", "size": 12_345_678, "finished": shapes.created, "expires": shapes.created}
    Export.objects.create(
        dataset=shapes, user=owner, format="jsonl", state="done", view="all", images=False, shown="{}", **done
    )
