"""The Pareto front, checked against a twin that compares every two points."""

from hypothesis import given
from hypothesis import strategies as st

from generation.engine.scoring.ranking.pareto_front import pareto_front

POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=25)


def beats(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one != other and one[0] <= other[0] and one[1] >= other[1]


@given(POINTS)
def test_front_equals_that_of_comparing_every_two_points(points: list[tuple[int, int]]) -> None:
    found = pareto_front([cost for cost, _ in points], [merit for _, merit in points])
    wanted = [at for at, one in enumerate(points) if not any(beats(other, one) for other in points)]
    assert sorted(found) == wanted


@given(POINTS)
def test_front_rises_from_the_cheapest_point(points: list[tuple[int, int]]) -> None:
    front = [points[at] for at in pareto_front([cost for cost, _ in points], [merit for _, merit in points])]
    assert front == sorted(front)
    assert bool(front) == bool(points)
