"""Having the report on what can be scored without looking computed: once, in the background where it takes long.

A report is a row that is a job. A small dataset's is made while the page is; of others a background process is told.
The sweep begins those of new datasets, frees what dead processes held, and sends hints while there is work.
"""

import json
import logging
from collections.abc import Sequence

from django.db import transaction

from generation import blind, leases, report_jobs
from generation.engine.canonical import digest
from generation.models import BlindReport, Dataset, Split
from webapp.celery import DEFAULT, app

VERSION = 1  # of what is computed and how: another number, other reports
SMALL = 20_000  # questions of a dataset whose report is made at once
LONGEST = 3600.0  # seconds
BEGUN = 5  # reports that one sweep begins
HINT_LIFE = 60  # seconds
TASK = "generation.tasks.report"

State = BlindReport.State
log = logging.getLogger(__name__)


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
        BlindReport.objects.filter(pk=found.pk, state=State.DONE).update(state=State.WAITING, attempts=0)
        found.refresh_from_db()
    return found


def at_hand(dataset: Dataset, splits: Sequence[Split]) -> BlindReport:
    """Return the row of the report on these splits: made now where it is small, otherwise asked for."""
    found = begin(dataset, splits)
    if found.state != State.WAITING:
        return found
    if sum(split.questions for split in splits) > SMALL:
        wake()
    elif leases.take(found, seconds=LONGEST):
        run(found)
        found.refresh_from_db()
    return found


def make_now(dataset: Dataset) -> BlindReport:
    """Return the row of a dataset's report, made here unless it is there or somebody is about it."""
    found = begin(dataset, complete_splits(dataset))
    again = BlindReport.objects.filter(pk=found.pk, state=State.FAILED)
    if again.update(state=State.WAITING, attempts=0):
        found.refresh_from_db()
    if found.state == State.WAITING and leases.take(found, seconds=LONGEST):
        run(found)
        found.refresh_from_db()
    return found


def retry(dataset: Dataset) -> bool:
    """Return whether this call lets a report that failed be tried again."""
    failed = BlindReport.objects.filter(dataset=dataset, state=State.FAILED)
    return failed.update(state=State.WAITING, attempts=0, message="") == 1


def work() -> int:
    """Return how many reports were made: those that wait, one after the other."""
    done = 0
    while (report := _claimed()) is not None:
        run(report)
        done += 1
    return done


def _claimed() -> BlindReport | None:
    for report in BlindReport.objects.waiting().select_related("dataset")[:BEGUN]:
        if leases.take(report, seconds=LONGEST):
            return report
    return None


def run(report: BlindReport) -> None:
    """Make a claimed report; whatever happens is on its row afterwards."""
    report_jobs.run(report, _make)


def _make(report: BlindReport, lease: leases.Lease) -> None:
    splits = complete_splits(report.dataset)
    figures = blind.report(report.dataset.get_world(), splits, check=lease.check)
    with transaction.atomic():
        held = BlindReport.objects.held(report)
        held.update(key=key_of(splits), figures=json.dumps(figures, ensure_ascii=False))
        leases.finish(report)


def sweep() -> None:
    """Begin reports on new datasets, free what dead processes held, and wake a background process while any wait."""
    report_jobs.free(BlindReport.objects.all())
    new = Dataset.objects.filter(state=Dataset.State.COMPLETE, blind_report=None).order_by("pk")[:BEGUN]
    BlindReport.objects.bulk_create([BlindReport(dataset=dataset) for dataset in new], ignore_conflicts=True)
    if BlindReport.objects.waiting().exists():
        wake()


def wake() -> None:
    """Send a hint that a report is to be made; one that gets lost does no harm."""
    try:
        app.send_task(TASK, queue=DEFAULT, expires=HINT_LIFE, retry=False)
    except Exception:
        log.warning("Background processes could not be woken; they look for themselves.", exc_info=True)
