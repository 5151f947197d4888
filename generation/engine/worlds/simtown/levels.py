"""What makes SimTown's questions harder: kinds of vehicles, a distractor, relations, distances, weather."""

from generation.engine.worlds.levels import Change, LevelAttribute, Trend, labelled, named


def _entities(number: int) -> Change:
    return {"entities": number, "questions.ranks": [], "questions.shares": {}}


def _margin(metres: float) -> Change:
    return {"questions.margin": metres}


LEVELS = (
    LevelAttribute(
        "entities",
        "kinds of vehicles",
        "subject",
        Trend.VARIETY,
        named(_entities(5), _entities(15), _entities(31)),
        labelled("5", "15", "31"),
        _entities,
    ),
    LevelAttribute(
        "distractors",
        "a third vehicle, the distractor",
        "distractor",
        Trend.LESS,  # the first value of the facet is yes
        named({"distractor": False}, {"distractor": True}, {"distractor": True}),
        labelled("none", "one", "one"),
    ),
    LevelAttribute(
        "relations",
        "relations that questions name",
        "type",
        Trend.VARIETY,
        named(
            {"questions.relations": ["left"]},
            {"questions.relations": ["left", "right"]},
            {"questions.relations": ["left", "right", "front", "behind"]},
        ),
        labelled("left", "left, right", "left, right, in front, behind"),
    ),
    LevelAttribute(
        "distance",
        "metres that two vehicles are at least apart along the relation",
        "distance",
        Trend.LESS,
        named(_margin(2.0), _margin(1.0), _margin(0.5)),
        labelled("2", "1", "0.5"),
    ),
    LevelAttribute(
        "weather",
        "kinds of weather",
        "weather",
        Trend.VARIETY,
        named(
            {"scene.weathers": ["clear"]},
            {"scene.weathers": ["clear", "overcast", "dusk"]},
            {"scene.weathers": ["clear", "overcast", "rain", "fog", "snow", "dusk"]},
        ),
        labelled("clear", "clear, overcast, dusk", "these, rain, fog, snow"),
    ),
)
