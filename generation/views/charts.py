"""A dataset's charts as files: SVG and PDF for printing, CSV for computing."""

import hashlib

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe

from generation.charts.counts import Chart, as_csv, charts_of
from generation.charts.drawing import DrawingOrder, drawings
from generation.charts.vega import OF_PAPER, spec_of
from generation.models import Dataset
from generation.splits.query_string import QueryString, shorten
from generation.views.access_checks import counted_splits, find_dataset

KINDS = {"svg": "image/svg+xml", "pdf": "application/pdf", "csv": "text/csv; charset=utf-8"}


class NoChart(Exception):
    """The chart does not exist or is not available; the text says why."""


@require_safe
def chart(request: HttpRequest, slug: str, chart: str, kind: str) -> HttpResponse:
    """Return a chart as a file. `?split=val` counts only that split; otherwise all splits are counted."""
    dataset = find_dataset(request.user, slug)
    try:
        found = _find_chart(request, dataset, chart)
        content, etag = _as_csv(found) if kind == "csv" else _drawing(request, dataset, found, kind=kind)
    except NoChart as error:
        context = {"dataset": dataset, "message": str(error)}
        return render(request, "generation/refused.html", context, status=404)
    return _answered(request, content, f"{dataset.slug}-{chart}.{kind}", kind=kind, etag=etag)


def _find_chart(request: HttpRequest, dataset: Dataset, name: str) -> Chart:
    """Return a chart of the dataset with the counts that this user may see; raise `NoChart`."""
    splits = list(dataset.splits.select_related("dataset").order_by("ordinal"))
    counted = counted_splits(splits, QueryString.of(request).value("split") or None)
    charts = {found.view.name: found for found in charts_of(request.user, dataset, counted)}
    if name not in charts:
        known = ", ".join(charts) or "it has none yet"
        raise NoChart(f"Expected one of this dataset's charts ({known}), got {shorten(name)}.")
    if not charts[name].columns:
        raise NoChart(f"Answers of {', '.join(charts[name].withheld)} are withheld, and this chart would reveal some.")
    return charts[name]


def _as_csv(chart: Chart) -> tuple[bytes, str]:
    content = as_csv(chart).encode()
    return content, hashlib.sha256(content).hexdigest()


def _drawing(request: HttpRequest, dataset: Dataset, chart: Chart, *, kind: str) -> tuple[bytes, str]:
    """Return a chart for paper, with links to this site, and a digest for its ETag."""
    spec = spec_of(chart, colors=OF_PAPER, title=dataset.name)
    if spec is None:
        raise NoChart(f"Expected enough questions for shares, got {', '.join(chart.left_out) or 'none'}.")
    order = DrawingOrder(spec, kind=kind, site=settings.PUBLIC_URL)
    [drawing] = drawings(dataset.slug, [order])
    if drawing is None:
        raise NoChart("This chart is not drawn yet. Load it again in a moment. Its figures are in the CSV file.")
    return drawing, order.digest


def _answered(request: HttpRequest, content: bytes, name: str, *, kind: str, etag: str) -> HttpResponse:
    """Return the file, or the response that the browser's copy is up to date.

    Users with more rights, and later requests with more complete splits, get other content at the same address.
    Therefore only the browser may store it, and it must ask each time.
    """
    response = HttpResponse(content, content_type=KINDS[kind])
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["ETag"] = quote_etag(etag)
    response["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, ["Cookie"])
    return get_conditional_response(request, etag=response["ETag"], response=response) or response
