"""kill -9 of every process of a site at random moments: the dataset is the same, and nothing is stored twice.

FAULTS_SEED, which each test prints, sets the moments: random at full size, always the same in smaller runs.
"""

import os
import random
import secrets
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import pytest

from tests import proof
from tests.faults.stack import CLEVR, SPEC, Site

ROLES = ("generation", "default", "beat", "web")
WORKERS = ("generation", "default")
WHOLE, MAIN, CHILD = "all of it", "its main process", "one of its children"
JOBS = 20  # of 27 jobs; a kill after the last job would test nothing
LATER = 1.0  # seconds
NOBODY = 2**22 + 1  # a number that no process has

Undisturbed = Callable[[dict[str, Any]], str]


class Kill(NamedTuple):
    """A kill of a part (`what`) of a role's processes, `seconds` after `jobs` jobs are done."""

    jobs: int
    seconds: float
    role: str
    what: str


def chance(stack: str) -> random.Random:
    """Print the seed and return a random generator for the moments of kills."""
    seed = os.environ.get("FAULTS_SEED") or (str(secrets.randbits(32)) if proof.SHARE == 1 else "1")
    sys.stdout.write(f"FAULTS_SEED={seed}\n")
    return random.Random(f"{seed} {stack}")


def kills(stack: str, *, each: int) -> list[Kill]:
    """Return kills in the order of their moments, `each` kills for every role."""
    draw = chance(stack)
    found = [
        Kill(draw.randrange(JOBS), draw.uniform(0, LATER), role, draw.choice(parts_to_kill(role)))
        for role in ROLES
        for _ in range(each)
    ]
    sys.stdout.writelines(f"{kill}\n" for kill in sorted(found))
    return sorted(found)


def parts_to_kill(role: str) -> list[str]:
    if role == "beat":
        return [WHOLE]
    return [WHOLE, MAIN, CHILD] if role in WORKERS else [WHOLE, MAIN]


def carry_out(site: Site, kill: Kill) -> None:
    """Wait for the moment of a kill, then kill the process."""
    site.wait_until(lambda: site.jobs() >= kill.jobs or site.state().state == "failed", what=str(kill))
    time.sleep(kill.seconds)
    if kill.what == CHILD:
        children = sorted(site.children(kill.role)) or [NOBODY]
        with suppress(ProcessLookupError):
            os.kill(children[int(1000 * kill.seconds) % len(children)], signal.SIGKILL)
    else:
        site.kill(kill.role, alone=kill.what == MAIN)


def finish(site: Site) -> None:
    """Wait until the dataset is complete. It must not fail, because kills are not the jobs' fault."""
    assert site.wait_for_end() == ("complete", "")


def check_pages(site: Site) -> None:
    for page in ("/", "/datasets/rows/", "/datasets/rows/train/", "/datasets/rows/train/q/0/"):
        site.wait_for_web(page)


@pytest.mark.full
def test_kills_of_workers_beat_and_web_server_do_not_change_the_dataset(site: Site, undisturbed: Undisturbed) -> None:
    site.environment.update(FAULTS_PACE="0.05", FAULTS_HEARTBEAT="3")
    site.begin()
    site.start(*ROLES)
    for kill in kills(site.stack, each=proof.size(5)):
        carry_out(site, kill)
    finish(site)
    assert site.fingerprint() == undisturbed(SPEC)
    check_pages(site)
    site.stop()
    site.wait_until(lambda: not site.alive(), what="every process to be gone")
    site.check_stored_once()


@pytest.mark.full
def test_a_job_whose_processes_always_die_fails_in_the_end_and_can_be_resumed(
    embedded_site: Site, undisturbed: Undisturbed
) -> None:
    site = embedded_site
    site.environment.update(FAULTS_HEARTBEAT="0.5", FAULTS_PAUSE="0.1", FAULTS_CRASHES="4")
    site.environment["FAKE_WORLD_DIES_AT"] = "items:85"
    site.begin()
    site.start("generation")
    end = site.wait_for_end()
    assert end.state == "failed"
    died = "items of rows/train batch 8: the process that did it stopped answering. That happened 4 times. A signal"
    assert end.error.startswith(died)
    site.kill("generation")
    del site.environment["FAKE_WORLD_DIES_AT"]
    site.resume()
    assert site.wait_for_end() == ("complete", "")
    assert site.fingerprint() == undisturbed(SPEC)
    site.stop()
    site.check_stored_once()


@pytest.mark.full
@pytest.mark.parametrize("stack", ["embedded", "services"][: proof.size(2)])
def test_processes_of_a_killed_quickstart_end_and_the_next_quickstart_goes_on(
    stack: str, request: pytest.FixtureRequest, undisturbed: Undisturbed
) -> None:
    site: Site = request.getfixturevalue(f"{stack}_site")
    draw = chance(f"quickstart {stack}")
    site.begin(CLEVR)
    site.start("quickstart", kept=False)
    for jobs in sorted(draw.randrange(JOBS) for _ in range(proof.size(5))):
        if draw.random() < 0.5:  # kill it during its start
            time.sleep(draw.uniform(0, 10 * LATER))
            site.kill("quickstart")
        else:
            carry_out(site, Kill(jobs, draw.uniform(0, LATER), "quickstart", CHILD))
            carry_out(site, Kill(jobs, draw.uniform(0, 5 * LATER), "quickstart", WHOLE))
        site.wait_until(lambda: not site.alive(), what="quickstart's processes to end with it")
        site.start("quickstart", kept=False)
    finish(site)
    assert site.fingerprint() == undisturbed(CLEVR)
    check_pages(site)
    site.stop()
    site.wait_until(lambda: not site.alive(), what="every process to be gone")
    site.check_stored_once()
