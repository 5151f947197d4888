"""Captions that are definitely true or definitely false of a microworld.

A caption's type is drawn first, by weight, and then what it says, from what the microworld has. So no microworld is
rejected because it does not fit a caption that was chosen before.

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
from generation.engine.worlds.shapeworld.caption_parameters import CaptionParameters
from generation.engine.worlds.shapeworld.caption_text import CaptionWriter
from generation.engine.worlds.shapeworld.captions.existential import Existential, SingleAttribute
from generation.engine.worlds.shapeworld.captions.logical import Logical, Pair
from generation.engine.worlds.shapeworld.captions.negatives import Corrupter
from generation.engine.worlds.shapeworld.captions.nouns import NamedMicroworld
from generation.engine.worlds.shapeworld.captions.quantification import (
    Bodies,
    Comparative,
    NumberBound,
    Quantification,
)
from generation.engine.worlds.shapeworld.captions.relational import Relational, RelationalSingleAttribute
from generation.engine.worlds.shapeworld.captions.selectors import Selection, Unique
from generation.engine.worlds.shapeworld.captions.weighted_choice import HeadCounter, WeightedNames, shuffle
from generation.engine.worlds.shapeworld.functions import truth_of
from generation.engine.worlds.shapeworld.logical_form import (
    CACHED,
    Conjunction,
    Meaning,
    Noun,
    QuantifiedStatement,
    Relation,
    SelectedEntity,
    Statement,
    head_of,
    is_proper,
    kind_of,
    makes_sense,
    named_together,
    program_of,
)
from generation.engine.worlds.shapeworld.scene import FlatScene
from generation.engine.worlds.shapeworld.spec import ShapeWorldSpec
from generation.engine.worlds.shapeworld.three_valued_logic import FALSE

Worlds = Callable[[], FlatScene]  # returns another microworld at each call
EARLY = 4  # in the first `tries / EARLY` tries for a false caption, only heads that were used too rarely are allowed
KEPT = 12  # kept other microworlds, for heads that were used too rarely and for later captions


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
    """Makes captions of one type; `heads` maps their heads, for example quantifiers or relations, to weights."""

    heads: Mapping[str, float]

    def true(self, seen: NamedMicroworld, random: Stream, head: str) -> Statement | None:
        """Return a definitely true caption with a head, or None if the microworld has none."""

    def like(self, seen: NamedMicroworld, random: Stream, model: Statement, *, exactly: bool) -> Statement | None:
        """Return a definitely true caption with a model's form, or with exactly its frame; None if there is none.

        The form of a caption is which attributes its nouns name. The frame also includes which of these are equal.
        """


class Captioner:
    """Makes captions of one chunk's microworlds.

    A microworld gets a caption only if it has a true and a false caption with the same frame; one of the two is used.
    So nothing in the captions alone reveals the answer, except the names of shapes and colours.

    It counts what it has used, so that quantifiers, relations and other heads are about equally frequent, as far as
    microworlds allow.

    Parameters
    ----------
    spec : ShapeWorldSpec
        The spec of one split or of one part of a mixture.
    """

    def __init__(self, spec: ShapeWorldSpec) -> None:
        parameters, words = spec.captions, spec.vocabulary
        self.parameters = parameters
        self.forbidden = spec.forbidden
        self.kinds = WeightedNames(parameters.kinds)
        bodies = Bodies(shapes=words.values("shape"), colors=words.values("color"), forbidden=spec.forbidden)
        values = {name: words.values(name) for name in ("shape", "color")}
        self.corrupter = Corrupter(parameters, values, rate=parameters.existing_attribute_rate)
        self.careless = Corrupter(parameters, values, rate=0.0)  # for early tries that find no false caption
        self.logical = Logical(parameters)
        self.sorts = _sorts(parameters, bodies)
        heads = {kind: sort.heads for kind, sort in self.sorts.items()} | {"logical": self.logical.heads}
        self.tallies = {kind: HeadCounter(weights) for kind, weights in heads.items()}
        self.others: deque[NamedMicroworld] = deque(maxlen=KEPT)
        self.is_plain = self.kinds.options == ["existential"] and not parameters.existential.get("body")
        self.say = lru_cache(CACHED)(CaptionWriter(words).say)

    def caption(self, scene: FlatScene, random: Stream, *, fits: bool, other: Worlds) -> Caption | None:
        """Return a caption that is definitely true, or definitely false.

        Parameters
        ----------
        scene : Scene
        random : Stream
        fits : bool
            Whether the caption must be true.
        other : callable
            Returns another microworld at each call, for captions that are true of that one.

        Returns
        -------
        Caption or None
            None if the microworld has none and must be replaced.
        """
        seen = NamedMicroworld(scene, self.parameters.thresholds)
        if fits and self.is_plain:  # all have one frame, and every world has false ones
            meaning: Meaning | None = self.sorts["existential"].true(seen, random, "there")
        else:
            pair = self._pair(seen, random, other)
            meaning = None if pair is None else pair[not fits]
        if meaning is None:
            return None
        program = program_of(meaning)
        return Caption(self.say(meaning), program, fits, kind_of(program), meaning)

    def _pair(self, seen: NamedMicroworld, random: Stream, other: Worlds) -> tuple[Meaning, Meaning] | None:
        """Return a true and a false caption with the same frame, of the first type that has both, or None."""
        for kind in self.kinds.order(random):
            joins = kind == "logical"
            found = self._join_pair(seen, random, other) if joins else self._of_kind(kind, seen, random, other)
            if found is not None:
                return found
        return None

    def _join_pair(
        self, seen: NamedMicroworld, random: Stream, other: Worlds
    ) -> tuple[Conjunction, Conjunction] | None:
        tally = self.tallies["logical"]
        for head in tally.order(random):
            found = self.logical.pair(lambda kind: self._of_kind(kind, seen, random, other), random, head)
            if found is not None:
                tally.add(head)
                return found
        return None

    def _of_kind(self, kind: str, seen: NamedMicroworld, random: Stream, other: Worlds) -> Pair | None:
        if self.parameters.negatives == "world":
            return self._of_another(kind, seen, random, other)
        return self._change_pair(kind, seen, random)

    def _may_say(self, meaning: Meaning) -> bool:
        if not makes_sense(meaning):
            return False
        return not self.forbidden or self.forbidden.isdisjoint(named_together(program_of(meaning)))

    def _like(self, model: Statement, kind: str, seen: NamedMicroworld, random: Stream) -> Statement | None:
        found = self.sorts[kind].like(seen, random, model, exactly=True)
        return found if found is not None and self._may_say(found) else None

    def _of_another(self, kind: str, seen: NamedMicroworld, random: Stream, other: Worlds) -> Pair | None:
        """Return a true caption, and a caption that is true of another microworld and false of this one, or None."""
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
        if isinstance(sort, Quantification) and isinstance(said, QuantifiedStatement):
            sort.count(said)

    def _others(self, other: Worlds, random: Stream) -> Iterator[NamedMicroworld]:
        """Yield other microworlds: in half of the calls a new one, then the kept ones, then more new ones."""
        known = tuple(self.others)
        is_new = self.is_plain or len(known) < KEPT or random.below(2) == 0
        first = 0 if is_new else random.below(KEPT)
        kept = (known[first:] + known[:first])[: self.parameters.tries - is_new]
        if is_new:
            yield self._new(other)
        yield from kept
        for _ in range(self.parameters.tries - is_new - len(kept)):
            yield self._new(other)

    def _new(self, other: Worlds) -> NamedMicroworld:
        self.others.appendleft(NamedMicroworld(other(), self.parameters.thresholds))
        return self.others[0]

    def _more(
        self, known: list[tuple[str, Statement]], heads: Iterator[str], kind: str, seen: NamedMicroworld, random: Stream
    ) -> Iterator[tuple[str, Statement]]:
        """Yield true captions with their heads: first those in `known`, then new ones, which are added to `known`."""
        yield from tuple(known)
        for head in heads:
            found = self.sorts[kind].true(seen, random, head)
            if found is not None and self._may_say(found):
                known.append((head, found))
                yield head, found

    def _change_pair(self, kind: str, seen: NamedMicroworld, random: Stream) -> Pair | None:
        """Return a true caption, and one with a changed part; in early tries only heads that were used too rarely."""
        tally = self.tallies[kind]
        for tried in range(self.parameters.tries):
            is_early = EARLY * tried < self.parameters.tries
            heads = tally.order(random) if is_early else shuffle(tuple(self.sorts[kind].heads), random)
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

    def _first(self, kind: str, heads: Iterator[str], seen: NamedMicroworld, random: Stream) -> Statement | None:
        for head in heads:
            found = self.sorts[kind].true(seen, random, head)
            if found is not None and self._may_say(found):
                return found
        return None

    def _is_false(self, statement: Statement, kind: str, seen: NamedMicroworld) -> bool:
        if not is_proper(statement) or not self._may_say(statement):
            return False
        return kind_of(program_of(statement)) == kind and _is_definitely_false(statement, seen)


def _is_definitely_false(statement: Statement, seen: NamedMicroworld) -> bool:
    """Return whether a statement is false in every reading.

    "Not to the left of a circle" has two readings if there is no circle, as has "not to the left of the circle" if
    there are two. In the original program, "the closest square" is each square that is closer than another one.
    """
    body = statement.body
    if isinstance(body, Relation) and body.negated and not _refers(body, seen):
        return False
    return truth_of(program_of(statement), seen.world) == FALSE and not _fits_another_nearby(statement, seen)


def _fits_another_nearby(statement: Statement, seen: NamedMicroworld) -> bool:
    """Return whether the body fits an entity that the original program takes for the closest, or for the farthest."""
    if not isinstance(statement, QuantifiedStatement) or not isinstance(statement.restrictor, SelectedEntity):
        return False
    selector, noun, near = statement.restrictor
    reference = 0 if near is None else seen.meant_by(near)
    if reference.bit_count() != 1 or not isinstance(statement.body, Noun):
        return False
    return seen.meant_by(statement.body) & seen.world.nearer_than_another(seen.meant_by(noun), reference, selector) > 0


def _refers(body: Relation, seen: NamedMicroworld) -> bool:
    """Return whether a relation's references exist, and whether each noun with `the` fits exactly one entity."""
    count = seen.meant_by(body.reference).bit_count()
    if body.comparison is not None and seen.meant_by(body.comparison).bit_count() != 1:
        return False
    return count == 1 if body.definite else count > 0


def _sorts(parameters: CaptionParameters, bodies: Bodies) -> dict[str, Sort]:
    """Return the makers of captions by type, without `logical`."""
    return {
        "existential": Existential(parameters),
        "single-attribute": SingleAttribute(),
        "relational": Relational(parameters),
        "relational-single-attribute": RelationalSingleAttribute(parameters),
        "selection": Selection(parameters),
        "unique": Unique(),
        "quantification": Quantification(parameters, bodies),
        "number-bound": NumberBound(parameters, bodies),
        "comparative-quantification": Comparative(parameters, bodies),
    }
