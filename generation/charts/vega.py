"""How a chart looks: its Vega-Lite specification, in the page's own colours or in those of paper."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from generation.charts.counts import Chart, CountRow

MOST_BARS = 40  # values that are drawn; of more, the most frequent
WIDTH, HEIGHT = 360, 170  # pixels: as they stand on the narrowest screen
WIDE = 1120  # pixels: a chart that has a wide page for itself
BESIDE_A_FORM = 880
LEGEND = {"title": None, "orient": "top", "columns": 1, "labelLimit": WIDTH - 20}  # names in full, beside a symbol
THICKNESS = {1: 13, 2: 8, 3: 6}  # pixels of a bar, by how many splits lie side by side
THINNEST = 5
# Room is measured for letters of this font, which the drawing program brings along, and a sixth larger than they
# become: many a browser has wider ones.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
SMALL, TEXT, TITLE = 12, 13.5, 17.5  # pixels
SHRUNK = 0.85
COUNTS, SHARES, POINTS = ",~f", "~%", "+~f"  # numbers of an axis: as many decimals as its steps need, no powers of ten
ELSEWHERE = "https://site.invalid"  # stands for this site in addresses, which Vega wants whole


class SvgPalette(NamedTuple):
    """Colours as an SVG names them."""

    ink: str
    soft: str
    line: str
    bars: tuple[str, ...]
    ground: str | None


# The style sheet knows these names, and what they are in light and in dark.
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
    """Return the specification of a chart, with a title where it stands alone; None where there is nothing to draw."""
    drawn = chart.drawn
    rows = most_frequent(chart)
    if not drawn or not rows:
        return None
    legend = [f"{chart.columns[at].split}, n = {chart.columns[at].n:,}" for at in drawn]
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": list(_values(rows, drawn, legend))},
        "mark": "bar",
        "encoding": {**_places(chart), **_looks(legend, colors)},
        "width": WIDTH,
        "height": HEIGHT if chart.is_along else {"step": THICKNESS.get(len(drawn), THINNEST)},
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": {"left": 0, "right": 4, "top": 0, "bottom": 3},
        "background": colors.ground,
        "config": config_of(colors),
    }
    if title:
        spec["title"] = {"text": chart.view.title, "subtitle": [title, *chart.left_out], "anchor": "start"}
        spec["padding"] = 12
    return spec


def most_frequent(chart: Chart) -> list[CountRow]:
    """Return the rows of a chart that are drawn, in their order."""
    if chart.is_along or len(chart.rows) <= MOST_BARS:
        return chart.rows
    often = sorted(chart.rows, key=lambda row: -sum(cell.share or 0 for cell in row.cells))[:MOST_BARS]
    kept = {row.value for row in often}
    return [row for row in chart.rows if row.value in kept]


def _values(rows: Sequence[CountRow], drawn: Sequence[int], legend: Sequence[str]) -> Any:
    """Yield what stands behind each bar."""
    for row in rows:
        for at, split in zip(drawn, legend, strict=True):
            cell = row.cells[at]
            yield {
                "value": row.label,
                "split": split,
                "share": round(cell.share or 0, 6),
                "address": ELSEWHERE + cell.address,
                "said": f"{row.label}: {cell.percent} (n = {cell.n:,}) of {split.replace(', n = ', ' (n = ')})",
            }


def _places(chart: Chart) -> dict[str, Any]:
    """Return which way the bars go: numbers stand along a line, names below each other."""
    value = {"field": "value", "type": "ordinal", "sort": None}
    share = {
        "field": "share",
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
    """Return colour, address and words of each bar."""
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
    """Return how all charts look: letters, lines, room between bars."""
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
