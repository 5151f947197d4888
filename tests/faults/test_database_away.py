"""PostgreSQL is stopped in the middle of a run: all processes wait for it and then go on."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.faults.servers import PostgresCluster
from tests.faults.stack import SLUG, SPEC, Site
from tests.proof import SHARE
from tests.webapp.commands import ROOT

AWAY = max(5.0, 30.0 * SHARE)  # seconds
Undisturbed = Callable[[dict[str, Any]], str]


@pytest.mark.full
def test_a_run_survives_an_outage_of_postgresql_and_pages_report_the_outage(
    stoppable_site: Site, cluster: PostgresCluster, undisturbed: Undisturbed
) -> None:
    site = stoppable_site
    site.environment.update(FAULTS_PACE="0.05", FAULTS_LEASE="3", FAULTS_HEARTBEAT="0.5")
    site.begin()
    site.start("web", "generation")
    site.wait_for_web("/datasets/")
    for number, mode in enumerate(("fast", "immediate"), 1):
        site.wait_until(lambda done=7 * number: site.jobs() >= done, what=f"{7 * number} jobs")
        cluster.stop(mode=mode)
        back = time.monotonic() + AWAY / 2
        while time.monotonic() < back:
            status, page = site.get("/datasets/")
            assert status == 503 and "The site cannot reach its database" in page
            status, page = site.get("/health/")
            assert status == 503 and "database" in json.loads(page)["failing"]
            time.sleep(0.5)
        cluster.start()
        site.wait_for_web("/datasets/")
    assert site.wait_for_end() == ("complete", "")
    assert site.fingerprint() == undisturbed(SPEC)
    site.check_stored_once()
    assert all(process.starts == 1 for process in site.processes.values()), site.report()


@pytest.mark.full
def test_generate_reports_in_a_line_that_postgresql_is_away_and_can_be_resumed(
    stoppable_site: Site, cluster: PostgresCluster, undisturbed: Undisturbed
) -> None:
    site = stoppable_site
    site.environment["FAULTS_PACE"] = "0.02"
    spec = site.folder / "rows.json"
    spec.write_text(json.dumps(SPEC))
    command = ["generate", str(spec), "--name", SLUG, "--secret", f"test={'0f' * 16}", "--workers", "1"]
    run = subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), *command],
        env=site.environment,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    site.wait_until(lambda: site.ask("SELECT 1 FROM generation_dataset") and site.jobs() >= 4, what="4 jobs")
    cluster.stop()
    said, complaints = run.communicate(timeout=120)
    assert (run.returncode, said) == (1, "")
    last = complaints.splitlines()[-1]
    assert last.startswith("Expected a database that answers, got: ") and "--resume" in last
    cluster.start()
    done = site.manage(*command, "--resume")
    assert done.stdout.strip() == undisturbed(SPEC), done.stderr
    site.check_stored_once()
