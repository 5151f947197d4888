"""What makes counting questions harder: objects and large answers, attributes and relations in the question."""

from generation.engine.worlds.counting.spec import BESIDE, FALLING
from generation.engine.worlds.levels import Change, LevelAttribute, Trend, labelled, named

DIGITS = 6  # decimals of shares


def _objects(least: int, most: int) -> Change:
    """Return the change to so many objects, of which questions count as many as leave room for a relation."""
    answers = max(1, most - BESIDE - 1)
    shares = FALLING[: answers + 1]
    total = sum(shares)
    shares = [round(share / total, DIGITS) for share in shares]
    shares[0] = round(shares[0] + 1.0 - sum(shares), DIGITS)
    return {"scene.objects_min": least, "scene.objects_max": most, "questions.shares": shares}


def _complex(questions: float, relations: float) -> Change:
    return {"questions.complex_share": questions, "questions.relation_share": relations}


LEVELS = (
    LevelAttribute(
        "objects",
        "objects in a scene; answers are at most 3 fewer",
        "objects",
        Trend.MORE,
        named(_objects(3, 6), _objects(6, 11), _objects(11, 18)),
        labelled("3 to 6", "6 to 11", "11 to 18"),
        lambda number: _objects(number, number),
    ),
    LevelAttribute(
        "relations",
        "attributes and relations of what is counted",
        "relation",
        Trend.MORE,
        named(_complex(0.0, 0.0), _complex(0.5, 0.0), _complex(0.9, 1.0)),
        labelled("a shape alone", "half with attributes", "nine of ten with a relation"),
    ),
)
