"""The Pareto front: the methods that no other method beats in both cost and merit."""

import math
from collections.abc import Sequence


def pareto_front(costs: Sequence[float], merits: Sequence[float]) -> list[int]:
    """Return the positions of the points on the Pareto front, the cheapest first.

    A point is on the front unless another one costs at most as much and has at least its merit, and is better in one of
    the two. Points that are equal in both are on the front together.

    Parameters
    ----------
    costs, merits : sequences of float
        Of each point; less cost and more merit are better. They must be numbers.
    """
    front: list[int] = []
    highest, its_cost = -math.inf, -math.inf
    for at in sorted(range(len(costs)), key=lambda at: (costs[at], -merits[at], at)):
        if merits[at] > highest or (merits[at] == highest and costs[at] == its_cost):
            highest, its_cost = merits[at], costs[at]
            front.append(at)
    return front
