"""A question set of a withheld split reveals no more than the split, neither by its pages nor by its filters."""

import pytest

from generation.models import Split
from generation.splits.split_recipes import read_recipe
from tests import riddle_site
from tests.crawl import Replies, Request, reply_of
from tests.riddle_site import QUERIES, SECRETS
from tests.webapp.secrecy.test_leaks import without_published_hashes

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

SET = "/datasets/riddles/part/"
PAGES = (SET, *(f"{SET}q/{number}/" for number in range(6)), f"{SET}open/", f"{SET}derive/", f"{SET}delete/")
ASKED = ("?type=riddle", "?answer=untypically", "?things=2..4")
PICTURES = tuple(f"{SET}scene/0/{kind}0000.png" for kind in ("", "ids/"))


def request_as(who: str, secret: str) -> tuple[Replies, set[str]]:
    """Request the addresses of the set as a visitor or user; return the answers and the words for its owner only."""
    with riddle_site.site(secret):
        client = riddle_site.browser(who)()
        addresses = [*PAGES, *PICTURES, *(page + query for page in PAGES[:2] for query in QUERIES)]
        addresses += [
            "/datasets/riddles/",
            "/datasets/riddles/?split=part",
            "/datasets/riddles/charts/answers.csv?split=part",
            *(SET + query for query in ASKED),
        ]
        replies = {Request("GET", address): reply_of(client, Request("GET", address)) for address in addresses}
        return without_published_hashes(replies, riddle_site.published()), riddle_site.canaries()


def test_strangers_get_the_same_pages_for_all_secrets() -> None:
    first, second = (request_as("visitor", secret) for secret in SECRETS)
    assert [one.address for one in first[0] if first[0][one] != second[0][one]] == []
    for replies, canaries in (first, second):
        assert [one for one, reply in replies.items() if any(reply.contains(word) for word in canaries)] == []
    statuses = {one.address: reply.status for one, reply in first[0].items()}
    assert statuses[f"{SET}q/4/"] == statuses[SET] == statuses[SET + ASKED[0]] == 200
    assert statuses[SET + ASKED[1]] == statuses[SET + ASKED[2]] == 400
    assert {statuses[page] for page in (*PICTURES, *PAGES[-4:])} == {404}


def test_the_owner_finds_the_answers() -> None:
    replies, canaries = request_as("owner", SECRETS[0])
    assert any(reply.contains(word) for reply in replies.values() for word in canaries)


def test_the_recipe_of_a_set_reveals_nothing() -> None:
    with riddle_site.site(SECRETS[0]):
        recipes = [read_recipe(split.recipe) for split in Split.objects.filter(kind="derived", withheld=True)]
    assert [(recipe.filter, recipe.shares) for recipe in recipes] == [("type=riddle&q=picture", {})]
