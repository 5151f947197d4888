"""Diagrams of examples that methods need for a target accuracy, from tables with the accuracy after n examples.

Such a diagram has one line for each method and target, and a table of the finding for each place on its axis, for
example one for each number k of kinds of vehicles.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from generation.charts.vega import COUNTS, HEIGHT, LEGEND, OF_PAPER, WIDTH, SvgPalette, frame_of, title_of
from webapp.leaderboards.findings.chart import DRAWN, TALLER
from webapp.leaderboards.findings.definitions import Definition, FindingTable, NeededExamples
from webapp.leaderboards.findings.records import RecordedFigure

DASHES = ([1, 0], [7, 3], [3, 3], [1, 2])  # of the lines of the targets, in order

Figures = Mapping[str, RecordedFigure]


class NeededLine(NamedTuple):
    """The examples that a row of the tables needs for a target.

    Attributes
    ----------
    label : str
    target : float
    needed : tuple of float or None
        For each place: the smallest number of examples after which the target is reached; None if no number suffices.
    most : tuple of float
        For each place: the largest number of examples that was tried.
    """

    label: str
    target: float
    needed: tuple[float | None, ...]
    most: tuple[float, ...]

    @property
    def percent(self) -> str:
        return f"{100 * self.target:g} %"

    @property
    def texts(self) -> list[str]:
        pairs = zip(self.needed, self.most, strict=True)
        return [f"more than {most:,.0f}" if one is None else f"{one:,.0f}" for one, most in pairs]


def lines_of(diagram: NeededExamples, definition: Definition, figures: Figures) -> list[NeededLine]:
    """Return the lines of a diagram, by target and row; empty if a figure of its tables is not recorded."""
    tables = {table.name: table for table in definition.tables}
    places = [tables[one.table] for one in diagram.places]
    if any(cell.key not in figures for table in places for cell in table.cells()):
        return []
    return [
        NeededLine(
            row.label,
            target,
            tuple(_needed(table, at, target, figures) for table in places),
            tuple(max(column.at or 0.0 for column in table.columns) for table in places),
        )
        for target in diagram.targets
        for at, row in enumerate(places[0].rows)
    ]


def _needed(table: FindingTable, at: int, target: float, figures: Figures) -> float | None:
    row = table.rows[at]
    reached = [
        column.at
        for column in table.columns
        if column.at is not None and figures[table.key(row, column)].value >= target
    ]
    return min(reached, default=None)


def spec_of(
    diagram: NeededExamples,
    lines: list[NeededLine],
    *,
    colors: SvgPalette = OF_PAPER,
    title: str = "",
) -> dict[str, Any] | None:
    """Return the Vega-Lite specification of a diagram; None if no line has a point."""
    values = list(_values(diagram, lines))
    if not values:
        return None
    rows, targets = (list(dict.fromkeys(value[name] for value in values)) for name in ("row", "target"))
    spec = {
        "data": {"values": values},
        "encoding": {
            "x": {
                "field": "at",
                "type": "quantitative",
                "title": diagram.axis,
                "scale": {"zero": False},
                "axis": {"values": [one.at for one in diagram.places], "grid": False},
            },
            "y": {
                "field": "needed",
                "type": "quantitative",
                "title": "training examples",
                "axis": {"format": COUNTS, "tickCount": 4},
            },
            "color": {
                "field": "row",
                "type": "nominal",
                "scale": {"domain": rows[:DRAWN], "range": list(colors.bars[: len(rows)])},
                "legend": {**LEGEND, "symbolType": "circle"},
            },
        },
        "layer": [
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    "strokeDash": {
                        "field": "target",
                        "type": "nominal",
                        "scale": {"domain": targets, "range": list(DASHES[: len(targets)])},
                        "legend": {**LEGEND, "symbolType": "stroke"},
                    },
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 42},
                "encoding": {
                    "detail": {"field": "target", "type": "nominal"},
                    "description": {"field": "said", "type": "nominal"},
                },
            },
        ],
        "width": WIDTH,
        "height": HEIGHT * TALLER,
        **frame_of(colors),
    }
    if title:
        spec["title"] = title_of(diagram.title, title)
        spec["padding"] = 12
    return spec


def _values(diagram: NeededExamples, lines: list[NeededLine]) -> Iterator[dict[str, Any]]:
    for line in lines:
        for place, needed in zip(diagram.places, line.needed, strict=True):
            if needed is not None:
                said = f"{line.label}, {line.percent}, {place.label}: {needed:,.0f} examples"
                yield {"row": line.label, "target": line.percent, "at": place.at, "needed": needed, "said": said}
