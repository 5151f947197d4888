"""Captions made from true ones by changing one part.

References
----------
The weights and options are those of the original code.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.caption_parameters import CaptionParameters
from generation.engine.worlds.shapeworld.captions.nouns import NamedMicroworld
from generation.engine.worlds.shapeworld.captions.selectors import is_of_two
from generation.engine.worlds.shapeworld.captions.weighted_choice import WeightedNames
from generation.engine.worlds.shapeworld.logical_form import (
    ComparedCounts,
    Noun,
    QuantifiedStatement,
    Relation,
    SelectedEntity,
    Statement,
    There,
)
from generation.engine.worlds.shapeworld.phrases import (
    COMPARISONS,
    HAVING,
    INVERSES,
    NEAR,
    PROXIMITIES,
    QUANTIFIERS,
    ComparisonPhrase,
    Quantifier,
)

ATTRIBUTES = ("shape", "color")
Amount = Quantifier | ComparisonPhrase
AMOUNTS: Mapping[str, Amount] = {**QUANTIFIERS, **COMPARISONS}


class Corrupter:
    """Changes one part of a caption; the result is not always false.

    Parameters
    ----------
    parameters : CaptionParameters
    values : mapping
        All shapes and all colours.
    rate : float
        How often a new shape or colour is one that the picture has.
    """

    def __init__(self, parameters: CaptionParameters, values: Mapping[str, Sequence[str]], *, rate: float) -> None:
        self.parameters, self.values, self.rate = parameters, values, rate
        self.quantifiers, self.comparisons = tuple(parameters.quantifiers), tuple(parameters.comparisons)
        self.bounding = tuple(name for name in parameters.quantifiers if QUANTIFIERS[name].of)
        weights = parameters.corruption
        self.attributes = WeightedNames(weights.noun)
        self.parts: Mapping[str, WeightedNames] = {
            name: WeightedNames(getattr(weights, name)) for name in type(weights).model_fields if name != "noun"
        }

    def changed(self, statement: Statement, seen: NamedMicroworld, random: Stream) -> Statement | None:
        """Return a statement with one part changed, or None if that part cannot be changed."""
        match statement:
            case There():
                return self._there(statement, seen, random)
            case ComparedCounts():
                return self._compared(statement, seen, random)
        if statement.bound is not None:
            return self._bound(statement, seen, random)
        if isinstance(statement.restrictor, SelectedEntity):
            return self._picked(statement, statement.restrictor, seen, random)
        if isinstance(statement.body, Relation) and statement.quantifier in ("a", "the"):
            return self._relational(statement, statement.restrictor, statement.body, seen, random)
        return self._quantified(statement, seen, random)

    def noun(self, noun: Noun, seen: NamedMicroworld, random: Stream) -> Noun:
        """Return a noun that names the same attributes, with another value of one or both."""
        which = self.attributes.draw(random)
        names = [name for name in ATTRIBUTES if getattr(noun, name) is not None]
        if which in names and len(names) == 2:
            names = [which]
        for name in names:
            noun = noun._replace(**{name: self._other(getattr(noun, name), name, seen, random)})
        return noun

    def _other(self, value: str, attribute: str, seen: NamedMicroworld, random: Stream) -> str:
        """Return another value of an attribute; with probability `rate` one that the picture has."""
        here = [one for one in seen.values(attribute) if one != value]
        if here and random.random() < self.rate:
            return random.choice(here)
        others = [one for one in self.values[attribute] if one != value]
        return random.choice(others) if others else value

    def _there(self, statement: There, seen: NamedMicroworld, random: Stream) -> There:
        if statement.body is None:
            return There(self.noun(statement.noun, seen, random))
        if self._restricts(statement.noun, random):
            return There(self.noun(statement.noun, seen, random), statement.body)
        return There(statement.noun, self.noun(statement.body, seen, random))

    def _restricts(self, noun: Noun, random: Stream) -> bool:
        return noun.named > 0 and self.parts["existential"].draw(random) == "restrictor"

    def _relational(
        self, statement: QuantifiedStatement, noun: Noun, body: Relation, seen: NamedMicroworld, random: Stream
    ) -> QuantifiedStatement | None:
        if self._restricts(noun, random):
            return statement._replace(restrictor=self.noun(noun, seen, random))
        if body.negated and self.parts["negation"].draw(random) == "negation":
            return statement._replace(body=body._replace(negated=False))
        changed = self._related(body, seen, random)
        return None if changed is None else statement._replace(body=changed)

    def _related(self, body: Relation, seen: NamedMicroworld, random: Stream) -> Relation | None:
        part = self.parts["relation"].draw(random)
        if part == "reference" and body.reference.named:
            return body._replace(reference=self.noun(body.reference, seen, random))
        if part == "inverse":
            return body._replace(relation=INVERSES[body.relation])
        alike = [
            one
            for one in self.parameters.relations
            if (one in PROXIMITIES) == (body.relation in PROXIMITIES) and (one in HAVING) == (body.relation in HAVING)
        ]
        others = [one for one in alike if one != body.relation]
        return body._replace(relation=random.choice(others)) if others else None

    def _picked(
        self, statement: QuantifiedStatement, picked: SelectedEntity, seen: NamedMicroworld, random: Stream
    ) -> QuantifiedStatement | None:
        alike = [
            one
            for one in self.parameters.selectors
            if one != picked.selector
            and is_of_two(one) == is_of_two(picked.selector)
            and (one in NEAR) == (picked.near is not None)
        ]
        if (
            self.parts["selection"].draw(random) == "selector"
            and alike
            and picked.selector in self.parameters.selectors
        ):
            return statement._replace(restrictor=picked._replace(selector=random.choice(alike)))
        return self._body(statement, seen, random)

    def _body(
        self, statement: QuantifiedStatement, seen: NamedMicroworld, random: Stream
    ) -> QuantifiedStatement | None:
        if isinstance(statement.body, Noun):
            return statement._replace(body=self.noun(statement.body, seen, random))
        related = self._related(statement.body, seen, random)
        return None if related is None else statement._replace(body=related)

    def _quantified(
        self, statement: QuantifiedStatement, seen: NamedMicroworld, random: Stream
    ) -> QuantifiedStatement | None:
        part = self.parts["quantifier"].draw(random)
        if part == "restrictor" and isinstance(statement.restrictor, Noun) and statement.restrictor.named:
            return statement._replace(restrictor=self.noun(statement.restrictor, seen, random))
        if part in ("restrictor", "body"):
            return self._body(statement, seen, random)
        names = self.quantifiers if statement.bound is None else self.bounding
        others = changes(statement.quantifier, names, part)
        return statement._replace(quantifier=random.choice(others)) if others else None

    def _bound(
        self, statement: QuantifiedStatement, seen: NamedMicroworld, random: Stream
    ) -> QuantifiedStatement | None:
        part = self.parts["number_bound"].draw(random)
        if part == "quantifier" or statement.bound is None:
            return self._quantified(statement, seen, random)
        low, high = self.parameters.bounds
        step = {"one": 1, "two": 2}.get(part)
        others = [
            number
            for number in range(low, high + 1)
            if (abs(number - statement.bound) == step if step else number != statement.bound)
        ]
        return statement._replace(bound=random.choice(others)) if others else None

    def _compared(self, statement: ComparedCounts, seen: NamedMicroworld, random: Stream) -> ComparedCounts | None:
        part = self.parts["comparative"].draw(random)
        if part == "restrictor":
            return statement._replace(restrictor=self.noun(statement.restrictor, seen, random))
        if part == "comparison":
            return statement._replace(other=self.noun(statement.other, seen, random))
        if part == "body":
            return statement._replace(body=self.noun(statement.body, seen, random))
        others = changes(statement.comparison, self.comparisons, part)
        return statement._replace(comparison=random.choice(others)) if others else None


@lru_cache(maxsize=4_096)
def changes(name: str, names: tuple[str, ...], part: str) -> tuple[str, ...]:
    """Return the quantifiers or comparisons to which one may be changed; `part` is a key of `_ALIKE`."""
    alike = _ALIKE[part]
    others = [other for other in names if other != name and alike(AMOUNTS[name], AMOUNTS[other])]
    gaps = {other: abs(quantity(AMOUNTS[other]) - quantity(AMOUNTS[name])) for other in others}
    if part == "nearest":
        return tuple(other for other in others if gaps[other] == min(gaps.values()))
    return tuple(others)


def quantity(amount: Amount) -> float:
    """Return the number by which quantifiers or comparisons are ordered."""
    return float(amount.quantity) if isinstance(amount, Quantifier) else 10.0 * float(amount.factor) + amount.more


def _same_range(one: Amount, other: Amount) -> bool:
    share = [amount.is_share for amount in (one, other) if isinstance(amount, Quantifier)]
    return one.comparator == other.comparator and len(set(share)) < 2


def _same_quantity(one: Amount, other: Amount) -> bool:
    share = [amount.is_share for amount in (one, other) if isinstance(amount, Quantifier)]
    return quantity(one) == quantity(other) and len(set(share)) < 2


_ALIKE: Mapping[str, Callable[[Amount, Amount], bool]] = {
    "nearest": _same_range,
    "quantity": _same_range,
    "range": _same_quantity,
    "any": lambda one, other: True,
}
