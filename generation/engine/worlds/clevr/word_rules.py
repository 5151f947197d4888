"""Rules for the words of a vocabulary: each word means one thing, and each name can be read as an answer.

They hold for new datasets. A stored dataset keeps words that an earlier release accepted.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from generation.engine.errors import BadSpec
from generation.engine.language.names import BadName, looks, quote, read_name
from generation.engine.language.token_vocabulary import split_words
from generation.engine.language.wording import words_said
from generation.engine.replies.reply_reader import ReplyReader
from generation.engine.replies.vocabulary import SPELLINGS, AnswerVocabulary
from generation.engine.worlds.clevr.spec import ClevrSpec, read_spec
from generation.engine.worlds.clevr.vocabulary import (
    ATTRIBUTES,
    LONGEST_WORDS,
    ClevrVocabulary,
    regular_plural,
)

TWO_SPELLINGS = (("grey", "gray"),)
OTHER_ANSWERS = frozenset(word for pair in SPELLINGS if pair not in TWO_SPELLINGS for word in pair) | frozenset(
    ("maybe", "none", "nothing", "unknown")
)
LOGICAL = frozenset(["yes", "no", "not", "nor", "neither", "or", "either"])  # words that deny or list answers
REPLIES = ("{}", "{}.", "Answer: {}", "The answer is {}.", "**{}**", "It is {}.")


class Word(NamedTuple):
    """A word of a vocabulary, and what it means. `value` is empty for a general noun."""

    text: str
    attribute: str
    value: str
    role: str

    @property
    def meaning(self) -> str:
        """Return what the word is, for a message."""
        return f"{self.role} of the {self.attribute} {quote(self.value)}" if self.value else self.role


def check_words(spec: ClevrSpec) -> None:
    """Raise `BadSpec` for a word of a split's vocabulary that has two meanings, or that no reply could answer."""
    for name, split in spec.splits.items():
        where = f"splits.{name}.overrides." if "vocabulary" in split.overrides else ""
        own = spec.for_split(name).vocabulary
        if own != _default_spec().vocabulary:
            _check(own, where=where)


def _check(vocabulary: ClevrVocabulary, *, where: str) -> None:
    words = list(words_of(vocabulary))
    for word in words:
        _check_form(word, where=where)
    _check_meanings(words, where=where)
    for word in words:
        _check_free(word, vocabulary, where=where)
    _check_descriptions(words, where=where)
    _check_answers(vocabulary, where=where)


def words_of(vocabulary: ClevrVocabulary) -> Iterator[Word]:
    """Yield the words of a vocabulary: names, synonyms, plurals of shapes, and general nouns."""
    for attribute in ATTRIBUTES:
        entries = getattr(vocabulary, f"{attribute}s")
        for name, entry in entries.items():
            yield Word(name, attribute, name, "the name")
            if attribute == "shape":
                yield Word(vocabulary.plural(name), attribute, name, "the plural")
            for word in entry.synonyms:
                yield Word(word, attribute, name, "a synonym")
                if attribute == "shape":
                    yield Word(entry.synonyms[word], attribute, name, "the plural of a synonym")
    for singular, plural in vocabulary.things.items():
        yield Word(singular, "thing", "", "a noun for any object")
        yield Word(plural, "thing", "", "a noun for any object")


def _place(word: Word, where: str) -> str:
    return f"{where}vocabulary.{word.attribute}s.{word.value or word.text}"


def _refuse(word: Word, reason: str, *, where: str) -> BadSpec:
    return BadSpec(f"Expected {reason}, got {quote(word.text)}. Choose another word.", where=_place(word, where))


def _check_form(word: Word, *, where: str) -> None:
    try:
        name = read_name(word.text, most=LONGEST_WORDS)
    except BadName as error:
        raise BadSpec(f"{error}.", where=_place(word, where)) from error
    if name != word.text:
        raise _refuse(word, "single spaces, and none at the ends", where=where)


def _check_meanings(words: Sequence[Word], *, where: str) -> None:
    """Refuse a word that looks like a word of another value, apart from capitals; regular plurals count as well."""
    seen: dict[str, Word] = {}
    for word in words:
        spellings = {word.text, regular_plural(word.text)}.union(*(pair for pair in TWO_SPELLINGS if word.text in pair))
        for look in frozenset[str]().union(*map(looks, spellings)):
            other = seen.setdefault(look, word)
            if (other.attribute, other.value) != (word.attribute, word.value):
                new, old = (other, word) if _is_default(word) and not _is_default(other) else (word, other)
                raise BadSpec(
                    f"Expected a word with one meaning, got {quote(new.text)} as {new.meaning}, which is also "
                    f"{old.meaning}{'' if old.text == new.text else f' ({quote(old.text)})'}. Choose another word.",
                    where=_place(new, where),
                )


def _is_default(word: Word) -> bool:
    return word in _default_words()


@cache
def _default_spec() -> ClevrSpec:
    return read_spec({"base": "clevr-mini"}, files={})


@cache
def _default_words() -> frozenset[Word]:
    return frozenset(words_of(_default_spec().vocabulary))


@cache
def _question_words() -> frozenset[str]:
    """Return the words that the texts of CLEVR's families have beside the words for values."""
    texts = [word for family in _default_spec().families for wording in family.wordings for word in words_said(wording)]
    return frozenset(word for text in texts for word in split_words(text)) | {"a", "an"}


def _check_free(word: Word, vocabulary: ClevrVocabulary, *, where: str) -> None:
    """Refuse a word that means something else in questions or replies."""
    if not word.value:
        return
    said = word.text.casefold()
    if said in OTHER_ANSWERS:
        raise _refuse(word, "a word that is not another answer", where=where)
    if len(said) == 1 and said.isascii():
        raise _refuse(word, "a word that is not the letter of an option", where=where)
    parts = said.split()
    if LOGICAL & set(parts):
        raise _refuse(word, "a name without a word that denies or lists, such as not and or", where=where)
    phrases = {part for some in vocabulary.relations.values() for phrase in some for part in (phrase, *phrase.split())}
    if said in {phrase.casefold() for phrase in phrases}:
        raise _refuse(word, "a word that no relation has", where=where)
    is_known = any((one.text, one.attribute) == (word.text, word.attribute) for one in _default_words())
    if said in _question_words() and not is_known:
        raise _refuse(word, "a word that the texts of questions do not use otherwise", where=where)


# Descriptions


class _Part(NamedTuple):
    """A word at its place in a description: size, colour, material, and the noun at the end."""

    place: int
    words: tuple[str, ...]
    value: str


class _Reading(NamedTuple):
    """The beginning of a description as someone reads it: the place of its last word, and the values so far."""

    place: int
    values: tuple[str, ...]

    def extended(self, part: _Part) -> "_Reading":
        return _Reading(part.place, (*self.values, *("",) * (part.place - self.place - 1), part.value))

    @property
    def is_whole(self) -> bool:
        return self.place == NOUN


NOUN = len(ATTRIBUTES) - 1
NOTHING = _Reading(-1, ())


def _check_descriptions(words: Sequence[Word], *, where: str) -> None:
    """Refuse words of which a description such as `the dark blue cube` can be read in two ways."""
    places = {attribute: place for place, attribute in enumerate(ATTRIBUTES)} | {"thing": NOUN}
    parts = [_Part(places[word.attribute], tuple(word.text.casefold().split()), word.value) for word in words]
    if all(len(part.words) == 1 for part in parts):
        return  # each word has one meaning, so that each description has one
    phrase = ambiguous_phrase(parts)
    if phrase:
        word = next(word for word in words if " " in word.text and word.text.casefold() in phrase)
        raise BadSpec(
            f"Expected words of which every description can be read in one way, got {quote(phrase)}, which can be read "
            "in two ways. Choose another word.",
            where=_place(word, where),
        )


def ambiguous_phrase(parts: Sequence[_Part]) -> str:
    """Return the beginning of a description that has two readings; empty if there is none.

    Two readings that begin with different words are extended word by word, always the shorter one, until they end at
    the same place. The same noun then completes both.
    """
    waiting = [
        (NOTHING.extended(one), NOTHING.extended(other), one.words, one.words[len(other.words) :])
        for one in parts
        for other in parts
        if one != other and one.words[: len(other.words)] == other.words
    ]
    seen = set()
    while waiting:
        longer, shorter, said, rest = waiting.pop()
        if (longer, shorter, rest) in seen:
            continue
        seen.add((longer, shorter, rest))
        if not rest:
            if longer.values != shorter.values and longer.is_whole == shorter.is_whole:
                return " ".join(said)
            continue
        for part in parts:
            both = min(len(rest), len(part.words))
            if part.place <= shorter.place or part.words[:both] != rest[:both]:
                continue
            if len(part.words) <= len(rest):
                waiting.append((longer, shorter.extended(part), said, rest[both:]))
            elif not longer.is_whole:
                waiting.append((shorter.extended(part), longer, (*said, *part.words[both:]), part.words[both:]))
    return ""


# Answers


def _check_answers(vocabulary: ClevrVocabulary, *, where: str) -> None:
    """Refuse a name or synonym that no reply could give as an answer."""
    names = [name for attribute in ATTRIBUTES for name in vocabulary.values(attribute)]
    answers = AnswerVocabulary(["no", "yes", "0", "1", "2", *names], synonyms=vocabulary.synonyms)
    every = range(len(answers.answers))
    kinds = [[code for code in every if answers.answers[code] in vocabulary.values(one)] for one in ATTRIBUTES]
    reader = ReplyReader(answers, kinds)
    for word in words_of(vocabulary):
        if not word.value or "plural" in word.role:
            continue
        kind, code = ATTRIBUTES.index(word.attribute), answers.exact[word.value]
        unread = next((reply for one in REPLIES if reader.code(reply := one.format(word.text), kind) != code), "")
        if unread:
            raise _refuse(word, f"a word that replies such as {quote(unread)} can give as an answer", where=where)
