"""What makes bAbI's questions harder: supporting facts, lines between a question and its facts, chained facts."""

from generation.engine.errors import BadSpec
from generation.engine.worlds.levels import Change, LevelAttribute, Trend, labelled, named

MOST_FACTS = 3  # tasks 1, 2 and 3 need one, two and three supporting facts


def _facts(number: int) -> Change:
    if not 1 <= number <= MOST_FACTS:
        raise BadSpec(f"Expected 1 to {MOST_FACTS} supporting facts, got {number}.", where="facts")
    return {"tasks": [number]}


def _distance(lines: int) -> Change:
    return {"told.distance": lines}


def _steps(steps: int, *, shapes: int, sizes: int) -> Change:
    return {"told.steps": steps, "told.shapes": shapes, "told.sizes": sizes}


def _story(people: int, places: int, things: int) -> Change:
    return {"told.people": people, "told.places": places, "told.things": things}


LEVELS = (
    LevelAttribute(
        "facts",
        "supporting facts: only the task that needs so many",
        "supports",
        Trend.MORE,
        named(_facts(1), _facts(2), _facts(3)),
        labelled("task 1, one fact", "task 2, two facts", "task 3, three facts"),
        _facts,
        is_joint=False,
    ),
    LevelAttribute(
        "distance",
        "lines between a question and the last of its supporting facts",
        "nearest",
        Trend.MORE,
        named(_distance(0), _distance(5), _distance(10)),
        labelled("no minimum", "at least 5", "at least 10"),
        _distance,
    ),
    LevelAttribute(
        "steps",
        "facts chained by a question of tasks 17 to 19",
        "supports",
        Trend.MORE,
        named(_steps(2, shapes=3, sizes=6), _steps(3, shapes=4, sizes=8), _steps(4, shapes=5, sizes=10)),
        labelled("2", "3", "4"),
    ),
    LevelAttribute(
        "story",
        "people, places and things in a story",
        "answer",
        Trend.VARIETY,
        named(_story(4, 6, 3), _story(6, 8, 5), _story(8, 10, 6)),
        labelled("4 people, 6 places, 3 things", "6, 8, 5", "8, 10, 6"),
    ),
)
