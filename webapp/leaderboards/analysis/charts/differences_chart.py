"""Chart of the differences between two rows: a point with its interval for each slice, and a line at zero."""

from collections.abc import Mapping, Sequence
from typing import Any

from generation.charts.vega import (
    ELSEWHERE,
    HEIGHT,
    MOST_BARS,
    POINTS,
    SMALL,
    WIDTH,
    SvgPalette,
    frame_of,
    title_of,
)
from webapp.leaderboards.analysis.comparison import ComparedFacet, ComparedValue

STEP = 18  # pixels between slices
MORE, CHANCE = "more than chance", "may be chance"
KINDS = [MORE, CHANCE]


def charted_values(part: ComparedFacet) -> list[ComparedValue]:
    large = [line for line in part.lines if not line.is_too_small]
    return large if part.is_along else large[:MOST_BARS]


def left_out(part: ComparedFacet) -> str:
    large = sum(not line.is_too_small for line in part.lines)
    return f"The chart shows the first {MOST_BARS} of {large} values." if large > len(charted_values(part)) else ""


def spec_of(
    part: ComparedFacet,
    names: tuple[str, str],
    addresses: Mapping[str, str],
    *,
    colors: SvgPalette,
    title: str = "",
    test: str = "",
) -> dict[str, Any] | None:
    """Return the Vega-Lite specification, with a title if the chart stands alone; None if there is nothing to draw.

    Parameters
    ----------
    part : ComparedFacet
    names : (str, str)
        The names of both rows; the difference is the first minus the second.
    addresses : mapping of str to str
        The URL of a slice's questions, by its value.
    colors : SvgPalette
    title : str
    test : str
        The name of the statistical test, for the subtitle.
    """
    lines = charted_values(part)
    if not lines:
        return None
    spec = {
        "data": {"values": [_value(line, names, addresses) for line in lines]},
        "layer": _layers(part, colors),
        "width": WIDTH,
        "height": HEIGHT if part.is_along else {"step": STEP},
        **frame_of(colors),
    }
    if title:
        note = f"95 % intervals (paired bootstrap); colour: {test} after Holm, below 0.05."
        heading = f"{names[0]} minus {names[1]}, by {part.label}"
        spec["title"] = title_of(heading, title, note)
        spec["padding"] = 12
    return spec


def _value(line: ComparedValue, names: tuple[str, str], addresses: Mapping[str, str]) -> dict[str, Any]:
    """Return the data of a slice's point, in percentage points."""
    one = line.compared
    [(_, value)] = line.pairs
    return {
        "row": line.label,
        "difference": round(100 * one.difference, 4),
        "low": round(100 * one.interval.low, 4),
        "high": round(100 * one.interval.high, 4),
        "kind": MORE if line.is_certain else CHANCE,
        "address": ELSEWHERE + addresses[value],
        "said": f"{line.label}: {names[0]} {line.first_text}, {names[1]} {line.second_text}, "
        f"{line.difference_text} ({line.interval_text}), n = {one.n:,}",
    }


def _layers(part: ComparedFacet, colors: SvgPalette) -> Sequence[dict[str, Any]]:
    """Return the layers: a line at zero, intervals, and points that link to questions."""
    along, across = ("x", "y") if part.is_along else ("y", "x")
    looks = (
        {"axis": {"labelAngle": 0, "labelFontSize": SMALL}, "title": part.label} if part.is_along else {"title": None}
    )
    row = {along: {"field": "row", "type": "ordinal", "sort": None, **looks}}
    scale = {"domain": KINDS, "range": [colors.bars[0], colors.soft]}
    legend = {"title": None, "orient": "top", "columns": 2}
    color = {"color": {"field": "kind", "type": "nominal", "scale": scale, "legend": legend}}
    shape = {
        "shape": {
            "field": "kind",
            "type": "nominal",
            "scale": {"domain": KINDS, "range": ["circle", "diamond"]},
            "legend": legend,
        }
    }
    links = {"href": {"field": "address", "type": "nominal"}, "description": {"field": "said", "type": "nominal"}}
    return [
        {"mark": {"type": "rule", "color": colors.ink}, "encoding": {across: {"datum": 0, "type": "quantitative"}}},
        {
            "mark": {"type": "rule", "strokeWidth": 1.5},
            "encoding": {**row, **color, across: _points("low"), f"{across}2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 50, "opacity": 1},
            "encoding": {**row, **color, **shape, **links, across: _points("difference")},
        },
    ]


def _points(field: str) -> dict[str, Any]:
    return {
        "field": field,
        "type": "quantitative",
        "title": "difference in points",
        "axis": {
            "format": POINTS,
            "labelExpr": "datum.value === 0 ? '0' : datum.label",
            "labelFlush": False,
            "tickCount": 5,
        },
    }
