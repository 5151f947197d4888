"""The site's own pages in a real browser: wide and narrow, light and dark, by mouse and by keyboard."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from webapp.models import ApiToken, LoginLink, User, address_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

PAGES = {
    "home": "/",
    "docs": "/docs/",
    "settings": "/docs/settings/",
    "spec": "/docs/spec/",
    "sign in": "/accounts/login/",
    "sign up": "/accounts/signup/",
    "not found": "/nothing/",
}

Open = Callable[..., "Page"]


@pytest.fixture
def visit(browser: "Browser", live_server: Any) -> Iterator[Open]:
    """Give a function that opens a page; the test fails after requests to other sites or messages of the console."""
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def note_request(request: Any) -> None:
        if not request.url.startswith((live_server.url, "data:", "blob:")):
            faults.append(f"asked elsewhere: {request.url}")

    def note_message(message: Any) -> None:
        if message.type in ("error", "warning") and "404 (Not Found)" not in message.text:
            faults.append(f"console: {message.text}")

    def open_page(address: str, *, width: int = 1280, scheme: str = "light", scripts: bool = True) -> "Page":
        context = browser.new_context(
            base_url=live_server.url,
            viewport={"width": width, "height": 850},
            color_scheme=scheme,  # type: ignore[arg-type]
            java_script_enabled=scripts,
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        page = context.new_page()
        page.on("request", note_request)
        page.on("console", note_message)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not faults


def background(page: "Page") -> str:
    color: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return color


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.full), 360])
@pytest.mark.parametrize("address", PAGES.values(), ids=PAGES)
def test_no_page_scrolls_sideways(visit: Open, address: str, width: int) -> None:
    page = visit(address, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.full)])
@pytest.mark.parametrize("address", PAGES.values(), ids=PAGES)
def test_pages_have_no_accessibility_violations(visit: Open, address: str, scheme: str) -> None:
    found = Axe().run(visit(address, scheme=scheme)).response["violations"]
    assert not [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]


def test_the_theme_follows_the_system_until_the_visitor_chooses_one(visit: Open) -> None:
    light, dark = background(visit("/", scheme="light")), background(visit("/", scheme="dark"))
    assert light != dark
    page = visit("/", scheme="light")
    switch = page.get_by_role("button", name="Theme")
    seen = []
    for _ in range(3):
        switch.click()
        seen.append(background(page))
    assert seen == [light, dark, light]  # light, dark, and the system's theme again


def test_a_chosen_theme_is_applied_before_the_first_paint(visit: Open) -> None:
    page = visit("/", scheme="light")
    switch = page.get_by_role("button", name="Theme")
    switch.click()
    switch.click()
    chosen = background(page)
    # The page must be dark even if all later scripts are empty.
    page.route("**/js/app.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto("/docs/", wait_until="commit")
    page.wait_for_selector("body")
    assert background(page) == chosen


def test_a_page_without_scripts_shows_no_theme_switch(visit: Open) -> None:
    page = visit("/", scripts=False)
    assert not page.locator("[data-theme-switch]").is_visible()
    assert page.get_by_role("link", name="Browse the datasets").is_visible()


def test_code_is_copied_with_a_button(visit: Open) -> None:
    page = visit("/docs/")
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "make run"


def test_the_keyboard_skips_to_the_content(visit: Open) -> None:
    page = visit("/docs/running/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_the_focus_is_visible(visit: Open) -> None:
    page = visit("/")
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_the_login_link_signs_in(visit: Open, scripts: bool) -> None:
    admin = User.objects.create(username="admin", is_staff=True, is_superuser=True)
    page = visit(address_of(LoginLink.objects.make(admin)), scripts=scripts)
    page.get_by_role("button", name="Sign in as admin").click()
    assert page.get_by_role("button", name="Sign out").is_visible()
    page.get_by_role("link", name="Admin").click()
    assert "Site administration" in page.content()


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.full)])
def test_a_token_is_made_copied_and_revoked(visit: Open, width: int) -> None:
    ada = User.objects.create(username="ada", is_staff=True)
    page = visit(address_of(LoginLink.objects.make(ada)), width=width, scheme="dark")
    page.get_by_role("button", name="Sign in as ada").click()
    page.get_by_role("link", name="Account").click()
    page.get_by_label("What is the token for?").fill("laptop")
    page.get_by_role("button", name="Make a token").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert ApiToken.objects.usable(page.evaluate("navigator.clipboard.readText()")).exists()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not Axe().run(page).response["violations"]
    page.get_by_role("button", name="Revoke laptop").click()
    expect(page.get_by_text("is revoked. Programs that use it are refused")).to_be_visible()
    page.get_by_role("link", name="Make a sign-in link").click()
    assert not Axe().run(page).response["violations"]
