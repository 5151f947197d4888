"""The look of charts: Vega-Lite specifications, in the colours of the page or of paper."""

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

from generation.charts.counts import Chart, CountRow

MOST_BARS = 40  # values that are drawn; the most frequent ones if there are more
WIDTH, HEIGHT = 360, 170  # pixels, for the narrowest screen
WIDE = 1120  # pixels, for a chart that has a wide page for itself
BESIDE_A_FORM = 880
LEGEND = {"title": None, "orient": "top", "columns": 1, "labelLimit": WIDTH - 20}  # full names beside a symbol
THICKNESS = {1: 13, 2: 8, 3: 6}  # pixels of a bar, by the number of splits side by side
THINNEST = 5
# Room is measured for this font, which the drawing program includes, at a size one sixth larger than the drawn letters,
# because many browsers have wider fonts.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
SMALL, TEXT, TITLE = 12, 13.5, 17.5  # pixels
SHRUNK = 0.85
# Letters in a line of a title and of a subtitle. Vega cuts lines off that are wider than `WIDTH`.
TITLE_LETTERS, SUBTITLE_LETTERS = 38, 54
COUNTS, SHARES, POINTS = ",~f", "~%", "+~f"  # number formats: as many decimals as the steps need, no powers of ten
ELSEWHERE = "https://site.invalid"  # placeholder for this site, because Vega requires full addresses


class SvgPalette(NamedTuple):
    """Colours in the notation of SVG."""

    ink: str
    soft: str
    line: str
    bars: tuple[str, ...]
    ground: str | None


# The style sheet defines these names for light and dark pages.
OF_THE_PAGE = SvgPalette(
    ink="var(--ink)",
    soft="var(--soft)",
    line="var(--line)",
    bars=tuple(f"var(--chart-{number})" for number in range(1, 6)),
    ground=None,
)
OF_PAPER = SvgPalette(
    ink="#1f1c18",
    soft="#645d52",
    line="#ded7c8",
    bars=("#1b5e49", "#a8701c", "#6b7a9c", "#a4533c", "#7d6796"),
    ground="#ffffff",
)


def spec_of(chart: Chart, *, colors: SvgPalette, title: str = "") -> dict[str, Any] | None:
    """Return the specification of a chart, with a title if given; None if there is nothing to draw."""
    drawn = chart.drawn
    rows = most_frequent(chart)
    if not drawn or not rows:
        return None
    legend = [f"{chart.columns[at].split}, n = {chart.columns[at].n:,}" for at in drawn]
    bars = {"mark": "bar", "encoding": {**_places(chart), **_looks(legend, colors)}}
    marks = {"mark": {"type": "tick", "thickness": 2, "color": colors.ink}, "encoding": _places(chart, of="expected")}
    spec = {
        "data": {"values": list(_values(rows, drawn, legend))},
        **({"layer": [bars, marks]} if chart.is_expected else bars),
        "width": WIDTH,
        "height": HEIGHT if chart.is_along else {"step": THICKNESS.get(len(drawn), THINNEST)},
        **frame_of(colors),
    }
    if title:
        spec["title"] = title_of(chart.view.title, title, *chart.left_out)
        spec["padding"] = 12
    return spec


def frame_of(colors: SvgPalette) -> dict[str, Any]:
    """Return the parts that all specifications share: the schema, the space around the chart, and its look."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": {"left": 0, "right": 4, "top": 0, "bottom": 3},
        "background": colors.ground,
        "config": config_of(colors),
    }


def title_of(title: str, *notes: str) -> dict[str, Any]:
    below = [line for note in notes for line in textwrap.wrap(note, SUBTITLE_LETTERS)]
    return {"text": textwrap.wrap(title, TITLE_LETTERS), "subtitle": below, "anchor": "start"}


def most_frequent(chart: Chart) -> list[CountRow]:
    """Return the rows of a chart that are drawn, in order."""
    if chart.is_along or len(chart.rows) <= MOST_BARS:
        return chart.rows
    often = sorted(chart.rows, key=lambda row: -sum(cell.share or 0 for cell in row.cells))[:MOST_BARS]
    kept = {row.value for row in often}
    return [row for row in chart.rows if row.value in kept]


def _values(rows: Sequence[CountRow], drawn: Sequence[int], legend: Sequence[str]) -> Any:
    """Yield the data of each bar."""
    for row in rows:
        for at, split in zip(drawn, legend, strict=True):
            cell = row.cells[at]
            expected = {} if cell.expected is None else {"expected": round(cell.expected, 6)}
            yield {
                **expected,
                "value": row.label,
                "split": split,
                "share": round(cell.share or 0, 6),
                "address": ELSEWHERE + cell.address,
                "said": f"{row.label}: {cell.percent} (n = {cell.n:,}) of {split.replace(', n = ', ' (n = ')})",
            }


def _places(chart: Chart, *, of: str = "share") -> dict[str, Any]:
    """Return the axes: numbers run from left to right, names from top to bottom. `of` is the share that is drawn."""
    value = {"field": "value", "type": "ordinal", "sort": None}
    share = {
        "field": of,
        "type": "quantitative",
        "title": "share of questions",
        "axis": {"format": SHARES, "tickCount": 4},
    }
    split = {"field": "split", "type": "nominal", "sort": None}
    if chart.is_along:
        along = {**value, "title": chart.view.axis, "axis": {"labelAngle": 0, "labelFontSize": SMALL}}
        return {"x": along, "xOffset": split, "y": share}
    return {"y": {**value, "title": None}, "yOffset": split, "x": share}


def _looks(legend: Sequence[str], colors: SvgPalette) -> dict[str, Any]:
    """Return the colour, link and description of each bar."""
    return {
        "color": {
            "field": "split",
            "type": "nominal",
            "scale": {"domain": list(legend), "range": list(colors.bars[: len(legend)])},
            "legend": {"title": None, "orient": "top", "columns": 2, "symbolType": "square"},
        },
        "href": {"field": "address", "type": "nominal"},
        "description": {"field": "said", "type": "nominal"},
    }


def config_of(colors: SvgPalette) -> dict[str, Any]:
    """Return the common settings of all charts: letters, lines, space between bars."""
    return {
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "domain": False,
            "ticks": False,
            "gridColor": colors.line,
            "labelColor": colors.ink,
            "labelFontSize": TEXT,
            "labelLimit": 150,
            "labelPadding": 5,
            "titleColor": colors.soft,
            "titleFontSize": TEXT,
            "titleFontWeight": "normal",
        },
        "legend": {"labelColor": colors.ink, "labelFontSize": TEXT, "labelLimit": 170, "offset": 8, "rowPadding": 3},
        "title": {
            "color": colors.ink,
            "fontSize": TITLE,
            "limit": WIDTH,
            "subtitleColor": colors.soft,
            "subtitleFontSize": TEXT,
        },
        "scale": {"bandPaddingInner": 0.22},
    }
