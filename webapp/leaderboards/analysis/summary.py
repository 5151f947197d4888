"""Summaries at the top of pages: a sentence about one row or two, and the slices that matter most.

They use exact scores, so pages show them only to visitors who may see the result of each question.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from generation.engine.scoring.figures import Figure, percent, signed_points
from webapp.leaderboards.analysis.comparison import ComparedFacet, ComparedValue, Sheet
from webapp.leaderboards.analysis.slices import FacetPartition, SliceCell, SliceContext, by_one
from webapp.leaderboards.entries import Contender

MOST = 5  # slices that are listed


class Weak(NamedTuple):
    """A slice of a facet, and the accuracy of a row on it."""

    facet: str
    facet_label: str
    value: str
    label: str
    cell: SliceCell

    @property
    def title(self) -> str:
        return f"{self.facet_label}: {self.label}"

    def to_json(self) -> dict[str, Any]:
        cell = self.cell.figure
        figures = {"n": cell.n, "accuracy": cell.share, "low": cell.low, "high": cell.high}
        return {"facet": self.facet, "value": self.value, "label": self.title, **figures}


def slices_of(ground: SliceContext, one: Contender, by: Sequence[FacetPartition]) -> list[Weak]:
    """Return the slices with enough questions; of slices with the same results, only the first."""
    found: dict[tuple[object, ...], Weak] = {}
    for facet in by:
        [panel] = by_one(ground, [one], facet)
        for row in panel.rows:
            [cell] = row.cells
            if cell.mean is not None and cell.n < panel.whole.cells[0].n:
                weak = Weak(facet.facet.name, facet.facet.label, row.value, row.label, cell)
                found.setdefault((cell.n, *cell.averaged.rights), weak)
    return list(found.values())


def weakest(slices: Iterable[Weak], whole: Figure) -> list[Weak]:
    below = (one for one in slices if whole.share is not None and (one.cell.mean or 0.0) < whole.share)
    return sorted(below, key=lambda one: (one.cell.mean or 0.0, -one.cell.n))[:MOST]


def describe_row(name: str, whole: Figure, chance: float | None, slices: Sequence[Weak]) -> str:
    """Describe a row in a sentence; `slices` are those of the facet of the board's columns."""
    if whole.is_missing:
        return f"{whole.n:,} questions are too few to say how often {name} is right."
    beside = f"; guessing would give {percent(chance)}" if chance is not None else ""
    interval = whole.interval_text.replace("–", " to ")
    lead = f"{name} is right on {whole.text} of {whole.n:,} questions ({interval}){beside}."
    if len(slices) < 2:
        return lead
    ordered = sorted(slices, key=lambda one: one.cell.mean or 0.0)
    return f"{lead} It is best at {_with_share(ordered[-1])} and weakest at {_with_share(ordered[0])}."


def _with_share(one: Weak) -> str:
    return f"{one.label} ({one.cell.text})"


def describe_difference(found: Sheet, names: tuple[str, str], by: str) -> str:
    """Describe in a sentence how two rows differ, and on which values of the facet `by` with certainty."""
    whole, (first, second) = found.whole, names
    if whole.is_too_small:
        return f"{whole.compared.n:,} questions are too few to compare {first} with {second}."
    difference = 100 * whole.compared.difference
    if round(difference, 1) == 0:
        return f"{first} and {second} are right equally often."
    sign = 1 if difference > 0 else -1
    ahead, behind = (first, second) if sign > 0 else (second, first)
    low, high = sorted(sign * 100 * end for end in whole.compared.interval)
    lead = f"{ahead} is {abs(difference):.1f} points better than {behind} ({_signed(low)} to {_signed(high)})"
    if not whole.is_certain:
        return f"{lead}, which may be chance{_where(found.parts, by, sign)}."
    return f"{lead}{_where(found.parts, by, sign)}."


def _signed(points: float) -> str:
    return f"{points:.1f}".replace("-", "−")


def _where(parts: Sequence[ComparedFacet], by: str, sign: int) -> str:
    """Say where the better row is better and worse with certainty; empty if nowhere."""
    lines = [line for part in parts if part.name == by for line in part.lines if line.is_certain]
    ordered = sorted(lines, key=lambda line: sign * line.compared.difference)
    told = []
    if ordered and sign * ordered[-1].compared.difference > 0:
        told.append(f"better at {_with_points(ordered[-1], sign)}")
    if ordered and sign * ordered[0].compared.difference < 0:
        told.append(f"worse at {_with_points(ordered[0], sign)}")
    return f"; {', '.join(told)}" if told else ""


def _with_points(line: ComparedValue, sign: int) -> str:
    return f"{line.label} ({signed_points(sign * line.compared.difference)})"


class Apart(NamedTuple):
    facet: str
    title: str
    line: ComparedValue  # the two rows differ on it with certainty


def largest(found: Sheet) -> list[Apart]:
    """Return the largest certain differences in either direction; of slices with the same results, only the first."""
    seen: dict[tuple[object, ...], Apart] = {}
    for part in found.parts:
        for line in part.lines:
            one = line.compared
            if line.is_certain and one.n < found.whole.compared.n:
                key = (one.n, one.only_first, one.only_second, round(one.first, 9))
                seen.setdefault(key, Apart(part.name, f"{part.label}: {line.label}", line))
    return sorted(seen.values(), key=lambda one: -abs(one.line.compared.difference))[:MOST]
