"""The languages that stories are told in. Whatever they are, tasks tell them in English first."""

from collections.abc import Mapping
from string import ascii_lowercase, ascii_uppercase
from typing import Protocol

from generation.engine.items import AnswerKind
from generation.engine.worlds.babi.languages_hindi import Hindi
from generation.engine.worlds.babi.story import Story

SHUFFLED = "gkxbwqzvylhcofujpsratmdnei"  # what a to z become; each letter another one


class StoryLanguage(Protocol):
    """What becomes of English texts.

    Attributes
    ----------
    is_placed_by_english : bool
        Whether the hash of a story's English text says which split it belongs to; else that of its own text does.
    """

    is_placed_by_english: bool

    def __hash__(self) -> int: ...

    def text(self, english: str) -> str:
        """Return a sentence or question."""

    def answer(self, english: str) -> str:
        """Return a canonical answer: a word, or several joined by commas in the order given."""

    def story(self, story: Story) -> Story:
        """Return a story with its lines in this language, its events as they are."""

    def english(self, text: str) -> str | None:
        """Return the English of a sentence or question, as a reader needs it; None where it is none of ours."""


class English:
    """English as it is."""

    is_placed_by_english = True

    def text(self, english: str) -> str:
        return english

    def answer(self, english: str) -> str:
        return english

    def story(self, story: Story) -> Story:
        return story

    def english(self, text: str) -> str:
        return text


class Shuffled:
    """English whose letters are others, word by word as many: nobody reads it, but it can be learned."""

    is_placed_by_english = True

    _there = str.maketrans(ascii_lowercase + ascii_uppercase, SHUFFLED + SHUFFLED.upper())
    _back = str.maketrans(SHUFFLED + SHUFFLED.upper(), ascii_lowercase + ascii_uppercase)

    def text(self, english: str) -> str:
        return english.translate(self._there)

    def answer(self, english: str) -> str:
        return english.translate(self._there)

    def story(self, story: Story) -> Story:
        return story._replace(lines=tuple([line._replace(text=self.text(line.text)) for line in story.lines]))

    def english(self, text: str) -> str:
        return text.translate(self._back)


LANGUAGES: Mapping[str, StoryLanguage] = {"english": English(), "shuffled": Shuffled(), "hindi": Hindi()}


def language_of(name: str) -> StoryLanguage:
    """Return a language by its name in the spec."""
    return LANGUAGES[name]


def said(language: StoryLanguage, kind: AnswerKind, english: str) -> str:
    """Return a canonical answer in a language: the words of a set in alphabetical order there, too."""
    answer = language.answer(english)
    return ",".join(sorted(answer.split(","))) if kind == AnswerKind.SET else answer
