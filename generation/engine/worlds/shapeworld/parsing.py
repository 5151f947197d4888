"""Parsing of English captions: the exact inverse of `caption_text`."""

import re
from collections.abc import Iterable, Iterator

from generation.engine.errors import BadRecord
from generation.engine.worlds.shapeworld.caption_text import CaptionWriter, determiner
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
    COMPARISONS,
    DIFFERING,
    NEAR,
    NUMERALS,
    ONLY,
    PROXIMITIES,
    QUANTIFIERS,
    RELATIONS,
    SELECTORS,
    THING,
    THINGS,
)
from generation.engine.worlds.shapeworld.vocabulary import ShapeVocabulary

JOINTS = (
    ("if", re.compile(r"if (.+), then (.+)")),
    ("iff", re.compile(r"(.+) if and only if (.+)")),
    ("and", re.compile(r"(.+) and (.+)")),
    ("or", re.compile(r"(.+) or (.+)")),
)
RELATED = {phrase: name for known in (RELATIONS, DIFFERING, PROXIMITIES) for name, phrase in known.items()}
NEARNESS = {phrase: name for name, phrase in NEAR.items()}
DETERMINERS = {determiner(name): name for name in QUANTIFIERS} | {"an": "a"}
OF = {quantifier.of: name for name, quantifier in QUANTIFIERS.items() if quantifier.of}
COMPARING = {(comparison.words, comparison.than): name for name, comparison in COMPARISONS.items()}
VERBS = r"(?:is|are|has|have|(?P<negated>is not|are not|(?:does|do) not(?: have)?))"
OLDER = re.compile(r"\b(does|do) not have a different (shape|color) from\b")  # wording of engine versions before 4


class Parser:
    """Parses sentences of a vocabulary.

    Parameters
    ----------
    vocabulary : Vocabulary
    """

    def __init__(self, vocabulary: ShapeVocabulary) -> None:
        self.sayer = CaptionWriter(vocabulary)
        self.colors = _any(vocabulary.values("color"))
        self.shapes: dict[str, str | None] = {THING: None, THINGS: None}
        for shape in vocabulary.values("shape"):
            self.shapes |= {shape: shape, vocabulary.plural(shape): shape}
        self.forms = [re.compile(form) for form in self._forms()]

    def parse(self, text: str) -> Meaning:
        """Return the meaning of a sentence.

        Raises
        ------
        BadRecord
            If we would not write the sentence in exactly these words.
        """
        text = OLDER.sub(r"\1 not differ in \2 from", text)
        if text.endswith(".") and text[0].isupper():
            for meaning in self._meanings(text[0].lower() + text[1:-1]):
                if self.sayer.say(meaning) == text:
                    return meaning
        raise BadRecord(f"Expected a caption as this site writes them, got {text!r}.", where="caption")

    def _meanings(self, text: str) -> Iterator[Meaning]:
        yield from self._statements(text)
        for connective, joint in JOINTS:
            found = joint.fullmatch(text)
            if found:
                for first in self._statements(found[1]):
                    for second in self._statements(found[2]):
                        yield Conjunction(connective, first, second)

    def _statements(self, text: str) -> Iterator[Statement]:
        for form in self.forms:
            found = form.fullmatch(text)
            if found:
                yield self._read(found.groupdict())

    def _forms(self) -> Iterator[str]:
        attribute = rf"(?:is|are)(?: an?)? (?:{self._noun('is')}|(?P<color_alone>{self.colors}))"
        related = (
            rf"{VERBS} (?P<relation>{_any(RELATED)}) (?P<article>an?|the) {self._noun('reference')}"
            rf"(?: than the {self._noun('comparison')} is)?"
        )
        yield rf"there is an? {self._noun('there')}(?: that {attribute})?"
        comparing = _any(words for words, _ in COMPARING)
        yield rf"(?P<comparing>{comparing}) {self._noun('one')} (?P<than>than|as) {self._noun('other')} {attribute}"
        for body in (attribute, related):
            yield rf"(?P<determiner>{_any(DETERMINERS)}) {self._noun('head')} {body}"
            yield rf"(?P<of>{_any(OF)}) of the (?P<bound>{_any(NUMERALS)}) {self._noun('head')} {body}"
            yield rf"the (?P<selector>{_any((*SELECTORS, ONLY))}) {self._noun('head')} {body}"
            yield rf"the {self._noun('head')} (?P<nearness>{_any(NEARNESS)}) the {self._noun('near')} {body}"

    def _noun(self, name: str) -> str:
        return rf"(?:(?P<color_{name}>{self.colors}) )?(?P<shape_{name}>{_any(self.shapes)})"

    def _read(self, words: dict[str, str | None]) -> Statement:
        if "shape_there" in words:
            clause = self._attribute(words)
            return There(self._read_noun(words, "there"), clause if clause.named else None)
        if "comparing" in words:
            name = COMPARING.get((str(words["comparing"]), str(words["than"])), "more")
            return ComparedCounts(
                name, self._read_noun(words, "one"), self._read_noun(words, "other"), self._attribute(words)
            )
        noun, body = self._read_noun(words, "head"), self._body(words)
        if "selector" in words:
            return QuantifiedStatement("the", SelectedEntity(str(words["selector"]), noun), body)
        if "nearness" in words:
            near = self._read_noun(words, "near")
            return QuantifiedStatement("the", SelectedEntity(NEARNESS[str(words["nearness"])], noun, near), body)
        if "of" in words:
            return QuantifiedStatement(OF[str(words["of"])], noun, body, NUMERALS.index(str(words["bound"])))
        return QuantifiedStatement(DETERMINERS[str(words["determiner"])], noun, body)

    def _body(self, words: dict[str, str | None]) -> Body:
        if "relation" not in words:
            return self._attribute(words)
        comparison = self._read_noun(words, "comparison") if words["shape_comparison"] else None
        return Relation(
            RELATED[str(words["relation"])],
            self._read_noun(words, "reference"),
            words["article"] == "the",
            words["negated"] is not None,
            comparison,
        )

    def _attribute(self, words: dict[str, str | None]) -> Noun:
        if words["color_alone"] is not None:
            return Noun(color=words["color_alone"])
        return self._read_noun(words, "is")

    def _read_noun(self, words: dict[str, str | None], name: str) -> Noun:
        return Noun(self.shapes.get(words[f"shape_{name}"] or THING), words[f"color_{name}"])


def _any(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))
