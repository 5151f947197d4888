"""Views that compare two rows of a board: the page, a chart, and the figures as files."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from generation.charts.vega import OF_PAPER, OF_THE_PAGE, SvgPalette
from generation.engine.scoring.counts.metrics import Metric
from generation.splits.query_string import shorten
from webapp.leaderboards.analysis import summary
from webapp.leaderboards.analysis.charts import differences_chart
from webapp.leaderboards.analysis.comparison import ComparedFacet, Sheet, lines_of, sheet
from webapp.leaderboards.analysis.metric_slices import MetricLine, metric_slices
from webapp.leaderboards.analysis.slices import partition
from webapp.leaderboards.boards import columns_of
from webapp.leaderboards.disclosure.visibility import facets_for
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.metrics import metric_table
from webapp.leaderboards.views.analysis.board_selection import (
    KINDS,
    BoardReading,
    UnreadableAddress,
    as_csv,
    board_view,
    check_kind,
    check_open,
    download,
    drawing_of,
    paper_of,
)

TWO = 2
BY = "by"


@require_safe
@board_view()
def compare(reading: BoardReading) -> HttpResponse:
    is_chosen = len(two_of(reading)) == TWO
    context = reading.context("Compare") | (_compared(reading) if is_chosen else {})
    return render(reading.request, "leaderboards/compare.html", context)


def _compared(reading: BoardReading) -> dict[str, Any]:
    """Return the page's context for two rows."""
    (first, second), found = reading.contenders, sheet_for(reading)
    part = _drawn_part(reading, found)
    spec = _spec(reading, part, colors=OF_THE_PAGE) if part is not None else None
    rows = reading.entry_pairs
    return {
        "told": summary.describe_difference(found, (first.label, second.label), _usual_facet(reading)),
        "largest": summary.largest(found),
        "facets": [(one, urlencode([*rows, (BY, one.name)])) for one in found.parts],
        "first": first,
        "second": second,
        "sheet": found,
        "part": part,
        "drawing": drawing_of(reading.split.dataset.slug, spec),
        "is_drawable": spec is not None,
        "left_out": differences_chart.left_out(part) if part is not None else "",
        "metrics": _metrics(reading),
    }


def _metrics(reading: BoardReading) -> list[tuple[Metric, MetricLine]]:
    """Return the world's other metrics that both rows have, with their figures and the difference."""
    user, split = reading.request.user, reading.split
    table = metric_table(user, split, reading.chosen)
    rows = [(entry, one.label) for entry, one in zip(reading.chosen, reading.contenders, strict=True)]
    found = [metric_slices(user, split, metric, rows, None) for metric in (() if table is None else table.metrics)]
    return [(one.metric, one.lines[0]) for one in found if one.has_difference]


def two_of(reading: BoardReading) -> list[Entry]:
    """Return at most two rows that the URL names, and reduce the reading to these; raise `UnreadableAddress`."""
    check_open(reading)
    reading.check_names(BY)
    reading.chosen = reading.chosen[:TWO]
    return reading.chosen


def sheet_for(reading: BoardReading) -> Sheet:
    """Return the comparison of the first two rows that the URL names; raise `UnreadableAddress`."""
    if len(two_of(reading)) < TWO:
        raise UnreadableAddress("Expected two rows of the board, got fewer.", status=400)
    first, second = reading.contenders
    by = [partition(facet) for facet in facets_for(reading.request.user, reading.split, reading.index)]
    return sheet(reading.ground, first, second, by)


def _drawn_part(reading: BoardReading, found: Sheet) -> ComparedFacet | None:
    """Return the facet of the chart; the facet of the board's columns if the URL names none."""
    parts = {part.name: part for part in found.parts}
    wanted = reading.asked.value(BY)
    if wanted and wanted not in parts:
        raise UnreadableAddress(f"Expected to compare by one of {', '.join(parts)}, got {shorten(wanted)}.")
    return parts[wanted] if wanted else parts.get(_usual_facet(reading), next(iter(parts.values()), None))


def _usual_facet(reading: BoardReading) -> str:
    columns = columns_of(reading.request.user, reading.split, reading.index)
    return columns[0].facet if columns else ""


def _spec(
    reading: BoardReading, part: ComparedFacet, *, colors: SvgPalette, title: str = "", test: str = ""
) -> dict[str, Any] | None:
    """Return the chart of a facet; each point links to its questions with the answers of both rows."""
    first, second = reading.contenders
    split = reading.split
    questions = reverse("board_questions", args=[split.dataset.slug, split.name])
    addresses = {
        value: f"{questions}?{urlencode([*line.pairs, *reading.entry_pairs])}"
        for line in part.lines
        for _, value in line.pairs
    }
    names = (first.label, second.label)
    return differences_chart.spec_of(part, names, addresses, colors=colors, title=title, test=test)


@require_safe
@board_view()
def compare_file(reading: BoardReading, kind: str) -> HttpResponse:
    """Return the figures of a comparison as CSV, or its chart by a facet (`?by=type`) as SVG or PDF."""
    check_kind(kind, KINDS)
    found = sheet_for(reading)
    content = as_csv(lines_of(found)) if kind == "csv" else _paper(reading, found, kind=kind)
    return download(content, kind=kind, name=reading.file_name("compare"))


def _paper(reading: BoardReading, found: Sheet, *, kind: str) -> bytes:
    part = _drawn_part(reading, found)
    spec = None if part is None else _spec(reading, part, colors=OF_PAPER, title=str(reading.split), test=found.test)
    return paper_of(reading.split.dataset.slug, spec, kind=kind)
