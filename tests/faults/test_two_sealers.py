"""Two processes seal a split at the same time: there is one result, one index, and nothing is left over."""

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.faults.sealers import PLACES
from tests.faults.stack import SLUG, SPEC, Site
from tests.proof import size

RACES = """
from tests.faults.sealers import race
print(json.dumps([race(slug=given["slug"], split="train", late=late, heir=heir) for late, heir in given["pairs"]]))
"""
WELL = {"ends": [0, 0], "job": ["done", 1, ""], "split": "complete"}


@pytest.mark.full
def test_two_processes_that_seal_a_split_at_once_leave_one_result(
    site: Site, undisturbed: Callable[[dict[str, Any]], str]
) -> None:
    site.begin()
    assert site.manage("work", "--dataset", SLUG).returncode == 0
    before = site.stored()
    pairs = list(itertools.islice(itertools.cycle(itertools.product(PLACES, PLACES)), size(160)))
    ends = json.loads(site.python(RACES, {"slug": SLUG, "pairs": pairs}, seconds=60 + 5 * len(pairs)))
    assert [(pair, end) for pair, end in zip(pairs, ends, strict=True) if end != WELL] == []
    assert site.stored() == before
    assert site.state() == ("complete", "")
    assert site.fingerprint() == undisturbed(SPEC)
    site.check_stored_once()
