"""Accuracy against cost, tokens or latency: a point for each row of a board, and the Pareto front of the methods."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from generation.engine.scoring.figures import Figure, rounded_or_none
from generation.engine.scoring.ranking.pareto_front import pareto_front
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.replies.reply_figures import COST, LATENCY, TOKENS, ReplyUsage, dollars, seconds, usage_of


class CostAxis(NamedTuple):
    """What is on the horizontal axis: its name in addresses, its label, and its title with the unit."""

    name: str
    label: str
    title: str

    def value_of(self, entry: Entry) -> float | None:
        """Return the value of an entry, or None if it is not known. Of people, only the time is known."""
        if entry.baseline is not None:
            found = json.loads(entry.baseline.figures).get("seconds") if self == SECONDS else None
            return float(found) if found else None
        usage: ReplyUsage | None = usage_of(entry)
        return None if usage is None else getattr(usage, self.name)

    def text(self, value: float) -> str:
        if self == DOLLARS:
            return dollars(value)
        return seconds(value) if self == SECONDS else f"{value:,.0f}"


DOLLARS = CostAxis(COST.name, "cost", "US dollars for 1,000 questions")
TOKEN_COUNT = CostAxis(TOKENS.name, "tokens", "tokens for each question")
SECONDS = CostAxis(LATENCY.name, "latency", "seconds for an answer, median")
AXES = {axis.name: axis for axis in (DOLLARS, TOKEN_COUNT, SECONDS)}


class CostPoint(NamedTuple):
    """A row of a board with its accuracy and what it costs; `is_on_front` is never set for people."""

    key: str
    label: str
    figure: Figure
    value: float
    text: str
    address: str
    is_human: bool
    is_on_front: bool = False


class CostTable(NamedTuple):
    """The rows with figures, the cheapest first, and the labels of the rows without."""

    axis: CostAxis
    points: list[CostPoint]
    without: list[str]

    @property
    def front(self) -> list[CostPoint]:
        return [point for point in self.points if point.is_on_front]


def axes_with_values(entries: Sequence[Entry]) -> list[CostAxis]:
    models = [entry for entry in entries if not entry.is_human]
    return [axis for axis in AXES.values() if any(axis.value_of(entry) is not None for entry in models)]


def cost_table(axis: CostAxis, rows: Sequence[tuple[Entry, str, str]]) -> CostTable:
    """Return the points of some rows of a board, and which of the methods are on the Pareto front.

    Parameters
    ----------
    axis : CostAxis
    rows : sequence of (Entry, str, str)
        Each row with its label and the URL of its accuracy by slice. People answer other questions than methods, so
        they are not compared with them.
    """
    points, without = [], []
    for entry, label, address in rows:
        value, figure = axis.value_of(entry), entry.figure
        if value is None or figure.share is None:
            without.append(label)
        else:
            points.append(CostPoint(entry.key, label, figure, value, axis.text(value), address, entry.is_human))
    points.sort(key=lambda point: (point.value, -(point.figure.share or 0.0)))
    models = [point for point in points if not point.is_human]
    front = pareto_front([point.value for point in models], [round(point.figure.share or 0.0, 12) for point in models])
    on_front = {models[at].key for at in front}
    return CostTable(axis, [point._replace(is_on_front=point.key in on_front) for point in points], without)


def lines_of(table: CostTable) -> Iterator[dict[str, Any]]:
    """Yield each point as a row of figures."""
    for point in table.points:
        yield {
            "key": point.key,
            "row": point.label,
            "n": point.figure.n,
            **point.figure.shares(),
            table.axis.name: rounded_or_none(point.value),
            "on_front": point.is_on_front,
        }
