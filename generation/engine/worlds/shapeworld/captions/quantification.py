"""Quantified captions: most squares are red; two of the five squares are red; more squares than circles are red."""

from collections.abc import Mapping
from functools import cache

from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld import three_valued_logic
from generation.engine.worlds.shapeworld.caption_parameters import CaptionParameters
from generation.engine.worlds.shapeworld.captions.nouns import NamedMicroworld, form_of
from generation.engine.worlds.shapeworld.captions.relational import ANY_NOUN, reference
from generation.engine.worlds.shapeworld.captions.statement_templates import frame
from generation.engine.worlds.shapeworld.captions.weighted_choice import HeadCounter
from generation.engine.worlds.shapeworld.functions import truth_of
from generation.engine.worlds.shapeworld.logical_form import (
    ComparedCounts,
    Noun,
    QuantifiedStatement,
    Relation,
    Statement,
    program_of,
)
from generation.engine.worlds.shapeworld.phrases import COMPARISONS, PROXIMITIES, QUANTIFIERS, Quantifier
from generation.engine.worlds.shapeworld.three_valued_logic import TRUE

TRIES = 6  # tries for restrictors and relations
Fits = list[list[bool]]  # [size][part]: whether a caption is true, and not trivially so
Option = tuple[Noun, int, Noun]  # restrictor, its mask, body


class Quantification:
    """Makes captions of how many of a restrictor have a property. Heads are quantifiers.

    The least used pattern is taken, by weight; within a pattern each true caption is equally likely.
    """

    def __init__(self, parameters: CaptionParameters, bodies: "Bodies") -> None:
        self.heads: Mapping[str, float] = dict.fromkeys(parameters.quantifiers, 1.0)
        self.patterns = HeadCounter(parameters.patterns)
        self.relations = [relation for relation in parameters.relations if relation not in PROXIMITIES]
        self.bodies = bodies
        self.tolerance = parameters.thresholds.ratio

    def true(self, seen: NamedMicroworld, random: Stream, head: str) -> QuantifiedStatement | None:
        """Return a true caption, or None if the quantifier holds nowhere, or only trivially."""
        for pattern in self.patterns.order(random):
            make = self._related if pattern == "relation" else self._draw
            found = make(seen, random, head, pattern)
            if found is not None:
                return found
        return None

    def count(self, said: QuantifiedStatement) -> None:
        """Count the pattern of a caption that was used."""
        self.patterns.add(pattern_of(said))

    def like(
        self, seen: NamedMicroworld, random: Stream, model: Statement, *, exactly: bool
    ) -> QuantifiedStatement | None:
        """Return a true caption with a model's form, or with exactly its frame; None if there is none."""
        assert isinstance(model, QuantifiedStatement)
        if isinstance(model.body, Relation):
            return self._related(seen, random, model.quantifier, "relation", model, exactly=exactly)
        return self._draw(seen, random, model.quantifier, pattern_of(model), model)

    def bound(self, size: int) -> int | None:
        """Return the stated number of the restrictor's entities, or None if it is not stated."""
        return None

    def may_restrict(self, size: int) -> bool:
        """Return whether a restrictor may have this many entities."""
        return True

    def _draw(
        self,
        seen: NamedMicroworld,
        random: Stream,
        quantifier: str,
        pattern: str,
        model: QuantifiedStatement | None = None,
    ) -> QuantifiedStatement | None:
        key = (type(self).__name__, quantifier, pattern, None if model is None else model.bound)
        if key not in seen.fitting:
            seen.fitting[key] = self._options(seen, quantifier, pattern, model)
        if not seen.fitting[key]:
            return None
        noun, mask, said = random.choice(seen.fitting[key])
        return QuantifiedStatement(quantifier, noun, said, self.bound(mask.bit_count()))

    def _options(
        self, seen: NamedMicroworld, quantifier: str, pattern: str, model: QuantifiedStatement | None
    ) -> list[Option]:
        table = table_of(quantifier, seen.count, tolerance=self.tolerance)
        options = []
        for (size, part), found in self.bodies.counted(seen, pattern).items():
            if table[size][part] and self._fits(size, model):
                options += found
        for size, found in self.bodies.uncounted(seen, pattern, table).items():
            if self._fits(size, model):
                options += found
        return options

    def _fits(self, size: int, model: QuantifiedStatement | None) -> bool:
        return self.may_restrict(size) and (model is None or self.bound(size) == model.bound)

    def _related(
        self,
        seen: NamedMicroworld,
        random: Stream,
        quantifier: str,
        pattern: str,
        model: QuantifiedStatement | None = None,
        *,
        exactly: bool = False,
    ) -> QuantifiedStatement | None:
        wanted = frame(model) if exactly and model is not None else None
        for _ in range(TRIES if self.relations and seen.count > 1 and quantifier not in ("a", "the") else 0):
            restrictor, relation, other = self._parts(random, model)
            found = reference(seen, random, other)
            if found is None:
                return None
            noun = random.choice(list(seen.of_form(restrictor)))
            mask = seen.meant_by(noun)
            said = QuantifiedStatement(
                quantifier, noun, Relation(relation, found[0], definite=True), self.bound(mask.bit_count())
            )
            worth = mask != 1 << found[1] and mask.bit_count() > 1 and self._fits(mask.bit_count(), model)
            if not worth or (wanted is not None and frame(said) != wanted):
                continue
            if truth_of(program_of(said), seen.world) == TRUE:
                return said
        return None

    def _parts(self, random: Stream, model: QuantifiedStatement | None) -> tuple[str, str, str | None]:
        """Return the form of a restrictor, a relation, and the form of its reference; None if any form is allowed."""
        if model is None:
            return ANY_NOUN.draw(random), random.choice(self.relations), None
        assert isinstance(model.restrictor, Noun)
        assert isinstance(model.body, Relation)
        return form_of(model.restrictor), model.body.relation, form_of(model.body.reference)


class NumberBound(Quantification):
    """Makes captions of how many of a stated number of entities have a property."""

    def __init__(self, parameters: CaptionParameters, bodies: "Bodies") -> None:
        super().__init__(parameters, bodies)
        self.heads = {name: 1.0 for name in parameters.quantifiers if QUANTIFIERS[name].of}
        self.bounds = parameters.bounds

    def bound(self, size: int) -> int:
        """Return the number of the restrictor's entities, which is always stated."""
        return size

    def may_restrict(self, size: int) -> bool:
        """Return whether the number of entities is within the spec's bounds."""
        low, high = self.bounds
        return low <= size <= high


class Comparative:
    """Makes captions that compare how many entities of two shapes have a colour, or of two colours a shape.

    Heads are comparisons; each true caption is equally likely.
    """

    def __init__(self, parameters: CaptionParameters, bodies: "Bodies") -> None:
        self.heads: Mapping[str, float] = dict.fromkeys(parameters.comparisons, 1.0)
        self.bodies = bodies

    def true(self, seen: NamedMicroworld, random: Stream, head: str) -> ComparedCounts | None:
        """Return a true caption, or None if the comparison holds for no two numbers."""
        options = self._options(seen, head)
        return ComparedCounts(head, *random.choice(options)) if options else None

    def like(self, seen: NamedMicroworld, random: Stream, model: Statement, *, exactly: bool) -> ComparedCounts | None:
        """Return a true caption with a model's form, which is also its frame, or None if there is none."""
        assert isinstance(model, ComparedCounts)
        form = form_of(model.restrictor)
        options = [option for option in self._options(seen, model.comparison) if form_of(option[0]) == form]
        return ComparedCounts(model.comparison, *random.choice(options)) if options else None

    def _options(self, seen: NamedMicroworld, comparison: str) -> list[tuple[Noun, Noun, Noun]]:
        options = []
        for (one, other), found in self.bodies.compared(seen).items():
            if three_valued_logic.compares(COMPARISONS[comparison], one, other) == TRUE:
                options += found
        return options


class Bodies:
    """The possible bodies of captions: every shape, colour and combination that a split does not hold out.

    Parameters
    ----------
    shapes, colors : tuple of str
    forbidden : frozenset of (shape, color)
        Combinations that no caption may name.
    """

    def __init__(
        self, *, shapes: tuple[str, ...], colors: tuple[str, ...], forbidden: frozenset[tuple[str, str]]
    ) -> None:
        self.forbidden = forbidden
        self.nouns = {
            "shape": [Noun(shape) for shape in shapes],
            "color": [Noun(None, color) for color in colors],
            "both": [Noun(s, c) for s in shapes for c in colors if (s, c) not in forbidden],
        }

    def counted(self, seen: NamedMicroworld, pattern: str) -> dict[tuple[int, int], list[Option]]:
        """Return a pattern's restrictors and bodies that a scene has, by the sizes of the restrictor and of both."""
        if pattern not in seen.counted:
            restrictor, _, body = pattern.partition("-")
            found: dict[tuple[int, int], list[Option]] = {}
            bodies = seen.of_form(body).items()
            for noun, mask in seen.of_form(restrictor).items():
                size = mask.bit_count()
                for said, other in bodies:
                    if not self.forbidden or self.may_meet(noun, said):
                        found.setdefault((size, (mask & other).bit_count()), []).append((noun, mask, said))
            seen.counted[pattern] = found
        return seen.counted[pattern]

    def uncounted(self, seen: NamedMicroworld, pattern: str, table: Fits) -> dict[int, list[Option]]:
        """Return restrictors for which a quantifier holds with bodies that no entity has, by the restrictor's size."""
        restrictor, _, body = pattern.partition("-")
        found: dict[int, list[Option]] = {}
        for noun, mask in seen.of_form(restrictor).items():
            if table[mask.bit_count()][0]:
                here = seen.of_form(body)
                bodies = [said for said in self.nouns[body] if said not in here and self.may_meet(noun, said)]
                found.setdefault(mask.bit_count(), []).extend((noun, mask, said) for said in bodies)
        return found

    def compared(self, seen: NamedMicroworld) -> dict[tuple[int, int], list[tuple[Noun, Noun, Noun]]]:
        """Return every two nouns with a body that some of either have, by the number of each that have it."""
        if not seen.compared:
            for form, other in (("shape", "color"), ("color", "shape")):
                for said, mask in seen.of_form(other).items():
                    counts = [
                        (noun, (mask & meant).bit_count())
                        for noun, meant in seen.of_form(form).items()
                        if self.may_meet(noun, said)
                    ]
                    for one, number in counts:
                        for two, others in counts:
                            if one is not two and number + others:
                                seen.compared.setdefault((number, others), []).append((one, two, said))
        return seen.compared

    def may_meet(self, one: Noun, other: Noun) -> bool:
        """Return whether the combination that two nouns name together is not held out."""
        return not self.forbidden or (one.shape or other.shape, one.color or other.color) not in self.forbidden


def pattern_of(said: QuantifiedStatement) -> str:
    """Return the pattern of a caption: the forms of its noun and its body, or `relation`."""
    assert isinstance(said.restrictor, Noun)
    return "relation" if isinstance(said.body, Relation) else f"{form_of(said.restrictor)}-{form_of(said.body)}"


@cache
def table_of(quantifier: str, most: int, *, tolerance: float) -> Fits:
    """Return, for each size of a restrictor and of its part, the result of `fits`."""
    return [[fits(quantifier, size, part, tolerance=tolerance) for part in range(size + 1)] for size in range(most + 1)]


def fits(name: str, size: int, part: int, *, tolerance: float) -> bool:
    """Return whether a quantifier holds for these numbers, and could be false for another `part`."""
    quantifier = QUANTIFIERS[name]
    if size < (2 if quantifier.is_share and name != "the" else 1) or not _is_open(name, quantifier, size):
        return False
    return three_valued_logic.holds(name, quantifier, size, part, tolerance=tolerance) == TRUE


def _is_open(name: str, quantifier: Quantifier, size: int) -> bool:
    truths = {three_valued_logic.holds(name, quantifier, size, part, tolerance=0.0) for part in range(size + 1)}
    return {three_valued_logic.TRUE, three_valued_logic.FALSE} <= truths
