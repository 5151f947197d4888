"""Questions are chosen on the browse page and stepped through one after the other."""

import re

import pytest

from generation.browsing import sidebar
from generation.browsing.navigation import MAX_PICKED
from tests.generation import small

TRAIN, TEST = "/datasets/shapes/train/", "/datasets/shapes/test/"


def text_of(response):
    return response.content.decode()


def fields_of(response):
    """Return the fields that a browser sends from the form for choosing questions if nothing on it is changed."""
    form = re.search(r'<form class="choosing".*?</form>', text_of(response), re.DOTALL)[0]
    hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', form)
    ticked = re.findall(r'<input type="checkbox" id="[^"]*" name="([^"]*)" value="([^"]*)"[^>]* checked>', form)
    fields = {}
    for name, value in hidden + ticked:
        fields.setdefault(name, []).append(value)
    return fields


def ticked(response):
    return fields_of(response).get("choose", [])


def test_each_question_has_a_box_with_a_label(client, shapes):
    page = text_of(client.get(TRAIN))
    assert page.count('type="checkbox" id="choose-') == 16
    assert 'aria-label="Choose question 7"' in page
    assert not ticked(client.get(TRAIN))


def test_chosen_questions_are_stepped_through_in_the_order_of_choice(client, shapes):
    response = client.get(TRAIN, {"list": "9", "choose": ["3", "12"], "then": "step"})
    assert (response.status_code, response["Location"]) == (302, f"{TRAIN}q/9/?list=9,3,12")
    assert client.get(response["Location"]).context["trail"].total == 3
    response = client.get(TRAIN, {"choose": ["3", "12"], "then": "present"})
    assert response["Location"] == f"{TRAIN}q/3/?list=3,12&present=1"
    assert client.get(response["Location"]).context["visit"].presents


def test_the_choice_is_in_the_address_and_links_of_filters_keep_it(client, shapes):
    response = client.get(TRAIN, {"q": "the", "list": "9", "choose": "3"})
    assert (response.status_code, response["Location"]) == (302, "?q=the&list=9,3")
    response = client.get(TRAIN + "?length=3..30&q=the&list=9,3")
    for panel in response.context["panels"]:
        assert all("list=9,3" in choice.address for choice in panel.choices)
        assert ("list", "9,3") in panel.kept
    assert all("list=9,3" in chip.address for chip in response.context["chips"])
    assert 'href="?list=9,3">Remove all' in text_of(response)
    for group in response.context["groups"]:
        for question in group.questions:
            assert f'/q/{question.position}/?length=3..30&amp;q=the"' in text_of(response)


def test_the_form_keeps_the_choice_over_pages(client, shapes, monkeypatch):
    monkeypatch.setitem(sidebar.page_of.__kwdefaults__, "size", 6)
    response = client.get(TRAIN)
    response = client.get(TRAIN, fields_of(response) | {"choose": ["4", "2"], "then": "keep"}, follow=True)
    assert ticked(response) == ["2", "4"]
    response = client.get(TRAIN + response.context["page"].next)
    assert (ticked(response), fields_of(response)) == ([], {"list": ["4,2"], "page": ["2"]})
    response = client.get(TRAIN, fields_of(response) | {"choose": ["8"], "then": "keep"}, follow=True)
    assert response.context["query"].chosen == (4, 2, 8)
    assert response.context["page"].number == 2
    back = client.get(TRAIN + response.context["page"].previous)
    fields = fields_of(back)
    fields["choose"].remove("4")  # the box is cleared
    response = client.get(TRAIN, fields | {"then": "step"})
    assert response["Location"] == f"{TRAIN}q/8/?list=8,2"


def test_clearing_the_last_box_leaves_nothing_chosen(client, shapes):
    fields = fields_of(client.get(TRAIN + "?q=the&list=3"))
    fields.pop("choose", None)
    assert client.get(TRAIN, fields | {"then": "keep"})["Location"].startswith("?q=the")
    assert client.get(TRAIN, fields).context["query"].chosen in ((), (3,))


def test_chosen_questions_are_shown_and_can_be_removed_and_shared(client, shapes):
    response = client.get(TRAIN + "?list=9,3")
    assert [(chip.value, chip.address) for chip in response.context["chosen"]] == [("9", "?list=3"), ("3", "?list=9")]
    assert "<b>2</b> chosen" in text_of(response)
    shared = re.search(r'<input id="shared" readonly value="([^"]*)">', text_of(response))[1]
    assert shared == f"http://testserver{TRAIN}q/9/?list=9,3"
    assert client.get(shared).status_code == 200


def test_the_link_back_from_chosen_questions_keeps_the_choice(client, shapes):
    assert client.get(f"{TRAIN}q/3/?list=9,3").context["trail"].back == f"{TRAIN}?list=9,3"


def test_a_list_that_is_too_long_to_choose_can_still_be_stepped_through(client, shapes, monkeypatch):
    monkeypatch.setattr("generation.browsing.navigation.MAX_PICKED", 2)
    response = client.get(f"{TRAIN}q/3/?list=9,3,5")
    assert (response.status_code, response.context["trail"].back) == (200, TRAIN)


def test_choosing_withheld_questions_reveals_nothing(client, shapes):
    response = client.get(TEST, {"choose": ["1", "0"], "then": "step"}, follow=True)
    assert response.status_code == 200
    assert "withheld" in text_of(response)
    assert small.SECRET not in text_of(response)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("?list=16", "Expected a list of questions from 0 to 15"),
        ("?list=1;2", "Expected a list of questions"),
        ("?list=1,,2", "Expected a list of questions"),
        ("?list=" + "9" * 10_000, "Expected a list of questions"),
        ("?list=%3Cscript%3E", "got &#x27;&lt;script&gt;&#x27;"),
        ("?choose=", "Expected a list of questions"),
        ("?choose=-1", "Expected a list of questions"),
        ("?choose=²", "Expected a list of questions"),
        ("?choose=1e3", "Expected a list of questions"),
        ("?choose=" + "x" * 10_000, "Expected a list of questions"),
        ("?choose=%00", "Expected a list of questions"),
        ("?then=delete&choose=1", "Expected then=keep, then=step or then=present, got &#x27;delete&#x27;"),
        ("?then=" + "x" * 10_000, "Expected then=keep"),
        ("?then=step", "Expected chosen questions, got none: tick the box"),
        ("?then=present&list=", "Expected chosen questions, got none"),
        ("?then=step&choose=1&type=nothing", "expected one of"),
        ("?list=3&page=2", "Expected a page from 1 to 1"),
    ],
)
def test_an_invalid_choice_is_refused_with_a_message(client, shapes, query, says):
    response = client.get(TRAIN + query)
    assert response.status_code == (404 if "page=2" in query else 400)
    assert says in text_of(response)


def test_too_many_chosen_questions_are_refused(client, shapes, monkeypatch):
    monkeypatch.setattr("generation.browsing.navigation.MAX_PICKED", 3)
    response = client.get(TRAIN + "?list=1,2&choose=3&choose=4&then=keep")
    assert response.status_code == 400
    assert "at most 3 chosen questions, got 4" in text_of(response)


def test_a_page_of_many_choices_stays_small(client, shapes):
    """Each link of the page contains the list of chosen questions; the limit of the list keeps the page small."""
    split = shapes.splits.get(name="train")
    type(split).objects.filter(pk=split.pk).update(questions=2_000_000)
    chosen = ",".join(str(1_000_000 + number) for number in range(MAX_PICKED))
    response = client.get(f"{TRAIN}?list={chosen}")
    assert response.status_code == 200
    assert len(response.content) < 500_000
    assert len(response.request["QUERY_STRING"]) < 2_000
