"""Taking part in a real browser: by touch on a small screen, by keyboard, without a connection for a while."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.db.models.functions import Now
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotations.models import Answer, Participant, Study
from generation.models import Scene, from_now
from tests.annotations.visitors import answer_pairs, study_of
from tests.generation import small

pytestmark = pytest.mark.slow
FINGER = 44  # pixels: the least height of a button
MIDDLE = """() => {{
  const pane = document.querySelector(".pane");
  return Math.abs((pane.{start} + pane.{size} / 2) / pane.{whole} - {expected}) < 0.02;
}}"""
Open = Callable[..., BrowserContext]


@pytest.fixture
def study(transactional_db: None) -> Study:
    """Give an open study of six questions."""
    return study_of(small.made(splits={"train": {"scenes": 1}, "val": {"scenes": 2}}))


@pytest.fixture
def open_browser(browser: Browser, live_server: Any) -> Iterator[Open]:
    """Give a function that opens a new browser context."""
    opened = []

    def open_one(**options: Any) -> BrowserContext:
        opened.append(browser.new_context(base_url=live_server.url, **options))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def begin(page: Page, study: Study) -> Participant:
    """Join a study, go to the first question and return the participant."""
    page.goto(f"/s/{study.code}/")
    page.get_by_role("button", name="Take part").click()
    person = study.participants.latest("pk")
    for name, value in answer_pairs(person).items():
        page.locator(f"input[name={name}][value={value}]").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Begin").click()
    return person


def find_barriers(page: Page) -> list[str]:
    """Return the serious barriers that axe finds on a page."""
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['help']}" for one in found if one["impact"] in ("serious", "critical")]


def test_a_session_works_by_touch_on_a_small_screen(study: Study, open_browser: Open) -> None:
    page = open_browser(viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True).new_page()
    begin(page, study)
    for number in range(1, 7):
        expect(page.locator(".way")).to_contain_text(f"{number} of 6")
        sizes = [button.bounding_box() for button in page.locator("main :is(.choice, .button, summary)").all()]
        assert all(box is not None and box["height"] >= FINGER for box in sizes)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert find_barriers(page) == []
        page.locator(".choice").first.tap()
    expect(page.get_by_role("heading", level=1)).to_have_text("One last thing")
    assert find_barriers(page) == []
    page.get_by_role("button", name="Finish").tap()
    expect(page.locator(".code-given")).to_have_text("DONE-1")
    assert find_barriers(page) == []
    assert Answer.objects.counted().count() == 6
    assert all(answer.visible > 0 for answer in Answer.objects.all())


def test_a_session_works_by_keyboard(study: Study, open_browser: Open) -> None:
    page = open_browser().new_page()
    begin(page, study)
    pressed = []
    for number in range(1, 7):
        expect(page.locator(".way")).to_contain_text(f"{number} of 6")
        page.wait_for_load_state()  # the page handles keys only after it is loaded
        last = page.locator(".choice").last
        expect(last).to_be_enabled()
        pressed.append(last.get_attribute("value"))
        page.keyboard.press(str(last.get_attribute("data-key")))
    expect(page.get_by_role("heading", level=1)).to_have_text("One last thing")
    assert list(Answer.objects.counted().order_by("pk").values_list("text", flat=True)) == pressed


def test_an_answer_without_a_connection_is_kept_and_sent_later(study: Study, open_browser: Open) -> None:
    context = open_browser()
    page = context.new_page()
    begin(page, study)
    page.wait_for_load_state("networkidle")
    context.set_offline(True)
    page.locator(".choice").first.click()
    expect(page.locator("[data-unsent]")).to_contain_text("Not saved yet")
    assert not Answer.objects.exists()
    expect(page.locator(".choice").first).to_be_disabled()
    context.set_offline(False)
    expect(page.locator(".way")).to_contain_text("2 of 6")
    expect(page.locator("[data-saved]")).to_contain_text("1 saved")
    assert Answer.objects.count() == 1


def test_an_unsent_answer_is_sent_when_the_page_is_loaded_again(study: Study, open_browser: Open) -> None:
    context = open_browser()
    page = context.new_page()
    begin(page, study)
    page.route("**/answer/", lambda route: route.abort())
    page.locator(".choice").first.click()
    expect(page.locator("[data-unsent]")).to_contain_text("Not saved yet")
    page.close()
    assert not Answer.objects.exists()
    other = context.new_page()
    other.goto(page.url)
    expect(other.locator(".way")).to_contain_text("2 of 6")
    assert Answer.objects.count() == 1


def test_an_immediate_second_tap_does_not_answer_the_next_question(study: Study, open_browser: Open) -> None:
    page = open_browser().new_page()
    begin(page, study)
    page.locator(".choice").first.dblclick()
    expect(page.locator(".way")).to_contain_text("2 of 6")
    page.wait_for_timeout(500)
    expect(page.locator(".way")).to_contain_text("2 of 6")
    assert Answer.objects.count() == 1


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_barrier(study: Study, open_browser: Open, scheme: Any) -> None:
    page = open_browser(color_scheme=scheme, viewport={"width": 1280, "height": 800}).new_page()
    for address, stage in (("", "consent"), ("", "palette"), ("", "instructions"), ("?zoom=4", "questions")):
        person, _ = Participant.objects.get_or_create(study=study, identity="p")
        Participant.objects.filter(pk=person.pk).update(stage=stage)
        page.goto(f"/s/{study.code}/{person.secret}/{address}")
        assert find_barriers(page) == [], stage
    for address in ("?stop=1", "?again=1"):
        page.goto(f"/s/{study.code}/{person.secret}/{address}")
        assert find_barriers(page) == [], address
    page.goto(f"/s/{study.code}/?PROLIFIC_PID=p")
    expect(page.get_by_role("heading", level=1)).to_have_text("This link was used before")
    assert find_barriers(page) == []


def test_a_link_to_the_platform_sends_no_referrer(study: Study, open_browser: Open) -> None:
    person = Participant.objects.create(study=study, stage="completed", ending="https://platform.example/done")
    page = open_browser().new_page()
    sent: list[dict[str, str]] = []
    page.route(
        "https://platform.example/**", lambda route: (sent.append(route.request.headers), route.fulfill(body=""))[1]
    )
    page.goto(f"/s/{study.code}/{person.secret}/")
    page.get_by_role("link", name="Back to the platform").click()
    page.wait_for_url("https://platform.example/done")
    assert sent and "referer" not in sent[0]


def test_the_next_question_comes_without_another_page(study: Study, open_browser: Open) -> None:
    page = open_browser().new_page()
    begin(page, study)
    page.evaluate("window.same = true")
    for number in range(2, 7):
        page.locator(".choice").first.click()
        expect(page.locator(".way")).to_contain_text(f"{number} of 6")
        expect(page.locator("h1")).to_be_focused()
        expect(page.locator(".choice").first).to_be_enabled()
    assert page.evaluate("window.same") and study.code in page.url
    assert Answer.objects.count() == 5


def test_loading_a_question_again_does_not_restart_its_time(study: Study, open_browser: Open) -> None:
    page = open_browser().new_page()
    begin(page, study)
    page.wait_for_timeout(700)
    page.reload()
    page.locator(".choice").first.click()
    expect(page.locator(".way")).to_contain_text("2 of 6")
    page.locator(".choice").first.click()
    expect(page.locator(".way")).to_contain_text("3 of 6")
    first, second = Answer.objects.order_by("pk").values_list("visible", flat=True)
    assert first >= 700 and second < first


def test_an_enlarged_picture_shows_what_was_tapped(study: Study, open_browser: Open) -> None:
    Scene.objects.update(image="", linked="a.png", width=480, height=320)  # only the place of the picture matters
    page = open_browser(viewport={"width": 360, "height": 640}).new_page()
    begin(page, study)
    page.wait_for_load_state("networkidle")  # without its script, the page enlarges the middle
    box = page.locator(".pane img").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.75 * box["width"], box["y"] + 0.5 * box["height"])
    expect(page.locator(".zoom-2")).to_be_visible()
    page.wait_for_function(MIDDLE.format(start="scrollLeft", size="clientWidth", whole="scrollWidth", expected=0.75))
    page.get_by_role("link", name="4 ×").click()
    expect(page.locator(".zoom-4")).to_be_visible()
    page.wait_for_function(MIDDLE.format(start="scrollTop", size="clientHeight", whole="scrollHeight", expected=0.5))


def test_pages_for_waiting_and_for_a_shared_id_work_on_a_small_screen(study: Study, open_browser: Open) -> None:
    study.slots.exclude(number=0).delete()
    first = open_browser().new_page()
    begin(first, study)
    other = Participant.objects.create(study=study)
    study.slots.filter(participant=None).update(participant=other, claimed=Now(), lease=from_now(300))
    page = open_browser(viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True).new_page()
    page.goto(f"/s/{study.code}/?PROLIFIC_PID=p1&SESSION_ID=v1")
    for heading in ("Please wait a moment", "This link was used before"):
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        for summary in page.locator("summary").all():
            summary.tap()
        sizes = [button.bounding_box() for button in page.locator("main :is(button, .button)").all()]
        assert all(box is not None and box["height"] >= FINGER for box in sizes)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert find_barriers(page) == []
        page.goto(f"/s/{study.code}/?PROLIFIC_PID=p1&SESSION_ID=v2")
    page.get_by_role("button", name="It was not me: start").tap()
    expect(page.get_by_role("heading", level=1)).to_have_text("Please wait a moment")
    study.slots.update(lease=from_now(-1))
    page.get_by_role("link", name="Try again").tap()
    page.get_by_role("button", name="Take part").tap()
    assert study.participants.filter(identity="p1").count() == 2


def test_a_page_gives_signs_of_life_while_it_is_being_read(study: Study, open_browser: Open) -> None:
    page = open_browser().new_page()
    page.clock.install()
    person = begin(page, study)
    signs: list[str] = []
    page.on("request", lambda request: signs.append(request.url) if request.url.endswith("/here/") else None)
    for _ in range(3):
        page.mouse.move(100, 100)
        page.mouse.move(110, 110)
        with page.expect_response("**/here/") as response:
            page.clock.run_for(20_000)
        assert response.value.status == 204
    person.refresh_from_db()
    assert person.heard is not None
    page.clock.run_for(240_000)  # nobody touches it: signs for three minutes, and then none
    assert 3 + 7 <= len(signs) <= 3 + 10
