"""The objects that a made question counts, as a program of CLEVR's functions and as a text."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

from generation.engine.language.token_vocabulary import split_words
from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.clevr.scene import SceneObject
from generation.engine.worlds.clevr.scene_sampling import Look
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES, RELATIONS, ClevrVocabulary

SIMPLE, COMPLEX = "simple", "complex"
THING = "thing"
PHRASES: Mapping[str, tuple[str, ...]] = {
    "behind": ("behind",),
    "front": ("in front of",),
    "left": ("left of", "to the left of"),
    "right": ("right of", "to the right of"),
}
FORMS = ("How many {things} are there?", "How many {things} can you see?", "How many {things} are in the picture?")
RELATED_FORMS = (
    "How many {things} are {relation} the {anchor}?",
    "How many {things} are there {relation} the {anchor}?",
    "How many {things} can you see {relation} the {anchor}?",
)
assert set(PHRASES) == set(RELATIONS)

Description = tuple[tuple[str, str], ...]
"""Attributes and values that an object must have, in the order of `ATTRIBUTES`."""


class Statement(NamedTuple):
    """What a question counts.

    Attributes
    ----------
    counted : Description
        The objects that are counted have these values.
    relation : str
        The relation in which they are to one object, the anchor; empty without a relation.
    anchor : Description
        The only object that has these values; empty without a relation.
    """

    counted: Description
    relation: str = ""
    anchor: Description = ()

    @property
    def descriptions(self) -> tuple[Description, ...]:
        """The descriptions of the objects that are counted, and of the anchor if there is one."""
        return (self.counted, self.anchor) if self.relation else (self.counted,)

    @property
    def kind(self) -> str:
        """The type of the question: simple if it names only a shape, else complex."""
        is_simple = not self.relation and [attribute for attribute, _ in self.counted] == ["shape"]
        return SIMPLE if is_simple else COMPLEX

    @property
    def noun(self) -> str:
        """The shape that is counted, or `THING` for any shape."""
        return dict(self.counted).get("shape", THING)

    @property
    def attributes(self) -> int:
        """The number of values besides the shape that objects must have to be counted."""
        return sum(attribute != "shape" for attribute, _ in self.counted)


def fits(look: Look | SceneObject, description: Description) -> bool:
    """Return whether an object has all values of a description."""
    for attribute, value in description:  # noqa: SIM110 - a loop is twice as fast, and this is asked most often
        if getattr(look, attribute) != value:
            return False
    return True


def are_apart(one: Description, two: Description) -> bool:
    """Return whether no object can fit both descriptions, because an attribute has another value in each."""
    other = dict(two)
    return any(other.get(attribute, value) != value for attribute, value in one)


# Programs


def program_of(statement: Statement) -> Program:
    """Return the program of a statement."""
    steps = [Step("scene")]
    if statement.relation:
        _filter(steps, statement.anchor)
        steps.append(Step("unique", (len(steps) - 1,)))
        steps.append(Step("relate", (len(steps) - 1,), (statement.relation,)))
    _filter(steps, statement.counted)
    return (*steps, Step("count", (len(steps) - 1,)))


def _filter(steps: list[Step], description: Description) -> None:
    for attribute, value in description:
        steps.append(Step(f"filter_{attribute}", (len(steps) - 1,), (value,)))


def statement_of(program: Program) -> Statement | None:
    """Return the statement of a program of the form that `program_of` gives, or None for other programs."""
    relation, anchor = "", Description()
    found: list[tuple[str, str]] = []
    for step in program:
        if step.function.startswith("filter_") and step.values:
            found.append((step.function.removeprefix("filter_"), step.values[0]))
        elif step.function == "relate" and step.values:
            relation, anchor, found = step.values[0], tuple(found), []
    statement = Statement(tuple(found), relation, anchor)
    return statement if program_of(statement) == program else None


def kind_of(program: Program) -> str:
    """Return the type of a program's question; a program of another form than ours is complex."""
    statement = statement_of(program)
    return COMPLEX if statement is None else statement.kind


# Drawing


class StatementSampler:
    """Draws statements. They do not depend on any scene or answer, so that words reveal nothing.

    Parameters
    ----------
    vocabulary : ClevrVocabulary
    relation_share : float
        The share of complex statements with a relation.
    chance : Stream
    """

    def __init__(self, vocabulary: ClevrVocabulary, *, relation_share: float, chance: Stream) -> None:
        self.vocabulary, self.relation_share, self.chance = vocabulary, relation_share, chance
        self.shapes = vocabulary.values("shape")
        self.looks = [Look(*values) for values in product(*map(vocabulary.values, Look._fields))]

    def draw(self, kinds: Sequence[str]) -> list[Statement]:
        """Return a statement of each of one or two types.

        No object fits two of their descriptions, and some object fits none.
        """
        related = [kind == COMPLEX and self.chance.random() < self.relation_share for kind in kinds]
        while True:
            found = [self._draw(kind, is_related=one) for kind, one in zip(kinds, related, strict=True)]
            said = [description for statement in found for description in statement.descriptions]
            are_all_apart = all(are_apart(one, two) for one, two in combinations(said, 2))
            if are_all_apart and not all(any(fits(look, one) for one in said) for look in self.looks):
                return found

    def _draw(self, kind: str, *, is_related: bool) -> Statement:
        chance = self.chance
        if kind == SIMPLE:
            return Statement(self._describe(chance.choice(self.shapes), 0))
        noun = chance.choice((*self.shapes, THING))
        if not is_related:
            return Statement(self._describe(noun, 1 + chance.below(3)))
        counted = self._describe(noun, chance.below(2) if noun != THING else 1)
        return Statement(
            counted, chance.choice(RELATIONS), self._describe(chance.choice(self.shapes), 1 + chance.below(2))
        )

    def _describe(self, noun: str, count: int) -> Description:
        """Return a description with a noun and `count` values of other attributes."""
        others = [attribute for attribute in ATTRIBUTES if attribute != "shape"]
        self.chance.shuffle(others)
        named = set(others[:count])
        values = [(name, self.chance.choice(self.vocabulary.values(name))) for name in ATTRIBUTES if name in named]
        return tuple(values) if noun == THING else (*values, ("shape", noun))


# Texts


def say(statement: Statement, vocabulary: ClevrVocabulary, chance: Stream) -> str:
    """Return a question in one of its wordings, all equally likely."""
    return chance.choice(tuple(wordings(statement, vocabulary)))


def wordings(statement: Statement, vocabulary: ClevrVocabulary) -> Iterator[str]:
    """Yield every wording of a statement."""
    things = _phrase(statement.counted, vocabulary, plural=True)
    if not statement.relation:
        yield from (form.format(things=things) for form in FORMS)
        return
    anchor = _phrase(statement.anchor, vocabulary, plural=False)
    for form, phrase in product(RELATED_FORMS, PHRASES[statement.relation]):
        yield form.format(things=things, relation=phrase, anchor=anchor)


def _phrase(description: Description, vocabulary: ClevrVocabulary, *, plural: bool) -> str:
    values = dict(description)
    shape = values.pop("shape", "")
    noun = (vocabulary.plural(shape) if plural else shape) if shape else f"{THING}s" if plural else THING
    return " ".join((*values.values(), noun))


def words(vocabulary: ClevrVocabulary) -> tuple[str, ...]:
    """Return every word that made questions can have."""
    texts = [value for attribute in ATTRIBUTES for value in vocabulary.values(attribute)]
    texts += [*map(vocabulary.plural, vocabulary.values("shape")), f"{THING}s"]
    texts += [phrase for phrases in PHRASES.values() for phrase in phrases]
    texts += [form.format(things="", relation="", anchor="") for form in (*FORMS, *RELATED_FORMS)]
    return tuple(sorted({word for text in texts for word in split_words(text)}))
