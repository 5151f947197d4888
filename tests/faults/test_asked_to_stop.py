"""SIGTERM, as updates and deployments send it: processes release their jobs as untried and end in time."""

import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.faults.stack import SPEC, Site
from tests.faults.test_paused import has_stopped

Undisturbed = Callable[[dict[str, Any]], str]
COUNTS = "SELECT max(attempts), max(crashes), max(waits) FROM generation_job"
HELD = "SELECT count(*) FROM generation_job WHERE state = 'running'"
LONG = {**SPEC, "scenes_per_chunk": 90, "splits": {"train": {"scenes": 90}}}  # one job of 9 seconds


@pytest.mark.full
def test_a_worker_that_is_asked_to_stop_releases_its_jobs_as_untried(site: Site, undisturbed: Undisturbed) -> None:
    site.environment.update(FAULTS_PACE="0.1", FAULTS_HEARTBEAT="0.5", STOP_SECONDS="30")
    site.begin(LONG, images=False)
    for again in range(4):  # more often than the limit of attempts of a job
        site.start("generation")
        site.wait_until(lambda: site.ask(HELD) == [(1,)], what=f"the job to be begun, {again}")
        begun = time.monotonic()
        site.stop("generation")
        assert time.monotonic() - begun < 20
        assert site.ask(HELD) == [(0,)]
        assert site.ask(COUNTS) == [(0, 0, 0)]
    site.environment["FAULTS_PACE"] = "0"
    site.start("generation")
    assert site.wait_for_end() == ("complete", "")
    assert site.fingerprint() == undisturbed(LONG)
    assert site.ask(COUNTS) == [(1, 0, 0)]


@pytest.mark.full
def test_all_processes_may_be_asked_to_stop_at_once_as_systemd_does(site: Site, undisturbed: Undisturbed) -> None:
    site.environment.update(FAULTS_PACE="0.1", FAULTS_HEARTBEAT="0.5", STOP_SECONDS="30")
    site.begin(LONG, images=False)
    site.start("generation")
    site.wait_until(lambda: site.ask(HELD) == [(1,)], what="the job to be begun")
    site.processes["generation"].kept = False
    site.send("generation", signal.SIGTERM)
    site.wait_until(lambda: site.processes["generation"].has_ended, what="the worker to end")
    assert site.ask(COUNTS) == [(0, 0, 0)] and site.ask(HELD) == [(0,)]
    site.environment["FAULTS_PACE"] = "0"
    site.start("generation")
    assert site.wait_for_end() == ("complete", "")
    assert site.fingerprint() == undisturbed(LONG)


@pytest.mark.full
def test_a_long_seal_is_interrupted_in_time_and_retried(site: Site, undisturbed: Undisturbed) -> None:
    site.environment.update(FAULTS_HEARTBEAT="0.5", FAULTS_STOPS_AT="seal:5", STOP_SECONDS="30")
    site.environment["GENERATION_PROCESSES"] = "1"  # because each process would stop
    site.begin(images=False)
    site.start("generation")
    stopped: list[int] = []

    def sealer_has_stopped() -> bool:
        stopped[:] = [pid for pid in site.children("generation") if has_stopped(pid)]
        return bool(stopped)

    site.wait_until(sealer_has_stopped, what="a process to stop in the middle of a seal")
    del site.environment["FAULTS_STOPS_AT"]
    site.processes["generation"].kept = False
    site.send("generation", signal.SIGTERM, alone=True)
    site.send("generation", signal.SIGCONT)
    site.wait_until(lambda: site.processes["generation"].has_ended, what="the worker to end")
    assert site.ask(HELD) == [(0,)]
    assert site.ask("SELECT max(crashes) FROM generation_job") == [(0,)]
    site.start("generation")
    assert site.wait_for_end() == ("complete", "")
    assert site.fingerprint() == undisturbed(SPEC)
    site.check_stored_once(drawn=False)
