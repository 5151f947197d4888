"""How events are said: several verbs for one, each as likely."""

from generation.engine.seeding import Stream

MOVES = ("went over to the", "returned to the", "journeyed to the", "moved on to the", "travelled to the")
TAKES = ("got the", "took the", "grabbed the", "picked up the")
LEAVES = ("dropped the", "discarded the", "left the", "put down the")
GIVES = ("gave", "handed", "passed")


def move(who: str, place: str, chance: Stream) -> str:
    """Return that somebody goes somewhere."""
    return f"{who} {chance.choice(MOVES)} {place}."
