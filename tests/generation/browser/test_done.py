"""The whole work of a researcher in a real browser, on a real site: web server, background process, embedded stack.

Nothing is replaced by a fake: the site runs as people run it, in a folder for this test, and makes CLEVR scenes.
"""

import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.services import WAIT
from tests.webapp.commands import ROOT, manage
from webapp.running.processes import command

pytestmark = pytest.mark.slow

LONG = 180.0  # seconds; making a dataset takes less, even on a busy machine
PARAMETERS = {"Questions a scene": "4", "Width": "120", "Height": "80", "Samples": "1", "Least pixels": "0"}
PASSWORD = "much ado about 9 apples"
SET_UP = f"""
import django
django.setup()
from django.contrib.auth.models import Group
from generation.making.warmup import warm
from webapp.running.housekeeping import prepare_broker
from webapp.models import User
prepare_broker()
warm()
ada = User.objects.create_user("ada", "ada@example.org", {PASSWORD!r})
ada.groups.add(Group.objects.get(name="researcher"))
"""

OUTLINED = """() => [
    [...document.querySelectorAll("svg.outlines .over")].map((path) => `object-${path.dataset.element}`),
    [...document.querySelectorAll("tr.pointed")].filter((tr) => !tr.innerText.includes("hidden")).map((tr) => tr.id),
]"""

Start = Callable[..., None]


@pytest.fixture
def start(site_environment: dict[str, str], tmp_path: Path) -> Iterator[Start]:
    """Give a function that starts one of the site's processes; running processes are ended afterwards."""
    started: list[subprocess.Popen[bytes]] = []

    def run(name: str, *, bind: str = "", sockets: tuple[int, ...] = ()) -> None:
        with (tmp_path / f"{name}.log").open("wb") as log:
            started.append(
                subprocess.Popen(
                    command(name, bind=bind),
                    env=site_environment | {"GENERATION_PROCESSES": "1", "WEB_PROCESSES": "1"},
                    cwd=ROOT,
                    pass_fds=sockets,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )

    yield run
    for process in reversed(started):
        process.terminate()
    for process in started:
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture
def site(migrated_environment: dict[str, str], start: Start) -> Iterator[str]:
    """Give the address of a web server with one account, the researcher ada, and without a background process."""
    variables = migrated_environment | {"DJANGO_SETTINGS_MODULE": "webapp.settings"}
    subprocess.run([sys.executable, "-c", SET_UP], env=variables, cwd=ROOT, check=True, timeout=600)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        start("web", bind=f"fd://{listener.fileno()}", sockets=(listener.fileno(),))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def visitor_of(browser: Browser, site: str) -> Iterator[Page]:
    """Give a page of a browser without a signed-in account."""
    context = new_context(browser, site)
    yield context.new_page()
    context.close()


def new_context(browser: Browser, site: str) -> BrowserContext:
    context = browser.new_context(base_url=site, viewport={"width": 1280, "height": 800})
    context.set_default_timeout(WAIT)
    return context


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until the target has the focus, as somebody without a mouse does."""
    expect(target).to_be_visible()
    for _ in range(200):
        if target.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Expected {target} to be reached with Tab, got to {page.evaluate('document.activeElement.outerHTML')}")


def enter(page: Page, target: Locator) -> None:
    """Follow a link, or press a button, by keyboard."""
    tab_to(page, target)
    page.keyboard.press("Enter")


def write(page: Page, target: Locator, text: str) -> None:
    """Replace the text in a field by keyboard."""
    tab_to(page, target)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("Delete")
    page.keyboard.type(text)


def sign_in(page: Page) -> None:
    page.goto("/accounts/login/")
    write(page, page.get_by_label(re.compile("^(Login|Username or email)")), "ada")
    write(page, page.get_by_label("Password"), PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def fill_in_form(page: Page, *, title: str, slug: str, splits: dict[str, int], withheld: str = "") -> None:
    """Change the first preset to a tiny public dataset, only with the fields of the form."""
    page.goto("/datasets/")
    enter(page, page.get_by_role("link", name="New dataset"))
    expect(page.get_by_role("link", name="CLEVR mini")).to_have_attribute("aria-current", "true")
    write(page, page.get_by_label("Title", exact=True), title)
    write(page, page.get_by_label("Name in web addresses"), slug)
    for number, name in enumerate(["train", "val", "test"]):
        scenes = splits.get(name, 0)
        write(page, page.locator(f"#split-{number}-name"), name if scenes else "")
        if scenes:
            write(page, page.locator(f"#split-{number}-scenes"), str(scenes))
        if name == withheld:
            tab_to(page, page.locator(f"[name=split-{number}-withheld]"))
            page.keyboard.press("Space")
    for label, value in PARAMETERS.items():
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_label("Who sees it").select_option(label="everybody")


def preview(page: Page, *, scenes: int) -> None:
    """Request a preview of the first scenes; request it again if a busy machine exceeds the time limit."""
    refused = page.locator("p#arrive[role=alert]")
    deadline = time.monotonic() + LONG
    while True:
        with page.expect_event("domcontentloaded"):
            enter(page, page.get_by_role("button", name="Preview four scenes"))
        if not refused.count():
            break
        assert "within 10 seconds" in refused.inner_text() and time.monotonic() < deadline, refused.inner_text()
    expect(page.locator(".previews img")).to_have_count(scenes)


def create(page: Page, title: str) -> None:
    enter(page, page.get_by_role("button", name="Create dataset"))
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


def wait_for_keys(page: Page) -> None:
    """Wait until the page's script listens to keys, because it loses keys that are pressed before."""
    expect(page.locator("#keys-button")).to_be_visible()


def number_in(shown: Locator) -> int:
    """Return the first number in a text."""
    found = re.search(r"\d[\d,]*", shown.inner_text())
    assert found is not None, shown.inner_text()
    return int(found[0].replace(",", ""))


def wait_for_completion(page: Page, split: str) -> None:
    """Wait, without a reload, until the page says that the dataset is complete."""
    deadline = time.monotonic() + LONG
    while page.locator("#making").count():
        assert time.monotonic() < deadline, page.locator("#making").inner_text()
        page.wait_for_timeout(200)
    expect(page.get_by_text("Completed", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name=f"Browse {split}")).to_be_visible()


def filter_by(page: Page, facet: str, number: int) -> None:
    """Choose a value of a facet by keyboard, which makes the page have `number` filters."""
    choice = page.locator(f"#facet-{facet} li:not(.none) a:not([aria-current])").first
    wanted = number_in(choice.locator(".count"))
    enter(page, choice)
    expect(page.locator(".chip.remove")).to_have_count(number)
    assert number_in(page.locator(".found [role=status]")) == wanted > 0


def play(page: Page) -> None:
    """Go through a program by keys and buttons, and check that each step outlines exactly its objects."""
    steps = page.locator(".steps > li > a").count()
    most = 0
    for number in range(steps):
        if number % 2:
            page.get_by_role("link", name="Step ›").click()
        else:
            page.keyboard.press("ArrowRight")
        expect(page.locator("[aria-current=step]")).to_have_id(f"step-{number}")
        most = max(most, count_outlined(page))
    assert most > 0
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[aria-current=step]")).to_have_id(f"step-{steps - 2}")
    page.get_by_role("link", name="‹ Step").click()
    expect(page.locator("[aria-current=step]")).to_have_id(f"step-{steps - 3}")


def count_outlined(page: Page) -> int:
    """Return how many objects are outlined, and check that they are the visible objects of the step."""
    deadline = time.monotonic() + LONG
    while True:  # classes change a moment after the new step is shown
        outlines, pointed = map(set, page.evaluate(OUTLINED))
        if outlines == pointed:
            return len(outlines)
        assert time.monotonic() < deadline, (outlines, pointed)
        page.wait_for_timeout(100)


def ask_first_and_present(page: Page) -> None:
    page.keyboard.press("a")
    expect(page.get_by_role("link", name="Show the answer")).to_be_visible()
    expect(page.locator(".steps, .the-answer b, .answer")).to_have_count(0)
    page.keyboard.press("f")
    expect(page.locator(".presenting")).to_have_count(1)
    expect(page.locator("header.site")).to_be_hidden()
    page.keyboard.press("s")
    expect(page.locator(".the-answer b")).to_be_visible()
    page.get_by_role("link", name="Leave").click()
    expect(page.locator("header.site")).to_be_visible()
    page.keyboard.press("a")
    expect(page.locator("#ask-first")).to_have_text("Ask first: off")


@pytest.mark.full
def test_from_the_form_to_the_opened_answers(
    browser: Browser, site: str, start: Start, site_environment: dict[str, str], tmp_path: Path
) -> None:
    context = new_context(browser, site)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    sign_in(page)

    fill_in_form(page, title="Three by hand", slug="by-hand", splits={"train": 3})
    preview(page, scenes=3)
    expect(page.locator(".estimate")).to_contain_text(re.compile(r"Scenes\s*3\s*Questions\s*12\s*Estimated time"))
    create(page, "Three by hand")
    expect(page.locator("#making")).to_contain_text("No background process is running")
    start("generation")
    wait_for_completion(page, "train")

    expect(page.locator("#facts ~ dl")).to_contain_text("Content hash")
    enter(page, page.get_by_role("link", name="Browse train"))
    expect(page.locator(".asked a")).to_have_count(12)
    filter_by(page, "group", 1)
    filter_by(page, "length", 2)
    page.locator(".chip.remove").first.click()
    expect(page.locator(".chip.remove")).to_have_count(1)
    wait_for_keys(page)
    page.keyboard.press("/")
    page.keyboard.type("the")
    page.keyboard.press("Enter")
    expect(page.locator(".chip.remove")).to_have_count(2)
    for text in page.locator(".asked .text").all_inner_texts():
        assert re.search(r"\bthe\b", text, re.IGNORECASE)

    page.goto("/datasets/by-hand/train/")
    enter(page, page.locator(".asked a").nth(2))
    expect(page.locator(".crumbs [aria-current]")).to_have_text("Question 2")
    wait_for_keys(page)
    play(page)
    ask_first_and_present(page)

    fill_in_form(page, title="Kept back", slug="kept-back", splits={"train": 1, "test": 2}, withheld="test")
    create(page, "Kept back")
    wait_for_completion(page, "train")
    secret = page.locator("dt", has_text="Secret of test").locator("+ dd").inner_text()
    assert re.fullmatch("[0-9a-f]{32}", secret)
    answers = answers_of(page)
    with visitor_of(browser, site) as visiting:
        check_nothing_is_revealed(visiting, secret)
        enter(page, page.get_by_role("link", name="Open the answers of test"))
        expect(page.get_by_role("heading", level=1)).to_have_text("Open the answers of test?")
        enter(page, page.get_by_role("button", name="Open the answers of test"))
        expect(page.get_by_role("status").filter(has_text="The answers of test are open")).to_be_visible()
        visiting.goto("/datasets/kept-back/")
        expect(visiting.locator("section[aria-labelledby=withheld]")).to_contain_text(secret)
        assert make_again(visiting, site_environment, tmp_path) == content_hash(visiting)
        assert answers_of(visiting) == answers
    assert faults == []
    context.close()


def answers_of(page: Page) -> list[str]:
    """Return the answers of the withheld split that its list shows to this reader."""
    before = page.url
    page.goto("/datasets/kept-back/test/")
    answers = page.locator(".asked .answer").all_inner_texts()
    assert len(answers) == 8
    page.goto(before)
    return answers


def check_nothing_is_revealed(page: Page, secret: str) -> None:
    """Follow the links to every page of the dataset, and check that none shows anything withheld."""
    waiting, seen = ["/datasets/kept-back/", "/datasets/kept-back/test/"], set[str]()
    while waiting:
        address = waiting.pop()
        seen.add(address)
        page.goto(address, wait_until="domcontentloaded")
        assert secret not in page.content()
        if "/test/" in address:
            expect(page.locator(".answer, .the-answer, .steps, .area, .pointed, #reveal")).to_have_count(0)
            expect(page.locator("body")).to_contain_text("withheld")
        links = page.locator("a[href]").evaluate_all("all => all.map(one => one.href)")
        for link in {urljoin(page.url, link).removeprefix(page.url[: page.url.index("/datasets/")]) for link in links}:
            is_new = link not in seen and link not in waiting
            if is_new and re.match(r"/datasets/kept-back/(test/(q/\d+/)?)?$", link):
                waiting.append(link)
    assert len(seen) == 2 + 8
    for address in ("test/?answer=yes", "test/q/0/?step=0", "test/?objects=3.."):
        assert page.request.get(f"/datasets/kept-back/{address}").status == 400
    assert secret not in page.request.get("/datasets/kept-back/spec.json").text()


def content_hash(page: Page) -> str:
    return page.locator("#facts ~ dl dt", has_text="Content hash").locator("+ dd").inner_text()


def make_again(page: Page, environment: dict[str, str], folder: Path) -> str:
    """Run the command from a dataset's page with its spec on another site; return the printed content hash."""
    command_line = page.locator("section[aria-labelledby=again] pre").inner_text().strip()
    program, *arguments = command_line.replace("python manage.py ", "").split()
    assert (program, arguments[0]) == ("generate", "kept-back.json")
    spec = folder / "kept-back.json"
    spec.write_bytes(page.request.get("/datasets/kept-back/spec.json").body())
    ended = manage(program, str(spec), *arguments[1:], environment=environment)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()
