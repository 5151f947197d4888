"""Relational captions: a red square is to the left of a blue circle."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.caption_parameters import CaptionParameters
from generation.engine.worlds.shapeworld.captions.nouns import NamedMicroworld, form_of
from generation.engine.worlds.shapeworld.captions.statement_templates import frame
from generation.engine.worlds.shapeworld.captions.weighted_choice import WeightedNames, shuffle
from generation.engine.worlds.shapeworld.functions import truth_of
from generation.engine.worlds.shapeworld.logical_form import (
    NOT,
    Noun,
    QuantifiedStatement,
    Relation,
    Statement,
    program_of,
)
from generation.engine.worlds.shapeworld.microworld import members
from generation.engine.worlds.shapeworld.phrases import HAVING, PLANAR, PROXIMITIES
from generation.engine.worlds.shapeworld.three_valued_logic import TRUE

SINGLE = WeightedNames({"shape": 1.0, "color": 1.0})
ANY_NOUN = WeightedNames({"both": 1.0, "shape": 1.0, "color": 1.0})
TRIES = 8  # pairs of entities, before another relation is taken


class Form(NamedTuple):
    """The wanted form of a relational caption: its relation, its article, and the forms of its two nouns."""

    relation: str
    article: str
    is_negated: bool
    one: str
    other: str


class Relational:
    """Makes captions of the relation between two entities. Heads are relations, negated ones with the prefix `not `."""

    def __init__(self, parameters: CaptionParameters) -> None:
        self.heads = self.weighed(parameters.relations, parameters.negation)
        self.nouns = WeightedNames(parameters.nouns)
        self.articles = WeightedNames(parameters.articles)

    @staticmethod
    def weighed(relations: Sequence[str], negation: float) -> Mapping[str, float]:
        """Return the heads with their weights; `negation` is the share of negated ones."""
        weights = {f"{NOT}{one}": negation for one in relations} | dict.fromkeys(relations, 1.0 - negation)
        return {head: weight for head, weight in weights.items() if weight > 0}

    def true(self, seen: NamedMicroworld, random: Stream, head: str) -> QuantifiedStatement | None:
        """Return a true caption, or None if no two entities are clearly in the relation."""
        relation, article = head.removeprefix(NOT), self.articles.draw(random)
        return _find(seen, random, Form(relation, article, head.startswith(NOT), *self.names(relation, random)))

    def like(
        self, seen: NamedMicroworld, random: Stream, model: Statement, *, exactly: bool
    ) -> QuantifiedStatement | None:
        """Return a true caption with a model's form, or with exactly its frame; None if there is none."""
        assert isinstance(model, QuantifiedStatement)
        assert isinstance(model.restrictor, Noun)
        assert isinstance(model.body, Relation)
        nouns = form_of(model.restrictor), form_of(model.body.reference)
        form = Form(model.body.relation, model.quantifier, model.body.negated, *nouns)
        return _find(seen, random, form, frame(model) if exactly else None)

    def names(self, relation: str, random: Stream) -> tuple[str, str]:
        """Return the forms of the two nouns; the subject does not name the attribute that a relation compares."""
        if relation in HAVING:
            return ("color" if relation.endswith("shape") else "shape"), self.nouns.draw(random)
        one, other = self.nouns.draw(random), self.nouns.draw(random)
        return ("both", other) if one != "both" and other != "both" and relation in PLANAR else (one, other)


class RelationalSingleAttribute(Relational):
    """Makes captions of the relation between two entities, each named by its shape or its colour."""

    def __init__(self, parameters: CaptionParameters) -> None:
        super().__init__(parameters)
        self.heads = self.weighed([one for one in parameters.relations if one in PLANAR], parameters.negation)

    def names(self, relation: str, random: Stream) -> tuple[str, str]:
        """Return the forms of the two nouns; each names one attribute."""
        return SINGLE.draw(random), SINGLE.draw(random)


def _find(
    seen: NamedMicroworld, random: Stream, form: Form, wanted: Statement | None = None
) -> QuantifiedStatement | None:
    """Return a true caption of a form, with the frame `wanted` unless that is None; None if there is none."""
    if seen.count < 2:
        return None
    return (_nearness if form.relation in PROXIMITIES else _pair)(seen, random, form, wanted)


def _pair(seen: NamedMicroworld, random: Stream, form: Form, wanted: Statement | None) -> QuantifiedStatement | None:
    yes, maybe = seen.world.rows(form.relation)
    subjects, references = seen.everything, seen.everything
    if form.article == "the":
        subjects, references = seen.unique(form.one), seen.unique(form.other)
    pairs = []
    for reference in members(references):
        fit = (seen.everything & ~maybe[reference] & ~(1 << reference)) if form.is_negated else yes[reference]
        pairs += [(subject, reference) for subject in members(fit & subjects)]
    tried = 0
    for subject, reference in shuffle(pairs, random):
        body = Relation(form.relation, seen.called(reference, form.other), form.article == "the", form.is_negated)
        found = QuantifiedStatement(form.article, seen.called(subject, form.one), body)
        if wanted is not None and frame(found) != wanted:
            continue
        if not (form.is_negated or form.article == "the") or truth_of(program_of(found), seen.world) == TRUE:
            return found
        tried += 1
        if tried > TRIES:
            break
    return None


def _nearness(
    seen: NamedMicroworld, random: Stream, form: Form, wanted: Statement | None
) -> QuantifiedStatement | None:
    references = list(members(seen.unique(form.other)))
    subjects = seen.unique(form.one) if form.article == "the" else seen.everything
    for _ in range(TRIES if len(references) > 1 else 0):
        reference, comparison = (random.choice(references) for _ in range(2))
        if reference == comparison:
            continue
        named = [seen.called(number, form.other) for number in (reference, comparison)]
        body = Relation(form.relation, named[0], True, form.is_negated, named[1])
        pair = ((1 << reference,) * 2, (1 << comparison,) * 2)
        near = seen.world.not_near if form.is_negated else seen.world.near
        for subject in shuffle(tuple(members(near(*pair, form.relation)[0] & subjects)), random):
            found = QuantifiedStatement(form.article, seen.called(subject, form.one), body)
            if wanted is None or frame(found) == wanted:
                return found
    return None


def reference(seen: NamedMicroworld, random: Stream, form: str | None = None) -> tuple[Noun, int] | None:
    """Return a noun, of `form` if given, that fits exactly one entity, and the entity's number, or None."""
    for one in ANY_NOUN.order(random) if form is None else (form,):
        fit = list(members(seen.unique(one)))
        if fit:
            number = random.choice(fit)
            return seen.called(number, one), number
    return None
