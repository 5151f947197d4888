"""Having the report on what can be scored without looking computed: once, in the background where it takes long.

A report is a row that is a job. A small dataset's is made while the page is; of others a background process is told.
The sweep begins those of new datasets, frees what dead processes held, and sends hints while there is work.
"""

import json
from collections.abc import Sequence

from django.db import transaction

from generation.engine.canonical import digest
from generation.models import BlindReport, Dataset, Split
from generation.queue import leases, runner
from generation.reports import shortcuts

VERSION = 1  # of what is computed and how: another number, other reports
SMALL = 20_000  # questions of a dataset whose report is made at once
LONGEST = 3600.0  # seconds
BEGUN = 5  # reports that one sweep begins

State = BlindReport.State


def complete_splits(dataset: Dataset) -> list[Split]:
    """Return what a report is about: the sealed splits that have questions of their own, in order."""
    return [split for split in dataset.splits.own().for_browse() if split.is_complete]


def key_of(splits: Sequence[Split]) -> str:
    """Return what names a report on these splits: what they contain and what they are measured against."""
    parts = [[split.name, split.index_digest, split.reference.name if split.reference else ""] for split in splits]
    return digest([VERSION, parts])


def find(dataset: Dataset, splits: Sequence[Split]) -> BlindReport | None:
    """Return the report on these splits; None where it isn't made, or one of other splits is."""
    return BlindReport.objects.filter(dataset=dataset, state=State.DONE, key=key_of(splits)).first()


def begin(dataset: Dataset, splits: Sequence[Split]) -> BlindReport:
    """Return the row of the report on these splits; a new or outdated one waits to be made."""
    found, _ = BlindReport.objects.get_or_create(dataset=dataset)
    if found.state == State.DONE and found.key != key_of(splits):
        BlindReport.objects.filter(pk=found.pk, state=State.DONE).start_over()
        found.refresh_from_db()
    return found


def at_hand(dataset: Dataset, splits: Sequence[Split]) -> BlindReport:
    """Return the row of the report on these splits: made now where it is small, otherwise asked for."""
    found = begin(dataset, splits)
    if found.state != State.WAITING:
        return found
    if sum(split.questions for split in splits) > SMALL:
        RUNNER.wake()
    elif RUNNER.take(found):
        RUNNER.run(found)
        found.refresh_from_db()
    return found


def make_now(dataset: Dataset) -> BlindReport:
    """Return the row of a dataset's report, made here unless it is there or somebody is about it."""
    found = begin(dataset, complete_splits(dataset))
    again = BlindReport.objects.filter(pk=found.pk, state=State.FAILED)
    if again.start_over():
        found.refresh_from_db()
    if found.state == State.WAITING and RUNNER.take(found):
        RUNNER.run(found)
        found.refresh_from_db()
    return found


def retry(dataset: Dataset) -> bool:
    failed = BlindReport.objects.filter(dataset=dataset, state=State.FAILED)
    return failed.start_over() == 1


def _make(report: BlindReport, lease: leases.Lease) -> None:
    splits = complete_splits(report.dataset)
    figures = shortcuts.report(report.dataset.get_world(), splits, check=lease.check)
    with transaction.atomic():
        held = BlindReport.objects.held(report)
        held.update(key=key_of(splits), figures=json.dumps(figures, ensure_ascii=False))
        leases.finish(report)


def _begin_new() -> None:
    new = Dataset.objects.filter(state=Dataset.State.COMPLETE, blind_report=None).order_by("pk")[:BEGUN]
    BlindReport.objects.bulk_create([BlindReport(dataset=dataset) for dataset in new], ignore_conflicts=True)


RUNNER = runner.register(
    runner.Runner(
        name="shortcut reports",
        model=BlindReport,
        perform=_make,
        candidates=lambda: BlindReport.objects.waiting().select_related("dataset")[:BEGUN],
        seconds=lambda report: LONGEST,
        task="generation.tasks.report",
        hints=lambda: int(BlindReport.objects.waiting().exists()),
        related=("dataset",),
        chores=_begin_new,
    )
)
