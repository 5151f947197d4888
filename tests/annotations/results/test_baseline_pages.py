"""Publishing a human baseline, and its public page: who sees which figures of which split."""

import csv
import io
import json
import random
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from pytest_django.plugin import DjangoDbBlocker

from annotations.answering import slot_assignment
from annotations.models import Baseline, Participant, Study
from annotations.results import baseline
from annotations.studies import lifecycle
from generation.engine.scoring.ladder import least_step
from generation.making import dataset_jobs
from generation.models import Dataset
from tests.annotations import answered
from tests.clients import client_of
from tests.generation import fake_world
from tests.generation.complete_datasets import finish, shared
from tests.generation.conftest import spec_of
from webapp.leaderboards.disclosure import disclosure_budget
from webapp.leaderboards.models import DisclosureSettings
from webapp.models import User

pytestmark = pytest.mark.django_db
AT = "/datasets/rows/val/people/"
FILES = ("slices.csv", "slices.json", "predictions.jsonl")


def text(response: Any) -> str:
    content = b"".join(response) if response.streaming else response.content
    return re.sub(r"\s+", " ", unescape(content.decode()))


def make_closed_study(dataset: Dataset, *, split: str = "val", wrong: int = 3) -> Study:
    """Return a closed study of every question of a split; its three people give `wrong` wrong answers each."""
    chosen = dataset.splits.get(name=split)
    index = answered.SplitIndex.open(chosen)
    known = [one for one in range(index.n) if int(index.answers[one]) < len(index.answer_values)]
    study = answered.opened(chosen, known, per_question=3)
    for number in range(3):
        person = Participant.objects.create(study=study)
        for position in known:
            right = index.answer_values[int(index.answers[position])]
            other = next(word for word in answered.WORDS if word != right)
            answered.put(person, study, position, other if known.index(position) < wrong else right, number=number)
    assert lifecycle.close(study)
    return study


def make_public() -> Dataset:
    """Return a public dataset with a withheld split test; its splits have enough questions for shares to be shown."""
    spec = spec_of(splits={"val": {"scenes": 24}, "test": {"scenes": 24, "withheld": True}})
    return finish(dataset_jobs.start(spec, slug="rows", visibility="public", secrets={"test": "0f" * 16}))


kept_public = shared(make_public, world=fake_world)


@pytest.fixture(scope="module")
def kept_run(kept_public: int, django_db_blocker: DjangoDbBlocker) -> Iterator[int]:
    """Give the key of a closed study of split val; the changes of each test are rolled back."""
    with django_db_blocker.unblock():
        study = make_closed_study(Dataset.objects.get(pk=kept_public))
    yield study.pk
    with django_db_blocker.unblock():
        answered.delete(study)


@pytest.fixture
def public(kept_public: int, db: None) -> Dataset:
    Dataset.objects.filter(pk=kept_public).update(owner=answered.owner())
    return Dataset.objects.get(pk=kept_public)


@pytest.fixture
def run(kept_run: int, public: Dataset) -> Study:
    return Study.objects.get(pk=kept_run)


@pytest.fixture
def rosa(public: Dataset) -> Client:
    return client_of(answered.owner())


@pytest.fixture
def others(db: None) -> list[Client]:
    """Give a browser that is not logged in, and one of another account."""
    return [Client(), client_of(User.objects.create_user("member", "member@example.org", "x"))]


def publish(study: Study) -> Baseline:
    return baseline.publish(study, by=study.owner_id, seal=baseline.draft(study).seal)


# Publishing


def test_publishing_first_shows_what_becomes_public(rosa: Client, run: Study) -> None:
    at = f"/studies/{run.code}/publish/"
    assert "Publish the human baseline" in text(rosa.get(f"/studies/{run.code}/results/"))
    page = rosa.get(at)
    assert "What becomes public" in text(page) and "all answers have been given" in text(page)
    assert not Baseline.objects.exists()
    seal = page.context["draft"].seal
    unsure = rosa.post(at, {"seal": seal})
    assert (unsure.status_code, Baseline.objects.count()) == (400, 0)
    done = rosa.post(at, {"seal": seal, "confirm": "yes"}, follow=True)
    assert done.redirect_chain == [(f"{AT}1/", 302)]
    row = Baseline.objects.get()
    assert f"{100 * row.right / row.asked:.1f} %" in text(done)
    assert "These figures are already published" in text(rosa.get(at))
    rosa.post(at, {"seal": seal, "confirm": "yes"})
    assert Baseline.objects.count() == 1


def test_the_page_asks_to_close_the_study_and_names_missing_answers(rosa: Client, public: Dataset) -> None:
    study = answered.answered(public, random.Random(3))
    at = f"/studies/{study.code}/publish/"
    page = text(rosa.get(at))
    assert "The study is open" in page and "Close the study first" in page
    assert rosa.post(at, {"seal": "x", "confirm": "yes"}).status_code == 409
    lifecycle.close(study)
    missing = study.slots.filter(answered=False).count()
    assert f"{missing} answers are missing" in text(rosa.get(at))


def test_figures_that_changed_in_the_meantime_are_shown_before_they_are_published(rosa: Client, run: Study) -> None:
    at = f"/studies/{run.code}/publish/"
    seal = rosa.get(at).context["draft"].seal
    person = run.participants.first()
    assert person is not None
    slot_assignment.exclude(person, reason="by mistake")
    answer = rosa.post(at, {"seal": seal, "confirm": "yes"})
    assert (answer.status_code, Baseline.objects.count()) == (409, 0)
    assert "The figures have changed since you opened this page" in text(answer)
    assert answer.context["draft"].seal != seal


def test_results_say_that_the_published_baseline_differs_from_them(rosa: Client, run: Study) -> None:
    row = publish(run)
    at = f"/studies/{run.code}/results/"
    assert f'href="{AT}1/"' in text(rosa.get(at)) and "differs from the current results" not in text(rosa.get(at))
    person = run.participants.first()
    assert person is not None
    slot_assignment.exclude(person, reason="by mistake")
    assert "differs from the current results" in text(rosa.get(at))
    row.refresh_from_db()
    assert json.loads(row.figures)["people"] == 3


def test_strangers_publish_and_withdraw_nothing(others: list[Client], rosa: Client, run: Study) -> None:
    row = publish(run)
    for page in ("publish/", "withdraw/1/"):
        for client in others:
            for answer in (client.get, client.post):
                assert answer(f"/studies/{run.code}/{page}", {"confirm": "yes", "reason": "x"}).status_code == 404
        assert rosa.put(f"/studies/{run.code}/{page}").status_code == 405
    row.refresh_from_db()
    assert not row.is_withdrawn and Baseline.objects.count() == 1


def test_withdrawing_needs_a_reason_which_replaces_the_figures(rosa: Client, others: list[Client], run: Study) -> None:
    row = publish(run)
    at = f"/studies/{run.code}/withdraw/1/"
    assert rosa.post(at, {"reason": " "}).status_code == 400
    assert rosa.get(f"/studies/{run.code}/withdraw/2/").status_code == 404
    assert rosa.post(at, {"reason": "Half the pictures were black."})["Location"] == f"{AT}1/"
    shares = f"{100 * row.right / row.asked:.1f} %"
    for client in others:
        page = text(client.get(AT))
        assert "Half the pictures were black." in page and shares not in page
        assert [client.get(f"{AT}1/{name}").status_code for name in FILES] == [404] * 3
        assert "People:" not in text(client.get("/datasets/rows/")) + text(client.get("/datasets/rows/val/"))
    assert shares in text(rosa.get(f"{AT}1/"))


# The public page


def test_everybody_reads_the_human_row_of_an_open_split(others: list[Client], run: Study) -> None:
    row = publish(run)
    for client in others:
        page = text(client.get(AT))
        assert client.get(f"{AT}1/").status_code == 200
        assert f"<b>{100 * row.right / row.asked:.1f} %</b> <span>of {row.asked} questions answered correctly" in page
        for said in ("Krippendorff’s alpha", "Wrong answers", "majority by slice", "We drew", "GBP 12.00 an hour"):
            assert said in page
        assert run.code not in page  # the public page must not lead visitors into the study


def test_the_pages_of_dataset_and_split_have_a_line_about_it(others: list[Client], run: Study) -> None:
    client = others[0]
    for address in ("/datasets/rows/", "/datasets/rows/val/"):
        assert "People:" not in text(client.get(address))
    row = publish(run)
    line = f'href="{AT}">People: {100 * row.right / row.asked:.1f} % (n = {row.asked})</a>'
    for address in ("/datasets/rows/", "/datasets/rows/val/"):
        assert line in text(client.get(address))


def test_predictions_are_a_line_for_each_question_that_was_asked(others: list[Client], public: Dataset) -> None:
    study = answered.answered(public, random.Random(3))
    lifecycle.close(study)
    row = publish(study)
    response = others[0].get(f"{AT}1/predictions.jsonl")
    lines = [json.loads(line) for line in b"".join(response).decode().splitlines()]
    right = answered.SplitIndex.open(study.split)
    assert [set(line) for line in lines] == [{"question_id", "answer"}] * row.asked
    assert sum(line["answer"] == right.answer_values[right.answers[line["question_id"]]] for line in lines) == row.right
    assert sum(line["answer"] is None for line in lines) == row.ties


def test_slices_agree_as_csv_and_json(others: list[Client], run: Study) -> None:
    row = publish(run)
    rows = list(csv.DictReader(io.StringIO(b"".join(others[0].get(f"{AT}1/slices.csv")).decode("utf-8-sig"))))
    data = others[0].get(f"{AT}1/slices.json").json()
    assert (data["n"], data["correct"], data["accuracy"]) == (row.asked, row.right, round(row.right / row.asked, 3))
    assert (rows[0]["facet"], int(rows[0]["n"]), int(rows[0]["correct"])) == ("", row.asked, row.right)
    assert len(rows) == 2 + sum(len(values) for values in data["facets"].values())
    for one in rows[2:]:
        part = data["facets"][one["facet"]][one["value"].removeprefix("'")]
        assert (int(one["n"]), int(one["correct"])) == (part["n"], part["correct"])
        assert ("accuracy" in part) == (part["n"] >= 30) == bool(one["accuracy"])


def test_a_question_shows_answers_of_people_to_those_who_may_see_them(
    others: list[Client], rosa: Client, public: Dataset
) -> None:
    open_one, withheld = make_closed_study(public), make_closed_study(public, split="test")
    said = {one: re.compile(r"People answered</span> \w+ × 3") for one in (open_one, withheld)}
    for study in said:
        publish(study)
    number = open_one.questions.values_list("position", flat=True)[0]
    assert said[open_one].search(text(others[0].get(f"/datasets/rows/val/q/{number}/")))
    hidden = text(others[0].get(f"/datasets/rows/val/q/{number}/?ask=1"))
    assert "People answered" not in hidden
    number = withheld.questions.values_list("position", flat=True)[0]
    assert "People answered" not in text(others[0].get(f"/datasets/rows/test/q/{number}/"))
    assert said[withheld].search(text(rosa.get(f"/datasets/rows/test/q/{number}/")))


# Withheld splits


def test_a_withheld_split_shows_one_share_rounded_down(others: list[Client], rosa: Client, public: Dataset) -> None:
    row = publish(make_closed_study(public, split="test"))
    step = least_step(row.asked)
    share = 1000 * row.right // row.asked // step * step / 1000
    assert share != row.right / row.asked
    at = "/datasets/rows/test/people/"
    for client in others:
        page, data = text(client.get(at)), client.get(f"{at}1/slices.json").json()
        assert f"{100 * share:.1f} %" in page and f"{100 * row.right / row.asked:.1f} %" not in page
        assert not re.search(r"\d %–|Accuracy of a single answer|Excluded<|majority by slice|Methods</h2>", page)
        assert 'id="taken"' not in page and "predictions.jsonl" not in page and row.digest not in page
        assert client.get(f"{at}1/predictions.jsonl").status_code == 404
        assert (data["n"], data["accuracy"], data["single"], data["facets"]) == (row.asked, share, None, {})
        assert not {"correct", "low", "high"} & set(data)
        assert len(b"".join(client.get(f"{at}1/slices.csv")).splitlines()) == 2
        assert f"People: {100 * share:.1f} % (n = {row.asked})" in text(client.get("/datasets/rows/"))
        [entry] = client.get("/leaderboards/rows/test/board.json").json()["rows"]
        assert (entry["made"], entry["accuracy"]["accuracy"], entry["accuracy"]["low"]) == ("human", share, None)
    assert disclosure_budget.spending_on(row.split).figures == 1
    assert "predictions.jsonl" in text(rosa.get(at))
    assert rosa.get(f"{at}1/predictions.jsonl").status_code == 200


def test_a_human_row_after_the_budget_is_spent_is_shown_when_the_answers_are_opened(
    others: list[Client], public: Dataset
) -> None:
    DisclosureSettings.objects.create(split=public.splits.get(name="test"), budget=0)
    row = publish(make_closed_study(public, split="test"))
    page = text(others[0].get("/datasets/rows/test/people/"))
    assert f"until the answers are opened: n = {row.asked}" in page
    assert not re.search(r"\d\.\d %", page.partition("<main")[2])
    assert f"People: shown when the answers are opened (n = {row.asked})" in text(others[0].get("/datasets/rows/"))


def test_opening_the_answers_opens_the_answers_of_people(others: list[Client], public: Dataset) -> None:
    study = make_closed_study(public, split="test")
    publish(study)
    public.splits.filter(name="test").update(withheld=False)
    assert others[0].get("/datasets/rows/test/people/1/predictions.jsonl").status_code == 200


# Access


def test_users_who_may_not_open_the_dataset_get_404(
    others: list[Client], rosa: Client, admin_client: Client, run: Study
) -> None:
    publish(run)
    Dataset.objects.update(visibility="private")
    for rest in ("", "1/", *(f"1/{name}" for name in FILES)):
        statuses = [client.get(AT + rest).status_code for client in (rosa, admin_client, *others)]
        assert statuses == [200, 200, 404, 404], rest
        assert rosa.post(AT + rest).status_code == 405, rest


@pytest.mark.parametrize("rest", ["", "1/", "2/", "1/slices.csv", "999999999/", "1234567890/", "x/"])
def test_an_unpublished_baseline_gets_404(others: list[Client], public: Dataset, rest: str) -> None:
    assert others[0].get(AT + rest).status_code == 404


def test_pages_need_few_queries(run: Study, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    publish(run)
    client = Client()
    with django_assert_max_num_queries(4):
        client.get(AT)
