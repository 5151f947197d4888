"""Curves over how much was learned from, and which step a row of the board skips."""

from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from generation import ablation_jobs
from generation.browse import shortened
from generation.models import AblationReport, Heartbeat
from generation.views.finding import NOTHING
from webapp.access import What, may_see, owns
from webapp.celery import DEFAULT
from webapp.leaderboards.contenders import Contender
from webapp.leaderboards.curves import ALONG, Curve, Run, curves, lines_of
from webapp.leaderboards.curves_chart import spec_of
from webapp.leaderboards.entries import together
from webapp.leaderboards.models import Method, Score
from webapp.leaderboards.skipped import Skipping, skipping
from webapp.leaderboards.views.reading import (
    ENTRY,
    KINDS,
    Reading,
    Unreadable,
    as_csv,
    contenders_of,
    drawing_of,
    opened,
    paper_of,
    refused,
    saved,
)

TARGET, OVER = "target", "along"
USUAL = "90"  # percent
START_COMMAND = "python manage.py process default"


@require_safe
def curve(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return accuracy over training examples, or examples seen: `?along=examples-seen&target=95`."""
    reading = opened(request, slug, name)
    try:
        found, along, target = curves_for(reading)
        spec = spec_of(found, axis=ALONG[along], target=float(target) / 100, is_paper=False)
        context = {
            **reading.context("Curves"),
            "curves": found,
            "along": along,
            "alongs": ALONG.items(),
            "target": target,
        }
        context |= {"axis": ALONG[along], "drawing": drawing_of(reading.split, spec), "is_drawable": spec is not None}
    except Unreadable as error:
        return refused(reading, error)
    return render(request, "leaderboards/curves.html", context)


@require_safe
def curve_file(request: HttpRequest, slug: str, name: str, kind: str) -> HttpResponse:
    """Return the curves' figures as CSV, or their chart as SVG or PDF."""
    reading = opened(request, slug, name)
    try:
        if kind not in KINDS:
            raise Unreadable(f"Expected one of {', '.join(KINDS)}, got {shortened(kind)}.")
        found, along, target = curves_for(reading)
        if kind == "csv":
            content = as_csv(lines_of(found))
        else:
            spec = spec_of(
                found, axis=ALONG[along], target=float(target) / 100, is_paper=True, title=str(reading.split)
            )
            content = paper_of(reading, spec, kind=kind)
    except Unreadable as error:
        return refused(reading, error)
    return saved(reading, content, kind=kind, name="curves")


def curves_for(reading: Reading) -> tuple[list[Curve], str, str]:
    """Return the board's curves, along what, and the target in percent as the address says it; raise `Unreadable`."""
    reading.check_names(OVER, TARGET)
    along, target = reading.request.GET.get(OVER) or next(iter(ALONG)), reading.request.GET.get(TARGET) or USUAL
    if along not in ALONG:
        raise Unreadable(f"Expected one of {', '.join(ALONG)}, got {shortened(along)}.")
    if not (len(target) < 8 and target.replace(".", "", 1).isdecimal() and target.isascii() and float(target) <= 100):
        raise Unreadable(f"Expected a target from 0 to 100 per cent, got {shortened(target)}.", status=400)
    scores = Score.objects.on(reading.split)
    scores = scores.filter(
        submission__method__in=Method.objects.visible_to(reading.request.user), submission__method__baseline=""
    )
    slices = reverse("board_slices", args=[reading.split.dataset.slug, reading.split.name])
    runs = [
        Run(
            entry.name,
            entry.submissions[0].trained_on_id,
            entry.trained_on,
            entry.submissions[0].train_size,
            entry.submissions[0].examples_seen,
            entry.averaged,
            f"{slices}?{urlencode([(ENTRY, entry.key)])}",
        )
        for entry in together(reading.request.user, reading.split, scores)
    ]
    return curves(runs, along=along, target=Fraction(target) / 100, terms=reading.terms), along, target


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def steps(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return which step each chosen row skips; the owner's POST has a report that failed tried again."""
    reading = opened(request, slug, name)
    split = reading.split
    if request.method == "POST":
        if not owns(request.user, split.dataset):
            raise Http404(NOTHING)
        ablation_jobs.retry(split)
        return redirect(request.get_full_path())
    try:
        report, found = steps_for(reading)
        context = reading.context("Skipped steps")
    except Unreadable as error:
        return refused(reading, error)
    context |= {"report": report, "has_steps": report is not None, "owns": owns(request.user, split.dataset)}
    context |= {"found": found, **_waiting(report)}
    return render(request, "leaderboards/steps.html", context)


def steps_for(reading: Reading) -> tuple[AblationReport | None, list[Skipping]]:
    """Return the report on a split's programs, None where no step can be left out, and what it says of each row.

    Raises
    ------
    Unreadable
        Where answers or programs are withheld, or there is no such row.
    """
    split = reading.split
    if not (reading.terms.is_open and may_see(reading.request.user, split, What.PROGRAM)):
        raise Unreadable(f"Answers of {split} are withheld: which step a row skips would tell of them.", status=403)
    reading.check_names()
    models = [entry for entry in reading.chosen if not entry.is_site_baseline]
    report = ablation_jobs.at_hand(split) if split.dataset.get_world().ablations else None
    if report is None or report.state != AblationReport.State.DONE:
        return report, []
    ablated, baselines = ablation_jobs.read(report), _baselines(reading)
    return report, [skipping(split, ablated, one, baselines) for one in contenders_of(models)]


def _baselines(reading: Reading) -> list[Contender]:
    return contenders_of([entry for entry in reading.entries if entry.is_site_baseline])


def _waiting(report: AblationReport | None) -> dict[str, Any]:
    """Return what a page says of a report that isn't made yet."""
    if report is None or report.state != AblationReport.State.WAITING:
        return {}
    is_alone = not Heartbeat.objects.reading(DEFAULT).alive().exists()
    return {"is_alone": is_alone, "start_command": START_COMMAND}
