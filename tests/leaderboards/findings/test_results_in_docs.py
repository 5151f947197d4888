"""The results that `/docs/findings/` states are those of the records in the repository."""

import re
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from webapp.leaderboards.findings import records
from webapp.leaderboards.findings.definitions import load, names
from webapp.leaderboards.findings.records import FindingRecord

FOLDER = records.FOLDER  # other tests of this folder replace it
PAGE = Path(__file__).parents[3] / "webapp/docs/findings.md"
RUNS = re.findall(r"^\| \[([a-z-]+)\].* \| (\w+) \| (.*) \| ([0-9,]+) seconds \|$", PAGE.read_text(), re.MULTILINE)
FIGURES = re.findall(r"^\| ([a-z-]+) \| [^|]+ \| ([0-9]+) \| ([0-9]+) \| `([^`]+)` \|$", PAGE.read_text(), re.MULTILINE)


def record_of(name: str) -> FindingRecord:
    found = records.read_record(records.path_of(name, "mini", folder=FOLDER))
    assert found is not None
    return found


def mean_of(key: str, figures: dict[str, float]) -> float:
    """Return a figure, or the mean of a row of figures."""
    return fmean(figure for name, figure in figures.items() if key in (name, name.rpartition("/")[0]))


def test_the_page_has_the_runs_of_all_findings_and_figures_of_those_whose_papers_print_some() -> None:
    assert [name for name, *_ in RUNS] == names()
    assert {name for name, *_ in FIGURES} == {name for name in names() if paper_of(name)}


@pytest.mark.parametrize(("name", "size", "outcomes", "seconds"), RUNS)
def test_outcomes_and_seconds_are_those_of_the_record(name: str, size: str, outcomes: str, seconds: str) -> None:
    record = record_of(name)
    counts = Counter(one.outcome.value for one in record.statements)
    held, failed, undecided = counts["held"], counts["not held"], counts["undecided"]
    assert size == record.size
    assert outcomes == f"{held} held, {failed} did not hold, {undecided} {'is' if undecided == 1 else 'are'} undecided"
    assert seconds == f"{record.seconds:,.0f}"
    assert record.definition == load(name).digest(record.size)


@pytest.mark.parametrize(("name", "paper", "here", "key"), FIGURES)
def test_figures_are_those_of_the_paper_and_of_the_record(name: str, paper: str, here: str, key: str) -> None:
    figures = {key: one.value for key, one in record_of(name).figures.items()}
    assert [paper, here] == [f"{100 * mean_of(key, some):.0f}" for some in (paper_of(name), figures)]


def paper_of(name: str) -> dict[str, Any]:
    return {key: one for table in load(name).tables_of("mini") for key, one in table.paper_figures().items()}
