"""Two sites with different scores on withheld answers, but the same published figures, give the same answers."""

import functools
from collections.abc import Iterator

import pytest

from tests import riddle_site
from tests.crawl import Replies, Request, reply_of
from tests.riddle_site import SECRETS
from tests.webapp.secrecy.test_leaks import without_published_hashes
from webapp.leaderboards.models import Score

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

NAMES = ("test",) if riddle_site.BRIEFLY else ("test", "part", "train")
BOARDS = [f"/leaderboards/riddles/{name}/" for name in NAMES]
KINDS = ("json", "svg") if riddle_site.BRIEFLY else ("csv", "json", "svg", "pdf", "tex")
ROWS = ("", "?entry=m3", "?entry=m3--7-", "?entry=s3&entry=s4", "?entry=h1")
PROGRAMS = "/api/v1/"
DIFFERENT = [BOARDS[0], f"{BOARDS[0]}board.json", "/api/v1/submissions/3/", "/suites/riddles/"]  # for the owner
STRANGERS = ("member",) if riddle_site.BRIEFLY else ("visitor", "member")


def addresses() -> Iterator[str]:
    """Yield every address that shows scores."""
    for board in BOARDS:
        yield from (
            f"{board}{query}" for query in ("", "?show=latest", "?show=all", "?show=each", "?sort=date", "?q=a")
        )
        yield from (f"{board}{query}" for query in ("?sort=type", "?sort=shared", "?made=trained", "disclosure/"))
        yield from (f"{board}board.{kind}" for kind in ("csv", "json", "tex"))
        yield from (f"{board}template.{kind}" for kind in ("jsonl", "csv"))
        for page in ("slices", "compare", "pairs", "confusion", "costs", "questions", "curves", "steps"):
            yield from (f"{board}{page}/{query}" for query in ROWS)
            yield from (f"{PROGRAMS}boards/{board[14:]}{page}/{query}" for query in ROWS)
        for query in ("ranks=1", "weights=type:equal", "weigh=type", "sort=weighted&weights=type:split"):
            yield from (f"{board}?{query}", f"{board}board.csv?{query}", f"{PROGRAMS}boards/{board[14:]}?{query}")
        yield from (f"{board}views/", f"{PROGRAMS}boards/{board[14:]}views/", f"{board}questions/?right=yes&given=no")
        for page in ("slices", "compare", "pairs", "confusion", "costs", "curves", "curves/reached"):
            yield from (f"{board}{page}.{kind}?by=type" for kind in KINDS)
        yield from (
            f"{board}questions/?reply={state}{row}" for state in ("answered", "failed") for row in ("", "&entry=s3")
        )
        yield from (f"{board}{rest}" for rest in ("questions/0/", "questions/0/?entry=m3--7-", "settings/"))
        yield from (f"{board}?sort={sort}" for sort in ("coverage", "among-answered", "tokens", "cost", "latency"))
        yield from (
            f"{board}slices/?{query}" for query in ("by=type", "by=answer", "by=things&bands=1..3", "view=types")
        )
        yield f"{PROGRAMS}boards/{board[14:]}"
    for number in (1, 3, 4, 5, 9):
        yield from (
            f"/submissions/{number}/{rest}" for rest in ("", "progress/", "file/", "replies/", "findings/", "delete/")
        )
        yield from (f"{PROGRAMS}submissions/{number}/{rest}" for rest in ("", "slices/", "replies", "findings"))
        yield from (f"/methods/{number}/", f"{PROGRAMS}methods/{number}/")
    yield from ("/leaderboards/", "/methods/", "/submissions/", "/suites/", "/suites/riddles/", "/datasets/riddles/")
    yield from (f"/suites/riddles/board.{kind}" for kind in ("csv", "json", "tex"))
    yield from (f"/suites/riddles/grid{end}" for end in ("/", ".csv", ".json", ".tex", ".svg", ".pdf"))
    yield from (f"{PROGRAMS}{name}/" for name in ("submissions", "methods", "suites"))
    yield from (f"{PROGRAMS}suites/riddles/{rest}" for rest in ("", "grid/"))
    yield "/submissions/new/?to=riddles/test"
    people = "/datasets/riddles/test/people/"
    yield from (f"{people}{rest}" for rest in ("", "1/", "1/slices.csv", "1/slices.json", "1/predictions.jsonl"))


@functools.cache
def request_as_each(secret: str) -> tuple[dict[str, Replies], list[int]]:
    """Request these addresses as each visitor or user, and return their answers and the withheld scores."""
    with riddle_site.site(secret):
        requests = [Request("GET", address) for address in addresses()]
        replies = {}
        for who in (*STRANGERS, "owner"):
            client = riddle_site.browser(who)()
            asked = [Request("GET", one) for one in DIFFERENT] if who == "owner" and riddle_site.BRIEFLY else requests
            answers = {request: reply_of(client, request) for request in asked}
            replies[who] = without_published_hashes(answers, riddle_site.published())
        rights = list(Score.objects.filter(split__withheld=True).order_by("pk").values_list("right", flat=True))
        return replies, rights


@pytest.mark.parametrize("who", STRANGERS)
def test_users_who_may_not_see_answers_get_the_same_pages_for_all_scores(who: str) -> None:
    (first, rights), (second, others) = map(request_as_each, SECRETS)
    assert rights != others, "or nothing could differ"
    assert [one.address for one in first[who] if first[who][one] != second[who][one]] == []
    statuses = {one.address: reply.status for one, reply in first[who].items()}
    assert {
        statuses[f"{BOARDS[0]}{page}/"]
        for page in ("slices", "compare", "pairs", "confusion", "costs", "questions", "curves", "steps")
    } == {403}
    assert statuses[BOARDS[0]] == statuses["/submissions/3/"] == statuses["/suites/riddles/"] == 200
    assert statuses["/suites/riddles/grid/"] == statuses[f"{PROGRAMS}suites/riddles/grid/"] == 200


def test_the_owner_sees_the_different_scores() -> None:
    (first, _), (second, _) = map(request_as_each, SECRETS)
    different = {one.address for one in first["owner"] if first["owner"][one] != second["owner"][one]}
    assert different.issuperset(DIFFERENT)
