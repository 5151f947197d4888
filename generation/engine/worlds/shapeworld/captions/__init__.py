"""Captions that are definitely true or definitely false of a microworld.

A caption's type is drawn first, by weight; then what it is about, among what the world has. So no world is thrown away
because it doesn't fit a caption that somebody had thought of before.

References
----------
Kuhnle and Copestake 2017, ShapeWorld, sections 3.3 and 4.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple, Protocol

from generation.engine.program import Program
from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.caption_knobs import CaptionKnobs
from generation.engine.worlds.shapeworld.captions.chance import Tally, Weighted, shuffled
from generation.engine.worlds.shapeworld.captions.existential import Existential, SingleAttribute
from generation.engine.worlds.shapeworld.captions.logical import Logical, Pair
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
    Quantified,
    Related,
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
from generation.engine.worlds.shapeworld.truth import FALSE

Worlds = Callable[[], Scene]  # gives another microworld each time
EARLY = 4  # of the tries for a false caption, one in so many is for what was said too rarely alone
KEPT = 12  # other worlds, which later captions may be true of, and which are asked for what was said too rarely


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

    def true(self, seen: Seen, random: Stream, head: str) -> Statement | None:
        """Return a definitely true caption with a head; None where the world admits none."""

    def like(self, seen: Seen, random: Stream, model: Statement, *, exactly: bool) -> Statement | None:
        """Return a definitely true caption of a model's form, or exactly its frame; None where the world admits none.

        Its form is which attributes its nouns name; its frame also, which of them are the same.
        """


class Captioner:
    """Captions microworlds as a split's spec says, one chunk of them.

    A microworld is captioned only where it admits a true caption and a false one that have one frame; whichever is
    wanted is said. So nothing but what shapes and colours are called, in no world and no caption, tells of the answer.

    It keeps in mind how often it said what: so quantifiers, relations and their like come as often as each other, as
    far as microworlds admit.

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
        self.logical = Logical(knobs)
        self.sorts = _sorts(knobs, bodies)
        heads = {kind: sort.heads for kind, sort in self.sorts.items()} | {"logical": self.logical.heads}
        self.tallies = {kind: Tally(weights) for kind, weights in heads.items()}
        self.others: deque[Seen] = deque(maxlen=KEPT)
        self.is_plain = self.kinds.options == ["existential"] and not knobs.existential.get("body")
        self.say = lru_cache(CACHED)(Sayer(words).say)

    def caption(self, scene: Scene, random: Stream, *, fits: bool, other: Worlds) -> Caption | None:
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
        if fits and self.is_plain:  # all have one frame, and what is false can be said of every world
            meaning: Meaning | None = self.sorts["existential"].true(seen, random, "there")
        else:
            pair = self._pair(seen, random, other)
            meaning = None if pair is None else pair[not fits]
        if meaning is None:
            return None
        program = program_of(meaning)
        return Caption(self.say(meaning), program, fits, kind_of(program), meaning)

    def _pair(self, seen: Seen, random: Stream, other: Worlds) -> tuple[Meaning, Meaning] | None:
        """Return a true and a false caption with one frame, of the first type that admits them."""
        for kind in self.kinds.order(random):
            joins = kind == "logical"
            found = self._joined(seen, random, other) if joins else self._of_kind(kind, seen, random, other)
            if found is not None:
                return found
        return None

    def _joined(self, seen: Seen, random: Stream, other: Worlds) -> tuple[Joined, Joined] | None:
        tally = self.tallies["logical"]
        for head in tally.order(random):
            found = self.logical.pair(lambda kind: self._of_kind(kind, seen, random, other), random, head)
            if found is not None:
                tally.add(head)
                return found
        return None

    def _of_kind(self, kind: str, seen: Seen, random: Stream, other: Worlds) -> Pair | None:
        if self.knobs.negatives == "world":
            return self._of_another(kind, seen, random, other)
        return self._changed(kind, seen, random)

    def _may_say(self, meaning: Meaning) -> bool:
        if not makes_sense(meaning):
            return False
        return not self.forbidden or self.forbidden.isdisjoint(named_together(program_of(meaning)))

    def _like(self, model: Statement, kind: str, seen: Seen, random: Stream) -> Statement | None:
        found = self.sorts[kind].like(seen, random, model, exactly=True)
        return found if found is not None and self._may_say(found) else None

    def _of_another(self, kind: str, seen: Seen, random: Stream, other: Worlds) -> Pair | None:
        """Return a true caption, and one that is true of another world and false of this one."""
        sort, tally = self.sorts[kind], self.tallies[kind]
        heads, trues = tally.order(random), list[tuple[str, Statement]]()
        for tried, elsewhere in enumerate(self._others(other, random)):
            for head, true in self._more(trues, heads, kind, seen, random):
                if tried <= KEPT and not tally.is_due(head) and head != trues[0][0]:
                    break
                false = sort.like(elsewhere, random, true, exactly=False)
                if false is not None and self._may_say(false) and _is_definitely_false(false, seen):
                    self._count(kind, head, true)
                    return true, false
            if not trues:
                return None
        return None

    def _count(self, kind: str, head: str, said: Statement) -> None:
        self.tallies[kind].add(head)
        sort = self.sorts[kind]
        if isinstance(sort, Quantification) and isinstance(said, Quantified):
            sort.count(said)

    def _others(self, other: Worlds, random: Stream) -> Iterator[Seen]:
        """Yield other worlds: a new one every other time, those of the last captions, then more new ones."""
        known = tuple(self.others)
        is_new = self.is_plain or len(known) < KEPT or random.below(2) == 0
        first = 0 if is_new else random.below(KEPT)
        kept = (known[first:] + known[:first])[: self.knobs.tries - is_new]
        if is_new:
            yield self._new(other)
        yield from kept
        for _ in range(self.knobs.tries - is_new - len(kept)):
            yield self._new(other)

    def _new(self, other: Worlds) -> Seen:
        self.others.appendleft(Seen(other(), self.knobs.thresholds))
        return self.others[0]

    def _more(
        self, known: list[tuple[str, Statement]], heads: Iterator[str], kind: str, seen: Seen, random: Stream
    ) -> Iterator[tuple[str, Statement]]:
        """Yield true captions with their heads, those that are known first; what is found more becomes known."""
        yield from tuple(known)
        for head in heads:
            found = self.sorts[kind].true(seen, random, head)
            if found is not None and self._may_say(found):
                known.append((head, found))
                yield head, found

    def _changed(self, kind: str, seen: Seen, random: Stream) -> Pair | None:
        """Return a true caption, and one with a part changed; at first only what was said too rarely so far."""
        tally = self.tallies[kind]
        for tried in range(self.knobs.tries):
            is_early = EARLY * tried < self.knobs.tries
            heads = tally.order(random) if is_early else shuffled(tuple(self.sorts[kind].heads), random)
            found = self._first(kind, heads, seen, random)
            if found is None:
                return None
            corrupter = self.corrupter if is_early else self.careless
            false = corrupter.changed(found, seen, random)
            if false is None or false == found or not self._is_false(false, kind, seen):
                continue
            if is_early and not tally.is_due(head_of(false)):
                continue
            true = self._like(false, kind, seen, random)
            if true is not None:
                self._count(kind, head_of(false), true)
                return true, false
        return None

    def _first(self, kind: str, heads: Iterator[str], seen: Seen, random: Stream) -> Statement | None:
        for head in heads:
            found = self.sorts[kind].true(seen, random, head)
            if found is not None and self._may_say(found):
                return found
        return None

    def _is_false(self, statement: Statement, kind: str, seen: Seen) -> bool:
        if not is_proper(statement) or not self._may_say(statement):
            return False
        return kind_of(program_of(statement)) == kind and _is_definitely_false(statement, seen)


def _is_definitely_false(statement: Statement, seen: Seen) -> bool:
    """Return whether a statement is false however it is read.

    Whether something is "not to the left of a circle" where there is no circle is read in both ways, as is "not to the
    left of the circle" where there are two.
    """
    body = statement.body
    if isinstance(body, Related) and body.negated and not _refers(body, seen):
        return False
    return truth_of(program_of(statement), seen.world) == FALSE


def _refers(body: Related, seen: Seen) -> bool:
    """Return whether all that a relation refers to is there, and what it calls `the` only once."""
    count = seen.meant_by(body.reference).bit_count()
    if body.comparison is not None and seen.meant_by(body.comparison).bit_count() != 1:
        return False
    return count == 1 if body.definite else count > 0


def _sorts(knobs: CaptionKnobs, bodies: Bodies) -> dict[str, Sort]:
    """Return what makes captions of each type but those that join others."""
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
    }
