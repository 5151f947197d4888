"""The bodies of vans, buses, rail vehicles and the tuk-tuk."""

from generation.engine.render.render_scene import Vector
from generation.engine.worlds.simtown.bodies import (
    LACQUER,
    Span,
    axle,
    beacon,
    block,
    enlarge,
    lamps,
    mirror,
    place,
)
from generation.engine.worlds.simtown.colours import (
    AMBER,
    BLACK,
    BLUE,
    BROWN,
    CHASSIS,
    CREAM,
    GLASS,
    GOLD,
    GREEN,
    GREY,
    HEADLAMP,
    MINT,
    ORANGE,
    PINE,
    PINK,
    RED,
    SILVER,
    SKY,
    TAN,
    TEAL,
    WHITE,
    YELLOW,
)
from generation.engine.worlds.simtown.parts import Part, ball, box, cone, cylinder, prism, tilt


def _van(colour: Vector, *, skirt: Vector) -> list[Part]:
    """Return a van; the skirt is the lower half of its sides."""
    shell = ((-2.2, 0.4), (2.1, 0.4), (2.25, 0.6), (2.2, 1.15), (1.55, 2.25), (-2.2, 2.25))
    pane = ((0.75, 1.22), (2.19, 1.22), (1.7, 2.05), (0.75, 2.05))
    return [
        *axle(-1.35, radius=0.45, width=2.02),
        *axle(1.35, radius=0.45, width=2.02),
        block((-2.25, 2.3), 1.84, (0.28, 0.52), CHASSIS, bevel=0.08),
        prism(shell, (-0.96, 0.96), colour, gloss=LACQUER),
        prism(pane, (-0.98, 0.98), GLASS, gloss=0.2),
        block((1.36, 1.5), 2.0, (1.2, 2.08), colour),
        block((-2.21, 2.26), 1.98, (0.45, 1.1), skirt, bevel=0.04),
        *lamps((-2.2, 2.25), width=1.9, z=0.8),
    ]


def ice_cream_van() -> list[Part]:
    """Return a pink and cream van with an ice-cream cone on its roof."""
    return place(
        [
            *_van(PINK, skirt=CREAM),
            block((-1.6, 0.4), 2.02, (1.25, 1.9), WHITE),
            block((-1.75, 0.55), 2.3, (1.9, 2.04), MINT),
            tilt(cone((-0.95, 0.0, 2.66), low=0.06, high=0.5, length=1.5, colour=TAN, axis="x"), -12),
            ball((-0.1, 0.0, 2.82), radius=0.55, colour=MINT),
            ball((0.4, 0.0, 2.88), radius=0.45, colour=WHITE),
            ball((0.84, 0.0, 2.98), radius=0.16, colour=RED),
        ]
    )


def ambulance() -> list[Part]:
    """Return a white van with red crosses, a red band and blue lamps."""
    return place(
        [
            *_van(WHITE, skirt=WHITE),
            block((-2.22, 2.0), 2.0, (0.72, 0.98), RED, bevel=0.0),
            block((-1.5, -0.3), 2.02, (1.5, 1.78), RED, bevel=0.0),
            block((-1.04, -0.76), 2.02, (1.24, 2.04), RED, bevel=0.0),
            block((-1.5, -0.3), 0.28, (2.2, 2.3), RED, bevel=0.0),
            block((-1.04, -0.76), 0.8, (2.2, 2.3), RED, bevel=0.0),
            beacon(1.2, 2.25, BLUE, width=1.5),
            beacon(-1.95, 2.25, BLUE, width=1.5),
        ]
    )


def surfer_van() -> list[Part]:
    """Return a turquoise and cream van with surfboards on its roof."""
    board = ((-2.0, 2.6), (-1.3, 2.32), (1.2, 2.32), (2.0, 2.68), (1.2, 2.94), (-1.3, 2.9))
    boards = [
        prism(board, (0.36, 0.52), YELLOW, gloss=LACQUER),
        prism(board, (-0.52, -0.36), YELLOW, gloss=LACQUER),
        block((-1.8, 1.85), 1.06, (2.58, 2.68), RED, bevel=0.0),
    ]
    return place(
        [
            *_van(CREAM, skirt=TEAL),
            block((-2.21, 0.5), 1.99, (1.3, 1.95), GLASS),
            *[block((x, x + 0.14), 2.01, (1.25, 2.0), CREAM) for x in (-1.35, -0.5)],
            *boards,
            *[block((x, x + 0.14), 1.5, (2.2, 2.4), CHASSIS) for x in (-1.3, 0.8)],
        ]
    )


def donut_van() -> list[Part]:
    """Return a sky-blue van with a donut on its roof."""
    crumbs = ((-0.35, 0.35, WHITE), (0.38, 0.3, YELLOW), (0.48, -0.2, WHITE), (-0.1, -0.5, YELLOW), (-0.5, -0.15, SKY))
    return place(
        [
            *_van(SKY, skirt=BROWN),
            cylinder((-0.6, 0.0, 2.7), radius=0.68, length=0.5, colour=TAN, axis="y", bevel=0.22),
            cylinder((-0.6, 0.0, 2.7), radius=0.6, length=0.58, colour=PINK, axis="y", bevel=0.1),
            cylinder((-0.6, 0.0, 2.7), radius=0.23, length=0.62, colour=BLACK, axis="y"),
            *[
                cylinder((-0.6 + x, 0.0, 2.7 + z), radius=0.08, length=0.62, colour=colour, axis="y")
                for x, z, colour in crumbs
            ],
            block((-1.6, 0.4), 2.02, (1.3, 1.85), PINK),
        ]
    )


def _coach(colour: Vector, *, z: Span, x: Span = (-3.0, 3.0), roof: Vector) -> list[Part]:
    """Return the closed body of a bus up to the roof, with one row of windows."""
    back, front = x
    high = z[1]
    panes = (high - 1.2, high - 0.45)
    posts = [back + (front - back) * share for share in (0.12, 0.34, 0.56, 0.78)]
    return [
        block(x, 2.2, z, colour, bevel=0.16),
        block((back - 0.02, front + 0.02), 2.23, panes, GLASS),
        *[block((post, post + 0.16), 2.26, panes, colour) for post in posts],
        block((back + 0.1, front - 0.1), 2.0, (high - 0.1, high + 0.1), roof, bevel=0.08),
    ]


def _bus_wheels() -> list[Part]:
    return [
        *axle(-1.8, radius=0.5, width=2.26),
        *axle(1.9, radius=0.5, width=2.26),
        block((-3.04, 3.05), 2.0, (0.3, 0.6), CHASSIS, bevel=0.08),
    ]


def bus(colour: Vector, *, band: Vector = WHITE) -> list[Part]:
    """Return a bus with one deck; the band runs along its sides, the roof has the body's colour."""
    return place(
        [
            *_bus_wheels(),
            *_coach(colour, z=(0.4, 2.75), roof=colour),
            block((-2.98, 2.98), 2.24, (1.2, 1.36), band, bevel=0.0),
            *lamps((-3.0, 3.0), width=2.2, z=0.85),
        ]
    )


def double_decker_bus() -> list[Part]:
    """Return a red bus with two rows of windows."""
    return place(
        [
            *_bus_wheels(),
            *_coach(RED, z=(0.4, 2.35), x=(-2.8, 2.8), roof=RED),
            block((-2.8, 2.8), 2.2, (2.1, 3.28), RED, bevel=0.16),
            block((-2.82, 2.82), 2.23, (2.42, 2.98), GLASS),
            *[block((x, x + 0.16), 2.26, (2.4, 3.0), RED) for x in (-1.6, -0.1, 1.4)],
            block((-2.78, 2.78), 2.24, (2.02, 2.2), WHITE, bevel=0.0),
            *lamps((-2.8, 2.8), width=2.2, z=0.85),
        ]
    )


def school_bus() -> list[Part]:
    """Return a yellow bus with a bonnet, black lines and a red stop sign on both sides."""
    return place(
        [
            *_bus_wheels(),
            *_coach(AMBER, z=(0.4, 2.75), x=(-3.0, 1.9), roof=WHITE),
            block((1.8, 3.0), 1.9, (0.45, 1.5), AMBER, bevel=0.2),
            *[block((-2.98, 1.88), 2.24, (z, z + 0.13), BLACK, bevel=0.0) for z in (0.8, 1.2)],
            block((2.95, 3.06), 1.0, (0.7, 1.2), BLACK),
            cylinder((0.9, 0.0, 1.0), radius=0.3, length=2.36, colour=RED, axis="y"),
            *lamps((-3.0, 3.0), width=1.9, z=1.0),
        ]
    )


def tram() -> list[Part]:
    """Return a cream and green tram with a current collector on its roof."""
    return place(
        [
            block((-2.7, 2.7), 1.7, (0.1, 0.5), CHASSIS),
            *[axle_part for x in (-1.9, -1.1, 1.1, 1.9) for axle_part in axle(x, radius=0.3, width=1.9)[:1]],
            *_coach(CREAM, z=(0.35, 2.65), x=(-2.95, 2.95), roof=GREY),
            block((-2.97, 2.97), 2.24, (0.4, 1.3), PINE, bevel=0.12),
            tilt(block((-0.82, 0.18), 0.16, (2.95, 3.05), RED), -38),
            tilt(block((-0.18, 0.82), 0.16, (2.95, 3.05), RED), 38),
            block((-0.35, 0.35), 1.5, (3.28, 3.38), RED),
            ball((2.95, 0.0, 0.95), radius=0.2, colour=HEADLAMP),
        ]
    )


def steam_locomotive() -> list[Part]:
    """Return a black steam engine with red wheels, a red cab and a gold dome."""
    return place(
        [
            *[part for x in (-1.6, -0.4, 0.8) for part in axle(x, radius=0.55, width=1.8, hub=RED)],
            block((-2.4, 2.1), 1.5, (0.5, 0.85), RED),
            cylinder((0.5, 0.0, 1.5), radius=0.68, length=3.0, colour=BLACK, axis="x", bevel=0.05, gloss=0.2),
            *[cylinder((x, 0.0, 1.5), radius=0.71, length=0.14, colour=GOLD, axis="x", gloss=0.2) for x in (0.1, 1.1)],
            cylinder((2.0, 0.0, 1.5), radius=0.5, length=0.12, colour=RED, axis="x"),
            block((-2.4, -0.9), 1.9, (0.8, 2.5), RED, bevel=0.05),
            block((-2.0, -1.2), 1.94, (1.6, 2.25), GLASS),
            block((-2.6, -0.7), 2.1, (2.45, 2.62), BLACK, bevel=0.06),
            cone((1.5, 0.0, 2.5), low=0.2, high=0.42, length=0.9, colour=BLACK),
            cylinder((1.5, 0.0, 2.98), radius=0.44, length=0.16, colour=RED),
            ball((0.55, 0.0, 2.15), radius=0.34, colour=GOLD, gloss=0.2),
            prism(((1.9, 0.12), (2.75, 0.12), (2.1, 0.9), (1.9, 0.9)), (-0.8, 0.8), RED),
            cylinder((2.1, 0.0, 2.2), radius=0.2, length=0.3, colour=HEADLAMP, axis="x"),
        ]
    )


def tuk_tuk() -> list[Part]:
    """Return a green and yellow three-wheeler with open sides."""
    return place(
        enlarge(
            [
                *axle(-0.8, radius=0.36, width=1.5),
                *axle(1.15, radius=0.36, width=0.3),
                block((-1.35, 0.9), 1.45, (0.3, 0.95), GREEN, bevel=0.12),
                prism(((0.6, 0.4), (1.5, 0.5), (1.3, 1.1), (0.7, 1.25)), (-0.55, 0.55), GREEN),
                block((-1.2, -0.75), 1.3, (0.9, 1.75), BLACK),
                block((-0.4, 0.3), 1.2, (0.85, 1.1), BLACK),
                tilt(block((0.72, 0.8), 1.3, (1.05, 1.85), GLASS, gloss=0.3), -12),
                block((-1.4, 0.85), 1.55, (1.8, 2.1), YELLOW, bevel=0.14),
                *mirror(box((-1.3, -1.1), (0.62, 0.72), (0.9, 1.9), YELLOW)),
                *mirror(box((-0.35, -0.2), (0.62, 0.72), (0.9, 1.9), YELLOW)),
                block((-1.38, 0.9), 1.48, (0.62, 0.78), YELLOW, bevel=0.0),
                ball((1.42, 0.0, 0.95), radius=0.2, colour=HEADLAMP),
                block((-1.4, -1.3), 1.2, (0.5, 0.66), ORANGE),
                block((0.1, 0.5), 0.5, (1.0, 1.55), SILVER, bevel=0.15),
            ],
            1.15,
        )
    )
