"""Logical captions: there is a red square and most circles are blue."""

from collections.abc import Callable, Mapping

from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.caption_parameters import CaptionParameters
from generation.engine.worlds.shapeworld.captions.weighted_choice import WeightedNames
from generation.engine.worlds.shapeworld.logical_form import Conjunction, Statement

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
Pair = tuple[Statement, Statement]  # both with one frame; the first is true, the second false
TRIES = 4  # kinds that are tried for each part


class Logical:
    """Joins two statements; all truth values that make the connective true are equally likely. Heads are connectives.

    Parameters
    ----------
    parameters : CaptionParameters
    """

    def __init__(self, parameters: CaptionParameters) -> None:
        self.heads: Mapping[str, float] = dict.fromkeys(parameters.connectives, 1.0)
        self.parts = WeightedNames(parameters.parts)
        self.conjunction = WeightedNames(parameters.corruption.conjunction)

    def pair(
        self, pair: Callable[[str], Pair | None], random: Stream, head: str
    ) -> tuple[Conjunction, Conjunction] | None:
        """Return a true and a false caption whose parts have the same frames, or None.

        `pair(kind)` returns a definitely true statement of a caption type and a definitely false one with the same
        frame, or None.
        """
        first, second = self._part(pair, random), self._part(pair, random)
        if first is None or second is None or not set(first).isdisjoint(second):
            return None
        false_by = CHANGED[self.conjunction.draw(random)] if head == "and" else random.choice(FALSE_BY[head])
        true, false = (
            Conjunction(head, first[not truths[0]], second[not truths[1]])
            for truths in (random.choice(TRUE_BY[head]), false_by)
        )
        return true, false

    def _part(self, pair: Callable[[str], Pair | None], random: Stream) -> Pair | None:
        for _ in range(TRIES):
            found = pair(self.parts.draw(random))
            if found is not None:
                return found
        return None
