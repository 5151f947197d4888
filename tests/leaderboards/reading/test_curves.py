"""Curves: the training size that each task of a board needs, and a curve for each series of a view."""

import csv
import io
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.scoring.counts.metrics import METRICS
from generation.engine.scoring.figures import Averaged
from generation.engine.worlds.breakdowns import BoardView, Series, Tasks
from generation.models import Split
from generation.reports.scoring import truth_of
from generation.storage.split_index import SplitIndex
from tests.leaderboards.reading.conftest import noisy
from tests.leaderboards.reading.rows import method, submit
from webapp.leaderboards.analysis.charts.learning_curves_chart import left_out, spec_of
from webapp.leaderboards.analysis.learning_curves import (
    TRAIN_SIZE,
    CurvePoint,
    FigureCurve,
    FigurePoint,
    Run,
    curves,
    metric_cell,
    reached,
    reached_between,
)
from webapp.leaderboards.analysis.slices import SliceCell
from webapp.leaderboards.metrics import MetricFigure
from webapp.models import User

pytestmark = pytest.mark.usefixtures("undrawn")
BOARD = "/leaderboards/read/val/"
SIZES = {100: 0.9, 700: 0.5, 3000: 0.0}
ZERO, MORE = Series("no relation", {"spatial": ("0",)}), Series("one or more", {"spatial": ("1", "2", "3")})


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("owner", "owner@example.org", "x")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show shares of single questions too."""
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 1)


@pytest.fixture
def tasks(val: Split, monkeypatch: pytest.MonkeyPatch) -> Tasks:
    """Make each question type a task."""
    found = Tasks("type", "task", Fraction(95, 100))
    monkeypatch.setattr(type(val.dataset.get_world()), "tasks", found, raising=False)
    return found


@pytest.fixture
def learner(val: Split, owner: User) -> dict[int, np.ndarray]:
    """Submit runs of a method with three training sizes; return its predictions by size."""
    made, index, found = method(owner, "Learner"), SplitIndex.open(val), {}
    for size, wrong in SIZES.items():
        found[size] = noisy(index, wrong, seed=size)
        submit(made, val, found[size], train_size=size, examples_seen=2 * size)
    return found


def shares_by_type(val: Split, codes: np.ndarray) -> dict[str, Fraction]:
    """Return the share of right answers of each type that has questions."""
    index = SplitIndex.open(val)
    facet, right = index.facets["type"], codes == truth_of(index)
    inside = {value: facet.codes == at for at, value in enumerate(facet.values)}
    return {value: Fraction(int(right[mine].sum()), int(mine.sum())) for value, mine in inside.items() if mine.any()}


def get_json(client: Client, address: str) -> Any:
    response = client.get(address)
    assert response.status_code == 200, response.content[:500]
    return json.loads(response.content)


@pytest.mark.usefixtures("small", "tasks")
def test_a_board_of_tasks_shows_their_mean_and_the_number_of_failed_ones(val, learner, client) -> None:
    rows = get_json(client, f"{BOARD}board.json?show=each")["rows"]
    for row, codes in zip(rows, sorted(learner.values(), key=lambda codes: -(codes == truth(val)).sum()), strict=True):
        shares = shares_by_type(val, codes).values()
        mean = round(float(sum(shares) / len(shares)), 6)
        assert row["tasks"] == {"of": len(shares), "mean": mean, "failed": sum(one < 0.95 for one in shares)}
    page = client.get(f"{BOARD}?sort=tasks-failed").content.decode()
    assert "Tasks under 95 %" in page and "is the mean accuracy over tasks" in page
    lines = list(csv.DictReader(io.StringIO(client.get(f"{BOARD}board.csv").content.decode())))
    assert [line["tasks_failed"] for line in lines] == ["0"]
    assert " & Failed & " in client.get(f"{BOARD}board.tex").content.decode()
    assert get_json(client, "/api/v1/boards/read/val/")["passed_at"] == 0.95


def label_of(val: Split, kind: str) -> str:
    """Return the label of the board's column of a type."""
    columns = val.dataset.get_world().columns(val.read_spec())
    return next(column.label for column in columns if (column.facet, column.value) == ("type", kind))


def truth(val: Split) -> np.ndarray:
    return truth_of(SplitIndex.open(val))


@pytest.mark.usefixtures("small", "tasks")
@pytest.mark.parametrize("by", ["tasks-mean", "tasks-failed"])
def test_rows_can_be_sorted_by_their_figures_over_tasks(val, owner, learner, client, by) -> None:
    submit(method(owner, "Guess"), val, noisy(SplitIndex.open(val), 0.8, seed=9))
    rows = get_json(client, f"{BOARD}board.json?show=each&sort={by}")["rows"]
    worth = [row["tasks"]["mean"] if by == "tasks-mean" else -row["tasks"]["failed"] for row in rows]
    assert len(rows) == 4 and worth == sorted(worth, reverse=True)


def test_a_board_without_tasks_has_no_figures_over_tasks(val, learner, client) -> None:
    [row] = get_json(client, f"{BOARD}board.json")["rows"]
    assert row["tasks"] is None and "tasks_mean" not in client.get(f"{BOARD}board.csv").content.decode()
    assert client.get(f"{BOARD}?sort=tasks-mean").status_code == 400


@pytest.mark.usefixtures("small", "tasks")
def test_each_task_is_passed_with_the_smallest_size_that_reaches_the_target(val, learner, client) -> None:
    by_size = {size: shares_by_type(val, codes) for size, codes in learner.items()}
    page = client.get(f"{BOARD}curves/")
    [curve] = get_json(client, "/api/v1/boards/read/val/curves/")["curves"]
    data = get_json(client, f"{BOARD}curves/reached.json")
    assert (page.context["target"], data["target"]) == ("95", 95.0)
    told = {row["column"]: row["curves"]["Learner"] for row in data["rows"]}
    failed = 0
    for task in by_size[100]:
        enough = [size for size, shares in by_size.items() if shares[task] >= 0.95]
        highest = round(float(max(shares[task] for shares in by_size.values())), 6)
        assert told[label_of(val, task)] == {"reached": min(enough, default=None), "highest": highest}
        assert curve["columns"][label_of(val, task)] == told[label_of(val, task)]
        failed += not enough
    assert data["failed"] == {"Learner": failed}


@pytest.mark.usefixtures("small", "tasks")
def test_a_task_that_no_size_reaches_is_marked_as_failed(val, owner, client) -> None:
    submit(method(owner, "Guess"), val, np.full(SplitIndex.open(val).n, -1), train_size=50)
    said = client.get(f"{BOARD}curves/").content.decode()
    [line, *_] = list(csv.DictReader(io.StringIO(client.get(f"{BOARD}curves/reached.csv").content.decode())))
    assert "at most 0.0 %" in said and (line["Guess"], line["Guess, highest"]) == ("FAIL", "0.0")
    latex = client.get(f"{BOARD}curves/reached.tex").content.decode()
    assert r" & FAIL \\" in latex and "Tasks failed & 1" in latex


def test_columns_with_few_questions_have_no_needed_size(val, learner, client) -> None:
    [line] = [
        line
        for line in client.get(f"{BOARD}curves/").context["needed"].lines
        if line.label == label_of(val, "equal_integer")
    ]
    counts = np.bincount(SplitIndex.open(val).facets["type"].codes, minlength=20)
    assert counts[SplitIndex.open(val).facets["type"].values.index("equal_integer")] < 30
    assert line.cells == [("–", "")]


def test_each_series_of_a_view_is_a_curve(val, learner, client, monkeypatch) -> None:
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 1)
    view = BoardView("relations", "With and without", "group", "group", series=(ZERO, MORE))
    monkeypatch.setattr(type(val.dataset.get_world()), "board_views", (view,))
    index = SplitIndex.open(val)
    facet = index.facets["spatial"]
    for along, times in (("train-size", 1), ("examples-seen", 2)):
        found = get_json(client, f"/api/v1/boards/read/val/curves/?view=relations&along={along}")["curves"]
        if along == "train-size":
            assert [curve["label"] for curve in found] == ["Learner: no relation", "Learner: one or more"]
        points = {(curve["label"].rpartition(": ")[2], one["size"]): one for curve in found for one in curve["points"]}
        for series in (ZERO, MORE):
            mine = np.isin(facet.codes, [facet.values.index(value) for value in series.filters["spatial"]])
            for size, codes in learner.items():
                one = points[series.label, times * size]
                assert one["n"] == mine.sum()
                assert one["accuracy"] == round(float((codes == truth(val))[mine].mean()), 6)
    page = client.get(f"{BOARD}curves/?view=relations")
    assert page.context["needed"] is None and "slices/?view=relations&amp;entry=" in page.content.decode()
    assert client.get(f"{BOARD}curves.csv?view=relations").content.decode().count("no relation") == 3
    assert client.get(f"{BOARD}curves/reached.csv?view=relations").status_code == 400


@pytest.mark.parametrize("query", ["view=nothing", "view=types", "by=type"])
def test_a_view_without_series_has_no_curves(val, learner, client, query) -> None:
    assert client.get(f"{BOARD}curves/?{query}").status_code in (400, 404)


def test_a_board_without_metrics_has_curves_of_the_accuracy_alone(val, learner, client) -> None:
    assert 'name="metric"' not in client.get(f"{BOARD}curves/").content.decode()
    refused = client.get(f"{BOARD}curves/?metric=rmse")
    assert refused.status_code == 404 and "none but the accuracy" in refused.content.decode()


def test_the_accuracies_of_curves_are_files_too(val, learner, client) -> None:
    data, found = get_json(client, f"{BOARD}curves.json"), get_json(client, "/api/v1/boards/read/val/curves/")
    assert (data["metric"], data["is_better"]) == (found["metric"], found["is_better"]) == ("accuracy", "higher")
    [curve] = found["curves"]
    assert data["points"] == [{"curve": "Learner", **one} for one in curve["points"]]
    latex = client.get(f"{BOARD}curves.tex").content.decode()
    assert "Curve & Training examples & Accuracy & " in latex and r"Learner & 3,000 & 100.0 \% & " in latex
    assert client.get(f"{BOARD}curves.csv").content.startswith(b"curve,size,n,runs,accuracy,low,high,deviation")


def test_curves_without_a_submission_that_has_a_size_are_explained(val, owner, client) -> None:
    submit(method(owner, "Sizeless"), val, truth(val))
    assert "No curve yet" in client.get(f"{BOARD}curves/").content.decode()
    assert client.get(f"{BOARD}curves.svg").status_code == 404


def test_a_chart_of_errors_has_no_target_and_says_that_lower_is_better() -> None:
    figures = (None, MetricFigure(40, 1, 0.8, 0.7, 0.9))
    cells = [metric_cell(METRICS["rmse"], one, "/there/") for one in figures]
    found = [FigureCurve(f"Net {at}", [FigurePoint(10, cells[at > 5])]) for at in range(8)]
    spec = spec_of(found, axis="training examples", target=None, is_paper=True, title="a/val", metric=METRICS["rmse"])
    assert spec is not None and [one["curve"] for one in spec["data"]["values"]] == ["Net 6", "Net 7"]
    assert "RMSE (lower is better)" in str(spec) and "datum" not in str(spec)
    assert spec["title"]["text"][0].startswith("RMSE over training examples")
    assert (left_out(found), left_out(found[6:] * 3)) == ("", "The chart shows the first 5 of 6 curves.")


def test_curves_of_withheld_answers_are_refused(withheld, owner, client) -> None:
    submit(method(owner, "Mine"), withheld, noisy(SplitIndex.open(withheld), 0.3, seed=1), train_size=10)
    for address in ("/api/v1/boards/read/test/curves/", "/leaderboards/read/test/curves/"):
        assert client.get(address).status_code == 403
    for name in ("curves.csv", "curves.svg", "curves/reached.csv", "curves/reached.tex"):
        assert client.get(f"/leaderboards/read/test/{name}").status_code == 403


@pytest.mark.parametrize(
    ("others", "told"), [(("a/train",), "Net 0"), (("a/train", "b/train"), "Net 0, trained on a/train")]
)
def test_a_chart_names_a_shared_training_split_once(others: tuple[str, ...], told: str) -> None:
    runs = [Run(f"Net {at}", at, source, 10, None, Averaged(40, (30,))) for at, source in enumerate(others * 3)]
    found = curves(runs, along=TRAIN_SIZE, target=Fraction(1, 2))
    spec = spec_of(found, axis="training examples", target=0.5, is_paper=True, title="a/val")
    assert spec is not None and spec["data"]["values"][0]["curve"] == told
    assert ("All trained on a/train." in str(spec["title"])) == (len(others) == 1)
    assert left_out(found) == ("" if len(found) <= 5 else f"The chart shows the first 5 of {len(found)} curves.")


def test_methods_of_two_accounts_with_the_same_name_are_two_curves() -> None:
    runs = [
        Run("Net", 1, "a/train", size, None, Averaged(40, (30,)), method=key) for key in (4, 9) for size in (10, 20)
    ]
    found = curves(runs, along=TRAIN_SIZE, target=Fraction(1, 2))
    assert [(curve.label, curve.method) for curve in found] == [
        ("Net, trained on a/train", 4),
        ("Net, trained on a/train (2)", 9),
    ]
    assert [[size for size, _ in curve.points] for curve in found] == [[10, 20], [10, 20]]


@given(st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=3), max_size=6), st.fractions(0, 1))
def test_a_reached_size_lies_within_its_interval(rights: list[list[int]], target: Fraction) -> None:
    points = [CurvePoint(10 * at, SliceCell(Averaged(40, tuple(one)), "")) for at, one in enumerate(rights, 1)]
    size, (low, high) = reached(points, target).size, reached_between(points, target)
    assert (low or math.inf) <= (size or math.inf) <= (high or math.inf)
    assert size == min((one for one, cell in points if cell.averaged.exact_mean >= target), default=None)
    assert low == min((one for one, cell in points if cell.figure.high >= target), default=None)
    assert high == min((one for one, cell in points if cell.figure.low >= target), default=None)


def test_sizes_with_too_few_questions_reach_nothing() -> None:
    points = [CurvePoint(10, SliceCell(Averaged(29, (29,)), ""))]
    assert reached(points, Fraction(1, 2)) == (None, None) == reached_between(points, Fraction(1, 2))
