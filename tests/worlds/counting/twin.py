"""Slow twins of the plan of answers and of counting: seat after seat, and object after object from the words."""

import re
from collections.abc import Sequence
from fractions import Fraction

from generation.engine.worlds.clevr.scene import ClevrScene, SceneObject

VALUES = {
    "size": ("large", "small"),
    "color": ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow"),
    "material": ("rubber", "metal"),
    "shape": ("cube", "sphere", "cylinder"),
}
RELATIONS = {"left of": "left", "right of": "right", "behind": "behind", "in front of": "front"}
RELATED = re.compile(
    r"(?P<things>.*?) (?:to the )?(?P<relation>left of|right of|behind|in front of) the (?P<anchor>.*)"
)


def sequence(weights: Sequence[int], count: int) -> list[int]:
    """Return which number is next, `count` times: that with the largest weight for its 2 k + 1 (Sainte-Laguë)."""
    given, found = [0] * len(weights), list[int]()
    for _ in range(count):
        best = max(range(len(weights)), key=lambda number: Fraction(weights[number], 2 * given[number] + 1))
        given[best] += 1
        found.append(best)
    return found


def count(text: str, scene: ClevrScene) -> int:
    """Return the answer to a question, from its words and from the places of objects."""
    plain = re.sub(r"How many | are there| can you see| are in the picture|\?", " ", text).replace(" are ", " ")
    plain = " ".join(plain.split())
    found = RELATED.fullmatch(plain)
    if found is None:
        return len(_described(plain, scene))
    [start] = _described(found["anchor"], scene)
    way = scene.directions[RELATIONS[found["relation"]]]
    return sum(
        sum((there - here) * step for here, there, step in zip(start.coords, thing.coords, way, strict=True)) > 0.2
        for thing in _described(found["things"], scene)
    )


def _described(words: str, scene: ClevrScene) -> list[SceneObject]:
    things = list(scene.objects)
    for word in words.split():
        said = word if word in VALUES["size"] + VALUES["color"] + VALUES["material"] else word.removesuffix("s")
        for attribute, values in VALUES.items():
            if said in values:
                things = [thing for thing in things if getattr(thing, attribute) == said]
    return things
