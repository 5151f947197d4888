"""The results that `/docs/findings/` states are those of the records in the repository."""

import re
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from generation.engine.learners.base import SizeName
from generation.engine.scoring.statements import StatementOutcome
from webapp.leaderboards.findings import records
from webapp.leaderboards.findings.definitions import SIZES, load, names
from webapp.leaderboards.findings.pages import judged_statements
from webapp.leaderboards.findings.records import FindingRecord

FOLDER = records.FOLDER  # other tests of this folder replace it
PAGE = Path(__file__).parents[3] / "webapp/docs/findings.md"
RUNS = re.findall(r"^\| \[([a-z-]+)\].* \| (\w+) \| (.*) \| ([0-9,]+) seconds \|$", PAGE.read_text(), re.MULTILINE)
FIGURES = re.findall(r"^\| ([a-z-]+) \| [^|]+ \| ([0-9]+) \| ([0-9]+) \| `([^`]+)` \|$", PAGE.read_text(), re.MULTILINE)


def record_of(name: str, size: SizeName = "mini") -> FindingRecord:
    found = records.read_record(records.path_of(name, size, folder=FOLDER))
    assert found is not None
    return found


def mean_of(key: str, figures: dict[str, float]) -> float:
    """Return a figure, or the mean of a row of figures."""
    return fmean(figure for name, figure in figures.items() if key in (name, name.rpartition("/")[0]))


def test_the_page_has_all_records_and_figures_of_the_findings_whose_papers_print_some() -> None:
    runs = [(name, size) for name, size, *_ in RUNS]
    assert runs == [
        (name, size) for name in names() for size in SIZES if records.path_of(name, size, folder=FOLDER).exists()
    ]
    assert [name for name, size in runs if size == "mini"] == names()
    assert {name for name, *_ in FIGURES} == {name for name in names() if paper_of(name)}


@pytest.mark.parametrize(("name", "size", "outcomes", "seconds"), RUNS)
def test_outcomes_and_seconds_are_those_of_the_record(name: str, size: SizeName, outcomes: str, seconds: str) -> None:
    record = record_of(name, size)
    counts = Counter(one.outcome for one in judged_statements(load(name), record.size, record))
    undecided, untested = counts[StatementOutcome.UNDECIDED], counts[StatementOutcome.NOT_TESTED]
    assert outcomes == (
        f"{counts[StatementOutcome.HELD]} held, {counts[StatementOutcome.NOT_HELD]} did not hold, "
        f"{undecided} {'is' if undecided == 1 else 'are'} undecided, {untested} are not tested"
    )
    assert seconds == f"{record.seconds:,.0f}"
    assert record.definition == load(name).digest(record.size)


@pytest.mark.parametrize(("name", "paper", "here", "key"), FIGURES)
def test_figures_are_those_of_the_paper_and_of_the_record(name: str, paper: str, here: str, key: str) -> None:
    figures = {key: one.value for key, one in record_of(name).figures.items()}
    assert [paper, here] == [f"{100 * mean_of(key, some):.0f}" for some in (paper_of(name), figures)]


MEANS = re.findall(
    r"(\d+) % (?:for|with) (?:the )?([\w+-]+(?: SVM)?)",
    " ".join(PAGE.read_text().partition("The means over the 20 tasks are")[2].partition(". The order")[0].split()),
)
ROWS = {
    "n-grams": "n-grams", "LSTM": "lstm", "MemNN": "memnn", "AM": "am", "AM+NG": "am-ng", "AM+NL": "am-nl",
    "AM+NG+NL": "am-ng-nl", "structured SVM": "svm",
}  # fmt: skip


def test_the_means_of_babi_are_those_of_the_record() -> None:
    figures = {key: one.value for key, one in record_of("babi-tasks").figures.items()}
    assert {name for _, name in MEANS} == set(ROWS)
    for mean, name in MEANS:
        assert mean == f"{100 * mean_of(f'tasks/{ROWS[name]}', figures):.0f}"


def paper_of(name: str) -> dict[str, Any]:
    return {key: one for table in load(name).tables_of("mini") for key, one in table.paper_figures().items()}
