"""The sidebar of a list: a panel for each facet that its questions have."""

import numpy as np

from generation.browsing.sidebar import Panel, panels
from generation.engine.items import Facet, FacetKind
from generation.splits.query_string import read_query

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


MANY = Facet("template", "Template", FacetKind.CATEGORY, tuple(f"t{n}" for n in range(40)), reveals=False)


def template_panel(address: list[tuple[str, str]], *, opened: tuple[str, ...] = ()) -> Panel:
    counts = {"template": np.ones(40, np.int64)}
    query = read_query(address, facets=[MANY])
    [panel] = panels([MANY], counts=counts, query=query, of_all=counts, opened=opened)
    return panel


def test_the_values_of_a_long_facet_are_listed_once_it_is_opened_or_used() -> None:
    folded = template_panel([("q", "red")])
    assert (folded.is_open, folded.values, folded.choices, folded.address) == (False, 40, [], "?q=red&open=template")
    for panel in (template_panel([], opened=("template",)), template_panel([("template", "t3")])):
        assert panel.is_open
        assert len(panel.choices) == 40
