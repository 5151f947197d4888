"""A dataset that is cancelled and resumed many times in the middle of its making is the same in the end."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.faults.stack import SLUG, SPEC, Site
from tests.proof import size

TOGGLE = """
import random, time
from generation.making import dataset_jobs as jobs
from generation.models import Dataset
dataset = Dataset.objects.get(slug=given["slug"])
chance = random.Random(given["seed"])
jobs.resume(dataset)
while dataset.jobs.filter(state="done").count() < 2:
    time.sleep(0.05)
stopped = 0
for _ in range(given["times"]):
    stopped += jobs.cancel(dataset)
    time.sleep(chance.uniform(0, 0.2))
    jobs.resume(dataset)
    time.sleep(chance.uniform(0, 0.5))
print(stopped)
"""


@pytest.mark.full
def test_a_dataset_cancelled_and_resumed_many_times_is_the_same(
    site: Site, undisturbed: Callable[[dict[str, Any]], str]
) -> None:
    site.environment.update(FAULTS_PACE="0.06", FAULTS_HEARTBEAT="0.3", FAULTS_LEASE="5")
    site.begin()
    assert site.manage("cancel", SLUG).returncode == 0
    site.start("generation")
    site.wait_for_workers()
    assert site.state() == ("cancelled", "")
    assert (site.jobs(state="running"), site.jobs(state="waiting"), site.jobs()) == (0, 0, 0)
    seed = random.SystemRandom().randrange(10**6)
    assert int(site.python(TOGGLE, {"slug": SLUG, "seed": seed, "times": size(200)})) > 0
    assert site.wait_for_end() == ("complete", ""), seed
    assert site.fingerprint() == undisturbed(SPEC)
    site.check_stored_once()
    assert site.processes["generation"].starts == 1
