"""How the chart of a report on shortcuts looks: what guesses score as bars, chance as a line across each."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.utils.safestring import SafeString, mark_safe

from generation.charts.drawing import Order, drawings
from generation.charts.vega import ELSEWHERE, OF_THE_PAGE, SHARES, THICKNESS, THINNEST, WIDE, WIDTH, Palette, config_of
from generation.models import Dataset
from generation.reports.shortcuts_page import Scored, Shown

ROOM = 3  # pixels that a bar is thicker than in other charts: two lines lie across it


class Drawn(NamedTuple):
    """The chart as a page has it: for wide screens and for narrow ones; empty where there is nothing to show."""

    wide: SafeString
    narrow: SafeString


def spec_of(scored: Sequence[Scored], *, colors: Palette, title: str = "", width: int = WIDTH) -> dict[str, Any] | None:
    """Return the chart's specification, with a title where it stands alone; None where there is nothing to draw."""
    if not scored:
        return None
    legend = [f"{one.name}, n = {one.n:,}" for one in scored]
    split = {"field": "split", "type": "nominal", "sort": None}
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": list(_values(scored, legend))},
        "encoding": {"y": {"field": "cue", "type": "ordinal", "sort": None, "title": None}, "yOffset": split},
        "layer": [_bars(legend, colors), _intervals(colors), _chances(colors)],
        "width": width,
        "height": {"step": ROOM + THICKNESS.get(len(scored), THINNEST)},
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": {"left": 0, "right": 4, "top": 0, "bottom": 3},
        "background": colors.ground,
        "config": config_of(colors),
    }
    if title:
        note = "The line across a bar is chance; the thin one is its 95 % interval."
        spec["title"] = {"text": "Scored without looking", "subtitle": [title, note], "anchor": "start"}
        spec["padding"] = 12
    return spec


def _values(scored: Sequence[Scored], legend: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield what stands behind each bar."""
    for one, split in zip(scored, legend, strict=True):
        for cue in one.cues:
            yield {
                "cue": re.split("[:,]", cue.label)[0],
                "split": split,
                "share": round(cue.share, 6),
                "low": round(cue.low, 6),
                "high": round(cue.high, 6),
                "chance": cue.chance,
                "address": ELSEWHERE + one.address,
                "said": f"{cue.label}: {cue.share_text} ({cue.interval_text}) of {split}; chance {cue.chance_text}",
            }


def _share(field: str) -> dict[str, Any]:
    return {
        "field": field,
        "type": "quantitative",
        "title": "share answered rightly",
        "axis": {"format": SHARES, "tickCount": 4},
        "scale": {"domainMin": 0},
    }


def _bars(legend: Sequence[str], colors: Palette) -> dict[str, Any]:
    color = {
        "field": "split",
        "type": "nominal",
        "scale": {"domain": list(legend), "range": list(colors.bars[: len(legend)])},
        "legend": {"title": None, "orient": "top", "columns": 1, "symbolType": "square"},
    }
    links = {"href": {"field": "address", "type": "nominal"}, "description": {"field": "said", "type": "nominal"}}
    return {"mark": "bar", "encoding": {"x": _share("share"), "color": color, **links}}


def _intervals(colors: Palette) -> dict[str, Any]:
    mark = {"type": "rule", "color": colors.soft, "strokeWidth": 1}
    return {"mark": mark, "encoding": {"x": _share("low"), "x2": {"field": "high"}}}


def _chances(colors: Palette) -> dict[str, Any]:
    mark = {"type": "tick", "color": colors.ink, "thickness": 2}
    return {"mark": mark, "encoding": {"x": _share("chance")}}


def drawn(dataset: Dataset, shown: Shown, *, wait: float | None = None) -> Drawn:
    """Return the chart as parts of the page; empty where there is nothing to draw or drawing failed."""
    specs = [spec_of(shown.drawn, colors=OF_THE_PAGE, width=width) for width in (WIDE, WIDTH)]
    found = drawings(dataset.slug, [Order(spec) for spec in specs if spec is not None], wait=wait) or [None, None]
    # Of elements that charts_child knows, each text escaped.
    return Drawn(*(mark_safe((drawing or b"").decode()) for drawing in found))  # noqa: S308
