"""`manage.py score`: scores a file of predictions without submitting it."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from generation.management.console import BAD_INPUT, PlainCommand
from generation.models import Split
from generation.reports.count_metrics import FileMetric, metrics_of_file
from generation.reports.scoring import ScoredSplit, score_file


class Command(PlainCommand):
    help = "Score a file of predictions for a split, overall, by its metrics and by every facet. Nothing is stored."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="predictions in any format that /docs/predictions/ tells")
        parser.add_argument("--split", metavar="DATASET/SPLIT", required=True, help="what they are for")
        parser.add_argument(
            "--column", default="", metavar="NAME", help="the column of answers, if several may have them"
        )
        parser.add_argument("--json", action="store_true", help="one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        split = self.find_split(options["split"])
        if not split.is_complete:
            raise CommandError(
                f"Expected a complete split, got {split}, which is {split.get_state_display()}.", returncode=BAD_INPUT
            )
        try:
            with Path(options["file"]).open("rb") as file:
                scored = score_file(file, split, column=options["column"])
                metrics = metrics_of_file(split, scored.predictions)
        except OSError as error:
            raise CommandError(
                f"Expected a file of predictions, got none ({error.strerror}): {options['file']}", returncode=BAD_INPUT
            ) from error
        if options["json"]:
            figures = {one.metric.name: {"value": one.value, "n": one.n} for one in metrics}
            self.stdout.write(json.dumps({**scored.to_json(), "metrics": figures}, indent=2))
        else:
            self.stdout.write("\n".join(_lines(scored, split, metrics)))


def _lines(scored: ScoredSplit, split: Split, metrics: Sequence[FileMetric]) -> Iterator[str]:
    strict, read, found = scored.strict, scored.read, scored.predictions
    packing = f", packed as {found.packing}" if found.packing else ""
    yield f"{split}: {strict.n:,} questions; a file of the format {found.format}{packing}"
    yield f"accuracy       {_share(strict.right, strict.n)}  {strict.right:,} right"
    yield f"accuracy_read  {_share(read.right, read.n)}  free text read; {scored.unreadable:,} unreadable"
    if found.outside:
        position, said = next(iter(found.outside.items()))
        yield (
            f"{len(found.outside):,} answers are outside of the vocabulary and count as wrong in accuracy; the first: "
            f"{said[:60]!r} (question {position:,})"
        )
    if scored.failures:
        are = "answer is a failure" if scored.failures == 1 else "answers are failures"
        yield f"{scored.failures:,} {are} of the runner, from which nothing is read"
    width = max((len(one.metric.name) for one in metrics), default=0)
    for one in metrics:
        unit = "" if one.value is None or one.metric.unit == "%" else f" {one.metric.unit}"
        figure = "–" if one.value is None else one.metric.text(one.value)
        yield f"{one.metric.name:<{width}}  {figure}{unit}, n = {one.n:,}"
    for name, values in scored.to_json()["facets"].items():
        yield ""
        yield scored.index.facets[name].label
        width = max((len(value) for value in values), default=0)
        for value, cell in values.items():
            yield f"  {value:<{width}}  {_share(cell['correct'], cell['n'])}  n = {cell['n']:,}"


def _share(right: float, n: int) -> str:
    return f"{100 * right / n:5.1f} %" if n else "     –"
