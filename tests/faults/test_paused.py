"""Processes are stopped until their leases end, and continue after others have done their work: they write nothing."""

import hashlib
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.faults.stack import SPEC, Site

PLACES = {"maker": "items:35", "painter": "images:8", "sealer": "seal:5"}


def has_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def contents(site: Site) -> dict[str, str]:
    """Return the digest of each stored file."""
    if site.bucket is not None:
        return site.bucket.digests()
    media = site.folder / "media"
    return {name: hashlib.sha256((media / name).read_bytes()).hexdigest() for name in site.stored()}


@pytest.mark.full
def test_a_process_that_continues_after_its_lease_ended_writes_nothing(
    site: Site, undisturbed: Callable[[dict[str, Any]], str]
) -> None:
    site.environment.update(FAULTS_LEASE="4", FAULTS_HEARTBEAT="0.5")
    site.begin()
    for name, place in PLACES.items():
        site.environment["FAULTS_STOPS_AT"] = place
        site.start("work", name=name, kept=False)
        pid = site.processes[name].pid
        site.wait_until(lambda pid=pid: has_stopped(pid), what=f"the {name} to stop")
    del site.environment["FAULTS_STOPS_AT"]
    assert site.jobs(state="running") == len(PLACES)
    site.start("generation")
    assert site.wait_for_end() == ("complete", "")
    assert site.fingerprint() == undisturbed(SPEC)
    site.stop("generation")
    rows, files = site.dump(), contents(site)
    for name in PLACES:
        site.send(name, signal.SIGCONT)
        process = site.processes[name]
        site.wait_until(lambda process=process: process.has_ended, what=f"the {name} to end")
        assert process.running is not None and process.running.returncode == 0
        assert "is somebody else's now." in process.log.read_text()
    assert site.dump() == rows
    assert contents(site) == files
    assert site.drafts() == []
    site.check_stored_once()


@pytest.mark.full
def test_a_process_that_hangs_in_a_transaction_does_not_lock_its_rows_for_others(
    services_site: Site, undisturbed: Callable[[dict[str, Any]], str]
) -> None:
    site = services_site
    site.environment.update(FAULTS_LEASE="4", FAULTS_HEARTBEAT="0.5", FAULTS_STOPS_AT="finish:5")
    site.begin()
    site.start("work", kept=False)
    pid = site.processes["work"].pid
    site.wait_until(lambda: has_stopped(pid), what="it to stop")
    del site.environment["FAULTS_STOPS_AT"]
    site.start("generation")
    assert site.wait_for_end() == ("complete", "")
    assert site.fingerprint() == undisturbed(SPEC)
    site.stop("generation")
    rows, files = site.dump(), contents(site)
    site.send("work", signal.SIGCONT)
    site.wait_until(lambda: site.processes["work"].has_ended, what="it to end")
    assert (site.dump(), contents(site)) == (rows, files)
    site.check_stored_once()
