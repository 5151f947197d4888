"""`manage.py datasets`: lists the datasets."""

import json
from argparse import ArgumentParser
from typing import Any

from generation.management.console import PlainCommand
from generation.models import Dataset

KEYS = ("slug", "world", "state", "splits", "scenes", "questions", "fingerprint")


class Command(PlainCommand):
    help = "List all datasets."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document: a list of objects")

    def handle(self, *args: Any, **options: Any) -> None:
        rows = [_row(dataset) for dataset in Dataset.objects.for_list().order_by("slug")]
        if options["json"]:
            self.stdout.write(json.dumps(rows, indent=2))
            return
        if not rows:
            self.stdout.write("There is no dataset yet: manage.py generate clevr-mini")
            return
        table = [KEYS, *([_text(row[key]) for key in KEYS] for row in rows)]
        widths = [max(len(line[column]) for line in table) for column in range(len(KEYS))]
        for line in table:
            cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
            self.stdout.write("  ".join(cells).rstrip())


def _row(dataset: Any) -> dict[str, Any]:
    return {
        "slug": dataset.slug,
        "world": dataset.world,
        "state": dataset.state,
        "splits": [split.name for split in dataset.splits.all()],
        "scenes": dataset.scenes,
        "questions": dataset.questions,
        "fingerprint": dataset.fingerprint,
    }


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
