"""Makes leases, pauses and heartbeats as short as the environment of a test asks for."""

import os
from typing import Any

from django.apps import AppConfig


class FaultsConfig(AppConfig):
    name = "tests.faults"

    def ready(self) -> None:
        from generation.making import dataset_jobs, deletion
        from generation.queue import chores, leases, workers
        from tests.faults.slow_world import reach

        leases.LEASE = float(os.environ.get("FAULTS_LEASE", leases.LEASE))
        leases.RENEWAL = min(leases.RENEWAL, leases.LEASE / 6)
        if "FAULTS_HOST" in os.environ:
            leases.host_name = lambda: os.environ["FAULTS_HOST"]
        leases.FIRST_WAIT = float(os.environ.get("FAULTS_WAIT", leases.FIRST_WAIT))
        leases.LONGEST_WAIT = min(leases.LONGEST_WAIT, 8 * leases.FIRST_WAIT)
        leases.LONGEST_PAUSE = float(os.environ.get("FAULTS_PAUSE", leases.LONGEST_PAUSE))
        leases.CRASHES = int(os.environ.get("FAULTS_CRASHES", leases.CRASHES))
        workers.INTERVAL = float(os.environ.get("FAULTS_HEARTBEAT", workers.INTERVAL))
        chores.LOOK = float(os.environ.get("FAULTS_LOOK", chores.LOOK))
        finish = leases.finish

        def reach_finish(job: Any) -> None:
            finish(job)
            reach("finish")

        leases.finish = reach_finish
        if "FAULTS_SLICE" in os.environ:
            object.__setattr__(dataset_jobs.RUNNER, "turn", float(os.environ["FAULTS_SLICE"]))
        deletion.ROWS = int(os.environ.get("FAULTS_BATCH", deletion.ROWS))
