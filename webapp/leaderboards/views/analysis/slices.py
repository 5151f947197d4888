"""Views of a board's slices: the page, its charts, and the figures as files."""

from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from generation.engine.items import FacetKind
from generation.engine.worlds.breakdowns import BoardView
from generation.splits.query_string import shorten
from generation.storage.split_index import IndexedFacet
from webapp.leaderboards.analysis.related_splits import by_view_across
from webapp.leaderboards.analysis.slices import (
    BadBands,
    FacetPartition,
    SlicePanel,
    by_one,
    by_two,
    by_view,
    lines_of,
    partition,
    read_bands,
)
from webapp.leaderboards.boards import columns_of, own_columns_of
from webapp.leaderboards.disclosure.visibility import facets_for, views_for
from webapp.leaderboards.views.analysis.board_selection import (
    KINDS,
    BoardReading,
    UnreadableAddress,
    about,
    as_csv,
    board_view,
    check_kind,
    check_open,
    download,
    draw_panels,
    for_paper,
)

BY, VIEW, BANDS, PANEL = "by", "view", "bands", "panel"
MOST_COLUMNS = 60  # values of a facet that is crossed with another one


class SliceRequest(NamedTuple):
    view: BoardView | None
    by: list[IndexedFacet]  # one or two facets, without a view
    bands: str = ""  # of the first facet


@require_safe
@board_view()
def slices(reading: BoardReading) -> HttpResponse:
    """Return accuracy by a view (`?view=types`) or by facets (`?by=type&by=length`), for rows (`&entry=m5`)."""
    wanted = _wanted(reading)
    panels = _panels(reading, wanted)
    context = {**reading.context("Slices"), **_form(reading, wanted), "panels": draw_panels(reading.split, panels)}
    return render(reading.request, "leaderboards/slices.html", context)


@require_safe
@board_view()
def slices_file(reading: BoardReading, kind: str) -> HttpResponse:
    """Return the page's figures as CSV or JSON, or a panel's chart (`?panel=1`) as SVG or PDF."""
    check_kind(kind, (*KINDS, "json"))
    panels = panels_for(reading)
    if kind == "json":
        return JsonResponse({**about(reading), "slices": list(lines_of(panels))})
    content = as_csv(lines_of(panels)) if kind == "csv" else for_paper(reading, _one(reading, panels), kind=kind)
    return download(content, kind=kind, name=reading.file_name("slices"))


def panels_for(reading: BoardReading) -> list[SlicePanel]:
    return _panels(reading, _wanted(reading))


def _one(reading: BoardReading, panels: list[SlicePanel]) -> SlicePanel:
    number = reading.asked.value(PANEL, "1")
    if not (number.isdecimal() and len(number) < 5 and 1 <= int(number) <= len(panels)):
        raise UnreadableAddress(f"Expected a panel from 1 to {len(panels)}, got {shorten(number)}.")
    return panels[int(number) - 1]


def _wanted(reading: BoardReading) -> SliceRequest:
    """Return what the URL breaks accuracy down by; the first view by default."""
    check_open(reading)
    reading.check_names(VIEW, BY, BANDS, PANEL)
    user, split, index = reading.request.user, reading.split, reading.index
    facets = {facet.name: facet for facet in facets_for(user, split, index)}
    views = {view.name: view for view in views_for(user, split, index)}
    if names := reading.asked.values(BY):
        return _by(reading, names, facets, reading.asked.value(BANDS).strip())
    name = reading.asked.value(VIEW)
    if name and name not in views:
        raise UnreadableAddress(f"Expected one of the views {', '.join(views)}, got {shorten(name)}.")
    if not views:
        return SliceRequest(None, list(facets.values())[:1])
    columns = columns_of(user, split, index)
    if not name and columns and columns != own_columns_of(user, split, index):
        return SliceRequest(None, [facets[columns[0].facet]])
    return SliceRequest(views[name] if name else next(iter(views.values())), [])


def _by(reading: BoardReading, names: list[str], facets: dict[str, IndexedFacet], bands: str) -> SliceRequest:
    unknown = [name for name in names if name not in facets]
    if unknown:
        raise UnreadableAddress(f"Expected to break down by one of {', '.join(facets)}, got {shorten(unknown[0])}.")
    if len(names) > 2:
        raise UnreadableAddress(f"Expected to break down by one facet or two, got {len(names)}.", status=400)
    chosen = [facets[name] for name in names]
    if bands and chosen[0].kind != FacetKind.INTEGER:
        raise UnreadableAddress(
            f"Expected ranges only for a facet with numbers, but {chosen[0].label} has none.", status=400
        )
    if len(chosen) > 1 and len(chosen[1].values) > MOST_COLUMNS:
        raise UnreadableAddress(
            f"Expected a second facet of at most {MOST_COLUMNS} values: put {chosen[1].label} first.", status=400
        )
    return SliceRequest(None, chosen, bands)


def _panels(reading: BoardReading, wanted: SliceRequest) -> list[SlicePanel]:
    if not reading.contenders or not (wanted.view or wanted.by):
        return []
    questions = reverse("board_questions", args=[reading.split.dataset.slug, reading.split.name])
    ground = replace(reading.ground, address=questions, names_rows=True)
    if wanted.view is not None:
        if wanted.view.is_across:
            return by_view_across(reading.request.user, reading.ground, reading.split, reading.chosen, wanted.view)
        return by_view(ground, reading.contenders, wanted.view)
    one, *others = _divided(wanted)
    if others:
        return by_two(ground, reading.contenders, one, others[0])
    return by_one(ground, reading.contenders, one)


def _divided(wanted: SliceRequest) -> list[FacetPartition]:
    try:
        bands = read_bands(wanted.bands) if wanted.bands else []
    except BadBands as error:
        raise UnreadableAddress(str(error), status=400) from error
    first, *rest = wanted.by
    return [partition(first, bands), *(partition(facet) for facet in rest)]


def _form(reading: BoardReading, wanted: SliceRequest) -> dict[str, Any]:
    """Return the choices of the form, and the current ones."""
    user, split, index = reading.request.user, reading.split, reading.index
    names = [facet.name for facet in wanted.by]
    rows = reading.entry_pairs
    views = [
        (view.title, urlencode([(VIEW, view.name), *rows]), wanted.view is not None and view.name == wanted.view.name)
        for view in views_for(user, split, index)
    ]
    return {
        "views": views,
        "facets": facets_for(user, split, index),
        "first": names[0] if names else "",
        "second": names[1] if len(names) > 1 else "",
        "bands": wanted.bands,
        "view": wanted.view,
    }
