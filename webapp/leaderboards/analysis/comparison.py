"""Two rows of a board on identical questions: who is better where, and how sure that is."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from generation.engine.scoring.comparison import MCNEMAR, Compared, compare
from generation.reports.scoring import truth_of
from webapp.leaderboards.analysis.slices import LEAST, Divided, Ground
from webapp.leaderboards.entries import Contender

SURE = 0.05  # an adjusted p-value below which a difference is called certain


class ComparedValue(NamedTuple):
    """Both on some questions; `pairs` are the filter that finds them."""

    label: str
    pairs: tuple[tuple[str, str], ...]
    compared: Compared

    @property
    def is_too_small(self) -> bool:
        return self.compared.n < LEAST

    @property
    def first_text(self) -> str:
        return f"{100 * self.compared.first:.1f} %"

    @property
    def second_text(self) -> str:
        return f"{100 * self.compared.second:.1f} %"

    @property
    def difference_text(self) -> str:
        """Return by how many points the first one is better, for people."""
        return f"{100 * self.compared.difference:+.1f}".replace("-", "−")

    @property
    def interval_text(self) -> str:
        low, high = self.compared.interval
        return f"{100 * low:+.1f} … {100 * high:+.1f}".replace("-", "−")

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
    """A facet with a line for each of its values that were asked about; `is_along` where these are numbers."""

    name: str
    label: str
    lines: list[ComparedValue]
    is_along: bool


class Sheet(NamedTuple):
    """Two rows of a board, compared: over all questions, and by facets; `test` is what the p-values are of."""

    whole: ComparedValue
    parts: list[ComparedFacet]
    test: str

    @property
    def is_averaged(self) -> bool:
        """Return whether a question counts by a share of runs."""
        return self.test != MCNEMAR


def sheet(ground: Ground, first: Contender, second: Contender, by: Sequence[Divided]) -> Sheet:
    """Return two rows of a board compared on the questions that both answered."""
    slicings = {one.facet.name: one.slicing for one in by}
    found = compare(first.runs, second.runs, truth_of(ground.index), slicings, among=ground.asked, least=LEAST)
    parts = [_part(one, found.facets[one.facet.name]) for one in by]
    return Sheet(ComparedValue("all", (), found.whole), [part for part in parts if part.lines], found.test)


def _part(one: Divided, found: Sequence[Compared]) -> ComparedFacet:
    return ComparedFacet(one.facet.name, one.facet.label, list(_lines(one, found)), one.is_along)


def _lines(one: Divided, found: Sequence[Compared]) -> Iterator[ComparedValue]:
    for value, label, compared in zip(one.values, one.labels, found, strict=True):
        if compared.n:
            yield ComparedValue(label, ((one.facet.name, value),), compared)


def lines_of(found: Sheet) -> Iterator[dict[str, float | int | str | None]]:
    """Yield a sheet as lines of figures; of too few questions n alone is told."""
    wholes = [("", found.whole)]
    for facet, line in [*wholes, *((part.name, line) for part in found.parts for line in part.lines)]:
        one = line.compared
        figures: dict[str, float | int] = {
            "first": round(one.first, 6),
            "second": round(one.second, 6),
            "difference": round(one.difference, 6),
            "low": round(one.interval.low, 6),
            "high": round(one.interval.high, 6),
            "only_first": one.only_first,
            "only_second": one.only_second,
            "p": float(f"{one.p:.4g}"),
            "p_holm": float(f"{one.adjusted:.4g}"),
        }
        told = dict.fromkeys(figures) if line.is_too_small else figures
        value = line.pairs[0][1] if line.pairs else ""
        yield {"facet": facet, "value": value, "label": line.label, "n": one.n, **told}


def _probability(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.001 else f"{p:.3f}"
