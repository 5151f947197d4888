"""Made tables of accuracy against cost."""

from collections.abc import Sequence

from generation.engine.scoring.figures import Averaged, figure
from webapp.leaderboards.analysis.costs import AXES, CostPoint, CostTable


def table_of(values: Sequence[float]) -> CostTable:
    points = [
        CostPoint(
            f"m{at}", f"Row {at}", figure(Averaged(100, (50.0 + at,))), value, f"{value}", f"/there/{at}", False, True
        )
        for at, value in enumerate(values)
    ]
    return CostTable(AXES["cost"], points, [])
