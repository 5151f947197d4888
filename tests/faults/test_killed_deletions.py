"""A deletion works in batches. If its process is killed half-way, the next one finishes it; other data stay."""

import itertools
import json
import random

import pytest

from tests.faults.deletions import STATES
from tests.faults.stack import SLUG, SPEC, Site
from tests.proof import size

DELETIONS = """
from tests.faults.deletions import make_and_delete
print(json.dumps([make_and_delete(given["spec"], slug="doomed", **doomed) for doomed in given["doomed"]]))
"""


@pytest.mark.full
def test_a_deletion_is_finished_by_the_next_worker(site: Site) -> None:
    site.environment.update(FAULTS_BATCH="50", FAULTS_PAUSE="0")  # the next worker does not wait
    site.begin()
    assert site.manage("work", "--dataset", SLUG).returncode == 0
    rows, stored = site.dump(), site.stored()
    seeds = [random.SystemRandom().randrange(10**6) for _ in range(size(60, least=len(STATES)))]
    doomed = [{"state": state, "seed": seed} for state, seed in zip(itertools.cycle(STATES), seeds, strict=False)]
    ends = json.loads(site.python(DELETIONS, {"spec": SPEC, "doomed": doomed}, seconds=60 + 30 * len(doomed)))
    assert all(end[-1] == 0 for end in ends), (doomed, ends)
    assert any(-9 in end for end in ends), ends
    assert site.dump() == rows, doomed
    assert site.stored() == stored, doomed
    site.check_stored_once()
