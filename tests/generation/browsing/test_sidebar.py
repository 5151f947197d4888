"""The sidebar of a list has a panel for each facet of its questions."""

import numpy as np

from generation.browsing.sidebar import Panel, panels
from generation.engine.items import Facet, FacetKind
from generation.splits.query_string import read_query

FACETS = [
    Facet(name, name.title(), FacetKind.CATEGORY, ("red", "blue"), reveals=False) for name in ("color", "background")
]


def panel_names(address: list[tuple[str, str]]) -> list[str]:
    counts = {"color": np.array([3, 1]), "background": np.zeros(2, np.int64)}
    return [
        panel.name for panel in panels(FACETS, counts=counts, query=read_query(address, facets=FACETS), of_all=counts)
    ]


def test_facets_without_questions_are_left_out() -> None:
    assert panel_names([]) == ["color"]


def test_the_facet_of_a_filter_stays_even_without_questions() -> None:
    assert panel_names([("background", "blue")]) == ["color", "background"]


MANY = Facet("template", "Template", FacetKind.CATEGORY, tuple(f"t{n}" for n in range(40)), reveals=False)


def template_panel(address: list[tuple[str, str]], *, opened: tuple[str, ...] = ()) -> Panel:
    counts = {"template": np.ones(40, np.int64)}
    query = read_query(address, facets=[MANY])
    [panel] = panels([MANY], counts=counts, query=query, of_all=counts, opened=opened)
    return panel


def test_values_of_a_long_facet_are_listed_if_it_is_open_or_filtered() -> None:
    folded = template_panel([("q", "red")])
    assert (folded.is_open, folded.values, folded.choices, folded.address) == (False, 40, [], "?q=red&open=template")
    for panel in (template_panel([], opened=("template",)), template_panel([("template", "t3")])):
        assert panel.is_open
        assert len(panel.choices) == 40
