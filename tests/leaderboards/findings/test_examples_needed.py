"""Diagrams of the examples that methods need for a target: the smallest number that reaches it."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.errors import BadSpec
from tests.leaderboards.findings.made_findings import SMALL, record_of, small_definition
from webapp.leaderboards.findings import examples_needed, records
from webapp.leaderboards.findings.definitions import Definition, load
from webapp.leaderboards.findings.records import RecordedFigure

NUMBERS = (100, 1000, 10_000)
ROWS = SMALL["tables"][0]["rows"][:2]


def lines_table(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    columns = [{"name": f"n{number}", "label": str(number), "on": "shapes/test", "at": number} for number in NUMBERS]
    return {"name": name, "title": name, "source": "figure 1", "chart": "lines", "rows": rows, "columns": columns}


def definition_with(places: list[dict[str, Any]], *, others: list[dict[str, Any]] = ROWS) -> Definition:
    diagram = {
        "name": "needed",
        "title": "Examples",
        "source": "figure 2",
        "axis": "kinds",
        "targets": [0.5, 0.9],
        "places": places,
    }
    tables = [*SMALL["tables"], lines_table("few", ROWS), lines_table("many", others)]
    return small_definition(tables=tables, needed_examples=[diagram])


PLACES = [{"at": 5, "label": "5 kinds", "table": "few"}, {"at": 15, "label": "15 kinds", "table": "many"}]
SHARES = st.floats(0, 1)


def recorded(values: dict[str, float]) -> dict[str, RecordedFigure]:
    return {name: RecordedFigure(value=one, low=one, high=one, n=9, runs=(one,)) for name, one in values.items()}


@given(st.lists(SHARES, min_size=12, max_size=12))
def test_the_smallest_number_that_reaches_the_target_is_shown(values: list[float]) -> None:
    definition = definition_with(PLACES)
    [diagram] = definition.needed_examples
    names = [cell.key for table in definition.tables[1:] for cell in table.cells()]
    given_values = dict(zip(names, values, strict=True))
    lines = examples_needed.lines_of(diagram, definition, recorded(given_values))
    assert [(line.label, line.target) for line in lines] == [
        (row["label"], target) for target in (0.5, 0.9) for row in ROWS
    ]
    for line in lines:
        row = next(row["name"] for row in ROWS if row["label"] == line.label)
        for table, needed, text in zip(("few", "many"), line.needed, line.texts, strict=True):
            reached = [number for number in NUMBERS if given_values[f"{table}/{row}/n{number}"] >= line.target]
            assert needed == (reached[0] if reached else None)
            assert text == (f"{reached[0]:,}" if reached else "more than 10,000")
    spec = examples_needed.spec_of(diagram, lines)
    points = [one for line in lines for one in line.needed if one is not None]
    assert (spec is None) == (not points)
    if spec is not None:
        assert [one["needed"] for one in spec["data"]["values"]] == points


def test_a_diagram_without_all_figures_has_no_lines() -> None:
    definition = definition_with(PLACES)
    assert examples_needed.lines_of(definition.needed_examples[0], definition, {}) == []


@pytest.mark.parametrize(
    ("places", "others", "message"),
    [
        ([{"at": 5, "label": "5 kinds", "table": "all"}], ROWS, "with lines in needed, got 'all'"),
        ([{"at": 5, "label": "5 kinds", "table": "none"}], ROWS, "with lines in needed, got 'none'"),
        (PLACES, ROWS[:1], "the same rows in all tables"),
    ],
)
def test_a_wrong_diagram_is_one_message(
    places: list[dict[str, Any]], others: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(BadSpec, match=message):
        definition_with(places, others=others)


@pytest.mark.django_db
def test_the_page_shows_the_diagram_only_with_a_record(client: Client, own_records: Path) -> None:
    name = "simtown-sample-complexity"
    address, definition = f"/findings/{name}/?size=mini", load(name)
    [diagram] = definition.diagrams_of("mini")
    page = client.get(address).content.decode()
    assert "This diagram has no figures yet" in page
    records.write(record_of(name, "mini", definition), folder=own_records)
    page = client.get(address).content.decode()
    assert "This diagram has no figures yet" not in page
    section = page.partition(f'<h2 id="diagram-{diagram.name}">')[2].partition("</details>")[0]
    assert section.count('<th scope="row">') == len(diagram.targets) * 2
    assert section.count("more than 10,000") == len(diagram.targets) * 2 * 2, "all figures of the record are 0.5"
