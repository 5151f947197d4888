"""The shortcuts report of a dataset: the page, the part that refreshes itself, the chart and the figures as files."""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from generation.access import Visitor, owns
from generation.charts.drawing import DrawingOrder, drawings
from generation.charts.vega import OF_PAPER
from generation.engine.formats.spreadsheets import csv_lines
from generation.models import BlindReport, Dataset
from generation.queue import DEFAULT
from generation.queue.workers import describe_waiting
from generation.reports import report_jobs
from generation.reports.shortcuts import complete_splits, find_report
from generation.reports.shortcuts_page import LEVEL_TEXT, ShortcutsView, chart_parts, shown_to, spec_of
from generation.views.access_checks import NOTHING, find_dataset

KINDS = {"svg": "image/svg+xml", "pdf": "application/pdf", "csv": "text/csv; charset=utf-8"}


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def shortcuts(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the page with the report on shortcuts. A POST by the owner starts a failed report again."""
    found = find_dataset(request.user, slug)
    if request.method == "POST":
        if not owns(request.user, found):
            raise Http404(NOTHING)
        report_jobs.retry(BlindReport.objects.filter(dataset=found))
        return redirect(request.path)
    context: dict[str, Any] = {"dataset": found, "owns": owns(request.user, found), "level": LEVEL_TEXT}
    if found.state == Dataset.State.COMPLETE:
        splits = complete_splits(found)
        report = report_jobs.request_shortcuts(found, splits)
        context |= {"report": report, **_waiting(report)}
        if report.state == BlindReport.State.DONE:
            shown = shown_to(request.user, found, splits, report)
            context |= {"shown": shown, "drawing": chart_parts(found, shown)}
    return render(request, "generation/blind.html", context)


@require_safe
@never_cache
def shortcuts_progress(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the part of the page with the state of the report, which the page reloads regularly."""
    found = find_dataset(request.user, slug)
    report = BlindReport.objects.filter(dataset=found).first()
    if report is None:
        raise Http404(NOTHING)
    context = {"dataset": found, "owns": owns(request.user, found), "report": report, **_waiting(report)}
    return render(request, "generation/_blind_waiting.html", context)


@require_safe
@never_cache
def shortcuts_file(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """Return the chart (SVG, PDF) or all figures (CSV) of a report as a file."""
    found = find_dataset(request.user, slug)
    shown = _shown(request.user, found)
    content = _as_csv(shown).encode() if kind == "csv" else _for_paper(request, found, shown, kind=kind)
    if content is None:
        message = "There is no drawing at the moment. The figures are in the CSV file."
        return render(request, "generation/refused.html", {"dataset": found, "message": message}, status=404)
    response = HttpResponse(content, content_type=KINDS[kind])
    response["Content-Disposition"] = f'attachment; filename="{found.slug}-shortcuts.{kind}"'
    return response


def _shown(user: Visitor, dataset: Dataset) -> ShortcutsView:
    """Return the part of a finished report that this user may see; raise `Http404` if there is none."""
    splits = complete_splits(dataset)
    report = find_report(dataset, splits)
    if report is None:
        raise Http404("There is no report on this dataset yet. Open its page to compute it.")
    return shown_to(user, dataset, splits, report)


def _waiting(report: BlindReport) -> dict[str, Any]:
    """Return the context for a report that is waiting; empty for other states."""
    if report.state != BlindReport.State.WAITING:
        return {}
    return {
        **describe_waiting(DEFAULT),
        "command": f"python manage.py shortcuts {report.dataset.slug}",
    }


def _for_paper(request: HttpRequest, dataset: Dataset, shown: ShortcutsView, *, kind: str) -> bytes | None:
    spec = spec_of(shown.drawn, colors=OF_PAPER, title=dataset.name)
    if spec is None:
        return None
    [drawing] = drawings(dataset.slug, [DrawingOrder(spec, kind=kind, site=settings.PUBLIC_URL)])
    return drawing


def _as_csv(shown: ShortcutsView) -> str:
    """Return all figures as CSV, a line for each split and cue or type."""
    figures = ("n", "right", "accuracy", "low", "high", "chance")
    lines: list[list[object]] = [["split", "reference", "part", "name", "label", *figures]]
    for one in shown.scored:
        for part, rows in (("cue", one.cues), ("type", one.types)):
            for row in (row.to_json() for row in rows):
                told = (row[name] for name in figures)
                lines.append([one.name, one.reference, part, row["name"], row["label"], *told])
    return "".join(csv_lines(lines))
