"""All pairs of a board's rows as a table: differences, tests with Holm's correction, and intervals of ranks."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from generation.engine.scoring.figures import is_too_few, percent, rounded
from generation.engine.scoring.ranking.all_pairs import AllPairs, RankInterval
from webapp.leaderboards.analysis.comparison import ComparedValue, difference_json


class PairCell(NamedTuple):
    """The comparison of a row with another one; the difference is this row's accuracy minus that of the other."""

    line: ComparedValue
    address: str
    label: str

    @property
    def kind(self) -> str:
        if not self.line.is_certain:
            return "open"
        return "better" if self.line.compared.difference > 0 else "worse"

    @property
    def description(self) -> str:
        line = self.line
        return f"{self.label}: {line.difference_text} points ({line.interval_text}), p after Holm {line.adjusted_text}"


class PairRow(NamedTuple):
    """A row of the table; the cell of a row with itself is None."""

    number: int
    key: str
    label: str
    accuracy: float
    ranks: RankInterval
    cells: list[PairCell | None]

    @property
    def accuracy_text(self) -> str:
        return percent(self.accuracy)

    @property
    def ranks_text(self) -> str:
        one = self.ranks
        return str(one.low) if one.low == one.high else f"{one.low}–{one.high}"

    @property
    def bar(self) -> tuple[int, int, float]:
        # Start, width and middle of the interval, with 10 units for each rank.
        return 10 * (self.ranks.low - 1), 10 * (self.ranks.high - self.ranks.low + 1), 10 * self.ranks.rank - 5


class PairTable(NamedTuple):
    """All pairs of some rows; the most accurate row comes first."""

    n: int
    rows: list[PairRow]
    test: str

    @property
    def is_too_small(self) -> bool:
        return is_too_few(self.n)

    @property
    def certain(self) -> int:
        return sum(cell is not None and cell.kind == "better" for row in self.rows for cell in row.cells)

    @property
    def pairs(self) -> int:
        return len(self.rows) * (len(self.rows) - 1) // 2

    @property
    def wide(self) -> int:
        return 10 * len(self.rows)


def pair_table(found: AllPairs, names: Sequence[tuple[str, str]], *, address: str) -> PairTable:
    """Return the table of all pairs of rows with these keys and labels; `address` is the URL of their comparison."""
    order = sorted(range(len(names)), key=lambda at: (-found.accuracies[at], at))

    def cell_of(one: int, other: int) -> PairCell | None:
        if one == other:
            return None
        compared = found.pairs[min(one, other), max(one, other)]
        line = ComparedValue("", (), compared if one < other else compared.swapped())
        (first, first_label), (second, second_label) = names[one], names[other]
        query = urlencode([("entry", first), ("entry", second)])
        return PairCell(line, f"{address}?{query}", f"{first_label} minus {second_label}")

    rows = [
        PairRow(
            number,
            *names[at],
            found.accuracies[at],
            found.ranks[at],
            [cell_of(at, other) for other in order],
        )
        for number, at in enumerate(order, start=1)
    ]
    return PairTable(found.n, rows, found.test)


def pairs_json(table: PairTable) -> dict[str, Any]:
    """Return rows and pairs as JSON data; without figures if there are too few questions."""
    rows = []
    for row in table.rows:
        figures = {"accuracy": rounded(row.accuracy), **row.ranks._asdict()}
        told = dict.fromkeys(figures) if table.is_too_small else figures
        rows.append({"key": row.key, "label": row.label, **told})
    return {"questions": table.n, "test": table.test, "rows": rows, "pairs": list(lines_of(table))}


def lines_of(table: PairTable) -> Iterator[dict[str, Any]]:
    """Yield each pair as a row of figures, the more accurate row first; none if there are too few questions."""
    if table.is_too_small:
        return
    for at, row in enumerate(table.rows):
        for other, cell in zip(table.rows[at + 1 :], row.cells[at + 1 :], strict=True):
            assert cell is not None
            one = cell.line.compared
            yield {
                "first": row.key,
                "first_label": row.label,
                "second": other.key,
                "second_label": other.label,
                "n": one.n,
                "first_accuracy": rounded(one.first),
                "second_accuracy": rounded(one.second),
                **difference_json(one),
            }
