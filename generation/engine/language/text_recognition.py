"""Recognising texts: whether a text can be written from a wording. This reverses `wording.Speaker`.

All alternatives are followed at the same time, as the set of positions up to which they match the text. Therefore the
number of synonyms, alternatives and optional words does not make it slow.
"""

from collections.abc import Sequence

from generation.engine.language.wording import (
    Alternatives,
    Lexicon,
    Parts,
    TemplateSlot,
    Thing,
    Word,
    Wording,
    takes_an,
)

_ARTICLES = ("a", "an", "A", "An")
_OTHERS = ("other", "Other")
_ANOTHERS = ("another", "Another")


class Listener:
    """Recognises texts, with a lexicon and the probability of optional words: never (0), always (1) or sometimes."""

    def __init__(self, lexicon: Lexicon, *, optional_words: float) -> None:
        self.lexicon = lexicon
        self.may_skip, self.may_say = optional_words < 1.0, optional_words > 0.0
        said = [form for kind in lexicon.forms.values() for forms in kind.values() for form in (*forms[0], *forms[1])]
        said += [*lexicon.things.singular, *lexicon.things.plural]
        self.phrases = sorted({form for form in said if " " in form})

    def hears(
        self, text: str, wording: Wording, *, types: Sequence[str], values: Sequence[str | None], alike: bool
    ) -> bool:
        """Return whether a text can be written from a wording with these values. For parameters see `Speaker.say`."""
        if text[:1] != text[:1].title():
            return False
        for said in dict.fromkeys((text, text[:1].lower() + text[1:])):
            heard = _Heard(self, f" {said}", types, values, alike)
            if len(said) + 1 in heard.parts(wording.parts, {0}):
                return True
        return False

    def is_vowel(self, word: str) -> bool:
        """Return whether a word takes the article `an`."""
        return takes_an(word, self.lexicon)


class _Heard:
    """Matches one text, with a blank before each word, against one wording."""

    def __init__(
        self, listener: Listener, text: str, types: Sequence[str], values: Sequence[str | None], alike: bool
    ) -> None:
        self.listener, self.text, self.alike = listener, text, alike
        self.types, self.values = types, values

    def parts(self, parts: Parts, places: set[int]) -> set[int]:
        """Return the positions in the text after these parts, if the parts begin at one of `places`."""
        for part in parts:
            if not places:
                break
            places = self.part(part, places)
        return places

    def part(self, part: "Word | Thing | TemplateSlot | Alternatives", places: set[int]) -> set[int]:
        if isinstance(part, Word):
            return self.glued(part.text, places) if part.glued else self.word(part.text, places)
        if isinstance(part, Alternatives):
            return self.choice(part, places)
        things = self.listener.lexicon.things
        if isinstance(part, Thing):
            return self.any_of(things[part.plural], places)
        value, kind = self.values[part.param], self.types[part.param]
        if value is not None:
            return self.any_of(self.listener.lexicon.forms[kind][value][part.plural], places)
        return self.any_of(things[part.plural], places) if kind == self.listener.lexicon.noun else places

    def choice(self, part: Alternatives, places: set[int]) -> set[int]:
        if not part.optional:
            return set().union(*(self.parts(option, places) for option in part.options))
        said = self.parts(part.options[0], places) if self.listener.may_say else set()
        return said | places if self.listener.may_skip else said

    def any_of(self, forms: Sequence[str], places: set[int]) -> set[int]:
        return {place + 1 + len(form) for place in places for form in forms if self.text.startswith(f" {form}", place)}

    def glued(self, mark: str, places: set[int]) -> set[int]:
        found = {place + len(mark) for place in places if place and self.text.startswith(mark, place)}
        return found | (self.any_of((mark,), {0}) if 0 in places else set())

    def word(self, word: str, places: set[int]) -> set[int]:
        if word in _ARTICLES:
            return self.article(word[0], word, places)
        if not self.alike and word in _OTHERS:  # removed, except for marks attached to it
            return places | {end for end in self.any_of((word,), places) if self.text[end : end + 1] not in ("", " ")}
        if not self.alike and word in _ANOTHERS:
            return self.article("A" if word[0] == "A" else "a", word, places)
        return self.any_of((word,), places)

    def article(self, letter: str, word: str, places: set[int]) -> set[int]:
        """Return the positions after an article that agrees with the following word."""
        found = set()
        for said, vowel in ((letter, False), (f"{letter}n", True)):
            for end in self.any_of((said,), places):
                after = self.text[end : end + 1]
                if (after == " " and vowel in self.vowels(end + 1)) or (after != " " and said == word):
                    found.add(end)
        return found

    def vowels(self, place: int) -> set[bool]:
        """Return whether the word or phrase at a position takes `an`. Both answers are possible if phrases match."""
        rest = self.text[place:]
        words = [rest.partition(" ")[0], *(form for form in self.listener.phrases if rest.startswith(form))]
        return {self.listener.is_vowel(word) for word in words}
