"""Baselines of an open split whose reference split is withheld: their guesses reveal withheld answers."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from generation.models import Dataset, Split
from generation.splits.withheld_answers import open_answers
from tests.generation import small
from webapp.leaderboards import baselines, scoring
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
    while baselines.begin():
        pass
    scoring.RUNNER.take_turn()
    return Split.objects.for_browse().get(dataset=made, name="val")


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
