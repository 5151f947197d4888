"""How events are said: several verbs for one, each as likely."""

from generation.engine.seeding import Stream

MOVES = ("went to the", "went back to the", "journeyed to the", "moved to the", "travelled to the")
TAKES = ("got the", "took the", "grabbed the", "picked up the")
LEAVES = ("dropped the", "discarded the", "left the", "put down the")
GIVES = ("gave", "handed", "passed")


def move(who: str, place: str, chance: Stream) -> str:
    """Return that somebody goes somewhere."""
    return f"{who} {chance.choice(MOVES)} {place}."
