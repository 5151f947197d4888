"""Chart of a finding's table: bars or lines are the figures here, with intervals; ticks or dashes are the paper's."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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
MOST_COLORS = 5  # rows or columns with a colour: there are as many colours
TALLER = 1.4
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
        Where it comes from, if the chart stands alone.
    """
    values = list(_values(table, figures))
    if not values:
        return None
    legend, places = (list(dict.fromkeys(value[name] for value in values)) for name in ("color", "place"))
    figure = {"type": "quantitative", "title": None, "axis": {"format": SHARES if is_share else COUNTS, "tickCount": 4}}
    shown = {**figure, "title": "accuracy"} if is_share else figure
    color = {
        "field": "color",
        "type": "nominal",
        "scale": {"domain": legend, "range": list(colors.bars[: len(legend)])},
        "legend": {**LEGEND, "symbolType": "square" if table.chart == "bars" else "circle"},
    }
    spec = {
        "data": {"values": values},
        **(_bars(shown, color, colors, places=places) if table.chart == "bars" else _lines(table, shown, color)),
        "width": WIDTH,
        "height": HEIGHT * TALLER if table.chart == "lines" else {"step": ROOM + THICKNESS.get(len(legend), THINNEST)},
        **frame_of(colors),
    }
    if title:
        spec["title"] = title_of(table.title, title, describe_marks(table))
        spec["padding"] = 12
    return spec


def describe_marks(table: FindingTable) -> str:
    if table.chart == "lines":
        return "Lines with points: here, with 95 % intervals." + (" Dashed: the paper." if table.paper else "")
    return "Bars: here, with 95 % intervals." + (" Ticks: the paper." if table.paper else "")


def describe_omissions(table: FindingTable) -> str:
    fewer = min(len(table.rows), len(table.columns)) if table.chart == "bars" else len(table.rows)
    return f"The chart shows the first {MOST_COLORS} of {fewer}." if fewer > MOST_COLORS else ""


def _values(table: FindingTable, figures: Figures) -> Iterator[dict[str, Any]]:
    """Yield the data of each mark. Colours are of the table's rows, or of its columns if only these are few enough."""
    by_row = table.chart == "lines" or len(table.rows) <= MOST_COLORS or len(table.columns) > MOST_COLORS
    rows = table.rows[: MOST_COLORS if by_row else None]
    columns = table.columns[: None if by_row else MOST_COLORS]
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
    figure: dict[str, Any], color: dict[str, Any], colors: SvgPalette, *, places: Sequence[str]
) -> dict[str, Any]:
    axis = {"labelLimit": LABELS}
    place = {"field": "place", "type": "ordinal", "sort": places, "title": None, "axis": axis}
    offset = {"field": "color", "type": "nominal", "sort": color["scale"]["domain"]}
    described = {"description": {"field": "said", "type": "nominal"}}
    bars = {"mark": "bar", "encoding": {"x": {"field": HERE, **figure}, "color": color, **described}}
    rule = {"type": "rule", "color": colors.soft, "strokeWidth": 1}
    intervals = {"mark": rule, "encoding": {"x": {"field": "low", **figure}, "x2": {"field": "high"}}}
    tick = {"type": "tick", "color": colors.ink, "thickness": 2}
    ticks = {"mark": tick, "encoding": {"x": {"field": PAPER, **figure}, **described}}
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
