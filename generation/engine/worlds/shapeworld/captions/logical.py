"""There is a red square and most circles are blue."""

from collections.abc import Callable, Mapping

from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.caption_knobs import CaptionKnobs
from generation.engine.worlds.shapeworld.captions.chance import Weighted
from generation.engine.worlds.shapeworld.captions.seen import Seen
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
Make = Callable[..., Statement | None]
TRIES = 4  # kinds of each part


class Logical:
    """Joins two statements; each way in which that makes a connective true is as likely. Heads are connectives.

    Parameters
    ----------
    knobs : CaptionKnobs
    true, false : callable
        `true(kind, seen, random)` gives a definitely true statement of a caption type, `false` one with a part changed
        that is definitely false; None where there is none.
    """

    def __init__(self, knobs: CaptionKnobs, *, true: Make, false: Make) -> None:
        self.heads: Mapping[str, float] = dict.fromkeys(knobs.connectives, 1.0)
        self.parts = Weighted(knobs.parts)
        self.conjunction = Weighted(knobs.corruption.conjunction)
        self.makers = {True: true, False: false}

    def true(self, seen: Seen, random: Stream, head: str) -> Joined | None:
        """Return a true caption; None where too little can be said."""
        return self._joined(head, random.choice(TRUE_BY[head]), seen, random)

    def false(self, seen: Seen, random: Stream, head: str) -> Joined | None:
        """Return a false caption, of true and of changed statements; None where too little can be said."""
        truths = CHANGED[self.conjunction.draw(random)] if head == "and" else random.choice(FALSE_BY[head])
        return self._joined(head, truths, seen, random)

    def _joined(self, connective: str, truths: Truths, seen: Seen, random: Stream) -> Joined | None:
        first, second = (self._part(is_true, seen, random) for is_true in truths)
        if first is None or second is None or first == second:
            return None
        return Joined(connective, first, second)

    def _part(self, is_true: bool, seen: Seen, random: Stream) -> Statement | None:
        for _ in range(TRIES):
            found = self.makers[is_true](self.parts.draw(random), seen, random)
            if found is not None:
                return found
        return None
