"""A question set of a withheld split tells no more than the split: neither what it has nor what is asked of it."""

import pytest

from generation.models import Split
from generation.splits.split_recipes import read_recipe
from tests import riddle_site
from tests.crawl import Replies, Request, reply_of
from tests.riddle_site import QUERIES, SECRETS
from tests.webapp.secrecy.test_leaks import apart

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

SET = "/datasets/riddles/part/"
PAGES = (SET, *(f"{SET}q/{number}/" for number in range(6)), f"{SET}open/", f"{SET}derive/", f"{SET}delete/")
ASKED = ("?type=riddle", "?answer=untypically", "?things=2..4")
PICTURES = tuple(f"{SET}scene/0/{kind}0000.png" for kind in ("", "ids/"))


def met_by(who: str, secret: str) -> tuple[Replies, set[str]]:
    """Return what somebody meets at the addresses of the set, and the words that only its owner may see."""
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
        return apart(replies, riddle_site.published()), riddle_site.canaries()


def test_strangers_meet_the_same_whatever_the_secret() -> None:
    first, second = (met_by("visitor", secret) for secret in SECRETS)
    assert [one.address for one in first[0] if first[0][one] != second[0][one]] == []
    for replies, canaries in (first, second):
        assert [one for one, reply in replies.items() if any(reply.contains(word) for word in canaries)] == []
    statuses = {one.address: reply.status for one, reply in first[0].items()}
    assert statuses[f"{SET}q/4/"] == statuses[SET] == statuses[SET + ASKED[0]] == 200
    assert statuses[SET + ASKED[1]] == statuses[SET + ASKED[2]] == 400
    assert {statuses[page] for page in (*PICTURES, *PAGES[-4:])} == {404}


def test_owner_finds_the_answers_there() -> None:
    replies, canaries = met_by("owner", SECRETS[0])
    assert any(reply.contains(word) for reply in replies.values() for word in canaries)


def test_what_a_set_was_chosen_by_tells_nothing_either() -> None:
    with riddle_site.site(SECRETS[0]):
        recipes = [read_recipe(split.recipe) for split in Split.objects.filter(kind="derived", withheld=True)]
    assert [(recipe.filter, recipe.shares) for recipe in recipes] == [("type=riddle&q=picture", {})]
