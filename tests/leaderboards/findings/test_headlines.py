"""The first screen of a finding's page: its headline, the chart of it, and the statements by outcome."""

import re
from pathlib import Path

import pytest
from django.test import Client
from django.utils.html import escape

from tests.leaderboards.findings.made_findings import record_of
from webapp.leaderboards.findings import pages, records
from webapp.leaderboards.findings.chart import HeadlineFigure, describe_headline, headline_spec
from webapp.leaderboards.findings.definitions import load
from webapp.leaderboards.findings.records import FindingRecord

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("undrawn")]

NAME = "clevr-diagnosis"


@pytest.fixture
def record(own_records: Path) -> FindingRecord:
    made = record_of(NAME, "mini", load(NAME))
    records.write(made, folder=own_records)
    return made


def test_a_page_begins_with_the_headline_and_the_outcomes(client: Client, record: FindingRecord) -> None:
    page, definition = client.get(f"/findings/{NAME}/").content.decode(), load(NAME)
    first, _, rest = page.partition('<h2 class="contents">')
    assert definition.headline.says in first and definition.about in first
    groups = pages.grouped(pages.statements_of(definition, "mini", record))
    assert [group.outcome for group in groups] == ["not held", "undecided", "held"]
    assert sum(len(group.statements) for group in groups) == len(definition.statements_of("mini"))
    for group in groups:
        assert f">{len(group.statements)} {group.outcome}</span>" in first
        assert all(escape(one.says) in first for one in group.statements)
    folded = re.findall(r'<details class="fold"><summary><h2 id="([a-z0-9-]+)">', rest)
    tables = [f"table-{one.name}" for one in definition.tables_of("mini")]
    assert folded == ["statements", *tables, "made", "again"]


def test_a_headline_has_the_means_of_its_figures(record: FindingRecord) -> None:
    definition = load(NAME)
    [*_, whole, comparing] = pages.headline_figures(definition, "mini", record)
    assert (whole.here, whole.low, whole.high, whole.paper) == (0.5, 0.4, 0.6, None)
    assert (comparing.here, comparing.low, comparing.high, comparing.paper) == (0.5, None, None, 0.5)
    key = "types/sa/compare-size"
    figures = record.figures | {key: record.figures[key].model_copy(update={"value": 0.7})}
    changed = pages.headline_figures(definition, "mini", record.model_copy(update={"figures": figures}))[-1]
    assert changed.here == pytest.approx(0.55)
    figures = {name: one for name, one in record.figures.items() if name != key}
    missing = record.model_copy(update={"figures": figures})
    assert pages.headline_figures(definition, "mini", missing)[-1].here is None
    assert [one.here for one in pages.headline_figures(definition, "mini", None)] == [None] * 5


def test_a_headlines_chart_has_a_bar_for_each_figure_that_is_known() -> None:
    bars = [HeadlineFigure("A", 0.5, 0.4, 0.6, 0.7), HeadlineFigure("B", None, None, None, 0.2)]
    spec = headline_spec([*bars, HeadlineFigure("C", None, None, None, None)])
    assert spec is not None
    assert [(one["place"], one.get("here"), one.get("paper")) for one in spec["data"]["values"]] == [
        ("A", 0.5, 0.7), ("B", None, 0.2),
    ]  # fmt: skip
    assert spec["data"]["values"][0]["said"] == "A: here 0.5, paper 0.7"
    assert headline_spec([HeadlineFigure("C", None, None, None, None)]) is None
    assert describe_headline(bars) == "Bars are our figures. Ticks are the figures of the paper."
    assert describe_headline(bars[1:]) == "Ticks are the figures of the paper."
    unprinted = [HeadlineFigure("A", 0.5, None, None, None)]
    assert describe_headline(unprinted) == "Bars are our figures. The paper draws these figures without numbers."
