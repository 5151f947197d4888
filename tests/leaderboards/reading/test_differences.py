"""The chart of a comparison: it shows the figures of the table, and its points link to their questions."""

import json
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from generation.charts import drawing
from generation.charts.drawing import DrawingOrder, drawings
from generation.charts.vega import ELSEWHERE, OF_PAPER, OF_THE_PAGE, WIDE
from generation.models import Split
from generation.storage.split_index import SplitIndex
from tests.leaderboards.reading.conftest import contenders, noisy
from tests.leaderboards.reading.rows import method, submit
from webapp.leaderboards.analysis import slices
from webapp.leaderboards.analysis.charts import differences_chart, slice_panels_chart
from webapp.leaderboards.analysis.comparison import ComparedFacet, Sheet, lines_of, sheet
from webapp.leaderboards.analysis.slices import SliceContext, partition
from webapp.models import User

NAMES = ("Good", "Bad")
WHOLE = {"type": "type", "along": "length"}


@pytest.fixture
def compared(val: Split, monkeypatch: pytest.MonkeyPatch) -> Sheet:
    """Give the comparison of two methods by a facet with unordered values and by a facet along a line."""
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 8)
    index = SplitIndex.open(val)
    ground = SliceContext(index, val.get_absolute_url())
    first, second = contenders(index)
    return sheet(ground, first, second, [partition(index.facets[name]) for name in WHOLE.values()])


def addresses(part: ComparedFacet) -> dict[str, str]:
    return {value: f"/there/?{name}={value}" for line in part.lines for name, value in line.pairs}


def test_points_are_the_slices_of_the_table_that_are_large_enough(compared: Sheet) -> None:
    told = list(lines_of(compared))
    for part in compared.parts:
        spec = differences_chart.spec_of(part, NAMES, addresses(part), colors=OF_THE_PAGE)
        assert spec is not None
        drawn, lines = spec["data"]["values"], [one for one in told if one["facet"] == part.name]
        assert [one["row"] for one in drawn] == [one["label"] for one in lines if one["n"] >= 8]
        assert len(drawn) > 0
        for one, line in zip(drawn, [one for one in lines if one["n"] >= 8], strict=True):
            for name in ("difference", "low", "high"):
                assert one[name] == pytest.approx(100 * line[name], abs=1e-3)
            assert (one["kind"] == differences_chart.MORE) == (line["p_holm"] < 0.05)
            assert one["address"] == f"{ELSEWHERE}/there/?{part.name}={line['value']}"
    assert [part.is_along for part in compared.parts] == [False, True]
    assert any(one["n"] < 8 for one in told)


def test_only_the_first_values_are_drawn_if_there_are_too_many_and_the_page_says_so(compared: Sheet) -> None:
    line = next(line for line in compared.parts[0].lines if not line.is_too_small)
    many = compared.parts[0]._replace(lines=[line] * (differences_chart.MOST_BARS + 1))
    assert len(differences_chart.charted_values(many)) == differences_chart.MOST_BARS
    assert differences_chart.left_out(many) == "The chart shows the first 40 of 41 values."
    assert differences_chart.left_out(compared.parts[0]) == ""
    none = compared.parts[0]._replace(lines=[])
    assert differences_chart.spec_of(none, NAMES, {}, colors=OF_THE_PAGE) is None


@pytest.mark.slow
def test_a_map_of_two_facets_is_drawn_with_every_cell(val: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 5)
    index = SplitIndex.open(val)
    two = [partition(index.facets[name]) for name in ("type", "group")]
    [panel] = slices.by_two(SliceContext(index, "/there/"), contenders(index)[1:], *two)
    spec = slice_panels_chart.spec_of(panel, colors=OF_PAPER, title="read/val")
    [svg] = drawings("drawn", [DrawingOrder(spec or {}, kind="svg", site="https://example.org")])
    assert svg is not None
    told = [cell for row in panel.rows for cell in row.cells if cell.mean is not None]
    assert len(told) > 3 and svg.count(b"<a ") == len(told)
    assert all(f">{100 * (cell.mean or 0):.0f}%<".encode() in svg for cell in told)


@pytest.mark.slow
def test_the_chart_is_drawn_for_page_and_paper(compared: Sheet) -> None:
    specs, orders = [], []
    for part in compared.parts:
        spec = differences_chart.spec_of(part, NAMES, addresses(part), colors=OF_THE_PAGE)
        paper = differences_chart.spec_of(part, NAMES, addresses(part), colors=OF_PAPER, title="read/val")
        assert spec is not None and paper is not None
        specs.append(spec)
        orders.append(DrawingOrder(spec))
        orders.extend(DrawingOrder(paper, kind=kind, site="https://example.org") for kind in ("svg", "pdf"))
    drawn = drawings("drawn", orders)
    for at, spec in enumerate(specs):
        page, svg, pdf = drawn[3 * at : 3 * at + 3]
        assert page is not None and svg is not None and pdf is not None
        for one in spec["data"]["values"]:
            assert one["said"].encode() in page
            assert f'href="{one["address"].removeprefix(ELSEWHERE)}"'.encode() in page
        assert b"Good minus Bad, by" in svg and pdf.startswith(b"%PDF")


def test_each_point_of_the_page_links_to_the_questions_that_it_counts(
    val: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders: list[DrawingOrder] = []

    def keep(asked: list[DrawingOrder]) -> dict[str, bytes]:
        orders.extend(asked)
        return {order.digest: b"<svg/>" for order in asked}

    monkeypatch.setattr(drawing, "_drawn", keep)
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 5)
    owner = User.objects.create_user("owner", "owner@example.org", "x")
    rows = [submit(method(owner, name), val, noisy(SplitIndex.open(val), 0.4, seed=len(name))) for name in NAMES]
    chosen = "&".join(f"entry=m{row.method_id}" for row in rows)
    page = Client().get(f"{reverse('board_compare', args=['read', 'val'])}?{chosen}&by=type")
    assert page.context["part"].name == "type"
    wide, order = orders
    assert wide.spec == {**order.spec, "width": WIDE}
    for one in order.spec["data"]["values"][::3]:
        address = urlsplit(one["address"].removeprefix(ELSEWHERE))
        found = Client().get(f"{address.path}?{address.query}").context
        assert found["page"].paginator.count == int(one["said"].rpartition("n = ")[2])
        assert [row.label for row in found["contenders"]] == list(NAMES)
    file = reverse("board_compare_file", args=["read", "val", "svg"])
    assert Client().get(f"{file}?{chosen}&by=type").content == b"<svg/>"
    assert json.dumps(orders[1].spec).count(ELSEWHERE) == json.dumps(order.spec).count(ELSEWHERE)
    for query, status in (("by=nothing", 404), ("by=%00", 404)):
        assert Client().get(f"{file}?{chosen}&{query}").status_code == status
    assert Client().get(f"{file.replace('.svg', '.exe')}?{chosen}").status_code == 404
    assert Client().get(f"{file}?entry=m{rows[0].method_id}").status_code == 400
