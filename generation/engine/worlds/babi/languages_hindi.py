"""Stories in Hindi, in Latin letters: every English sentence has one of its own, so the way back is known, too."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from generation.engine.worlds.babi.hindi_sentences import PATTERNS
from generation.engine.worlds.babi.hindi_words import (
    ANSWERS,
    FEMALE,
    MEN,
    PEOPLE,
    VARIANTS,
    WOMEN,
    Word,
)
from generation.engine.worlds.babi.story import Line, Story

SLOT = re.compile(r"\{(\w+)(?:\.(\w+))?\}")
ENDING = re.compile(r"<([\w+]+):([^>]*)>")
REMEMBERED = 1 << 16  # sentences, of which stories repeat most
ENGLISH_ANSWERS: Mapping[str, str] = {hindi: english for english, hindi in ANSWERS.items()}

Filled = Mapping[str, tuple[str, Word]]
"""For each slot of a pattern the English word and the Hindi one."""


class Pattern(NamedTuple):
    """A kind of sentence: as it is said in both languages, and what recognizes it."""

    english: str
    hindi: str
    slots: tuple[str, ...]
    reads_english: re.Pattern[str]
    reads_hindi: re.Pattern[str]

    def in_english(self, filled: Filled) -> str:
        """Return the English sentence of these words."""
        return _capital(SLOT.sub(lambda slot: filled[slot[1]][0], self.english))

    def in_hindi(self, filled: Filled) -> str:
        """Return the Hindi sentence of these words."""
        text = SLOT.sub(lambda slot: _form(filled, slot[1], slot[2]), self.hindi)
        return _capital(ENDING.sub(lambda ending: ending[2].split("/")[_agreement(filled, ending[1])], text))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _form(filled: Filled, slot: str, form: str | None) -> str:
    word = filled[slot][1]
    takes_other = form == "o" or (form is not None and filled[form][1].agrees == FEMALE)
    return word.other if takes_other else word.direct


def _agreement(filled: Filled, slots: str) -> int:
    """Return what an ending agrees with: one slot, or two people together."""
    found = [filled[slot][1].agrees for slot in slots.split("+")]
    if len(found) == 1:
        return found[0]
    return WOMEN if set(found) == {FEMALE} else MEN


def _variants(slot: str) -> Mapping[str, tuple[Word, ...]]:
    return VARIANTS[slot.rstrip("2")]


def _reader(text: str, *, hindi: bool) -> re.Pattern[str]:
    """Return what recognizes a pattern's sentences and names the words in its slots."""

    def words(slot: re.Match[str]) -> str:
        found = {
            form
            for english, variants in _variants(slot[1]).items()
            for form in ([form for word in variants for form in word[:2]] if hindi else [english])
        }
        longest_first = sorted(found, key=lambda word: (-len(word), word))
        return f"(?P<{slot[1]}>{'|'.join(map(re.escape, longest_first))})"

    def endings(ending: re.Match[str]) -> str:
        return f"(?:{'|'.join(dict.fromkeys(ending[2].split('/')))})"

    plain = re.sub(r"[.?](?=$)", lambda mark: "\\" + mark[0], text)
    return re.compile(ENDING.sub(endings, SLOT.sub(words, plain)))


READ = tuple(
    Pattern(
        english,
        hindi,
        tuple(dict.fromkeys(slot[1] for slot in SLOT.finditer(english))),
        _reader(english, hindi=False),
        _reader(hindi, hindi=True),
    )
    for english, hindi in PATTERNS
)


def _matches(reader: re.Pattern[str], text: str) -> re.Match[str] | None:
    return reader.fullmatch(text) or reader.fullmatch(text[:1].lower() + text[1:])


@lru_cache(maxsize=REMEMBERED)
def said(english: str, *, women: bool = False) -> str:
    """Return a sentence or question in Hindi; `women`: they who are meant by a pronoun are all women.

    Raises
    ------
    ValueError
        If no pattern fits: a task says what Hindi has no words for yet.
    """
    for pattern in READ:
        found = _matches(pattern.reads_english, english)
        if found is not None:
            filled = {
                slot: (word, _variants(slot)[word][-1 if women else 0]) for slot, word in found.groupdict().items()
            }
            return pattern.in_hindi(filled)
    raise ValueError(f"Expected a sentence that can be said in Hindi, got {english!r}.")


def readings(hindi: str) -> Iterator[str]:
    """Yield every English sentence that a Hindi one may stand for."""
    for pattern in READ:
        found = _matches(pattern.reads_hindi, hindi)
        if found is None:
            continue
        each = [
            [
                (slot, (english, word))
                for english, variants in _variants(slot).items()
                for word in variants
                if form in word[:2]
            ]
            for slot, form in found.groupdict().items()
        ]
        for words in product(*each):
            if pattern.in_hindi(dict(words)) == hindi:
                yield pattern.in_english(dict(words))


@lru_cache(maxsize=REMEMBERED)
def meant(hindi: str) -> str | None:
    """Return the English sentence that a Hindi one stands for; None where no pattern fits."""
    return next(readings(hindi), None)


class Hindi:
    """Hindi, which a story of English sentences becomes by rule."""

    is_placed_by_english = True

    def text(self, english: str) -> str:
        return said(english)

    def answer(self, english: str) -> str:
        return ",".join([ANSWERS[word] for word in english.split(",")])

    def story(self, story: Story) -> Story:
        return story._replace(lines=tuple([_line(line) for line in story.lines]))

    def english(self, text: str) -> str:
        """Return the English of a sentence, question or answer; what is no Hindi of ours as it is."""
        words = text.split(",")
        if all(word in ENGLISH_ANSWERS for word in words):
            return ",".join([ENGLISH_ANSWERS[word] for word in words])
        return meant(text) or text


def _line(line: Line) -> Line:
    if line.antecedent is None:
        return line._replace(text=said(line.text))
    women = all(PEOPLE[event[1]].agrees == FEMALE for event in line.events)
    return line._replace(text=said(line.text, women=women))
