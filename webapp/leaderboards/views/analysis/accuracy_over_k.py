"""Views of the accuracy over the number k of a suite's splits: the page, its chart and its table as files."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from generation.site_addresses import site_address
from generation.splits.query_string import BadAddress, QueryString
from webapp.leaderboards.analysis import downloads
from webapp.leaderboards.analysis.accuracy_over_k import AccuracyOverK, accuracy_over_k, table_of
from webapp.leaderboards.analysis.charts.learning_curves_chart import left_out, spec_of
from webapp.leaderboards.board_lookup import find_suite, owns_suite
from webapp.leaderboards.metrics import UnknownMetric
from webapp.leaderboards.models import Suite
from webapp.leaderboards.views.analysis.board_selection import (
    METRIC,
    TABLE_OR_CHART_KINDS,
    UnreadableAddress,
    check_kind,
    download,
    drawing_of,
    paper_of,
)


@require_safe
def over_k(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the accuracy of each method over k, or another metric: `?metric=rmse`."""
    suite = find_suite(request.user, slug)
    context: dict[str, Any] = {"suite": suite, "is_own": owns_suite(request.user, suite)}
    if suite.is_grid:
        try:
            found = _read(request, suite)
        except UnreadableAddress as error:
            return render(request, "generation/refused.html", {"message": str(error)}, status=error.status)
        spec = _chart(found, is_paper=False)
        context |= {
            "found": found,
            "rows": list(found.rows()),
            "is_drawable": spec is not None,
            "drawing": drawing_of(suite.chart_folder, spec),
            "left_out": left_out(found.curves),
            "query": request.GET.urlencode(),
        }
    return render(request, "leaderboards/over_k.html", context)


@require_safe
def over_k_file(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """Return the table as CSV, JSON or LaTeX, or the chart as SVG or PDF."""
    suite = find_suite(request.user, slug)
    name = f"{suite.slug}-over-k"
    try:
        check_kind(kind, TABLE_OR_CHART_KINDS)
        if not suite.is_grid:
            raise UnreadableAddress(
                "Expected a suite whose splits have a number k, got one without k. The owner of the suite can add it."
            )
        found = _read(request, suite)
        if kind in downloads.KINDS:
            return downloads.response(table_of(found, site=site_address(request)), kind=kind, name=name)
        content = paper_of(suite.chart_folder, _chart(found, is_paper=True), kind=kind)
    except UnreadableAddress as error:
        return render(request, "generation/refused.html", {"message": str(error)}, status=error.status)
    return download(content, kind=kind, name=name)


def _read(request: HttpRequest, suite: Suite) -> AccuracyOverK:
    """Return the figures that the URL asks for; raise `UnreadableAddress`."""
    asked = QueryString.of(request)
    try:
        asked.check_names((METRIC,))
        return accuracy_over_k(request.user, suite, asked.value(METRIC))
    except (BadAddress, UnknownMetric) as error:
        raise UnreadableAddress(str(error), status=400) from error


def _chart(found: AccuracyOverK, *, is_paper: bool) -> dict[str, Any] | None:
    title = found.suite.title if is_paper else ""
    return spec_of(
        found.curves, axis=found.suite.k_name, target=None, is_paper=is_paper, title=title, metric=found.metric
    )
