"""Lines that bear on nothing asked, told after facts that hold at any time, so that a question is far from them."""

from generation.engine.seeding import Stream
from generation.engine.worlds.babi import cast, wording
from generation.engine.worlds.babi.knobs import Knobs
from generation.engine.worlds.babi.story import Line


def idle(knobs: Knobs, chance: Stream) -> list[Line]:
    """Return as many lines as the distance is: people who walk about."""
    people, places = cast.people("mary", knobs.people), cast.places("house", knobs.places)
    where: dict[str, str] = {}
    lines: list[Line] = []
    for _ in range(knobs.distance):
        who = chance.choice(people)
        where[who] = chance.choice([place for place in places if place != where.get(who)])
        lines.append(Line(wording.move(who, where[who], chance), (("go", who, where[who]),)))
    return lines
