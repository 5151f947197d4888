"""Chart of a count shift: how many questions of a set have each number as their answer, before and after the shift."""

from collections.abc import Sequence
from typing import Any

from generation.charts.vega import COUNTS, HEIGHT, SMALL, WIDTH, SvgPalette, frame_of, title_of

FAINT = 0.35  # opacity of the bars before the shift


def spec_of(
    before: Sequence[int], after: Sequence[int], *, rare: str, colors: SvgPalette, title: str = "", subtitle: str = ""
) -> dict[str, Any]:
    """Return the Vega-Lite specification of the chart, with a title if it stands alone.

    Parameters
    ----------
    before, after : sequence of int
        The numbers of questions with the answer 0, 1, ...
    rare : str
        `odd` or `even`: the numbers that the shift makes rare in this set.
    """
    kinds = [f"{rare} answers, made rare", "other answers"]
    values = [
        {
            "count": number,
            "n": n,
            "kind": kinds[(number % 2 == 1) != (rare == "odd")],
            "when": when,
            "said": f"{number}: {n:,} questions {when}",
        }
        for when, counts in (("before", before), ("after", after))
        for number, n in enumerate(counts)
        if n
    ]
    spec = {
        "data": {"values": values},
        "mark": "bar",
        "encoding": {
            "x": {
                "field": "count",
                "type": "ordinal",
                "scale": {"domain": list(range(len(before)))},
                "title": "answer",
                "axis": {"labelAngle": 0, "labelFontSize": SMALL},
            },
            "y": {
                "field": "n",
                "type": "quantitative",
                "stack": None,
                "title": "questions",
                "axis": {"format": COUNTS, "tickCount": 4, "tickMinStep": 1},
            },
            "color": {
                "field": "kind",
                "type": "nominal",
                "scale": {"domain": kinds, "range": [colors.bars[1], colors.bars[0]]},
                "legend": {"title": None, "orient": "top", "columns": 2, "symbolType": "square"},
            },
            "opacity": {
                "field": "when",
                "type": "nominal",
                "scale": {"domain": ["before", "after"], "range": [FAINT, 1]},
                "legend": None,
            },
            "description": {"field": "said", "type": "nominal"},
        },
        "width": WIDTH,
        "height": HEIGHT,
        **frame_of(colors),
    }
    if title:
        spec["title"] = title_of(title, subtitle)
        spec["padding"] = 12
    return spec
