"""The words of questions: the list of all possible words, and a text for a program."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from generation.engine.language.families import RELATION, Family
from generation.engine.language.token_vocabulary import split_words
from generation.engine.language.wording import Forms, Lexicon, Speaker, words_of, words_said
from generation.engine.program import Program
from generation.engine.seeding import Stage, stream
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES, RELATIONS, ClevrVocabulary

NOUN = "Shape"


def lexicon(vocabulary: ClevrVocabulary) -> Lexicon:
    """Return the words for a vocabulary's values."""
    forms: dict[str, dict[str, Forms]] = {}
    for attribute, entries in (
        ("Size", vocabulary.sizes),
        ("Color", vocabulary.colors),
        ("Material", vocabulary.materials),
    ):
        forms[attribute] = {
            name: Forms((name, *entry.synonyms), (name, *entry.synonyms)) for name, entry in entries.items()
        }
    forms["Shape"] = {
        name: Forms((name, *shape.synonyms), (vocabulary.plural(name), *shape.synonyms.values()))
        for name, shape in vocabulary.shapes.items()
    }
    forms[RELATION] = {name: Forms(phrases, phrases) for name, phrases in vocabulary.relations.items()}
    return Lexicon(
        forms=forms,
        things=Forms(tuple(vocabulary.things), tuple(vocabulary.things.values())),
        noun=NOUN,
        vowels=frozenset(vocabulary.vowels),
        consonants=frozenset(vocabulary.consonants),
    )


def all_words(families: Iterable[Family], vocabulary: ClevrVocabulary) -> tuple[str, ...]:
    """Return every word that questions of these families can have, as `split_words` gives them, sorted."""
    said = {word for family in families for wording in family.wordings for word in words_said(wording)}
    said.update(words_of(lexicon(vocabulary)), ("a", "an"))
    return tuple(sorted({word for text in said for word in split_words(text)}))


def families_in_words(
    families: Iterable[Family], vocabulary: ClevrVocabulary, reasons: Mapping[int, str]
) -> tuple[str, ...]:
    """Return a sentence for each family with a reason: its number, a question of it, and the reason."""
    speaker = Speaker(lexicon(vocabulary), optional_words=0.0)
    words = stream(seed=0, split="", index=0, stage=Stage.WORDS)
    found = []
    for family in families:
        if family.number in reasons:
            types = tuple(param.type for param in family.params)
            values = [RELATIONS[0] if kind == RELATION else None for kind in types]
            text = speaker.say(family.wordings[0], types=types, values=values, alike=True, stream=words)
            found.append(f"Family {family.number}, such as “{text}”: {reasons[family.number]}.")
    return tuple(found)


NOUN_ATTRIBUTE = "shape"  # the attribute that becomes a noun
COMPARISONS = {"equal_integer": ("as many", "as"), "less_than": ("fewer", "than"), "greater_than": ("more", "than")}


@dataclass(frozen=True)
class NounPhrase:
    """A set of objects in words: the words before the noun, the shape, and the clauses after the noun."""

    before: tuple[tuple[str, str], ...] = ()  # attribute, value
    shape: str = ""
    after: tuple[str, ...] = field(default=())

    @property
    def is_everything(self) -> bool:
        """Return whether the description has no words, so that it fits all objects."""
        return not (self.before or self.shape or self.after)


def say(program: Program, vocabulary: ClevrVocabulary) -> str:
    """Return a program as a question in plain words; its last step must give an answer."""
    return ProgramWriter(program, vocabulary).question()


class ProgramWriter:
    """Writes one program as a question.

    Parameters
    ----------
    program : Program
        Well-typed, except that a function of one object may be given the set of all objects.
    vocabulary : Vocabulary
    """

    def __init__(self, program: Program, vocabulary: ClevrVocabulary) -> None:
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
        """Return whether a step gives one object, that is, whether its function is `unique`."""
        return self.program[number].function == "unique"

    def verb(self, number: int) -> str:
        """Return "is" or "are", to fit the step."""
        return "is" if self.is_single(number) else "are"

    def one(self, number: int) -> str:
        """Return the words for an object."""
        step = self.program[number]
        if step.function != "unique":
            return f"all {self.things}"
        return f"the {self.phrase(self.described(step.inputs[0]), plural=False)}"

    def many(self, number: int) -> str:
        """Return the words for a set of objects."""
        return self.phrase(self.described(number), plural=True)

    def described(self, number: int) -> NounPhrase:
        """Return the description of a set of objects."""
        step = self.program[number]
        verb, _, about = step.function.partition("_")
        if step.function == "scene":
            return NounPhrase()
        if verb == "filter":
            return self.filtered(self.described(step.inputs[0]), about, step.values[0])
        if step.function == "relate":
            where = self.vocabulary.relations[step.values[0]][0]  # type: ignore[index]
            return NounPhrase(after=(f"{where} {self.anchor(step.inputs[0])}",))
        if verb == "same":
            return NounPhrase(after=(f"of the same {about} as {self.anchor(step.inputs[0])}",))
        if step.function == "unique":
            return self.described(step.inputs[0])
        one, two = (self.described(source) for source in step.inputs)
        if step.function == "intersect":
            return self.both(one, two)
        singles = [self.phrase(each, plural=True) for each in (one, two)]
        return NounPhrase(after=(f"that are either {singles[0]} or {singles[1]}",))

    def anchor(self, number: int) -> str:
        """Return the words for the object that a relation starts from."""
        return self.one(number) if self.is_single(number) else f"some {self.thing}"

    def filtered(self, described: NounPhrase, about: str, value: str) -> NounPhrase:
        """Return a description with one more condition."""
        if about != NOUN_ATTRIBUTE:
            return replace(described, before=(*described.before, (about, value)))
        if not described.shape:
            return replace(described, shape=value)
        return replace(described, after=(*described.after, f"that are {self.vocabulary.plural(value)}"))

    def both(self, one: NounPhrase, two: NounPhrase) -> NounPhrase:
        """Return a description with the conditions of both."""
        merged = NounPhrase((*one.before, *two.before), one.shape, one.after)
        if two.shape:
            merged = self.filtered(merged, NOUN_ATTRIBUTE, two.shape)
        return replace(merged, after=(*merged.after, *two.after))

    def phrase(self, described: NounPhrase, *, plural: bool) -> str:
        """Return a description as words, with the adjectives in the usual order."""
        words = [value for attribute in ATTRIBUTES for about, value in described.before if about == attribute]
        words = list(dict.fromkeys(words))
        if described.shape:
            words.append(self.vocabulary.plural(described.shape) if plural else described.shape)
        else:
            words.append(self.things if plural else self.thing)
        return " ".join([*words, *_join(described.after)])


def _join(clauses: Sequence[str]) -> list[str]:
    return [" and ".join(clauses)] if clauses else []
