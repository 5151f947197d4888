"""Specs of SimTown that are wrong in one field each."""

from typing import Any

from generation.engine.worlds.simtown.spec import NAMES

SPLIT = "splits.test.overrides"
EVEN = {name: {"subject": 0.2, "object": 0.2} for name in NAMES[:5]}
QUESTIONS = "questions"


def shares(**changes: Any) -> dict[str, Any]:
    """Return shares of five entities with changes."""
    return {QUESTIONS: {"shares": {**EVEN, **{name.replace("_", " "): value for name, value in changes.items()}}}}


# What is laid over simtown-k5; the path of the field; words of the message: what was expected, what came.
FAULTS: dict[str, tuple[dict[str, Any], str, tuple[str, ...]]] = {
    "a parameter that there is not": ({"scene": {"cars": 3}}, "scene.cars", ("known key",)),
    "more entities than there are": ({"entities": 65}, "entities", ("64", "65")),
    "an unknown placement": (
        {"distractor_placement": "near"},
        "distractor_placement",
        ("'beside' or 'random'", "near"),
    ),
    "too few entities": ({"entities": 3}, "entities", ("4", "3")),
    "half an entity": ({"entities": 5.5}, "entities", ("integer", "5.5")),
    "shares of subjects that do not sum to one": (
        shares(taxi={"subject": 0.3, "object": 0.2}),
        "",
        ("subject shares that sum to 1", "1.1"),
    ),
    "shares of objects that do not sum to one": (
        shares(taxi={"subject": 0.2, "object": 0.1}),
        "",
        ("object shares that sum to 1", "0.9"),
    ),
    "a share above one": (
        shares(taxi={"subject": 1.2, "object": 0.2}),
        "questions.shares.taxi.subject",
        ("less than or equal to 1", "1.2"),
    ),
    "shares without the object": (shares(taxi={"subject": 0.2}), "questions.shares.taxi.object", ("none came",)),
    "an unknown entity in shares": (
        shares(zeppelin={"subject": 0.0, "object": 0.0}),
        "",
        ("questions.shares", "unknown entity 'zeppelin'"),
    ),
    "an entity of the world that is not of the spec in shares": (
        shares(ambulance={"subject": 0.0, "object": 0.0}),
        "",
        ("questions.shares of the 5 entities", "'ambulance'"),
    ),
    "an entity without shares": (
        {QUESTIONS: {"shares": {name: EVEN[name] for name in NAMES[1:5]}}},
        "",
        ("questions.shares", "no shares of 'taxi'"),
    ),
    "an entity that would be in every question": (
        {
            QUESTIONS: {
                "shares": {
                    name: {"subject": 0.6 if not number else 0.1, "object": 0.4 if not number else 0.15}
                    for number, name in enumerate(NAMES[:5])
                }
            }
        },
        "",
        ("less than 1", "'taxi'", "more entities or a lower exponent"),
    ),
    "an exponent that is too steep for few entities": (
        {"entities": 4, QUESTIONS: {"exponent": 3.0}},
        "",
        ("less than 1", "more entities or a lower exponent"),
    ),
    "an unknown entity in ranks": (
        {QUESTIONS: {"ranks": [*NAMES[:4], "zeppelin"]}},
        "",
        ("questions.ranks", "each of the 5 entities once", "missing or unknown"),
    ),
    "an entity twice in ranks": (
        {QUESTIONS: {"ranks": [*NAMES[:5], NAMES[0]]}},
        "",
        ("questions.ranks", "one of them twice"),
    ),
    "ranks without an entity": (
        {QUESTIONS: {"ranks": list(NAMES[:4])}},
        "",
        ("questions.ranks", f"{NAMES[4]!r} missing or unknown"),
    ),
    "no way to be false": (
        {QUESTIONS: {"false_shares": {"reversed": 0.0, "absent": 0.0}}},
        "questions.false_shares",
        ("reversed or absent", "0 for both"),
    ),
    "a weight below 0": (
        {QUESTIONS: {"false_shares": {"wrong": -1.0}}},
        "questions.false_shares.wrong",
        ("greater than or equal to 0", "-1"),
    ),
    "a picture taller than wide": (
        {"images": {"width": 64, "height": 96}},
        "images",
        ("one to two times the height", "64 × 96"),
    ),
    "a picture too flat": ({"images": {"width": 129, "height": 64}}, "images", ("129 × 64",)),
    "a picture too large": ({"images": {"width": 5_000, "height": 4_000}}, "images.width", ("5",)),
    "no samples": ({"images": {"samples": 0}}, "images.samples", ("1", "0")),
    "a relation twice": ({QUESTIONS: {"relations": ["left", "left"]}}, "", ("questions.relations", "twice")),
    "a relation that there is not": (
        {QUESTIONS: {"relations": ["near"]}},
        "questions.relations.0",
        ("left", "behind", "near"),
    ),
    "no relation": ({QUESTIONS: {"relations": []}}, "questions.relations", ("at least 1 entry",)),
    "no weather": ({"scene": {"weathers": []}}, "scene.weathers", ("at least 1 entry",)),
    "a weather that there is not": ({"scene": {"weathers": ["hail"]}}, "scene.weathers.0", ("clear", "hail")),
    "no margin": ({QUESTIONS: {"margin": 0.0}}, "questions.margin", ("0.1", "0.0")),
    "a margin that leaves no place": (
        {QUESTIONS: {"margin": 12.0}},
        "",
        ("questions.margin of at most 11.1 metres", "'left'", "blue bus and fire engine", "got 12"),
    ),
    "a margin that leaves no place behind": (
        {QUESTIONS: {"margin": 5.0, "relations": ["right", "behind"]}},
        "",
        ("questions.margin of at most 4.5 metres", "'behind'"),
    ),
    "a frequency that there is not": (
        {QUESTIONS: {"frequencies": "often"}},
        "questions.frequencies",
        ("zipf", "often"),
    ),
    "a fault in a split": (
        {"splits": {"test": {"overrides": {"images": {"width": 32, "height": 64}}}}},
        f"{SPLIT}.images",
        ("32 × 64",),
    ),
    "too few entities in a split": (
        {"splits": {"test": {"overrides": {"entities": 2}}}},
        f"{SPLIT}.entities",
        ("4", "2"),
    ),
    "a seed in a split": ({"splits": {"test": {"overrides": {"seed": 3}}}}, SPLIT, ("settings of the world", "seed")),
}

# The text of a frequency file, and words of the message
BAD_FILES: dict[str, tuple[str, tuple[str, ...]]] = {
    "no JSON": ("taxi 0.5", ("readable JSON", "shares.json")),
    "no list": ("7", ("list of objects with name, subject and object", "shares.json")),
    "a list of names": ('["taxi"]', ("list of objects", "shares.json")),
    "an object": ('{"taxi": 0.5}', ("list of objects", "shares.json")),
    "no object share": ('[{"name": "taxi", "subject": 0.5}]', ("list of objects", "'object'")),
    "no name": ('[{"subject": 0.5, "object": 0.5}]', ("list of objects", "'name'")),
    "a share in words": ('[{"name": "taxi", "subject": "often", "object": 0.5}]', ("list of objects", "often")),
    "a share of null": ('[{"name": "taxi", "subject": null, "object": 0.5}]', ("list of objects",)),
    "a list as name": ('[{"name": ["taxi"], "subject": 0.5, "object": 0.5}]', ("list of objects",)),
}
