"""Compares two rows of a board on identical questions, with confidence intervals and tests."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from generation.engine.scoring import figures
from generation.engine.scoring.comparison import MCNEMAR, MethodComparison, compare
from generation.engine.scoring.figures import is_too_few, percent, rounded, signed_points
from generation.reports.scoring import truth_of
from webapp.leaderboards.analysis.slices import FacetPartition, SliceContext
from webapp.leaderboards.entries import Contender

SURE = 0.05  # an adjusted p-value below which a difference is called certain


class ComparedValue(NamedTuple):
    """Both rows on some questions; `pairs` are the filter that selects these questions."""

    label: str
    pairs: tuple[tuple[str, str], ...]
    compared: MethodComparison

    @property
    def is_too_small(self) -> bool:
        return is_too_few(self.compared.n)

    @property
    def first_text(self) -> str:
        return percent(self.compared.first)

    @property
    def second_text(self) -> str:
        return percent(self.compared.second)

    @property
    def difference_text(self) -> str:
        return signed_points(self.compared.difference)

    @property
    def interval_text(self) -> str:
        low, high = self.compared.interval
        return f"{signed_points(low)} … {signed_points(high)}"

    @property
    def p_text(self) -> str:
        return _probability(self.compared.p)

    @property
    def p_said(self) -> str:
        return self.p_text if self.p_text.startswith("<") else f"= {self.p_text}"

    @property
    def adjusted_text(self) -> str:
        return _probability(self.compared.adjusted)

    @property
    def is_certain(self) -> bool:
        return not self.is_too_small and self.compared.adjusted < SURE


class ComparedFacet(NamedTuple):
    """A facet with a line for each value that has questions; `is_along` if the values are numbers."""

    name: str
    label: str
    lines: list[ComparedValue]
    is_along: bool


class Sheet(NamedTuple):
    """The comparison of two rows over all questions and by facets; `test` names the statistical test."""

    whole: ComparedValue
    parts: list[ComparedFacet]
    test: str

    @property
    def is_averaged(self) -> bool:
        return self.test != MCNEMAR


def sheet(ground: SliceContext, first: Contender, second: Contender, by: Sequence[FacetPartition]) -> Sheet:
    """Return the comparison of two rows on the questions that both were asked."""
    slicings = {one.facet.name: one.slicing for one in by}
    truth, least = truth_of(ground.index), figures.TOO_FEW
    found = compare(first.runs, second.runs, truth, slicings, among=ground.asked, least=least)
    parts = [_part(one, found.facets[one.facet.name]) for one in by]
    return Sheet(ComparedValue("all", (), found.whole), [part for part in parts if part.lines], found.test)


def _part(one: FacetPartition, found: Sequence[MethodComparison]) -> ComparedFacet:
    return ComparedFacet(one.facet.name, one.facet.label, list(_lines(one, found)), one.is_along)


def _lines(one: FacetPartition, found: Sequence[MethodComparison]) -> Iterator[ComparedValue]:
    for value, label, compared in zip(one.values, one.labels, found, strict=True):
        if compared.n:
            yield ComparedValue(label, ((one.facet.name, value),), compared)


def difference_json(one: MethodComparison) -> dict[str, float | int]:
    return {
        "difference": rounded(one.difference),
        "low": rounded(one.interval.low),
        "high": rounded(one.interval.high),
        "only_first": one.only_first,
        "only_second": one.only_second,
        "p": float(f"{one.p:.4g}"),
        "p_holm": float(f"{one.adjusted:.4g}"),
    }


def lines_of(found: Sheet) -> Iterator[dict[str, float | int | str | None]]:
    """Yield the comparison as rows of figures; too small slices have only n."""
    wholes = [("", found.whole)]
    for facet, line in [*wholes, *((part.name, line) for part in found.parts for line in part.lines)]:
        one = line.compared
        numbers = {"first": rounded(one.first), "second": rounded(one.second), **difference_json(one)}
        told = dict.fromkeys(numbers) if line.is_too_small else numbers
        value = line.pairs[0][1] if line.pairs else ""
        yield {"facet": facet, "value": value, "label": line.label, "n": one.n, **told}


def _probability(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.001 else f"{p:.3f}"
