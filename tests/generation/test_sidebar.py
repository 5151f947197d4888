"""The sidebar of a list: a panel for each facet that its questions have."""

import numpy as np

from generation.browse import read_query
from generation.engine.worlds import Facet, FacetKind
from generation.sidebar import panels

FACETS = [
    Facet(name, name.title(), FacetKind.CATEGORY, ("red", "blue"), reveals=False) for name in ("color", "background")
]


def names(address: list[tuple[str, str]]) -> list[str]:
    counts = {"color": np.array([3, 1]), "background": np.zeros(2, np.int64)}
    return [
        panel.name for panel in panels(FACETS, counts=counts, query=read_query(address, facets=FACETS), of_all=counts)
    ]


def test_facets_that_no_question_has_are_left_out() -> None:
    assert names([]) == ["color"]


def test_one_that_is_filtered_by_stays_so_that_it_can_be_taken_back() -> None:
    assert names([("background", "blue")]) == ["color", "background"]
