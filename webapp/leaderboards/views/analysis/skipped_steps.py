"""View of the steps that rows of a board skip."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from generation.access import What, may_see, owns
from generation.engine.scoring.figures import TOO_FEW
from generation.models import AblationReport
from generation.queue import DEFAULT
from generation.queue.workers import describe_waiting
from generation.reports import report_jobs, skipped_steps
from generation.views.access_checks import NOTHING
from webapp.leaderboards.analysis.skipped_steps import Skipping, skipping
from webapp.leaderboards.entries import Contender
from webapp.leaderboards.views.analysis.board_selection import (
    BoardReading,
    UnreadableAddress,
    board_view,
    check_open,
    contenders_of,
)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@board_view()
def steps(reading: BoardReading) -> HttpResponse:
    """Return which step each chosen row skips; a POST of the owner retries a failed report."""
    request, split = reading.request, reading.split
    if request.method == "POST":
        if not owns(request.user, split.dataset):
            raise Http404(NOTHING)
        report_jobs.retry(AblationReport.objects.filter(split=split))
        return redirect(request.get_full_path())
    report, found = steps_for(reading)
    context = reading.context("Skipped steps")
    context |= {"report": report, "has_steps": report is not None, "owns": owns(request.user, split.dataset)}
    context |= {"found": found, "least_wrong": TOO_FEW, **_waiting(report)}
    return render(request, "leaderboards/steps.html", context)


def steps_for(reading: BoardReading) -> tuple[AblationReport | None, list[Skipping]]:
    """Return the report on skipped steps of a split, and the result of each row.

    The report is None if the split's world has no step that can be left out. The list is empty until the report is
    done.

    Raises
    ------
    UnreadableAddress
        If answers or programs are withheld, or there is no such row.
    """
    split = reading.split
    check_open(reading)
    if not may_see(reading.request.user, split, What.PROGRAM):
        raise UnreadableAddress(f"The programs of {split} are withheld.", status=403)
    reading.check_names()
    models = [entry for entry in reading.chosen if not entry.is_site_baseline]
    report = report_jobs.request_skipped_steps(split) if split.dataset.get_world().ablations else None
    if report is None or report.state != AblationReport.State.DONE:
        return report, []
    ablated, baselines = skipped_steps.from_bytes(bytes(report.found)), _baselines(reading)
    return report, [skipping(split, ablated, one, baselines) for one in contenders_of(models)]


def _baselines(reading: BoardReading) -> list[Contender]:
    return contenders_of([entry for entry in reading.entries if entry.is_site_baseline and not entry.is_chance])


def _waiting(report: AblationReport | None) -> dict[str, Any]:
    if report is None or report.state != AblationReport.State.WAITING:
        return {}
    return describe_waiting(DEFAULT)
