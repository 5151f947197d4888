"""English sentences from meanings, with matching articles and numbers.

References
----------
Kuhnle and Copestake 2017, ShapeWorld, section 4, for the forms of the paper's four datasets.
"""

from generation.engine.worlds.shapeworld.logical_form import (
    Body,
    ComparedCounts,
    Conjunction,
    Meaning,
    Noun,
    QuantifiedStatement,
    Relation,
    SelectedEntity,
    Statement,
    There,
)
from generation.engine.worlds.shapeworld.phrases import (
    CLOSED,
    COMPARISONS,
    DIFFERING,
    HAVING,
    JOINED,
    NEAR,
    NUMERALS,
    PROXIMITIES,
    QUANTIFIERS,
    RELATIONS,
    SHARES,
    THING,
    THINGS,
)
from generation.engine.worlds.shapeworld.vocabulary import ShapeVocabulary


class CaptionWriter:
    """Writes meanings as sentences.

    Parameters
    ----------
    vocabulary : ShapeVocabulary
    """

    def __init__(self, vocabulary: ShapeVocabulary) -> None:
        self.vocabulary = vocabulary
        self._nouns: dict[tuple[Noun, bool], str] = {}

    def say(self, meaning: Meaning) -> str:
        """Return a meaning as a sentence."""
        if isinstance(meaning, Conjunction):
            said = JOINED[meaning.connective].format(self.statement(meaning.first), self.statement(meaning.second))
        else:
            said = self.statement(meaning)
        return f"{said[0].upper()}{said[1:]}."

    def statement(self, statement: Statement) -> str:
        """Return a statement in words, without capital letter and full stop."""
        match statement:
            case There():
                clause = "" if statement.body is None else f" that {self.body(statement.body, plural=False)}"
                return f"there is {self.one(statement.noun)}{clause}"
            case ComparedCounts():
                return self.compared(statement)
        head, plural = self.head(statement)
        return f"{head} {self.body(statement.body, plural=plural)}"

    def compared(self, statement: ComparedCounts) -> str:
        """Return a comparison of two numbers in words."""
        comparison = COMPARISONS[statement.comparison]
        one, other = (self.noun(noun, plural=comparison.plural) for noun in (statement.restrictor, statement.other))
        body = self.body(statement.body, plural=comparison.plural)
        return f"{comparison.words} {one} {comparison.than} {other} {body}"

    def head(self, statement: QuantifiedStatement) -> tuple[str, bool]:
        """Return a statement's subject in words, and whether its verb is plural."""
        if isinstance(statement.restrictor, SelectedEntity):
            return self.picked(statement.restrictor), False
        quantifier, noun = QUANTIFIERS[statement.quantifier], statement.restrictor
        if statement.bound is not None:
            number = f"of the {NUMERALS[statement.bound]} {self.noun(noun, plural=True)}"
            return f"{quantifier.of} {number}", quantifier.plural or statement.quantifier == "no"
        if statement.quantifier == "a":
            return self.one(noun), False
        said = self.noun(noun, plural=quantifier.plural)
        return f"{determiner(statement.quantifier)} {said}", quantifier.plural

    def picked(self, picked: SelectedEntity) -> str:
        """Return the words for an entity that a selector picks."""
        noun = self.noun(picked.noun)
        if picked.near is not None:
            return f"the {noun} {NEAR[picked.selector]} the {self.noun(picked.near)}"
        return f"the {picked.selector} {noun}"

    def body(self, body: Body, *, plural: bool) -> str:
        """Return a statement's predicate, with its verb."""
        if isinstance(body, Relation):
            return self.related(body, plural=plural)
        verb = "are" if plural else "is"
        if body.shape is None:
            return f"{verb} {body.color}"
        return f"{verb} {self.noun(body, plural=True) if plural else self.one(body)}"

    def related(self, body: Relation, *, plural: bool) -> str:
        """Return a relation in words, with its verb."""
        reference = f"the {self.noun(body.reference)}" if body.definite else self.one(body.reference)
        if body.comparison is None:
            return f"{having(body, plural=plural)} {reference}"
        verb = f"{'are' if plural else 'is'}{' not' if body.negated else ''}"
        return f"{verb} {PROXIMITIES[body.relation]} {reference} than the {self.noun(body.comparison)} is"

    def one(self, noun: Noun) -> str:
        """Return a noun with the indefinite article that its first word takes."""
        said = self.noun(noun)
        first = said.partition(" ")[0]
        vowel = first in self.vocabulary.vowels or (first[0] in "aeiou" and first not in self.vocabulary.consonants)
        return f"{'an' if vowel else 'a'} {said}"

    def noun(self, noun: Noun, *, plural: bool = False) -> str:
        """Return a noun with its adjective."""
        key = (noun, plural)
        if key not in self._nouns:
            name = (THINGS if plural else THING) if noun.shape is None else noun.shape
            name = self.vocabulary.plural(name) if plural and noun.shape is not None else name
            self._nouns[key] = name if noun.color is None else f"{noun.color} {name}"
        return self._nouns[key]


def having(body: Relation, *, plural: bool) -> str:
    """Return a relation to one thing in words, with its verb."""
    if body.relation not in HAVING:
        return f"{'are' if plural else 'is'}{' not' if body.negated else ''} {RELATIONS[body.relation]}"
    if not body.negated:
        return f"{'have' if plural else 'has'} {RELATIONS[body.relation]}"
    said = DIFFERING.get(body.relation) or f"have {RELATIONS[body.relation]}"
    return f"{'do' if plural else 'does'} not {said}"


def determiner(quantifier: str) -> str:
    """Return the words before the noun of a quantifier; not for `a`."""
    words = QUANTIFIERS[quantifier].words
    return f"{words} of the" if quantifier in SHARES else words


def words(vocabulary: ShapeVocabulary) -> tuple[str, ...]:
    """Return every word and mark that captions of a vocabulary may have, in lower case, sorted."""
    shapes = [name for shape in vocabulary.values("shape") for name in (shape, vocabulary.plural(shape))]
    return tuple(sorted({*CLOSED, *shapes, *vocabulary.values("color")}))
