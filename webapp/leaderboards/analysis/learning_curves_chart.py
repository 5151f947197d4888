"""Chart of learning curves: points with intervals on lines, and the target as a horizontal line."""

from collections.abc import Sequence
from typing import Any

from generation.charts.vega import COUNTS, ELSEWHERE, HEIGHT, LEGEND, OF_PAPER, OF_THE_PAGE, SHARES, WIDTH, config_of
from webapp.leaderboards.analysis.learning_curves import Curve

DRAWN = 5  # curves: there are as many colours
TALLER = 1.4
WIDEST = 30  # if the largest size is more than this many times the smallest, the axis is logarithmic


def left_out(found: Sequence[Curve]) -> str:
    """Say which curves are not drawn; empty if all are."""
    return f"The chart shows the first {DRAWN} of {len(found)} curves." if len(found) > DRAWN else ""


def spec_of(
    found: Sequence[Curve], *, axis: str, target: float, is_paper: bool, title: str = ""
) -> dict[str, Any] | None:
    """Return the Vega-Lite specification, with a title if the chart stands alone; None if there is nothing to draw.

    If all curves have the same training data, the title names it once, and the labels don't.
    """
    drawn = found[:DRAWN]
    trained = {curve.trained for curve in drawn}
    values = [
        {
            "curve": curve.short if len(trained) == 1 else curve.label,
            "size": size,
            **cell.chart_values,
            "address": ELSEWHERE + cell.address,
            "said": f"{curve.label}, {size:,}: {cell.text} ({cell.beside})",
        }
        for curve in drawn
        for size, cell in curve.points
        if cell.mean is not None
    ]
    if not values:
        return None
    colors = OF_PAPER if is_paper else OF_THE_PAGE
    legend = list(dict.fromkeys(value["curve"] for value in values))
    sizes = [curve_size for curve in drawn for curve_size, _ in curve.points]
    scale = {"type": "log"} if max(sizes) > WIDEST * min(sizes) else {"zero": False}
    x = {
        "field": "size",
        "type": "quantitative",
        "title": axis,
        "scale": scale,
        "axis": {"format": COUNTS, "tickCount": 5, "grid": False},
    }
    share = {"type": "quantitative", "title": "accuracy", "axis": {"format": SHARES, "tickCount": 4}}
    color = {
        "field": "curve",
        "type": "nominal",
        "scale": {"domain": legend, "range": list(colors.bars[: len(legend)])},
        "legend": {**LEGEND, "symbolType": "circle"},
    }
    links = {"href": {"field": "address", "type": "nominal"}, "description": {"field": "said", "type": "nominal"}}
    along = {"x": x, "color": color}
    layers = [
        {"mark": {"type": "rule", "strokeDash": [4, 3], "color": colors.soft}, "encoding": {"y": {"datum": target}}},
        {
            "mark": {"type": "rule", "strokeWidth": 1},
            "encoding": {**along, "y": {"field": "low", **share}, "y2": {"field": "high"}},
        },
        {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {**along, "y": {"field": "share", **share}}},
        {
            "mark": {"type": "point", "filled": True, "size": 36},
            "encoding": {**along, "y": {"field": "share", **share}, **links},
        },
    ]
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": values},
        "layer": layers,
        "width": WIDTH,
        "height": HEIGHT * TALLER,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": {"left": 0, "right": 4, "top": 0, "bottom": 3},
        "background": colors.ground,
        "config": config_of(colors),
    }
    if title:
        note = f"95 % intervals (Wilson); the dashed line is the target, {100 * target:g} %."
        note += "".join(f" All {one}." for one in trained if one and len(trained) == 1)
        spec["title"] = {"text": f"Accuracy over {axis}", "subtitle": [title, note], "anchor": "start"}
        spec["padding"] = 12
    return spec
