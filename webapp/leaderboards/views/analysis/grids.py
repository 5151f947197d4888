"""Views of grids: the training size that each target needs over k, as a page, its charts and its table as files."""

from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from generation.site_addresses import site_address
from generation.splits.query_string import BadAddress, QueryString, shorten
from webapp.leaderboards.analysis import downloads
from webapp.leaderboards.analysis.charts.sample_complexity_chart import DRAWN, ChartLine, describe, left_out, spec_of
from webapp.leaderboards.analysis.sample_complexity import SIZES, TARGETS, USUAL, Grid, GridMethod, grid_of, table_of
from webapp.leaderboards.board_lookup import find_suite, owns_suite
from webapp.leaderboards.models import Suite
from webapp.leaderboards.views.analysis.board_selection import (
    TABLE_OR_CHART_KINDS,
    UnreadableAddress,
    check_kind,
    download,
    paper_of,
    small_drawings_of,
)

TARGET, METHOD, CHART = "target", "method", "chart"
NOT_A_GRID = "Expected a grid, got a suite without k. Its owner can turn it into a grid in its form."
ALL_WITHHELD = (
    "The answers of this suite's splits are withheld. This page is shown when their owners open them. Until then, the "
    "board of the suite shows one figure for each method."
)


class GridReading(NamedTuple):
    """A grid as one visitor reads it: the target of the chart of all methods, and the methods that are drawn."""

    grid: Grid
    target: int
    drawn: list[GridMethod]

    def lines(self, method: GridMethod | None) -> list[ChartLine]:
        if method is None:
            return [ChartLine(one.label, one.at(self.target).cells) for one in self.drawn]
        return [ChartLine(f"{line.target} %", line.cells) for line in method.lines]

    def spec(self, method: GridMethod | None) -> dict[str, Any] | None:
        return spec_of(self.grid, self.lines(method), is_paper=False)

    def paper_spec(self, method: GridMethod | None) -> dict[str, Any] | None:
        """Return the same chart for a file, with a title."""
        about = f"{self.target} % right" if method is None else method.label
        subtitle = f"{self.grid.suite.title}: {about}"
        title = f"{SIZES.capitalize()} needed"
        return spec_of(self.grid, self.lines(method), is_paper=True, title=title, subtitle=subtitle)


@require_safe
def grid(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the size that each target needs over k: `?target=95&method=m5&method=m7` chooses what is drawn."""
    suite = find_suite(request.user, slug)
    context: dict[str, Any] = {"suite": suite, "is_own": owns_suite(request.user, suite)}
    if not suite.is_grid:
        return render(request, "leaderboards/grid.html", context)
    try:
        reading = read_grid(request, suite)
    except UnreadableAddress as error:
        return _refuse(request, error)
    methods: list[GridMethod | None] = [None, *reading.drawn]
    specs = [reading.spec(method) for method in methods]
    drawings = small_drawings_of(suite.chart_folder, specs)
    context |= {
        **reading._asdict(),
        "targets": TARGETS,
        "charts": [
            {
                "method": method,
                "drawing": drawing,
                "is_drawable": spec is not None,
                "description": describe(reading.lines(method)),
            }
            for method, spec, drawing in zip(methods, specs, drawings, strict=True)
        ],
        "left_out": "" if request.GET.getlist(METHOD) else left_out(reading.grid),
        "most": DRAWN,
        "sizes": SIZES,
        "query": request.GET.urlencode(),
    }
    return render(request, "leaderboards/grid.html", context)


@require_safe
def grid_file(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """Return the table as CSV, JSON or LaTeX, or a chart as SVG or PDF: of all methods, or of one (`?chart=m5`)."""
    suite = find_suite(request.user, slug)
    name = f"{suite.slug}-grid"
    try:
        check_kind(kind, TABLE_OR_CHART_KINDS)
        reading = read_grid(request, suite, CHART)
        if kind in downloads.KINDS:
            return downloads.response(table_of(reading.grid, site=site_address(request)), kind=kind, name=name)
        wanted = QueryString.of(request).value(CHART)
        method = _method(reading.grid, wanted) if wanted else None
        content = paper_of(suite.chart_folder, reading.paper_spec(method), kind=kind)
    except UnreadableAddress as error:
        return _refuse(request, error)
    return download(content, kind=kind, name=f"{name}-{wanted}" if wanted else name)


def read_grid(request: HttpRequest, suite: Suite, *more: str) -> GridReading:
    """Return a grid as the URL asks for it, which may have `more` parameters; raise `UnreadableAddress`."""
    asked = QueryString.of(request)
    try:
        asked.check_names((TARGET, METHOD, *more))
    except BadAddress as error:
        raise UnreadableAddress(str(error), status=400) from error
    target, keys = asked.value(TARGET, str(USUAL)), asked.values(METHOD)
    if target not in map(str, TARGETS):
        known = ", ".join(map(str, TARGETS))
        raise UnreadableAddress(f"Expected one of the targets {known} percent, got {shorten(target)}.")
    if len(keys) > DRAWN:
        raise UnreadableAddress(f"Expected at most {DRAWN} methods, got {len(keys)}.", status=400)
    found = open_grid(request.user, suite)
    drawn = [_method(found, key) for key in keys] or found.methods[:DRAWN]
    return GridReading(found, int(target), drawn)


def open_grid(user: Any, suite: Suite) -> Grid:
    """Return a suite as a grid for this visitor; raise `UnreadableAddress` if there is none, or all is withheld."""
    if not suite.is_grid:
        raise UnreadableAddress(NOT_A_GRID)
    found = grid_of(user, suite)
    if found.withheld and not found.members:
        raise UnreadableAddress(ALL_WITHHELD, status=403)
    return found


def _method(grid: Grid, key: str) -> GridMethod:
    found = next((method for method in grid.methods if method.key == key), None)
    if found is None:
        raise UnreadableAddress(f"Expected a method of this grid, got {shorten(key)}.")
    return found


def _refuse(request: HttpRequest, error: UnreadableAddress) -> HttpResponse:
    return render(request, "generation/refused.html", {"message": str(error)}, status=error.status)
