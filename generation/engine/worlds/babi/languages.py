"""The languages that stories are told in. Whatever they are, tasks tell them in English first."""

from collections.abc import Mapping
from string import ascii_lowercase, ascii_uppercase
from typing import Protocol

from generation.engine.worlds.babi.languages_hindi import Hindi
from generation.engine.worlds.babi.story import Story

SHUFFLED = "gkxbwqzvylhcofujpsratmdnei"  # what a to z become; each letter another one


class Language(Protocol):
    """What becomes of English texts."""

    def text(self, english: str) -> str:
        """Return a sentence or question."""

    def answer(self, english: str) -> str:
        """Return a canonical answer: a word, or several joined by commas in the order given."""

    def story(self, story: Story) -> Story:
        """Return a story with its lines in this language, its events as they are."""

    def english(self, text: str) -> str:
        """Return the English of a sentence, question or answer, as a reader needs it."""


class English:
    """English as it is."""

    def text(self, english: str) -> str:
        return english

    def answer(self, english: str) -> str:
        return english

    def story(self, story: Story) -> Story:
        return story

    def english(self, text: str) -> str:
        return text

LANGUAGES: Mapping[str, Language] = {"english": English(), "hindi": Hindi()}


def language_of(name: str) -> Language:
    """Return a language by its name in the spec."""
    return LANGUAGES[name]


def said(language: Language, kind: AnswerKind, english: str) -> str:
    """Return a canonical answer in a language: the words of a set in alphabetical order there, too."""
    answer = language.answer(english)
    return ",".join(sorted(answer.split(","))) if kind == AnswerKind.SET else answer
