# ruff: noqa: N999 - the command's name
"""`manage.py import`: makes a dataset from published files."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from generation.engine.worlds import READERS
from generation.making import dataset_jobs, import_sandbox, imports
from generation.making.creation import SlugTaken, check_slug
from generation.making.progress import progress_of
from generation.management.console import BAD_INPUT, Bar, WatchingCommand
from generation.models import Dataset, Import

MOST_WORKERS = 2  # one process reads a split


class Command(WatchingCommand):
    """Read published files into a dataset, completely or not at all."""

    help = "Read published files into a dataset. Says what was found, and prints its content hash."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("format", metavar="FORMAT", choices=sorted(READERS), help=", ".join(sorted(READERS)))
        parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="a folder, or single files")
        parser.add_argument("--name", metavar="SLUG", required=True, help="name in addresses")
        parser.add_argument("--title", default="", help="what people call it")
        parser.add_argument(
            "--images", choices=Import.Images.values, default=Import.Images.LINKED,
            help="linked (default): they stay where they are; copied; none: left out",
        )  # fmt: skip
        parser.add_argument("--licence", default="", help="under which others may use it; unstated where not given")
        parser.add_argument(
            "--visibility", choices=Dataset.Visibility.values, default=Dataset.Visibility.PRIVATE,
            help="who sees it; private (default): owner and staff",
        )  # fmt: skip
        parser.add_argument(
            "--images-visible", action="store_true", help="whoever sees the dataset may see its pictures, too"
        )
        parser.add_argument("--resume", action="store_true", help="go on with an import that was stopped")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import the dataset. After Ctrl-C it can be resumed."""
        dataset = self._dataset(options)
        imported = Import.objects.get(dataset=dataset)
        if dataset.state != Dataset.State.COMPLETE:
            self._read(dataset, imported)
        for line in imports.describe_import(dataset):
            self.stderr.write(line, self.style.NOTICE if line.startswith(" ") else None)
        for line in imports.compare_with_published(dataset):
            self.stderr.write(line)
        self.stdout.write(dataset.fingerprint)

    def _dataset(self, options: dict[str, Any]) -> Dataset:
        """Return the dataset to fill: a new one or, with `--resume`, an existing one."""
        check_slug(options["name"])
        if len(options["licence"]) > 100 or len(options["title"]) > 200:
            raise CommandError("Expected at most 100 characters of licence, 200 of title.", returncode=BAD_INPUT)
        wanted = imports.ImportRequest(
            slug=options["name"],
            **{
                name: options[name] for name in ("format", "images", "licence", "visibility", "images_visible", "title")
            },
        )
        existing = Dataset.objects.filter(slug=wanted.slug).first()
        if existing is not None and not options["resume"]:
            raise SlugTaken(
                f"Expected a new name, got {wanted.slug!r}, which exists ({existing.state}). Go on with it: --resume. "
                "Or choose another: --name.",
                where="slug",
            )
        found = import_sandbox.find(wanted.format, [path.resolve() for path in options["paths"]])
        for name in found.left:
            self.stderr.write(f"left out: {name}")
        if existing is None:
            return imports.begin(found, wanted)
        imports.check_same(existing, found, wanted)
        if existing.state != Dataset.State.COMPLETE:
            dataset_jobs.resume(existing)
        return existing

    def _read(self, dataset: Dataset, imported: Import) -> None:
        """Run processes until the dataset is complete; raise `CommandError` if it cannot be."""
        dataset_jobs.RUNNER.recover()
        bar = Bar(dataset, _how_far, total=imports.way_of(dataset).total, unit="B", unit_scale=True)
        self.watch(bar, size=min(MOST_WORKERS, dataset.splits.count()), kept="read")
        imported.refresh_from_db()
        if imported.message:
            dataset_jobs.work(dataset=dataset)  # deletes what is left of the dataset
            raise CommandError(f"{imported.message} Nothing was kept.", returncode=BAD_INPUT)
        self.check_complete(dataset)


def _how_far(dataset: Dataset) -> tuple[float, str]:
    way, at = imports.way_of(dataset), progress_of(dataset)
    return way.done, f"{dataset.slug}: {at.scenes:,} scenes, {at.splits} of {at.of_splits} splits sealed"
