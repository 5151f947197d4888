"""Baselines of an open split whose reference split is withheld: their guesses reveal withheld answers."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from generation.making import dataset_jobs, fresh_twins
from generation.models import Dataset, Split
from generation.queue import leases
from generation.splits.withheld_answers import open_answers
from tests.generation import small
from webapp.leaderboards import baselines, deletion, scoring
from webapp.leaderboards.entries import entries_of, find_entry
from webapp.leaderboards.models import Submission
from webapp.models import User

pytestmark = pytest.mark.django_db
BOARD, API = "/leaderboards/hidden/val/", "/api/v1/boards/hidden/val/"
ALL = {"Chance", "Majority", "Q-type mode", "Nearest question"}


@pytest.fixture
def val(db: None) -> Split:
    """Give an open split with its baselines; the answers of its reference split are withheld."""
    splits = {"train": {"scenes": 4, "withheld": True}, "val": {"scenes": 10}}
    made = small.made("hidden", with_images=False, splits=splits, owner=User.objects.create_user("olga"))
    score_baselines()
    return Split.objects.for_browse().get(dataset=made, name="val")


def score_baselines() -> None:
    while baselines.begin():
        pass
    scoring.RUNNER.take_turn()


def twin_of(split: Split, *, owner: User | None = None) -> Split:
    """Return a complete fresh twin with its baselines."""
    [made] = fresh_twins.make_twins(split, owner=owner)
    dataset_jobs.work(dataset=made.split.dataset)
    score_baselines()
    return Split.objects.for_browse().get(twin=made)


def rows(user: User | AnonymousUser, split: Split) -> set[str]:
    return {entry.name for entry in entries_of(user, split)}


def test_strangers_see_no_baseline_that_learned_from_withheld_answers(val: Split, client: Client) -> None:
    learned = Submission.objects.filter(split=val, trained_on__name="train")
    assert learned.count() == 3
    assert rows(AnonymousUser(), val) == rows(User.objects.create_user("mira"), val) == {"Chance"}
    for row in learned:
        keys = (f"s{row.pk}", f"m{row.method_id}", f"m{row.method_id}-{row.trained_on_id}--")
        assert [find_entry(AnonymousUser(), val, key) for key in keys] == [None] * len(keys)
        for page in ("questions", "slices"):
            assert client.get(f"{BOARD}{page}/?entry={keys[2]}").status_code == 404
            assert client.get(f"{API}{page}/?entry={keys[0]}").status_code == 404
        assert client.get(row.get_absolute_url()).status_code == 404
        assert client.get(f"/api/v1/submissions/{row.pk}/slices/").status_code == 404
        assert row.get_absolute_url() not in client.get(row.method.get_absolute_url()).content.decode()


def test_the_owner_sees_all_baselines_and_so_does_everybody_after_the_answers_are_opened(val: Split) -> None:
    assert rows(User.objects.get(username="olga"), val) == ALL
    assert open_answers(Dataset.objects.get().splits.get(name="train"))
    assert rows(AnonymousUser(), val) == ALL


def test_the_owner_of_a_twin_sees_no_baseline_that_learned_from_answers_withheld_by_somebody_else(
    val: Split, client: Client
) -> None:
    rosa = User.objects.create_user("rosa")
    twin = twin_of(val, owner=rosa)
    learned = Submission.objects.filter(split=twin, trained_on=val.reference)
    assert learned.count() == 3
    assert rows(rosa, twin) == {"Chance"}
    assert rows(User.objects.create_superuser("root"), twin) == ALL
    client.force_login(rosa)
    board = f"/leaderboards/{twin.dataset.slug}/val/"
    for row in learned:
        assert client.get(f"{board}questions/?entry=s{row.pk}").status_code == 404
        assert client.get(row.get_absolute_url()).status_code == 404
        assert row.get_absolute_url() not in client.get(row.method.get_absolute_url()).content.decode()
    assert open_answers(Split.objects.get(dataset__slug="hidden", name="train"))
    assert rows(rosa, twin) == ALL


def test_deleting_the_withheld_split_opens_no_baseline_that_learned_from_it(
    val: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RENEWAL", 86_400.0)  # the renewing thread cannot see this test's transaction
    twin = twin_of(val)
    assert open_answers(twin)
    hidden = Dataset.objects.get(slug="hidden")
    [lost] = [line for line in deletion.losses(hidden.splits.all()) if "baseline" in line]
    assert lost.startswith("3 baselines on boards of other splits")
    dataset_jobs.delete(hidden)
    score_baselines()
    dataset_jobs.work(dataset=hidden)
    assert not Dataset.objects.filter(slug="hidden").exists()
    score_baselines()
    twin = Split.objects.for_browse().get(pk=twin.pk)
    assert twin.reference is None
    assert rows(AnonymousUser(), twin) == {"Chance"}


def test_strangers_see_no_baseline_of_a_public_twin_that_learned_from_a_private_split(val: Split) -> None:
    twin = twin_of(val)
    train = val.dataset.splits.get(name="train")
    assert open_answers(twin) and open_answers(train)
    twin = Split.objects.for_browse().get(pk=twin.pk)
    assert rows(AnonymousUser(), twin) == ALL
    Dataset.objects.filter(slug="hidden").update(visibility=Dataset.Visibility.PRIVATE)
    assert rows(AnonymousUser(), twin) == {"Chance"}
    assert rows(User.objects.get(username="olga"), twin) == ALL
    [lost] = [line for line in deletion.losses(val.dataset.splits.all()) if "baseline" in line]
    assert lost.startswith("3 baselines on boards of other splits")


def test_strangers_see_no_baseline_that_learned_from_a_question_set_of_a_withheld_split(val: Split) -> None:
    train = val.dataset.splits.get(name="train")
    assert rows(AnonymousUser(), val) == {"Chance"}
    part = Split(dataset=val.dataset, name="part", ordinal=9, kind="derived", parent=train, recipe="{}")
    part.state, part.fingerprint, part.index_digest = "complete", train.fingerprint, train.index_digest
    part.save()
    Submission.objects.filter(split=val, trained_on=train).update(trained_on=part)
    Split.objects.filter(pk=val.pk).update(reference=part)
    assert rows(AnonymousUser(), Split.objects.for_browse().get(pk=val.pk)) == {"Chance"}
