"""A question set of a withheld split reveals no more than the split, neither by its pages nor by its filters."""

import functools
from typing import NamedTuple

import pytest

from generation.models import Split
from generation.splits.split_recipes import Recipe, read_recipe
from tests import riddle_site
from tests.crawl import Replies, Request, reply_of
from tests.riddle_site import QUERIES, SECRETS
from tests.webapp.secrecy.test_leaks import without_published_hashes

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

SET = "/datasets/riddles/part/"
PAGES = (SET, *(f"{SET}q/{number}/" for number in range(6)), f"{SET}open/", f"{SET}derive/", f"{SET}delete/")
ASKED = ("?type=riddle", "?answer=untypically", "?things=2..4")
PICTURES = tuple(f"{SET}scene/0/{kind}0000.png" for kind in ("", "ids/"))


class Answers(NamedTuple):
    """The answers to a visitor and to the owner, the words for the owner only, and the recipes of withheld sets."""

    visitor: Replies
    owner: Replies
    canaries: set[str]
    recipes: list[Recipe]


@functools.cache
def answers_of(secret: str) -> Answers:
    """Request the addresses of the set of the site that a secret determines."""
    with riddle_site.site(secret):
        return Answers(
            visitor=request_as("visitor"),
            owner=request_as("owner"),
            canaries=riddle_site.canaries(),
            recipes=[read_recipe(split.recipe) for split in Split.objects.filter(kind="derived", withheld=True)],
        )


def request_as(who: str) -> Replies:
    client = riddle_site.browser(who)()
    addresses = [*PAGES, *PICTURES, *(page + query for page in PAGES[:2] for query in QUERIES)]
    addresses += [
        "/datasets/riddles/",
        "/datasets/riddles/?split=part",
        "/datasets/riddles/charts/answers.csv?split=part",
        *(SET + query for query in ASKED),
    ]
    replies = {Request("GET", address): reply_of(client, Request("GET", address)) for address in addresses}
    return without_published_hashes(replies, riddle_site.published())


def test_strangers_get_the_same_pages_for_all_secrets() -> None:
    first, second = map(answers_of, SECRETS)
    assert [one.address for one in first.visitor if first.visitor[one] != second.visitor[one]] == []
    for answers in (first, second):
        leaks = [one for one, reply in answers.visitor.items() if any(map(reply.contains, answers.canaries))]
        assert leaks == []
    statuses = {one.address: reply.status for one, reply in first.visitor.items()}
    assert statuses[f"{SET}q/4/"] == statuses[SET] == statuses[SET + ASKED[0]] == 200
    assert statuses[SET + ASKED[1]] == statuses[SET + ASKED[2]] == 400
    assert {statuses[page] for page in (*PICTURES, *PAGES[-4:])} == {404}


def test_the_owner_finds_the_answers() -> None:
    answers = answers_of(SECRETS[0])
    assert any(reply.contains(word) for reply in answers.owner.values() for word in answers.canaries)


def test_the_recipe_of_a_set_reveals_nothing() -> None:
    recipes = answers_of(SECRETS[0]).recipes
    assert [(recipe.filter, recipe.shares) for recipe in recipes] == [("type=riddle&q=picture", {})]
