"""Leases and heartbeats at the pace of a test."""

import os

from django.apps import AppConfig


class FaultsConfig(AppConfig):
    name = "tests.faults"

    def ready(self) -> None:
        from generation import heartbeat, leases, removal, tasks

        leases.LEASE = float(os.environ.get("FAULTS_LEASE", leases.LEASE))
        leases.RENEWAL = min(leases.RENEWAL, leases.LEASE / 6)
        heartbeat.INTERVAL = float(os.environ.get("FAULTS_HEARTBEAT", heartbeat.INTERVAL))
        tasks.SLICE = float(os.environ.get("FAULTS_SLICE", tasks.SLICE))
        removal.ROWS = int(os.environ.get("FAULTS_BATCH", removal.ROWS))
