"""The Pareto front: the methods that no other method beats in cost and merit."""

import math
from collections.abc import Sequence


def pareto_front(costs: Sequence[float], merits: Sequence[float]) -> list[int]:
    """Return the positions of the points on the Pareto front, the cheapest first.

    A point is on the front unless another one costs at most as much and has at least its merit, and is better in one of
    the two. Points that are equal in both are on the front together.

    Parameters
    ----------
    costs, merits : sequences of float
        One cost and one merit for each point; lower costs and higher merits are better. None of them may be NaN.
    """
    front: list[int] = []
    highest, its_cost = -math.inf, -math.inf
    for at in sorted(range(len(costs)), key=lambda at: (costs[at], -merits[at], at)):
        if merits[at] > highest or (merits[at] == highest and costs[at] == its_cost):
            highest, its_cost = merits[at], costs[at]
            front.append(at)
    return front
