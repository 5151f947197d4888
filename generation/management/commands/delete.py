"""`manage.py delete`: a dataset goes, with its files."""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from generation import jobs
from generation.command_line import FAILED, PlainCommand
from generation.models import Dataset, Job

IDLE = 0.2  # seconds


class Command(PlainCommand):
    """Delete a dataset."""

    help = "Delete a dataset with everything in it. Interrupted, it can be run again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the dataset."""
        parser.add_argument("dataset", metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        """Delete it here, or wait for the process that is at it already."""
        dataset = self.find_dataset(options["dataset"])
        jobs.delete(dataset)
        while Dataset.objects.filter(pk=dataset.pk).exists():
            if not jobs.work(dataset=dataset):
                jobs.recover()
                self._check(dataset)
                time.sleep(IDLE)

    def _check(self, dataset: Dataset) -> None:
        failed = Job.objects.filter(dataset=dataset, kind=Job.Kind.DELETE, state=Job.State.FAILED).first()
        if failed is not None:
            raise CommandError(failed.message, returncode=FAILED)
