"""Streets as data."""

import json
from typing import Any

import pytest

from generation.engine.errors import BadScene
from generation.engine.worlds.simtown.scene import Building, SimTownScene, Street, Thing, Vehicle, is_related
from tests.worlds.simtown.made import BASES, WORLD, items, scene_of

TAXI = Vehicle(entity="taxi", lane="near", x=1.25, y=1.7)
BUS = Vehicle(entity="blue bus", lane="far", x=-2.0, y=5.1)
STREET = Street(
    buildings=(Building(style="barn", colour="plum", x=3.5, y=11.5),), things=(Thing(kind="pine", x=-4.0, y=9.9),)
)
SCENE = SimTownScene(vehicles=(TAXI, BUS), street=STREET, weather="snow")


def test_scene_survives_json() -> None:
    assert WORLD.read_scene(json.loads(json.dumps(SCENE.to_json()))) == SCENE


@pytest.mark.parametrize("base", BASES)
def test_made_scenes_survive_json(base: str) -> None:
    """Made vehicles are not validated when they are placed, so they are here."""
    for item in items(base, 40)["train"]:
        assert WORLD.read_scene(json.loads(json.dumps(scene_of(item).to_json()))) == item.scene


def test_random_numbers_of_made_scenes_have_three_digits() -> None:
    for item in items("simtown-k15-distractor", 40)["train"]:
        scene = scene_of(item)
        for one in (*scene.vehicles, *scene.street.buildings):
            assert (one.x, one.y) == (round(one.x, 3), round(one.y, 3))


def test_a_vehicle_is_found_by_its_entity() -> None:
    assert (SCENE.number_of("taxi"), SCENE.number_of("blue bus"), SCENE.number_of("tram")) == (0, 1, None)


def test_a_vehicle_is_not_related_to_itself() -> None:
    for relation in ("left of", "right of", "in front of", "behind"):
        assert not is_related(TAXI, TAXI, relation, margin=0.1)


def test_elements_are_named_in_the_order_of_object_ids() -> None:
    spec = WORLD.read_spec({"base": "simtown-mini"})
    item = items("simtown-k5", 4)["train"][0]
    labels = [one.label for one in WORLD.elements(spec, item)]
    scene = scene_of(item)
    assert labels[:2] == [one.entity for one in scene.vehicles]
    assert len(labels) == len(scene.vehicles) + len(scene.street.buildings) + len(scene.street.things)
    assert [one.id for one in WORLD.elements(spec, item)] == list(range(len(labels)))


@pytest.mark.parametrize(
    "change",
    [
        {"vehicles": []},
        {"vehicles": [TAXI.model_dump()] * 4},
        {"weather": "hail"},
        {"distractor": 1},
        {"vehicles": [{**TAXI.model_dump(), "lane": "middle"}]},
        {"vehicles": [{**TAXI.model_dump(), "x": float("inf")}]},
        {"vehicles": [{**TAXI.model_dump(), "x": 101.0}]},
        {"vehicles": [{**TAXI.model_dump(), "colour": "red"}]},
        {"street": None, "weather": 3},
    ],
)
def test_what_is_no_scene_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadScene):
        WORLD.read_scene({**SCENE.to_json(), **change})
