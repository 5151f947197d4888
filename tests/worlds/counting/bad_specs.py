"""Specs of made counting questions that are wrong in one field each."""

from typing import Any

GROUNDING = "splits.grounding.overrides"


def asking(**changes: Any) -> dict[str, Any]:
    return {"questions": changes}


# What is laid over clevr-counting; the path of the field; words of the message: what was expected, what came.
FAULTS: dict[str, tuple[dict[str, Any], str, tuple[str, ...]]] = {
    "a parameter that there is not": ({"scene": {"cubes": 3}}, "scene.cubes", ("known key",)),
    "no largest count": ({"most": 0}, "most", ("1", "0")),
    "shares that do not sum to one": (asking(shares=[0.5, 0.4]), "questions", ("shares", "sum to 1", "0.9")),
    "a share below 0": (asking(shares=[1.5, -0.5]), "questions.shares.0", ("1", "1.5")),
    "no shares": (asking(shares=[]), "questions.shares", ("at least 1 entry",)),
    "shares in words": (asking(shares="falling"), "questions.shares", ("array", "falling")),
    "an answer above the largest count": (
        asking(shares=[0.5, *[0.0] * 15, 0.5]),
        "",
        ("questions.shares of answers up to most, 15", "got one of 16"),
    ),
    "an answer that fits in no scene": (
        {"scene": {"objects_max": 16}},
        "",
        ("scene.objects_max of at least 17", "answer 15", "got 16"),
    ),
    "two complex questions that fit in no scene": (
        asking(complex_share=1.0),
        "",
        ("scene.objects_max of at least 19", "got 18"),
    ),
    "more objects at least than at most": (
        {"scene": {"objects_min": 19}},
        "scene",
        ("objects_min up to objects_max", "19 and 18"),
    ),
    "no objects": ({"scene": {"objects_min": 0}}, "scene.objects_min", ("1", "0")),
    "a margin without room": ({"scene": {"margin": 0.6}}, "scene", ("18 objects 0.6 apart", "lower objects_max")),
    "no question": (asking(per_scene=0), "questions.per_scene", ("1", "0")),
    "too many questions": (asking(per_scene=3), "questions.per_scene", ("2", "3")),
    "a share of complex questions above one": (
        asking(complex_share=1.1),
        "questions.complex_share",
        ("less than or equal to 1", "1.1"),
    ),
    "a share of relations below 0": (asking(relation_share=-0.1), "questions.relation_share", ("0", "-0.1")),
    "a picture too small": ({"images": {"width": 32}}, "images.width", ("64", "32")),
    "no samples": ({"images": {"samples": 0}}, "images.samples", ("1", "0")),
    "a fault in a split": (
        {"splits": {"grounding": {"overrides": asking(shares=[0.5])}}},
        f"{GROUNDING}.questions",
        ("sum to 1", "0.5"),
    ),
    "a seed in a split": ({"splits": {"test": {"overrides": {"seed": 3}}}}, "splits.test.overrides", ("seed",)),
}
