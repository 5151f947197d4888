"""The page that lists the questions of a split, filtered by its address."""

import re

import pytest

from generation.browsing import sidebar
from generation.browsing.sidebar import NoSuchPage, page_of
from generation.models import Question, Split
from generation.splits.query_string import Query
from generation.storage.split_index import SplitIndex

TRAIN, TEST = "/datasets/shapes/train/", "/datasets/shapes/test/"
# Plain facets reveal no more than the text of the question. Only splits other than train have the facets in SEEN,
# which compare a question with those of train.
PLAIN = {"group", "type", "template", "length", "words", "topology", "spatial", "same", "skeleton"}
SEEN = {"seen_text", "seen_program", "seen_skeleton", "seen_pair"}
REVEALING = {"answer", "objects", "effective", "absolute", "asked_shape"}


def text_of(response):
    return response.content.decode()


def positions(response):
    return [question.position for group in response.context["groups"] for question in group.questions]


def test_every_question_is_shown_with_its_scene(client, shapes):
    response = client.get(TRAIN)
    assert positions(response) == list(range(16))
    assert [group.scene for group in response.context["groups"]] == [0, 1, 2, 3]
    page = text_of(response)
    assert page.count("<img") == 4
    assert page.count("<h1") == 1
    for image in re.findall(r"<img[^>]*>", page):
        assert 'alt="Picture of scene' in image
        assert 'width="120" height="80"' in image


def test_a_filter_shows_exactly_the_matching_questions(client, shapes):
    kind = Question.objects.filter(split__name="train").values_list("kind", flat=True)[3]
    expected = Question.objects.filter(split__dataset=shapes, split__name="train", kind=kind)
    assert positions(client.get(TRAIN, {"type": kind})) == sorted(expected.values_list("position", flat=True))


def test_values_of_one_facet_are_joined_by_or_and_facets_by_and(client, shapes):
    rows = list(Question.objects.filter(split__dataset=shapes, split__name="train").order_by("position"))
    kinds = sorted({row.kind for row in rows})[:2]
    expected = [row.position for row in rows if row.kind in kinds and 6 <= len(row.steps) <= 20]
    assert positions(client.get(TRAIN, {"type": kinds, "length": "6..20"})) == expected


def test_counts_are_the_numbers_of_questions_after_choosing_a_value(client, shapes):
    panels = client.get(TRAIN, {"length": "5.."}).context["panels"]
    assert {panel.name for panel in panels} == PLAIN | REVEALING
    for panel in panels:
        for choice in panel.choices:
            if not choice.chosen:
                response = client.get(TRAIN + choice.address)
                total = response.context["page"].total
                assert total == choice.n if panel.name != "length" else total >= choice.n


def test_the_search_for_words_ignores_case(client, shapes):
    word = Question.objects.get(split__dataset=shapes, split__name="train", position=5).text.split()[1]
    response = client.get(TRAIN, {"q": word.upper()})
    assert 5 in positions(response)
    for group in response.context["groups"]:
        for question in group.questions:
            assert re.search(rf"\b{re.escape(word.lower())}\b", question.text.lower())


def test_active_filters_are_chips_whose_links_remove_them(client, shapes):
    chips = client.get(TRAIN, {"length": "3..30", "q": "the"}).context["chips"]
    assert [(chip.name, chip.value, chip.address) for chip in chips] == [
        ("program length", "3 to 30", "?q=the"),
        ("words", "the", "?length=3..30"),
    ]


def test_an_empty_result_says_that_no_question_matches(client, shapes):
    response = client.get(TRAIN, {"q": "zebra"})
    assert response.status_code == 200
    assert "No question matches these filters" in text_of(response)


def test_the_form_of_a_range_redirects_to_its_address(client, shapes):
    response = client.get(TRAIN, {"length.from": "4", "length.to": "9", "type": "count"})
    assert response.status_code == 302
    assert response["Location"] == "?type=count&length=4..9"


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("?typ=count", "Expected a filter"),
        ("?type=nothing", "expected one of"),
        ("?length=x..y", "expected a range"),
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
def test_an_invalid_query_gets_400_with_a_message(client, shapes, query, says):
    response = client.get(TRAIN + query)
    assert response.status_code == 400
    assert says in text_of(response)


@pytest.mark.parametrize(
    ("ends", "address", "chip"),
    [
        ({"from": "90", "to": "99"}, "length=90..99", "90 to 99"),
        ({"from": "12", "to": "4"}, "length=12..4", "12 to 4"),
        ({"from": "0", "to": "0"}, "length=0", "0"),
        ({"to": "1"}, "length=..1", "up to 1"),
        ({"from": "999999999"}, "length=999999999..", "999999999 or more"),
    ],
)
def test_a_range_without_questions_keeps_the_list_and_can_be_removed(client, shapes, ends, address, chip):
    fields = {f"length.{end}": value for end, value in ends.items()}
    response = client.get(TRAIN, fields | {"type": "count"}, follow=True)
    assert response.redirect_chain == [(f"?type=count&{address}", 302)]
    assert response.status_code == 200
    assert response.context["page"].total == 0
    assert [(one.value, one.address) for one in response.context["chips"]][-1] == (chip, "?type=count")
    assert "No question matches these filters" in text_of(response)


def test_a_range_box_accepts_only_numbers_that_its_address_accepts(client, shapes):
    boxes = re.findall(r'<input type="number"[^>]*>', client.get(TRAIN).content.decode())
    assert boxes
    for box in boxes:
        assert 'min="0"' in box
        assert 'max="999999999"' in box


def test_a_page_past_the_end_gets_404_with_a_message(client, shapes):
    response = client.get(TRAIN + "?page=2")
    assert response.status_code == 404
    assert "from 1 to 1, got 2" in text_of(response)


def test_every_question_is_on_exactly_one_page(client, shapes, monkeypatch):
    monkeypatch.setattr(sidebar, "PER_PAGE", 6)
    monkeypatch.setitem(sidebar.page_of.__kwdefaults__, "size", 6)
    found = [positions(client.get(TRAIN, {"page": number})) for number in (1, 2, 3)]
    assert [len(page) for page in found] == [6, 6, 4]
    assert [number for page in found for number in page] == list(range(16))


def test_page_numbers_show_the_ends_and_the_neighbours():
    links = page_of(Query(page=10), 1000, size=50).links
    assert [link.number for link in links] == [1, None, 8, 9, 10, 11, 12, None, 20]
    with pytest.raises(NoSuchPage):
        page_of(Query(page=21), 1000, size=50)
    assert page_of(Query(), 0).pages == 1


def test_withheld_answers_are_nowhere_on_the_page(client, shapes):
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


def test_the_page_of_an_incomplete_split_says_so(client, shapes):
    Split.objects.filter(dataset=shapes, name="train").update(state=Split.State.MAKING)
    response = client.get(TRAIN)
    assert response.status_code == 200
    assert "isn&#x27;t complete" in text_of(response) or "isn't complete" in text_of(response)


@pytest.mark.parametrize("address", ["/datasets/shapes/nothing/", "/datasets/nothing/train/", "/datasets/shapes/9x/"])
def test_an_unknown_split_or_dataset_gets_404(client, shapes, address):
    assert client.get(address).status_code == 404


def test_browsing_refuses_other_verbs(client, shapes):
    assert client.post(TRAIN).status_code == 405


def test_browsing_needs_four_queries_with_or_without_filters(client, shapes, django_assert_num_queries):
    """One each for the split, the questions, what people answered, and fresh twins."""
    for query in ("", "?length=3..30&q=the"):
        with django_assert_num_queries(4):
            client.get(TRAIN + query)


def test_a_dataset_without_pictures_can_be_browsed(client, shapes):
    shapes.splits.get(name="train").scene_set.update(image="", ids_image="", width=0, height=0)
    response = client.get(TRAIN)
    assert response.status_code == 200
    assert "no picture" in text_of(response)


def test_a_long_facet_is_loaded_when_it_is_opened(client, shapes, monkeypatch):
    monkeypatch.setattr(sidebar, "OPEN_UP_TO", 12)  # 16 questions have at most 16 templates
    page = text_of(client.get(TRAIN, {"q": "the"}))
    assert 'id="template-0"' not in page
    assert 'hx-get="?q=the&amp;open=template"' in page
    opened = text_of(client.get(TRAIN, {"q": "the", "open": "template"}))
    assert '<details class="facet" id="facet-template" open>' in opened
    assert re.search(r'id="template-\d+" href="\?template=[^"&]+&amp;q=the"', opened)
    assert client.get(TRAIN, {"open": "zebra"}).status_code == 400


def numbers(name, found):
    facet = SplitIndex.open(Split.objects.get(dataset__slug="shapes", name="train")).facets[name]
    return [int(facet.values[facet.codes[position]]) for position in found]


@pytest.mark.parametrize("name", ["words", "length", "objects"])
def test_questions_are_sorted_by_a_number(client, shapes, name):
    up, down = (positions(client.get(TRAIN, {"sort": sign + name})) for sign in ("", "-"))
    assert numbers(name, up) == sorted(numbers(name, range(16)))
    assert numbers(name, down) == sorted(numbers(name, range(16)), reverse=True)
    assert sorted(up) == sorted(down) == list(range(16))


def test_links_and_the_search_form_keep_the_order(client, shapes):
    page = text_of(client.get(TRAIN, {"sort": "-words", "q": "the"}))
    assert '<option value="-words" selected>' in page
    assert 'href="?type=count&amp;q=the&amp;sort=-words"' in page
    assert re.search(r'href="/datasets/shapes/train/q/\d+/\?q=the&amp;sort=-words"', page)
    assert '<input type="hidden" name="sort" value="-words">' in page


def test_the_filter_of_a_question_set_has_no_order(client, as_owner, shapes):
    page = text_of(as_owner.get(TRAIN, {"sort": "-words", "q": "the"}))
    assert 'href="/datasets/shapes/train/derive/?q=the"' in page


@pytest.mark.parametrize("sort", ["zebra", "type", "-", "--words"])
def test_an_unknown_order_is_refused(client, shapes, sort):
    response = client.get(TRAIN, {"sort": sort})
    assert response.status_code == 400
    assert "Expected sort to be one of" in text_of(response)


def test_a_withheld_split_is_not_sorted_by_a_facet_that_would_reveal_answers(client, as_owner, shapes):
    response = client.get(TEST, {"sort": "objects"})
    assert response.status_code == 400
    assert "withheld" in text_of(response)
    assert "objects" not in [sort.value for sort in client.get(TEST).context["sorts"]]
    assert as_owner.get(TEST, {"sort": "objects"}).status_code == 200
