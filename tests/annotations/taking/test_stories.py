"""Taking part in a study of stories: the lines on the page, answers of several words, and how they are stored."""

import html
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from annotations.answering.answer_forms import form_of
from annotations.models import Answer, Study
from generation.models import Dataset
from tests.annotations.visitors import Visitor, right_answer, study_of
from tests.generation.complete_datasets import registered
from tests.worlds import baskets, told
from tests.worlds.baskets import EMPTY, FRUIT, SCOPES, TEXTS, WORLD
from webapp.models import User

pytestmark = pytest.mark.django_db
KINDS = {text: kind for kind, text in TEXTS.items()}


@pytest.fixture(autouse=True)
def _world() -> Iterator[None]:
    with registered(baskets):
        yield


@pytest.fixture
def tales(db: None) -> Dataset:
    return told.made()


@pytest.fixture
def study(tales: Dataset) -> Study:
    return study_of(tales, questions=3)


def visitor_at(study: Study, kind: str) -> Visitor:
    """Return a visitor at a question of a kind, after right answers to the questions before it."""
    visitor = Visitor(study)
    visitor.to_questions()
    for _ in SCOPES:
        if KINDS.get(visitor.asked()) == kind:
            return visitor
        visitor.answer(right_answer(visitor))
    raise AssertionError(f"nobody was asked {kind}")


def sent(visitor: Visitor, **fields: Any) -> Any:
    return visitor.client.post(f"{visitor.address}answer/", {**visitor.fields(), "answer": "", **fields})


def stored(study: Study) -> str:
    return Answer.objects.filter(slot__question__study=study).latest("pk").text


@pytest.mark.parametrize("kind", list(SCOPES))
def test_the_page_shows_the_lines_of_the_story_before_the_question(study: Study, kind: str) -> None:
    visitor = visitor_at(study, kind)
    row = study.split.question_set.select_related("scene").get(kind=kind, scene__position=0)
    lines = WORLD.story(WORLD.read_scene(row.scene.scene_json or {}))
    page = html.unescape(visitor.page)
    assert page.count("<li><span>") == SCOPES[kind]
    assert all(f"<span>{line}</span>" in page for line in lines[: SCOPES[kind]])
    assert "picture" not in page.partition("<form")[0]


@pytest.mark.parametrize("ticked", [["pear", "apple"], ["apple", "pear"]])
def test_a_set_is_ticked_in_any_order(study: Study, ticked: list[str]) -> None:
    visitor = visitor_at(study, "inside")
    assert [value for _, value in visitor.parts()] == [*FRUIT, EMPTY]
    assert sent(visitor, part=ticked).status_code == 303
    assert stored(study) == "apple,pear"


def test_the_answer_nothing_cannot_be_combined_with_others(study: Study) -> None:
    visitor = visitor_at(study, "inside")
    assert sent(visitor, part=["fig", EMPTY]).status_code == 400
    assert sent(visitor, part=[EMPTY]).status_code == 303
    assert stored(study) == EMPTY


@pytest.mark.parametrize("ticked", [[], ["plum"], ["fig", "fig"], ["fig", "plum"]])
def test_a_bad_set_is_refused_with_a_message(study: Study, ticked: list[str]) -> None:
    visitor = visitor_at(study, "inside")
    response = sent(visitor, part=ticked)
    assert response.status_code == 400
    assert "Please choose at least one word, or only “nothing”." in html.unescape(response.content.decode())
    assert not Answer.objects.filter(slot__question__position=0).exists()


def test_a_sequence_has_a_choice_for_each_place(study: Study) -> None:
    visitor = visitor_at(study, "first")
    assert visitor.parts() == [(f"part-{place}", fruit) for place in range(2) for fruit in FRUIT]
    response = sent(visitor, **{"part-1": "fig"})
    assert response.status_code == 400 and "in each of the 2 places" in response.content.decode()
    assert sent(visitor, **{"part-0": "pear", "part-1": "fig"}).status_code == 303
    assert stored(study) == "pear,fig"


def test_a_sequence_that_is_never_right_is_still_accepted(study: Study) -> None:
    visitor = visitor_at(study, "first")
    assert sent(visitor, **{"part-0": "fig", "part-1": "fig"}).status_code == 303
    assert stored(study) == "fig,fig"


def test_a_reason_for_no_answer_replaces_ticked_parts(study: Study) -> None:
    visitor = visitor_at(study, "inside")
    assert "The story is missing" in visitor.page
    assert sent(visitor, part=["fig"], refusal="picture").status_code == 303
    assert Answer.objects.filter(slot__question__study=study).latest("pk").refusal == "picture"


def test_right_answers_of_every_kind_are_stored_as_right(tales: Dataset) -> None:
    study = study_of(tales, questions=9, per_question=1)
    visitor = Visitor(study)
    visitor.to_questions()
    for _ in range(9):
        right, form = right_answer(visitor), form_of(study.split, KINDS[visitor.asked()])
        parts = list(form.taken_apart(right)) or [form.empty]
        if form.length:
            response = sent(visitor, **{f"part-{place}": part for place, part in enumerate(parts)})
        else:
            response = sent(visitor, part=parts[::-1]) if form.parts else sent(visitor, answer=right)
        assert response.status_code == 303
        visitor.look("?" + response["Location"].partition("?")[2])
    assert "DONE-1" in visitor.go_on(comment="")
    answers = Answer.objects.filter(slot__question__study=study)
    truth = dict(study.split.question_set.values_list("position", "answer"))
    assert {one.slot.question.position: one.text for one in answers} == truth


def test_other_pages_mention_stories_and_no_pictures(tales: Dataset) -> None:
    study = study_of(tales, questions=3, attention=1, practice=1, practice_right=0)
    visitor = Visitor(study)
    assert "about a story" in visitor.look()
    assert "Read the story" in visitor.go_on()
    visitor.go_on()
    assert "into the basket" in visitor.answer()  # the feedback on practice shows the story
    visitor.look()
    seen = []
    while 'name="answer"' in visitor.page:
        seen.append(visitor.asked())
        visitor.answer()
    assert any("This question has no story" in text for text in seen)
    assert "You answered" in visitor.page
    assert "picture" not in visitor.page


def test_an_attention_item_has_one_button_for_each_answer(tales: Dataset) -> None:
    study = study_of(tales, questions=1, attention=1)
    visitor = Visitor(study)
    visitor.to_questions()
    visitor.answer()
    assert "please press" in visitor.asked()
    assert visitor.choices() == [*FRUIT, EMPTY] and visitor.parts() == []
    assert 'class="story"' not in visitor.page


def test_results_and_files_contain_sets_and_sequences_unchanged(tales: Dataset) -> None:
    study = study_of(tales, questions=3, per_question=2)
    for fruit in ("fig", "pear"):
        visitor = Visitor(study)
        visitor.to_questions()
        while 'name="answer"' in visitor.page:
            if KINDS[visitor.asked()] == "first":
                sent(visitor, **{"part-0": fruit, "part-1": fruit})
            else:
                sent(visitor, part=[fruit]) if visitor.parts() else sent(visitor, answer="one")
            visitor.look()
        visitor.go_on(comment="")
    owner = Client()
    owner.force_login(study.owner)
    page = owner.get(f"/studies/{study.code}/results/")
    assert page.status_code == 200 and "pear,pear" in html.unescape(page.text)
    told_by = owner.get(f"/studies/{study.code}/answers.csv")
    assert told_by.status_code == 200
    assert '"fig,fig"' in b"".join(told_by.streaming_content if told_by.streaming else [told_by.content]).decode()


def test_the_form_of_a_study_mentions_stories_and_no_colours(tales: Dataset) -> None:
    owner = Client()
    owner.force_login(User.objects.create_user("ada", "ada@example.org", "x", is_staff=True))
    page = owner.get("/studies/new/?split=tales/val").text
    assert "questions about stories" in page and "one story at a time" in page and "Read closely" in page
    assert "colours" not in page.partition('<form method="post"')[2]
