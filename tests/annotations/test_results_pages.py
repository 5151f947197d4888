"""Pages of what came out of a study: for those who run it, and nobody else."""

import csv
import json
import random
import re
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotations import results
from annotations.exporting import lines
from annotations.models import Answer, Participant, Study
from generation.models import Dataset
from tests.annotations import answered
from webapp.models import User

pytestmark = pytest.mark.django_db
PAGES = ("results/", "people/", "answers.csv", "answers.jsonl")
BUTTONS = ("people/1/exclude/", "people/1/take-back/", "people/1/erase/")


def text(response: Any) -> str:
    content = b"".join(response) if response.streaming else response.content
    return re.sub(r"\s+", " ", unescape(content.decode()))


@pytest.fixture
def run(made: Dataset) -> Study:
    """Give a study of three questions for three people each, whose owner owns the dataset too."""
    Dataset.objects.filter(pk=made.pk).update(owner=answered.owner())
    split = made.splits.get(name="val")
    found = answered.answered(made, random.Random(3))
    assert found.split == split
    return found


@pytest.fixture
def at(run: Study) -> str:
    return f"/studies/{run.code}/"


@pytest.fixture
def rosa(run: Study) -> Client:
    """Give a browser in which the study's owner is logged in."""
    client = Client()
    client.force_login(run.owner)
    return client


@pytest.fixture
def first(run: Study) -> Participant:
    found = run.participants.order_by("pk").first()
    assert found is not None
    return found


@pytest.fixture
def others(db: None) -> list[Client]:
    """Give browsers of a visitor and of somebody with another account."""
    member = Client()
    member.force_login(User.objects.create_user("member", "member@example.org", "x"))
    return [Client(), member]


# Who sees what


@pytest.mark.parametrize("page", PAGES)
def test_owner_and_staff_get_it_and_strangers_404(
    rosa: Client, admin_client: Client, others: list[Client], at: str, page: str
) -> None:
    assert [client.get(at + page).status_code for client in (rosa, admin_client, *others)] == [200, 200, 404, 404]
    assert rosa.get(f"/studies/nosuch1234/{page}").status_code == 404
    assert rosa.put(at + page).status_code == 405


@pytest.mark.parametrize("button", BUTTONS)
def test_strangers_change_nothing(others: list[Client], rosa: Client, at: str, button: str) -> None:
    before = list(Participant.objects.order_by("pk").values())
    for client in others:
        assert client.post(at + button, {"reason": "because", "confirm": "yes"}).status_code == 404
    assert rosa.get(at + button).status_code == 405
    assert list(Participant.objects.order_by("pk").values()) == before


@pytest.mark.parametrize("number", ["0", "7", "9" * 400, "x", "٣"])
def test_nobody_of_that_number_is_404(rosa: Client, at: str, number: str) -> None:
    for button in ("exclude", "take-back", "erase"):
        assert rosa.post(f"{at}people/{number}/{button}/", {"reason": "x", "confirm": "yes"}).status_code == 404


def test_the_owner_of_a_study_sees_nothing_of_a_dataset_that_became_private(rosa: Client, run: Study, at: str) -> None:
    Dataset.objects.update(owner=None)
    assert [rosa.get(at + page).status_code for page in PAGES] == [404] * 4


# Results


def test_results_say_what_was_counted(rosa: Client, run: Study, at: str) -> None:
    page = text(rosa.get(f"{at}results/"))
    top, far = results.headline(results.gather(run)), results.progress(run)
    assert f"{far.answers} of {run.slots.count()} wanted" in page
    assert f"{top.ties} of {top.majority.n} questions" in page
    assert f"{top.refusals} of {top.answers} times" in page
    assert top.single.text in page
    for row in results.confusion(results.gather(run))[:5]:
        assert f"<td>{row.right}</td><td>{row.given}</td>" in page
    assert "Majority, nobody excluded" not in page


def test_what_is_excluded_stands_beside_what_is_not(rosa: Client, run: Study, at: str) -> None:
    rosa.post(f"{at}people/2/exclude/", {"reason": "Pressed one key."})
    page = text(rosa.get(f"{at}results/"))
    assert "Majority, nobody excluded" in page and "all but 1 excluded" in page
    assert "The answers of 1 participant were excluded: Pressed one key (n = 1)." in page


def test_methods_text_has_the_figures(rosa: Client, run: Study, at: str) -> None:
    page = text(rosa.get(f"{at}results/"))
    top = results.headline(results.gather(run))
    share = f"{100 * top.majority.right / top.majority.n:.1f} % (n = {top.majority.n})"
    assert f"We drew {run.questions.count()} questions uniformly at random" in page
    assert f"is right on {share} of questions" in page
    assert "Nobody’s answers were excluded." in page
    assert f"Krippendorff’s alpha (nominal) is {top.alpha:.3f}" in page


def test_questions_to_look_at_are_linked_and_filtered(rosa: Client, run: Study, at: str) -> None:
    found = results.gather(run)
    tied = results.ties(found)
    assert tied
    page = text(rosa.get(f"{at}results/?flag=split"))
    shown = [int(number) for number in re.findall(r'href="/datasets/rows/val/q/(\d+)/"', page)]
    assert sorted(shown) == tied
    assert set(tied) <= {int(n) for n in re.findall(r"/q/(\d+)/", text(rosa.get(f"{at}results/?flag=x&page=x")))}
    every = {int(n) for n in re.findall(r"/q/(\d+)/", text(rosa.get(f"{at}results/?flag=every")))}
    counted = Answer.objects.counted().filter(question__study=run)
    assert every == set(counted.values_list("question__position", flat=True))


def test_a_draft_and_a_study_without_answers_say_so(rosa: Client, run: Study) -> None:
    draft = Study.objects.create(split=run.split, owner=run.owner, title="Draft")
    assert "Nobody was asked yet" in text(rosa.get(f"/studies/{draft.code}/results/"))
    assert "Nobody came yet" in text(rosa.get(f"/studies/{draft.code}/people/"))
    empty = answered.opened(run.split, [run.questions.values_list("position", flat=True)[0]])
    assert "No answer yet" in text(rosa.get(f"/studies/{empty.code}/results/"))


def test_pages_ask_the_database_as_often_however_many_came(
    rosa: Client, run: Study, at: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for page in ("results/", "people/"):
        rosa.get(at + page)
        with django_assert_max_num_queries(20):
            rosa.get(at + page)


# People


def test_people_are_listed_with_what_they_did(rosa: Client, run: Study, at: str) -> None:
    page = text(rosa.get(f"{at}people/"))
    for number, person in enumerate(run.participants.order_by("pk"), start=1):
        given = Answer.objects.current().filter(participant=person).count()
        assert re.search(rf'id="P{number:03}">.*?<td class="num">{given}</td>', page)
    assert page.count("by the test link") == 1


def test_excluding_needs_a_reason_and_is_taken_back(rosa: Client, run: Study, first: Participant, at: str) -> None:
    refused = rosa.post(f"{at}people/1/exclude/", {"reason": "  "})
    first.refresh_from_db()
    assert (refused.status_code, first.excluded) == (400, None)
    assert "Expected a reason" in text(refused)
    done = rosa.post(f"{at}people/1/exclude/", {"reason": "does not see colours"})
    first.refresh_from_db()
    assert done.headers["Location"] == f"{at}people/?page=1#P001"
    assert first.excluded is not None and first.reason == "does not see colours"
    assert not Answer.objects.counted().filter(participant=first).exists()
    assert "Left out: does not see colours" in text(rosa.get(f"{at}people/"))
    rosa.post(f"{at}people/1/take-back/")
    first.refresh_from_db()
    assert (first.excluded, first.reason) == (None, "")
    assert Answer.objects.counted().filter(participant=first).exists()


def test_excluding_again_changes_neither_time_nor_reason(rosa: Client, first: Participant, at: str) -> None:
    rosa.post(f"{at}people/1/exclude/", {"reason": "does not see colours"})
    first.refresh_from_db()
    rosa.post(f"{at}people/1/exclude/", {"reason": "another"})
    assert Participant.objects.get(pk=first.pk).excluded == first.excluded
    assert Participant.objects.get(pk=first.pk).reason == "does not see colours"


def test_erasing_needs_a_tick(rosa: Client, first: Participant, at: str) -> None:
    Participant.objects.filter(pk=first.pk).update(identity="5f0c0ffee", comment="I am Rosa")
    assert "I am Rosa" in text(rosa.get(f"{at}people/"))
    assert rosa.post(f"{at}people/1/erase/").status_code == 400
    assert Participant.objects.get(pk=first.pk).identity == "5f0c0ffee"
    rosa.post(f"{at}people/1/erase/", {"confirm": "yes"})
    page = text(rosa.get(f"{at}people/"))
    assert "5f0c0ffee" not in page and "I am Rosa" not in page


def test_an_export_says_whom_to_approve_and_stores_nothing(rosa: Client, first: Participant, at: str) -> None:
    Participant.objects.filter(pk=first.pk).update(identity="5f0", session="s-1", stage="completed")
    before = list(Participant.objects.order_by("pk").values())
    rows = "Submission id,Participant id,Status,Completion code,Time taken\ns-1,5f0,AWAITING REVIEW,,600\ns-2,5f1,,,\n"
    sent = {"file": SimpleUploadedFile("export.csv", rows.encode()), "reward": "2.50"}
    page = text(rosa.post(f"{at}people/", sent))
    assert re.search(r'<textarea id="approve"[^>]*>s-1</textarea>', page)
    assert "GBP 15.00" in page and "Unknown here: s-2." in page
    assert list(Participant.objects.order_by("pk").values()) == before


def test_what_is_no_export_is_refused_beside_the_field(rosa: Client, at: str) -> None:
    sent = {"file": SimpleUploadedFile("export.csv", b"a,b\n1,2\n"), "reward": "x"}
    refused = rosa.post(f"{at}people/", sent)
    assert refused.status_code == 400
    assert "Expected the columns Submission id, Participant id" in text(refused)
    assert rosa.post(f"{at}people/", {}).status_code == 400


# Files


def test_files_have_every_answer(rosa: Client, run: Study, at: str) -> None:
    reply = rosa.get(f"{at}answers.csv")
    assert reply.headers["Content-Disposition"] == f'attachment; filename="study-{run.code}-answers.csv"'
    rows = list(csv.DictReader(b"".join(reply).decode().splitlines()))  # type: ignore[arg-type]
    objects = [json.loads(line) for line in b"".join(rosa.get(f"{at}answers.jsonl")).splitlines()]  # type: ignore[arg-type]
    assert objects == [line._asdict() for line in lines(run)]
    assert [row["answer"] for row in rows] == [one["answer"] for one in objects]
