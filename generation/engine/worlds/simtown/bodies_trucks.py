"""The bodies of trucks and their loads."""

from collections.abc import Sequence

from generation.engine.render.render_scene import Vector
from generation.engine.worlds.simtown.bodies import (
    LACQUER,
    axle,
    beacon,
    block,
    cab,
    lamps,
    mirror,
    place,
    spots,
    wheels,
)
from generation.engine.worlds.simtown.colours import (
    AMBER,
    ASH,
    BARK,
    BLACK,
    BLUE,
    BROWN,
    CHASSIS,
    FOREST,
    GLASS,
    GREEN,
    GREY,
    LIME,
    MAGENTA,
    MAROON,
    NAVY,
    ORANGE,
    PINK,
    PURPLE,
    RED,
    SAND,
    SILVER,
    SKY,
    TAIL_LAMP,
    TAN,
    TEAL,
    WHITE,
    YELLOW,
)
from generation.engine.worlds.simtown.parts import Part, ball, box, cone, cylinder, prism, tilt

DECK = 0.95  # the height of a truck's floor


def _truck(
    colour: Vector,
    *,
    deck: Vector = CHASSIS,
    hub: Vector = SILVER,
    axles: Sequence[float] = (-1.8, 2.0),
    back: float = -2.9,
) -> list[Part]:
    """Return a truck without a load: the cab from x = 1.3 to 2.9, and a flat deck behind it."""
    return [
        *[part for x in axles for part in axle(x, radius=0.47, width=2.14, hub=hub)],
        block((back, 2.95), 1.8, (0.42, 0.72), CHASSIS),
        block((back, 1.15), 2.08, (0.72, DECK), deck),
        block((back - 0.05, back + 0.1), 1.8, (0.5, 0.7), TAIL_LAMP),
        *cab((1.3, 2.9), colour),
    ]


def fire_engine() -> list[Part]:
    """Return a red truck with a ladder on top and blue lamps."""
    return place(
        [
            *_truck(RED, deck=RED),
            block((-2.9, 1.2), 2.1, (0.75, 2.15), RED, bevel=0.08),
            block((-2.6, 0.9), 2.13, (1.25, 1.95), SILVER, gloss=0.2),
            block((-2.92, 2.7), 2.15, (0.88, 1.08), WHITE, bevel=0.0),
            *mirror(box((-3.1, 2.2), (0.38, 0.5), (2.45, 2.62), WHITE)),
            *[block((x, x + 0.14), 0.8, (2.47, 2.58), WHITE) for x in (-2.6, -1.8, -1.0, -0.2, 0.6, 1.4)],
            block((-2.2, -1.8), 0.8, (2.1, 2.5), CHASSIS),
            beacon(2.4, 2.3, BLUE, width=1.6),
        ]
    )


def cement_mixer() -> list[Part]:
    """Return an orange truck with a white and orange drum."""
    return place(
        [
            *_truck(ORANGE, hub=ORANGE),
            tilt(cone((-1.65, 0.0, 2.15), low=0.5, high=1.0, length=1.3, colour=WHITE, axis="x"), -6),
            cylinder((-0.6, 0.0, 2.05), radius=1.02, length=0.95, colour=WHITE, axis="x", bevel=0.05),
            cylinder((-0.6, 0.0, 2.05), radius=1.04, length=0.4, colour=ORANGE, axis="x"),
            cone((0.35, 0.0, 2.0), low=1.0, high=0.6, length=1.0, colour=WHITE, axis="x"),
            cylinder((-2.35, 0.0, 2.2), radius=0.5, length=0.2, colour=CHASSIS, axis="x"),
            tilt(block((-3.0, -2.6), 0.6, (0.9, 1.8), SILVER), 18),
            block((0.75, 1.1), 1.2, (0.9, 1.9), CHASSIS),
            block((-2.3, -2.1), 1.4, (0.9, 1.9), CHASSIS),
        ]
    )


def log_truck() -> list[Part]:
    """Return a dark green truck with five tree trunks."""
    places = ((-0.68, 1.3), (0.0, 1.3), (0.68, 1.3), (-0.35, 1.88), (0.35, 1.88))
    logs = [cylinder((-0.95, y, z), radius=0.34, length=4.1, colour=BROWN, axis="x", bevel=0.03) for y, z in places]
    ends = [cylinder((-0.95, y, z), radius=0.25, length=4.14, colour=TAN, axis="x") for y, z in places]
    posts = [block((x, x + 0.16), 2.12, (0.8, 1.55), CHASSIS) for x in (-2.3, 0.4)]
    return place([*_truck(FOREST), *logs, *ends, *posts])


def pipe_truck() -> list[Part]:
    """Return a yellow truck with concrete pipes across its deck."""
    places = ((-2.3, 1.5), (-1.15, 1.5), (0.0, 1.5), (-1.72, 2.5), (-0.57, 2.5))
    pipes = [cylinder((x, 0.0, z), radius=0.56, length=2.0, colour=SILVER, axis="y") for x, z in places]
    holes = [cylinder((x, 0.0, z), radius=0.38, length=2.04, colour=BLACK, axis="y") for x, z in places]
    return place([*_truck(YELLOW), *pipes, *holes])


def barrel_truck() -> list[Part]:
    """Return a white truck with blue barrels."""
    barrels = [
        cylinder((-2.45 + 0.98 * i, y, 1.52), radius=0.46, length=1.14, colour=BLUE, bevel=0.08, gloss=0.2)
        for i in range(4)
        for y in (-0.5, 0.5)
    ]
    belt = block((-2.86, 1.0), 1.95, (1.45, 1.56), YELLOW, bevel=0.0)
    return place([*_truck(WHITE), *barrels, belt])


def pumpkin_truck() -> list[Part]:
    """Return a purple truck with a heap of pumpkins."""
    places = (
        (-2.3, -0.5, 1.4), (-1.4, -0.5, 1.4), (-0.5, -0.5, 1.4), (0.4, -0.5, 1.4),
        (-2.3, 0.5, 1.4), (-1.4, 0.5, 1.4), (-0.5, 0.5, 1.4), (0.4, 0.5, 1.4),
        (-1.4, 0.0, 2.05), (-0.5, 0.0, 2.05),
    )  # fmt: skip
    pumpkins = [ball(centre, radius=0.52, colour=ORANGE) for centre in places]
    stalks = [cylinder((x, 0.0, 2.6), radius=0.1, length=0.3, colour=GREEN) for x in (-1.4, -0.5)]
    return place([*_truck(PURPLE), block((-2.92, 1.15), 2.12, (0.8, 1.3), BROWN), *pumpkins, *stalks])


def rocket_truck() -> list[Part]:
    """Return a dark blue truck with a white rocket."""
    return place(
        [
            *_truck(NAVY),
            cylinder((-1.3, 0.0, 1.85), radius=0.55, length=2.6, colour=WHITE, axis="x", gloss=LACQUER),
            cylinder((-0.3, 0.0, 1.85), radius=0.57, length=0.4, colour=RED, axis="x"),
            cylinder((-1.6, 0.0, 1.85), radius=0.57, length=0.3, colour=RED, axis="x"),
            cone((0.65, 0.0, 1.95), low=0.55, high=0.02, length=1.4, colour=RED, axis="x"),
            cone((-2.75, 0.0, 1.85), low=0.5, high=0.25, length=0.4, colour=CHASSIS, axis="x"),
            prism(((-2.95, 2.2), (-2.0, 2.2), (-2.6, 3.1), (-2.95, 3.1)), (-0.07, 0.07), RED),
            *mirror(box((-2.9, -2.1), (0.5, 1.05), (1.78, 1.92), RED)),
            *[block((x, x + 0.3), 1.2, (0.9, 1.5), GREY) for x in (-2.1, -0.4)],
        ]
    )


def elephant_truck() -> list[Part]:
    """Return a dark red and yellow truck with an elephant."""
    skin = ASH
    return place(
        [
            *_truck(MAROON, deck=YELLOW, hub=YELLOW),
            *[block((x, x + 0.42), 1.1, (DECK, 1.6), skin, bevel=0.1) for x in (-2.35, -1.2)],
            cylinder((-1.55, 0.0, 2.0), radius=0.68, length=1.9, colour=skin, axis="x", bevel=0.5),
            ball((-0.35, 0.0, 2.4), radius=0.55, colour=skin),
            *mirror(tilt(cylinder((-0.6, 0.6, 2.45), radius=0.5, length=0.14, colour=PINK, axis="y"), 15, axis="z")),
            tilt(cylinder((0.22, 0.0, 1.85), radius=0.18, length=1.2, colour=skin, bevel=0.1), -20),
            *mirror(tilt(cone((0.3, 0.3, 2.0), low=0.11, high=0.02, length=0.6, colour=WHITE, axis="x"), -10)),
            *spots([(0.12, 0.3, 2.6)], radius=0.1),
            block((-2.0, -1.1), 1.42, (2.0, 2.6), RED, bevel=0.2),
        ]
    )


def giraffe_truck() -> list[Part]:
    """Return a turquoise truck with a giraffe."""
    patches = ((-1.8, 0.37, 1.95), (-1.35, 0.38, 1.8), (-0.85, 0.36, 2.0))
    return place(
        [
            *_truck(TEAL, deck=TEAL),
            *[block((x, x + 0.24), 0.7, (DECK, 1.6), YELLOW) for x in (-2.1, -0.85)],
            cylinder((-1.3, 0.0, 1.85), radius=0.42, length=1.8, colour=YELLOW, axis="x", bevel=0.3),
            tilt(cylinder((-0.25, 0.0, 2.45), radius=0.24, length=1.6, colour=YELLOW, bevel=0.1), 24),
            block((-0.1, 0.75), 0.44, (2.92, 3.3), YELLOW, bevel=0.12),
            block((0.55, 0.8), 0.46, (2.94, 3.12), BROWN, bevel=0.08),
            *spots(patches, radius=0.17, colour=BARK),
            tilt(cylinder((-0.25, 0.0, 2.45), radius=0.26, length=0.2, colour=BARK), 24),
        ]
    )


def snowman_truck() -> list[Part]:
    """Return a light blue truck with a snowman."""
    return place(
        [
            *_truck(SKY, deck=SKY),
            block((-2.6, 0.8), 1.9, (DECK, 1.12), WHITE, bevel=0.08),
            ball((-0.9, 0.0, 1.6), radius=0.72, colour=WHITE),
            ball((-0.9, 0.0, 2.4), radius=0.5, colour=WHITE),
            cylinder((-0.9, 0.0, 2.82), radius=0.52, length=0.08, colour=BLACK),
            cylinder((-0.9, 0.0, 3.06), radius=0.34, length=0.5, colour=BLACK),
            cylinder((-0.9, 0.0, 2.1), radius=0.46, length=0.2, colour=RED, bevel=0.08),
            cone((-0.2, 0.0, 2.42), low=0.12, high=0.02, length=0.6, colour=ORANGE, axis="x"),
            *mirror(cylinder((-0.9, 0.85, 1.9), radius=0.07, length=0.7, colour=BROWN, axis="y")),
        ]
    )


def milk_truck() -> list[Part]:
    """Return a pink truck with a white tank that has the black spots of a cow."""
    patches = ((-2.4, 0.5, 2.2), (-1.5, 0.72, 1.6), (-0.6, 0.5, 2.25), (0.2, 0.72, 1.65))
    return place(
        [
            *_truck(PINK),
            cylinder((-1.0, 0.0, 1.8), radius=0.92, length=3.9, colour=WHITE, axis="x", bevel=0.3, gloss=LACQUER),
            *spots(patches, radius=0.42),
        ]
    )


def fuel_tanker() -> list[Part]:
    """Return a red truck with a silver tank."""
    return place(
        [
            *_truck(RED, axles=(-2.2, -1.1, 2.0)),
            cylinder((-0.95, 0.0, 1.8), radius=0.95, length=4.1, colour=SILVER, axis="x", bevel=0.2, gloss=0.3),
            *[cylinder((x, 0.0, 1.8), radius=0.98, length=0.12, colour=GREY, axis="x") for x in (-2.2, -0.95, 0.3)],
            block((-2.6, 0.7), 0.6, (2.7, 2.86), GREY),
            block((-2.8, 0.9), 1.94, (1.7, 1.92), YELLOW, bevel=0.0),
        ]
    )


def garbage_truck() -> list[Part]:
    """Return a white truck with a green container and a large hopper at the back."""
    return place(
        [
            *_truck(WHITE, hub=LIME),
            prism(((-2.0, 0.8), (1.15, 0.8), (1.15, 2.7), (-2.0, 2.7)), (-1.05, 1.05), GREEN),
            prism(((-2.9, 0.75), (-1.9, 0.75), (-1.9, 2.8), (-2.3, 2.8), (-2.9, 1.9)), (-1.1, 1.1), LIME),
            *[block((x, x + 0.14), 2.16, (0.85, 2.74), FOREST) for x in (-1.2, -0.3, 0.6)],
            block((-3.02, -2.6), 1.7, (1.0, 1.7), BLACK),
            beacon(2.1, 2.3, ORANGE),
            block((1.15, 1.3), 1.6, (0.9, 2.2), CHASSIS),
        ]
    )


def dump_truck() -> list[Part]:
    """Return a yellow truck with a heap of sand in a yellow tray."""
    tray = ((-2.6, 0.95), (0.7, 0.95), (1.15, 2.0), (-2.9, 2.0))
    heap = ((-2.6, 1.95), (0.9, 1.95), (-0.3, 2.8), (-1.3, 2.8))
    return place(
        [
            *_truck(AMBER, hub=BLACK, axles=(-2.1, -0.9, 2.0)),
            prism(tray, (-1.08, 1.08), AMBER, gloss=LACQUER),
            *[block((x, x + 0.2), 2.22, (1.0, 1.96), BLACK) for x in (-2.2, -0.9, 0.4)],
            prism(heap, (-0.9, 0.9), SAND),
            block((0.9, 2.3), 2.1, (2.34, 2.5), AMBER),
        ]
    )


def container_truck() -> list[Part]:
    """Return a white truck with a magenta container."""
    return place(
        [
            *_truck(WHITE, axles=(-2.2, -1.1, 2.0)),
            block((-2.9, 1.1), 2.1, (DECK, 3.1), MAGENTA, bevel=0.03),
            *[block((-2.7 + 0.52 * i, -2.52 + 0.52 * i), 2.18, (1.1, 2.95), MAGENTA) for i in range(7)],
        ]
    )


def snowplow() -> list[Part]:
    """Return an orange truck with a large red blade in front and snow on its back."""
    blade = [
        tilt(block((3.15, 3.4), 2.36, (0.1, 0.95), RED), -24),
        tilt(block((3.15, 3.4), 2.36, (0.75, 1.75), RED), 24),
        block((3.02, 3.3), 2.38, (0.72, 0.96), WHITE),
    ]
    return place(
        [
            *_truck(ORANGE, deck=ORANGE, axles=(-1.4, 2.0), back=-2.3),
            block((2.6, 3.1), 0.6, (0.4, 0.7), CHASSIS),
            *blade,
            prism(((-2.2, 0.95), (0.7, 0.95), (1.0, 1.9), (-2.45, 1.9)), (-1.0, 1.0), ORANGE),
            *[ball((x, 0.0, 1.7), radius=0.75, colour=WHITE) for x in (-1.6, -0.75, 0.2)],
            beacon(2.0, 2.3, AMBER, width=1.6),
        ]
    )


def crane_truck() -> list[Part]:
    """Return a blue truck with a long yellow crane and a hook."""
    return place(
        [
            *_truck(BLUE, axles=(-2.2, -1.1, 2.0)),
            cylinder((-1.6, 0.0, 1.15), radius=0.8, length=0.4, colour=CHASSIS),
            block((-2.6, -0.9), 1.6, (1.3, 2.1), YELLOW, bevel=0.08),
            block((-1.2, -0.5), 1.64, (1.5, 2.1), GLASS),
            tilt(block((-2.6, 3.0), 0.5, (2.35, 2.8), YELLOW), -9),
            cylinder((2.95, 0.0, 2.6), radius=0.04, length=0.9, colour=BLACK),
            ball((2.95, 0.0, 2.05), radius=0.24, colour=RED),
            block((-2.9, -2.4), 1.8, (1.1, 1.7), GREY),
        ]
    )


def tow_truck() -> list[Part]:
    """Return a green truck with a red arm at its back and a hook."""
    return place(
        [
            *_truck(LIME, deck=LIME),
            block((-2.9, 1.1), 2.1, (0.8, 1.2), LIME, bevel=0.06),
            *mirror(tilt(box((-2.9, 0.6), (0.2, 0.42), (1.75, 2.0), RED), 28)),
            block((0.2, 0.5), 1.4, (1.1, 1.7), CHASSIS),
            cylinder((-2.6, 0.0, 2.2), radius=0.04, length=1.0, colour=BLACK),
            ball((-2.6, 0.0, 1.6), radius=0.22, colour=YELLOW),
            beacon(2.0, 2.3, ORANGE, width=1.6),
            cylinder((-2.6, 0.0, 2.66), radius=0.25, length=0.9, colour=BLACK, axis="y"),
        ]
    )


def monster_truck() -> list[Part]:
    """Return a pickup high above huge wheels."""
    cabin = ((-0.75, 2.05), (0.95, 2.05), (0.55, 2.65), (-0.55, 2.65))
    return place(
        [
            *wheels(-1.4, radius=0.85, width=2.34, thickness=0.7, hub=YELLOW),
            *wheels(1.4, radius=0.85, width=2.34, thickness=0.7, hub=YELLOW),
            block((-1.9, 1.9), 0.8, (0.8, 1.3), CHASSIS),
            block((-2.2, 2.2), 1.8, (1.4, 2.1), PURPLE, bevel=0.12),
            prism(cabin, (-0.78, 0.78), GLASS, gloss=0.2),
            block((-0.6, 0.6), 1.66, (2.6, 2.76), PURPLE, bevel=0.06),
            block((-2.0, -0.8), 1.5, (2.06, 2.14), BLACK),
            prism(((0.0, 1.6), (2.1, 1.5), (2.1, 1.95)), (-0.92, 0.92), ORANGE),
            beacon(0.2, 2.76, YELLOW, width=1.4),
            *lamps((-2.2, 2.2), width=1.8, z=1.8),
        ]
    )
