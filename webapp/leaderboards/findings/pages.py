"""The content of the pages of findings: tables with the paper's figures beside ours, and statements in words."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from generation.durations import duration
from generation.engine.learners import is_network
from generation.engine.learners.base import SizeName
from generation.engine.scoring.figures import Interval, points
from generation.engine.scoring.statements import Inequality, StatementOutcome
from webapp.leaderboards.findings import records
from webapp.leaderboards.findings.chart import HeadlineFigure
from webapp.leaderboards.findings.definitions import (
    PERCENT,
    SIZES,
    Definition,
    FindingCell,
    FindingStatement,
    FindingTable,
    TableColumn,
    TableRow,
    load,
    names,
)
from webapp.leaderboards.findings.preconditions import unlearned_rows
from webapp.leaderboards.findings.records import FindingRecord, RecordedFigure, RecordedStatement, RecordedTraining

POINTS, OBJECTS = "points", "objects"
CHIPS = {
    StatementOutcome.HELD: "good",
    StatementOutcome.NOT_HELD: "bad",
    StatementOutcome.UNDECIDED: "warn",
    StatementOutcome.NOT_TESTED: "",
}  # CSS classes of outcomes
WIDEST = 6  # columns of a table on a page; if there are more, its columns become rows


class FigureView(NamedTuple):
    """Our figure and that of the paper as texts. A text is empty if its figure is not known."""

    here: str
    interval: str
    n: int
    runs: int
    paper: str


class HeadView(NamedTuple):
    label: str
    sample: str  # the questions of a column or the runs of a row; empty if they are the same in the whole table


class LineView(NamedTuple):
    head: HeadView
    figures: list[FigureView]


class TableView(NamedTuple):
    """A table on a page. If it has too many columns, they become lines.

    `sample` has the numbers of questions and runs of all figures. It is empty without a record.
    """

    table: FindingTable
    unit: str
    sample: str
    heads: list[HeadView]
    lines: list[LineView]

    @property
    def has_figures(self) -> bool:
        return any(one.here or one.paper for line in self.lines for one in line.figures)

    @property
    def is_share(self) -> bool:
        return self.unit == PERCENT


class TermView(NamedTuple):
    """A term of a statement's sum: its sign and factor, the label and our figure, and the table that has it."""

    sign: str
    label: str
    here: str
    table: str


class StatementView(NamedTuple):
    """A statement on a page: its sum, its bounds, our value, the paper's, and the outcome with its CSS class.

    `unlearned` has the methods because of which it is not tested, as a text.
    """

    says: str
    terms: list[TermView]
    demand: str
    found: str
    paper: str
    outcome: str
    chip: str
    unlearned: str = ""


class SizeSummary(NamedTuple):
    """A size of a finding on a page: its newest record, the outcomes, and whether the definition changed since then."""

    size: SizeName
    record: FindingRecord | None
    counts: list[tuple[int, str, str]]
    is_outdated: bool
    effort: str


class FindingSummary(NamedTuple):
    name: str
    definition: Definition
    sizes: list[SizeSummary]


def summaries() -> list[FindingSummary]:
    return [FindingSummary(name, found, _sizes(name, found)) for name in names() for found in [load(name)]]


def _sizes(name: str, definition: Definition) -> list[SizeSummary]:
    return [summary_of(name, size, definition=definition) for size in SIZES if size in definition.sizes]


def summary_of(name: str, size: SizeName, *, definition: Definition) -> SizeSummary:
    """Return the newest record of a size, and the number of statements of the definition with each outcome."""
    record = records.load_latest(name, size)
    outcomes = [one.outcome for one in judged_statements(definition, size, record) if one.found is not None]
    counts = [(outcomes.count(one), one.value, chip) for one, chip in CHIPS.items()]
    return SizeSummary(
        size=size,
        record=record,
        counts=[one for one in counts if one[0]],
        is_outdated=record is not None and record.definition != definition.digest(size),
        effort="" if record is None else describe_effort(record),
    )


def describe_effort(record: FindingRecord) -> str:
    cores, processor = record.machine.get("cores"), record.machine.get("processor")
    time = duration(record.seconds)
    return f"{time} on {cores} core{'' if cores == '1' else 's'} of {processor}" if cores and processor else time


# The headline


def headline_figures(definition: Definition, size: SizeName, record: FindingRecord | None) -> list[HeadlineFigure]:
    """Return the bars of a headline. A mean of which a figure is missing is None."""
    papers = {name: one for table in definition.tables_of(size) for name, one in table.paper_figures().items()}
    figures = {} if record is None else record.figures
    found = []
    for bar in definition.bars_of(size):
        known = [figures[name] for name in bar.mean_of if name in figures]
        is_whole = len(known) == len(bar.mean_of)
        one = known[0] if is_whole and len(known) == 1 else None  # the interval of a mean is not recorded
        printed = [papers[name] for name in bar.mean_of if name in papers]
        found.append(
            HeadlineFigure(
                bar.label,
                fmean(each.value for each in known) if is_whole else None,
                None if one is None else one.low,
                None if one is None else one.high,
                fmean(printed) if len(printed) == len(bar.mean_of) else None,
            )
        )
    return found


class OutcomeGroup(NamedTuple):
    outcome: str
    chip: str
    statements: list[StatementView]


def grouped(statements: Sequence[StatementView]) -> list[OutcomeGroup]:
    # Those that did not hold come first, because readers look for them.
    order = (StatementOutcome.NOT_HELD, StatementOutcome.UNDECIDED, StatementOutcome.NOT_TESTED, StatementOutcome.HELD)
    groups = (OutcomeGroup(one.value, CHIPS[one], [s for s in statements if s.outcome == one.value]) for one in order)
    return [group for group in groups if group.statements]


# Tables


def tables_of(definition: Definition, size: SizeName, record: FindingRecord | None) -> list[TableView]:
    figures = {} if record is None else record.figures
    return [_table(table, figures) for table in definition.tables_of(size)]


def _table(table: FindingTable, figures: dict[str, RecordedFigure]) -> TableView:
    cells = [[_figure(table, row, at, figures) for at in range(len(table.columns))] for row in table.rows]
    known = [one for some in cells for one in some if one.here]
    questions, runs = {one.n for one in known}, {one.runs for one in known}
    sample = f"{count_text(questions, 'question')} a figure" if known else ""
    if known and any(column.needs_answers for column in table.columns):
        sample += f", {count_text(runs, 'run')} each"
    # The questions of a figure depend on its column, and its runs on its row.
    rows = [
        _head(row.label, [one.runs for one in some], runs, "run") for row, some in zip(table.rows, cells, strict=True)
    ]
    columns = [
        _head(column.label, [some[at].n for some in cells], questions, "question")
        for at, column in enumerate(table.columns)
    ]
    if table.mean:
        columns.append(HeadView("Mean", ""))
        cells = [[*some, _mean(table, row, figures)] for row, some in zip(table.rows, cells, strict=True)]
    heads, sides, lines = columns, rows, cells
    if len(table.columns) > WIDEST:
        heads, sides, lines = rows, columns, [list(some) for some in zip(*cells, strict=True)]
    views = [LineView(head, some) for head, some in zip(sides, lines, strict=True)]
    return TableView(table, _unit(table.columns), sample, heads, views)


def _head(label: str, counts: Iterable[int], of_table: set[int], noun: str) -> HeadView:
    known = {one for one in counts if one}
    return HeadView(label, count_text(known, noun) if known and len(of_table) > 1 else "")


def _mean(table: FindingTable, row: TableRow, figures: Mapping[str, RecordedFigure]) -> FigureView:
    """Return the means of our figures and of the paper's in a row; a mean of which a figure is missing is empty."""
    ours = [figures.get(table.key(row, column)) for column in table.columns]
    papers = [table.paper_figure(row, at) for at in range(len(table.columns))]
    unit = _unit(table.columns)
    here = _mean_text([None if one is None else one.value for one in ours], unit=unit)
    return FigureView(here, "", 0, 0, _mean_text(papers, unit=unit))


def _mean_text(numbers: Sequence[float | None], *, unit: str) -> str:
    known = [one for one in numbers if one is not None]
    return number_text(fmean(known), unit=unit) if len(known) == len(numbers) else ""


def count_text(counts: Collection[int], noun: str) -> str:
    low, high = min(counts), max(counts)  # of 319 and 1,801 questions: "319 to 1,801 questions"
    numbers = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"{numbers} {noun}{'' if high == 1 else 's'}"


def _figure(table: FindingTable, row: TableRow, at: int, figures: dict[str, RecordedFigure]) -> FigureView:
    column = table.columns[at]
    found, paper = figures.get(table.key(row, column)), table.paper_figure(row, at)
    unit = _unit([column])
    told = "" if paper is None else number_text(paper, unit=unit)
    if found is None:
        return FigureView("", "", 0, 0, told)
    low, high = (number_text(end, unit=unit) for end in (found.low, found.high))
    return FigureView(number_text(found.value, unit=unit), f"{low}–{high}", found.n, len(found.runs), told)


def _unit(columns: Sequence[TableColumn]) -> str:
    units = {one.unit for one in columns}
    return PERCENT if units == {PERCENT} else OBJECTS


def number_text(number: float, *, unit: str) -> str:
    return (points(number) if unit == PERCENT else f"{number:z.2f}").replace("-", "−")


# Statements


def describe_seeds(record: FindingRecord) -> str:
    """Return what the intervals leave out because a training has only one seed; empty if each has several."""
    seeds = Counter(one.name for one in record.trainings)
    single = sum(count == 1 for count in seeds.values())
    if not single:
        return ""
    if single < len(seeds):
        return (
            "Some methods were trained with one seed only. The intervals of their figures describe this one run, "
            "and say nothing about runs with other seeds."
        )
    return (
        "Each method was trained once, with one seed. The intervals describe these runs, and say nothing about runs "
        "with other seeds."
    )


def statements_of(definition: Definition, size: SizeName, record: FindingRecord | None) -> list[StatementView]:
    figures = _known_figures(definition, size, record)
    return [_statement(one, figures) for one in judged_statements(definition, size, record)]


class _KnownFigures(NamedTuple):
    """The cells of a size with their tables, our figures, and the paper's, all by the names of figures."""

    cells: Mapping[str, tuple[FindingTable, FindingCell]]
    here: Mapping[str, float]
    paper: Mapping[str, float]

    def unit_of(self, some: Iterable[str]) -> str:
        return _unit([self.cells[name][1].column for name in some])


def _known_figures(definition: Definition, size: SizeName, record: FindingRecord | None) -> _KnownFigures:
    tables = definition.tables_of(size)
    return _KnownFigures(
        cells={cell.key: (table, cell) for table in tables for cell in table.cells()},
        here={} if record is None else {name: one.value for name, one in record.figures.items()},
        paper={name: figure for table in tables for name, figure in table.paper_figures().items()},
    )


class JudgedStatement(NamedTuple):
    """A statement, what a record has about it, and the methods because of which it is not tested."""

    statement: FindingStatement
    found: RecordedStatement | None
    unlearned: list[str]

    @property
    def outcome(self) -> StatementOutcome | None:
        if self.found is None:
            return None
        return StatementOutcome.NOT_TESTED if self.unlearned else self.found.outcome


def judged_statements(definition: Definition, size: SizeName, record: FindingRecord | None) -> list[JudgedStatement]:
    # A recorded outcome belongs to the statement with the same sum and bounds, even if its words have changed.
    if record is None:
        return [JudgedStatement(one, None, []) for one in definition.statements_of(size)]
    known = {_demand(one): one for one in record.statements}
    return [
        JudgedStatement(one, known.get(_demand(one)), unlearned_rows(one, definition, size, record.figures))
        for one in definition.statements_of(size)
    ]


def _demand(one: Inequality) -> tuple[frozenset[tuple[str, float]], Interval]:
    return frozenset(one.weights.items()), one.bounds


def _statement(judged: JudgedStatement, figures: _KnownFigures) -> StatementView:
    one, found, outcome = judged.statement, judged.found, judged.outcome
    unit = figures.unit_of(one.weights)
    of_paper = sum_of(one, figures.paper)
    paper = "" if of_paper is None else number_text(of_paper, unit=unit)
    terms, demand = _terms(one, figures), demand_text(one, unit=unit)
    if found is None or outcome is None:
        return StatementView(one.says, terms, demand, "", paper, "not recorded yet", "")
    low, high = (number_text(end, unit=unit) for end in (found.low, found.high))
    text = f"{number_text(found.value, unit=unit)} ({low} to {high})"
    unlearned = " and ".join(judged.unlearned)
    return StatementView(one.says, terms, demand, text, paper, outcome.value, CHIPS[outcome], unlearned)


def sum_of(one: Inequality, figures: Mapping[str, float]) -> float | None:
    """Return the sum that a statement bounds; None unless each figure of the sum is known."""
    weights = {name: weight for name, weight in one.weights.items() if weight}
    if not weights.keys() <= figures.keys():
        return None
    return sum(weight * figures[name] for name, weight in weights.items())


def _terms(one: Inequality, figures: _KnownFigures) -> list[TermView]:
    """Return the terms of a statement's sum. The mean of several figures of a row is one term."""
    of_row = defaultdict[tuple[str, float], list[str]](list)
    for name, weight in one.weights.items():
        if weight:
            of_row[name.rpartition("/")[0], weight].append(name)
    groups: list[tuple[float, list[str]]] = []
    for (_, weight), some in of_row.items():
        groups += [(weight, some)] if _is_mean(weight, some) else [(weight, [name]) for name in some]
    has_tables = len({figures.cells[some[0]][0].name for _, some in groups}) > 1
    return [
        _term(weight, some, figures, is_first=not at, has_tables=has_tables) for at, (weight, some) in enumerate(groups)
    ]


def _is_mean(weight: float, some: Sequence[str]) -> bool:
    return math.isclose(abs(weight) * len(some), 1)


def _term(weight: float, some: Sequence[str], figures: _KnownFigures, *, is_first: bool, has_tables: bool) -> TermView:
    table, cell = figures.cells[some[0]]
    label = f"{cell.row.label}, {cell.column.label if len(some) == 1 else f'mean of {len(some)} figures'}"
    here = _mean_text([figures.here.get(name) for name in some], unit=figures.unit_of(some))
    sign = "−" if weight < 0 else "" if is_first else "+"
    factor = "" if _is_mean(weight, some) else f"{abs(weight):.3g} ×"
    return TermView(f"{sign} {factor}".strip(), f"{label} ({table.title})" if has_tables else label, here, table.name)


def demand_text(one: Inequality, *, unit: str) -> str:
    """Return the bounds of a statement in words: percent for a share, points for a difference of shares."""
    name = unit if unit != PERCENT or not one.minus else POINTS
    scale = 100 if unit == PERCENT else 1
    low, high = (f"{round(scale * end, 6):g}".replace("-", "−") for end in one.bounds)
    if one.at_least is None:
        return f"at most {high} {name}"
    return f"at least {low} {name}" if one.at_most is None else f"{low} to {high} {name}"


def needs_torch(definition: Definition, size: SizeName) -> bool:
    return any(is_network(one.method) for one in definition.sizes[size].trainings)


# Records


class TrainingView(NamedTuple):
    training: RecordedTraining
    time: str
    settings: str


def trainings_of(record: FindingRecord) -> list[TrainingView]:
    return [TrainingView(one, duration(one.seconds), settings_text(one.config)) for one in record.trainings]


def settings_text(config: Mapping[str, Any] | None) -> str:
    if config is None:
        return "not recorded"
    return ", ".join(f"{name} {value}" for name, value in config.items()) or "–"
