"""The questions of a split, by filters in the address."""

import re

import pytest

from generation import paging
from generation.browse import Query
from generation.models import Question, Split
from generation.paging import NoSuchPage, page_of

TRAIN, TEST = "/datasets/shapes/train/", "/datasets/shapes/test/"
# The question's words say these; of what the train split had seen, other splits tell.
PLAIN = {"group", "type", "template", "length", "words", "topology", "spatial", "same", "skeleton"}
SEEN = {"seen_text", "seen_program", "seen_skeleton", "seen_pair"}
REVEALING = {"answer", "objects", "effective", "absolute", "asked_shape"}


def text_of(response):
    return response.content.decode()


def positions(response):
    return [question.position for group in response.context["groups"] for question in group.questions]


def test_every_question_stands_beside_its_scene(client, shapes):
    response = client.get(TRAIN)
    assert positions(response) == list(range(16))
    assert [group.scene for group in response.context["groups"]] == [0, 1, 2, 3]
    page = text_of(response)
    assert page.count("<img") == 4
    assert page.count("<h1") == 1
    for image in re.findall(r"<img[^>]*>", page):
        assert 'alt="Picture of scene' in image
        assert 'width="120" height="80"' in image


def test_a_filter_shows_exactly_the_questions_that_pass(client, shapes):
    kind = Question.objects.filter(split__name="train").values_list("kind", flat=True)[3]
    expected = Question.objects.filter(split__dataset=shapes, split__name="train", kind=kind)
    assert positions(client.get(TRAIN, {"type": kind})) == sorted(expected.values_list("position", flat=True))


def test_values_of_one_facet_are_joined_by_or_and_facets_by_and(client, shapes):
    rows = list(Question.objects.filter(split__dataset=shapes, split__name="train").order_by("position"))
    kinds = sorted({row.kind for row in rows})[:2]
    expected = [row.position for row in rows if row.kind in kinds and 6 <= len(row.steps) <= 20]
    assert positions(client.get(TRAIN, {"type": kinds, "length": "6..20"})) == expected


def test_counts_say_what_choosing_a_value_would_give(client, shapes):
    panels = client.get(TRAIN, {"length": "5.."}).context["panels"]
    assert {panel.name for panel in panels} == PLAIN | REVEALING
    for panel in panels:
        for choice in panel.choices:
            if not choice.chosen:
                response = client.get(TRAIN + choice.address)
                total = response.context["page"].total
                assert total == choice.n if panel.name != "length" else total >= choice.n


def test_words_are_all_searched_for_whatever_their_case(client, shapes):
    word = Question.objects.get(split__dataset=shapes, split__name="train", position=5).text.split()[1]
    response = client.get(TRAIN, {"q": word.upper()})
    assert 5 in positions(response)
    for group in response.context["groups"]:
        for question in group.questions:
            assert re.search(rf"\b{re.escape(word.lower())}\b", question.text.lower())


def test_active_filters_are_chips_that_take_themselves_away(client, shapes):
    chips = client.get(TRAIN, {"length": "3..30", "q": "the"}).context["chips"]
    assert [(chip.name, chip.value, chip.address) for chip in chips] == [
        ("program length", "3 to 30", "?q=the"),
        ("words", "the", "?length=3..30"),
    ]


def test_nothing_found_says_so_and_how_to_go_on(client, shapes):
    response = client.get(TRAIN, {"q": "zebra"})
    assert response.status_code == 200
    assert "No question passes these filters" in text_of(response)


def test_the_form_of_a_range_leads_to_its_address(client, shapes):
    response = client.get(TRAIN, {"length.from": "4", "length.to": "9", "type": "count"})
    assert response.status_code == 302
    assert response["Location"] == "?type=count&length=4..9"


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("?typ=count", "Expected a filter"),
        ("?type=nothing", "expected one of"),
        ("?length=x..y", "expected a range"),
        ("?length=90..99", "expected numbers of"),
        ("?page=0", "page number from 1"),
        ("?page=-1", "page number from 1"),
        ("?page=1e9", "page number from 1"),
        ("?q=" + "x" * 10_000, "at most 200 characters, got 10,000"),
        ("?q=%00", "zero character"),
        ("?type=%ff", "expected one of"),
        ("?length.from=a", "expected a range"),
        ("?" + "&".join(["length=5"] * 101), "at most 100 filters"),
    ],
)
def test_what_makes_no_sense_is_400_in_words(client, shapes, query, says):
    response = client.get(TRAIN + query)
    assert response.status_code == 400
    assert says in text_of(response)


def test_a_page_past_the_end_is_404_in_words(client, shapes):
    response = client.get(TRAIN + "?page=2")
    assert response.status_code == 404
    assert "from 1 to 1, got 2" in text_of(response)


def test_every_question_is_on_one_page(client, shapes, monkeypatch):
    monkeypatch.setattr(paging, "PER_PAGE", 6)
    monkeypatch.setitem(paging.page_of.__kwdefaults__, "size", 6)
    found = [positions(client.get(TRAIN, {"page": number})) for number in (1, 2, 3)]
    assert [len(page) for page in found] == [6, 6, 4]
    assert [number for page in found for number in page] == list(range(16))


def test_page_numbers_show_the_ends_and_the_neighbours():
    links = page_of(Query(page=10), 1000, size=50).links
    assert [link.number for link in links] == [1, None, 8, 9, 10, 11, 12, None, 20]
    with pytest.raises(NoSuchPage):
        page_of(Query(page=21), 1000, size=50)
    assert page_of(Query(), 0).pages == 1


def test_withheld_answers_show_on_no_part_of_the_page(client, shapes):
    response = client.get(TEST)
    page = text_of(response)
    assert "Answers are withheld" in page
    assert 'class="answer"' not in page
    assert {panel.name for panel in response.context["panels"]} == PLAIN | SEEN
    assert page.count("<img") == 2


@pytest.mark.parametrize(
    "query", ["?answer=yes", "?objects=3..5", "?objects.from=3", "?effective=2", "?absolute=enough"]
)
def test_filters_that_would_reveal_withheld_answers_are_refused(client, as_stranger, as_owner, shapes, query):
    for who in (client, as_stranger):
        response = who.get(TEST + query, follow=True)
        assert response.status_code == 400
        assert "withheld" in text_of(response)
    assert as_owner.get(TEST + query, follow=True).status_code == 200


def test_strangers_get_404_for_a_private_dataset(client, as_stranger, private):
    assert client.get(TRAIN).status_code == 404
    assert as_stranger.get(TRAIN).status_code == 404


def test_a_split_that_is_not_complete_says_so(client, shapes):
    Split.objects.filter(dataset=shapes, name="train").update(state=Split.State.MAKING)
    response = client.get(TRAIN)
    assert response.status_code == 200
    assert "isn&#x27;t complete" in text_of(response) or "isn't complete" in text_of(response)


@pytest.mark.parametrize("address", ["/datasets/shapes/nothing/", "/datasets/nothing/train/", "/datasets/shapes/9x/"])
def test_what_is_not_there_is_404(client, shapes, address):
    assert client.get(address).status_code == 404


def test_browsing_refuses_other_verbs(client, shapes):
    assert client.post(TRAIN).status_code == 405


def test_browsing_needs_three_queries_whatever_the_filters(client, shapes, django_assert_num_queries):
    for query in ("", "?length=3..30&q=the"):
        with django_assert_num_queries(3):
            client.get(TRAIN + query)


def test_a_dataset_without_pictures_is_browsed_all_the_same(client, shapes):
    shapes.splits.get(name="train").scene_set.update(image="", ids_image="", width=0, height=0)
    response = client.get(TRAIN)
    assert response.status_code == 200
    assert "no picture" in text_of(response)
