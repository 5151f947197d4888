"""Deleting a dataset with submissions of others: it works, names no private data, and notifies the submitters."""

import html
from collections.abc import Callable

import pytest
from django.test import Client

from annotations.models import Study
from generation import extension_points
from generation.making import dataset_jobs
from generation.models import Dataset, Split
from generation.splits import question_sets
from tests.clients import client_of
from tests.generation import small
from tests.leaderboards import sent
from webapp.leaderboards import baselines
from webapp.leaderboards.board_lookup import HIDDEN, trained_on
from webapp.leaderboards.models import Method, Submission, Suite
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SECRET = "A secret plan of noor"


@pytest.fixture
def owned(db: None) -> Dataset:
    """Give a public dataset with an owner, which the tests delete."""
    made = small.made("parting", with_images=False, splits={"train": {"scenes": 4}, "val": {"scenes": 4}})
    owner = User.objects.create_user("rosa", password="x")
    Dataset.objects.filter(pk=made.pk).update(owner=owner)
    made.refresh_from_db()
    return made


@pytest.fixture
def private(owned: Dataset) -> Method:
    """Give a private method of another account, with two submissions to the dataset."""
    noor = User.objects.create_user("noor", password="x")
    made = Method.objects.create(name=SECRET, owner=noor)
    for run in ("1", "2"):
        sent.submitted(made, split_of(owned), sent.truth_of(split_of(owned)), run=run)
    return made


def split_of(dataset: Dataset, name: str = "val") -> Split:
    return dataset.splits.select_related("dataset", "parent", "reference").get(name=name)


def page_of(client: Client, address: str) -> str:
    return html.unescape(client.get(address).content.decode())


def test_an_owner_deletes_a_dataset_to_which_others_submitted(owned: Dataset, private: Method) -> None:
    while baselines.begin():
        pass
    client, address = client_of(owned.owner), f"/datasets/{owned.slug}/edit/delete/"
    page = page_of(client, address)
    assert "2 submissions of 1 method by 1 account, with their scores." in page
    assert SECRET not in page and "noor" not in page
    refused = client.post(address, {"confirm": ""})
    assert refused.status_code == 400 and SECRET not in refused.content.decode() and Submission.objects.count() > 0
    assert client.post(address, {"confirm": owned.slug}).status_code == 302
    assert not Submission.objects.filter(method=private).exists()
    dataset_jobs.work(dataset=owned)
    assert not Dataset.objects.filter(pk=owned.pk).exists()
    assert [note.submissions for note in private.removed.all()] == [2]


def test_only_the_owner_of_a_method_sees_the_note_about_the_deletion(owned: Dataset, private: Method) -> None:
    dataset_jobs.delete(owned)
    dataset_jobs.work(dataset=owned)
    said = "2 submissions to a deleted dataset or question set were removed on"
    assert said in page_of(client_of(private.owner), private.get_absolute_url())
    Method.objects.filter(pk=private.pk).update(published="2026-01-01T00:00:00Z")
    assert said not in page_of(Client(), private.get_absolute_url())


def test_a_deletion_that_runs_twice_leaves_one_note(owned: Dataset, private: Method) -> None:
    extension_points.release(owned.splits.all())
    extension_points.release(owned.splits.all())
    assert [note.submissions for note in private.removed.all()] == [2]


@pytest.mark.parametrize(("visibility", "read"), [("public", "parting/train"), ("link", HIDDEN)])
def test_the_name_of_a_deleted_training_split_is_kept(
    owned: Dataset, val: Split, method: Method, visibility: str, read: str
) -> None:
    Dataset.objects.filter(pk=owned.pk).update(visibility=visibility)
    other = split_of(owned, "train")
    for run, learned in (("1", other), ("2", None)):
        sent.submitted(method, val, sent.truth_of(val), run=run, trained_on=learned)
    first, second = Submission.objects.filter(method=method).order_by("pk")
    assert "The training split of 1 submission to other splits" in " ".join(
        extension_points.losses_of(owned.splits.all())
    )
    dataset_jobs.delete(owned)
    dataset_jobs.work(dataset=owned)
    first.refresh_from_db()
    assert first.trained_on is None and first.configuration != second.configuration
    assert trained_on(User(username="stranger"), first) == read
    assert trained_on(method.owner, first) == "parting/train"
    Method.objects.filter(pk=method.pk).update(published="2026-01-01T00:00:00Z")
    assert read in page_of(Client(), first.get_absolute_url())


def test_suites_of_other_accounts_lose_a_column(owned: Dataset, val: Split) -> None:
    suite = sent.suite_of("secret-plan", val, split_of(owned, "train"))
    Suite.objects.filter(pk=suite.pk).update(title=SECRET, is_public=False)
    page = page_of(client_of(owned.owner), f"/datasets/{owned.slug}/edit/delete/")
    assert "A column of 1 suite." in page and SECRET not in page
    dataset_jobs.delete(owned)
    dataset_jobs.work(dataset=owned)
    assert [member.split for member in suite.members.all()] == [val]


def test_a_question_set_is_deleted_with_its_submissions(
    owned: Dataset, method: Method, recipe: Callable[..., Split]
) -> None:
    few = recipe(owned)
    sent.submitted(method, few, sent.truth_of(few))
    page = page_of(client_of(owned.owner), f"/datasets/{owned.slug}/few/delete/")
    assert "1 submission of 1 method by 1 account" in page
    question_sets.remove(few)
    assert not method.submissions.exists() and method.removed.get().submissions == 1


@pytest.fixture
def recipe() -> Callable[[Dataset], Split]:
    """Give a function that makes a question set of a dataset."""
    from generation.splits.split_recipes import read_recipe

    def make(dataset: Dataset) -> Split:
        chosen = read_recipe({"parent": "val", "first": 5})
        return dataset_jobs.derive(
            Split.objects.for_browse().get(dataset=dataset, name="val"), name="few", recipe=chosen
        )

    return make


def test_a_study_blocks_the_deletion_and_a_study_of_another_account_is_not_named(owned: Dataset) -> None:
    noor = User.objects.create_user("noor", password="x")
    Study.objects.create(split=split_of(owned), owner=noor, title=SECRET, code="abcdef0123", wanted=2)
    client, address = client_of(owned.owner), f"/datasets/{owned.slug}/edit/delete/"
    assert "a study of another account" in page_of(client, address)
    answer = client.post(address, {"confirm": owned.slug})
    assert answer.status_code == 409 and SECRET not in answer.content.decode()
    assert Dataset.objects.get(pk=owned.pk).state == Dataset.State.COMPLETE
    Study.objects.update(owner=owned.owner)
    assert f"study {SECRET}" in page_of(client, address)
