"""Views of learning curves: the page, its chart and figures as files, and the size that each column needs."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from generation.engine.items import Column
from generation.engine.worlds.breakdowns import BoardView, Tasks
from generation.splits.query_string import shorten
from webapp.leaderboards.analysis import downloads
from webapp.leaderboards.analysis.charts.learning_curves_chart import left_out, spec_of
from webapp.leaderboards.analysis.learning_curves import (
    ALONG,
    Curve,
    Run,
    curve_entries,
    curve_needs,
    curves,
    lines_of,
    run_of,
    table_of,
)
from webapp.leaderboards.analysis.slices import on_series
from webapp.leaderboards.boards import columns_of, on_column, own_columns_of, tasks_among
from webapp.leaderboards.disclosure.visibility import views_for
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.views.board_selection import (
    ENTRY,
    KINDS,
    BoardReading,
    UnreadableAddress,
    as_csv,
    check_open,
    download,
    drawing_of,
    open_board,
    paper_of,
    refuse,
)

TARGET, OVER, VIEW = "target", "along", "view"
USUAL = "90"  # percent, if columns are not tasks


class CurveRequest(NamedTuple):
    """What a URL asks of curves: the horizontal axis, the target in percent, and the view whose series are drawn."""

    along: str
    target: str
    view: BoardView | None

    @property
    def share(self) -> Fraction:
        return Fraction(self.target) / 100


class BoardCurves(NamedTuple):
    """The curves of a board, and the columns with their own targets; no columns if a view is chosen."""

    asked: CurveRequest
    curves: list[Curve]
    columns: tuple[Column, ...]
    tasks: Tasks | None


@require_safe
def curve(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return accuracy over training examples, or examples seen: `?along=examples-seen&target=95&view=answers`."""
    reading = open_board(request, slug, name)
    try:
        found = curves_for(reading)
        spec = _chart(found, is_paper=False)
        context = {**reading.context("Curves"), **found._asdict(), **found.asked._asdict(), "alongs": ALONG.items()}
        context |= {"axis": ALONG[found.asked.along], "views": _views(reading)}
        context |= {
            "left_out": left_out(found.curves),
            "drawing": drawing_of(reading.split.dataset.slug, spec),
            "is_drawable": spec is not None,
        }
        context["needed"] = curve_needs(found.curves, found.columns, found.tasks) if found.columns else None
    except UnreadableAddress as error:
        return refuse(reading, error)
    return render(request, "leaderboards/curves.html", context)


@require_safe
def curve_file(request: HttpRequest, slug: str, name: str, kind: str) -> HttpResponse:
    """Return the curves' figures as CSV, or their chart as SVG or PDF."""
    reading = open_board(request, slug, name)
    try:
        if kind not in KINDS:
            raise UnreadableAddress(f"Expected one of {', '.join(KINDS)}, got {shorten(kind)}.")
        found = curves_for(reading)
        if kind == "csv":
            content = as_csv(lines_of(found.curves))
        else:
            content = paper_of(slug, _chart(found, is_paper=True, title=str(reading.split)), kind=kind)
    except UnreadableAddress as error:
        return refuse(reading, error)
    return download(content, kind=kind, name=f"{slug}-{name}-curves")


@require_safe
def reached_file(request: HttpRequest, slug: str, name: str, kind: str) -> HttpResponse:
    """Return how many examples each column of the board needs to reach the target, as CSV, JSON or LaTeX."""
    reading = open_board(request, slug, name)
    try:
        if kind not in downloads.KINDS:
            raise UnreadableAddress(f"Expected one of {', '.join(downloads.KINDS)}, got {shorten(kind)}.")
        found = curves_for(reading)
        if not found.columns:
            raise UnreadableAddress("Expected no view, because this file is about all questions.", status=400)
    except UnreadableAddress as error:
        return refuse(reading, error)
    table = table_of(
        reading.split, curve_needs(found.curves, found.columns, found.tasks), found.asked.along, found.asked.target
    )
    return downloads.response(table, kind=kind, name=f"{slug}-{name}-reached")


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
        runs = [run for entry in entries for run in _runs_of_series(reading, entry, asked.view)]
    else:
        runs = [
            _run(reading, entry)._replace(
                parts=tuple(on_column(entry, column, reading.index, is_own=are_own) for column in columns)
            )
            for entry in entries
        ]
    return BoardCurves(asked, curves(runs, along=asked.along, target=asked.share), columns, tasks)


def _asked(reading: BoardReading, tasks: Tasks | None) -> CurveRequest:
    reading.check_names(OVER, TARGET, VIEW)
    asked, usual = reading.asked, tasks.percent if tasks is not None else USUAL
    along, target, name = asked.value(OVER, next(iter(ALONG))), asked.value(TARGET, usual), asked.value(VIEW)
    if along not in ALONG:
        raise UnreadableAddress(f"Expected one of {', '.join(ALONG)}, got {shorten(along)}.")
    if not (len(target) < 8 and target.replace(".", "", 1).isdecimal() and target.isascii() and float(target) <= 100):
        raise UnreadableAddress(f"Expected a target from 0 to 100 percent, got {shorten(target)}.", status=400)
    views = {view.name: view for view in _views(reading)}
    if name and name not in views:
        raise UnreadableAddress(f"Expected one of the views {', '.join(views) or '(none)'}, got {shorten(name)}.")
    return CurveRequest(along, target, views[name] if name else None)


def _views(reading: BoardReading) -> list[BoardView]:
    return [view for view in views_for(reading.request.user, reading.split, reading.index) if view.series]


def _run(reading: BoardReading, entry: Entry) -> Run:
    return run_of(entry, _slices(reading, [(ENTRY, entry.key)]))


def _runs_of_series(reading: BoardReading, entry: Entry, view: BoardView) -> Iterator[Run]:
    """Yield a point of a curve for each series of a view; nothing for entries without a training size."""
    run = _run(reading, entry)
    if run.train_size is None and run.examples_seen is None:
        return
    address = _slices(reading, [(VIEW, view.name), (ENTRY, entry.key)])
    for series, averaged in on_series(reading.ground.index, entry.runs(), view):
        yield run._replace(averaged=averaged, series=series.label, address=address)


def _slices(reading: BoardReading, pairs: list[tuple[str, str]]) -> str:
    return f"{reverse('board_slices', args=[reading.split.dataset.slug, reading.split.name])}?{urlencode(pairs)}"


def _chart(found: BoardCurves, *, is_paper: bool, title: str = "") -> dict[str, Any] | None:
    axis, view = ALONG[found.asked.along], found.asked.view
    said = f"{title}: {view.title}" if title and view is not None else title
    return spec_of(found.curves, axis=axis, target=float(found.asked.share), is_paper=is_paper, title=said)
