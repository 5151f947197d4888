"""`manage.py delete`: deletes a dataset with its files, or one of its question sets."""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from generation.making import dataset_jobs
from generation.management.console import FAILED, PlainCommand
from generation.models import Dataset, Job
from generation.splits import question_sets

IDLE = 0.2  # seconds


class Command(PlainCommand):
    help = "Delete a dataset with everything in it, or one of its question sets. Interrupted, it can be run again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", metavar="SLUG", help="of a question set: DATASET/SPLIT")

    def handle(self, *args: Any, **options: Any) -> None:
        """Delete it in this process, or wait for another process that is already deleting it."""
        if "/" in options["dataset"]:
            question_sets.remove(self.find_split(options["dataset"]))
            return
        dataset = self.find_dataset(options["dataset"])
        dataset_jobs.delete(dataset)
        while Dataset.objects.filter(pk=dataset.pk).exists():
            if not dataset_jobs.work(dataset=dataset):
                dataset_jobs.RUNNER.recover()
                self._check(dataset)
                time.sleep(IDLE)

    def _check(self, dataset: Dataset) -> None:
        failed = Job.objects.filter(dataset=dataset, kind=Job.Kind.DELETE, state=Job.State.FAILED).first()
        if failed is not None:
            raise CommandError(failed.message, returncode=FAILED)
