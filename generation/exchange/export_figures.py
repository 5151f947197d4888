"""The charts of a dataset as an export has them: for paper, with what everybody may know."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser

from generation.charts.counts import charts_of, side_by_side
from generation.charts.drawing import Order, drawings
from generation.charts.vega import OF_PAPER, spec_of
from generation.models import Dataset, Split

EXPORT_WAIT = 60.0  # seconds: nobody waits for an export's page


def figures_of(dataset: Dataset, splits: Sequence[Split]) -> dict[str, bytes]:
    """Return the dataset's charts as SVG, by file name, without those that can't be drawn now.

    Bars lead to this site where it has a public address, else nowhere.
    """
    charts = charts_of(AnonymousUser(), dataset, side_by_side(splits, None))
    named = [(f"{chart.view.name}.svg", spec_of(chart, colors=OF_PAPER, title=dataset.name)) for chart in charts]
    orders = {name: Order(_linked(spec), kind="svg", site=settings.PUBLIC_URL) for name, spec in named if spec}
    drawn = drawings(dataset.slug, list(orders.values()), wait=EXPORT_WAIT)
    return {name: drawing for name, drawing in zip(orders, drawn, strict=True) if drawing is not None}


def _linked(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the specification of a chart whose bars lead somewhere only if there is somewhere to go."""
    if settings.PUBLIC_URL:
        return spec
    encoding = {name: channel for name, channel in spec["encoding"].items() if name != "href"}
    return {**spec, "encoding": encoding}
