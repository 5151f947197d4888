"""Chart of a finding's table: our figures as bars or lines with intervals, the paper's as ticks or dashed lines."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from generation.charts.vega import (
    COUNTS,
    HEIGHT,
    LEGEND,
    OF_PAPER,
    SHARES,
    THICKNESS,
    THINNEST,
    WIDTH,
    SvgPalette,
    frame_of,
    title_of,
)
from webapp.leaderboards.findings.definitions import FindingTable
from webapp.leaderboards.findings.records import RecordedFigure

ROOM = 3  # extra pixels of a bar's thickness, because an interval is drawn on it
DRAWN = 5  # rows or columns with their own colours; the palette has five
TALLER = 1.4
STEP = 26  # pixels from one bar of a headline to the next
LABELS = 170  # pixels of the longest label of a bar
PAPER, HERE = "paper", "here"

Figures = Mapping[str, RecordedFigure]


def spec_of(
    table: FindingTable, figures: Figures, *, is_share: bool, colors: SvgPalette = OF_PAPER, title: str = ""
) -> dict[str, Any] | None:
    """Return the Vega-Lite specification of a table; None if neither the paper nor a record has figures.

    Parameters
    ----------
    table : FindingTable
    figures : mapping of str to RecordedFigure
        Empty if nothing is recorded.
    is_share : bool
        Whether the figures are shares, which are drawn in percent.
    colors : SvgPalette
    title : str
        The source of the chart, if it is shown without its page.
    """
    values = list(_values(table, figures))
    if not values:
        return None
    legend, places = (list(dict.fromkeys(value[name] for value in values)) for name in ("color", "place"))
    axis = {"format": SHARES if is_share else COUNTS, "tickCount": 4}
    shown = {"type": "quantitative", "title": metric_of(table), "axis": axis}
    color = {
        "field": "color",
        "type": "nominal",
        "scale": {"domain": legend, "range": list(colors.bars[: len(legend)])},
        "legend": {**LEGEND, "symbolType": "square" if table.chart == "bars" else "circle"},
    }
    spec = {
        "data": {"values": values},
        **(
            _bars(shown, color, colors, places=places, has_bars=bool(figures))
            if table.chart == "bars"
            else _lines(table, shown, color)
        ),
        "width": WIDTH,
        "height": HEIGHT * TALLER if table.chart == "lines" else {"step": ROOM + THICKNESS.get(len(legend), THINNEST)},
        **frame_of(colors),
    }
    if title:
        spec["title"] = title_of(table.title, title, describe_marks(table, figures))
        spec["padding"] = 12
    return spec


class HeadlineFigure(NamedTuple):
    """A bar of a headline: our figure with its interval, if it is known, and the paper's figure, as shares."""

    label: str
    here: float | None
    low: float | None
    high: float | None
    paper: float | None

    def values(self) -> dict[str, Any]:
        # What a chart draws: the numbers that are known, and their description.
        known = {name: one for name, one in self._asdict().items() if isinstance(one, float)}
        said = ", ".join(f"{name} {known[name]:.3g}" for name in (HERE, PAPER) if name in known)
        return {"place": self.label, "color": self.label, **known, "said": f"{self.label}: {said}"}


def headline_spec(bars: Sequence[HeadlineFigure], *, colors: SvgPalette = OF_PAPER) -> dict[str, Any] | None:
    """Return the Vega-Lite specification of a headline's bars; None if neither the paper nor a record has figures."""
    values = [one.values() for one in bars if one.here is not None or one.paper is not None]
    if not values:
        return None
    places = [value["place"] for value in values]
    axis = {"format": SHARES, "tickCount": 5}
    figure = {"type": "quantitative", "title": None, "scale": {"domainMin": 0}, "axis": axis}
    color = {
        "field": "color",
        "type": "nominal",
        "scale": {"domain": places, "range": [colors.bars[0]]},
        "legend": None,
    }
    has_bars = any(one.here is not None for one in bars)
    layers = _bars(figure, color, colors, places=places, has_bars=has_bars)
    del layers["encoding"]["yOffset"]  # one bar in each place
    return {"data": {"values": values}, **layers, "width": WIDTH, "height": {"step": STEP}, **frame_of(colors)}


def describe_headline(bars: Sequence[HeadlineFigure]) -> str:
    """Return what the marks of a headline's chart mean."""
    ours = "Bars are our figures." if any(one.here is not None for one in bars) else ""
    papers = any(one.paper is not None for one in bars)
    printed = "Ticks are the figures of the paper." if papers else "The paper draws these figures without numbers."
    return f"{ours} {printed}".strip()


def metric_of(table: FindingTable) -> str | None:
    # None if the columns have different metrics.
    found = {column.metric_label for column in table.columns}
    return found.pop() if len(found) == 1 else None


def describe_marks(table: FindingTable, figures: Figures) -> str:
    """Return what the marks of a chart mean. Without recorded figures, it only shows figures of the paper."""
    ours, papers = ("Lines with points", "Dashed lines") if table.chart == "lines" else ("Bars", "Ticks")
    recorded = f"{ours} are our figures, with 95 % intervals." if figures else ""
    published = f"{papers} are the figures of the paper." if table.paper else ""
    return f"{recorded} {published}".strip()


def left_out(table: FindingTable) -> str:
    if len(table.rows) <= DRAWN or not _is_by_row(table):
        return ""
    return f"The chart shows only {', '.join(row.label for row in table.rows[:DRAWN])}."


def _is_by_row(table: FindingTable) -> bool:
    return table.chart == "lines" or len(table.rows) <= DRAWN or len(table.columns) > DRAWN


def _values(table: FindingTable, figures: Figures) -> Iterator[dict[str, Any]]:
    """Yield the data of each mark. Each row has a colour, or each column if only the columns are few enough."""
    by_row = _is_by_row(table)
    rows = table.rows[: DRAWN if by_row else None]
    columns = table.columns[: None if by_row else DRAWN]
    for row in rows:
        for at, column in enumerate(columns):
            place = (
                {"color": row.label, "place": column.label} if by_row else {"color": column.label, "place": row.label}
            )
            found, paper = figures.get(table.key(row, column)), table.paper_figure(row, at)
            shown = {PAPER: paper} | (
                {} if found is None else {HERE: found.value, "low": found.low, "high": found.high}
            )
            numbers = {name: number for name, number in shown.items() if number is not None}
            if numbers:
                said = ", ".join(f"{name} {numbers[name]:.3g}" for name in (HERE, PAPER) if name in numbers)
                yield {**place, "at": column.at, **numbers, "said": f"{row.label}, {column.label}: {said}"}


def _bars(
    figure: dict[str, Any], color: dict[str, Any], colors: SvgPalette, *, places: Sequence[str], has_bars: bool
) -> dict[str, Any]:
    axis = {"labelLimit": LABELS}
    place = {"field": "place", "type": "ordinal", "sort": places, "title": None, "axis": axis}
    offset = {"field": "color", "type": "nominal", "sort": color["scale"]["domain"]}
    described = {"description": {"field": "said", "type": "nominal"}}
    bars = {"mark": "bar", "encoding": {"x": {"field": HERE, **figure}, "color": color, **described}}
    rule = {"type": "rule", "color": colors.soft, "strokeWidth": 1}
    intervals = {"mark": rule, "encoding": {"x": {"field": "low", **figure}, "x2": {"field": "high"}}}
    tick: dict[str, Any] = {"mark": {"type": "tick", "color": colors.ink, "thickness": 2}}
    if not has_bars:  # without bars, ticks need the colours of the legend
        tick = {"mark": {"type": "tick", "thickness": 3}, "encoding": {"color": color}}
    ticks = {**tick, "encoding": {**tick.get("encoding", {}), "x": {"field": PAPER, **figure}, **described}}
    return {"encoding": {"y": place, "yOffset": offset}, "layer": [bars, intervals, ticks]}


def _lines(table: FindingTable, figure: dict[str, Any], color: dict[str, Any]) -> dict[str, Any]:
    places = [column.at for column in table.columns if column.at is not None]
    scale = {"type": "log"} if min(places) > 0 and max(places) > 30 * min(places) else {"zero": False}
    axis = {"format": COUNTS, "tickCount": 5, "grid": False}
    along = {"field": "at", "type": "quantitative", "title": table.axis, "scale": scale, "axis": axis}
    here, paper = ({"y": {"field": name, **figure}} for name in (HERE, PAPER))
    described = {"description": {"field": "said", "type": "nominal"}}
    layers = [
        {"mark": {"type": "rule"}, "encoding": {"y": {"field": "low", **figure}, "y2": {"field": "high"}}},
        {"mark": {"type": "line", "strokeWidth": 2}, "encoding": here},
        {"mark": {"type": "point", "filled": True, "size": 36}, "encoding": {**here, **described}},
        {"mark": {"type": "line", "strokeWidth": 1.5, "strokeDash": [5, 3]}, "encoding": paper},
    ]
    return {"encoding": {"x": along, "color": color}, "layer": layers}
