"""The languages that stories are told in. Whatever they are, tasks tell them in English first."""

from collections.abc import Mapping
from typing import Protocol

from generation.engine.worlds.babi.story import Story


class Language(Protocol):
    """What becomes of English texts."""

    def text(self, english: str) -> str:
        """Return a sentence or question."""

    def answer(self, english: str) -> str:
        """Return a canonical answer: a word, or several joined by commas."""

    def story(self, story: Story) -> Story:
        """Return a story with its lines in this language, its events as they are."""


class English:
    """English as it is."""

    def text(self, english: str) -> str:
        return english

    def answer(self, english: str) -> str:
        return english

    def story(self, story: Story) -> Story:
        return story


LANGUAGES: Mapping[str, Language] = {"english": English()}


def language_of(name: str) -> Language:
    """Return a language by its name in the spec."""
    return LANGUAGES[name]
