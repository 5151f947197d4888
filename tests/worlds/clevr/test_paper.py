"""The figures of the CLEVR paper."""

from generation.engine.worlds import get_world
from tests.generation import fake_world


def test_the_figures_of_clevr_are_those_of_figure_3():
    texts = get_world("clevr").published.texts
    assert f"{texts[''].unique / texts[''].questions:.0%}" == "85%"
    assert f"{texts['val'].overlap / texts['val'].questions:.1%}" == "11.6%"
    assert sum(texts[name].questions for name in ("train", "val", "test")) == texts[""].questions


def test_the_figures_of_clevr_name_existing_types():
    world = get_world("clevr")
    published = world.published
    [types] = [
        facet for facet in world.facets(world.read_spec(world.maker.preset("clevr-mini"))) if facet.name == "type"
    ]
    assert set(published.type_mode) < set(types.values)
    assert published.type_mode["count"] == 0.35


def test_a_world_without_a_paper_has_no_figures():
    assert fake_world.WORLD.published.source == ""
