"""Accounts take turns: one account's many orders do not let another account wait for all of them."""

import json

import pytest

from tests.faults.stack import SPEC, Site

BEGIN = """
import time
from django.db.models.functions import Now
from generation.exchange import export_jobs
from generation.models import AbstractJob, Dataset, Export, Split
from generation.queue import leases
from tests.faults.forks import end_of, start
from webapp.leaderboards import scoring
from webapp.leaderboards.models import Method, Submission, Training
from webapp.leaderboards.training import training_jobs
from webapp.models import User

split = Split.objects.select_related("dataset").first()
Dataset.objects.update(state=Dataset.State.COMPLETE, fingerprint="ab" * 32, completed=Now())
users = {name: User.objects.create_user(name, f"{name}@example.org", "x") for name in ("ada", "ben", "eve")}
methods = {name: Method.objects.create(owner=user, name="m") for name, user in users.items()}

def order(kind, name):
    user = users[name]
    if kind == "trainings":
        return Training.objects.create(method="n-grams", owner=user, train=split, val=split, name=name)
    if kind == "exports":
        return Export.objects.create(dataset=split.dataset, user=user, format="jsonl")
    return Submission.objects.create(method=methods[name], split=split)

RUNNERS = {"trainings": training_jobs.RUNNER, "exports": export_jobs.RUNNER, "submissions": scoring.RUNNER}

def claim(kind):
    job = RUNNERS[kind].claim_first(RUNNERS[kind].rows.claimable())
    return job

def work(kind, seconds):
    while (job := claim(kind)) is not None:
        time.sleep(seconds)
        leases.fail(job, message="It was claimed.")

def owner(job):
    path = type(job).account.split("__")
    for step in path:
        job = getattr(job, step)
    return job.username
"""
ALONE = (
    BEGIN
    + """
order_of_claims = {}
for kind in RUNNERS:
    for _ in range(20):
        order(kind, "ada")
    first = claim(kind)
    order(kind, "ben")
    leases.fail(first, message="It was claimed.")
    found = [owner(first)]
    for _ in range(3):
        job = claim(kind)
        found.append(owner(job))
        leases.fail(job, message="It was claimed.")
    order_of_claims[kind] = found
print(json.dumps(order_of_claims))
"""
)
TOGETHER = (
    BEGIN
    + """
for _ in range(8):
    order("trainings", "ada")
for name in ("ben", "eve"):
    for _ in range(2):
        order("trainings", name)
workers = [start(lambda: work("trainings", 0.05)) for _ in range(2)]
assert [end_of(worker) for worker in workers] == [0, 0]
rows = Training.objects.select_related("owner").order_by("started", "pk")
print(json.dumps([[row.owner.username, row.state, row.attempts] for row in rows]))
"""
)
SINGLE = (
    BEGIN
    + """
for name in users:
    for kind in ("trainings", "exports"):
        order(kind, name)
workers = [start(lambda: [RUNNERS[kind].claim() for kind in ("trainings", "exports")]) for _ in range(6)]
assert [end_of(worker) for worker in workers] == [0] * 6
print(json.dumps([model.objects.filter(state="running").count() for model in (Training, Export)]))
"""
)


@pytest.fixture
def ordered(site: Site) -> Site:
    site.begin(SPEC, images=False)
    return site


@pytest.mark.full
def test_the_second_account_is_next_although_the_first_ordered_twenty_jobs_before(ordered: Site) -> None:
    found = json.loads(ordered.python(ALONE))
    expected = ["ada", "ben", "ada", "ada"]
    assert found == {"trainings": expected, "exports": expected, "submissions": expected}


def test_two_processes_claim_every_job_once_and_serve_the_accounts_in_turn(ordered: Site) -> None:
    found = json.loads(ordered.python(TOGETHER))
    assert [row[1:] for row in found] == [["failed", 1]] * 12
    names = [name for name, *_ in found]
    assert {"ben", "eve"} <= set(names[:4]) and names[:7].count("ada") <= 4, names


def test_of_six_processes_of_a_machine_one_claims_a_training_and_one_an_export(ordered: Site) -> None:
    assert json.loads(ordered.python(SINGLE)) == [1, 1]
