"""Several processes that score at the same time never publish more than the budget, and lose no submission."""

import subprocess
import sys

import pytest

from tests import proof
from tests.faults.stack import SLUG, Site
from tests.generation import small
from tests.webapp.commands import ROOT

pytestmark = pytest.mark.slow
PROCESSES, SUBMISSIONS, BUDGET = (4, 16, 5) if proof.SHARE == 1 else (2, 6, 2)
BEGIN = """
from generation.storage import files
from generation.making import dataset_jobs as jobs
from generation.storage.split_index import SplitIndex
from generation.models import Split
from webapp.leaderboards.models import DisclosureSettings, Method, Submission
from webapp.models import User
made = jobs.start(given["spec"], slug=given["slug"], visibility="public", images=False, secrets=given["secrets"])
jobs.work(dataset=made)
split = Split.objects.for_browse().get(dataset=made, name="test")
DisclosureSettings.objects.create(split=split, budget=given["budget"])
index = SplitIndex.open(split)
answers = "\\n".join([index.answer_values[code] for code in index.answers.tolist()] + [""]).encode()
for number in range(given["submissions"]):
    method = Method.objects.create(name="Many", owner=User.objects.create_user(f"u{number}"))
    row = Submission.objects.create(method=method, split=split, file=f"submissions/{number}", filename="a.txt")
    files.put(row.file, answers)
"""
SCORE = """
import django, sys; django.setup()
from webapp.leaderboards import scoring
from webapp.leaderboards.models import Submission
list(Submission.objects.all()[:1])  # the database is reached before anybody begins
print("ready", flush=True)
sys.stdin.readline()
while scoring.RUNNER.take_turn():  # on a busy machine, one turn may end before all submissions are scored
    pass
"""


def test_the_budget_is_never_exceeded(site: Site) -> None:
    splits = {"train": {"scenes": 2}, "test": {"scenes": 10, "withheld": True}}
    spec = {**small.SPEC, "splits": splits}
    given = {"spec": spec, "slug": SLUG, "secrets": {"test": "0f" * 16}, "budget": BUDGET, "submissions": SUBMISSIONS}
    site.python(BEGIN, given)
    command = [sys.executable, "-c", SCORE]
    scorers = [
        subprocess.Popen(
            command, cwd=ROOT, env=site.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(PROCESSES)
    ]
    for one in scorers:
        assert one.stdout is not None and one.stdout.readline() == "ready\n"
    for one in scorers:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.close()
    assert [one.wait(120) for one in scorers] == [0] * PROCESSES
    rows = site.ask("SELECT state, count(*), sum(cost) FROM leaderboards_disclosure GROUP BY state ORDER BY state")
    assert [tuple(row) for row in rows] == [("deferred", SUBMISSIONS - BUDGET, 0), ("published", BUDGET, BUDGET)]
    assert site.ask("SELECT count(*) FROM leaderboards_score")[0][0] == SUBMISSIONS
