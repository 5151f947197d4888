"""Specs of ShapeWorld with an error in one field each."""

from typing import Any

COLOR = {"rgb": [1, 2, 3]}
CAPTIONS = "captions"

# Each entry: the change of shapeworld-multishape, the field, and words in the message: what was expected, what came.
FAULTS: dict[str, tuple[dict[str, Any], str, tuple[str, ...]]] = {
    "a parameter that there isn't": ({"scene": {"entity_max": 3}}, "scene.entity_max", ("known key",)),
    "more at least than at most": (
        {"scene": {"entities_min": 5, "entities_max": 4}},
        "scene",
        ("entities_min", "5", "4"),
    ),
    "more entities than fit": (
        {"scene": {"entities_max": 30, "size_min": 0.19, "size_max": 0.2}},
        "scene",
        ("30", "0.19", "lower entities_max"),
    ),
    "half an entity": ({"scene": {"entities_max": 2.5}}, "scene.entities_max", ("integer", "2.5")),
    "a size below 0": ({"scene": {"size_min": -0.1}}, "scene.size_min", ("0.03", "-0.1")),
    "a way to choose that there isn't": ({"scene": {"choosing": {"sorted": 1}}}, "scene.choosing.sorted", ("random",)),
    "pictures that are no squares": ({"images": {"width": 32}}, "images", ("square", "32 by 64")),
    "pictures too large": ({"images": {"width": 10**6, "height": 10**6}}, "images.width", ()),
    "too much noise": ({"images": {"noise": 2}}, "images.noise", ("0.5", "2")),
    "a caption type that there isn't": ({CAPTIONS: {"kinds": {"rhyme": 1}}}, "captions.kinds.rhyme", ("existential",)),
    "caption types without weight": ({CAPTIONS: {"kinds": {"existential": 0}}}, "captions.kinds", ("above 0",)),
    "more true captions than all": ({CAPTIONS: {"correct": 1.5}}, "captions.correct", ("1", "1.5")),
    "a relation that there isn't": ({CAPTIONS: {"relations": ["inside"]}}, "captions.relations", ("left", "inside")),
    "a quantifier said twice": ({CAPTIONS: {"quantifiers": ["no", "no"]}}, "captions.quantifiers", ("each once",)),
    "bounds the wrong way about": ({CAPTIONS: {"bounds": [6, 3]}}, "captions", ("least first", "6 and 3")),
    "false captions of a third way": ({CAPTIONS: {"negatives": "random"}}, "captions.negatives", ("world", "random")),
    "logical parts of logical captions": ({CAPTIONS: {"parts": {"logical": 1}}}, "captions", ("no logical",)),
    "an unknown shape held out": (
        {"held_out": {"combinations": [["star", "red"]]}},
        "held_out.combinations.0.0",
        ("square", "star"),
    ),
    "an unknown colour held out": ({"held_out": {"combinations": [["square", "pink"]]}}, "", ("vocabulary", "pink")),
    "every number held out": ({"held_out": {"counts": list(range(1, 6))}}, "", ("not held out",)),
    "a number shown that isn't held out": (
        {"splits": {"test": {"overrides": {"held_out": {"shows_counts": [3]}}}}},
        "splits.test.overrides.held_out",
        ("among held_out.counts", "3"),
    ),
    "a colour called as a relation": ({"vocabulary": {"colors": {"left": COLOR}}}, "vocabulary", ("'left'",)),
    "a colour called as shapes are": ({"vocabulary": {"colors": {"crosses": COLOR}}}, "vocabulary", ("'crosses'",)),
    "a colour that can't be seen": (
        {"vocabulary": {"colors": {"night": {"rgb": [0, 0, 0]}}}},
        "vocabulary",
        ("background", "'night'"),
    ),
    "a mixture of a mixture": ({"mix": {"shapeworld-mixer": 1}}, "mix.shapeworld-mixer", ("shapeworld-oneshape",)),
    "a mixture of nothing": ({"mix": {"shapeworld-oneshape": 0}}, "mix.shapeworld-oneshape", ("0",)),
}
