"""A red square is to the left of a blue circle."""

from collections.abc import Mapping, Sequence

from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.caption_knobs import CaptionKnobs
from generation.engine.worlds.shapeworld.captions.chance import Weighted, shuffled
from generation.engine.worlds.shapeworld.captions.seen import Seen
from generation.engine.worlds.shapeworld.functions import truth_of
from generation.engine.worlds.shapeworld.meaning import NOT, Noun, Quantified, Related, program_of
from generation.engine.worlds.shapeworld.microworld import members
from generation.engine.worlds.shapeworld.phrases import HAVING, PLANAR, PROXIMITIES
from generation.engine.worlds.shapeworld.truth import TRUE

SINGLE = Weighted({"shape": 1.0, "color": 1.0})
ANY_NOUN = Weighted({"both": 1.0, "shape": 1.0, "color": 1.0})
TRIES = 8  # pairs of entities, before another relation is taken


class Relational:
    """Says how one of the entities stands to another one. Heads are relations, and relations with `not `."""

    def __init__(self, knobs: CaptionKnobs) -> None:
        self.heads = self.weighed(knobs.relations, knobs.negation)
        self.nouns = Weighted(knobs.nouns)
        self.articles = Weighted(knobs.articles)

    @staticmethod
    def weighed(relations: Sequence[str], negation: float) -> Mapping[str, float]:
        """Return the heads with their weights, negated ones by their share."""
        return {f"{NOT}{one}": negation for one in relations} | dict.fromkeys(relations, 1.0 - negation)

    def true(self, seen: Seen, random: Stream, head: str) -> Quantified | None:
        """Return a true caption; None where nobody clearly stands so to anybody."""
        if seen.count < 2:
            return None
        relation = head.removeprefix(NOT)
        make = self._nearness if relation in PROXIMITIES else self._pair
        return make(seen, random, relation, article=self.articles.draw(random), is_negated=head.startswith(NOT))

    def names(self, relation: str, random: Stream) -> tuple[str, str]:
        """Return the forms of the two nouns; what a relation is about is not said of its subject already."""
        if relation in HAVING:
            return ("color" if relation.endswith("shape") else "shape"), self.nouns.draw(random)
        one, other = self.nouns.draw(random), self.nouns.draw(random)
        return ("both", other) if one != "both" and other != "both" and relation in PLANAR else (one, other)

    def _pair(self, seen: Seen, random: Stream, relation: str, *, article: str, is_negated: bool) -> Quantified | None:
        one, other = self.names(relation, random)
        yes, maybe = seen.world.rows(relation)
        subjects, references = seen.everything, seen.everything
        if article == "the":
            subjects, references = seen.unique(one), seen.unique(other)
        pairs = []
        for reference in members(references):
            fit = (seen.everything & ~maybe[reference] & ~(1 << reference)) if is_negated else yes[reference]
            pairs += [(subject, reference) for subject in members(fit & subjects)]
        for tried, (subject, reference) in enumerate(shuffled(pairs, random)):
            body = Related(relation, seen.called(reference, other), article == "the", is_negated)
            found = Quantified(article, seen.called(subject, one), body)
            if not (is_negated or article == "the") or truth_of(program_of(found), seen.world) == TRUE:
                return found
            if tried == TRIES:
                break
        return None

    def _nearness(
        self, seen: Seen, random: Stream, relation: str, *, article: str, is_negated: bool
    ) -> Quantified | None:
        one, other = self.names(relation, random)
        references = list(members(seen.unique(other)))
        subjects = seen.unique(one) if article == "the" else seen.everything
        for _ in range(TRIES if len(references) > 1 else 0):
            reference, comparison = (random.choice(references) for _ in range(2))
            if reference == comparison:
                continue
            named = [seen.called(number, other) for number in (reference, comparison)]
            body = Related(relation, named[0], True, is_negated, named[1])
            pair = ((1 << reference,) * 2, (1 << comparison,) * 2)
            near = seen.world.not_near if is_negated else seen.world.near
            fit = list(members(near(*pair, relation)[0] & subjects))
            if fit:
                return Quantified(article, seen.called(random.choice(fit), one), body)
        return None


class RelationalSingleAttribute(Relational):
    """Says where a shape or a colour is, beside another one."""

    def __init__(self, knobs: CaptionKnobs) -> None:
        super().__init__(knobs)
        self.heads = self.weighed([one for one in knobs.relations if one in PLANAR], knobs.negation)

    def names(self, relation: str, random: Stream) -> tuple[str, str]:
        """Return the forms of the two nouns, of one attribute each."""
        return SINGLE.draw(random), SINGLE.draw(random)


def reference(seen: Seen, random: Stream, without: int = 0) -> tuple[Noun, int] | None:
    """Return what somebody who is called so alone is called, and who; None where there is nobody but `without`."""
    for form in ANY_NOUN.order(random):
        fit = list(members(seen.unique(form) & ~without))
        if fit:
            number = random.choice(fit)
            return seen.called(number, form), number
    return None
