"""What makes CLEVR's questions harder: objects, steps of the program, spatial relations."""

from generation.engine.worlds.levels import Change, LevelAttribute, Trend, labelled, named, outside


def _objects(least: int, most: int) -> Change:
    return {"scene.objects_min": least, "scene.objects_max": most}


def _steps(least: int, most: int | None) -> Change:
    return {"questions.never": outside("length", least, most)}


def _relations(least: int, most: int | None) -> Change:
    return {"questions.never": outside("spatial", least, most)}


LEVELS = (
    LevelAttribute(
        "objects",
        "objects in a scene",
        "objects",
        Trend.MORE,
        named(_objects(3, 5), _objects(5, 8), _objects(8, 10)),
        labelled("3 to 5", "5 to 8", "8 to 10"),
        lambda number: _objects(number, number),
    ),
    LevelAttribute(
        "length",
        "steps of the program",
        "length",
        Trend.MORE,
        named(_steps(0, 8), _steps(6, 13), _steps(11, None)),
        labelled("up to 8", "6 to 13", "11 or more"),
        lambda number: _steps(0, number),
    ),
    LevelAttribute(
        "relations",
        "spatial relations of a question",
        "spatial",
        Trend.MORE,
        named(_relations(0, 0), _relations(0, 1), _relations(1, None)),
        labelled("none", "at most 1", "1 to 3"),
        lambda number: _relations(number, number),
    ),
)
