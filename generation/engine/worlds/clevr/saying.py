"""Any CLEVR program in plain words, families or not: cut programs among them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from generation.engine.program import Program
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES, Vocabulary

NOUN = "shape"  # the attribute that is said as a noun
COMPARISONS = {"equal_integer": ("as many", "as"), "less_than": ("fewer", "than"), "greater_than": ("more", "than")}


@dataclass(frozen=True)
class Described:
    """A set of objects in words: what comes before the noun, the shape, what follows."""

    before: tuple[tuple[str, str], ...] = ()  # attribute, value
    shape: str = ""
    after: tuple[str, ...] = field(default=())

    @property
    def is_everything(self) -> bool:
        """Return whether nothing is said of the objects."""
        return not (self.before or self.shape or self.after)


def say(program: Program, vocabulary: Vocabulary) -> str:
    """Return a program whose last step gives an answer as a question in plain words."""
    return Sayer(program, vocabulary).question()


class Sayer:
    """Says one program.

    Parameters
    ----------
    program : Program
        Well-typed, but that a function of one object may be given all of them.
    vocabulary : Vocabulary
    """

    def __init__(self, program: Program, vocabulary: Vocabulary) -> None:
        self.program = program
        self.vocabulary = vocabulary
        self.thing, self.things = next(iter(vocabulary.things.items()))

    def question(self) -> str:
        """Return the question."""
        last = self.program[-1]
        verb, _, about = last.function.partition("_")
        if last.function == "count":
            return f"How many {self.many(last.inputs[0])} are there?"
        if last.function == "exist":
            return f"Are there any {self.many(last.inputs[0])}?"
        if last.function in COMPARISONS:
            more, than = COMPARISONS[last.function]
            one, two = (self.many(self.program[source].inputs[0]) for source in last.inputs)
            return f"Are there {more} {one} {than} {two}?"
        if verb == "query":
            return f"What {about} {self.verb(last.inputs[0])} {self.one(last.inputs[0])}?"
        if last.function == "equal_object":
            one, two = (self.one(source) for source in last.inputs)
            return f"Is {one} the same {self.thing} as {two}?"
        first, second = (self.program[source].inputs[0] for source in last.inputs)
        does = "Does" if self.is_single(first) else "Do"
        return f"{does} {self.one(first)} have the same {about} as {self.one(second)}?"

    def is_single(self, number: int) -> bool:
        """Return whether a step stands for one object: its input was not replaced by all of them."""
        return self.program[number].function == "unique"

    def verb(self, number: int) -> str:
        """Return the form of to be that goes with an object."""
        return "is" if self.is_single(number) else "are"

    def one(self, number: int) -> str:
        """Return what is said of an object."""
        step = self.program[number]
        if step.function != "unique":
            return f"all {self.things}"
        return f"the {self.said(self.described(step.inputs[0]), plural=False)}"

    def many(self, number: int) -> str:
        """Return what is said of a set of objects."""
        return self.said(self.described(number), plural=True)

    def described(self, number: int) -> Described:
        """Return a set of objects in words."""
        step = self.program[number]
        verb, _, about = step.function.partition("_")
        if step.function == "scene":
            return Described()
        if verb == "filter":
            return self.filtered(self.described(step.inputs[0]), about, step.values[0])
        if step.function == "relate":
            where = self.vocabulary.relations[step.values[0]][0]  # type: ignore[index]
            return Described(after=(f"{where} {self.anchor(step.inputs[0])}",))
        if verb == "same":
            return Described(after=(f"of the same {about} as {self.anchor(step.inputs[0])}",))
        if step.function == "unique":
            return self.described(step.inputs[0])
        one, two = (self.described(source) for source in step.inputs)
        if step.function == "intersect":
            return self.both(one, two)
        singles = [self.said(each, plural=True) for each in (one, two)]
        return Described(after=(f"that are either {singles[0]} or {singles[1]}",))

    def anchor(self, number: int) -> str:
        """Return what is said of the object that others stand in a relation to."""
        return self.one(number) if self.is_single(number) else f"some {self.thing}"

    def filtered(self, described: Described, about: str, value: str) -> Described:
        """Return a description with one more word."""
        if about != NOUN:
            return replace(described, before=(*described.before, (about, value)))
        if not described.shape:
            return replace(described, shape=value)
        return replace(described, after=(*described.after, f"that are {self.vocabulary.plural(value)}"))

    def both(self, one: Described, two: Described) -> Described:
        """Return what is true of both descriptions."""
        merged = Described((*one.before, *two.before), one.shape, one.after)
        if two.shape:
            merged = self.filtered(merged, NOUN, two.shape)
        return replace(merged, after=(*merged.after, *two.after))

    def said(self, described: Described, *, plural: bool) -> str:
        """Return a description as words, adjectives in the usual order."""
        words = [value for attribute in ATTRIBUTES for about, value in described.before if about == attribute]
        words = list(dict.fromkeys(words))
        if described.shape:
            words.append(self.vocabulary.plural(described.shape) if plural else described.shape)
        else:
            words.append(self.things if plural else self.thing)
        return " ".join([*words, *_joined(described.after)])


def _joined(clauses: Sequence[str]) -> list[str]:
    return [" and ".join(clauses)] if clauses else []
