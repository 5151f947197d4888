"""The form that makes a question set, the set's own pages, and the page that deletes it."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from generation import extension_points
from generation.making import dataset_jobs
from generation.models import Dataset, Job, Question, Split
from generation.queue.runner import Runner
from generation.splits import question_sets
from generation.splits.split_recipes import read_recipe
from generation.splits.withheld_answers import open_answers

pytestmark = pytest.mark.django_db
MAKE = "/datasets/shapes/train/derive/"
FEW = {"name": "few", "how": "sample", "amount": "5", "seed": "7"}


def text(response: Any) -> str:
    return response.content.decode()


@pytest.fixture
def few(shapes: Dataset) -> Split:
    """Give a question set of five of the sixteen questions of train."""
    train = Split.objects.for_browse().get(dataset=shapes, name="train")
    return dataset_jobs.derive(train, name="few", recipe=read_recipe({"parent": "train", "sample": 5, "seed": 7}))


def in_train(split: Split) -> list[int]:
    return question_sets.SplitIndex.open(split).positions.tolist()


# The form ---------------------------------------------------------------------------------------------------


def test_the_list_links_to_the_form_for_the_owner(as_owner: Client) -> None:
    page = text(as_owner.get("/datasets/shapes/train/?length=1..30&page=1&list=3"))
    assert f'href="{MAKE}?length=1..30"' in page
    assert "Make a question set from these 16 questions" in page
    assert "Make a question set from some of them" in text(as_owner.get("/datasets/shapes/train/"))


@pytest.mark.parametrize("who", ["client", "as_stranger"])
def test_others_see_no_link_to_the_form_and_get_404(shapes: Dataset, request: Any, who: str) -> None:
    client = request.getfixturevalue(who)
    assert "derive/" not in text(client.get("/datasets/shapes/train/"))
    assert client.get(MAKE).status_code == 404
    assert client.post(MAKE, FEW).status_code == 404
    assert not Split.objects.filter(kind="derived").exists()


def test_a_set_is_made_and_shown_at_once(as_owner: Client) -> None:
    reply = as_owner.post(MAKE, FEW, follow=True)
    assert reply.redirect_chain == [("/datasets/shapes/few/", 302)]
    page = text(reply)
    assert "5 of 16 questions of train, sampled with seed 7, about" in page
    assert "<b>5</b> questions" in page.replace("\n", "")
    few = Split.objects.get(name="few")
    for number, position in enumerate(in_train(few)):
        assert f'href="/datasets/shapes/few/q/{number}/"' in page
        assert Question.objects.get(split__name="train", position=position).text in page
    assert "Make a question set" not in page
    assert 'href="/datasets/shapes/few/delete/"' in page


def test_the_form_starts_from_the_questions_that_the_filter_finds(as_owner: Client) -> None:
    everything = text(as_owner.get(MAKE))
    assert "It will have <b>1 of 16 questions of train, sampled with seed 0</b>" in everything
    found = text(as_owner.get(MAKE + "?q=what"))
    assert "questions of train where the words “what” occur</b>" in found
    assert 'action="/datasets/shapes/train/derive/?q=what"' in found


def test_counting_makes_no_question_set(as_owner: Client) -> None:
    counted = text(as_owner.post(MAKE, {**FEW, "name": "", "action": "count"}))
    assert "It will have <b>5 of 16 questions of train, sampled with seed 7</b>" in counted
    assert "This field is required" not in counted
    trouble = text(as_owner.post(MAKE, {**FEW, "amount": "17", "action": "count"}))
    assert "Expected at most 16 questions (there are no more), got 17." in trouble
    assert "Expected a number of questions, such as 200, got x." in text(
        as_owner.post(MAKE, {**FEW, "amount": "x", "action": "count"})
    )
    assert not Split.objects.filter(kind="derived").exists()


@pytest.mark.parametrize(
    ("how", "amount", "n"), [("all", "", 16), ("first", "3", 3), ("share", "50", 8), ("share", "12.5%", 2)]
)
def test_each_way_of_selecting_gives_its_number_of_questions(as_owner: Client, how: str, amount: str, n: int) -> None:
    address = MAKE + ("?length=1..40" if how == "all" else "")
    assert as_owner.post(address, {**FEW, "how": how, "amount": amount}).status_code == 302
    assert Split.objects.get(name="few").questions == n


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"name": "train"}, "Expected a new name, got &#x27;train&#x27;"),
        ({"name": "a b"}, "Expected a letter, then letters, digits"),
        ({"name": "shortcuts"}, "Expected another name than"),
        ({"name": ""}, "This field is required"),
        ({"amount": "17"}, "Expected at most 16 questions"),
        ({"amount": ""}, "got nothing"),
        ({"how": "all"}, "which is the whole split"),
        ({"how": "share", "amount": "101"}, "Expected less than or equal to 100"),
        ({"how": "none"}, "Select a valid choice"),
        ({"seed": "-1"}, "Ensure this value is greater than or equal to 0"),
        ({"seed": "x"}, "Enter a whole number"),
    ],
)
def test_invalid_fields_are_refused_with_a_message(as_owner: Client, changed: dict[str, str], complaint: str) -> None:
    reply = as_owner.post(MAKE, {**FEW, **changed})
    assert reply.status_code == 400
    assert complaint in text(reply)
    assert not Split.objects.filter(kind="derived").exists()


def test_a_bad_address_or_wrong_parent_is_refused(as_owner: Client, few: Split) -> None:
    reply = as_owner.get(MAKE + "?colour=red")
    assert (reply.status_code, "Expected a filter" in text(reply)) == (400, True)
    reply = as_owner.get("/datasets/shapes/few/derive/")
    assert (reply.status_code, "Make the question set from shapes/train" in text(reply)) == (409, True)
    assert as_owner.get("/datasets/shapes/nothing/derive/").status_code == 404
    assert as_owner.put(MAKE).status_code == 405
    Dataset.objects.update(state="making")
    assert as_owner.get(MAKE).status_code == 409


def test_a_large_set_is_made_in_the_background(as_owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_sets, "AT_ONCE", 4)
    monkeypatch.setattr(Runner, "wake", lambda self: None)
    assert "made in the background" in text(as_owner.post(MAKE, {**FEW, "action": "count"}))
    page = text(as_owner.post(MAKE, FEW, follow=True))
    assert "This question set is being made" in page
    Job.objects.filter(kind="derive").update(state="failed", message="it broke")
    Split.objects.filter(name="few").update(state="failed")
    assert "it broke" in text(as_owner.get("/datasets/shapes/few/"))
    assert "it broke" not in text(Client().get("/datasets/shapes/few/"))
    overview = text(as_owner.get("/datasets/shapes/"))
    assert "it broke" not in overview
    assert "being made" not in overview


# The set's pages --------------------------------------------------------------------------------------------


def test_a_question_of_a_set_shows_its_parents_question(client: Client, few: Split) -> None:
    at = in_train(few)
    own, parents = (text(client.get(f"/datasets/shapes/{path}/")) for path in ("few/q/2", f"train/q/{at[2]}"))
    asked = Question.objects.select_related("scene").get(split=few.parent, position=at[2])
    for page in (own, parents):
        assert f"{asked.text.replace(chr(39), '&#x27;')}</h1>" in page
        assert f'src="/datasets/shapes/train/scene/{asked.scene.position}/' in page
    assert f'<a href="/datasets/shapes/train/q/{at[2]}/">question {at[2]}</a>' in own
    assert 'href="/datasets/shapes/few/q/1/"' in own
    assert 'href="/datasets/shapes/few/q/3/"' in own
    assert f"<b>{asked.answer}</b>" in own
    assert "All questions of" not in parents


def test_questions_of_a_set_have_an_end_lists_steps_and_presentation(client: Client, few: Split) -> None:
    assert 'id="next-question"' not in text(client.get("/datasets/shapes/few/q/4/"))
    reply = client.get("/datasets/shapes/few/q/5/")
    assert (reply.status_code, "Expected a question from 0 to 4, got 5" in text(reply)) == (404, True)
    assert 'href="/datasets/shapes/few/q/4/?list=0,4"' in text(client.get("/datasets/shapes/few/q/0/?list=0,4"))
    assert client.get("/datasets/shapes/few/q/0/?step=0").status_code == 200
    assert 'id="reveal"' in text(client.get("/datasets/shapes/few/q/0/?ask=1"))
    assert 'class="question-page presenting"' in text(client.get("/datasets/shapes/few/q/0/?present=1"))


def test_other_questions_of_a_scene_are_only_those_of_the_set(client: Client, shapes: Dataset) -> None:
    train = Split.objects.for_browse().get(dataset=shapes, name="train")
    dataset_jobs.derive(train, name="few", recipe=read_recipe({"parent": "train", "first": 6}))
    page = text(client.get("/datasets/shapes/few/q/4/"))
    assert 'Other questions of this scene <span class="count">n = 1</span>' in page
    assert 'href="/datasets/shapes/few/q/5/"' in page


def test_a_set_is_filtered_and_counted_like_any_split(client: Client, few: Split) -> None:
    index = question_sets.SplitIndex.open(few)
    facet = index.facets["type"]
    for code, n in enumerate(index.counts({})["type"].tolist()):
        if n:
            page = text(client.get(f"/datasets/shapes/few/?type={facet.values[code]}"))
            assert f"<b>{n}</b> of 5 questions" in page


def test_the_overview_lists_sets_under_their_split(as_owner: Client, few: Split) -> None:
    page = text(as_owner.get("/datasets/shapes/"))
    assert page.index('href="/datasets/shapes/train/"') < page.index('href="/datasets/shapes/few/"')
    assert page.index("5 of 16 questions of train, sampled with seed 7") < page.index('href="/datasets/shapes/val/"')
    assert '<td class="num">32</td>' in page  # the questions of the splits, without those of the set
    command = "python manage.py derive shapes-again/train --name few --sample 5 --seed 7"
    assert command in page
    assert "few: too few" not in page
    assert "few: too few" in text(as_owner.get("/datasets/shapes/?split=few"))
    cards = text(as_owner.get("/datasets/"))
    assert "few" not in cards
    assert "<b>32</b> questions" in cards


def test_pages_of_a_set_need_no_more_queries(
    client: Client, few: Split, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for page in ("few/", "few/q/2/"):
        client.get(f"/datasets/shapes/{page}")
        with django_assert_max_num_queries(5):
            client.get(f"/datasets/shapes/{page}")


# Withheld ---------------------------------------------------------------------------------------------------


def test_a_set_of_a_withheld_split_is_withheld_too(client: Client, as_owner: Client, shapes: Dataset) -> None:
    make = "/datasets/shapes/test/derive/"
    assert as_owner.get(make + "?answer=yes").status_code == 400
    assert as_owner.post(make + "?answer=yes", FEW).status_code == 400
    assert as_owner.post(make, FEW).status_code == 302
    few = Split.objects.for_browse().get(name="few")
    asked = Question.objects.filter(split__name="test", position=in_train(few)[0]).get()
    page = text(client.get("/datasets/shapes/few/q/0/"))
    assert "answers of few are withheld" in page
    assert f"<b>{asked.answer}</b>" not in page
    assert client.get("/datasets/shapes/few/?answer=yes").status_code == 400
    assert f"<b>{asked.answer}</b>" in text(as_owner.get("/datasets/shapes/few/q/0/"))
    opening = as_owner.get("/datasets/shapes/few/open/")
    assert (opening.status_code, opening["Location"]) == (302, "/datasets/shapes/test/open/")
    Split.objects.filter(pk=few.pk).update(withheld=False)  # the row of the parent decides, not that of the set
    assert "answers of few are withheld" in text(client.get("/datasets/shapes/few/q/0/"))
    assert open_answers(few.parent)
    assert f"<b>{asked.answer}</b>" in text(client.get("/datasets/shapes/few/q/0/"))


# Deleted ----------------------------------------------------------------------------------------------------


def test_a_set_is_deleted_after_a_confirmation(as_owner: Client, few: Split) -> None:
    address = "/datasets/shapes/few/delete/"
    asked = text(as_owner.get(address))
    assert "Delete few?" in asked
    assert "5 of 16 questions of train, sampled with seed 7" in asked
    assert Split.objects.filter(name="few").exists()
    reply = as_owner.post(address, follow=True)
    assert reply.redirect_chain == [("/datasets/shapes/", 302)]
    assert "few is deleted" in text(reply)
    assert as_owner.get(address).status_code == 404


def test_only_sets_can_be_deleted_and_only_by_their_owner(client: Client, as_owner: Client, few: Split) -> None:
    assert client.get("/datasets/shapes/few/delete/").status_code == 404
    assert client.post("/datasets/shapes/few/delete/").status_code == 404
    assert as_owner.post("/datasets/shapes/train/delete/").status_code == 404
    assert as_owner.put("/datasets/shapes/few/delete/").status_code == 405
    assert Split.objects.filter(name__in=["few", "train"]).count() == 2


def test_a_set_that_something_refers_to_is_not_deleted(
    as_owner: Client, few: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(extension_points._SPLIT_REFERRERS, "study", lambda split: ["study one"])
    assert "something refers to it: study one" in text(as_owner.get("/datasets/shapes/few/delete/"))
    reply = as_owner.post("/datasets/shapes/few/delete/")
    assert (reply.status_code, "study one refers to" in text(reply)) == (409, True)
    assert Split.objects.filter(name="few").exists()
