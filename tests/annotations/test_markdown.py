"""Markdown of users: it is rendered once, in a child process with limits."""

import json
import sys
from typing import Any

import pytest
from django.test import Client

from annotations import markdown
from annotations.markdown import BadMarkdown, html_of_form, render, render_row
from annotations.markdown_process import html_of
from generation.queue import sandbox
from tests.clients import client_of
from tests.proof import sample
from webapp.leaderboards.models import Method
from webapp.models import User

N = markdown.LONGEST


def repeat(part: str) -> str:
    return (part * (N // len(part) + 1))[:N]


ZOO = {
    "open brackets": repeat("["),
    "brackets of links": repeat("[a]("),
    "pictures": repeat("!["),
    "brackets in brackets": repeat("[[]("),
    "links in links": "[" * 5000 + "](a)" * 2000,
    "parentheses": "[a](" + repeat("(")[4:],
    "titles": repeat('[a](b "'),
    "targets": repeat("[a](<b"),
    "definitions": repeat("[a]: b\n"),
    "many definitions": "".join(f"[{number}]: x\n" for number in range(1000)) + "[1] " * 2000,
    "stars": repeat("*"),
    "underscores": repeat("__a"),
    "emphasis": repeat("*a _a "),
    "emphasis that opens": repeat("*a **a "),
    "emphasis that closes": repeat("a** a* "),
    "emphasis around": "*a " * 3000 + "b*" * 3000,
    "one line of quotes": repeat("> "),
    "quotes": repeat("> a\n> > b\n"),
    "lines after a quote": "> " * 500 + "a\n" + "a\n" * 9000,
    "a line of lists": repeat("- "),
    "numbered lists": repeat("1) "),
    "lists in lists": "".join("  " * depth + "- a\n" for depth in range(138)),
    "many lists": repeat("- a\n"),
    "backticks": repeat("`"),
    "runs of backticks": "".join("e" + "`" * run for run in range(198)),
    "fences": repeat("```\n"),
    "bars": repeat("|"),
    "a table": "|a|b|\n|-|-|\n" + "|x|y|\n" * 3000,
    "a wide table": "|" + "a|" * 4900 + "\n|" + "-|" * 4900 + "\n",
    "a table that is filled up": "|" + "a|" * 300 + "\n|" + "-|" * 300 + "\n" + "|\n" * 9000,
    "entities": repeat("&#x41;&amp;&"),
    "ampersands": repeat("&"),
    "tags": repeat("<a "),
    "comments": repeat("<!--"),
    "boxes": repeat("<div>"),
    "bold tags": repeat("a<b>*"),
    "instructions": repeat("<?"),
    "character data": repeat("<![CDATA["),
    "addresses": repeat("<http://"),
    "backslashes": repeat("\\"),
    "headings": repeat("#"),
    "underlines": repeat("a\n=\n"),
    "blanks": "a" + " " * (N - 2) + "b",
    "tabs": repeat("\t"),
    "lines": repeat("\n"),
    "NUL": repeat("\0"),
}


MOST_CALLS = 12_000_000  # of functions, those in C included: about a third of a second of processor time


def count_calls(text: str) -> int:
    """Return how many times functions are called and return while this text is rendered or refused."""
    calls = 0

    def count(*_: Any) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        html = html_of(text)
    except ValueError as error:
        assert str(error).startswith("Expected")
    else:
        assert len(html) < 10 * N
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("name", sample(ZOO, gate=4))
def test_no_text_needs_many_calls(name: str) -> None:
    assert count_calls(ZOO[name]) < MOST_CALLS


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
def test_each_limit_has_its_message(text: str, message: str) -> None:
    with pytest.raises(BadMarkdown) as caught:
        render(text)
    assert message in str(caught.value)


def test_a_text_that_takes_its_child_process_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_the_child_process_needs_little_memory() -> None:
    sandbox.run(markdown.CHILD, ZOO["open brackets"].encode(), seconds=5, memory=markdown.MEMORY)
    assert markdown.MEMORY < 500 << 20
    answer = sandbox.run(markdown.CHILD, b"*a*", seconds=5, memory=markdown.MEMORY)
    assert json.loads(answer) == {"html": "<p><em>a</em></p>\n"}


@pytest.mark.django_db
class TestMethodDescription:
    @pytest.fixture
    def owner(self) -> User:
        return User.objects.create_user("mia", "mia@example.com", "x")

    @pytest.fixture
    def client(self, owner: User) -> Client:
        return client_of(owner)

    def test_it_is_rendered_when_it_is_saved_and_not_when_it_is_shown(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hostile = "[" * 10_000
        data = {"name": "m", "made": "trained", "description": f"**bold** {hostile}"}
        assert client.post("/methods/new/", data).status_code == 302
        monkeypatch.setattr(markdown, "CHILD", "tests.nothing")
        page = client.get(Method.objects.get().get_absolute_url()).content.decode()
        assert "<strong>bold</strong>" in page

    def test_a_text_beyond_the_limits_is_an_error_of_the_form(self, client: Client) -> None:
        data = {"name": "m", "made": "trained", "description": "> " * 30 + "a"}
        answer = client.post("/methods/new/", data)
        assert answer.status_code == 400
        assert "at most 20 lists, quotes" in answer.content.decode()
        assert not Method.objects.exists()

    def test_a_text_without_stored_html_is_rendered_once_when_it_is_shown(
        self, owner: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        method = Method.objects.create(name="m", owner=owner, description="*late*")
        assert "<em>late</em>" in render_row(method, "description")
        method.refresh_from_db()
        assert method.description_html == html_of_form("*late*")
        method.description = "*changed*"
        assert "<em>changed</em>" in render_row(method, "description")

    def test_a_text_without_stored_html_beyond_the_limits_is_shown_as_plain_text(self, owner: User) -> None:
        method = Method.objects.create(name="m", owner=owner, description="> " * 30 + "<b>a")
        assert "&gt; &gt; &lt;b&gt;a" in render_row(method, "description")
