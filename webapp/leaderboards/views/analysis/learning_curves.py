"""Views of learning curves: the page, its chart and figures as files, and the size that each column needs."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from generation.engine.items import Column
from generation.engine.scoring.counts.metrics import Metric
from generation.engine.worlds.breakdowns import BoardView, Tasks
from generation.splits.query_string import shorten
from webapp.leaderboards.analysis import downloads
from webapp.leaderboards.analysis.charts.learning_curves_chart import left_out, spec_of
from webapp.leaderboards.analysis.learning_curves import (
    ALONG,
    Curve,
    FigureCurve,
    Run,
    curve_entries,
    curve_needs,
    curves,
    curves_table,
    metric_cell,
    run_of,
    size_of,
    table_of,
)
from webapp.leaderboards.analysis.slices import on_series, within
from webapp.leaderboards.boards import columns_of, on_column, own_columns_of, tasks_among
from webapp.leaderboards.disclosure.visibility import views_for
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.metrics import MetricFigure, UnknownMetric, figure_on, figures_of, find_metric, metrics_for
from webapp.leaderboards.views.analysis.board_selection import (
    ENTRY,
    METRIC,
    TABLE_OR_CHART_KINDS,
    BoardReading,
    UnreadableAddress,
    board_view,
    check_kind,
    check_open,
    download,
    drawing_of,
    paper_of,
)

TARGET, OVER, VIEW = "target", "along", "view"
USUAL = "90"  # percent, if columns are not tasks


class CurveRequest(NamedTuple):
    """What a URL asks of curves.

    Attributes
    ----------
    along : str
        The horizontal axis.
    target : str
        The target accuracy in percent.
    view : BoardView or None
        The view whose series are drawn.
    metric : Metric or None
        The metric that is drawn; None for the accuracy.
    metrics : tuple of Metric
        The metrics that can be chosen besides the accuracy.
    """

    along: str
    target: str
    view: BoardView | None
    metric: Metric | None
    metrics: tuple[Metric, ...]

    @property
    def share(self) -> Fraction:
        return Fraction(self.target) / 100


class BoardCurves(NamedTuple):
    """The curves of a board, and the columns with their own targets; no columns if a view is chosen."""

    asked: CurveRequest
    curves: list[Curve]
    columns: tuple[Column, ...]
    tasks: Tasks | None

    @property
    def of_metric(self) -> Sequence[Curve | FigureCurve]:
        return self.curves if self.asked.metric is None else [curve.of_metric for curve in self.curves]


@require_safe
@board_view()
def curve(reading: BoardReading) -> HttpResponse:
    """Return accuracy, or a metric, over training examples, or examples seen: `?along=examples-seen&metric=rmse`."""
    found = curves_for(reading)
    spec = _chart(found, is_paper=False)
    context = {**reading.context("Curves"), **found._asdict(), **found.asked._asdict(), "alongs": ALONG.items()}
    context |= {"axis": ALONG[found.asked.along], "views": _views(reading), "curves": found.of_metric}
    context |= {
        "accuracy_query": str(reading.asked.without(METRIC)),
        "left_out": left_out(found.of_metric),
        "drawing": drawing_of(reading.split.dataset.slug, spec),
        "is_drawable": spec is not None,
        "needed": curve_needs(found.curves, found.columns, found.tasks) if found.columns else None,
    }
    return render(reading.request, "leaderboards/curves.html", context)


@require_safe
@board_view()
def curve_file(reading: BoardReading, kind: str) -> HttpResponse:
    """Return the curves' figures as CSV, JSON or LaTeX, or their chart as SVG or PDF."""
    check_kind(kind, TABLE_OR_CHART_KINDS)
    found = curves_for(reading)
    file_name = reading.file_name("curves" if found.asked.metric is None else f"curves-{found.asked.metric.name}")
    if kind in downloads.KINDS:
        table = curves_table(reading.split, found.curves, found.asked.along, found.asked.metric)
        return downloads.response(table, kind=kind, name=file_name)
    spec = _chart(found, is_paper=True, title=str(reading.split))
    return download(paper_of(reading.split.dataset.slug, spec, kind=kind), kind=kind, name=file_name)


@require_safe
@board_view()
def reached_file(reading: BoardReading, kind: str) -> HttpResponse:
    """Return how many examples each column of the board needs to reach the target, as CSV, JSON or LaTeX."""
    check_kind(kind, downloads.KINDS)
    found = curves_for(reading)
    if not found.columns:
        raise UnreadableAddress("Expected no view, because this file is about all questions.", status=400)
    if found.asked.metric is not None:
        raise UnreadableAddress("Expected no metric, because the target is an accuracy.", status=400)
    table = table_of(
        reading.split, curve_needs(found.curves, found.columns, found.tasks), found.asked.along, found.asked.target
    )
    return downloads.response(table, kind=kind, name=reading.file_name("reached"))


def curves_for(reading: BoardReading) -> BoardCurves:
    """Return the curves that the URL asks for; raise `UnreadableAddress`."""
    check_open(reading)
    user, split = reading.request.user, reading.split
    columns = columns_of(user, split, reading.index)
    are_own = columns == own_columns_of(user, split, reading.index)
    tasks = tasks_among(split, columns)
    asked = _asked(reading, tasks)
    entries = curve_entries(user, split)
    if asked.view is not None:
        columns, tasks = (), None
        runs = [run for entry in entries for run in _runs_of_series(reading, entry, asked, asked.view)]
    else:
        runs = [
            _run(reading, entry, asked)._replace(
                parts=tuple(on_column(entry, column, reading.index, is_own=are_own) for column in columns)
            )
            for entry in entries
        ]
    return BoardCurves(asked, curves(runs, along=asked.along, target=asked.share), columns, tasks)


def _asked(reading: BoardReading, tasks: Tasks | None) -> CurveRequest:
    reading.check_names(OVER, TARGET, VIEW, METRIC)
    asked, usual = reading.asked, tasks.percent if tasks is not None else USUAL
    along, target, name = asked.value(OVER, next(iter(ALONG))), asked.value(TARGET, usual), asked.value(VIEW)
    if along not in ALONG:
        raise UnreadableAddress(f"Expected one of {', '.join(ALONG)}, got {shorten(along)}.")
    if not (len(target) < 8 and target.replace(".", "", 1).isdecimal() and target.isascii() and float(target) <= 100):
        raise UnreadableAddress(f"Expected a target from 0 to 100 percent, got {shorten(target)}.", status=400)
    views = {view.name: view for view in _views(reading)}
    if name and name not in views:
        raise UnreadableAddress(f"Expected one of the views {', '.join(views) or '(none)'}, got {shorten(name)}.")
    metrics = metrics_for(reading.request.user, reading.split)
    try:
        metric = find_metric(asked.value(METRIC), metrics)
    except UnknownMetric as error:
        raise UnreadableAddress(str(error)) from error
    return CurveRequest(along, target, views[name] if name else None, metric, metrics)


def _views(reading: BoardReading) -> list[BoardView]:
    return [view for view in views_for(reading.request.user, reading.split, reading.index) if view.series]


def _run(reading: BoardReading, entry: Entry, asked: CurveRequest) -> Run:
    run = run_of(entry, _slices(reading, [(ENTRY, entry.key)]))
    if asked.metric is None or size_of(run, along=asked.along) is None:
        return run
    figures = figures_of(reading.request.user, reading.split, entry)
    return _with_figure(reading, run, entry, asked.metric, figures.get(asked.metric.name))


def _runs_of_series(reading: BoardReading, entry: Entry, asked: CurveRequest, view: BoardView) -> Iterator[Run]:
    """Yield a point of a curve for each series of a view; nothing for entries without a size."""
    run = run_of(entry, _slices(reading, [(VIEW, view.name), (ENTRY, entry.key)]))
    if size_of(run, along=asked.along) is None:
        return
    for series, averaged in on_series(reading.ground.index, entry.runs(), view):
        one = run._replace(averaged=averaged, series=series.label)
        if asked.metric is not None:
            among = within(reading.index, {**view.filters, **series.filters})
            figure = figure_on(reading.request.user, reading.split, entry, asked.metric, among)
            one = _with_figure(reading, one, entry, asked.metric, figure)
        yield one


def _with_figure(reading: BoardReading, run: Run, entry: Entry, metric: Metric, figure: MetricFigure | None) -> Run:
    split = reading.split
    address = f"{reverse('board_metrics', args=[split.dataset.slug, split.name])}?{urlencode([(ENTRY, entry.key)])}"
    return run._replace(figure=metric_cell(metric, figure, address))


def _slices(reading: BoardReading, pairs: list[tuple[str, str]]) -> str:
    return f"{reverse('board_slices', args=[reading.split.dataset.slug, reading.split.name])}?{urlencode(pairs)}"


def _chart(found: BoardCurves, *, is_paper: bool, title: str = "") -> dict[str, Any] | None:
    asked = found.asked
    return spec_of(
        found.of_metric,
        axis=ALONG[asked.along],
        target=float(asked.share) if asked.metric is None else None,
        is_paper=is_paper,
        title=f"{title}: {asked.view.title}" if title and asked.view is not None else title,
        metric=asked.metric,
    )
