"""What a dataset's overview shows beside its facts: what its questions are, its spec in parts."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from generation.browse import Query
from generation.index import IndexedFacet, SplitIndex
from generation.models import Split
from generation.sidebar import Choice, choices_of

BARS_UP_TO = 30  # a facet with more bars is counted on the browse page only


class Chart(NamedTuple):
    """How many questions have each value of a facet; each bar links to them."""

    label: str
    bars: list[Choice]


class Section(NamedTuple):
    """A part of the spec: its name, how much is in it, and its JSON."""

    name: str
    summary: str
    text: str


def charts_of(split: Split, facets: Sequence[IndexedFacet]) -> list[Chart]:
    """Return how often each value of these facets occurs in a sealed split; facets of many values are left out."""
    address = split.get_absolute_url()
    counts = SplitIndex.open(split).counts({})
    charts = []
    for facet in facets:
        numbers = counts[facet.name].tolist()
        bars = choices_of(facet, numbers, Query(), occurring=[number > 0 for number in numbers])
        if bars and len(bars) <= BARS_UP_TO:
            charts.append(Chart(facet.label, [bar._replace(address=address + bar.address) for bar in bars]))
    return charts


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
