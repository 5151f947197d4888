"""`manage.py work`: what Celery's processes do, without Celery."""

import gc
import os
import time
from argparse import ArgumentParser
from typing import Any

from generation.making import datasets
from generation.making.pool import drop_connection, state_of, stoppable
from generation.management.console import PlainCommand
from generation.models import Dataset

IDLE = 0.2  # seconds


class Command(PlainCommand):
    """Claim and run jobs until none is left."""

    help = "Do waiting work in this process, until there is none."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dataset", metavar="SLUG", help="only this dataset, until it is made")
        parser.add_argument("--parent", type=int, metavar="PID", help="stop when this process is gone")

    def handle(self, *args: Any, **options: Any) -> None:
        """Work."""
        parent = options["parent"]
        if self.from_command_line:
            gc.freeze()  # what was imported stays for ever: collections of garbage don't have to go through it again

        def wanted() -> bool:
            return parent is None or os.getppid() == parent

        with stoppable():
            try:
                if options["dataset"] is None:
                    datasets.recover()
                    datasets.work(keep_going=wanted)
                else:
                    self._work_on(options["dataset"], wanted, may_be_gone=parent is not None)
            except KeyboardInterrupt:  # what it was at waits for others
                if self.from_command_line:
                    drop_connection()
                datasets.RUNNER.release_own()

    def _work_on(self, slug: str, wanted: Any, *, may_be_gone: bool) -> None:
        """Work on a dataset until it is made: others may still be at what this process would do next."""
        if may_be_gone and not Dataset.objects.filter(slug=slug).exists():
            return  # another process was quicker, and it was refused
        dataset = self.find_dataset(slug)
        while wanted() and state_of(dataset) == Dataset.State.MAKING:
            if not datasets.work(dataset=dataset, keep_going=wanted):
                time.sleep(IDLE)
