"""A study from its form to its figures, in real browsers, compared with the buttons that were pressed in this test.

A researcher sets up a study and opens it. Ann answers by touch on a small screen. Bob uses only the keyboard. Cleo
drops out and comes back on another device. Dan confuses colours and leaves. The researcher excludes Bob, Eve answers
some of the questions that are open again, and Bob is included again. Then the results, the file of answers, the payment
and the text for a paper are compared with a count that uses only the pressed buttons and the answers of the dataset. At
the end the study is closed and its human baseline is published, and its public pages must have the same count.
"""

import csv
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_UP, Decimal
from typing import Any, NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from generation.models import Dataset, Question
from generation.storage import files
from tests.annotations.browser.test_studies import signed_in
from tests.clients import make_researcher
from tests.generation import small
from webapp.models import User

pytestmark = [pytest.mark.slow, pytest.mark.full]

QUESTIONS, WANTED = 32, 3  # all questions; no share is public for fewer than 30 questions
SMALL: dict[str, Any] = {"splits": {"train": {"scenes": 6}, "val": {"scenes": 8}}, "questions": {"per_scene": 4}}
SETTINGS = {
    "Title": "How well people see shapes",
    "Questions": str(QUESTIONS),
    "Answers per question": str(WANTED),
    "Questions per session": str(QUESTIONS),
    "Practice questions": "2",
    "Right answers needed in practice": "1",
    "Check questions per session": "2",
    "Attention items per session": "2",
    "Failed attention items, at least": "",  # because Bob is to be excluded by hand
    "Median answer time below": "",  # because nobody here spends time on reading
    "Pay per hour": "12",
    "Pay for a session": "2",
    "Completed": "DONE-1",
    "Screened out": "OUT-1",
    "Full": "FULL-1",
}
ITEMS = QUESTIONS + 4
SOME = 7  # the number of questions that Cleo answers before she drops out
FEW = 3  # the number of questions that Eve answers
IS_ANOTHER_PAGE = """old => document.readyState === "complete" && document.querySelector("main h1")
    && document.querySelector("input[name=client]")?.value !== old"""
REASON = "Failed both attention items"
PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}


class QuestionFacts(NamedTuple):
    """What only the researcher knows about a question on a page."""

    kind: str
    position: int | None
    right: str


class PressedAnswer(NamedTuple):
    """An answer that somebody pressed, as the file of answers should have it."""

    kind: str
    position: int | None
    answer: str
    refusal: str
    correct: bool | None
    superseded: bool = False


Rule = Callable[[QuestionFacts, list[str]], str]
"""Return the answer of a person: one of the choices, or "" for the reason "unclear"."""


@dataclass
class Key:
    """The right answers by the digest of the picture and the text; and the pages that axe has checked."""

    known: dict[tuple[str, str], QuestionFacts]
    checked_pages: set[tuple[str, str]] = field(default_factory=set)
    barriers: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, dataset: Dataset) -> "Key":
        rows = Question.objects.filter(split__dataset=dataset).select_related("scene", "split")
        known = {}
        for row in rows:
            kind = "sample" if row.split.name == "val" else "easy"
            known[_digest(files.get(row.scene.image)), row.text] = QuestionFacts(kind, row.position, str(row.answer))
        return cls(known)

    def look_up(self, page: Page) -> QuestionFacts:
        """Return the facts about the question on a page."""
        text = page.locator("#asked").inner_text()
        if wanted := re.search("please press “(.*?)”", text):
            return QuestionFacts("attention", None, wanted[1])
        source = page.locator(".shown img").get_attribute("src")
        assert source is not None
        found = self.known[_digest(page.request.get(source).body()), text]
        if found.kind == "sample":
            return found
        return found._replace(kind="practice" if "Practice" in page.locator(".way").inner_text() else "check")

    def check_page(self, page: Page, who: str) -> None:
        """Check a page with axe, and check its width: once per person for each kind of page."""
        kind = re.sub(r".*/s/[^/]+/[^/]+/", "/s/", page.url) + "|" + page.title()
        if (who, kind) in self.checked_pages:
            return
        self.checked_pages.add((who, kind))
        found = Axe().run(page).response["violations"]
        self.barriers += [f"{kind}: {one['id']}" for one in found if one["impact"] in ("serious", "critical")]
        width = page.viewport_size["width"] if page.viewport_size else 0
        if page.evaluate("document.documentElement.scrollWidth") > width:
            self.barriers.append(f"{kind}: wider than {width}")


@dataclass
class Person:
    """Somebody who takes part, and what they pressed."""

    name: str
    page: Page
    key: Key
    by: str = "mouse"
    said: list[PressedAnswer] = field(default_factory=list)

    # Input

    def press(self, target: Locator) -> None:
        if self.by == "touch":
            target.tap()
        elif self.by == "mouse":
            target.click()
        else:
            self.tab_to(target)
            self.page.keyboard.press("Enter")

    def tab_to(self, target: Locator) -> None:
        for _ in range(100):
            if target.evaluate("one => one === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{target} can't be reached with Tab")

    def go_on(self, name: str) -> None:
        button = self.page.get_by_role("button", name=name)
        expect(button).to_be_visible()
        self.page.wait_for_load_state()
        self.key.check_page(self.page, self.name)
        self.press(button)

    # Stages

    def join(self, address: str, *, sees_colours: bool = True) -> None:
        self.page.goto(address)
        expect(self.page).not_to_have_url(re.compile("PROLIFIC_PID"))
        self.go_on("I agree and take part")
        expect(self.page.get_by_role("heading", level=1)).to_have_text("Colours on your screen")
        for pair in self.page.locator(".pair").all():
            self.judge_pair(pair, rightly=sees_colours)
        self.go_on("Continue")

    def judge_pair(self, pair: Locator, *, rightly: bool) -> None:
        source = pair.locator("img").get_attribute("src")
        assert source is not None
        is_same = _is_same(self.page.request.get(source).body())
        wanted = pair.locator(f"input[value={'same' if is_same == rightly else 'different'}]")
        if self.by == "keyboard":
            self.tab_to(pair.locator("input").first)
            self.page.keyboard.press("Space" if is_same == rightly else "ArrowRight")
        else:
            self.press(wanted)
        expect(wanted).to_be_checked()

    def practise(self, rule: Rule) -> None:
        """Answer practice questions until practice is passed."""
        self.go_on("Practise")
        expect(self.page.locator("#asked")).to_be_visible()
        while "Practice" in self.page.title():
            self.answer(rule)
            expect(self.page.locator(".verdict")).to_be_visible()
            self.key.check_page(self.page, self.name)
            onward = self.page.get_by_role("link", name=re.compile("Continue|Try again"))
            if self.by == "keyboard":
                self.page.wait_for_load_state()
                self.page.keyboard.press("Enter")
            else:
                self.press(onward)
            expect(self.page.locator("#asked")).to_be_visible()

    def answer(self, rule: Rule) -> PressedAnswer:
        """Answer the question on the page by the rule."""
        self.page.wait_for_load_state()
        expect(self.page.locator(".choice").first).to_be_enabled()
        self.key.check_page(self.page, self.name)
        before = self.page.locator("input[name=client]").get_attribute("value")
        known = self.key.look_up(self.page)
        choices = [str(one.get_attribute("value")) for one in self.page.locator(".choice").all()]
        text = rule(known, choices)
        if text:
            self.choose(text)
        else:
            self.press(self.page.locator(".refusing summary"))
            self.press(self.page.get_by_role("button", name="The question is not clear"))
        self.page.wait_for_function(IS_ANOTHER_PAGE, arg=before)
        correct = None if not text and known.kind == "sample" else text == known.right
        self.said.append(PressedAnswer(known.kind, known.position, text, "" if text else "unclear", correct))
        return self.said[-1]

    def choose(self, text: str) -> None:
        button = self.page.locator(f'.choice[value="{text}"]')
        if self.by == "keyboard":
            self.page.keyboard.press(str(button.get_attribute("data-key")))
        else:
            self.press(button)

    def answer_sample(self, rule: Rule, *, most: int = QUESTIONS) -> None:
        """Answer `most` questions of the sample, and the checks and attention items between them."""
        already = self.answered
        while self.answered < already + most:
            expect(self.page.locator(".way")).to_contain_text(f"{self.items + 1} of {ITEMS}")
            self.answer(rule)

    def undo(self, rule: Rule) -> None:
        """Undo the last answer and answer its question again."""
        old = self.said.pop()
        self.press(self.page.get_by_role("link", name="Undo the last answer"))
        expect(self.page.locator(".way")).to_contain_text("Your last question again")
        self.said.append(old._replace(superseded=True))
        assert self.answer(rule).position == old.position

    @property
    def standing(self) -> list[PressedAnswer]:
        return [one for one in self.said if one.kind == "sample" and not one.superseded]

    @property
    def answered(self) -> int:
        return len(self.standing)

    @property
    def items(self) -> int:
        """Return how many of the session's items are done."""
        return self.answered + sum(one.kind in ("check", "attention") for one in self.said)

    def finish(self, comment: str) -> None:
        while self.page.locator("#asked").count():
            self.answer(right)
        expect(self.page.get_by_role("heading", level=1)).to_have_text("One last thing")
        if self.by == "keyboard":
            self.tab_to(self.page.locator("textarea"))
            self.page.keyboard.type(comment)
        else:
            self.page.locator("textarea").fill(comment)
        self.go_on("Finish and see the completion code")
        self.expect_code("DONE-1")

    def expect_code(self, code: str) -> None:
        expect(self.page.locator(".code-given")).to_have_text(code)
        self.key.check_page(self.page, self.name)


# What people answer


def right(known: QuestionFacts, choices: list[str]) -> str:
    return known.right


def wrong(known: QuestionFacts, choices: list[str]) -> str:
    return next(choice for choice in choices if choice != known.right)


def answer_of_ann(known: QuestionFacts, choices: list[str]) -> str:
    """Return the right answer, but "" (unclear) for every fifth question of the sample."""
    return "" if known.kind == "sample" and known.position is not None and known.position % 5 == 0 else known.right


def answer_of_bob(known: QuestionFacts, choices: list[str]) -> str:
    """Return a wrong answer to every third question of the sample and to each attention item."""
    is_wrong = known.kind == "attention" or (known.kind == "sample" and (known.position or 0) % 3 == 0)
    return wrong(known, choices) if is_wrong else known.right


def answer_of_cleo(known: QuestionFacts, choices: list[str]) -> str:
    """Return a wrong answer to every third and to every fourth question of the sample."""
    is_wrong = known.kind == "sample" and 0 in ((known.position or 0) % 3, (known.position or 0) % 4)
    return wrong(known, choices) if is_wrong else known.right


# The count by hand


@dataclass
class Count:
    """The expected results, counted from the pressed answers of the people who count."""

    people: dict[str, Person]
    counted: tuple[str, ...]

    def votes(self) -> dict[int, list[str]]:
        """Return the answers to each question by its position, without refusals."""
        found: dict[int, list[str]] = {}
        for name in self.counted:
            for said in self.people[name].standing:
                assert said.position is not None
                found.setdefault(said.position, []).extend([said.answer] if said.answer else [])
        return found

    def rights(self) -> dict[int, str]:
        """Return the right answer to each question by its position."""
        known = self.people["Ann"].key.known.values()
        return {one.position: one.right for one in known if one.kind == "sample" and one.position is not None}

    def majority(self) -> dict[int, str | None]:
        """Return the majority answer, or None for a tie, by position; questions with only refusals are left out."""
        found: dict[int, str | None] = {}
        for position, said in self.votes().items():
            ranked = Counter(said).most_common()
            if ranked:
                is_tie = len(ranked) > 1 and ranked[0][1] == ranked[1][1]
                found[position] = None if is_tie else ranked[0][0]
        return found

    def right_by_majority(self) -> int:
        """Return the number of questions whose majority answer is right."""
        rights = self.rights()
        return sum(text == rights[position] for position, text in self.majority().items())

    def alpha(self) -> float:
        """Return Krippendorff's alpha for nominal data, from his table of coincidences."""
        pairs: Counter[tuple[str, str]] = Counter()
        weights: dict[tuple[str, str], float] = {}
        for said in self.votes().values():
            if len(said) > 1:
                for i, one in enumerate(said):
                    for j, other in enumerate(said):
                        if i != j:
                            pairs[one, other] += 1
                            weights[one, other] = weights.get((one, other), 0.0) + 1 / (len(said) - 1)
        totals: dict[str, float] = {}
        for (one, _), weight in weights.items():
            totals[one] = totals.get(one, 0.0) + weight
        n = sum(totals.values())
        observed = sum(weight for (one, other), weight in weights.items() if one != other)
        expected = (n * n - sum(total * total for total in totals.values())) / (n - 1)
        return 1 - observed / expected


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _is_same(picture: bytes) -> bool:
    """Return whether both halves of a picture are the same."""
    with Image.open(io.BytesIO(picture)) as image:
        half = image.width // 2
        left, right = image.crop((0, 0, half, image.height)), image.crop((half, 0, 2 * half, image.height))
        return left.tobytes() == right.tobytes()


# People and dataset


@pytest.fixture
def shapes(transactional_db: None) -> Dataset:
    """Give a complete public dataset of two splits."""
    return small.made(**SMALL)


@pytest.fixture
def rosa(shapes: Dataset) -> User:
    """Give a researcher."""
    return make_researcher("rosa")


@pytest.fixture
def opened(browser: Browser, live_server: Any) -> Iterator[Callable[..., Page]]:
    """Give a function that opens a page in a new browser context."""
    contexts: list[BrowserContext] = []

    def open_one(**options: Any) -> Page:
        contexts.append(browser.new_context(base_url=live_server.url, **options))
        return contexts[-1].new_page()

    yield open_one
    for context in contexts:
        context.close()


def set_up(page: Page) -> str:
    """Set up a study by its form and open it; return its address for the platform."""
    page.goto("/studies/new/?split=shapes/val")
    page.get_by_text("All settings").click()
    for label, value in SETTINGS.items():
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_label("Practice and check questions from").select_option(label="shapes/train")
    page.get_by_label("Participants who confuse colours").select_option("screen-out")
    expect(page.locator("#plan dd").first).to_have_text(str(QUESTIONS * WANTED))
    page.get_by_role("button", name="Make the study").click()
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_text(f"0 of {QUESTIONS * WANTED} answers", exact=True)).to_be_visible()
    return page.locator(".address code").first.inner_text()


def fill_in_names(address: str, name: str) -> str:
    """Return the address with its placeholders filled in, as Prolific does it for a participant."""
    for placeholder, value in (("PROLIFIC_PID", f"pid-{name}"), ("STUDY_ID", "st"), ("SESSION_ID", f"sub-{name}")):
        address = address.replace(f"{{{{%{placeholder}%}}}}", value)
    assert "{{" not in address
    return address


def open_part(page: Page, name: str, key: Key) -> None:
    """Open one of the study's pages from its overview."""
    page.goto("/studies/")
    page.get_by_role("link", name=SETTINGS["Title"]).click()
    page.get_by_role("link", name=name, exact=True).click()
    key.check_page(page, "Rosa")


def leave_out(page: Page, pseudonym: str, key: Key) -> None:
    open_part(page, "Participants", key)
    row = page.locator(f"#{pseudonym}")
    row.get_by_text("Exclude", exact=True).first.click()
    row.get_by_label(f"Why you exclude {pseudonym}").fill(REASON)
    row.get_by_role("button", name="Exclude").click()
    expect(row).to_contain_text(f"Excluded: {REASON}")


def take_back(page: Page, pseudonym: str, key: Key) -> None:
    open_part(page, "Participants", key)
    page.get_by_role("button", name=f"Include {pseudonym} again").click()
    expect(page.locator(f"#{pseudonym}")).not_to_contain_text("Excluded")


# The whole story


def test_a_study_from_its_form_to_its_figures(
    shapes: Dataset, rosa: User, browser: Browser, live_server: Any, opened: Callable[..., Page]
) -> None:
    key = Key.of(shapes)
    researcher = signed_in(browser, rosa, live_server).new_page()
    address = set_up(researcher)

    ann = Person("Ann", opened(**PHONE), key, by="touch")
    cleo = Person("Cleo", opened(color_scheme="dark"), key)
    bob = Person("Bob", opened(viewport={"width": 1280, "height": 800}), key, by="keyboard")
    dan, eve = Person("Dan", opened(), key), Person("Eve", opened(), key)
    people = {person.name: person for person in (ann, cleo, bob, dan, eve)}  # in the order in which they join

    ann.join(fill_in_names(address, "Ann"))
    ann.practise(right)
    ann.answer_sample(answer_of_ann, most=2)
    while ann.said[-1].kind != "sample":
        ann.answer(right)
    ann.undo(wrong)
    ann.answer_sample(answer_of_ann, most=QUESTIONS - 2)
    ann.finish("Nice pictures.")

    cleo.join(fill_in_names(address, "Cleo"))
    cleo.practise(right)
    cleo.answer_sample(answer_of_cleo, most=SOME)
    cleo.press(cleo.page.get_by_role("link", name="Stop now"))
    key.check_page(cleo.page, "Cleo")
    resume = cleo.page.locator(".resume code").inner_text()
    cleo.page.context.close()

    bob.join(fill_in_names(address, "Bob"))
    bob.practise(_fail_first_try(bob))
    bob.answer_sample(answer_of_bob)
    bob.finish("")

    dan.join(fill_in_names(address, "Dan"), sees_colours=False)
    dan.expect_code("OUT-1")

    cleo.page, cleo.by = opened(**PHONE), "touch"
    cleo.page.goto(resume)
    cleo.answer_sample(answer_of_cleo, most=QUESTIONS - SOME)
    cleo.finish("I was on a train.")
    check_figures(researcher, key, Count(people, ("Ann", "Bob", "Cleo")))

    leave_out(researcher, "P003", key)
    check_progress(researcher, key, (WANTED - 1) * QUESTIONS)
    eve.join(fill_in_names(address, "Eve"))
    eve.practise(right)
    eve.answer_sample(right, most=FEW)
    check_progress(researcher, key, (WANTED - 1) * QUESTIONS + FEW)
    assert REASON in researcher.locator("#methods-text").input_value()
    take_back(researcher, "P003", key)

    check_figures(researcher, key, Count(people, ("Ann", "Bob", "Cleo")))
    lines = check_file(researcher, key, people)
    check_payment(researcher, key, lines)
    publish(researcher, key)
    visitor = opened()
    check_baseline(visitor, key, Count(people, ("Ann", "Bob", "Cleo")))
    check_board(visitor, key, Count(people, ("Ann", "Bob", "Cleo")))
    researcher.context.close()
    assert key.barriers == []


def _fail_first_try(person: Person) -> Rule:
    """Return a rule that answers the first two questions wrongly, so that the first try at practice fails."""
    return lambda known, choices: (wrong if len(person.said) < 2 else right)(known, choices)


def check_progress(page: Page, key: Key, answers: int) -> None:
    open_part(page, "Results", key)
    expect(page.get_by_text(f"{answers} of {QUESTIONS * WANTED}", exact=True)).to_be_visible()


def check_figures(page: Page, key: Key, count: Count) -> None:
    """Compare the page of results and the text for a paper with the count."""
    check_progress(page, key, QUESTIONS * WANTED)
    majority, rights = count.majority(), count.rights()
    assert len(majority) == QUESTIONS
    good = percent(count.right_by_majority(), len(majority))
    votes = [(position, text) for position, said in count.votes().items() for text in said]
    single = percent(sum(text == rights[position] for position, text in votes), len(votes))
    ties = sum(text is None for text in majority.values())
    refusals = QUESTIONS * WANTED - len(votes)
    assert good != "100.0 %" and refusals and ties  # otherwise the comparison below would show little
    shown = re.sub(r"\s+", " ", page.locator("main").inner_text())
    assert f"{good} n = {QUESTIONS}" in shown and f"{single} n = {len(votes)}" in shown
    assert f"{ties} of {QUESTIONS} questions" in shown
    assert f"{refusals} of {QUESTIONS * WANTED} times" in shown
    assert f"{count.alpha():.3f} (n = {len(votes)} answers)" in shown
    text = page.locator("#methods-text").input_value()
    for said in (
        f"{QUESTIONS} questions", f"{WANTED} answers", f"{good} (n = {QUESTIONS})", f"{single} (n = {len(votes)})",
        f"alpha (nominal) is {count.alpha():.3f}", "GBP 12.00", f"{refusals} times", "1 more participant did not pass",
    ):  # fmt: skip
        assert said in text, said
    assert REASON not in text


def check_file(page: Page, key: Key, people: dict[str, Person]) -> list[dict[str, str]]:
    """Compare the file of answers with what was pressed; return its lines."""
    open_part(page, "Results", key)
    with page.expect_download() as download:
        page.get_by_role("link", name="Answers as CSV").click()
    lines = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
    pressed: Counter[tuple[str, ...]] = Counter()
    for number, person in enumerate(people.values(), start=1):
        for said in person.said:
            is_surplus = person.name == "Eve" and said.kind == "sample"
            is_refusal_of_easy = said.kind != "sample" and not said.answer
            pressed[
                f"P{number:03}", said.kind, "" if said.position is None else str(said.position), said.answer,
                "" if is_refusal_of_easy else said.refusal, "" if said.correct is None else str(said.correct).lower(),
                "false", str(is_surplus).lower(), str(said.superseded).lower(),
            ] += 1  # fmt: skip
    names = ("participant", "kind", "question", "answer", "refusal", "correct", "excluded", "surplus", "superseded")
    assert Counter(tuple(line[name] for name in names) for line in lines) == pressed
    filled = Counter(line["question"] for line in lines if line["slot"] != "")
    assert set(filled.values()) == {WANTED} and len(filled) == QUESTIONS
    return lines


def check_payment(page: Page, key: Key, lines: list[dict[str, str]]) -> None:
    """Upload an export as Prolific makes it, and compare the payments that the page lists."""
    rows = [
        ("Submission id", "Participant id", "Status", "Started at", "Time taken", "Completion code"),
        ("sub-Ann", "pid-Ann", "AWAITING REVIEW", "", "600", "DONE-1"),
        ("sub-Bob", "pid-Bob", "AWAITING REVIEW", "", "500", "DONE-1"),
        ("sub-Cleo", "pid-Cleo", "AWAITING REVIEW", "", "700", ""),
        ("sub-Dan", "pid-Dan", "RETURNED", "", "60", "OUT-1"),
        ("sub-Eve", "pid-Eve", "TIMED-OUT", "", "", ""),
        ("sub-Zoe", "pid-Zoe", "AWAITING REVIEW", "", "3", "DONE-1"),
    ]
    open_part(page, "Participants", key)
    content = "\n".join(",".join(row) for row in rows).encode()
    page.get_by_label("Prolific’s export").set_input_files({"name": "x.csv", "mimeType": "text/csv", "buffer": content})
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_label("Submissions to approve")).to_have_value("sub-Ann\nsub-Cleo")
    seconds = Decimal(sum(int(line["visible_ms"]) for line in lines if line["participant"] == "P005")) / 1000
    amount = (12 * seconds / 3600).quantize(Decimal("0.01"), ROUND_UP)
    expect(page.get_by_label("Bonuses for unfinished sessions")).to_have_value(f"pid-Eve,{amount}")
    for label, n in (
        ("Finished here and on the platform", 1), ("Finished here, no code on the platform", 1),
        ("Finished, two attention items failed", 1), ("Screened out, or no questions left", 1), ("Unfinished here", 1),
        ("Unknown here", 1), ("Finished here, not in the export", 0),
    ):  # fmt: skip
        expect(page.locator("#pay ~ dl div", has_text=label).first.locator("dd")).to_have_text(str(n))
    expect(page.get_by_text("You decide about these submissions: sub-Bob.")).to_be_visible()
    hourly = page.locator("dl div", has_text="Median pay per hour").locator("dd")
    expect(hourly).to_have_text("GBP 12.00 GBP 2.00 a session")  # 2 for 600 seconds, the median of three
    key.check_page(page, "Rosa")


def publish(page: Page, key: Key) -> None:
    """Close the study, check the page that shows what becomes public, and publish it."""
    page.goto("/studies/")
    page.get_by_role("link", name=SETTINGS["Title"]).click()
    page.get_by_role("button", name="Close", exact=True).click()
    open_part(page, "Results", key)
    page.get_by_role("link", name="Publish the human baseline").click()
    key.check_page(page, "Rosa")
    page.get_by_label("I have read what becomes public").check()
    page.get_by_role("button", name="Publish").click()
    expect(page.locator("h1")).to_have_text("Human baseline of Some shapes/val")
    key.check_page(page, "Rosa")


def check_baseline(page: Page, key: Key, count: Count) -> None:
    """Compare the public page of the human baseline, and its file of majority answers, with the count."""
    page.goto("/datasets/shapes/val/")
    page.get_by_role("link", name="People: ").click()
    key.check_page(page, "a visitor")
    majority, rights = count.majority(), count.rights()
    good = percent(count.right_by_majority(), QUESTIONS)
    votes = [(position, text) for position, said in count.votes().items() for text in said]
    single = percent(sum(text == rights[position] for position, text in votes), len(votes))
    ties = sum(text is None for text in majority.values())
    shown = re.sub(r"\s+", " ", page.locator("main").inner_text())
    for said in (
        f"{good} of {QUESTIONS} questions answered correctly by the majority", f"{single} n = {len(votes)}",
        f"Ties, counted as wrong {ties}", f"alpha {count.alpha():.3f}",
        f"{QUESTIONS * WANTED - len(votes)} of {QUESTIONS * WANTED} times",
    ):  # fmt: skip
        assert said in shown, said
    with page.expect_download() as download:
        page.get_by_role("link", name="Predictions").click()
    lines = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    assert {line["question_id"]: line["answer"] for line in lines} == majority


def check_board(page: Page, key: Key, count: Count) -> None:
    """Compare the row of people with the count, on a board without submitted models."""
    page.goto("/leaderboards/shapes/val/")
    good = percent(count.right_by_majority(), QUESTIONS).removesuffix(" %")  # the column is given in percent
    expect(page.locator("tr.people")).to_contain_text(good)
    key.check_page(page, "a visitor")
