"""An attack on withheld answers by many accounts, through the pages and the API of a site with real scoring."""

import io
import itertools
import json
from collections.abc import Iterator
from datetime import timedelta

import numpy as np
import pytest
from allauth.account.models import EmailAddress
from django.db.models import F
from django.test import Client
from pytest_django import Settings

from generation.engine.scoring.ladder import usual_budget
from generation.making import dataset_jobs
from generation.models import Dataset, Split
from generation.storage.split_index import SplitIndex
from tests import riddles
from tests.engine.scoring.test_ladder_attacks import ALLOWED, Told, solved, voted
from tests.proof import size
from tests.riddle_site import riddle_world
from webapp.leaderboards import scoring
from webapp.leaderboards.disclosure import disclosure_budget
from webapp.leaderboards.models import Attempt, Disclosure, Method, Score, Submission
from webapp.models import User

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

QUESTIONS = 600
ACCOUNTS = size(300, name="accounts that attack withheld answers", least=15)
SUBMISSIONS = size(1000, name="their submissions", least=30, most=30)
NAME = "attacked/test"
A_DAY = timedelta(days=1)


@pytest.fixture
def attacked(settings: Settings) -> Iterator[Split]:
    """Give a withheld split of 600 questions with two answers, on a site that verifies e-mail addresses."""
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    with riddle_world():
        spec = json.loads(json.dumps(riddles.SPEC)) | {"scenes_per_chunk": 100}
        spec["splits"]["test"]["scenes"] = QUESTIONS // riddles.PER_SCENE
        owner = User.objects.create_user("owner")
        dataset = dataset_jobs.start(
            spec, slug="attacked", owner=owner, visibility="public", secrets={"test": "0f" * 16}
        )
        dataset_jobs.work(dataset=dataset)
        assert Dataset.objects.get(pk=dataset.pk).state == Dataset.State.COMPLETE
        split = Split.objects.for_browse().get(dataset=dataset, name="test")
        assert split.questions == QUESTIONS
        yield split


def make_accounts() -> list[tuple[Client, Method]]:
    """Return browsers of accounts with verified e-mail addresses, each with a method."""
    found = []
    for number in range(ACCOUNTS):
        user = User.objects.create_user(f"u{number}", f"u{number}@example.org")
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
        client = Client()
        client.force_login(user)
        found.append((client, Method.objects.create(name=f"Method {number}", owner=user)))
    return found


def let_a_day_pass() -> None:
    """Move everything that counts for today's limits back by a day."""
    Submission.objects.exclude(finished=None).update(finished=F("finished") - A_DAY)
    Disclosure.objects.update(made=F("made") - A_DAY)
    Attempt.objects.update(made=F("made") - A_DAY)


def submit(client: Client, method: Method, answers: np.ndarray) -> str:
    """Submit answers and return the address; if the daily limit is reached, submit on the next day."""
    lines = "\n".join([*(riddles.ANSWERS[code] for code in answers), ""])
    for _ in range(2):
        file = io.BytesIO(lines.encode())
        file.name = "answers.txt"
        reply = client.post("/api/v1/submissions/", {"file": file, "method": str(method.pk), "split": NAME})
        if reply.status_code == 202:
            scoring.RUNNER.take_turn()
            url: str = reply.json()["url"]
            return url
        assert reply.status_code == 429, reply.content
        let_a_day_pass()
    raise AssertionError("refused on a new day too")


def test_attackers_with_many_accounts_end_within_five_points_of_guessing(attacked: Split) -> None:
    chance, people = np.random.default_rng(5), make_accounts()
    sent = chance.integers(0, 2, (SUBMISSIONS, QUESTIONS))
    told: dict[int, float] = {}
    for number, (client, method) in zip(range(SUBMISSIONS), itertools.cycle(people), strict=False):
        url = submit(client, method, sent[number])
        [score] = client.get(url).json()["scores"]
        found = score["disclosure"]
        if found["figure"] is not None:  # also if the decision was that nothing changed
            told[number] = found["figure"]
        finer = {"low", "high", "deviation", "accuracy_read", "unreadable"}
        assert score["accuracy"] in (None, found["figure"]) and not any(score[name] for name in finer | {"columns"})
    assert len(told) == usual_budget(QUESTIONS) == disclosure_budget.spending_on(attacked).figures
    Method.objects.update(published=F("created"))
    rows = Client().get(f"/leaderboards/{NAME}/board.json").json()["rows"]
    shares = {row["accuracy"]["accuracy"] for row in rows} - {None}
    assert shares == set(told.values()), "the board says nothing else"

    truth = SplitIndex.open(attacked).answers.astype(int)
    guess = np.full(QUESTIONS, round(truth.mean()))  # all questions have one type
    by_type = float((guess == truth).mean())
    known = Told(sent[list(told)], np.array(list(told.values())))
    for decide in (solved, voted):
        assert float((decide(known, guess) == truth).mean()) < by_type + ALLOWED

    rights = Score.objects.filter(split=attacked).order_by("submission").values_list("right", flat=True)
    exact = Told(sent, np.round(np.array(rights) / QUESTIONS, 3))  # figures from before the Ladder existed
    assert float((solved(exact, guess) == truth).mean()) > by_type + ALLOWED
