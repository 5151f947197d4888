"""Markdown that people write: rendered once, in a bounded child process."""

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from annotations import markdown
from annotations.markdown import BadMarkdown, html_of_form, render, render_row
from annotations.markdown_process import html_of
from generation.queue import sandbox
from webapp.leaderboards.models import Method
from webapp.models import User

N = markdown.LONGEST


def filled(part: str) -> str:
    return (part * (N // len(part) + 1))[:N]


ZOO = {
    "open brackets": filled("["),
    "brackets of links": filled("[a]("),
    "pictures": filled("!["),
    "brackets in brackets": filled("[[]("),
    "links in links": "[" * 5000 + "](a)" * 2000,
    "parentheses": "[a](" + filled("(")[4:],
    "titles": filled('[a](b "'),
    "targets": filled("[a](<b"),
    "definitions": filled("[a]: b\n"),
    "many definitions": "".join(f"[{number}]: x\n" for number in range(1000)) + "[1] " * 2000,
    "stars": filled("*"),
    "underscores": filled("__a"),
    "emphasis": filled("*a _a "),
    "emphasis that opens": filled("*a **a "),
    "emphasis that closes": filled("a** a* "),
    "emphasis around": "*a " * 3000 + "b*" * 3000,
    "one line of quotes": filled("> "),
    "quotes": filled("> a\n> > b\n"),
    "lines after a quote": "> " * 500 + "a\n" + "a\n" * 9000,
    "a line of lists": filled("- "),
    "numbered lists": filled("1) "),
    "lists in lists": "".join("  " * depth + "- a\n" for depth in range(138)),
    "many lists": filled("- a\n"),
    "backticks": filled("`"),
    "runs of backticks": "".join("e" + "`" * run for run in range(198)),
    "fences": filled("```\n"),
    "bars": filled("|"),
    "a table": "|a|b|\n|-|-|\n" + "|x|y|\n" * 3000,
    "a wide table": "|" + "a|" * 4900 + "\n|" + "-|" * 4900 + "\n",
    "a table that is filled up": "|" + "a|" * 300 + "\n|" + "-|" * 300 + "\n" + "|\n" * 9000,
    "entities": filled("&#x41;&amp;&"),
    "ampersands": filled("&"),
    "tags": filled("<a "),
    "comments": filled("<!--"),
    "boxes": filled("<div>"),
    "bold tags": filled("a<b>*"),
    "instructions": filled("<?"),
    "character data": filled("<![CDATA["),
    "addresses": filled("<http://"),
    "backslashes": filled("\\"),
    "headings": filled("#"),
    "underlines": filled("a\n=\n"),
    "blanks": "a" + " " * (N - 2) + "b",
    "tabs": filled("\t"),
    "lines": filled("\n"),
    "NUL": filled("\0"),
}


@pytest.fixture
def untraced() -> Iterator[None]:
    """Stop the counting of branches meanwhile: its time is not the text's."""
    trace = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(trace)


@pytest.mark.parametrize("name", ZOO)
def test_no_text_takes_longer_than_a_second(name: str, untraced: None) -> None:
    spent = []
    for _ in range(3):  # the quickest counts: what else the process does meanwhile is no fault of the text
        before = time.process_time()
        try:
            html = html_of(ZOO[name])
        except ValueError as error:
            assert str(error).startswith("Expected")
        else:
            assert len(html) < 10 * N
        spent.append(time.process_time() - before)
        if spent[-1] < 1:
            break
    assert min(spent) < 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("> " * 30 + "a", "at most 20 lists, quotes and other parts of Markdown inside one another"),
        (ZOO["lines after a quote"], "at most 40,000 for the depth of quotes times the lines of the text"),
        (ZOO["a table that is filled up"], "tables of at most 20,000 cells"),
        ("a|" * 198 + "\n" + "-|" * 198 + "\n" + "|\n" * 95, "at most 150,000 characters of HTML"),
        ("a" * (N + 1), "at most 20,000 characters, got 20,001"),
    ],
)
def test_each_bound_has_its_message(text: str, message: str) -> None:
    with pytest.raises(BadMarkdown) as caught:
        render(text)
    assert message in str(caught.value)


def test_a_text_that_exhausts_its_child_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_long(*_: Any, **__: Any) -> bytes:
        raise sandbox.TooLong("stopped")

    monkeypatch.setattr(sandbox, "run", too_long)
    with pytest.raises(BadMarkdown, match="rendered within 5 seconds"):
        render("nothing like it was rendered before")


def test_usual_markdown_is_rendered_and_cleaned() -> None:
    text = "**a** [b](https://c.example/)\n\n- d\n\n|e|f|\n|-|-|\n|1|2|\n\n# g\n\n<script>h()</script>\n\n![i](j)"
    html = render(text)
    for part in ("<strong>a</strong>", 'href="https://c.example/"', "<li>d</li>", "<td>1</td>"):
        assert part in html
    for part in ("<script", "<img", "<h1"):
        assert part not in html


def test_the_child_stays_small() -> None:
    sandbox.run(markdown.CHILD, ZOO["open brackets"].encode(), seconds=5, memory=markdown.MEMORY)
    assert markdown.MEMORY < 500 << 20
    answer = sandbox.run(markdown.CHILD, b"*a*", seconds=5, memory=markdown.MEMORY)
    assert json.loads(answer) == {"html": "<p><em>a</em></p>\n"}


@pytest.mark.django_db
class TestOfAMethod:
    @pytest.fixture
    def owner(self) -> User:
        return User.objects.create_user("mia", "mia@example.com", "x")

    @pytest.fixture
    def client(self, owner: User) -> Client:
        client = Client()
        client.force_login(owner)
        return client

    def test_it_is_rendered_when_it_is_saved_and_not_when_it_is_read(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hostile = "[" * 10_000
        data = {"name": "m", "made": "trained", "description": f"**bold** {hostile}"}
        assert client.post("/methods/new/", data).status_code == 302
        monkeypatch.setattr(markdown, "CHILD", "tests.nothing")
        page = client.get(Method.objects.get().get_absolute_url()).content.decode()
        assert "<strong>bold</strong>" in page

    def test_what_goes_beyond_the_bounds_is_an_error_of_the_form(self, client: Client) -> None:
        data = {"name": "m", "made": "trained", "description": "> " * 30 + "a"}
        answer = client.post("/methods/new/", data)
        assert answer.status_code == 400
        assert "at most 20 lists, quotes" in answer.content.decode()
        assert not Method.objects.exists()

    def test_a_text_from_before_is_rendered_once_when_it_is_read(
        self, owner: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        method = Method.objects.create(name="m", owner=owner, description="*late*")
        assert "<em>late</em>" in render_row(method, "description")
        method.refresh_from_db()
        assert method.description_html == html_of_form("*late*")
        method.description = "*changed*"
        assert "<em>changed</em>" in render_row(method, "description")

    def test_a_text_from_before_beyond_the_bounds_is_shown_as_it_is(self, owner: User) -> None:
        method = Method.objects.create(name="m", owner=owner, description="> " * 30 + "<b>a")
        assert "&gt; &gt; &lt;b&gt;a" in render_row(method, "description")
