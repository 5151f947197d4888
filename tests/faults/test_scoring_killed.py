"""kill -9 of background processes while submissions are scored: each submission gets one score, and none is lost."""

import json
import random
import time
from typing import Any

import pytest

from generation.queue import leases
from tests import proof
from tests.faults.stack import SLUG, Site
from tests.faults.test_paused import has_stopped
from tests.generation import fake_world

PER_SCENE = 3
LATEST = 30.0  # seconds; limit of the time from a dead process's end of lease to the score of its submission
BEGIN = """
import random

from generation.making import dataset_jobs as jobs
from generation.storage.split_index import SplitIndex
from generation.models import Split
from webapp.leaderboards import uploads as receiving
from webapp.leaderboards.models import Method
from webapp.leaderboards.uploads import Order
from webapp.models import User
import io
made = jobs.start(given["spec"], slug=given["slug"], visibility="public", images=False)
jobs.work(dataset=made)
split = Split.objects.for_browse().get(dataset=made, name="train")
owner, _ = User.objects.get_or_create(username="mira")
method = Method.objects.create(name="Many", owner=owner, published="2026-01-01T00:00Z")
index = SplitIndex.open(split)
rights = {}
for number in range(given["submissions"]):
    chance = random.Random(number)
    most = len(index.answer_values)
    truth = index.answers.tolist()
    codes = [code if code < most and chance.random() < 0.5 else chance.randrange(most) for code in truth]
    content = "\\n" + "".join(index.answer_values[code] + "\\n" for code in codes[1:])  # the first reply is cut off
    states = ["cut off"] + ["answered"] * (len(codes) - 1)
    records = [{"question": at, "state": state, "reply": f"reply {at}"} for at, state in enumerate(states)]
    replies = io.BytesIO("".join(json.dumps(record) + "\\n" for record in records).encode()) if number % 2 else None
    order, file = Order(method, split, run=str(number)), io.BytesIO(content.encode())
    [row] = receiving.receive(owner, order, file, "a.txt", replies=replies).submissions
    rights[row.pk] = sum(one == other for one, other in zip(codes[1:], truth[1:]))
print(json.dumps(rights), end="")
"""


CHECK = """
from generation.storage import files
from webapp.leaderboards import deletion
from webapp.leaderboards.models import Submission
from webapp.leaderboards.replies import stored_replies
rows = Submission.objects.filter(filename="a.txt")
with_replies = [row for row in rows if int(row.run) % 2]
for row in with_replies:
    assert stored_replies.load(row.replies).records([0])[0][0]["reply"] == "reply 0", row
assert not any(row.file or row.replies_file for row in rows)
assert all(score.answered == score.n - 1 for row in rows for score in row.scores.all())
print(len(with_replies), end="")
"""


def begin(site: Site, *, submissions: int, questions: int) -> dict[int, int]:
    """Make submissions that wait to be scored, and return the number of right answers of each."""
    spec: dict[str, Any] = {**fake_world.PRESET, "questions_per_scene": PER_SCENE, "scenes_per_chunk": 50}
    spec["splits"] = {"train": {"scenes": -(-questions // PER_SCENE)}}
    found = site.python(BEGIN, {"spec": spec, "slug": SLUG, "submissions": submissions})
    return {int(key): right for key, right in json.loads(found).items()}


def states(site: Site) -> dict[int, str]:
    rows = site.ask("SELECT s.id, s.state FROM leaderboards_submission s WHERE s.filename <> ''")
    return {int(key): str(state) for key, state in rows}


def wait_until_scored(site: Site, rights: dict[int, int]) -> None:
    """Check that every submission gets exactly one score, the right one, within a lease and `LATEST` seconds."""
    site.wait_until(lambda: set(states(site).values()) == {"done"}, what="every score", seconds=leases.LEASE + LATEST)
    assert set(states(site)) == set(rights)
    rows = site.ask('SELECT submission_id, "right" FROM leaderboards_score')
    scored = [(int(key), int(right)) for key, right in rows]
    assert {key: right for key, right in scored if key in rights} == rights
    assert len(scored) == len(dict(scored))
    assert int(site.python(CHECK, {})) == len(rights) // 2


@pytest.mark.full
def test_every_submission_is_scored_once_although_processes_are_killed(site: Site) -> None:
    count = proof.size(60, name=f"submissions scored while their process was killed, {site.stack}", least=6)
    rights = begin(site, submissions=count, questions=300)
    chance = random.Random(site.stack)
    site.start("default")
    kills = proof.size(10, least=2)
    for _ in range(kills):
        time.sleep(chance.uniform(0.5, 3))
        site.kill("default")
    wait_until_scored(site, rights)


@pytest.mark.full
def test_a_submission_of_a_process_that_died_on_another_host_is_scored_after_its_lease(site: Site) -> None:
    rights = begin(site, submissions=8, questions=300)
    site.environment["FAULTS_STOPS_AT"] = "finish:3"
    site.start("default")
    site.wait_until(lambda: any(has_stopped(pid) for pid in site.children("default")), what="a score to be half stored")
    del site.environment["FAULTS_STOPS_AT"]
    site.kill("default")
    assert "running" in states(site).values()
    site.tell("UPDATE leaderboards_submission SET worker = 'another-machine:1' WHERE state = 'running'")
    wait_until_scored(site, rights)
