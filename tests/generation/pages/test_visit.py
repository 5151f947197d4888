"""Ways to view a question: asked before its answer, as a presentation, and by a script that gets the changing part."""

import re

import pytest

from generation.browsing import sidebar
from generation.browsing.keyboard import BROWSE, QUESTION
from generation.browsing.navigation import COOKIE
from generation.models import Question

PAGE = "/datasets/shapes/train/q/5/"
TRAIN = "/datasets/shapes/train/"
WITHHELD = "/datasets/shapes/test/q/1/"


def text_of(response):
    return response.content.decode()


def keys_on(page):
    return {key for keys in re.findall(r'data-key="([^"]+)"', page) for key in keys.split(" ")}


def hides(response):
    page = text_of(response)
    shown = ('<p class="the-answer"><span', 'id="step-', 'class="area"', 'id="objects"', 'class="answer"')
    found = [mark for mark in shown if mark in page]
    assert found in ([], list(shown)), found
    reveals = any(fact.facet.reveals for fact in response.context["facts"])
    assert reveals is bool(found)
    return not found


def test_a_question_that_is_asked_first_shows_neither_answer_nor_program_nor_objects(client, shapes):
    response = client.get(PAGE + "?ask=1")
    assert hides(response)
    assert "Show the answer" in text_of(response)
    assert "withheld" not in text_of(response)
    assert not hides(client.get(PAGE + "?ask=0"))


def test_the_answer_is_shown_by_its_link_or_a_step(client, shapes):
    page = text_of(client.get(PAGE + "?ask=1&length=3.."))
    link = re.search(r'id="reveal" data-key="s" href="([^"]+)"', page)
    assert link is not None
    assert not hides(client.get(link[1].replace("&amp;", "&")))
    assert not hides(client.get(PAGE + "?ask=1&step=0"))


def test_asking_first_is_remembered_until_it_is_switched_off(client, shapes):
    client.get(PAGE + "?ask=1")
    assert client.cookies[COOKIE]["httponly"]
    assert hides(client.get("/datasets/shapes/train/q/6/"))
    assert 'class="answer"' not in text_of(client.get(TRAIN))
    assert not hides(client.get(PAGE + "?ask=0"))
    assert not hides(client.get("/datasets/shapes/train/q/6/"))
    assert 'class="answer"' in text_of(client.get(TRAIN))


def test_the_next_question_hides_its_answer_again(client, shapes):
    page = text_of(client.get(PAGE + "?ask=1&show=1"))
    link = re.search(r'rel="next" data-key="n" href="([^"]+)"', page)
    assert link is not None
    assert link[1] == "/datasets/shapes/train/q/6/?ask=1"


def test_a_withheld_answer_cannot_be_shown(client, shapes):
    for query in ("?ask=1", "?show=1", "?ask=1&show=1", "?ask=0&show=1&present=1"):
        page = text_of(client.get(WITHHELD + query))
        assert 'class="the-answer"' not in page
        assert "ask-first" not in page
        assert 'class="area"' not in page


def test_a_refused_address_sets_no_cookie(client, shapes):
    assert client.get(PAGE + "?ask=1&step=99").status_code == 400
    assert COOKIE not in client.cookies


def test_presenting_stays_on_for_other_steps_and_questions(client, shapes):
    page = text_of(client.get(PAGE + "?q=the&present=1&step=0"))
    assert 'class="question-page presenting"' in page
    assert 'href="?q=the&amp;present=1&amp;step=1"' in page
    for link in re.findall(r'rel="(?:next|prev)" data-key="[np]" href="([^"]+)"', page):
        assert link.endswith("?q=the&amp;present=1")
    left = re.search(r'id="present"[^>]* href="([^"]+)"', page)
    assert left is not None
    assert left[1] == f"{PAGE}?q=the&amp;step=0"


def test_a_script_gets_only_the_changing_part(client, shapes):
    response = client.get(PAGE + "?step=1", headers={"HX-Request": "true"})
    page = text_of(response)
    assert page.startswith("<title>Question 5")
    assert "<html" not in page
    assert page.count('id="question"') == 1
    assert "HX-Request" in response["Vary"]
    assert page.partition("</title>")[2].strip() in text_of(client.get(PAGE + "?step=1"))
    whole = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert "<html" in text_of(client.get(PAGE, headers=whole))


def test_a_script_gets_no_withheld_answer_or_program(client, shapes):
    page = text_of(client.get(WITHHELD, headers={"HX-Request": "true"}))
    assert 'class="the-answer"' not in page
    assert 'id="step-' not in page


def test_every_visible_object_has_an_area_with_a_label(client, shapes):
    response = client.get(PAGE)
    page = text_of(response)
    elements = response.context["shown"].elements
    seen = [one.element for one in elements if one.place is not None]
    assert len(seen) > 0
    assert [int(number) for number in re.findall(r'data-object="(\d+)"', page)] == [element.id for element in seen]
    labels = re.findall(r'class="area"[^>]*aria-label="([^"]+)"', page)
    for element, label in zip(seen, labels, strict=True):
        assert all(value in label for value in element.attributes.values())
    assert page.count('class="area"') == len(re.findall(r'class="area"[^>]*tabindex="0"', page))


@pytest.mark.parametrize("table", [BROWSE, QUESTION])
def test_no_key_is_used_twice(table):
    keys = [shortcut.key for shortcut in table]
    assert len(keys) == len(set(keys))
    assert len({key.lower() for key in keys}) == len(keys)


def test_the_help_lists_exactly_the_keys_of_the_pages(client, shapes, monkeypatch):
    monkeypatch.setitem(sidebar.page_of.__kwdefaults__, "size", 6)
    pages = [text_of(client.get(TRAIN + query)) for query in ("", "?page=2")]
    assert set().union(*map(keys_on, pages)) == {shortcut.key for shortcut in BROWSE}
    queries = ("", "?step=1", "?ask=1", "?ask=0&present=1")
    pages = [text_of(client.get(PAGE + query)) for query in queries]
    assert set().union(*map(keys_on, pages)) == {shortcut.key for shortcut in QUESTION}
    for page in pages:
        assert page.count("<kbd>") == len(QUESTION)
        keys = [key for names in re.findall(r'data-key="([^"]+)"', page) for key in names.split(" ")]
        assert len(keys) == len(set(keys))


def test_a_question_without_answer_and_program_has_nothing_to_hide(client, shapes):
    Question.objects.filter(split__dataset=shapes, split__name="train", position=5).update(program=None, answer=None)
    assert client.get(PAGE + "?ask=1").status_code == 200
