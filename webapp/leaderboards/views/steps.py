"""Which step a row of the board skips."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from generation.access import What, may_see, owns
from generation.engine.programs.ablation import LEAST
from generation.models import AblationReport, Heartbeat
from generation.queue import DEFAULT
from generation.reports import skipped_step_jobs
from generation.views.finding import NOTHING
from webapp.leaderboards.analysis.skipped_steps import Skipping, skipping
from webapp.leaderboards.entries import Contender
from webapp.leaderboards.views.reading import (
    BoardReading,
    UnreadableAddress,
    check_open,
    contenders_of,
    opened,
    refused,
)

START_COMMAND = "python manage.py process default"


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def steps(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return which step each chosen row skips; the owner's POST has a report that failed tried again."""
    reading = opened(request, slug, name)
    split = reading.split
    if request.method == "POST":
        if not owns(request.user, split.dataset):
            raise Http404(NOTHING)
        skipped_step_jobs.retry(split)
        return redirect(request.get_full_path())
    try:
        report, found = steps_for(reading)
        context = reading.context("Skipped steps")
    except UnreadableAddress as error:
        return refused(reading, error)
    context |= {"report": report, "has_steps": report is not None, "owns": owns(request.user, split.dataset)}
    context |= {"found": found, "least_wrong": LEAST, **_waiting(report)}
    return render(request, "leaderboards/steps.html", context)


def steps_for(reading: BoardReading) -> tuple[AblationReport | None, list[Skipping]]:
    """Return the report on a split's programs, None where no step can be left out, and what it says of each row.

    Raises
    ------
    Unreadable
        Where answers or programs are withheld, or there is no such row.
    """
    split = reading.split
    check_open(reading)
    if not may_see(reading.request.user, split, What.PROGRAM):
        raise UnreadableAddress(f"The programs of {split} are withheld.", status=403)
    reading.check_names()
    models = [entry for entry in reading.chosen if not entry.is_site_baseline]
    report = skipped_step_jobs.at_hand(split) if split.dataset.get_world().ablations else None
    if report is None or report.state != AblationReport.State.DONE:
        return report, []
    ablated, baselines = skipped_step_jobs.read(report), _baselines(reading)
    return report, [skipping(split, ablated, one, baselines) for one in contenders_of(models)]


def _baselines(reading: BoardReading) -> list[Contender]:
    return contenders_of([entry for entry in reading.entries if entry.is_site_baseline and not entry.is_chance])


def _waiting(report: AblationReport | None) -> dict[str, Any]:
    """Return what a page says of a report that isn't made yet."""
    if report is None or report.state != AblationReport.State.WAITING:
        return {}
    is_alone = not Heartbeat.objects.reading(DEFAULT).alive().exists()
    return {"is_alone": is_alone, "start_command": START_COMMAND}
