"""Charts of grids: the places of points and lines, and their look if a target is not reached."""

import itertools
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.scoring.sample_complexity import SizeInterval
from tests.leaderboards.reading.grids import make_chart, needed_size
from webapp.leaderboards.analysis.charts.sample_complexity_chart import DRAWN, ChartLine, LogAxis, describe, spec_of
from webapp.leaderboards.analysis.learning_curves import ReachedTarget
from webapp.leaderboards.analysis.sample_complexity import Grid, NeededSize
from webapp.leaderboards.models import Suite, SuiteMember

KS, SIZES = (5.0, 15.0, 31.0, 60.0), (2_000, 10_000, 60_000)
REACHED = st.lists(st.sampled_from((*SIZES, None)), min_size=len(KS), max_size=len(KS))


def layers_of(spec: Any, kind: str, **looks: Any) -> list[dict[str, Any]]:
    """Return the data of the layers with this kind of mark and these looks."""
    layers = [one for one in spec["layer"] if one["mark"]["type"] == kind]
    found = [one for one in layers if all(one["mark"].get(name) == value for name, value in looks.items())]
    return [value for one in found for value in one["data"]["values"]]


@settings(max_examples=60)
@given(st.lists(REACHED, min_size=1, max_size=4))
def test_lines_to_targets_that_are_not_reached_are_dotted_up_to_the_top(reached: list[list[int | None]]) -> None:
    spec = make_chart(KS, SIZES, *reached)
    points = layers_of(spec, "point")
    assert len(points) == len(reached) * len(KS)
    for point, size in zip(points, itertools.chain(*reached), strict=True):
        assert point["size"] == size if size else point["size"] > SIZES[-1]
    solid = layers_of(spec, "rule", strokeWidth=2, strokeDash=None)
    dotted = layers_of(spec, "rule", strokeWidth=2, strokeDash=[2, 4])
    whole = [pair for one in reached for pair in itertools.pairwise(one) if None not in pair]
    assert [(one["size"], one["next_size"]) for one in solid] == whole
    assert len(solid) + len(dotted) == len(reached) * (len(KS) - 1)
    assert all(max(one["size"], one["next_size"]) > SIZES[-1] for one in dotted)
    assert bool(layers_of(spec, "text")) == any(None in one for one in reached)


@given(st.lists(REACHED, min_size=1, max_size=4))
def test_everything_is_inside_the_axes_and_no_two_lines_cover_each_other(reached: list[list[int | None]]) -> None:
    spec = make_chart(KS, SIZES, *reached)
    points = layers_of(spec, "point")
    for field, axis in (("k", "x"), ("size", "y")):
        low, high = spec["layer"][-1]["encoding"][axis]["scale"]["domain"]
        assert all(low < point[field] < high for point in points)
    assert len({(point["k"], point["size"]) for point in points}) == len(points)
    assert all(abs(math.log(point["k"] / min(KS, key=lambda k: abs(k - point["k"])))) < 0.1 for point in points)


def test_intervals_end_at_the_top_if_the_lower_end_is_not_reached() -> None:
    spec = make_chart(KS, SIZES, [2_000, 10_000, 60_000, None])
    found = [(one["low"], one["high"] > SIZES[-1]) for one in layers_of(spec, "rule", strokeWidth=1, color=None)]
    assert found == [(2_000, True), (10_000, True), (60_000, False)]


def test_a_chart_for_paper_has_a_title_and_an_explanation() -> None:
    spec = make_chart(KS, SIZES, is_paper=True)
    assert spec["title"]["text"] == ["Towns"]
    assert spec["title"]["subtitle"] == ["95 % intervals over runs", "dotted: not reached with the largest n"]
    x, y = (spec["layer"][-1]["encoding"][axis] for axis in "xy")
    assert (x["title"], y["title"]) == ("entities", "training examples")
    assert x["scale"]["type"] == y["scale"]["type"] == "log"


def test_a_chart_for_paper_says_that_intervals_of_single_runs_are_over_questions() -> None:
    line = ChartLine("Net", [needed_size(5.0, SIZES, 2_000), needed_size(15.0, SIZES, 2_000, is_over_runs=False)])
    grid = Grid(Suite(k_name="entities"), [SuiteMember(k=k) for k in (5.0, 15.0)], 0, 0, [], list(SIZES))
    spec = spec_of(grid, [line], is_paper=True, title="Towns")
    assert spec is not None
    assert "over questions where an n has a single run" in " ".join(spec["title"]["subtitle"])


def test_a_single_k_is_drawn_too() -> None:
    spec = make_chart((5.0,), (100,), [100], [None])
    assert len(layers_of(spec, "point")) == 2 and not layers_of(spec, "rule", strokeWidth=2)


def test_a_grid_with_too_few_questions_has_no_chart() -> None:
    unknown = [NeededSize(k, ReachedTarget(None, None), SizeInterval(None, None), False, (), "") for k in KS]
    grid = Grid(Suite(k_name="entities"), [SuiteMember(k=k) for k in KS], 0, 0, [], [])
    assert spec_of(grid, [ChartLine("Net", unknown)], is_paper=False) is None


def test_only_five_lines_are_drawn() -> None:
    spec = make_chart(KS, SIZES, *[[2_000] * len(KS)] * (DRAWN + 2))
    assert len({point["line"] for point in layers_of(spec, "point")}) == DRAWN


def test_a_chart_is_described_in_words() -> None:
    cells = [needed_size(5.0, SIZES, 2_000), needed_size(0.5, SIZES, None)]
    assert describe([ChartLine("75 %", cells)]) == "75 %: 2,000 for k = 5, FAIL for k = 0.5."


@given(st.lists(st.floats(0.001, 1e9), min_size=1, max_size=12, unique=True))
def test_numbers_at_an_axis_are_far_enough_apart_and_have_the_highest(values: list[float]) -> None:
    axis = LogAxis.of("size", "n", values)
    numbers = axis.numbered(apart=0.1)
    assert set(numbers) <= set(values) and numbers[-1] == max(values)
    assert all(math.log(two / one) >= 0.1 * axis.span for one, two in itertools.pairwise(numbers))
