"""The labels at the axes of every chart of the site: plain and different numbers in even steps."""

import itertools
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import generation
from generation.charts import drawing as charts_drawing
from generation.charts import shifted_counts, vega
from generation.charts.counts import Chart, CountCell, CountColumn, CountRow
from generation.charts.drawing import DrawingOrder, drawings
from generation.charts.vega import OF_THE_PAGE
from generation.engine.items import ChartView
from generation.engine.scoring.comparison import MethodComparison
from generation.engine.scoring.counts.metrics import METRICS
from generation.engine.scoring.figures import Averaged, Interval
from generation.reports import shortcuts_page
from generation.reports.shortcuts_page import CueScore, SplitGuesses
from tests import proof
from tests.leaderboards.findings.made_findings import record_of
from tests.leaderboards.reading.costs import table_of
from tests.leaderboards.reading.grids import make_chart
from webapp.leaderboards.analysis import slices
from webapp.leaderboards.analysis.charts import (
    costs_chart,
    differences_chart,
    learning_curves_chart,
    sample_complexity_chart,
    slice_panels_chart,
)
from webapp.leaderboards.analysis.comparison import ComparedFacet, ComparedValue
from webapp.leaderboards.analysis.learning_curves import (
    Curve,
    CurvePoint,
    FigureCurve,
    FigurePoint,
    metric_cell,
)
from webapp.leaderboards.findings import chart, examples_needed
from webapp.leaderboards.findings.definitions import load, names
from webapp.leaderboards.findings.pages import tables_of
from webapp.leaderboards.metrics import MetricFigure

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"
PLAIN = re.compile(r"[+−]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?%?")
DRAWING = {
    vega, shifted_counts, shortcuts_page, slice_panels_chart, learning_curves_chart, differences_chart,
    sample_complexity_chart, costs_chart, chart, examples_needed,
}  # fmt: skip
GRIDS = [
    ((5, 15, 31, 60), (2_000, 5_000, 10_000, 20_000, 30_000, 40_000, 60_000)),
    ((0.5, 2), (1, 1_000_000)),
    ((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), tuple(range(100, 1_100, 100))),
]
HIGHEST = (0.0008, 0.004, 0.021, 0.3, 1.0)


def shares_chart(highest: float, *, is_along: bool) -> Any:
    rows = [
        CountRow(str(at), f"value {at}", [CountCell(9, part * highest, "/there/")]) for at, part in enumerate((1, 0.4))
    ]
    return vega.spec_of(Chart(VIEW, is_along, [CountColumn("val", 90_000)], rows, []), colors=OF_THE_PAGE)


def guesses_chart(highest: float) -> Any:
    cue = CueScore("majority", "nothing", 100_000, int(highest * 100_000), highest / 2)
    return shortcuts_page.spec_of([SplitGuesses("val", "train", False, 0, [cue], [], "/there/")], colors=OF_THE_PAGE)


def panel_chart(*, is_along: bool) -> Any:
    cells = [slices.SliceCell(Averaged(100, (right,)), "/there/") for right in (12, 97)]
    rows = [slices.SliceRow(str(at), f"value {at}", [cell]) for at, cell in enumerate(cells)]
    one = slices.SlicePanel("Panel", "value", ["Mine"], slices.SliceRow("", "all", cells[:1]), rows, is_along)
    return slice_panels_chart.spec_of(one, colors=OF_THE_PAGE)


def curve_chart(*sizes: int) -> Any:
    points = [CurvePoint(size, slices.SliceCell(Averaged(100, (40 + at,)), "/there/")) for at, size in enumerate(sizes)]
    return learning_curves_chart.spec_of([Curve("Mine", points, None)], axis="examples", target=0.9, is_paper=False)


def metric_chart(name: str, *values: float) -> Any:
    cells = [
        metric_cell(METRICS[name], MetricFigure(90, 1, value, 0.9 * value, 1.1 * value), "/there/") for value in values
    ]
    curve = FigureCurve("Mine", [FigurePoint(100 * 4**at, cell) for at, cell in enumerate(cells)])
    return learning_curves_chart.spec_of([curve], axis="examples", target=None, is_paper=False, metric=METRICS[name])


def shift_chart(most: int) -> Any:
    before = [most // (number + 1) for number in range(16)]
    after = [n if number % 2 else n // 10 for number, n in enumerate(before)]
    return shifted_counts.spec_of(before, after, rare="even", colors=OF_THE_PAGE)


def chart_differences(*points: float, is_along: bool) -> Any:
    lines = []
    for at, difference in enumerate(points):
        share = difference / 100
        one = MethodComparison(
            90, 0.5 + share / 2, 0.5 - share / 2, 3, 4, Interval(share - 0.04, share + 0.04), 0.5, 0.5
        )
        lines.append(ComparedValue(f"value {at}", (("type", str(at)),), one))
    part = ComparedFacet("type", "type", lines, is_along)
    there = {str(at): "/there/" for at in range(len(points))}
    return differences_chart.spec_of(part, ("Mine", "Yours"), there, colors=OF_THE_PAGE)


def finding_charts(name: str) -> dict[str, Any]:
    """Return the charts of a finding's mini size, as if every figure were recorded."""
    definition = load(name)
    record = record_of(name, "mini", definition)
    views = tables_of(definition, "mini", record)
    charts = {
        f"{name}: {view.table.title}": chart.spec_of(view.table, record.figures, is_share=view.is_share)
        for view in views
    }
    for diagram in definition.diagrams_of("mini"):
        lines = examples_needed.lines_of(diagram.model_copy(update={"targets": (0.5,)}), definition, record.figures)
        charts[f"{name}: {diagram.title}"] = examples_needed.spec_of(diagram, lines)
    return charts


VIEW = ChartView("answers", "Answers", "answer", "answer")
SPECS = {
    **{f"shares up to {top}": shares_chart(top, is_along=False) for top in HIGHEST},
    **{f"shares along a line up to {top}": shares_chart(top, is_along=True) for top in HIGHEST},
    **{f"guesses up to {top}": guesses_chart(top) for top in HIGHEST},
    "accuracy": panel_chart(is_along=False),
    "accuracy along a line": panel_chart(is_along=True),
    **{
        f"curve over {sizes}": curve_chart(*sizes)
        for sizes in [(500, 900), (700, 12_000), (10, 1_000_000), (3, 7_000_000)]
    },
    **{
        f"{name} from {values[0]}": metric_chart(name, *values)
        for name in ("rmse", "relative_error")
        for values in [(1.9, 0.7, 0.31), (0.021, 0.004), (0.5, 0.5)]
    },
    **{f"shift of {most}": shift_chart(most) for most in (2, 7, 120, 87_289)},
    **{title: spec for name in names() for title, spec in finding_charts(name).items()},
    **{f"grid of {ks} over {sizes}": make_chart(ks, sizes) for ks, sizes in GRIDS},
    **{
        f"costs {values}": costs_chart.spec_of(table_of(values), colors=OF_THE_PAGE)
        for values in [(0.013, 0.02, 0.03), (0.0004, 0.9, 2.5), (12, 4_000, 90_000), (0, 1.5, 3)]
    },
    **{
        f"differences {points}, along a line: {is_along}": chart_differences(*points, is_along=is_along)
        for points in [(-40, 22), (-100, 100), (0.3, -0.2), (12.5, 3), (-1.5, 2)]
        for is_along in (False, True)
    },
}


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> None:
    """Keep drawings in the folder of the test, and allow more time for drawing on a busy machine."""
    monkeypatch.setattr(charts_drawing, "SECONDS", 120)
    settings.VAR_DIR = tmp_path


def labels_of(drawing: bytes, *, places: set[str]) -> Iterator[list[str]]:
    """Yield the labels of each axis that has numbers. Labels of `places` are words; long ones are cut."""
    for group in ET.fromstring(drawing).iter(f"{SVG}g"):
        if "role-axis-label" in group.get("class", ""):
            labels = ["".join(text.itertext()) for text in group.iter(f"{SVG}text")]
            words = ("value ", "nothing", *places)
            if not any(label.startswith(words) or is_cut(label, places) for label in labels):
                yield labels


def is_cut(label: str, places: set[str]) -> bool:
    return label.endswith("…") and any(place.startswith(label[:-1]) for place in places)


def number_of(label: str) -> float:
    return float(label.replace("−", "-").replace(",", "").rstrip("%"))


def drawn_now() -> list[str]:
    """Return the names of all charts, or of one of each kind if the proof is not full."""
    kinds = {(name.split()[0], "along a line" in name): name for name in SPECS}
    return list(SPECS) if proof.SHARE == 1 else list(kinds.values())


def test_number_axes_have_plain_different_numbers_in_even_steps(patient: None) -> None:
    chosen = drawn_now()
    drawn = drawings("axes", [DrawingOrder(SPECS[name]) for name in chosen])
    for name, drawing in zip(chosen, drawn, strict=True):
        assert drawing is not None, name
        values = SPECS[name].get("data", {}).get("values", [])
        axes = list(labels_of(drawing, places={value["place"] for value in values if "place" in value}))
        assert axes, name
        for labels in axes:
            assert len(labels) > 1 and all(PLAIN.fullmatch(label) for label in labels), (name, labels)
            numbers = sorted(number_of(label) for label in labels)
            steps = {round(two - one, 9) for one, two in itertools.pairwise(numbers)}
            is_logarithmic = '"log"' in json.dumps(SPECS[name]) and "%" not in labels[0]
            assert len(set(numbers)) == len(numbers) and (len(steps) == 1 or is_logarithmic), (name, labels)


def test_every_module_that_draws_is_tested_here() -> None:
    root = Path(generation.__file__).parents[1]
    found = {
        path.relative_to(root)
        for folder in ("generation", "annotations", "webapp")
        for path in (root / folder).rglob("*.py")
        if re.search(r"vega-lite/v6|frame_of\(", path.read_text())
    }
    assert found == {Path(str(module.__file__)).relative_to(root) for module in DRAWING}
