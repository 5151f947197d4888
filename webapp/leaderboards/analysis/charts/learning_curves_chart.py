"""Chart of curves: accuracies or other figures with intervals on lines, and the target as a horizontal line."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from generation.charts.vega import (
    COUNTS,
    ELSEWHERE,
    HEIGHT,
    LEGEND,
    OF_PAPER,
    OF_THE_PAGE,
    SHARES,
    WIDTH,
    frame_of,
    title_of,
)
from generation.engine.scoring.counts.metrics import Better, Metric

DRAWN = 5  # curves: there are as many colours
TALLER = 1.4
WIDEST = 30  # if the largest size is more than this many times the smallest, the axis is logarithmic


class DrawnCell(Protocol):
    """A figure of a curve: `mean` is None if it is not known, for example because there are too few questions."""

    @property
    def address(self) -> str: ...
    @property
    def mean(self) -> float | None: ...
    @property
    def text(self) -> str: ...
    @property
    def beside(self) -> str: ...
    @property
    def chart_values(self) -> Mapping[str, float | None]: ...


class DrawnCurve(Protocol):
    """A curve that can be drawn: `trained` is the part of its label about the training data, which `short` lacks."""

    @property
    def label(self) -> str: ...
    @property
    def short(self) -> str: ...
    @property
    def trained(self) -> str: ...
    @property
    def points(self) -> Sequence[tuple[float, DrawnCell]]: ...


def left_out(found: Sequence[DrawnCurve]) -> str:
    known = _with_figures(found)
    return f"The chart shows the first {DRAWN} of {len(known)} curves." if len(known) > DRAWN else ""


def _with_figures(found: Sequence[DrawnCurve]) -> list[DrawnCurve]:
    return [curve for curve in found if any(cell.mean is not None for _, cell in curve.points)]


def spec_of(
    found: Sequence[DrawnCurve],
    *,
    axis: str,
    target: float | None,
    is_paper: bool,
    title: str = "",
    metric: Metric | None = None,
) -> dict[str, Any] | None:
    """Return the Vega-Lite specification, with a title if the chart stands alone; None if there is nothing to draw.

    Without a target, no line for it is drawn. `metric` is what is drawn; None is the accuracy. If all curves have the
    same training data, the title names it once, and the labels don't.
    """
    drawn = _with_figures(found)[:DRAWN]
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
    scale = {"type": "log"} if max(sizes) > WIDEST * min(sizes) > 0 else {"zero": False}
    x = {
        "field": "size",
        "type": "quantitative",
        "title": axis,
        "scale": scale,
        "axis": {"format": COUNTS, "tickCount": 5, "grid": False},
    }
    name, number_format = _axis_of(metric)
    share = {"type": "quantitative", "title": name, "axis": {"format": number_format, "tickCount": 4}}
    color = {
        "field": "curve",
        "type": "nominal",
        "scale": {"domain": legend, "range": list(colors.bars[: len(legend)])},
        "legend": {**LEGEND, "symbolType": "circle"},
    }
    links = {"href": {"field": "address", "type": "nominal"}, "description": {"field": "said", "type": "nominal"}}
    along = {"x": x, "color": color}
    rule = {"type": "rule", "strokeDash": [4, 3], "color": colors.soft}
    layers = [
        *([] if target is None else [{"mark": rule, "encoding": {"y": {"datum": target}}}]),
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
        "data": {"values": values},
        "layer": layers,
        "width": WIDTH,
        "height": HEIGHT * TALLER,
        **frame_of(colors),
    }
    if title:
        note = "95 % intervals" if target is None else "95 % intervals (Wilson)"
        note += "." if target is None else f"; the dashed line is the target, {100 * target:g} %."
        note += "".join(f" All {one}." for one in trained if one and len(trained) == 1)
        what = "Accuracy" if metric is None else metric.label
        spec["title"] = title_of(f"{what} over {axis}", title, note)
        spec["padding"] = 12
    return spec


def _axis_of(metric: Metric | None) -> tuple[str, str]:
    """Return the title of the vertical axis and the format of its numbers."""
    if metric is None:
        return "accuracy", SHARES
    name = f"{metric.label} (lower is better)" if metric.is_better == Better.LOWER else metric.label
    return name, SHARES if metric.unit == "%" else COUNTS
