"""Microworlds for tests, and a second way to draw pictures of them, with Pillow."""

import math

import numpy as np
from hypothesis import strategies
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from generation.engine.seeding import Stage, Stream, stream
from generation.engine.worlds.shapeworld.proofs.geometry import corners
from generation.engine.worlds.shapeworld.scene import SHAPES, Entity, FlatScene
from generation.engine.worlds.shapeworld.shape_geometry import STRETCHED, TALL
from generation.engine.worlds.shapeworld.vocabulary import ShapeVocabulary

FINER = 16  # Pillow draws each pixel as a square with this number of points on a side
CORNERS = 720  # number of corners of a round shape


def chance(index: int = 0, *, split: str = "train", stage: Stage = Stage.SCENE) -> Stream:
    """Return a random stream for tests."""
    return stream(seed=1, split=split, index=index, stage=stage)


def _entity(shape: str, color: str, shade: float, x: float, y: float, width: float, tall: float, turn: float) -> Entity:
    height = width * (tall if shape in STRETCHED else TALL.get(shape, 1.0))
    return Entity(shape, color, *(round(value, 6) for value in (shade, x, y, width, height, turn)))


entities = strategies.builds(
    _entity,
    strategies.sampled_from(SHAPES),
    strategies.sampled_from(tuple(ShapeVocabulary().colors)),
    strategies.floats(-0.5, 0.5),
    strategies.floats(0.0, 1.0),
    strategies.floats(0.0, 1.0),
    strategies.floats(0.05, 0.4),
    strategies.floats(0.3, 0.8),
    strategies.floats(0.0, 1.0),
)


def scene_of(*shown: Entity, side: int = 64, noise: float = 0.0, seed: int = 0) -> FlatScene:
    """Return a microworld of entities that are drawn in this order."""
    return FlatScene(shown, (0,) * len(shown), (0,) * len(shown), side, side, noise, seed)


def outline(entity: Entity) -> list[tuple[float, float]]:
    """Return the corners of an entity in world units. Round shapes have many corners."""
    wide, high, turned = entity.width / 2, entity.height / 2, math.tau * entity.rotation
    angles = [math.tau * number / CORNERS for number in range(CORNERS)]
    if entity.shape in ("circle", "ellipse"):
        places = [(wide * math.cos(angle), high * math.sin(angle)) for angle in angles]
    elif entity.shape == "semicircle":
        places = [(wide * math.cos(angle / 2), high - wide * math.sin(angle / 2)) for angle in angles]
        places.append((-wide, high))
    elif entity.shape == "cross":
        quarter = [(1.0, -1 / 3), (1.0, 1 / 3), (1 / 3, 1 / 3)]
        places = [(wide * x, high * y) for turn in range(4) for x, y in _quarters(quarter, turn)]
    else:
        places = corners(entity.shape, wide, high)
    cos, sin = math.cos(turned), math.sin(turned)
    return [(entity.x + x * cos - y * sin, entity.y + x * sin + y * cos) for x, y in places]


def _quarters(places: list[tuple[float, float]], turns: int) -> list[tuple[float, float]]:
    for _ in range(turns):
        places = [(-y, x) for x, y in places]
    return places


def draw_by_pillow(scene: FlatScene, words: ShapeVocabulary) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the picture of a microworld without noise, and its object ids, drawn as polygons by Pillow."""
    rgb = Image.new("RGB", (scene.width, scene.height), words.background)
    ids = Image.new("L", (FINER * scene.width, FINER * scene.height))
    for number, entity in enumerate(scene.entities):
        share = Image.new("L", ids.size)
        places = [(x * ids.width - 0.5, y * ids.height - 0.5) for x, y in outline(entity)]
        ImageDraw.Draw(share).polygon(places, fill=255)
        ImageDraw.Draw(ids).polygon(places, fill=number + 1)
        color = Image.new("RGB", rgb.size, words.colors[entity.color].shaded(entity.shade))
        rgb.paste(color, mask=share.resize(rgb.size, Image.Resampling.BOX))
    middle = FINER // 2
    return np.asarray(rgb), np.asarray(ids)[middle::FINER, middle::FINER]
