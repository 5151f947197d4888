"""`manage.py work`: does the work of Celery's processes without Celery."""

import gc
import os
import time
from argparse import ArgumentParser
from typing import Any

from django.db import DatabaseError

from generation.making import dataset_jobs
from generation.making.process_pool import drop_connection, state_of, stoppable
from generation.management.console import PlainCommand
from generation.models import Dataset
from generation.queue import graceful_shutdown

IDLE = 0.2  # seconds


class Command(PlainCommand):
    help = "Do waiting work in this process, until there is none."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dataset", metavar="SLUG", help="only this dataset, until it is made")
        parser.add_argument("--parent", type=int, metavar="PID", help="stop when this process is gone")

    def handle(self, *args: Any, **options: Any) -> None:
        parent = options["parent"]
        if self.from_command_line:
            gc.freeze()  # imported objects stay forever, so garbage collection can skip them

        def wanted() -> bool:
            return not graceful_shutdown.is_asked() and (parent is None or os.getppid() == parent)

        with stoppable():
            try:
                if options["dataset"] is None:
                    dataset_jobs.RUNNER.recover()
                    dataset_jobs.work(keep_going=wanted)
                else:
                    self._work_on(options["dataset"], wanted, may_be_gone=parent is not None)
            except (KeyboardInterrupt, DatabaseError):  # other processes can take over its jobs
                if not graceful_shutdown.is_asked():
                    raise
                if self.from_command_line:
                    drop_connection()
                dataset_jobs.RUNNER.release_own()

    def _work_on(self, slug: str, wanted: Any, *, may_be_gone: bool) -> None:
        """Work on a dataset until it is made, also while other processes run its last jobs."""
        if may_be_gone and not Dataset.objects.filter(slug=slug).exists():
            return  # another process found that the dataset must be refused, and deleted it
        dataset = self.find_dataset(slug)
        while wanted() and state_of(dataset) == Dataset.State.MAKING:
            if not dataset_jobs.work(dataset=dataset, keep_going=wanted):
                time.sleep(IDLE)
