"""Chart of a panel: bars with intervals, lines with bands if the rows are numbers, or a map of two crossed facets."""

from collections.abc import Iterator, Sequence
from typing import Any

from generation.charts.vega import (
    ELSEWHERE,
    HEIGHT,
    LEGEND,
    MOST_BARS,
    SHARES,
    SMALL,
    THICKNESS,
    THINNEST,
    WIDTH,
    SvgPalette,
    config_of,
    title_of,
)
from webapp.leaderboards.analysis.slices import SlicePanel

ROOM = 3  # extra pixels of a bar's thickness, because an interval is drawn on it
CELL = 34  # pixels, width of a map's cell
DARKEST = 2  # end of the colour scale: cells have at most half of the darkest shade, so that text on them is readable
DRAWN = 5  # columns: there are as many colours


def spec_of(panel: SlicePanel, *, colors: SvgPalette, title: str = "") -> dict[str, Any] | None:
    """Return the Vega-Lite specification, with a title if the chart stands alone; None if there is nothing to draw."""
    values = list(_values(panel))
    if not values:
        return None
    legend = list(dict.fromkeys(value["column"] for value in values))
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": values},
        **_encoded(panel, legend, colors),
        "width": {"step": CELL} if panel.is_crossed else WIDTH,
        "height": {"step": THICKNESS[1] + ROOM}
        if panel.is_crossed
        else HEIGHT
        if panel.is_along
        else {"step": ROOM + THICKNESS.get(len(legend), THINNEST)},
        "autosize": {"type": "pad" if panel.is_crossed else "fit-x", "contains": "padding"},
        "padding": {"left": 0, "right": 4, "top": 0, "bottom": 3},
        "background": colors.ground,
        "config": config_of(colors),
    }
    if title:
        note = "Percent right." if panel.is_crossed else "95 % intervals (Wilson)."
        spec["title"] = title_of(panel.title, title, note)
        spec["padding"] = 12
    return spec


def _encoded(panel: SlicePanel, legend: Sequence[str], colors: SvgPalette) -> dict[str, Any]:
    if panel.is_crossed:
        return _mapped(panel, colors)
    return _along(panel, legend, colors) if panel.is_along else _listed(legend, colors)


def left_out(panel: SlicePanel) -> str:
    """Say what the chart leaves out; empty if it draws all."""
    lines = []
    if len(panel.columns) > DRAWN:
        lines.append(f"The chart shows the first {DRAWN} of {len(panel.columns)} columns.")
    if not panel.is_along and len(panel.rows) > MOST_BARS:
        lines.append(f"The chart shows the first {MOST_BARS} of {len(panel.rows)} values.")
    return " ".join(lines)


def _values(panel: SlicePanel) -> Iterator[dict[str, Any]]:
    """Yield the data of each mark; cells with too few questions are left out."""
    for row in panel.rows if panel.is_along or panel.is_crossed else panel.rows[:MOST_BARS]:
        for column, cell in list(zip(panel.columns, row.cells, strict=True))[: None if panel.is_crossed else DRAWN]:
            if cell.mean is not None:
                yield {
                    "row": row.label,
                    "column": column,
                    **cell.chart_values,
                    "said": f"{column}, {row.label}: {cell.text} ({cell.beside})",
                    **({"address": ELSEWHERE + cell.address} if cell.address else {}),
                }


def _share(field: str) -> dict[str, Any]:
    return {
        "field": field,
        "type": "quantitative",
        "title": "accuracy",
        "axis": {"format": SHARES, "tickCount": 4},
        "scale": {"domain": [0, 1]},
    }


def _color(legend: Sequence[str], colors: SvgPalette, symbol: str) -> dict[str, Any]:
    return {
        "field": "column",
        "type": "nominal",
        "scale": {"domain": list(legend), "range": list(colors.bars[: len(legend)])},
        "legend": {**LEGEND, "symbolType": symbol},
    }


LINKS = {"href": {"field": "address", "type": "nominal"}, "description": {"field": "said", "type": "nominal"}}


def _listed(legend: Sequence[str], colors: SvgPalette) -> dict[str, Any]:
    row = {"field": "row", "type": "ordinal", "sort": None, "title": None}
    column = {"field": "column", "type": "nominal", "sort": None}
    bars = {"mark": "bar", "encoding": {"x": _share("share"), "color": _color(legend, colors, "square"), **LINKS}}
    rule = {"type": "rule", "color": colors.soft, "strokeWidth": 1}
    intervals = {"mark": rule, "encoding": {"x": _share("low"), "x2": {"field": "high"}}}
    return {"encoding": {"y": row, "yOffset": column}, "layer": [bars, intervals]}


def _along(panel: SlicePanel, legend: Sequence[str], colors: SvgPalette) -> dict[str, Any]:
    axis = {"labelAngle": 0, "labelFontSize": SMALL}
    order = [row.label for row in panel.rows]
    x = {"field": "row", "type": "ordinal", "sort": order, "title": panel.axis, "axis": axis}
    color = _color(legend, colors, "circle")
    band = {"mark": {"type": "area", "opacity": 0.18}, "encoding": {"y": _share("low"), "y2": {"field": "high"}}}
    line = {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"y": _share("share")}}
    points = {"mark": {"type": "point", "filled": True, "size": 36}, "encoding": {"y": _share("share"), **LINKS}}
    return {"encoding": {"x": x, "color": color}, "layer": [band, line, points]}


def _mapped(panel: SlicePanel, colors: SvgPalette) -> dict[str, Any]:
    """Return a map of cells shaded by accuracy, with the percentage as text."""
    rows, columns = [row.label for row in panel.rows], list(panel.columns)
    y = {"field": "row", "type": "ordinal", "sort": rows, "title": None}
    x = {"field": "column", "type": "ordinal", "sort": columns, "title": None, "axis": {"labelAngle": -40}}
    scale = {"domain": [0, DARKEST], "range": [colors.ground or "#ffffff", colors.bars[0]], "interpolate": "rgb"}
    shaded = {"color": {"field": "share", "type": "quantitative", "scale": scale, "legend": None}, **LINKS}
    said = {"text": {"field": "share", "type": "quantitative", "format": ".0%"}, "color": {"value": colors.ink}}
    layers = [{"mark": "rect", "encoding": shaded}, {"mark": {"type": "text", "fontSize": SMALL}, "encoding": said}]
    return {"encoding": {"x": x, "y": y}, "layer": layers}
