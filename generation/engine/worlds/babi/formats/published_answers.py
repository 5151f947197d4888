"""Published answers in the form in which answers are stored.

Files made by hand have `milk, apple`, `Apple and milk` or `north, west` where the release has `milk,apple` and `n,w`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from generation.engine.errors import BadRecord
from generation.engine.items import JOINT, Answer, AnswerKind, Question
from generation.engine.reading.dataset_reader import shorten
from generation.engine.replies.characters import plain_characters
from generation.engine.replies.vocabulary import NO_PARTS, OUTSIDE, AnswerVocabulary
from generation.engine.worlds.babi import prompts
from generation.engine.worlds.babi.spec import BabiSpec

BETWEEN = re.compile(r"[,;&+|/]|->|→|\n|(?<!\S)(?:and|then|aur)(?!\S)", re.IGNORECASE)  # aur is Hindi for and
AROUND = " .,;\"'`[](){}"
WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
COMPOSED = (AnswerKind.SET, AnswerKind.SEQUENCE)


class PublishedAnswers:
    """Reads the answers of the tasks of a spec."""

    def __init__(self, spec: BabiSpec) -> None:
        self.spec = spec
        self.synonyms = prompts.synonyms(spec)
        self.nothing = spec.language.answer(prompts.NOTHING)
        self.tasks: dict[str, _TaskWords] = {}

    def read(self, task: str, published: str, *, texts: Iterable[str], where: str) -> Answer | None:
        """Return an answer, or None if it is withheld.

        A set has its words once and sorted; its `spelling` has them in the published order. A word is spelled as
        in the vocabulary, otherwise as in the story, otherwise with small letters.

        Parameters
        ----------
        task : str
        published : str
            Empty if it is withheld.
        texts : iterable of str
            The sentences and questions of the story.
        where : str
            The place for messages.

        Raises
        ------
        BadRecord
            If no word is left, or if a set has words besides `nothing`.
        """
        kind, own = prompts.kind_of_answer(task), self._words_of(task)
        if not published or (kind not in COMPOSED and published in own.vocabulary.exact):
            return Answer(published, kind) if published else None
        told = _Spellings(own.spellings, texts)
        cleaned = " ".join(plain_characters(published).split())
        if kind not in COMPOSED:
            return Answer(self._single(cleaned, own, told, where=where), kind)
        if kind == AnswerKind.SET and NO_PARTS.fullmatch(cleaned):
            return Answer(self.nothing, kind)
        parts = self._parts(cleaned, own, told)
        if not parts:
            raise BadRecord(f"Expected an answer in words, got {shorten(published)}.", where=where)
        if kind == AnswerKind.SEQUENCE:
            return Answer(JOINT.join(parts), kind)
        return self._set([self._member(part) for part in parts], published, where=where)

    def _words_of(self, task: str) -> "_TaskWords":
        if task not in self.tasks:
            self.tasks[task] = _TaskWords(self.spec, task, self.synonyms)
        return self.tasks[task]

    def _single(self, cleaned: str, own: "_TaskWords", told: "_Spellings", *, where: str) -> str:
        bare = cleaned.strip(AROUND)
        if not bare:
            raise BadRecord(f"Expected an answer in words, got {shorten(cleaned)}.", where=where)
        code = own.vocabulary.code(bare)
        return told.of(bare) if code == OUTSIDE else own.vocabulary.answers[code]

    def _parts(self, cleaned: str, own: "_TaskWords", told: "_Spellings") -> list[str]:
        parts = [part.strip(AROUND) for part in BETWEEN.split(cleaned)]
        parts = [part for part in parts if part]
        words = [word for part in parts for word in part.split()]
        if all(word.casefold() in own.spellings for word in words):
            parts = words
        return [told.of(part) for part in parts]

    def _member(self, part: str) -> str:
        return self.nothing if part.casefold() in (prompts.NOTHING, prompts.NONE) else part

    def _set(self, members: Sequence[str], published: str, *, where: str) -> Answer:
        once = list(dict.fromkeys(members))
        if self.nothing in once and len(once) > 1:
            raise BadRecord(
                f"Expected {self.nothing} alone, or a list without it, got {shorten(published)}.", where=where
            )
        text, spelling = JOINT.join(sorted(once)), JOINT.join(once)
        return Answer(text, AnswerKind.SET, spelling if spelling != text else None)


class _TaskWords:
    """The usual answers of a task, and the spelling of each of their words by its small letters."""

    def __init__(self, spec: BabiSpec, task: str, synonyms: Mapping[str, str]) -> None:
        usual = prompts.usual_answers(spec, task)
        form = prompts.answer_form(spec, Question("", kind=task))
        self.vocabulary = AnswerVocabulary(usual, synonyms=synonyms)
        words = [*usual, *(part for answer in (*usual, *spec.answers) for part in answer.split(JOINT))]
        self.spellings: dict[str, str] = {}
        for word in map(str.strip, words):
            self.spellings.setdefault(word.casefold(), word)
        if form.kind == AnswerKind.SEQUENCE:
            self.spellings.update({word: part for word, part in synonyms.items() if part in self.spellings})


class _Spellings:
    """Spells words as a vocabulary does, otherwise as a story does."""

    def __init__(self, known: Mapping[str, str], texts: Iterable[str]) -> None:
        self.known, self.texts = known, texts

    def of(self, word: str) -> str:
        """Return the spelling of a word."""
        small = word.casefold()
        return self.known.get(small) or self._told.get(small) or word.lower()

    @cached_property
    def _told(self) -> dict[str, str]:
        """The words of the story. A word with a capital is kept so only if it never has a small letter."""
        found: dict[str, str] = {}
        for word in (word for text in self.texts for word in WORD.findall(text)):
            small = word.casefold()
            if found.setdefault(small, word) != word and not word[0].isupper():
                found[small] = word
        return found


def tidy(answer: str) -> str:
    """Return an answer without blanks around its parts, and without empty parts."""
    return JOINT.join(part for part in map(str.strip, answer.split(JOINT)) if part)
