"""`manage.py shortcuts`: reports what can be answered on a dataset without pictures."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.management.base import CommandError

from generation.management.console import BAD_INPUT, FAILED, PlainCommand
from generation.models import BlindReport, Dataset
from generation.reports import report_jobs
from generation.reports.shortcuts import complete_splits
from generation.reports.shortcuts_page import LEVEL_TEXT, Alike, CueScore, ShortcutsView, SplitGuesses, shown_whole


class Command(PlainCommand):
    help = (
        "What can be scored on a dataset without looking, each figure beside chance, and how many questions are alike."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", metavar="DATASET", help="its name in addresses")
        parser.add_argument("--json", action="store_true", help="one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the report. It is computed now if it does not exist."""
        dataset = self.find_dataset(options["dataset"])
        if dataset.state != Dataset.State.COMPLETE:
            raise CommandError(
                f"Expected a complete dataset, got {dataset.slug}, which is {dataset.state}. Go on with it: "
                "manage.py generate ... --resume.",
                returncode=BAD_INPUT,
            )
        splits = complete_splits(dataset)
        report = report_jobs.make_shortcuts(dataset)
        if report.state != BlindReport.State.DONE:
            reason = report.message or "Another process is about it; ask again in a minute."
            raise CommandError(f"Expected a report on {dataset.slug}, got none: {reason}", returncode=FAILED)
        shown = shown_whole(dataset, splits, report)
        if options["json"]:
            self.stdout.write(json.dumps({"dataset": dataset.slug, **shown.to_json()}, indent=2))
        else:
            self.stdout.write("\n".join(_lines(shown)))


def _lines(shown: ShortcutsView) -> Iterator[str]:
    yield from _aligned([_ALIKE, *(_alike_row(row) for row in shown.alike)])
    if not shown.scored:
        yield "\nNo split has a reference from which guesses could be learned."
    for one in shown.scored:
        yield from _scored(one, source=shown.source)


def _scored(one: SplitGuesses, *, source: str) -> Iterator[str]:
    yield f"\n{one.name}, after {one.reference}"
    if not one.n:
        yield "No question has an answer, so nothing can be scored."
        return
    yield from _aligned([("a guess goes by", *_SHARES, "n"), *(_guess_row(cue) for cue in one.cues)])
    if one.types:
        paper = (source,) if source else ()
        yield ""
        head = ("Q-type mode on", *_SHARES, "n", *paper)
        yield from _aligned([head, *(_guess_row(row, paper=bool(paper)) for row in one.types)])


_ALIKE = ("split", "questions", "different", "also in the reference", "paper: different", "also in train")
_SHARES = ("right", f"{LEVEL_TEXT} interval", "chance")


def _alike_row(row: Alike) -> tuple[str, ...]:
    overlap = "" if row.overlap is None else f"{row.overlap:,} {row.overlap_text}".strip()
    unique = f"{row.unique:,} {row.unique_text}".strip()
    return (row.name, f"{row.questions:,}", unique, overlap, row.published_unique, row.published_overlap)


def _guess_row(row: CueScore, *, paper: bool = False) -> tuple[str, ...]:
    told = (row.published_text,) if paper else ()
    return (row.label, row.share.text, row.share.interval_text, row.chance_text, f"{row.n:,}", *told)


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows with aligned columns: names to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for name, *figures in rows:
        cells = (figure.rjust(width) for figure, width in zip(figures, widths[1:], strict=True))
        yield "  ".join([name.ljust(widths[0]), *cells]).rstrip()
