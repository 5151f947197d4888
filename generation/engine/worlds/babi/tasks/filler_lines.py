"""Lines that do not matter for a question; they follow the facts, to increase their distance from the question."""

from generation.engine.seeding import Stream
from generation.engine.worlds.babi import cast, wording
from generation.engine.worlds.babi.knobs import Knobs
from generation.engine.worlds.babi.story import Line


def idle(knobs: Knobs, chance: Stream) -> list[Line]:
    """Return `distance` lines in which people walk about."""
    people, places = cast.people("mary", knobs.people), cast.places("house", knobs.places)
    where: dict[str, str] = {}
    lines: list[Line] = []
    for _ in range(knobs.distance):
        who = chance.choice(people)
        where[who] = chance.choice([place for place in places if place != where.get(who)])
        lines.append(Line(wording.move(who, where[who], chance), (("go", who, where[who]),)))
    return lines
