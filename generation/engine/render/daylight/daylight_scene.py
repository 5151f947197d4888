"""The input of pictures in daylight: surfaces, ground, sun, sky and air, and their packed arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from generation.engine.render.render_scene import Vector
from generation.engine.render.shapes import FAR

# Columns of the packed surfaces and of the packed daylight
GLOSS, GLOW, HOLDS_SNOW, WINDOWS, CELL, SIZE, BASE, GLASS, LIT = 3, 4, 7, 8, 9, 11, 13, 14, 17
SUN_FROM, SUN, ZENITH, HORIZON, BOUNCE, HAZE, DENSITY, CLOUDS, CLOUD, WET, SNOW = 0, 3, 6, 9, 12, 15, 18, 19, 20, 23, 24


@dataclass(frozen=True)
class Windows:
    """Rows of windows on the upright sides of a box.

    Attributes
    ----------
    cell : (width, height)
        Metres from one window to the next; the width is adapted to the wall.
    size : (width, height)
        Metres.
    base : float
        Metres from the bottom of the box to the lowest windows' cells.
    colour : (r, g, b)
        The glass, linear.
    lit : float
        The share of the windows that are lit.
    """

    cell: tuple[float, float]
    size: tuple[float, float]
    base: float
    colour: Vector
    lit: float = 0.0


@dataclass(frozen=True)
class Surface:
    """How a surface looks.

    Attributes
    ----------
    colour : (r, g, b)
        Share of light that is reflected, linear, 0 to 1.
    gloss : float
        The share of light that is mirrored, 0 to 1.
    glow : (r, g, b)
        The light that it emits.
    windows : Windows or None
        For boxes alone.
    snow : float
        How much of the snow that falls stays where the surface faces up, 0 to 1.
    """

    colour: Vector
    gloss: float = 0.04
    glow: Vector = (0.0, 0.0, 0.0)
    windows: Windows | None = None
    snow: float = 1.0


@dataclass(frozen=True)
class Mark:
    """A painted rectangle on the ground; with `period`, only the first `dash` metres of each period along x."""

    x: tuple[float, float]
    y: tuple[float, float]
    colour: Vector
    period: float = 0.0
    dash: float = 0.0


@dataclass(frozen=True)
class Daylight:
    """Sun, sky and air.

    Attributes
    ----------
    sun_from : unit vector
        The direction of the sun.
    sun : (r, g, b)
        The light on a surface that faces the sun; zeros for no sun and no shadows.
    zenith, horizon : (r, g, b)
        The light of the sky.
    bounce : (r, g, b)
        The light that comes from below.
    haze : (r, g, b)
        The colour of the air.
    density : float
        How much of the light the haze takes away, per metre.
    clouds : float
        The share of the sky that clouds cover.
    cloud : (r, g, b)
        The light of clouds.
    wet : float
        How strongly the ground mirrors the sky, 0 to 1.
    snow : float
        How white the upper sides of solids are, 0 to 1.
    """

    sun_from: Vector
    sun: Vector
    zenith: Vector
    horizon: Vector
    bounce: Vector
    haze: Vector
    density: float = 0.0
    clouds: float = 0.0
    cloud: Vector = (1.0, 1.0, 1.0)
    wet: float = 0.0
    snow: float = 0.0


@dataclass(frozen=True)
class Ground:
    """The ground plane z = 0: its colour, its marks (later ones cover earlier ones), and soft shadows of contact.

    Attributes
    ----------
    colour : (r, g, b)
    marks : sequence of Mark
    contacts : sequence of (x, y, half length, half width)
        The rectangles that objects cover on the ground; no sky light comes below them and little beside them.
    """

    colour: Vector
    marks: Sequence[Mark] = ()
    contacts: Sequence[tuple[float, float, float, float]] = ()


def pack_surfaces(surfaces: Sequence[Surface]) -> np.ndarray:
    """Return (n, 18): colour, gloss, glow, snow, 1 for windows, cell, size, base, colour and lit share of windows."""
    return np.array([_pack_surface(one) for one in surfaces], dtype=np.float64).reshape(len(surfaces), 18)


def _pack_surface(one: Surface) -> tuple[float, ...]:
    windows = one.windows
    own = (*one.colour, one.gloss, *one.glow, one.snow)
    if windows is None:
        return (*own, *[0.0] * 10)
    return (*own, 1.0, *windows.cell, *windows.size, windows.base, *windows.colour, windows.lit)


def pack_ground(ground: Ground) -> tuple[np.ndarray, np.ndarray]:
    """Return the marks (n + 1, 9), of which the first is the whole ground, and the contacts (m, 4)."""
    everywhere = (-FAR, FAR, -FAR, FAR, *ground.colour, 0.0, 0.0)
    rows = [everywhere, *((*mark.x, *mark.y, *mark.colour, mark.period, mark.dash) for mark in ground.marks)]
    contacts = np.array(ground.contacts, dtype=np.float64).reshape(len(ground.contacts), 4)
    return np.array(rows, dtype=np.float64), contacts


def pack_daylight(light: Daylight) -> np.ndarray:
    """Return 25 floats: the attributes of `Daylight` in their order."""
    vectors = (light.sun_from, light.sun, light.zenith, light.horizon, light.bounce, light.haze)
    rest = (light.density, light.clouds, *light.cloud, light.wet, light.snow)
    return np.array([*(value for vector in vectors for value in vector), *rest], dtype=np.float64)
