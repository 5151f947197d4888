"""The vehicles of SimTown, in a fixed order: `entities: k` takes the first k."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from generation.engine.worlds.simtown import bodies_cars as cars
from generation.engine.worlds.simtown import bodies_machines as machines
from generation.engine.worlds.simtown import bodies_trucks as trucks
from generation.engine.worlds.simtown import bodies_vans as vans
from generation.engine.worlds.simtown.colours import (
    AMBER,
    BLUE,
    GREEN,
    ORANGE,
    PINK,
    RED,
    SILVER,
    WHITE,
    YELLOW,
)
from generation.engine.worlds.simtown.parts import Part


class Entity(NamedTuple):
    """A vehicle that questions can name.

    Attributes
    ----------
    name : str
        An English noun phrase without article. It fits no other vehicle.
    parts : callable
        Builds the parts: they stand on z = 0, have their middle at x = y = 0, and drive towards +x.
    """

    name: str
    parts: Callable[[], list[Part]]


# Every start of this list should mix types and colours well: look-alikes come late.
ENTITIES: tuple[Entity, ...] = (
    Entity("taxi", cars.taxi),
    Entity("fire engine", trucks.fire_engine),
    Entity("blue bus", partial(vans.bus, BLUE)),
    Entity("green tractor", partial(machines.tractor, GREEN, hub=YELLOW)),
    Entity("ice cream van", vans.ice_cream_van),
    Entity("cement mixer", trucks.cement_mixer),
    Entity("police car", cars.police_car),
    Entity("log truck", trucks.log_truck),
    Entity("motorcycle", machines.motorcycle),
    Entity("excavator", machines.excavator),
    Entity("pink convertible", partial(cars.convertible, PINK)),
    Entity("ambulance", vans.ambulance),
    Entity("garbage truck", trucks.garbage_truck),
    Entity("steam locomotive", vans.steam_locomotive),
    Entity("horse carriage", machines.horse_carriage),
    Entity("double-decker bus", vans.double_decker_bus),
    Entity("milk truck", trucks.milk_truck),
    Entity("bulldozer", machines.bulldozer),
    Entity("tuk-tuk", vans.tuk_tuk),
    Entity("elephant truck", trucks.elephant_truck),
    Entity("racing car", cars.racing_car),
    Entity("ladybug car", cars.ladybug_car),
    Entity("golf cart", machines.golf_cart),
    Entity("fuel tanker", trucks.fuel_tanker),
    Entity("banana car", cars.banana_car),
    Entity("moon rover", machines.moon_rover),
    Entity("school bus", vans.school_bus),
    Entity("tow truck", trucks.tow_truck),
    Entity("shark car", cars.shark_car),
    Entity("forklift", machines.forklift),
    Entity("rocket truck", trucks.rocket_truck),
    Entity("limousine", cars.limousine),
    Entity("monster truck", trucks.monster_truck),
    Entity("hay tractor", machines.hay_tractor),
    Entity("pumpkin truck", trucks.pumpkin_truck),
    Entity("surfer van", vans.surfer_van),
    Entity("dump truck", trucks.dump_truck),
    Entity("hot dog car", cars.hot_dog_car),
    Entity("road roller", machines.road_roller),
    Entity("tram", vans.tram),
    Entity("pizza car", cars.pizza_car),
    Entity("crane truck", trucks.crane_truck),
    Entity("duck car", cars.duck_car),
    Entity("jeep", cars.jeep),
    Entity("barrel truck", trucks.barrel_truck),
    Entity("donut van", vans.donut_van),
    Entity("car with boat", cars.boat_car),
    Entity("green bus", partial(vans.bus, GREEN, band=YELLOW)),
    Entity("giraffe truck", trucks.giraffe_truck),
    Entity("wedding car", cars.wedding_car),
    Entity("red tractor", partial(machines.tractor, RED, hub=SILVER)),
    Entity("pipe truck", trucks.pipe_truck),
    Entity("balloon car", cars.balloon_car),
    Entity("snowplow", trucks.snowplow),
    Entity("dune buggy", cars.dune_buggy),
    Entity("container truck", trucks.container_truck),
    Entity("delivery scooter", machines.delivery_scooter),
    Entity("pink bus", partial(vans.bus, PINK)),
    Entity("blue hatchback", partial(cars.hatchback, BLUE)),
    Entity("snowman truck", trucks.snowman_truck),
    Entity("car with canoe", cars.canoe_car),
    Entity("orange hatchback", partial(cars.hatchback, ORANGE)),
    Entity("white bus", partial(vans.bus, WHITE, band=AMBER)),
    Entity("green hatchback", partial(cars.hatchback, GREEN)),
)
