"""Having found what programs give with a step left out: once for each split somebody asks about, in the background.

A small split's is found while the page is made; of others a background process is told. The sweep frees what dead
processes held, and sends hints while there is work.
"""

import logging

from django.db import transaction

from generation import ablations, leases, report_jobs
from generation.ablations import Ablated
from generation.engine.canonical import digest
from generation.models import AblationReport, Split
from webapp.celery import DEFAULT, app

VERSION = 1  # of what is found and how: another number, other reports
SMALL = 1000  # questions of a split whose report is made at once: it takes a tenth of a second
LONGEST = 3600.0  # seconds
TAKEN = 5  # reports that are looked at for one to make
HINT_LIFE = 60  # seconds
TASK = "generation.tasks.ablate"

State = AblationReport.State
log = logging.getLogger(__name__)


def key_of(split: Split) -> str:
    """Return what names a report on this split: what it contains, and which steps its world leaves out."""
    names = [ablation.name for ablation in split.dataset.get_world().ablations]
    return digest([VERSION, split.index_digest, names])


def at_hand(split: Split) -> AblationReport:
    """Return the row of a complete split's report: made now where it is small, otherwise asked for."""
    found, _ = AblationReport.objects.get_or_create(split=split)
    if found.state == State.DONE and found.key != key_of(split):
        AblationReport.objects.filter(pk=found.pk, state=State.DONE).update(state=State.WAITING, attempts=0)
        found.refresh_from_db()
    if found.state != State.WAITING:
        return found
    if split.questions > SMALL:
        wake()
    elif leases.take(found, seconds=LONGEST):
        run(found)
        found.refresh_from_db()
    return found


def read(report: AblationReport) -> Ablated:
    """Return what a report that is done found."""
    return ablations.from_bytes(bytes(report.found))


def retry(split: Split) -> bool:
    """Return whether this call lets a report that failed be tried again."""
    failed = AblationReport.objects.filter(split=split, state=State.FAILED)
    return failed.update(state=State.WAITING, attempts=0, message="") == 1


def work() -> int:
    """Return how many reports were made: those that wait, one after the other."""
    done = 0
    while (report := _claimed()) is not None:
        run(report)
        done += 1
    return done


def _claimed() -> AblationReport | None:
    for report in AblationReport.objects.waiting().select_related("split__dataset", "split__parent")[:TAKEN]:
        if leases.take(report, seconds=LONGEST):
            return report
    return None


def run(report: AblationReport) -> None:
    """Make a claimed report; whatever happens is on its row afterwards."""
    report_jobs.run(report, _make)


def _make(report: AblationReport, lease: leases.Lease) -> None:
    split = report.split
    found = ablations.find(split.dataset.get_world(), split, check=lease.check)
    with transaction.atomic():
        AblationReport.objects.held(report).update(key=key_of(split), found=ablations.to_bytes(found))
        leases.finish(report)


def sweep() -> None:
    """Free what dead processes held, and wake a background process while any report waits."""
    report_jobs.free(AblationReport.objects.all())
    if AblationReport.objects.waiting().exists():
        wake()


def wake() -> None:
    """Send a hint that a report is to be made; one that gets lost does no harm."""
    try:
        app.send_task(TASK, queue=DEFAULT, expires=HINT_LIFE, retry=False)
    except Exception:
        log.warning("Background processes could not be woken; they look for themselves.", exc_info=True)
