"""Stepping from question to question: through a split, the results of a filter, or a list."""

import re

import pytest

from generation.browsing import sidebar
from generation.browsing.navigation import MAX_CHOSEN
from generation.models import Question, Split
from tests.proof import sample

BASE = "/datasets/shapes/train/"
WITHHELD = "/datasets/shapes/test/"


def text_of(response):
    return response.content.decode()


def found_by(client, query, *, base=BASE):
    groups = client.get(base + query).context["groups"]
    return [question.position for group in groups for question in group.questions]


def walked(client, address, *, way="following"):
    """Follow the link to the next or previous question to the end; return the positions of the questions."""
    seen = []
    while True:
        response = client.get(address)
        seen.append(response.context["question"].position)
        link = re.search(
            rf'rel="{"next" if way == "following" else "prev"}" data-key="[np]" href="([^"]+)"', text_of(response)
        )
        if link is None:
            return seen
        address = link[1].replace("&amp;", "&")


@pytest.mark.parametrize(
    "query",
    sample(
        [
            "?length=3..14",
            "?q=the",
            "?objects=3..6&q=of&length=..20",
            "?q=the&page=1",
            "?sort=words",
            "?sort=-length&objects=3..6",
        ],
        gate=3,
    ),
)
def test_next_and_previous_follow_the_filter_they_came_from(client, shapes, query):
    expected = found_by(client, query)
    assert len(expected) > 1
    assert walked(client, f"{BASE}q/{expected[0]}/{query}") == expected
    assert walked(client, f"{BASE}q/{expected[-1]}/{query}", way="previous") == expected[::-1]


def test_links_of_the_browse_page_keep_the_filter(client, shapes):
    query = "?length=3..14&q=the"
    page = text_of(client.get(BASE + query))
    links = re.findall(r'<a href="(/datasets/shapes/train/q/\d+/[^"]*)"><span class="number"', page)
    assert links
    assert all(link.endswith("?length=3..14&amp;q=the") for link in links)


def test_without_a_filter_the_address_has_no_query(client, shapes):
    assert walked(client, f"{BASE}q/0/") == list(range(16))
    assert 'href="/datasets/shapes/train/q/1/"' in text_of(client.get(f"{BASE}q/0/"))


def test_a_question_outside_the_filter_links_to_the_nearest_ones_inside(client, shapes):
    query = "?length=3..14"
    found = found_by(client, query)
    outside = next(position for position in range(1, 16) if position not in found)
    trail = client.get(f"{BASE}q/{outside}/{query}").context["trail"]
    assert trail.place is None
    assert trail.previous == max((one for one in found if one < outside), default=None)
    assert trail.following == min((one for one in found if one > outside), default=None)


def test_a_filter_that_finds_nothing_gives_no_next_and_no_previous_question(client, shapes):
    for query in ("?q=zebra", "?length=99.."):
        trail = client.get(f"{BASE}q/3/{query}").context["trail"]
        assert (trail.previous, trail.following, trail.place, trail.total) == (None, None, None, 0)
        assert client.get(trail.back).status_code == 200


def test_the_link_back_leads_to_the_page_with_the_question(client, shapes, monkeypatch):
    monkeypatch.setattr("generation.browsing.navigation.PER_PAGE", 6)
    monkeypatch.setitem(sidebar.page_of.__kwdefaults__, "size", 6)
    for query in ("", "?q=the"):
        for position in found_by(client, query or "?"):
            back = client.get(f"{BASE}q/{position}/{query}").context["trail"].back
            assert position in found_by(client, "", base=back)


def test_a_list_is_stepped_through_in_its_own_order(client, shapes):
    assert walked(client, f"{BASE}q/7/?list=7,3,15,3") == [7, 3, 15]
    response = client.get(f"{BASE}q/3/?list=7,3,15")
    assert (response.context["trail"].place, response.context["trail"].total) == (2, 3)
    assert "2 of 3 chosen" in " ".join(text_of(response).split())
    assert client.get(f"{BASE}q/4/?list=7,3").context["trail"].following == 7


def test_the_questions_of_one_scene_can_be_stepped_through(client, shapes):
    link = client.get(f"{BASE}q/5/").context["scene_list"]
    assert walked(client, f"{BASE}q/4/{link}") == [4, 5, 6, 7]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("?list=", "Expected a list of questions from 0 to 15"),
        ("?list=1,,2", "Expected a list of questions from 0 to 15"),
        ("?list=16", "got &#x27;16&#x27;"),
        ("?list=-1", "Expected a list of questions"),
        ("?list=1;2", "Expected a list of questions"),
        ("?list=²", "Expected a list of questions"),
        ("?list=" + "9" * 10_000, "Expected a list of questions"),
        ("?list=" + "1," * MAX_CHOSEN + "1", f"at most {MAX_CHOSEN} questions"),
        ("?list=1&length=5", "a list or filters, got both"),
        ("?type=nothing", "expected one of"),
        ("?nothing=1", "Expected a filter"),
        ("?q=" + "x" * 10_000, "at most 200 characters, got 10,000"),
        ("?q=%00", "zero character"),
        ("?page=0", "page number from 1"),
        ("?length=x..", "expected a range"),
        ("?" + "&".join(["length=5"] * 101), "at most 100 filters"),
        ("?ask=2", "Expected ask=1 or ask=0"),
        ("?show=yes", "Expected show=1 or show=0"),
        ("?present=" + "1" * 10_000, "Expected present=1 or present=0"),
        ("?%ff=%ff", "Expected a filter"),
    ],
)
def test_an_invalid_query_gets_400_with_a_message(client, shapes, query, says):
    response = client.get(f"{BASE}q/5/{query}")
    assert response.status_code == 400
    assert says in text_of(response)


@pytest.mark.parametrize("query", ["?answer=yes", "?objects=3..5"])
def test_filters_that_would_reveal_withheld_answers_are_refused(client, as_stranger, as_owner, shapes, query):
    for who in (client, as_stranger):
        response = who.get(f"{WITHHELD}q/1/{query}")
        assert response.status_code == 400
        assert "withheld" in text_of(response)
    assert as_owner.get(f"{WITHHELD}q/1/{query}").status_code == 200


def test_an_incomplete_split_cannot_be_filtered(client, shapes):
    Split.objects.filter(dataset=shapes, name="train").update(state=Split.State.MAKING)
    response = client.get(f"{BASE}q/5/?length=5")
    assert response.status_code == 400
    assert "isn&#x27;t complete" in text_of(response)


def test_following_a_filter_needs_no_more_queries(client, shapes, django_assert_num_queries):
    client.get(f"{BASE}q/5/")  # the spec is read once per process
    for query in ("?length=3..14&q=the", "?list=3,5,9"):
        with django_assert_num_queries(5):  # as without a filter
            client.get(f"{BASE}q/5/{query}")


def test_every_question_has_a_page(client, shapes):
    for position in Question.objects.filter(split__dataset=shapes, split__name="train").values_list(
        "position", flat=True
    ):
        assert client.get(f"{BASE}q/{position}/?q=the").status_code == 200
