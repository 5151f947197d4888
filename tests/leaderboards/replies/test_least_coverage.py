"""The least coverage of a board: its settings, and submissions under it."""

import html
import json
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from generation.models import Dataset, Split
from tests.clients import client_of
from tests.leaderboards import sent
from tests.leaderboards.replies import replied
from webapp.leaderboards import baselines, scoring, uploads
from webapp.leaderboards.models import BoardSettings, Method, Submission
from webapp.leaderboards.replies.coverage import least_coverage
from webapp.leaderboards.uploads import Order, UploadRefused
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
PAGE = "/leaderboards/scored/val/settings/"


@pytest.fixture
def owned(scored: Dataset, admin_user: User) -> Client:
    """Give a browser of an account that owns the dataset."""
    owner = User.objects.create_user("olga", "olga@example.org", "x")
    Dataset.objects.filter(pk=scored.pk).update(owner=owner)
    return client_of(owner)


def test_the_numbers_of_split_dataset_and_site_count_in_this_order(val: Split, settings: Any) -> None:
    assert least_coverage(val) == 0
    settings.LEAST_COVERAGE = 10
    assert least_coverage(val) == 10
    BoardSettings.objects.create(dataset=val.dataset, least_coverage=20)
    assert least_coverage(val) == 20
    part = Split(parent=val, dataset=val.dataset)
    BoardSettings.objects.create(split=val, least_coverage=0)
    assert least_coverage(val) == 0 and least_coverage(part) == 0


@pytest.mark.parametrize("wrong", [{}, {"least_coverage": 101}])
def test_the_database_refuses_settings_of_nothing_or_too_much(val: Split, wrong: dict[str, int]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        BoardSettings.objects.create(**({"split": val} if wrong else {}), **wrong)


def test_a_submission_under_it_is_refused_with_the_numbers(method: Method, val: Split) -> None:
    BoardSettings.objects.create(split=val, least_coverage=95)
    incomplete = {at: "failed" if at < 6 else "cut off" for at in range(9)}
    answers = replied.answers_of(val, incomplete=incomplete)
    records = replied.records_of(val, incomplete=incomplete)
    row = replied.submit(method, val, answers, records)
    assert row.state == Submission.State.FAILED and not row.scores.exists()
    said = "Expected answers to at least 95 % of 160 questions, got 151 (94.3 %): 6 failed, 3 cut off."
    assert said in row.message
    with pytest.raises(UploadRefused) as refused:
        uploads.check_upload(method.owner, Order(method, val), sent.as_file(answers), "a.json")
    assert "got 151 (94.3 %): 9 without an answer." in refused.value.message and refused.value.code == "bad_predictions"
    answers[0] = "yes"
    assert sent.submitted(method, val, answers).is_scored  # 152 of 160 are 95 %


def test_failures_of_a_runner_count_as_unanswered(method: Method, val: Split) -> None:
    BoardSettings.objects.create(split=val, least_coverage=100)
    answers = [*sent.truth_of(val)[:-1], "[LMMS_EVAL_BUDGET_EXCEEDED]"]
    row = sent.submitted(method, val, answers)
    assert row.state == Submission.State.FAILED and "got 159 (99.3 %): 1 failed." in row.message


def test_baselines_are_exempt(val: Split) -> None:
    BoardSettings.objects.create(split=val, least_coverage=100)
    baselines.begin()
    while scoring.RUNNER.take_turn():
        pass
    rows = Submission.objects.filter(split=val).exclude(method__baseline="")
    assert rows and all(row.is_scored for row in rows)
    assert all(score.answered is None for row in rows for score in row.scores.all())


def test_the_owner_sets_it_on_the_page(owned: Client, val: Split) -> None:
    page = html.unescape(owned.get(PAGE).content.decode())
    assert "may leave questions unanswered" in page
    assert PAGE in owned.get("/leaderboards/scored/val/").content.decode()
    assert owned.post(PAGE, {"split_coverage": "95", "dataset_coverage": "50"}).status_code == 302
    test = Split.objects.get(dataset=val.dataset, name="train")
    assert (least_coverage(val), least_coverage(test)) == (95, 50)
    page = html.unescape(owned.get(PAGE).content.decode())
    assert "at least 95 % of the 160 questions" in page and 'value="95"' in page and 'value="50"' in page
    for address in ("/leaderboards/scored/val/", "/submissions/new/?to=scored/val"):
        found = owned.get(address, follow=True)
        assert found.status_code == 200
    assert "at least 95 % of the questions" in owned.get("/leaderboards/scored/val/").content.decode()
    assert json.loads(owned.get("/api/v1/boards/scored/val/").content)["least_coverage"] == 95
    assert owned.post(PAGE, {"split_coverage": "", "dataset_coverage": "50"}).status_code == 302
    assert least_coverage(val) == 50 and BoardSettings.objects.count() == 1


@pytest.mark.parametrize("value", ["-1", "101", "x", "9" * 40, "1.5"])
def test_other_values_are_refused(owned: Client, val: Split, value: str) -> None:
    answer = owned.post(PAGE, {"split_coverage": value, "dataset_coverage": "10"})
    assert answer.status_code == 400 and not BoardSettings.objects.exists()


def test_others_may_not_open_it(val: Split, as_member: Client, admin_client: Client) -> None:
    assert as_member.get(PAGE).status_code == 404 and as_member.post(PAGE, {}).status_code == 404
    assert Client().get(PAGE).status_code == 302
    assert admin_client.get(PAGE).status_code == 200 and admin_client.put(PAGE).status_code == 405
    assert admin_client.get("/leaderboards/scored/none/settings/").status_code == 404
    assert PAGE not in as_member.get("/leaderboards/scored/val/").content.decode()
