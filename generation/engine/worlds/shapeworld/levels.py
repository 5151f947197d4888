"""What makes ShapeWorld's captions harder: entities in the picture, and caption types."""

from generation.engine.worlds.levels import Change, LevelAttribute, Trend, labelled, named


def _entities(least: int, most: int) -> Change:
    return {"scene.entities_min": least, "scene.entities_max": most}


def _kinds(*kinds: str) -> Change:
    return {"captions.kinds": dict.fromkeys(kinds, 1.0)}


LEVELS = (
    LevelAttribute(
        "objects",
        "entities in a world",
        "entities",
        Trend.MORE,
        named(_entities(2, 3), _entities(4, 6), _entities(7, 10)),
        labelled("2 to 3", "4 to 6", "7 to 10"),
        lambda number: _entities(number, number),
    ),
    LevelAttribute(
        "captions",
        "caption types, by the length of their programs",
        "length",
        Trend.MORE,
        named(_kinds("existential"), _kinds("relational"), _kinds("logical")),
        labelled("existential", "relational", "logical"),
    ),
)
