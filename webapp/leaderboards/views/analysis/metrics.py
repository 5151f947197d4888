"""Views of a board's metrics: a metric by a facet, differences of rows, and average precision at several overlaps."""

from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from generation.engine.scoring.counts.grounding import AP_IOU, IOUS
from generation.engine.scoring.counts.metrics import METRICS, Metric
from generation.splits.query_string import shorten
from generation.storage.split_index import IndexedFacet
from webapp.leaderboards.analysis.metric_slices import MetricSlices, lines_json, metric_slices
from webapp.leaderboards.analysis.slices import partition
from webapp.leaderboards.disclosure.visibility import facets_for
from webapp.leaderboards.metrics import MetricCell, UnknownMetric, find_metric, metric_table, precision_rows
from webapp.leaderboards.views.analysis.board_selection import (
    METRIC,
    BoardReading,
    UnreadableAddress,
    about,
    as_csv,
    board_view,
    check_kind,
    check_open,
    contenders_of,
    download,
)

BY = "by"
USUAL = "answer"
FILES = ("csv", "json")
NO_METRICS = (
    "This board has no metric but accuracy. Worlds whose answers are counts have more metrics, which need known right "
    "answers."
)


@require_safe
@board_view()
def metrics(reading: BoardReading) -> HttpResponse:
    """Return a metric of rows by a facet: `?metric=rmse&by=answer&entry=m5&entry=m7`."""
    found, facet = slices_for(reading), _facet(reading)
    precisions = precision_rows(reading.split, reading.chosen)
    ap = METRICS["ap"]
    context = {
        **reading.context("Metrics"),
        "found": found,
        "metrics": _metrics_with_figures(reading),
        "facets": facets_for(reading.request.user, reading.split, reading.index),
        "by": "" if facet is None else facet.name,
        "ious": IOUS,
        "usual": AP_IOU,
        "precisions": [(row.entry, [MetricCell(ap, figure) for figure in row.figures]) for row in precisions],
    }
    return render(reading.request, "leaderboards/metrics.html", context)


@require_safe
@board_view()
def metrics_file(reading: BoardReading, kind: str) -> HttpResponse:
    """Return the figures of the page as CSV or JSON."""
    check_kind(kind, FILES)
    found = slices_for(reading)
    if kind == "json":
        return JsonResponse(metrics_json(reading, found))
    return download(as_csv(lines_json(found)), kind=kind, name=reading.file_name(found.metric.name))


def metrics_json(reading: BoardReading, found: MetricSlices) -> dict[str, Any]:
    precisions = precision_rows(reading.split, reading.chosen)
    return {
        **about(reading),
        "metric": found.metric.name,
        "is_better": found.metric.is_better,
        "slices": list(lines_json(found)),
        "average_precision": [
            {"row": row.entry.name, "iou": iou, **figure.to_json()}
            for row in precisions
            for iou, figure in zip(IOUS, row.figures, strict=True)
        ],
    }


def slices_for(reading: BoardReading) -> MetricSlices:
    """Return the metric by the facet that the URL asks for; raise `UnreadableAddress`."""
    check_open(reading)
    reading.check_names(METRIC, BY)
    known = _metrics_with_figures(reading)
    if not known:
        raise UnreadableAddress(NO_METRICS)
    try:
        metric = find_metric(reading.asked.value(METRIC), known) or known[0]
    except UnknownMetric as error:
        raise UnreadableAddress(str(error)) from error
    facet = _facet(reading)
    rows = [(entry, one.label) for entry, one in zip(reading.chosen, contenders_of(reading.chosen), strict=True)]
    by = None if facet is None else partition(facet)
    return metric_slices(reading.request.user, reading.split, metric, rows, by)


def _metrics_with_figures(reading: BoardReading) -> tuple[Metric, ...]:
    table = metric_table(reading.request.user, reading.split, reading.entries)
    return () if table is None else table.metrics


def _facet(reading: BoardReading) -> IndexedFacet | None:
    """Return the facet that the URL names, by default the answer; None if `by=` has no value."""
    facets = {one.name: one for one in facets_for(reading.request.user, reading.split, reading.index)}
    if BY not in reading.request.GET:
        return facets.get(USUAL)
    name = reading.asked.value(BY)
    if name and name not in facets:
        raise UnreadableAddress(f"Expected to break down by one of {', '.join(facets)}, got {shorten(name)}.")
    return facets[name] if name else None
