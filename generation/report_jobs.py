"""Making reports: rows that are jobs and keep what was found. What is made, and when, each kind says itself."""

import logging
from collections.abc import Callable
from typing import TypeVar

from generation import leases
from generation.models import AbstractJob, AbstractJobQuerySet

AnyReport = TypeVar("AnyReport", bound=AbstractJob)

log = logging.getLogger(__name__)


def run(report: AnyReport, make: Callable[[AnyReport, leases.Lease], None]) -> None:
    """Make a claimed report; whatever happens is on its row afterwards."""
    try:
        with leases.kept(report) as lease:
            make(report, lease)
    except leases.LeaseLost as lost:
        log.info("%s", lost)
    except Exception as error:
        log.exception("%s went wrong", report)
        _try_again(report, f"Unexpected {type(error).__name__}: {error}")
    except BaseException:  # asked to stop
        leases.put_back(report)
        raise


def free(reports: AbstractJobQuerySet[AnyReport]) -> None:
    """Give back what dead processes held, and fail what hangs."""
    for report in reports.overdue():
        leases.fail(report, message="Expected an end within the hour, got none.")
    running = reports.filter(state=AbstractJob.State.RUNNING)
    for report in [*reports.expired(), *(one for one in running if leases.is_gone(one.worker))]:
        _try_again(report, "The process that made it stopped answering.")


def _try_again(report: AbstractJob, message: str) -> None:
    if report.attempts >= leases.ATTEMPTS:
        leases.fail(report, message=f"{message} It was tried {report.attempts} times.")
    else:
        leases.give_back(report, message=message)
