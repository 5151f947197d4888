"""`manage.py cancel`: stops making a dataset."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from generation.making import dataset_jobs
from generation.management.console import BAD_INPUT, PlainCommand


class Command(PlainCommand):
    help = "Stop the making of a dataset. What is made is kept; generate --resume goes on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = self.find_dataset(options["dataset"])
        if not dataset_jobs.cancel(dataset):
            dataset.refresh_from_db()
            raise CommandError(
                f"{dataset.slug}: Expected a dataset that is being made, got one that is {dataset.state}.",
                returncode=BAD_INPUT,
            )
