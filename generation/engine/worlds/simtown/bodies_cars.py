"""The bodies of cars: sedans, hatchbacks, wagons, open cars, and cars in the form of animals and food."""

from generation.engine.render.render_scene import Vector
from generation.engine.worlds.simtown.bodies import (
    LACQUER,
    Span,
    axle,
    beacon,
    block,
    lamps,
    mirror,
    person,
    place,
    spots,
    wheels,
)
from generation.engine.worlds.simtown.colours import (
    BLACK,
    BLUE,
    BROWN,
    CHASSIS,
    CREAM,
    GLASS,
    GREEN,
    HEADLAMP,
    LIME,
    MAROON,
    OLIVE,
    ORANGE,
    PINK,
    PURPLE,
    RED,
    SILVER,
    SKY,
    STEEL,
    TAN,
    WHITE,
    YELLOW,
)
from generation.engine.worlds.simtown.parts import Part, ball, box, cone, cylinder, move, prism, tilt

Outline = tuple[tuple[float, float], ...]


def _body(x: Span, colour: Vector, *, wheel_x: Span, cabin: Outline, roof: Vector) -> list[Part]:
    """Return a closed car; the last two points of the cabin's outline are the roof, front and back."""
    back, front = x
    (high_front, top), (high_back, _) = cabin[-2:]
    middle = (high_front + high_back) / 2
    return [
        *axle(wheel_x[0], radius=0.44, width=1.96),
        *axle(wheel_x[1], radius=0.44, width=1.96),
        block((back - 0.08, front + 0.08), 1.8, (0.26, 0.5), CHASSIS, bevel=0.1),
        block(x, 1.9, (0.34, 1.02), colour, bevel=0.22),
        prism(cabin, (-0.82, 0.82), GLASS, gloss=0.2),
        block((high_back - 0.06, high_front + 0.06), 1.72, (top - 0.04, top + 0.12), roof, bevel=0.08),
        block((middle - 0.1, middle + 0.08), 1.68, (0.9, top), roof),
        *lamps(x, width=1.9, z=0.78),
    ]


def _sedan(colour: Vector, *, roof: Vector | None = None) -> list[Part]:
    cabin = ((-1.7, 0.95), (1.05, 0.95), (0.5, 1.6), (-1.15, 1.6))
    return _body((-2.2, 2.2), colour, wheel_x=(-1.35, 1.35), cabin=cabin, roof=roof or colour)


def _small_car(colour: Vector, *, roof: Vector | None = None) -> list[Part]:
    cabin = ((-1.62, 0.95), (0.95, 0.95), (0.5, 1.68), (-1.4, 1.68))
    return _body((-1.7, 1.6), colour, wheel_x=(-1.05, 1.0), cabin=cabin, roof=roof or colour)


def _wagon(colour: Vector) -> list[Part]:
    cabin = ((-2.1, 0.95), (1.05, 0.95), (0.5, 1.6), (-1.95, 1.6))
    return _body((-2.2, 2.1), colour, wheel_x=(-1.35, 1.3), cabin=cabin, roof=colour)


def hatchback(colour: Vector) -> list[Part]:
    """Return a short car in one colour."""
    return place(_small_car(colour))


def taxi() -> list[Part]:
    """Return a yellow car with a checked band and a sign on the roof."""
    checks = [block((x, x + 0.34), 1.94, (0.58, 0.84), BLACK, bevel=0.0) for x in (-1.7, -0.85, 0.0, 0.85)]
    sign = [
        block((-0.62, -0.02), 1.0, (1.68, 2.0), WHITE),
        block((-0.64, 0.0), 1.02, (1.78, 1.88), BLACK, bevel=0.0),
    ]
    return place([*_sedan(YELLOW), *checks, *sign])


def police_car() -> list[Part]:
    """Return a black car with white doors and roof and a red and blue bar of lamps."""
    return place(
        [
            *_sedan(BLACK, roof=WHITE),
            block((-0.95, 0.75), 1.93, (0.4, 0.98), WHITE, bevel=0.02),
            box((-0.5, -0.1), (-0.75, 0.0), (1.7, 1.95), RED, gloss=0.2),
            box((-0.5, -0.1), (0.0, 0.75), (1.7, 1.95), BLUE, gloss=0.2),
            block((-0.4, 0.2), 1.95, (0.6, 0.8), BLUE, bevel=0.0),
        ]
    )


def pizza_car() -> list[Part]:
    """Return a red hatchback with a pizza on its roof."""
    pizza = [
        cylinder((-0.45, 0.0, 2.35), radius=0.78, length=0.24, colour=TAN, axis="y", bevel=0.1),
        cylinder((-0.45, 0.0, 2.35), radius=0.6, length=0.3, colour=YELLOW, axis="y"),
        *[
            cylinder((-0.45 + x, 0.0, 2.35 + z), radius=0.17, length=0.36, colour=RED, axis="y")
            for x, z in ((0.3, 0.05), (-0.12, 0.32), (-0.2, -0.25), (0.12, -0.36))
        ],
        block((-0.6, -0.3), 0.5, (1.7, 1.86), WHITE),
    ]
    return place([*_small_car(RED, roof=WHITE), block((-1.68, 1.58), 1.93, (0.55, 0.72), GREEN), *pizza])


def balloon_car() -> list[Part]:
    """Return a black hatchback with six balloons."""
    places = ((-1.3, -0.55, 2.4, RED), (-0.45, 0.6, 2.45, YELLOW), (0.45, -0.55, 2.4, SKY))
    more = ((-1.35, 0.5, 2.7, LIME), (-0.45, -0.2, 2.88, PINK), (0.5, 0.5, 2.75, ORANGE))
    balloons = [ball((x, y, z), radius=0.5, colour=colour, gloss=0.2) for x, y, z, colour in (*places, *more)]
    string = cylinder((-0.4, 0.0, 2.0), radius=0.04, length=0.7, colour=WHITE)
    strings = [*move([tilt(string, -25)], x=-0.4), *move([tilt(string, 25)], x=0.4)]
    return place([*_small_car(BLACK), *balloons, *strings])


def canoe_car() -> list[Part]:
    """Return a cream wagon with wooden sides and a green canoe on its roof."""
    hull = ((-1.5, 1.95), (1.5, 1.95), (2.0, 2.4), (-2.0, 2.4))
    tip = ((-2.1, 2.25), (-1.6, 2.05), (-1.6, 2.4), (-2.25, 2.62))
    canoe = [
        prism(hull, (-0.38, 0.38), GREEN, gloss=LACQUER),
        prism(tip, (-0.14, 0.14), GREEN),
        prism(tuple((-x, z) for x, z in reversed(tip)), (-0.14, 0.14), GREEN),
        block((-1.7, 1.7), 0.54, (2.38, 2.43), TAN),
        *[block((x, x + 0.12), 1.5, (1.7, 1.98), CHASSIS) for x in (-1.5, 0.2)],
    ]
    return place([*_wagon(CREAM), block((-1.9, 1.2), 1.93, (0.5, 0.9), BROWN, bevel=0.02), *canoe])


def boat_car() -> list[Part]:
    """Return a white hatchback that pulls a red boat on a trailer."""
    hull = ((-2.75, 0.55), (-1.2, 0.55), (-0.3, 1.3), (-2.85, 1.3))
    trailer = [
        *axle(-1.9, radius=0.36, width=1.8),
        block((-2.6, 0.2), 0.3, (0.38, 0.52), CHASSIS),
        prism(hull, (-0.8, 0.8), RED, gloss=LACQUER),
        block((-2.86, -0.4), 1.66, (1.2, 1.36), WHITE, bevel=0.05),
        prism(((-2.2, 1.3), (-1.0, 1.3), (-1.45, 1.9), (-2.1, 1.9)), (-0.55, 0.55), SKY, gloss=0.2),
        block((-2.2, -1.35), 1.2, (1.85, 2.0), WHITE),
        block((-3.05, -2.8), 0.4, (0.8, 1.65), CHASSIS),
    ]
    return place([*move(_small_car(WHITE), x=1.42), *trailer])


def limousine() -> list[Part]:
    """Return a very long black car with a silver line along its sides."""
    cabin = ((-2.55, 0.95), (1.8, 0.95), (1.3, 1.55), (-2.2, 1.55))
    body = _body((-3.0, 3.0), BLACK, wheel_x=(-2.1, 2.1), cabin=cabin, roof=BLACK)
    posts = [block((x, x + 0.14), 1.68, (0.9, 1.55), BLACK) for x in (-1.5, 0.5)]
    return place([*body, *posts, block((-2.9, 2.9), 1.93, (0.86, 0.95), SILVER, bevel=0.0, gloss=0.3)])


def convertible(colour: Vector) -> list[Part]:
    """Return an open car with two people in it."""
    return place(
        [
            *axle(-1.35, radius=0.44, width=1.96, hub=WHITE),
            *axle(1.35, radius=0.44, width=1.96, hub=WHITE),
            block((-2.28, 2.28), 1.8, (0.26, 0.5), SILVER, bevel=0.1),
            block((-2.2, 2.2), 1.9, (0.34, 1.02), colour, bevel=0.22),
            block((-1.15, 0.5), 1.5, (0.9, 1.04), CHASSIS),
            block((-1.35, -1.05), 1.5, (0.9, 1.4), WHITE, bevel=0.1),
            tilt(block((0.45, 0.52), 1.6, (0.95, 1.5), GLASS, gloss=0.3), -30),
            *person(-0.55, 0.4, 0.9, YELLOW, hat=BROWN),
            *person(-0.55, -0.4, 0.9, SKY),
            block((-2.15, -1.3), 1.6, (0.95, 1.1), WHITE, bevel=0.07),
            *lamps((-2.2, 2.2), width=1.9, z=0.78),
        ]
    )


def wedding_car() -> list[Part]:
    """Return a white car with a big red heart on its roof and flowers."""
    heart = [
        *[cylinder((x, 0.0, 2.55), radius=0.36, length=0.3, colour=RED, axis="y", bevel=0.08) for x in (-0.62, -0.08)],
        prism(((-0.35, 1.75), (0.26, 2.48), (0.2, 2.65), (-0.9, 2.65), (-0.96, 2.48)), (-0.15, 0.15), RED),
    ]
    places = ((1.3, PINK), (1.75, RED), (-1.95, PINK))
    flowers = [ball((x, 0.0, 1.02), radius=0.26, colour=colour) for x, colour in places]
    return place([*_sedan(WHITE), *heart, *flowers, block((-2.0, 2.0), 1.94, (0.66, 0.8), PINK)])


def racing_car() -> list[Part]:
    """Return a low blue racing car with open wheels and a large wing."""
    return place(
        [
            *wheels(-1.5, radius=0.5, width=2.1, thickness=0.5, hub=YELLOW),
            *wheels(1.4, radius=0.44, width=2.1, thickness=0.42, hub=YELLOW),
            block((-2.0, 1.1), 0.95, (0.22, 0.75), BLUE, bevel=0.15),
            block((-1.2, 0.3), 1.6, (0.22, 0.6), BLUE, bevel=0.15),
            cone((1.55, 0.0, 0.45), low=0.34, high=0.14, length=1.6, colour=BLUE, axis="x"),
            block((2.05, 2.5), 2.0, (0.18, 0.3), WHITE),
            block((-2.5, -1.95), 2.0, (1.2, 1.32), WHITE),
            *mirror(box((-2.55, -1.85), (0.95, 1.03), (0.85, 1.45), RED)),
            block((-2.3, -2.1), 0.3, (0.5, 1.25), CHASSIS),
            prism(((-1.8, 0.7), (-0.3, 0.7), (-0.6, 1.2), (-0.8, 1.25)), (-0.22, 0.22), WHITE),
            ball((-0.1, 0.0, 0.95), radius=0.3, colour=RED, gloss=0.2),
            cylinder((0.0, 0.0, 0.42), radius=0.28, length=1.64, colour=WHITE, axis="y"),
        ]
    )


def ladybug_car() -> list[Part]:
    """Return a red dome with black spots and a black head."""
    dots = ((-0.75, 0.72, 1.25), (0.15, 0.92, 1.2), (-0.2, 0.45, 1.62), (-0.85, 0.75, 0.7), (0.6, 0.55, 1.45))
    return place(
        [
            *axle(-0.8, radius=0.42, width=2.0, hub=YELLOW),
            *axle(0.8, radius=0.42, width=2.0, hub=YELLOW),
            cylinder((-0.1, 0.0, 1.03), radius=1.15, length=1.4, colour=RED, bevel=0.68, gloss=0.2),
            block((-0.65, 0.5), 0.12, (0.9, 1.76), BLACK, bevel=0.05),
            *spots(dots, radius=0.24),
            ball((1.15, 0.0, 0.95), radius=0.58, colour=BLACK, gloss=0.2),
            *spots([(1.5, 0.28, 1.2)], radius=0.2, colour=WHITE),
            *mirror(tilt(cylinder((1.25, 0.25, 1.62), radius=0.05, length=0.55, colour=BLACK), 25)),
        ]
    )


def banana_car() -> list[Part]:
    """Return a banana on wheels with a driver."""
    return place(
        [
            *axle(-1.1, radius=0.42, width=1.5, hub=RED),
            *axle(1.1, radius=0.42, width=1.5, hub=RED),
            cylinder((0.0, 0.0, 0.8), radius=0.58, length=2.2, colour=YELLOW, axis="x", bevel=0.1, gloss=LACQUER),
            tilt(cone((1.55, 0.0, 1.08), low=0.58, high=0.36, length=1.5, colour=YELLOW, axis="x"), -32),
            tilt(cone((-1.55, 0.0, 1.08), low=0.36, high=0.58, length=1.5, colour=YELLOW, axis="x"), 32),
            tilt(cone((2.32, 0.0, 1.7), low=0.36, high=0.2, length=0.65, colour=YELLOW, axis="x"), -52),
            tilt(cone((-2.32, 0.0, 1.7), low=0.2, high=0.36, length=0.65, colour=YELLOW, axis="x"), 52),
            tilt(cylinder((2.54, 0.0, 2.05), radius=0.17, length=0.4, colour=BROWN, axis="x"), -60),
            tilt(cylinder((-2.52, 0.0, 2.02), radius=0.2, length=0.25, colour=BROWN, axis="x"), 52),
            block((-0.5, 0.5), 0.8, (1.2, 1.4), CHASSIS),
            *person(-0.1, 0.0, 1.25, BLUE, hat=WHITE),
            *mirror(ball((1.9, 0.3, 1.0), radius=0.16, colour=HEADLAMP)),
        ]
    )


def hot_dog_car() -> list[Part]:
    """Return a sausage with mustard in a bun on wheels."""
    mustard = [
        tilt(block((x, x + 0.56), 0.16, (1.78, 1.94), YELLOW, bevel=0.06), angle, axis="z")
        for x, angle in zip((-1.8, -1.35, -0.9, 0.4, 0.85, 1.3), (40, -40, 40, -40, 40, -40), strict=True)
    ]
    return place(
        [
            *axle(-1.3, radius=0.44, width=1.9, hub=RED),
            *axle(1.3, radius=0.44, width=1.9, hub=RED),
            *mirror(cylinder((0.0, 0.45, 0.95), radius=0.5, length=4.2, colour=TAN, axis="x", bevel=0.45)),
            cylinder((0.0, 0.0, 1.4), radius=0.46, length=5.0, colour=MAROON, axis="x", bevel=0.42, gloss=0.2),
            *mustard,
            prism(((-0.4, 1.5), (0.5, 1.5), (0.25, 2.2), (-0.3, 2.2)), (-0.42, 0.42), GLASS, gloss=0.2),
            block((-0.38, 0.33), 0.9, (2.16, 2.28), RED),
        ]
    )


def shark_car() -> list[Part]:
    """Return a blue car with fins, teeth and eyes."""
    back = ((-2.2, 0.75), (2.2, 0.75), (2.5, 1.0), (1.7, 1.4), (0.4, 1.6), (-1.0, 1.5), (-2.2, 1.05))
    return place(
        [
            *axle(-1.2, radius=0.44, width=1.9),
            *axle(1.1, radius=0.44, width=1.9),
            prism(back, (-0.92, 0.92), STEEL),
            block((-2.0, 2.05), 1.88, (0.3, 0.8), WHITE, bevel=0.15),
            prism(((-1.0, 1.4), (0.5, 1.4), (-0.7, 2.5), (-1.0, 2.5)), (-0.12, 0.12), STEEL),
            prism(((-2.3, 0.9), (-1.8, 0.9), (-2.6, 2.05), (-2.9, 2.05)), (-0.1, 0.1), STEEL),
            block((1.2, 2.35), 1.9, (0.58, 0.8), MAROON),
            *[block((x, x + 0.14), 1.94, (0.6, 0.8), WHITE) for x in (1.3, 1.6, 1.9)],
            *spots([(1.55, 0.86, 1.12)], radius=0.2, colour=WHITE),
            *spots([(1.62, 0.98, 1.12)], radius=0.12),
            *mirror(tilt(box((-0.4, 0.3), (0.85, 1.15), (0.85, 0.95), STEEL), 20)),
        ]
    )


def duck_car() -> list[Part]:
    """Return a yellow duck on wheels."""
    return place(
        [
            *axle(-0.85, radius=0.42, width=1.8, hub=ORANGE),
            *axle(0.85, radius=0.42, width=1.8, hub=ORANGE),
            cylinder((0.0, 0.0, 0.95), radius=0.68, length=2.9, colour=YELLOW, axis="x", bevel=0.6),
            block((-1.2, 1.2), 1.7, (0.5, 1.05), YELLOW, bevel=0.25),
            *mirror(tilt(box((-0.9, 0.3), (0.78, 0.95), (0.85, 1.35), WHITE, bevel=0.08), 12)),
            tilt(cone((-1.5, 0.0, 1.35), low=0.08, high=0.5, length=1.0, colour=YELLOW, axis="x"), 35),
            ball((0.95, 0.0, 1.95), radius=0.66, colour=YELLOW),
            block((1.45, 2.05), 0.62, (1.7, 1.92), ORANGE, bevel=0.08),
            *spots([(1.3, 0.46, 2.2)], radius=0.15),
            *lamps((-1.3, 1.4), width=1.6, z=0.75),
        ]
    )


def jeep() -> list[Part]:
    """Return an angular, open, olive car with a spare wheel at the back."""
    return place(
        [
            *axle(-1.15, radius=0.5, width=1.98, hub=OLIVE),
            *axle(1.15, radius=0.5, width=1.98, hub=OLIVE),
            block((-2.0, 2.0), 1.7, (0.35, 0.6), CHASSIS),
            block((-1.9, 0.5), 1.86, (0.5, 1.15), OLIVE, bevel=0.05),
            block((0.45, 1.9), 1.5, (0.5, 1.22), OLIVE, bevel=0.08),
            *mirror(box((0.65, 1.85), (0.6, 0.96), (0.92, 1.06), OLIVE)),
            block((-1.95, 0.2), 1.8, (1.9, 2.05), TAN, bevel=0.06),
            *mirror(box((-1.9, -1.78), (0.74, 0.86), (1.1, 1.95), CHASSIS)),
            tilt(block((0.3, 0.38), 1.7, (1.15, 1.95), GLASS, gloss=0.3), -12),
            cylinder((-2.12, 0.0, 1.15), radius=0.48, length=0.28, colour=BLACK, axis="x", bevel=0.05),
            cylinder((-2.16, 0.0, 1.15), radius=0.26, length=0.28, colour=TAN, axis="x"),
            *person(-0.5, 0.4, 1.0, TAN, hat=BROWN),
            *lamps((-1.9, 1.9), width=1.55, z=0.95),
        ]
    )


def dune_buggy() -> list[Part]:
    """Return an orange frame of tubes on large open wheels."""
    return place(
        [
            *wheels(-1.15, radius=0.58, width=2.2, thickness=0.55, hub=WHITE),
            *wheels(1.25, radius=0.5, width=2.1, thickness=0.4, hub=WHITE),
            prism(((-1.5, 0.4), (1.3, 0.4), (1.75, 0.65), (0.5, 0.95), (-1.5, 0.95)), (-0.62, 0.62), ORANGE),
            *mirror(tilt(cylinder((0.3, 0.58, 1.35), radius=0.07, length=1.1, colour=ORANGE), -25)),
            *mirror(cylinder((-0.95, 0.58, 1.35), radius=0.07, length=1.0, colour=ORANGE)),
            block((-1.05, 0.15), 1.25, (1.8, 1.92), ORANGE, bevel=0.05),
            block((-1.9, -1.2), 0.9, (0.7, 1.2), SILVER, bevel=0.08),
            *person(-0.35, 0.0, 0.8, PURPLE, hat=WHITE),
            *mirror(ball((1.45, 0.35, 0.98), radius=0.18, colour=HEADLAMP)),
            beacon(-0.2, 1.9, YELLOW, width=1.1),
        ]
    )
