"""Every route of the site gets malformed requests; none of them may cause a server error.

Pages also say the language and direction of each question that they show.
"""

from html.parser import HTMLParser
from itertools import cycle, islice

import pytest
from django.test import Client

from generation.models import Question
from tests.generation.pages.routes import address_of, routes
from tests.proof import size

pytestmark = pytest.mark.slow

QUERIES = (
    "?page=0",
    "?page=" + "9" * 5000,
    "?q=" + "x" * 10_000,
    "?q=%00&%00=%00",
    "?type=%ED%A0%80&%ff=%ff",
    "?choose=²&list=3&then=step",
    "?step=-1&ask=2&present=" + "1" * 10_000,
    "?split=%00&preset=../../etc/passwd",
    "?next=//evil.example/&next=javascript:alert(1)",
    "?" + "&".join("a=1" for _ in range(1200)),
)
HOLES = ("%00", "..%2f..%2fetc%2fpasswd", "x" * 10_000, "٣", "-1", "9" * 400, "%ff%fe", "TRAIN")
TEXTS = ("", "\0", "<script>alert(1)</script>", "x" * 10_000, "' OR 1=1 --", "9" * 5000, "{" * 1000, "\u202e", "٣")
FIELDS = (
    *("slug", "title", "description", "visibility", "licence", "version", "authors", "citation", "confirm", "images"),
    *("spec", "shown", "last", "action", "split-0-name", "split-0-was", "split-0-scenes", "seed", "images.width"),
    *("name", "how", "amount", "format", "splits", "view"),
    *("wanted", "evenly", "easy", "consent", "opens", "completed", "hourly_pay", "practice", "seed", "lease_minutes"),
    *("token", "text", "turn", "client", "visible", "idle", "refusal", "comment", "reason", "zoom", "seen"),
    *("login", "password", "password1", "username", "email", "undo", "account", "first_name"),
)
VERBS = ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "NONSENSE")


SHOW_QUESTIONS = ("split", "question", "board_questions", "board_question", "study_session")
VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


class Words(HTMLParser):
    """The texts of a page, each with whether an element around it has a language and finds its direction."""

    def __init__(self):
        super().__init__()
        self.open, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            given = dict(attrs)
            self.open.append((tag, bool(given.get("lang")) and given.get("dir") == "auto"))

    def handle_startendtag(self, tag, attrs):
        """Ignore an element without content."""

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        self.texts.append((data.strip(), any(is_marked for _, is_marked in self.open)))


def words_of(response):
    words = Words()
    words.feed(response.content.decode())
    return words.texts


@pytest.fixture
def browser(as_owner):
    """Give the browser of the owner, who has the most access; server errors come back as responses."""
    browser = Client(raise_request_exception=False)
    browser.cookies = as_owner.cookies
    return browser


def test_no_address_breaks_the_site(browser, parts):
    queries, holes = cycle(QUERIES), cycle(HOLES)
    failed = []
    for route in routes():
        plain = route.template % {name: parts.get(name, "1") for name in route.params}
        asked = [plain + query for query in islice(queries, size(40, most=1))]
        for name in route.params:
            filled = {other: parts.get(other, "1") for other in route.params}
            asked += [route.template % (filled | {name: hole}) for hole in islice(holes, size(40, most=1))]
        failed += [address[:80] for address in asked if broke(browser.get(address), route)]
    assert failed == []


def test_pages_say_the_language_and_direction_of_each_question(browser, parts):
    texts = set(Question.objects.values_list("text", flat=True))
    for route in routes():
        if route.name in SHOW_QUESTIONS:
            words = words_of(browser.get(address_of(route, parts)))
            marked = [is_marked for text, is_marked in words if text in texts]
            assert marked and all(marked), route.template


def test_no_verb_and_no_form_breaks_the_site(browser, parts):
    verbs, texts = cycle(VERBS), cycle(TEXTS)
    failed = []
    for route in routes():
        address = route.template % {name: parts.get(name, "1") for name in route.params}
        failed += [
            f"{verb} {address}"
            for verb in islice(verbs, size(len(VERBS)))
            if broke(browser.generic(verb, address), route)
        ]
        if "logout" in address:
            continue
        for text in islice(texts, size(40, most=1)):
            answer = browser.post(address, dict.fromkeys(FIELDS, text))
            failed += [f"POST {address} {text[:10]!r}"] if broke(answer, route) else []
    assert failed == []


def broke(answer, route):
    """Return whether the answer is a server error; the health page may answer so if no background process runs."""
    return answer.status_code >= 500 and route.name != "health"
