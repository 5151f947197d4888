"""The languages of stories. Tasks write stories in English first, and a language translates them."""

from collections.abc import Mapping
from string import ascii_lowercase, ascii_uppercase
from typing import Protocol

from generation.engine.items import AnswerKind
from generation.engine.worlds.babi.languages_hindi import Hindi
from generation.engine.worlds.babi.story import Story

SHUFFLED = "gkxbwqzvylhcofujpsratmdnei"  # the letters that replace a to z


class StoryLanguage(Protocol):
    """A translation of English texts.

    Attributes
    ----------
    is_placed_by_english : bool
        Whether the hash of a story's English text decides its split; otherwise the hash of the translated text does.
    """

    is_placed_by_english: bool

    def __hash__(self) -> int: ...

    def text(self, english: str) -> str:
        """Return a sentence or question in this language."""

    def answer(self, english: str) -> str:
        """Return a canonical answer in this language: a word, or several joined by commas in the given order."""

    def story(self, story: Story) -> Story:
        """Return a story with its lines in this language and the same events."""

    def english(self, text: str) -> str | None:
        """Return a sentence or question in English; None or the text itself if it cannot be translated."""


class English:
    """English, unchanged."""

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
    """English with other letters, so that nobody can read it; each word always becomes the same word."""

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


def localised_answer(language: StoryLanguage, kind: AnswerKind, english: str) -> str:
    """Return a canonical answer in a language; the words of a set are in that language's alphabetical order."""
    answer = language.answer(english)
    return ",".join(sorted(answer.split(","))) if kind == AnswerKind.SET else answer
