"""Captions that are definitely true or definitely false of a microworld.

A caption's type is drawn first, by weight; then what it is about, among what the world has. So no world is thrown away
because it doesn't fit a caption that somebody had thought of before.

References
----------
Kuhnle and Copestake 2017, ShapeWorld, sections 3.3 and 4.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple, Protocol

from generation.engine.program import Program
from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.caption_knobs import CaptionKnobs
from generation.engine.worlds.shapeworld.captions.chance import Tally, Weighted, shuffled
from generation.engine.worlds.shapeworld.captions.existential import Existential, SingleAttribute
from generation.engine.worlds.shapeworld.captions.logical import Logical
from generation.engine.worlds.shapeworld.captions.negatives import Corrupter
from generation.engine.worlds.shapeworld.captions.quantification import (
    Bodies,
    Comparative,
    NumberBound,
    Quantification,
)
from generation.engine.worlds.shapeworld.captions.relational import Relational, RelationalSingleAttribute
from generation.engine.worlds.shapeworld.captions.seen import Seen
from generation.engine.worlds.shapeworld.captions.selection import Selection, Unique
from generation.engine.worlds.shapeworld.functions import truth_of
from generation.engine.worlds.shapeworld.meaning import (
    CACHED,
    Joined,
    Meaning,
    Statement,
    head_of,
    is_proper,
    kind_of,
    makes_sense,
    named_together,
    program_of,
)
from generation.engine.worlds.shapeworld.saying import Sayer
from generation.engine.worlds.shapeworld.scene import Scene
from generation.engine.worlds.shapeworld.spec import ShapeWorldSpec
from generation.engine.worlds.shapeworld.truth import FALSE, Truth

PATIENCE = 4  # other worlds that are asked for what was said too rarely


class Caption(NamedTuple):
    """A caption of a microworld.

    Attributes
    ----------
    text : str
    program : Program
    agreement : bool
        Whether it is true.
    kind : str
        The caption type.
    meaning : Meaning
    """

    text: str
    program: Program
    agreement: bool
    kind: str
    meaning: Meaning


class Sort(Protocol):
    """Makes captions of one type; `heads` are what they turn on, by weight: quantifiers, relations."""

    heads: Mapping[str, float]

    def true(self, seen: Seen, random: Stream, head: str) -> Meaning | None:
        """Return a definitely true caption with a head; None where the world admits none."""


class Captioner:
    """Captions microworlds as a split's spec says, one chunk of them.

    It keeps in mind how often it said what, true and false: so quantifiers, relations and their like come as often as
    each other, and tell nothing about the answer, as far as microworlds admit.

    Parameters
    ----------
    spec : ShapeWorldSpec
        As one split has it, and no mixture.
    """

    def __init__(self, spec: ShapeWorldSpec) -> None:
        knobs, words = spec.captions, spec.vocabulary
        self.knobs = knobs
        self.forbidden = spec.forbidden
        self.kinds = Weighted(knobs.kinds)
        bodies = Bodies(shapes=words.values("shape"), colors=words.values("color"), forbidden=spec.forbidden)
        values = {name: words.values(name) for name in ("shape", "color")}
        self.corrupter = Corrupter(knobs, values, rate=knobs.existing_attribute_rate)
        self.careless = Corrupter(knobs, values, rate=0.0)  # where all that the picture has gives no false caption
        self.logical = Logical(knobs, true=self._true_part, false=self._false_part)
        self.sorts = _sorts(knobs, bodies, self.logical)
        self.tallies = {(kind, fits): Tally(sort.heads) for kind, sort in self.sorts.items() for fits in (True, False)}
        self.say = lru_cache(CACHED)(Sayer(words).say)

    def caption(self, scene: Scene, random: Stream, *, fits: bool, other: Callable[[], Scene]) -> Caption | None:
        """Return a caption that is definitely true, or definitely false.

        Parameters
        ----------
        scene : Scene
        random : Stream
        fits : bool
            Whether it is to be true.
        other : callable
            Gives another microworld each time, for captions that are true of that one.

        Returns
        -------
        Caption or None
            None where the world admits none: another one is to be taken.
        """
        seen = Seen(scene, self.knobs.thresholds)
        if fits:
            meaning = self._true(seen, random)
        elif self.knobs.negatives == "world":
            meaning = self._true_elsewhere(seen, random, other)
        else:
            meaning = self._changed(seen, random)
        if meaning is None:
            return None
        program = program_of(meaning)
        return Caption(self.say(meaning), program, fits, kind_of(program), meaning)

    def _true(self, seen: Seen, random: Stream) -> Meaning | None:
        for kind in self.kinds.order(random):
            found = self._of_kind(kind, seen, random)
            if found is not None:
                return found
        return None

    def _of_kind(self, kind: str, seen: Seen, random: Stream) -> Meaning | None:
        """Return a true caption of a type, with the head that was said least among those the world admits."""
        sort, tally = self.sorts[kind], self.tallies[kind, True]
        for head in tally.order(random):
            found = sort.true(seen, random, head)
            if found is not None and self._may_say(found):
                tally.add(head)
                return found
        return None

    def _may_say(self, meaning: Meaning) -> bool:
        if not makes_sense(meaning):
            return False
        return not self.forbidden or self.forbidden.isdisjoint(named_together(program_of(meaning)))

    def _true_elsewhere(self, seen: Seen, random: Stream, other: Callable[[], Scene]) -> Meaning | None:
        """Return what is true of another world and false of this one."""
        kind = self.kinds.draw(random)
        sort, tally = self.sorts[kind], self.tallies[kind, False]
        for tried in range(self.knobs.tries):
            elsewhere = Seen(other(), self.knobs.thresholds)
            for head in tally.order(random):
                if tried < PATIENCE and not tally.is_due(head):
                    break
                found = sort.true(elsewhere, random, head)
                if found is not None and self._may_say(found) and self._is(FALSE, found, seen):
                    tally.add(head)
                    return found
        return None

    def _changed(self, seen: Seen, random: Stream) -> Meaning | None:
        """Return a true caption with a part changed so that it is false."""
        for kind in self.kinds.order(random):
            found = self._false_joined(seen, random) if kind == "logical" else self._false_part(kind, seen, random)
            if found is not None:
                return found
        return None

    def _false_joined(self, seen: Seen, random: Stream) -> Joined | None:
        tally = self.tallies["logical", False]
        for head in tally.order(random):
            found = self.logical.false(seen, random, head)
            if found is not None and self._may_say(found):
                tally.add(head)
                return found
        return None

    def _true_part(self, kind: str, seen: Seen, random: Stream) -> Statement | None:
        found = self._of_kind(kind, seen, random)
        return None if isinstance(found, Joined) else found

    def _false_part(self, kind: str, seen: Seen, random: Stream) -> Statement | None:
        """Return a true statement of a type with a part changed; at first only what was said too rarely so far."""
        tally = self.tallies[kind, False]
        for tried in range(self.knobs.tries):
            is_early = 2 * tried < self.knobs.tries
            heads = tally.order(random) if is_early else shuffled(tuple(self.sorts[kind].heads), random)
            found = self._first(kind, heads, seen, random)
            if found is None:
                return None
            corrupter = self.corrupter if is_early else self.careless
            changed = corrupter.changed(found, seen, random)
            if changed is None or changed == found or not self._is_false(changed, kind, seen):
                continue
            if tally.is_due(head_of(changed)) or not is_early:
                tally.add(head_of(changed))
                return changed
        return None

    def _first(self, kind: str, heads: Iterator[str], seen: Seen, random: Stream) -> Statement | None:
        for head in heads:
            found = self.sorts[kind].true(seen, random, head)
            if found is not None and not isinstance(found, Joined):
                return found
        return None

    def _is(self, truth: Truth, meaning: Meaning, seen: Seen) -> bool:
        return truth_of(program_of(meaning), seen.world) == truth

    def _is_false(self, statement: Statement, kind: str, seen: Seen) -> bool:
        if not is_proper(statement) or not self._may_say(statement):
            return False
        program = program_of(statement)
        return kind_of(program) == kind and truth_of(program, seen.world) == FALSE


def _sorts(knobs: CaptionKnobs, bodies: Bodies, logical: Logical) -> dict[str, Sort]:
    """Return what makes captions of each type."""
    return {
        "existential": Existential(knobs),
        "single-attribute": SingleAttribute(),
        "relational": Relational(knobs),
        "relational-single-attribute": RelationalSingleAttribute(knobs),
        "selection": Selection(knobs),
        "unique": Unique(),
        "quantification": Quantification(knobs, bodies),
        "number-bound": NumberBound(knobs, bodies),
        "comparative-quantification": Comparative(knobs, bodies),
        "logical": logical,
    }
