"""Slices: each cell is compared with counting the questions that its address finds."""

import statistics
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from generation.access import may_see_exact_figures
from generation.engine.scoring.score import NONE
from generation.reports.scoring import truth_of
from generation.splits.query_string import read_query
from generation.storage.split_index import SplitIndex
from tests.leaderboards.reading.conftest import contenders
from webapp.leaderboards.analysis.slices import BadBands, SliceContext, by_one, by_two, by_view, partition, read_bands
from webapp.leaderboards.disclosure import visibility
from webapp.leaderboards.entries import Contender, asked_positions


@pytest.fixture(autouse=True)
def no_least_number(monkeypatch):
    """Show shares of few questions too."""
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 1)


@pytest.fixture
def ground(val):
    return SliceContext(SplitIndex.open(val), val.get_absolute_url())


def found_at(index, address):
    """Return the positions of the questions that the browse page shows at an address."""
    query = read_query(parse_qsl(urlsplit(address).query), facets=list(index.facets.values()))
    return index.select(query.filters, query.each_word).tolist()


def count_right(index, runs, positions):
    """Return how many of these questions each run has right, counted one by one."""
    truth = truth_of(index).tolist()
    return tuple(sum(int(run[at]) >= 0 and int(run[at]) == truth[at] for at in positions) for run in runs)


def check_cell(ground, cell, runs, asked=None):
    """Check a cell's figures against the questions behind it."""
    positions = [at for at in found_at(ground.index, cell.address) if asked is None or asked[at]]
    rights = count_right(ground.index, runs, positions)
    assert (cell.n, cell.averaged.rights) == (len(positions), rights)
    shares = [right / len(positions) for right in rights]
    assert cell.mean == pytest.approx(statistics.mean(shares))
    assert cell.figure.deviation == (pytest.approx(statistics.stdev(shares)) if len(shares) > 1 else None)


def check_cells(ground, panel, runs_of, asked=None):
    cells = 0
    for row in panel.rows:
        for column, cell in zip(panel.columns, row.cells, strict=True):
            if cell.n:
                check_cell(ground, cell, runs_of(column), asked)
                cells += 1
    assert cells
    return cells


def test_each_facet_is_equal_to_counting_its_questions(ground):
    rivals = contenders(ground.index)
    runs = {one.label: one.runs for one in rivals}
    for facet in ground.index.facets.values():
        [panel] = by_one(ground, rivals, partition(facet))
        check_cells(ground, panel, runs.__getitem__)
        assert panel.whole.cells[0].n == ground.index.n
        assert sum(row.cells[0].n for row in panel.rows) <= ground.index.n


def test_bands_are_equal_to_counting_their_questions(ground):
    rivals = contenders(ground.index)
    [panel] = by_one(ground, rivals, partition(ground.index.facets["length"], read_bands("2..5, 6, 7–30")))
    check_cells(ground, panel, {one.label: one.runs for one in rivals}.__getitem__)
    assert {row.value for row in panel.rows} <= {"2..5", "6", "7..30"}


def test_two_crossed_facets_are_equal_to_counting(ground):
    rivals = contenders(ground.index)
    one, two = (partition(ground.index.facets[name]) for name in ("type", "spatial"))
    panels = by_two(ground, rivals, one, two)
    assert len(panels) == len(rivals)
    for panel, rival in zip(panels, rivals, strict=True):
        check_cells(ground, panel, lambda column, runs=rival.runs: runs)
        assert sum(cell.n for row in panel.rows for cell in row.cells) == ground.index.n


def test_each_view_is_equal_to_counting(ground, val):
    rivals = contenders(ground.index)
    runs = {one.label: one.runs for one in rivals}
    views = val.dataset.get_world().board_views
    cells = 0
    for view in views:
        for panel in by_view(ground, rivals, view):
            if panel.rows:
                cells += check_cells(ground, panel, runs.__getitem__)
        for panel in by_view(ground, rivals[:1], view):
            if panel.rows:
                check_cells(ground, panel, lambda column: rivals[0].runs)
                assert len(panel.columns) == max(1, len(view.series))
    assert cells > 40


def test_a_comparison_with_people_uses_only_the_questions_that_people_were_asked(ground):
    index = ground.index
    asked = np.arange(index.n) % 3 == 0
    people = Contender("h1", "People", [np.where(asked, truth_of(index), NONE)], is_human=True)
    rivals = [people, *contenders(index)]
    among = asked_positions(rivals)
    assert np.array_equal(among, asked)
    with_people = SliceContext(index, ground.address, among)
    [panel] = by_one(with_people, rivals, partition(index.facets["type"]))
    check_cells(with_people, panel, {one.label: one.runs for one in rivals}.__getitem__, asked)
    assert panel.whole.cells[0].text == "100.0 %"
    assert {cell.n for cell in panel.whole.cells} == {int(asked.sum())}


def test_cells_with_too_few_questions_have_no_share(ground, monkeypatch):
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 30)
    [panel] = by_one(ground, contenders(ground.index), partition(ground.index.facets["type"]))
    small = next(row.cells[0] for row in panel.rows if row.cells[0].n < 30)
    assert small.text == f"too few (n = {small.n})"
    assert (small.mean, small.beside) == (None, "")


@pytest.mark.parametrize(
    "text", ["", "a", "5..2", "1..4, 4..6", "1...4", "..", "-1..3", "٣..٥x", ",".join("12345" * 30)]
)
def test_bad_bands_are_refused(text):
    with pytest.raises(BadBands, match="Expected"):
        read_bands(text)


def test_strangers_get_no_facets_and_views_of_withheld_answers(withheld, django_user_model):
    from django.contrib.auth.models import AnonymousUser

    index = SplitIndex.open(withheld)
    stranger, staff = AnonymousUser(), django_user_model(is_staff=True)
    assert visibility.facets_for(stranger, withheld, index) == visibility.views_for(stranger, withheld, index) == []
    assert any(facet.reveals for facet in visibility.facets_for(staff, withheld, index))
    assert visibility.views_for(staff, withheld, index)
    assert not may_see_exact_figures(stranger, withheld)
    assert may_see_exact_figures(staff, withheld)


@pytest.mark.slow
def test_panels_are_drawn_for_page_and_paper(ground, val):
    from fractions import Fraction

    from generation.charts.drawing import DrawingOrder, drawings
    from generation.charts.vega import OF_PAPER, OF_THE_PAGE
    from generation.engine.scoring.figures import Averaged
    from webapp.leaderboards.analysis.charts import learning_curves_chart, slice_panels_chart
    from webapp.leaderboards.analysis.learning_curves import TRAIN_SIZE, Run, curves

    rivals = contenders(ground.index)
    [listed] = by_one(ground, rivals, partition(ground.index.facets["type"]))
    [along] = by_one(ground, rivals, partition(ground.index.facets["length"]))
    sizes = ((10, 20), (4000, 80))
    runs = [Run("Learner", None, "", size, None, Averaged(100, (right,)), "/here/") for size, right in sizes]
    learned = curves(runs, along=TRAIN_SIZE, target=Fraction(1, 2))
    specs = [slice_panels_chart.spec_of(one, colors=OF_THE_PAGE) for one in (listed, along)]
    specs.append(learning_curves_chart.spec_of(learned, axis="training examples", target=0.5, is_paper=False))
    pages = drawings("drawn", [DrawingOrder(spec) for spec in specs])
    for spec, drawing in zip(specs, pages, strict=True):
        assert drawing is not None and drawing.startswith(b"<svg")
        said = {value["said"] for value in spec["data"]["values"]}
        missing = [text for text in said if text.encode() not in drawing]
        assert missing == [], drawing[:3000]
    assert b'href="/datasets/read/val/?type=count"' in pages[0]
    for kind, start in (("svg", b"<svg"), ("pdf", b"%PDF")):
        spec = slice_panels_chart.spec_of(along, colors=OF_PAPER, title="read/val")
        [drawing] = drawings("drawn", [DrawingOrder(spec, kind=kind, site="https://example.org")])
        assert drawing is not None and drawing.startswith(start)
