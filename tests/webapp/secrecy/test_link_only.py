"""A link-only dataset is not named on any other page. The crawler requests every page and list as a stranger."""

import re
from collections.abc import Iterator

import pytest
from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker

from annotations.models import Study
from generation.models import Dataset, Export, Split
from tests.crawl import Replies, Reply, Request, crawl, reply_of
from tests.riddle_site import BRIEFLY, MOST, MOST_LINKS, OTHER_WAYS, PEOPLE, STUDY, browser, site_with_link_only
from webapp.leaderboards.models import Method, Submission

pytestmark = pytest.mark.slow  # not `django_db`, which ends the transaction that the tests share

SLUG, TITLE = "undertow", "Murmuring brooks"
KNOWN = (40, 41)  # a method and a submission that everybody may see
LISTS = (
    "/", "/datasets/", "/leaderboards/", "/methods/", "/suites/", "/suites/mixed/", "/suites/mixed/board.json",
    "/suites/mixed/board.csv", "/submissions/", "/api/v1/datasets/", "/api/v1/methods/", "/api/v1/suites/",
    "/api/v1/suites/mixed/", "/suites/mixed/grid/", "/suites/mixed/grid.json", "/api/v1/suites/mixed/grid/",
    f"/datasets/?q={SLUG[:4]}", "/leaderboards/riddles/train/",
    "/leaderboards/riddles/train/board.json", "/leaderboards/riddles/train/curves/",
)  # fmt: skip


@pytest.fixture(scope="module")
def linked_site(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Make a site with a link-only dataset for all tests of this module."""
    with django_db_blocker.unblock(), site_with_link_only(SLUG, TITLE):
        yield


@pytest.fixture
def linked(linked_site: None) -> Iterator[Dataset]:
    """Give a link-only dataset with board, baselines, published method, suite, study, export and question set."""
    with transaction.atomic():
        yield Dataset.objects.get(slug=SLUG)
        transaction.set_rollback(True)


def names_dataset(reply: Reply) -> bool:
    return reply.contains(SLUG) or reply.contains(TITLE)


def crawl_without_name(who: str) -> Replies:
    """Crawl every route with every number as a visitor or user, but without the dataset's name."""
    numbers = sorted({*Submission.objects.values_list("pk", flat=True), *Method.objects.values_list("pk", flat=True)})
    if BRIEFLY:
        hidden = Submission.objects.filter(split__dataset__slug=SLUG).values_list("pk", flat=True)
        numbers = sorted({*hidden, *KNOWN})
    values = {
        "slug": ["mixed", "riddles"] if BRIEFLY else ["mixed", "riddles", "nothing"],
        "name": ["train"],
        "split": ["train"],
        "number": [*map(str, numbers), "9999"],
        "position": ["0", "9999"] if BRIEFLY else [*map(str, numbers), "9999"],
        "export": list(map(str, Export.objects.values_list("pk", flat=True))),
        "code": [STUDY, *Study.objects.values_list("code", flat=True)],
        "kind": ["json"] if BRIEFLY else ["csv", "json", "tex"],
        "pk": [str(Dataset.objects.get(slug=SLUG).pk)],
        "job": ["1"],
    }
    limits = {
        "combined": not BRIEFLY,
        "most": min(3, MOST),
        "most_links": MOST_LINKS,
        "variants": () if BRIEFLY else OTHER_WAYS,
    }
    replies = crawl(
        browser(who), values=values, queries=["?q=brook"] if BRIEFLY else ["?q=brook", "?format=json"], **limits
    )
    client = browser(who)()
    for address in LISTS:
        replies[Request("GET", address)] = reply_of(client, Request("GET", address))
    return replies


@pytest.mark.parametrize("who", [one for one in PEOPLE if one != "member"])  # the member has a submission to it
def test_strangers_find_the_name_and_the_title_nowhere(linked: Dataset, who: str) -> None:
    replies = crawl_without_name(who)
    assert [request for request, reply in replies.items() if names_dataset(reply)] == []
    assert [request for request, reply in replies.items() if reply.status >= 500] == []
    statuses = {request.address: reply.status for request, reply in replies.items() if request.method == "GET"}
    for number in Submission.objects.filter(split__dataset=linked).values_list("pk", flat=True):
        assert statuses[f"/submissions/{number}/"] == statuses[f"/api/v1/submissions/{number}/"] == 404
    assert (
        statuses[f"/submissions/{KNOWN[1]}/"] == statuses[f"/methods/{KNOWN[0]}/"] == statuses["/suites/mixed/"] == 200
    )


def test_visitors_with_the_address_see_pages_and_boards_but_no_link_to_a_hidden_submission(linked: Dataset) -> None:
    client = browser("visitor")()
    pages = [f"/datasets/{SLUG}/", f"/leaderboards/{SLUG}/train/", f"/api/v1/boards/{SLUG}/train/"]
    replies = [reply_of(client, Request("GET", page)) for page in pages]
    assert [reply.status for reply in replies] == [200, 200, 200]
    assert all(names_dataset(reply) for reply in replies)
    assert b"Another rule" in replies[1].body
    assert not re.search(rb"/submissions/[0-9]", replies[1].body)


def test_the_owners_of_the_dataset_and_of_the_submission_see_its_name(linked: Dataset) -> None:
    pages = ["/methods/40/", "/submissions/40/", "/api/v1/submissions/40/"]
    for who in ("owner", "member"):
        client = browser(who)()
        assert all(names_dataset(reply_of(client, Request("GET", page))) for page in pages), who


def test_the_submission_page_of_a_suite_does_not_name_the_dataset(linked: Dataset) -> None:
    assert Split.objects.filter(dataset=linked, kind="derived").exists()
    client = browser("researcher")()
    Method.objects.create(name="Mine", owner_id=client.session["_auth_user_id"])
    page = reply_of(client, Request("GET", "/submissions/new/?to=suite/mixed"))
    assert page.status == 200 and not names_dataset(page)
