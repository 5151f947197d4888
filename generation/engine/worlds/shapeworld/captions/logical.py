"""There is a red square and most circles are blue."""

from collections.abc import Callable, Mapping

from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.caption_knobs import CaptionKnobs
from generation.engine.worlds.shapeworld.captions.chance import Weighted
from generation.engine.worlds.shapeworld.meaning import Joined, Statement

Truths = tuple[bool, bool]
TRUE_BY: Mapping[str, tuple[Truths, ...]] = {
    "and": ((True, True),),
    "or": ((True, True), (True, False), (False, True)),
    "if": ((True, True), (False, True), (False, False)),
    "iff": ((True, True), (False, False)),
}
FALSE_BY: Mapping[str, tuple[Truths, ...]] = {
    "or": ((False, False),),
    "if": ((True, False),),
    "iff": ((True, False), (False, True)),
}
CHANGED: Mapping[str, Truths] = {"first": (False, True), "second": (True, False), "both": (False, False)}
Pair = tuple[Statement, Statement]  # with one frame, the first true and the second false
TRIES = 4  # kinds of each part


class Logical:
    """Joins two statements; each way in which that makes a connective true is as likely. Heads are connectives.

    Parameters
    ----------
    knobs : CaptionKnobs
    """

    def __init__(self, knobs: CaptionKnobs) -> None:
        self.heads: Mapping[str, float] = dict.fromkeys(knobs.connectives, 1.0)
        self.parts = Weighted(knobs.parts)
        self.conjunction = Weighted(knobs.corruption.conjunction)

    def pair(self, pair: Callable[[str], Pair | None], random: Stream, head: str) -> tuple[Joined, Joined] | None:
        """Return a true and a false caption whose parts have the same frames; None where too little can be said.

        `pair(kind)` gives a definitely true statement of a caption type and a definitely false one with its frame; None
        where there are none.
        """
        first, second = self._part(pair, random), self._part(pair, random)
        if first is None or second is None or not set(first).isdisjoint(second):
            return None
        false_by = CHANGED[self.conjunction.draw(random)] if head == "and" else random.choice(FALSE_BY[head])
        true, false = (
            Joined(head, first[not truths[0]], second[not truths[1]])
            for truths in (random.choice(TRUE_BY[head]), false_by)
        )
        return true, false

    def _part(self, pair: Callable[[str], Pair | None], random: Stream) -> Pair | None:
        for _ in range(TRIES):
            found = pair(self.parts.draw(random))
            if found is not None:
                return found
        return None
