"""What a dataset's overview shows beside its facts: what its questions are, its spec in parts."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.utils.safestring import SafeString, mark_safe

from generation.access import Visitor
from generation.charts.counts import Chart, charts_of
from generation.charts.drawing import Order, drawings
from generation.charts.vega import OF_THE_PAGE, most_frequent, spec_of
from generation.models import Dataset, Split

TALL = 16  # a chart of more bars below each other takes the room of two


class ShownChart(NamedTuple):
    """A chart as the overview shows it.

    Attributes
    ----------
    chart : Chart
    is_drawable : bool
        Whether any split has enough questions.
    drawing : str
        SVG, safe to stand in a page; empty where there is nothing to draw or drawing failed.
    bars : int
        How many values are drawn.
    """

    chart: Chart
    is_drawable: bool
    drawing: SafeString
    bars: int

    @property
    def is_tall(self) -> bool:
        """Return whether it takes the room of two."""
        return self.is_drawable and not self.chart.is_along and self.bars > TALL

    @property
    def has_more(self) -> bool:
        """Return whether there are values that only the table has."""
        return self.is_drawable and self.bars < len(self.chart.rows)


class Section(NamedTuple):
    """A part of the spec: its name, how much is in it, and its JSON."""

    name: str
    summary: str
    text: str


def shown_charts(
    user: Visitor, dataset: Dataset, splits: Sequence[Split], *, wait: float | None = None
) -> list[ShownChart]:
    """Return a dataset's charts with all that this visitor may know of these splits, drawn within `wait` seconds."""
    charts = charts_of(user, dataset, splits)
    specs = [spec_of(chart, colors=OF_THE_PAGE) for chart in charts]
    drawn = iter(drawings(dataset.slug, [Order(spec) for spec in specs if spec is not None], wait=wait))
    shown = []
    for chart, spec in zip(charts, specs, strict=True):
        drawing = next(drawn) if spec is not None else None
        svg = mark_safe((drawing or b"").decode())  # noqa: S308 - of elements that charts_child knows, each text escaped
        shown.append(ShownChart(chart, spec is not None, svg, len(most_frequent(chart))))
    return shown


def sections_of(spec: dict[str, Any]) -> list[Section]:
    """Return the spec in parts: one for each object or list in it; single values stand in `singles_of`."""
    parts = [(name, value) for name, value in spec.items() if isinstance(value, dict | list)]
    return [Section(name, _amount(value), json.dumps(value, indent=2, ensure_ascii=False)) for name, value in parts]


def singles_of(spec: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the spec's own single values, as JSON writes them."""
    singles = [(name, value) for name, value in spec.items() if not isinstance(value, dict | list)]
    return [(name, json.dumps(value, ensure_ascii=False)) for name, value in singles]


def _amount(value: dict[str, Any] | list[Any]) -> str:
    keys = ", ".join(list(value)[:6]) if isinstance(value, dict) else ""
    more = ", …" if len(value) > 6 and keys else ""
    return f"{keys}{more}" if keys else f"{len(value)} entries"
