"""The two reports that are computed in the background: shortcuts of a dataset, and skipped steps of a split.

The row of a report is also its job. A small report is computed when its page is requested. A background process
computes the others. If the key of its dataset or split has changed, a report is computed again.
"""

import json
from collections.abc import Sequence
from typing import TypeVar

from django.db import transaction

from generation.models import AblationReport, BlindReport, Dataset, Split
from generation.models.jobs import AbstractJobQuerySet
from generation.queue import leases, runner
from generation.reports import chart_prerendering, shortcuts, skipped_steps

SMALL_DATASET = 20_000  # largest number of questions of a dataset whose report on shortcuts is made at once
SMALL_SPLIT = 1000  # the same for a split and its report on skipped steps, which then takes a tenth of a second
LONGEST = 3600.0  # seconds
BEGUN = 5  # largest number of reports on shortcuts that one sweep creates

Report = TypeVar("Report", BlindReport, AblationReport)


def retry(reports: AbstractJobQuerySet[Report]) -> bool:
    return reports.filter(state=BlindReport.State.FAILED).start_over() == 1


def _renew(report: Report, *, key: str) -> Report:
    """Return the report. If it was made with another key, it now waits to be made again."""
    if report.state == report.State.DONE and report.key != key:
        type(report)._default_manager.filter(pk=report.pk, state=report.State.DONE).start_over()
        report.refresh_from_db()
    return report


def _provide(report: Report, kind: runner.Runner[Report], *, is_small: bool) -> Report:
    """Return the report. If it waits, make it now if it is small; otherwise wake a background process."""
    if report.state == report.State.WAITING:
        if is_small and kind.run_now(report):
            report.refresh_from_db()
        elif not is_small:
            kind.wake()
    return report


# Shortcuts


def begin_shortcuts(dataset: Dataset, splits: Sequence[Split]) -> BlindReport:
    found, _ = BlindReport.objects.get_or_create(dataset=dataset)
    return _renew(found, key=shortcuts.report_key(splits))


def request_shortcuts(dataset: Dataset, splits: Sequence[Split]) -> BlindReport:
    is_small = sum(split.questions for split in splits) <= SMALL_DATASET
    return _provide(begin_shortcuts(dataset, splits), SHORTCUTS, is_small=is_small)


def make_shortcuts(dataset: Dataset) -> BlindReport:
    """Return the row of a dataset's report. Make it now, unless it exists or another process makes it."""
    found = begin_shortcuts(dataset, shortcuts.complete_splits(dataset))
    if retry(BlindReport.objects.filter(pk=found.pk)):
        found.refresh_from_db()
    return _provide(found, SHORTCUTS, is_small=True)


def _make_shortcuts(report: BlindReport, lease: leases.Lease) -> None:
    splits = shortcuts.complete_splits(report.dataset)
    figures = shortcuts.report(report.dataset.get_world(), splits, check=lease.check)
    with transaction.atomic():
        made = {"key": shortcuts.report_key(splits), "figures": json.dumps(figures, ensure_ascii=False)}
        BlindReport.objects.held(report).update(**made)
        leases.finish(report)
    if splits:
        chart_prerendering.ask(splits[0])


def _begin_new() -> None:
    new = Dataset.objects.filter(state=Dataset.State.COMPLETE, blind_report=None).order_by("pk")[:BEGUN]
    BlindReport.objects.bulk_create([BlindReport(dataset=dataset) for dataset in new], ignore_conflicts=True)


SHORTCUTS = runner.register(
    runner.Runner(
        name="shortcut reports",
        model=BlindReport,
        perform=_make_shortcuts,
        seconds=lambda report: LONGEST,
        task="generation.tasks.report",
        related=("dataset",),
        chores=_begin_new,
    )
)


# Skipped steps


def request_skipped_steps(split: Split) -> AblationReport:
    found, _ = AblationReport.objects.get_or_create(split=split)
    _renew(found, key=skipped_steps.report_key(split))
    return _provide(found, SKIPPED_STEPS, is_small=split.questions <= SMALL_SPLIT)


def _make_skipped_steps(report: AblationReport, lease: leases.Lease) -> None:
    split = report.split
    found = skipped_steps.find(split.dataset.get_world(), split, check=lease.check)
    with transaction.atomic():
        made = {"key": skipped_steps.report_key(split), "found": skipped_steps.to_bytes(found)}
        AblationReport.objects.held(report).update(**made)
        leases.finish(report)


SKIPPED_STEPS = runner.register(
    runner.Runner(
        name="skipped-step reports",
        model=AblationReport,
        perform=_make_skipped_steps,
        seconds=lambda report: LONGEST,
        task="generation.tasks.ablate",
        related=("split__dataset", "split__parent"),
    )
)
