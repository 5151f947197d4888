"""Definitions of findings: one JSON file for each, read by a strict model.

A definition has tables with the paper's figures and ours, statements about the figures, and two sizes. A size has the
datasets to make and the methods to train. A figure is named by its table, row and column: `types/lstm/exist`.

In a list, an object with a key `each`, for example `{"each": {"k": [5, 15]}, "name": "k{k}", ...}`, stands for several
objects: one for each combination of the values, in which `{k}` is replaced by the value. If `value` is the only other
key, it stands for several values instead of objects. A name in place of a list of values refers to a list in `lists`.
"""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, StringConstraints, model_validator

from generation.engine.content_hash import digest
from generation.engine.errors import EngineError
from generation.engine.learners.base import SizeName
from generation.engine.scoring.counts.metrics import METRICS
from generation.engine.scoring.statements import Inequality
from generation.engine.spec import Frozen, read

FOLDER = Path(__file__).parent / "definitions"
SIZES: tuple[SizeName, ...] = ("mini", "paper")
BASELINE, GUESSES, QUESTIONS = "baseline", "guesses", "questions"  # kinds of rows without a training
ACCURACY, BALANCED = "accuracy", "balanced_accuracy"  # metrics of every dataset; others are those of its world
SHARE, UNIQUE, KNOWN = "share", "unique", "known"  # metrics of questions without answers of a method
PERCENT = "%"
LABELS = {
    ACCURACY: "accuracy",
    BALANCED: "balanced accuracy",
    SHARE: "share of questions",
    UNIQUE: "unique questions",
    KNOWN: "unique questions that are also in train",
}  # of metrics in percent that do not depend on the world
UNLIMITED = ("relative_error",)  # metrics in percent that can be above 100 %
COLUMN, ROW = "{column}", "{row}"  # in a row's training and split: the name of the cell's column

NO_LISTS: Mapping[str, Sequence[Any]] = MappingProxyType({})

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.-]{0,59}$")]
SplitPath = Annotated[str, StringConstraints(pattern=r"^[a-z0-9{][a-z0-9{}_-]*/[a-zA-Z0-9{][a-zA-Z0-9{}_-]*$")]


class BadFinding(EngineError):
    """A definition or a record of a finding is wrong, or there is none with this name."""


class DerivedSet(Frozen):
    # `recipe` is that of `manage.py derive`, without the parent.
    name: str
    parent: str
    recipe: dict[str, Any]


class ShiftedCounts(Frozen):
    # The question sets have names such as `train-odd-even-90`.
    kept: Literal["odd", "even"]
    removed: float = Field(ge=0, le=100)


class FindingDataset(Frozen):
    """A dataset to make: its spec, which changes a preset, and the question sets that are derived from it."""

    name: Name
    spec: dict[str, Any]
    images: bool = True
    sets: tuple[DerivedSet, ...] = ()
    shifts: tuple[ShiftedCounts, ...] = ()


class FindingTraining(Frozen):
    """A method to train, once for each seed. Splits are named `dataset/split`, with datasets of the size."""

    name: Name
    method: str
    label: str
    train: SplitPath
    val: SplitPath
    tests: tuple[SplitPath, ...] = Field(min_length=1)
    config: dict[str, Any] = Field(default_factory=dict)
    seeds: tuple[int, ...] = Field((0,), min_length=1)


class FindingSize(Frozen):
    about: str
    datasets: tuple[FindingDataset, ...] = Field(min_length=1)
    trainings: tuple[FindingTraining, ...] = ()


class TableRow(Frozen):
    """A row of a table: a training, a baseline of the site, guesses, or the questions themselves.

    Attributes
    ----------
    name, label : str
    of : str
        The name of a training; `baseline/KIND`; `guesses/DATASET/SPLIT`, which are answers drawn at random from those
        of a split; or `questions`, for metrics that need no answers. `{column}` stands for the column's name.
    on : str
        The split, if it is not that of the column; `{column}` as in `of`.
    """

    name: Name
    label: str
    of: str
    on: SplitPath | None = None


class TableColumn(Frozen):
    """A column of a table: a figure on some questions of a split.

    Attributes
    ----------
    name, label : str
    on : str
        The split; `{row}` stands for the row's name. Empty if each row names it.
    slice : str
        The questions, as in the address of the split's page; empty for all.
    words : tuple of int, or None
        The smallest and the largest number of words of the questions.
    metric : str
        `accuracy`; `balanced_accuracy`, the mean of the accuracies on the questions with each correct answer; or a name
        in `generation.engine.scoring.counts.metrics.METRICS`. In a row `questions`: `share`, these questions among all
        of the split; `unique`, different texts among these questions; or `known`, different texts that train has too.
    at : float or None
        The place on the axis, if the chart has lines.
    """

    name: Name
    label: str
    on: SplitPath | None = None
    slice: str = ""
    words: tuple[int, int] | None = None
    metric: str = ACCURACY
    at: float | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.metric not in (*LABELS, *METRICS):
            raise ValueError(f"Expected one of {', '.join((*LABELS, *METRICS))}, got {self.metric}")
        if self.words is not None and self.words[0] > self.words[1]:
            raise ValueError("Expected the smaller number of words first, got {} and {}".format(*self.words))
        return self

    @property
    def needs_answers(self) -> bool:
        return self.metric not in (SHARE, UNIQUE, KNOWN)

    @property
    def metric_label(self) -> str:
        return LABELS[self.metric] if self.metric in LABELS else METRICS[self.metric].label

    @property
    def unit(self) -> str:
        return PERCENT if self.metric in LABELS else METRICS[self.metric].unit

    @property
    def is_share(self) -> bool:
        # It is between 0 and 1.
        return self.unit == PERCENT and self.metric not in UNLIMITED


class FindingCell(NamedTuple):
    """A cell of a table: the figure of its row in its column, on a split."""

    key: str
    row: TableRow
    column: TableColumn

    @property
    def of(self) -> str:
        return self.row.of.replace(COLUMN, self.column.name)

    @property
    def kind(self) -> str:
        first = self.of.partition("/")[0]
        return first if first in (BASELINE, GUESSES, QUESTIONS) else ""

    @property
    def source(self) -> str:
        return self.of.partition("/")[2]

    @property
    def on(self) -> str:
        return (self.row.on or self.column.on or "").replace(COLUMN, self.column.name).replace(ROW, self.row.name)


class FindingTable(Frozen):
    """A table or diagram of the paper, with our figures for the same cells.

    Attributes
    ----------
    name, title : str
    source : str
        The place in the paper, for example `table 3`.
    note : str
        A remark for readers about the paper's figures.
    chart : str
        `bars` or `lines`; for lines, each column has its place on the axis.
    axis : str
        The title of the axis of a chart with lines.
    rows, columns : tuple
    paper : mapping of str to tuple of float or None
        The paper's figures by row, one for each column, as fractions; None where the paper has no number. A row
        without numbers is left out.
    sizes : tuple of str
        The sizes of the finding that have this table.
    mean : bool
        Whether the page also shows the mean of each row, for columns with the same metric.
    """

    name: Name
    title: str
    source: str
    note: str = ""
    chart: Literal["bars", "lines"] = "bars"
    axis: str = ""
    rows: tuple[TableRow, ...] = Field(min_length=1)
    columns: tuple[TableColumn, ...] = Field(min_length=1)
    paper: dict[str, tuple[float | None, ...]] = Field(default_factory=dict)
    sizes: tuple[SizeName, ...] = SIZES
    mean: bool = False

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _check_unique("rows", [row.name for row in self.rows])
        _check_unique("columns", [column.name for column in self.columns])
        for row, figures in self.paper.items():
            if row not in {one.name for one in self.rows} or len(figures) != len(self.columns):
                raise ValueError(
                    f"Expected {len(self.columns)} figures of a row of the table, got {len(figures)} of {row!r}"
                )
        if self.chart == "lines" and any(column.at is None for column in self.columns):
            raise ValueError("Expected `at` of each column for a chart with lines, got a column without it")
        if self.mean and len(metrics := {column.metric for column in self.columns}) > 1:
            raise ValueError(f"Expected columns with one metric for a mean, got {', '.join(sorted(metrics))}")
        for cell in self.cells():
            if not cell.on:
                raise ValueError(f"Expected a split for {cell.key}, got none")
            if cell.column.needs_answers == (cell.kind == QUESTIONS):
                wanted = ", ".join((SHARE, UNIQUE, KNOWN)) if cell.kind == QUESTIONS else "a metric of answers"
                raise ValueError(f"Expected {wanted} for {cell.key}, got {cell.column.metric}")
        return self

    def key(self, row: TableRow, column: TableColumn) -> str:
        return f"{self.name}/{row.name}/{column.name}"

    def cells(self) -> Iterator[FindingCell]:
        for row, column in itertools.product(self.rows, self.columns):
            yield FindingCell(self.key(row, column), row, column)

    def paper_figure(self, row: TableRow, at: int) -> float | None:
        figures = self.paper.get(row.name)
        return None if figures is None else figures[at]

    def paper_figures(self) -> dict[str, float]:
        """Return the figures of the paper by the names of their cells, without those that it does not print."""
        found = {
            self.key(row, column): self.paper_figure(row, at)
            for row, (at, column) in itertools.product(self.rows, enumerate(self.columns))
        }
        return {key: figure for key, figure in found.items() if figure is not None}


class NeededPlace(Frozen):
    # The table has lines over numbers of examples.
    at: float
    label: str
    table: Name


class NeededExamples(Frozen):
    """A diagram of the paper that shows how many examples methods need for a target accuracy.

    Attributes
    ----------
    name, title, source : str
    note : str
    axis : str
        The title of the axis.
    targets : tuple of float
        The accuracies to reach.
    places : tuple of NeededPlace
        The places on the axis; the tables of all places have the same rows.
    sizes : tuple of str
        The sizes of the finding that have this diagram.
    """

    name: Name
    title: str
    source: str
    note: str = ""
    axis: str
    targets: tuple[float, ...] = Field(min_length=1, max_length=4)
    places: tuple[NeededPlace, ...] = Field(min_length=1)
    sizes: tuple[SizeName, ...] = SIZES


class FindingStatement(Inequality):
    """A statement of a finding, see `Inequality`.

    Attributes
    ----------
    says : str
    learned : tuple of str or None
        The figures that must be better than guesses for the statement to be tested; see `preconditions`. If it is
        None, those of the trained methods in `plus` or in `minus`.
    sizes : tuple of str
    """

    says: str
    learned: tuple[str, ...] | None = None
    sizes: tuple[SizeName, ...] = SIZES


class HeadlineBar(Frozen):
    """A bar of the chart that shows a finding's headline: the mean of some figures of the tables.

    Attributes
    ----------
    label : str
    mean_of : tuple of str
    sizes : tuple of str
    """

    label: str
    mean_of: tuple[str, ...] = Field(min_length=1)
    sizes: tuple[SizeName, ...] = SIZES


class Headline(Frozen):
    says: str  # the main claim of the paper, in one sentence
    shows: str  # what the bars are, for example `mean accuracy over the 20 tasks`
    bars: tuple[HeadlineBar, ...] = Field(min_length=2)


class Definition(Frozen):
    """A finding.

    Attributes
    ----------
    title, paper, about : str
        `paper` is the citation. `about` is what the paper found, in a few sentences.
    link : str
        The address of the paper; empty if there is none.
    headline : Headline
    tables, needed_examples, statements : tuple
    sizes : mapping of str to FindingSize
    """

    title: str
    paper: str
    link: str = ""
    about: str
    headline: Headline
    tables: tuple[FindingTable, ...] = Field(min_length=1)
    needed_examples: tuple[NeededExamples, ...] = ()
    statements: tuple[FindingStatement, ...] = Field(min_length=1)
    sizes: dict[SizeName, FindingSize] = Field(min_length=1)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _check_unique("tables", [table.name for table in self.tables])
        for size, made in self.sizes.items():
            trainings = [one.name for one in made.trainings]
            _check_unique(f"trainings of {size}", trainings)
            _check_unique(f"datasets of {size}", [one.name for one in made.datasets])
            cells = {cell.key: cell for table in self.tables_of(size) for cell in table.cells()}
            for one in made.trainings:
                for split in (one.train, one.val, *one.tests):
                    _check_dataset(split, made, where=f"training {one.name} of {size}")
            for cell in cells.values():
                _check_dataset(cell.on, made, where=f"{cell.key} in {size}")
                if cell.kind == GUESSES:
                    _check_dataset(cell.source, made, where=f"{cell.key} in {size}")
                if not cell.kind and cell.of not in trainings:
                    raise ValueError(f"Expected a training of {size} for {cell.key}, got {cell.of!r}")
            for statement in self.statements_of(size):
                unknown = sorted({*statement.weights, *(statement.learned or ())} - cells.keys())
                if unknown:
                    raise ValueError(f"Expected figures of the tables, got {unknown[0]!r} in {statement.says!r}")
            for bar in self.bars_of(size):
                units = {cells[name].column.unit for name in bar.mean_of if name in cells}
                if not cells.keys() >= set(bar.mean_of) or units != {PERCENT}:
                    raise ValueError(f"Expected figures in percent of the tables of {size} for {bar.label}, got others")
            for diagram in self.diagrams_of(size):
                self._check_diagram(diagram, size)
        return self

    def _check_diagram(self, diagram: NeededExamples, size: SizeName) -> None:
        tables = {table.name: table for table in self.tables_of(size) if table.chart == "lines"}
        for place in diagram.places:
            if place.table not in tables:
                raise ValueError(f"Expected a table of {size} with lines in {diagram.name}, got {place.table!r}")
        rows = [[row.label for row in tables[place.table].rows] for place in diagram.places]
        if any(some != rows[0] for some in rows):
            raise ValueError(f"Expected the same rows in all tables of {diagram.name}, got {rows}")

    def tables_of(self, size: SizeName) -> list[FindingTable]:
        return [table for table in self.tables if size in table.sizes]

    def bars_of(self, size: SizeName) -> list[HeadlineBar]:
        return [bar for bar in self.headline.bars if size in bar.sizes]

    def diagrams_of(self, size: SizeName) -> list[NeededExamples]:
        return [one for one in self.needed_examples if size in one.sizes]

    def statements_of(self, size: SizeName) -> list[FindingStatement]:
        return [one for one in self.statements if size in one.sizes]

    def digest(self, size: SizeName) -> str:
        """Return the SHA-256 of all that decides what a record of this size contains. Texts for readers do not."""
        made = self.sizes[size].model_dump(mode="json", exclude={"about"})
        cells = [
            [cell.key, cell.of, cell.on, cell.column.slice, cell.column.metric, *(cell.column.words or ())]
            for table in self.tables_of(size)
            for cell in table.cells()
        ]
        statements = [
            one.model_dump(mode="json", exclude={"says", "sizes", "learned"}) for one in self.statements_of(size)
        ]
        return digest({"made": made, "cells": cells, "statements": statements})


def _check_unique(what: str, names: Sequence[str]) -> None:
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ValueError(f"Expected {what} with different names, got {repeated!r} twice")


def _check_dataset(split: str, made: FindingSize, *, where: str) -> None:
    known = [one.name for one in made.datasets]
    if split.partition("/")[0] not in known:
        raise ValueError(f"Expected a split of {', '.join(known)}, got {split!r} ({where})")


def command_of(name: str, size: SizeName) -> str:
    return f"python manage.py finding {name} --size {size}"


# Reading


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


@cache
def load(name: str) -> Definition:
    if name not in names():
        raise BadFinding(f"Expected one of {', '.join(names()) or 'none yet'}, got {name!r}.", where="finding")
    return read_definition(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")), where=name)


def read_definition(data: Mapping[str, Any], *, where: str = "") -> Definition:
    lists = data.get("lists", {})
    return read(Definition, expand({name: one for name, one in data.items() if name != "lists"}, lists), where=where)


def expand(data: Any, lists: Mapping[str, Sequence[Any]] = NO_LISTS) -> Any:
    """Return JSON data in which each object with `each` is replaced by the objects for which it stands."""
    if isinstance(data, list):
        return [one for entry in data for one in _expand_entry(entry, lists)]
    if isinstance(data, Mapping):
        return {key: expand(value, lists) for key, value in data.items()}
    return data


def _expand_entry(entry: Any, lists: Mapping[str, Sequence[Any]]) -> Iterable[Any]:
    if not (isinstance(entry, Mapping) and "each" in entry):
        return [expand(entry, lists)]
    rest = {key: value for key, value in entry.items() if key != "each"}
    values = [lists[one] if isinstance(one, str) else one for one in entry["each"].values()]
    every = [dict(zip(entry["each"], some, strict=True)) for some in itertools.product(*values)]
    found = [_fill_in(rest, some) for some in every]
    return [expand(one["value"] if one.keys() == {"value"} else one, lists) for one in found]


def _fill_in(data: Any, values: Mapping[str, Any]) -> Any:
    """Return JSON data with the values in place of their names; a text with nothing but a name becomes the value."""
    if isinstance(data, list):
        return [_fill_in(one, values) for one in data]
    if isinstance(data, Mapping):
        return {_fill_in(key, values): _fill_in(value, values) for key, value in data.items()}
    if not isinstance(data, str):
        return data
    whole = re.fullmatch(r"\{(\w+)\}", data)
    if whole and whole[1] in values:
        return values[whole[1]]
    return re.sub(r"\{(\w+)\}", lambda found: str(values.get(found[1], found[0])), data)
