"""Chart of a grid: the training size that reaches a target, over k, as in figures 5 to 10 of Bingham et al. 2017.

Both axes are logarithmic, so a power of k is a straight line. A size that is not reached is drawn above the largest
measured size, with dotted lines to it.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from generation.charts.vega import (
    COUNTS,
    ELSEWHERE,
    HEIGHT,
    LEGEND,
    OF_PAPER,
    OF_THE_PAGE,
    SMALL,
    WIDTH,
    SvgPalette,
    frame_of,
    title_of,
)
from webapp.leaderboards.analysis.learning_curves import FAIL
from webapp.leaderboards.analysis.sample_complexity import SIZES, Grid, NeededSize

DRAWN = 5  # lines: there are as many colours
TALLER = 1.5
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
OVER_RUNS = "95 % intervals over runs"
OF_SINGLE_RUNS = ", or over questions where an n has a single run"
DOTTED = "dotted: not reached with the largest n"
# Distances as parts of an axis: between lines, beyond the values, between lines that reach no size, and above these
ASIDE, MARGIN, STEP, ROOM = 0.01, 0.05, 0.025, 0.08
X_APART, Y_APART = 0.08, 0.09  # smallest distance of two numbers at an axis, as a part of the axis

Values = list[dict[str, Any]]


class ChartLine(NamedTuple):
    label: str
    cells: Sequence[NeededSize]  # one for each k


class LogAxis(NamedTuple):
    """A logarithmic axis: its name, its unit, and the values that are shown on it, in order."""

    field: str
    title: str
    values: Sequence[float]

    @classmethod
    def of(cls, field: str, title: str, values: Sequence[float]) -> Self:
        return cls(field, title, sorted(values))

    @property
    def span(self) -> float:
        return math.log(self.values[-1] / self.values[0]) or 1.0

    def moved(self, value: float, part: float) -> float:
        return value * math.exp(part * self.span)

    def beyond(self, part: float) -> float:
        # A negative part is below the lowest value.
        return self.moved(self.values[-1] if part > 0 else self.values[0], part)

    def numbered(self, *, apart: float) -> list[float]:
        """Return the values that are written at the axis: if two are too close together, the higher one."""
        found: list[float] = []
        for value in reversed(self.values):
            if not found or math.log(found[-1] / value) >= apart * self.span:
                found.append(value)
        return found[::-1]

    def encoding(self, *, apart: float, highest: float, has_grid: bool) -> dict[str, Any]:
        return {
            "field": self.field,
            "type": "quantitative",
            "title": self.title,
            "scale": {"type": "log", "domain": [self.beyond(-MARGIN), highest], "nice": False},
            "axis": {"values": self.numbered(apart=apart), "format": COUNTS, "grid": has_grid},
        }


def left_out(grid: Grid) -> str:
    count = len(grid.methods)
    return f"The charts show the first {DRAWN} of {count} methods." if count > DRAWN else ""


def describe(lines: Sequence[ChartLine]) -> str:
    """Return the chart in words, for those who do not see it."""
    return " ".join(
        f"{line.label}: {', '.join(f'{cell.text} for k = {cell.k:g}' for cell in line.cells)}."
        for line in lines[:DRAWN]
    )


def spec_of(
    grid: Grid, lines: Sequence[ChartLine], *, is_paper: bool, title: str = "", subtitle: str = ""
) -> dict[str, Any] | None:
    """Return the Vega-Lite specification, with a title if the chart stands alone; None if there is nothing to draw."""
    drawn = [line for line in lines[:DRAWN] if any(cell.is_known for cell in line.cells)]
    if not drawn:
        return None
    colors = OF_PAPER if is_paper else OF_THE_PAGE
    spec = {
        "layer": _layers(grid, drawn, colors),
        "width": WIDTH,
        "height": HEIGHT * TALLER,
        **frame_of(colors),
    }
    if title:
        spec["title"] = title_of(title, subtitle, _of_intervals(drawn), DOTTED)
        spec["padding"] = 12
    return spec


def _of_intervals(drawn: Sequence[ChartLine]) -> str:
    is_over_runs = all(cell.is_over_runs for line in drawn for cell in line.cells if cell.is_known)
    return OVER_RUNS + ("" if is_over_runs else OF_SINGLE_RUNS)


def _layers(grid: Grid, drawn: Sequence[ChartLine], colors: SvgPalette) -> list[dict[str, Any]]:
    """Return the layers: the limit above which no size reaches a target, lines, intervals, and points."""
    across = LogAxis.of("k", grid.suite.k_name, [member.k or 0.0 for member in grid.members])
    along = LogAxis.of("size", SIZES, grid.sizes)
    points, parts = _points(drawn, across, along)
    x = across.encoding(apart=X_APART, highest=across.beyond(MARGIN), has_grid=False)
    y = along.encoding(apart=Y_APART, highest=along.beyond(MARGIN + STEP * len(drawn) + ROOM), has_grid=True)
    looks = _looks([line.label for line in drawn], colors)
    links = {name: {"field": name, "type": "nominal"} for name in ("href", "description")}
    both, color = {"x": x, "y": y}, {"color": looks["color"]}
    ends = {**both, "x2": {"field": "next_k"}, "y2": {"field": "next_size"}, **color}
    interval = {**both, "y": {**y, "field": "low"}, "y2": {"field": "high"}, **color}
    reached, others = ([one for one in parts if one["is_reached"] is wanted] for wanted in (True, False))
    is_limited = any(not one["is_reached"] for one in points)
    found = [
        *(_limit(x, y, along, colors) if is_limited else []),
        _layer({"type": "rule", "strokeWidth": 2}, reached, ends),
        _layer({"type": "rule", "strokeWidth": 2, "strokeDash": [2, 4]}, others, ends),
        _layer({"type": "rule", "strokeWidth": 1}, [one for one in points if one["low"] is not None], interval),
        _layer({"type": "point", "filled": True, "size": 50, "opacity": 1}, points, {**both, **looks, **links}),
    ]
    return [layer for layer in found if layer["data"]["values"]]


def _points(drawn: Sequence[ChartLine], across: LogAxis, along: LogAxis) -> tuple[Values, Values]:
    """Return the points of all lines, and the parts of lines from each point to the next one.

    Lines are drawn side by side, so that none hides another one.
    """
    points: Values = []
    parts: Values = []
    for at, line in enumerate(drawn):
        aside, top = ASIDE * (at - (len(drawn) - 1) / 2), along.beyond(MARGIN + STEP * (at + 1))
        mine = [_point(line.label, cell, across.moved(cell.k, aside), top) for cell in line.cells if cell.is_known]
        points += mine
        parts += [
            {**one, "next_k": two["k"], "next_size": two["size"], "is_reached": one["is_reached"] and two["is_reached"]}
            for one, two in itertools.pairwise(mine)
        ]
    return points, parts


def _point(label: str, cell: NeededSize, k: float, top: float) -> dict[str, Any]:
    """Return the data of a point; `top` stands for a size that is not reached."""
    low, high = cell.between
    return {
        "line": label,
        "k": k,
        "size": cell.reached.size or top,
        "is_reached": cell.reached.size is not None,
        "low": low,
        "high": high or top,
        "href": ELSEWHERE + cell.address,
        "description": f"{label}, k = {cell.k:g}: {cell.text} ({cell.beside})",
    }


def _limit(x: dict[str, Any], y: dict[str, Any], along: LogAxis, colors: SvgPalette) -> list[dict[str, Any]]:
    """Return a dashed line above the largest size, and what it means."""
    rule = {"type": "rule", "strokeDash": [6, 4], "strokeWidth": 1, "color": colors.soft}
    text = {"type": "text", "align": "left", "baseline": "top", "color": colors.soft, "fontSize": SMALL, "dy": 1}
    data = [{"size": along.beyond(MARGIN / 2)}]
    words = {"x": {"value": 0}, "y": {"value": 0}, "text": {"value": f"{FAIL}: not reached with the largest size"}}
    return [_layer(rule, data, {"y": y}), _layer(text, data, words)]


def _looks(labels: Sequence[str], colors: SvgPalette) -> dict[str, Any]:
    """Return the colour and the shape of each line, with one legend for both."""
    short = all(len(label) < 8 for label in labels)
    common = {"field": "line", "type": "nominal", "legend": {**LEGEND, "columns": len(labels) if short else 1}}
    return {
        "color": {**common, "scale": {"domain": list(labels), "range": list(colors.bars[: len(labels)])}},
        "shape": {**common, "scale": {"domain": list(labels), "range": list(SHAPES[: len(labels)])}},
    }


def _layer(mark: dict[str, Any], values: Values, encoding: dict[str, Any]) -> dict[str, Any]:
    return {"mark": mark, "data": {"values": values}, "encoding": encoding}
