"""Having found what programs give with a step left out: once for each split somebody asks about, in the background.

A small split's is found while the page is made; of others a background process is told. The sweep frees what dead
processes held, and sends hints while there is work.
"""

from collections.abc import Iterable

from django.db import transaction

from generation.engine.canonical import digest
from generation.models import AblationReport, Split
from generation.queue import leases, runner
from generation.reports import skipped_steps
from generation.reports.skipped_steps import Ablated

VERSION = 1  # of what is found and how: another number, other reports
SMALL = 1000  # questions of a split whose report is made at once: it takes a tenth of a second
LONGEST = 3600.0  # seconds
TAKEN = 5  # reports that are looked at for one to make

State = AblationReport.State


def key_of(split: Split) -> str:
    """Return what names a report on this split: what it contains, and which steps its world leaves out."""
    names = [ablation.name for ablation in split.dataset.get_world().ablations]
    return digest([VERSION, split.index_digest, names])


def at_hand(split: Split) -> AblationReport:
    """Return the row of a complete split's report: made now where it is small, otherwise asked for."""
    found, _ = AblationReport.objects.get_or_create(split=split)
    if found.state == State.DONE and found.key != key_of(split):
        AblationReport.objects.filter(pk=found.pk, state=State.DONE).start_over()
        found.refresh_from_db()
    if found.state != State.WAITING:
        return found
    if split.questions > SMALL:
        RUNNER.wake()
    elif RUNNER.take(found):
        RUNNER.run(found)
        found.refresh_from_db()
    return found


def read(report: AblationReport) -> Ablated:
    return skipped_steps.from_bytes(bytes(report.found))


def retry(split: Split) -> bool:
    failed = AblationReport.objects.filter(split=split, state=State.FAILED)
    return failed.start_over() == 1


def _make(report: AblationReport, lease: leases.Lease) -> None:
    split = report.split
    found = skipped_steps.find(split.dataset.get_world(), split, check=lease.check)
    with transaction.atomic():
        AblationReport.objects.held(report).update(key=key_of(split), found=skipped_steps.to_bytes(found))
        leases.finish(report)


def _candidates() -> Iterable[AblationReport]:
    return AblationReport.objects.waiting().select_related("split__dataset", "split__parent")[:TAKEN]


RUNNER = runner.register(
    runner.Runner(
        name="skipped-step reports",
        model=AblationReport,
        perform=_make,
        candidates=_candidates,
        seconds=lambda report: LONGEST,
        task="generation.tasks.ablate",
        hints=lambda: int(AblationReport.objects.waiting().exists()),
        related=("split__dataset",),
    )
)
