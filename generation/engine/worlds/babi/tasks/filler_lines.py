"""Lines that do not matter for a question; they follow the facts, to increase their distance from the question."""

from generation.engine.seeding import Stream
from generation.engine.worlds.babi import entities, wording
from generation.engine.worlds.babi.story import Line
from generation.engine.worlds.babi.story_parameters import StoryParameters


def idle(parameters: StoryParameters, chance: Stream) -> list[Line]:
    """Return `distance` lines in which people walk about."""
    people, places = entities.people("mary", parameters.people), entities.places("house", parameters.places)
    where: dict[str, str] = {}
    lines: list[Line] = []
    for _ in range(parameters.distance):
        who = chance.choice(people)
        where[who] = chance.choice([place for place in places if place != where.get(who)])
        lines.append(Line(wording.move(who, where[who], chance), (("go", who, where[who]),)))
    return lines
