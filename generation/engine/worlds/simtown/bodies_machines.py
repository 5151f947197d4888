"""The bodies of tractors, building machines, carriages and two-wheelers."""

from generation.engine.render.render_scene import Vector
from generation.engine.worlds.simtown.bodies import (
    LACQUER,
    axle,
    block,
    enlarge,
    mirror,
    person,
    place,
    track,
    wheels,
)
from generation.engine.worlds.simtown.colours import (
    AMBER,
    BARK,
    BLACK,
    BLUE,
    BROWN,
    CHASSIS,
    GLASS,
    GOLD,
    GREEN,
    HEADLAMP,
    MINT,
    NAVY,
    ORANGE,
    RED,
    SILVER,
    STRAW,
    TAN,
    TEAL,
    WHITE,
    YELLOW,
)
from generation.engine.worlds.simtown.parts import Part, ball, box, cone, cylinder, move, prism, tilt


def _tractor(colour: Vector, *, hub: Vector) -> list[Part]:
    return [
        *wheels(-0.75, radius=0.85, width=2.1, thickness=0.5, hub=hub),
        *wheels(1.2, radius=0.48, width=1.7, thickness=0.36, hub=hub),
        block((-0.9, 1.6), 0.6, (0.45, 0.85), CHASSIS),
        block((0.0, 1.75), 0.86, (0.75, 1.45), colour, bevel=0.12),
        block((1.7, 1.8), 0.6, (0.8, 1.35), CHASSIS),
        block((-1.2, 0.2), 1.05, (0.8, 1.4), colour),
        block((-1.1, 0.15), 1.0, (1.35, 2.3), GLASS, gloss=0.2),
        block((-1.3, 0.3), 1.25, (2.25, 2.45), colour, bevel=0.08),
        *mirror(box((-1.4, -0.1), (0.5, 1.0), (1.62, 1.74), colour)),
        cylinder((1.2, 0.0, 1.85), radius=0.09, length=0.9, colour=CHASSIS),
    ]


def tractor(colour: Vector, *, hub: Vector) -> list[Part]:
    """Return a tractor with large rear wheels."""
    return place(_tractor(colour, hub=hub))


def hay_tractor() -> list[Part]:
    """Return a blue tractor that pulls a trailer with hay."""
    trailer = [
        *axle(-3.0, radius=0.42, width=1.9, hub=WHITE),
        block((-4.2, -1.7), 1.8, (0.6, 0.85), BROWN),
        block((-1.8, -0.8), 0.2, (0.5, 0.64), CHASSIS),
        cylinder((-3.55, 0.0, 1.4), radius=0.62, length=1.8, colour=STRAW, axis="y", bevel=0.06),
        cylinder((-2.3, 0.0, 1.4), radius=0.62, length=1.8, colour=STRAW, axis="y", bevel=0.06),
        cylinder((-2.92, 0.0, 2.4), radius=0.62, length=1.8, colour=STRAW, axis="y", bevel=0.06),
    ]
    return place([*_tractor(BLUE, hub=WHITE), *trailer])


def excavator() -> list[Part]:
    """Return an orange machine on tracks with an arm and a bucket."""
    return place(
        [
            *track((-1.7, 1.4), width=2.1, height=0.75, thickness=0.6),
            block((-1.0, 0.8), 1.2, (0.4, 0.85), CHASSIS),
            block((-1.9, 0.5), 1.9, (0.85, 1.6), ORANGE, bevel=0.1),
            block((-0.5, 0.9), 1.7, (0.85, 2.2), GLASS, gloss=0.2),
            block((-0.6, 1.0), 1.8, (2.15, 2.32), ORANGE, bevel=0.06),
            block((-0.6, -0.4), 1.78, (1.0, 2.2), ORANGE),
            block((-2.0, -1.2), 1.94, (0.9, 1.25), CHASSIS, bevel=0.1),
            tilt(box((0.5, 3.1), (-0.22, 0.22), (2.05, 2.5), ORANGE), -42),
            tilt(box((2.0, 4.1), (-0.2, 0.2), (2.0, 2.36), ORANGE), 62),
            prism(((2.75, 0.35), (3.6, 0.55), (3.75, 1.3), (3.0, 1.3)), (-0.45, 0.45), CHASSIS),
        ]
    )


def bulldozer() -> list[Part]:
    """Return a yellow machine on tracks with a wide blade in front."""
    return place(
        [
            *track((-1.6, 1.3), width=2.0, height=0.95, thickness=0.5),
            block((-1.5, 1.2), 1.1, (0.4, 1.05), AMBER),
            block((-0.1, 1.3), 1.1, (0.9, 1.55), YELLOW, bevel=0.08),
            block((-1.4, 0.0), 1.3, (0.95, 1.3), YELLOW),
            block((-1.2, -0.1), 1.15, (1.25, 2.1), GLASS, gloss=0.2),
            block((-1.35, 0.05), 1.4, (2.05, 2.25), YELLOW, bevel=0.06),
            *mirror(box((-0.2, 1.8), (0.8, 1.02), (0.42, 0.62), YELLOW)),
            block((1.65, 1.85), 2.3, (0.1, 1.35), YELLOW),
            prism(((1.75, 0.05), (2.2, 0.05), (1.95, 0.3)), (-1.15, 1.15), SILVER),
            cylinder((0.8, 0.0, 1.9), radius=0.09, length=0.8, colour=CHASSIS),
            tilt(block((-2.1, -1.5), 0.4, (0.6, 0.8), CHASSIS), -30),
            *mirror(box((1.2, 1.3), (0.2, 0.45), (1.2, 1.45), HEADLAMP)),
        ]
    )


def road_roller() -> list[Part]:
    """Return a turquoise machine with a steel drum in front."""
    return place(
        [
            cylinder((1.3, 0.0, 0.75), radius=0.75, length=1.8, colour=SILVER, axis="y", bevel=0.03, gloss=0.3),
            cylinder((1.3, 0.0, 0.75), radius=0.4, length=1.9, colour=TEAL, axis="y"),
            *mirror(box((0.2, 1.45), (0.92, 1.04), (0.65, 0.9), TEAL)),
            block((0.1, 0.35), 2.08, (0.65, 1.1), TEAL),
            *axle(-1.1, radius=0.66, width=1.8, hub=TEAL),
            block((-2.0, 0.2), 1.3, (0.55, 1.2), TEAL, bevel=0.1),
            block((-2.0, -0.9), 1.5, (1.15, 1.5), TEAL, bevel=0.1),
            *person(-0.45, 0.0, 1.1, ORANGE, hat=YELLOW),
            *mirror(cylinder((0.1, 0.55, 1.7), radius=0.06, length=1.2, colour=CHASSIS)),
            *mirror(cylinder((-1.3, 0.55, 1.7), radius=0.06, length=1.2, colour=CHASSIS)),
            block((-1.6, 0.35), 1.5, (2.25, 2.4), WHITE, bevel=0.05),
        ]
    )


def forklift() -> list[Part]:
    """Return a red and black forklift with a wooden crate."""
    return place(
        [
            *axle(-0.8, radius=0.36, width=1.5, hub=RED),
            *axle(0.55, radius=0.42, width=1.5, hub=RED),
            block((-1.3, 0.8), 1.4, (0.35, 0.9), RED, bevel=0.1),
            block((-1.35, -0.5), 1.4, (0.8, 1.25), RED, bevel=0.15),
            *person(-0.2, 0.0, 0.85, BLUE, hat=WHITE),
            *mirror(cylinder((-0.9, 0.55, 1.6), radius=0.06, length=1.0, colour=BLACK)),
            *mirror(tilt(cylinder((0.5, 0.55, 1.5), radius=0.06, length=1.3, colour=BLACK), -12)),
            block((-1.0, 0.45), 1.3, (2.05, 2.17), BLACK),
            *mirror(box((0.85, 1.02), (0.3, 0.5), (0.1, 2.6), CHASSIS)),
            block((0.85, 2.1), 0.9, (0.7, 0.82), CHASSIS),
            block((1.08, 2.3), 1.3, (0.82, 1.9), TAN),
            *[block((1.06, 2.32), 1.34, (z, z + 0.12), BROWN) for z in (0.84, 1.3, 1.76)],
        ]
    )


def moon_rover() -> list[Part]:
    """Return a white machine on six wheels with a blue solar panel, a mast and a dish."""
    tyre = cylinder((0.0, 0.78, 0.42), radius=0.42, length=0.4, colour=CHASSIS, axis="y", bevel=0.1)
    return place(
        [
            *[part for x in (-1.4, 0.0, 1.4) for part in move(mirror(tyre), x=x)],
            *mirror(box((-1.5, 1.5), (0.45, 0.6), (0.5, 0.66), CHASSIS)),
            block((-1.2, 1.3), 1.2, (0.65, 1.3), WHITE, bevel=0.05),
            block((-1.22, 1.32), 1.23, (0.7, 1.0), GOLD, bevel=0.0, gloss=0.3),
            tilt(block((-1.7, 0.5), 1.9, (1.65, 1.75), BLUE, gloss=0.3), 12),
            tilt(block((-1.7, 0.5), 0.1, (1.68, 1.78), WHITE), 12),
            tilt(block((-0.65, -0.55), 1.9, (1.68, 1.78), WHITE), 12),
            cylinder((0.95, 0.0, 1.65), radius=0.08, length=1.1, colour=SILVER),
            block((0.75, 1.25), 0.6, (2.1, 2.45), WHITE),
            cylinder((1.25, 0.0, 2.28), radius=0.12, length=0.14, colour=BLACK, axis="x"),
            tilt(cone((-1.3, 0.0, 2.15), low=0.1, high=0.5, length=0.35, colour=WHITE), -35),
            cylinder((-1.1, 0.0, 1.85), radius=0.06, length=0.5, colour=SILVER),
            tilt(box((1.2, 1.9), (-0.1, 0.1), (0.95, 1.1), RED), 20),
        ]
    )


def golf_cart() -> list[Part]:
    """Return a small white car without doors under a roof on posts."""
    return place(
        enlarge(
            [
                *axle(-0.85, radius=0.34, width=1.36),
                *axle(0.9, radius=0.34, width=1.36),
                block((-1.3, 1.2), 1.3, (0.3, 0.55), WHITE, bevel=0.08),
                prism(((0.55, 0.5), (1.35, 0.5), (1.2, 0.85), (0.65, 1.05)), (-0.62, 0.62), WHITE),
                block((-0.75, -0.1), 1.25, (0.5, 0.95), RED, bevel=0.08),
                block((-0.8, -0.6), 1.25, (0.9, 1.4), RED, bevel=0.08),
                *mirror(tilt(cylinder((0.62, 0.56, 1.45), radius=0.05, length=1.05, colour=WHITE), -10)),
                *mirror(cylinder((-0.9, 0.56, 1.45), radius=0.05, length=1.1, colour=WHITE)),
                block((-1.15, 0.75), 1.45, (1.95, 2.1), WHITE, bevel=0.06),
                *person(-0.35, 0.28, 0.9, GREEN),
                tilt(cylinder((-1.25, 0.0, 1.05), radius=0.24, length=0.9, colour=GREEN), -12),
                *mirror(ball((1.25, 0.4, 0.75), radius=0.11, colour=HEADLAMP)),
            ],
            1.2,
        )
    )


def horse_carriage() -> list[Part]:
    """Return a brown horse in front of an open white carriage with golden wheels."""
    horse = [
        cylinder((1.7, 0.0, 1.15), radius=0.36, length=1.5, colour=BROWN, axis="x", bevel=0.25),
        *[
            box((x, x + 0.18), (y - 0.1, y + 0.1), (0.0, 1.0), BARK, bevel=0.05)
            for x, y in ((1.05, 0.2), (1.25, -0.2), (2.1, 0.2), (2.25, -0.2))
        ],
        tilt(cylinder((2.42, 0.0, 1.6), radius=0.22, length=0.9, colour=BROWN, bevel=0.1), 28),
        tilt(block((2.45, 3.1), 0.32, (1.8, 2.1), BROWN, bevel=0.1), 25),
        tilt(block((2.15, 2.3), 0.14, (1.3, 2.15), BLACK), 28),
        tilt(cylinder((0.85, 0.0, 1.0), radius=0.1, length=0.7, colour=BLACK), 15),
    ]
    carriage = [
        *wheels(-2.0, radius=0.65, width=1.7, thickness=0.16, hub=GOLD),
        *wheels(-0.4, radius=0.5, width=1.6, thickness=0.16, hub=GOLD),
        block((-2.4, 0.0), 1.3, (0.7, 1.25), WHITE, bevel=0.2),
        block((-2.45, -1.95), 1.3, (1.1, 1.75), WHITE, bevel=0.15),
        block((-1.95, -1.0), 1.1, (1.15, 1.32), RED),
        *mirror(box((-0.2, 1.6), (0.42, 0.5), (0.85, 0.95), GOLD)),
        *person(-0.4, 0.0, 1.2, NAVY),
        cylinder((-0.4, 0.0, 2.2), radius=0.2, length=0.36, colour=BLACK),
    ]
    return place([*horse, *carriage])


def motorcycle() -> list[Part]:
    """Return a black motorcycle with a rider in red."""
    return place(
        enlarge(
            [
                *axle(-0.8, radius=0.42, width=0.26),
                *axle(0.85, radius=0.42, width=0.24),
                block((-0.6, 0.6), 0.34, (0.4, 0.75), CHASSIS, bevel=0.1),
                block((-0.1, 0.55), 0.4, (0.72, 1.0), BLACK, bevel=0.12),
                block((-0.95, 0.0), 0.34, (0.75, 0.92), BLACK, bevel=0.06),
                tilt(cylinder((0.68, 0.0, 0.8), radius=0.08, length=0.95, colour=SILVER), -24),
                cylinder((0.42, 0.0, 1.2), radius=0.05, length=1.0, colour=BLACK, axis="y"),
                ball((0.72, 0.0, 1.05), radius=0.17, colour=HEADLAMP),
                tilt(block((-0.45, -0.05), 0.58, (0.9, 1.55), RED, bevel=0.15), 12),
                *mirror(tilt(box((-0.1, 0.5), (0.32, 0.48), (1.25, 1.4), RED, bevel=0.05), 12)),
                *mirror(tilt(box((-0.35, 0.35), (0.2, 0.42), (0.65, 0.88), NAVY, bevel=0.08), 15)),
                ball((-0.08, 0.0, 1.78), radius=0.29, colour=WHITE, gloss=0.2),
                block((0.02, 0.22), 0.42, (1.7, 1.86), GLASS),
                *mirror(cylinder((-0.6, 0.24, 0.4), radius=0.09, length=0.9, colour=SILVER, axis="x")),
            ],
            1.3,
        )
    )


def delivery_scooter() -> list[Part]:
    """Return a mint scooter with a large yellow box behind the rider."""
    return place(
        enlarge(
            [
                *axle(-0.75, radius=0.32, width=0.24, hub=WHITE),
                *axle(0.85, radius=0.32, width=0.22, hub=WHITE),
                block((-1.05, -0.1), 0.46, (0.42, 0.9), MINT, bevel=0.14),
                block((-0.2, 0.6), 0.44, (0.28, 0.4), MINT),
                tilt(block((0.5, 0.64), 0.56, (0.35, 1.25), MINT, bevel=0.06), -14),
                block((0.65, 1.1), 0.26, (0.55, 0.7), MINT, bevel=0.06),
                cylinder((0.45, 0.0, 1.3), radius=0.05, length=1.0, colour=BLACK, axis="y"),
                block((-0.85, -0.1), 0.44, (0.88, 1.0), BROWN),
                block((-1.35, -0.5), 0.95, (1.0, 1.95), YELLOW, bevel=0.06, gloss=LACQUER),
                block((-1.37, -0.48), 0.97, (1.38, 1.58), RED, bevel=0.0),
                *person(-0.2, 0.0, 0.98, BLUE, hat=MINT),
                *mirror(tilt(box((-0.2, 0.35), (0.12, 0.3), (0.75, 0.93), NAVY), 20)),
                ball((0.6, 0.0, 1.15), radius=0.14, colour=HEADLAMP),
            ],
            1.3,
        )
    )
