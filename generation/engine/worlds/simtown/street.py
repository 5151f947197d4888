"""The street: its ground, and the buildings, trees and other things beside it.

The road runs along x. Traffic in the near lane drives towards +x, in the far lane towards -x. Lengths are in metres.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from generation.engine.render.daylight.daylight_scene import Mark, Windows
from generation.engine.render.render_scene import Vector
from generation.engine.worlds.simtown.parts import Part, ball, box, cone, cylinder, paint, prism, tilt

LANES: Mapping[str, float] = {"near": 1.7, "far": 5.1}  # the y of their middles
KERBS = (-0.1, 6.9)  # the y of the road's edges
PAVEMENT = 2.6
FRONTS = 11.2  # the y of the nearest house fronts
TREES = 9.9
EDGE = 26.0  # the street's things have |x| below

ASPHALT, LINE, KERB, SLAB = paint("#4a4d52"), paint("#f2f0e6"), paint("#b9b6ae"), paint("#a49d92")
JOINT, GRASS, LAWN = paint("#8d867b"), paint("#6f9a4a"), paint("#7ea653")
SNOW, SLUSH = paint("#eef2f6"), paint("#7d838b")
GLASS = paint("#33465a")

HOUSE_COLOURS: Mapping[str, Vector] = {
    "brick": paint("#a4543f"),
    "cream": paint("#e8d8b0"),
    "mint": paint("#9cc5ac"),
    "sky": paint("#8fb3cf"),
    "rose": paint("#d99a95"),
    "ochre": paint("#d6a04c"),
    "grey": paint("#a9abb0"),
    "plum": paint("#836a86"),
}
TRIM, SLATE, TILE, WOOD = paint("#f3ede0"), paint("#575b66"), paint("#9b4b38"), paint("#6d4a30")
LEAF, DARK_LEAF, PINE, BARK = paint("#5d9440"), paint("#467a35"), paint("#2f6143"), paint("#6b4d36")
POST_RED, POST_BLUE, IRON = paint("#c8202f"), paint("#21539c"), paint("#3c4248")


def marks(*, snow: bool) -> list[Mark]:
    """Return what is painted on the ground, from below to above."""
    near, far = KERBS
    wide = (-80.0, 80.0)
    road, slab, joint, kerb, line = (
        (SLUSH, SNOW, SNOW, SNOW, paint("#d5d9dd")) if snow else (ASPHALT, SLAB, JOINT, KERB, LINE)
    )
    found = [Mark(wide, (far, 40.0), SNOW if snow else LAWN)]
    for low, high in ((near - PAVEMENT, near), (far, far + PAVEMENT)):
        found.append(Mark(wide, (low, high), slab))
        found.append(Mark(wide, (low, high), joint, period=1.5, dash=0.06))
    found.append(Mark(wide, (near - 0.25, far + 0.25), kerb))
    found.append(Mark(wide, (near, far), road))
    found.append(Mark(wide, (near, near + 0.35), _mix(road, kerb)))
    found.append(Mark(wide, (far - 0.35, far), _mix(road, kerb)))
    middle = (near + far) / 2
    found.append(Mark(wide, (middle - 0.09, middle + 0.09), line, period=3.2, dash=1.7))
    edges = (near + 0.6, far - 0.6)
    return [*found, *(Mark(wide, (edge - 0.05, edge + 0.05), line) for edge in edges)]


def _mix(one: Vector, two: Vector) -> Vector:
    return ((one[0] + two[0]) / 2, (one[1] + two[1]) / 2, (one[2] + two[2]) / 2)


def _wall(x: tuple[float, float], y: tuple[float, float], z: tuple[float, float], colour: Vector, at: Windows) -> Part:
    return replace(box(x, y, z, colour, bevel=0.02), windows=at)


def _door(x: float, colour: Vector) -> list[Part]:
    return [
        box((x - 0.62, x + 0.62), (-0.06, 0.2), (0.0, 2.25), TRIM, bevel=0.01),
        box((x - 0.5, x + 0.5), (-0.1, 0.2), (0.0, 2.12), colour, bevel=0.01),
    ]


def _cottage(colour: Vector) -> list[Part]:
    at = Windows(cell=(2.4, 2.7), size=(1.15, 1.3), base=0.35, colour=GLASS)
    roof = [(-3.6, 3.3), (3.6, 3.3), (2.2, 5.6), (-2.2, 5.6)]
    return [
        _wall((-3.2, 3.2), (0.0, 5.0), (0.0, 3.4), colour, at),
        prism(roof, (-0.45, 5.4), TILE),
        box((1.2, 1.9), (2.0, 2.8), (4.0, 6.3), HOUSE_COLOURS["brick"]),
        *_door(0.0, WOOD),
    ]


def _terrace(colour: Vector) -> list[Part]:
    at = Windows(cell=(1.9, 2.6), size=(1.0, 1.45), base=0.5, colour=GLASS)
    return [
        _wall((-2.7, 2.7), (0.0, 5.0), (0.0, 6.0), colour, at),
        box((-2.85, 2.85), (-0.18, 5.1), (6.0, 6.35), TRIM),
        box((-2.6, 2.6), (0.4, 5.0), (6.3, 7.0), SLATE, bevel=0.2),
        *_door(-1.75, POST_BLUE),
    ]


def _flats(colour: Vector) -> list[Part]:
    at = Windows(cell=(1.75, 2.45), size=(1.05, 1.3), base=0.9, colour=GLASS)
    return [
        _wall((-4.2, 4.2), (0.0, 6.0), (0.0, 10.8), colour, at),
        box((-4.25, 4.25), (-0.05, 6.0), (0.0, 0.75), SLATE),
        box((-4.35, 4.35), (-0.2, 6.1), (10.8, 11.2), TRIM),
        *_door(0.0, TILE),
    ]


def _shop(colour: Vector) -> list[Part]:
    upper = Windows(cell=(2.3, 2.2), size=(1.2, 1.2), base=3.2, colour=GLASS)
    return [
        _wall((-3.3, 3.3), (0.0, 5.0), (0.0, 5.8), colour, upper),
        box((-2.9, 0.9), (-0.05, 0.2), (0.6, 2.4), GLASS, bevel=0.01, gloss=0.25),
        *_door(2.1, IRON),
        tilt(box((-3.1, 3.1), (-1.25, 0.05), (2.75, 2.87), POST_RED, bevel=0.02), 20.0, axis="x"),
        tilt(box((-1.6, -0.6), (-1.27, 0.06), (2.76, 2.89), TRIM, bevel=0.02), 20.0, axis="x"),
        tilt(box((0.6, 1.6), (-1.27, 0.06), (2.76, 2.89), TRIM, bevel=0.02), 20.0, axis="x"),
        box((-3.4, 3.4), (-0.15, 5.1), (5.8, 6.15), TRIM),
    ]


def _office(colour: Vector) -> list[Part]:
    at = Windows(cell=(1.5, 2.6), size=(1.22, 1.7), base=0.6, colour=paint("#4c7896"))
    return [
        _wall((-3.4, 3.4), (0.0, 6.0), (0.0, 8.6), colour, at),
        box((-3.45, 3.45), (-0.05, 6.0), (8.6, 8.9), SLATE),
        box((-1.1, 1.1), (-0.9, 0.2), (2.5, 2.7), IRON, bevel=0.02),
        box((-0.8, 0.8), (-0.08, 0.2), (0.0, 2.4), GLASS, bevel=0.01, gloss=0.25),
    ]


def _barn(colour: Vector) -> list[Part]:
    at = Windows(cell=(2.6, 2.2), size=(1.0, 0.9), base=2.6, colour=GLASS)
    gable = [(-3.9, 4.6), (3.9, 4.6), (0.0, 7.4)]
    return [
        _wall((-3.5, 3.5), (0.0, 6.0), (0.0, 4.8), colour, at),
        prism(gable, (-0.35, 6.2), SLATE),
        box((-1.5, 1.5), (-0.06, 0.2), (0.0, 2.5), TRIM, bevel=0.01),
        box((-1.3, 1.3), (-0.1, 0.2), (0.0, 2.35), WOOD, bevel=0.01),
    ]


BUILDINGS: Mapping[str, tuple[float, Callable[[Vector], list[Part]]]] = {  # the width of each style, and its parts
    "cottage": (7.4, _cottage),
    "terrace": (5.7, _terrace),
    "flats": (8.7, _flats),
    "shop": (6.9, _shop),
    "office": (7.0, _office),
    "barn": (8.0, _barn),
}


def _round_tree() -> list[Part]:
    return [
        cylinder((0.0, 0.0, 0.9), radius=0.16, length=1.8, colour=BARK),
        ball((0.0, 0.0, 2.7), radius=1.15, colour=LEAF, gloss=0.0),
        ball((0.65, -0.25, 2.2), radius=0.75, colour=DARK_LEAF, gloss=0.0),
        ball((-0.6, 0.1, 2.3), radius=0.8, colour=DARK_LEAF, gloss=0.0),
    ]


def _pine() -> list[Part]:
    return [
        cylinder((0.0, 0.0, 0.4), radius=0.15, length=0.8, colour=BARK),
        cone((0.0, 0.0, 1.5), low=1.15, high=0.35, length=1.6, colour=PINE),
        cone((0.0, 0.0, 2.7), low=0.85, high=0.2, length=1.4, colour=PINE),
        cone((0.0, 0.0, 3.8), low=0.55, high=0.0, length=1.3, colour=PINE),
    ]


def _bush() -> list[Part]:
    return [
        ball((0.0, 0.0, 0.45), radius=0.55, colour=DARK_LEAF, gloss=0.0),
        ball((0.5, 0.1, 0.35), radius=0.42, colour=LEAF, gloss=0.0),
        ball((-0.5, 0.0, 0.35), radius=0.4, colour=LEAF, gloss=0.0),
    ]


def _mailbox(colour: Vector) -> list[Part]:
    return [
        cylinder((0.0, 0.0, 0.35), radius=0.09, length=0.7, colour=IRON),
        box((-0.35, 0.35), (-0.25, 0.25), (0.6, 1.2), colour, bevel=0.05, gloss=0.12),
        cylinder((0.0, 0.0, 1.2), radius=0.25, length=0.7, colour=colour, axis="x", gloss=0.12),
        box((-0.2, 0.2), (-0.28, 0.0), (1.0, 1.1), TRIM, bevel=0.01),
    ]


def _lamp_post() -> list[Part]:
    return [
        cylinder((0.0, 0.0, 0.2), radius=0.16, length=0.4, colour=IRON),
        cylinder((0.0, 0.0, 2.0), radius=0.07, length=4.0, colour=IRON),
        box((-0.05, 0.05), (-0.8, 0.05), (3.95, 4.05), IRON, bevel=0.02),
        replace(ball((0.0, -0.8, 3.85), radius=0.24, colour=TRIM), is_lamp=True),
    ]


THINGS: Mapping[str, Callable[[], list[Part]]] = {
    "tree": _round_tree,
    "pine": _pine,
    "bush": _bush,
    "red mailbox": lambda: _mailbox(POST_RED),
    "blue mailbox": lambda: _mailbox(POST_BLUE),
    "street lamp": _lamp_post,
}
ROWS: Mapping[str, float] = {  # the y of each kind of thing
    "tree": TREES,
    "pine": TREES,
    "bush": 10.3,
    "red mailbox": 7.6,
    "blue mailbox": 7.6,
    "street lamp": 7.4,
}


def footprint(parts: Sequence[Part]) -> tuple[float, float]:
    """Return half the length and half the width of what stands on the ground below 1 metre, for its contact shadow."""
    low = [part for part in parts if part.centre[2] < 1.0]
    return (
        max(abs(part.centre[0]) + part.scale * max(part.par[:1], default=1.0) for part in low),
        max(abs(part.centre[1]) + part.scale * max(part.par[1:2], default=1.0) for part in low),
    )
