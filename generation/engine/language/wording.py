"""Wordings: the English texts of a question family.

The markup of a text: `<Z>` inserts a parameter's word (nothing if it is unset; a general noun if it is the object's
shape), `<S>s` its plural, `[words]` are optional, and `{one|two}` are alternatives. The literal words `thing` and
`things` become any general noun. `a` becomes `an` before a vowel. `other` and `another` are removed if the two
descriptions in a question cannot match the same object.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from generation.engine.errors import BadFamily
from generation.engine.seeding import Stream

_MARK = re.compile(r"<\w+>s?(?!\w)|[\[\]{}|]|[.,;:?!]+|'s\b|[^\s<>\[\]{}|.,;:?!']+(?:'[^\s<>\[\]{}|.,;:?!']+)*|<\S*|\S")
_ARTICLES = frozenset(("a", "an", "A", "An"))
_LONE = {"another": "a", "Another": "A"}
_GLUED = re.compile(r"[.,;:?!]+|'s")
DEEPEST = 20  # the deepest nesting of brackets


class Forms(NamedTuple):
    """The words for one value. Singular and plural have the same positions."""

    singular: tuple[str, ...]
    plural: tuple[str, ...]


class Lexicon(NamedTuple):
    """The words for values.

    Attributes
    ----------
    forms : mapping of str to mapping of str to Forms
        For each parameter type, the forms of each value.
    things : Forms
        Nouns for any object. They also stand for the `noun` type if its parameter is unset.
    noun : str
        The parameter type whose word is a noun.
    vowels, consonants : frozenset of str
        Words that take `an` or `a` although their first letter suggests otherwise.
    """

    forms: Mapping[str, Mapping[str, Forms]]
    things: Forms
    noun: str
    vowels: frozenset[str] = frozenset()
    consonants: frozenset[str] = frozenset()


class Word(NamedTuple):
    """A literal word, or a punctuation mark that is attached to the word before it."""

    text: str
    glued: bool


class Thing(NamedTuple):
    """A general noun."""

    plural: bool


class TemplateSlot(NamedTuple):
    """A parameter's word."""

    param: int
    plural: bool


class Alternatives(NamedTuple):
    """Several texts of which one is used. Optional words are an alternative to an empty text."""

    options: tuple["Parts", ...]
    optional: bool


Parts = tuple["Word | Thing | TemplateSlot | Alternatives", ...]


class Wording(NamedTuple):
    """A text, parsed."""

    parts: Parts
    text: str


def read_wording(text: object, *, params: Sequence[str], where: str) -> Wording:
    """Return the parsed text.

    Raises
    ------
    BadFamily
        If it is not a string, if brackets do not match, or if its placeholders are not exactly `params`.
    """
    if not isinstance(text, str):
        raise BadFamily(f"Expected a text, got {text!r}.", where=where)
    marks = _MARK.findall(text)
    found = {mark.rstrip("s") for mark in marks if mark.startswith("<")}
    if found != set(params):
        odd = sorted(found - set(params))
        message = f"{', '.join(odd)} is unknown" if odd else f"{', '.join(sorted(set(params) - found))} is missing"
        raise BadFamily(f"Expected the placeholders {', '.join(params)}: {message} in {text!r}.", where=where)
    slots = {name: at for at, name in enumerate(params)}
    if _depth(marks) > DEEPEST:
        raise BadFamily(f"Expected at most {DEEPEST} brackets inside one another, got more in {text!r}.", where=where)
    parts, end = _parse(marks, 0, slots, "", where)
    if end != len(marks):
        raise BadFamily(f"Expected brackets that match, got a stray {marks[end]!r} in {text!r}.", where=where)
    unsure = [name for at, name in enumerate(params) if at not in _always_said(parts)]
    if unsure:
        raise BadFamily(
            f"Expected every placeholder to be said each time, {', '.join(unsure)} may be left out in {text!r}.",
            where=where,
        )
    return Wording(parts, text)


def _depth(marks: Sequence[str]) -> int:
    return max(accumulate({"[": 1, "{": 1, "]": -1, "}": -1}.get(mark, 0) for mark in marks), default=0)


def _always_said(parts: Parts) -> set[int]:
    """Return the parameters that occur in every choice of alternatives."""
    said: set[int] = set()
    for part in parts:
        if isinstance(part, TemplateSlot):
            said.add(part.param)
        elif isinstance(part, Alternatives):
            said |= set.intersection(*(_always_said(option) for option in part.options))
    return said


def _parse(marks: Sequence[str], at: int, slots: Mapping[str, int], closer: str, where: str) -> tuple[Parts, int]:
    """Return the parts from `at` to the closing bracket (or `|`), and the position of that bracket."""
    parts: list[Word | Thing | TemplateSlot | Alternatives] = []
    while at < len(marks):
        mark = marks[at]
        if mark in ("]", "}", "|"):
            if mark == closer or (closer == "}" and mark == "|"):
                return tuple(parts), at
            break
        if mark == "[":
            inner, at = _parse(marks, at + 1, slots, "]", where)
            parts.append(Alternatives((inner, ()), optional=True))
        elif mark == "{":
            options = []
            while True:
                inner, at = _parse(marks, at + 1, slots, "}", where)
                options.append(inner)
                if marks[at] == "}":
                    break
            parts.append(Alternatives(tuple(options), optional=False))
        else:
            parts.append(_part(mark, slots))
        at += 1
    if closer:
        raise BadFamily(f"Expected a closing {closer!r}.", where=where)
    return tuple(parts), at


def _part(mark: str, slots: Mapping[str, int]) -> "Word | Thing | TemplateSlot":
    if mark.startswith("<"):
        plural = mark.endswith("s")
        return TemplateSlot(slots[mark[:-1] if plural else mark], plural)
    if mark in ("thing", "things"):
        return Thing(mark == "things")
    return Word(mark, bool(_GLUED.fullmatch(mark)))


def most_words(wordings: Iterable[tuple[Wording, Sequence[str]]], lexicon: Lexicon) -> int:
    """Return an upper bound for the number of words of a text, for all values and all alternatives.

    Parameters
    ----------
    wordings : iterable of (Wording, sequence of str)
        Each wording, and the types of its parameters.
    lexicon : Lexicon
    """
    longest = {
        (name, plural): max((len(form.split()) for form in _said(lexicon, name, plural)), default=0)
        for name in ("", *lexicon.forms)
        for plural in (False, True)
    }
    return max(_most(wording.parts, longest, types) for wording, types in wordings)


def _said(lexicon: Lexicon, name: str, plural: bool) -> tuple[str, ...]:
    """Return what can be said for a parameter of this type, or for any object if it has no name."""
    if not name:
        return lexicon.things[plural]
    said = tuple(form for forms in lexicon.forms[name].values() for form in forms[plural])
    return said + lexicon.things[plural] if name == lexicon.noun else said


def _most(parts: Parts, longest: Mapping[tuple[str, bool], int], types: Sequence[str]) -> int:
    # a mark at the start has no word before it to attach to
    most = int(bool(parts) and isinstance(parts[0], Word) and parts[0].glued)
    for part in parts:
        if isinstance(part, Word):
            most += 0 if part.glued else len(part.text.split())
        elif isinstance(part, Alternatives):
            most += max(_most(option, longest, types) for option in part.options)
        else:
            most += longest[types[part.param] if isinstance(part, TemplateSlot) else "", part.plural]
    return most


class Speaker:
    """Writes texts from wordings, with a lexicon and the probability of optional words."""

    def __init__(self, lexicon: Lexicon, *, optional_words: float) -> None:
        self.lexicon = lexicon
        self.optional_words = optional_words
        self._articles: dict[str, bool] = {}

    def say(
        self,
        wording: Wording,
        *,
        types: Sequence[str],
        values: Sequence[str | None],
        alike: bool,
        stream: Stream,
    ) -> str:
        """Return a random text for a wording.

        Parameters
        ----------
        wording : Wording
        types : sequence of str
            The type of each parameter.
        values : sequence of str or None
            The value of each parameter; None if it is unset.
        alike : bool
            Whether the described object could match the description it is related to, so that `other` is kept.
        stream : Stream
            Chooses synonyms, alternatives and optional words.
        """
        words: list[str] = []
        self._parts(wording.parts, types, values, stream.random, words)
        return self._polish(words, alike)

    def _parts(
        self,
        parts: Parts,
        types: Sequence[str],
        values: Sequence[str | None],
        random: Callable[[], float],
        words: list[str],
    ) -> None:
        lexicon = self.lexicon
        for part in parts:
            if isinstance(part, Word):
                if part.glued and words:
                    words[-1] += part.text
                else:
                    words.append(part.text)
            elif isinstance(part, TemplateSlot):
                value = values[part.param]
                name = types[part.param]
                if value is not None:
                    forms = lexicon.forms[name][value]
                elif name == lexicon.noun:
                    forms = lexicon.things
                else:
                    continue
                said = forms[part.plural]
                words.append(said[int(random() * len(said))] if len(said) > 1 else said[0])
            elif isinstance(part, Thing):
                said = lexicon.things[part.plural]
                words.append(said[int(random() * len(said))])
            elif part.optional:
                if random() < self.optional_words:
                    self._parts(part.options[0], types, values, random, words)
            else:
                self._parts(part.options[int(random() * len(part.options))], types, values, random, words)

    def _polish(self, words: list[str], alike: bool) -> str:
        if not alike:
            words = [_LONE.get(word, word) for word in words if word not in ("other", "Other")]
        for at in range(len(words) - 1):
            if words[at] in _ARTICLES:
                words[at] = words[at][0] + ("n" if self._vowel(words[at + 1]) else "")
        text = " ".join(words)
        return text[:1].title() + text[1:]

    def _vowel(self, word: str) -> bool:
        known = self._articles.get(word)
        if known is None:
            known = self._articles[word] = takes_an(word, self.lexicon)
        return known


def takes_an(word: str, lexicon: Lexicon) -> bool:
    """Return whether a word takes the article `an`; accents on its first letter do not matter."""
    bare = word.lower().strip(".,;:?!")
    first = unicodedata.normalize("NFD", bare[:1])[:1]
    return bare not in lexicon.consonants and (bare in lexicon.vowels or first in tuple("aeiou"))


def words_said(wording: Wording) -> Iterator[str]:
    """Yield every literal word of a wording, from all alternatives."""
    yield from _words_said(wording.parts)


def _words_said(parts: Parts) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Word):
            yield part.text
        elif isinstance(part, Alternatives):
            for option in part.options:
                yield from _words_said(option)


def words_of(lexicon: Lexicon) -> Iterator[str]:
    """Yield every word or phrase of a lexicon."""
    for forms in (lexicon.things, *(forms for kind in lexicon.forms.values() for forms in kind.values())):
        yield from (*forms.singular, *forms.plural)
