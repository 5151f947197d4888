"""Chart of accuracy against cost, tokens or latency: a point for each row, and the Pareto front as a line."""

import math
from collections.abc import Sequence
from typing import Any

from generation.charts.vega import (
    COUNTS,
    ELSEWHERE,
    HEIGHT,
    SHARES,
    SMALL,
    WIDTH,
    SvgPalette,
    frame_of,
    title_of,
)
from webapp.leaderboards.analysis.costs import CostPoint, CostTable

TALLER = 1.8
WIDEST = 30  # if the largest value is more than this many times the smallest, the axis is logarithmic
FEW_DECADES = 500  # if the ratio of both ends is not larger, 1, 2 and 5 of each decade have a tick
MOST_NAMED = 8  # points of the front whose names are written beside them
ON_FRONT, BEHIND, PEOPLE = "on the front", "not on the front", "people"
KINDS = [ON_FRONT, BEHIND, PEOPLE]


def spec_of(table: CostTable, *, colors: SvgPalette, title: str = "") -> dict[str, Any] | None:
    """Return the Vega-Lite specification, with a title if the chart stands alone; None if there is nothing to draw."""
    if not table.points:
        return None
    spec = {
        "data": {"values": [_value(point) for point in table.points]},
        "layer": _layers(table, colors),
        "width": WIDTH,
        "height": HEIGHT * TALLER,
        **frame_of(colors),
    }
    if title:
        note = "95 % intervals (Wilson); the line is the Pareto front."
        spec["title"] = title_of(f"Accuracy against {table.axis.label}", title, note)
        spec["padding"] = 12
    return spec


def is_logarithmic(table: CostTable) -> bool:
    values = [point.value for point in table.points]
    return max(values) > WIDEST * min(values) > 0


def _log_ticks(values: Sequence[float]) -> list[float]:
    """Return the powers of ten between positive values, and twice and five times these on an axis of few decades.

    Vega would choose more ticks, and leave most of them without a label.
    """
    low, high = min(values), max(values)
    factors = (1,) if high > FEW_DECADES * low else (1, 2, 5)
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{factor}e{exponent}") for exponent in exponents for factor in factors]
    return [tick for tick in ticks if low <= tick <= high]


def _value(point: CostPoint) -> dict[str, Any]:
    kind = PEOPLE if point.is_human else ON_FRONT if point.is_on_front else BEHIND
    return {
        "value": point.value,
        **{"share" if name == "accuracy" else name: share for name, share in point.figure.shares().items()},
        "kind": kind,
        "name": point.label,
        "address": ELSEWHERE + point.address,
        "said": f"{point.label}: {point.figure.text} ({point.figure.said}), {point.text}, {kind}",
    }


def _layers(table: CostTable, colors: SvgPalette) -> list[dict[str, Any]]:
    """Return the layers: the front, intervals, points that link to slices, and names of points on the front."""
    scale = {"type": "log", "nice": False} if is_logarithmic(table) else {"zero": False}
    ticks = {"values": _log_ticks([point.value for point in table.points])} if is_logarithmic(table) else {}
    axis = {"format": COUNTS, "tickCount": 5, "grid": False, **ticks}
    x = {
        "field": "value",
        "type": "quantitative",
        "title": table.axis.title,
        "scale": {**scale, "padding": 14},
        "axis": axis,
    }
    y = {
        "type": "quantitative",
        "title": "accuracy",
        "scale": {"zero": False},
        "axis": {"format": SHARES, "tickCount": 5},
    }
    there = [kind for kind in KINDS if any(_value(point)["kind"] == kind for point in table.points)]
    ranges = {ON_FRONT: colors.bars[0], BEHIND: colors.soft, PEOPLE: colors.bars[1]}
    shapes = {ON_FRONT: "circle", BEHIND: "diamond", PEOPLE: "square"}
    legend = {"title": None, "orient": "top", "columns": 3}
    kind = {"field": "kind", "type": "nominal", "legend": legend}
    looks = {
        "color": {**kind, "scale": {"domain": there, "range": [ranges[one] for one in there]}},
        "shape": {**kind, "scale": {"domain": there, "range": [shapes[one] for one in there]}},
    }
    links = {"href": {"field": "address", "type": "nominal"}, "description": {"field": "said", "type": "nominal"}}
    front = [_value(point) for point in table.front]
    line = {"type": "line", "interpolate": "step-after", "strokeWidth": 1.5, "color": colors.bars[0]}
    names = {"type": "text", "align": "left", "baseline": "bottom", "dx": 6, "dy": -4, "fontSize": SMALL, "limit": 150}
    return [
        {"mark": line, "data": {"values": front}, "encoding": {"x": x, "y": {"field": "share", **y}}},
        {
            "mark": {"type": "rule", "strokeWidth": 1},
            "encoding": {"x": x, "y": {"field": "low", **y}, "y2": {"field": "high"}, "color": looks["color"]},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
            "encoding": {"x": x, "y": {"field": "share", **y}, **looks, **links},
        },
        {
            "mark": {**names, "color": colors.ink},
            "data": {"values": front[:MOST_NAMED]},
            "encoding": {"x": x, "y": {"field": "share", **y}, "text": {"field": "name", "type": "nominal"}},
        },
    ]
