"""The possible answers of a split, and every spelling of them.

Case and extra spaces do not matter. True and false mean yes and no, 3.0 means 3, and the words for numbers up to twenty
mean numbers. If no answer is a number, 1 and 0 alone also mean yes and no. The parts of sets and sequences may be
written with commas, spaces or `and`. If the answers are counts, other numbers, for example of a regression, are rounded
to the nearest count. A world adds synonyms, such as `ball` for `sphere`.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from generation.engine.replies.characters import has_crosses, has_symbols, plain_characters

OUTSIDE = -1  # the code of an answer that is not in the vocabulary
JOINT = ","  # between the parts of an answer
SEPARATOR = r"(?: ?(?:[,;&+/]|->|→) ?(?:and |then )?| and | and then | then | )"
EMPTY_SET = "nothing"  # the word for it in prompts, whatever the language of the answers
NO_PARTS = re.compile(r"\[ ?\]|\{ ?\}|\( ?\)")

NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
SPELLINGS = (
    ("true", "yes"),
    ("false", "no"),
    ("grey", "gray"),
    *((word, str(number)) for number, word in enumerate(NUMBERS.split())),
)
BITS = {"1": "yes", "0": "no"}
WHOLE = re.compile(r"([+-]?\d+)\.0+", re.ASCII)
NUMBER = re.compile(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|nan|inf(?:inity)?)", re.ASCII | re.IGNORECASE)
ROOM = 100  # characters that a text may have beyond the longest answer, for extra spaces


class ComposedForm(NamedTuple):
    """Answers that are sets or sequences.

    Attributes
    ----------
    is_set : bool
        Whether the parts may have any order.
    answers : mapping of str to tuple of str
        Each answer with its parts, without the answer for the empty set.
    empty : str
        The answer for the empty set; empty if there is none.
    """

    is_set: bool
    answers: Mapping[str, tuple[str, ...]]
    empty: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the parts of all answers."""
        return tuple(dict.fromkeys(part for parts in self.answers.values() for part in parts))


def recognised_form(choices: Sequence[str]) -> ComposedForm | None:
    """Return the form of possible answers such as `apple,milk`; None if none of them has several parts."""
    if not any(JOINT in choice for choice in choices):
        return None
    parts = {choice: tuple(choice.split(JOINT)) for choice in choices}
    bags = [tuple(sorted(some)) for some in parts.values()]
    is_set = len(set(bags)) == len(bags) and all(len(set(bag)) == len(bag) for bag in bags)
    joined = {part for some in parts.values() if len(some) > 1 for part in some}
    alone = [choice for choice, some in parts.items() if len(some) == 1 and choice not in joined]
    empty = alone[0] if is_set and len(alone) == 1 else ""
    return ComposedForm(is_set, {answer: some for answer, some in parts.items() if answer != empty}, empty)


class ComposedAnswers:
    """Reads answers of one form, which have parts; `codes` has the code of each answer."""

    def __init__(self, form: ComposedForm, codes: Mapping[str, int], synonyms: Mapping[str, str]) -> None:
        self.is_set = form.is_set
        self.empty = codes.get(form.empty, OUTSIDE) if form.empty else OUTSIDE
        small = {part.strip().casefold() for part in form.parts}
        self.nothing = {form.empty.casefold(), EMPTY_SET, "none"} - small
        self.ways = {part: part for part in small}
        for way, meant in synonyms.items():
            if meant.casefold() in small:
                self.ways.setdefault(way.casefold(), meant.casefold())
        known: dict[tuple[str, ...], str] = {}
        for answer, parts in form.answers.items():  # older versions imported answers with blanks around their parts
            known.setdefault(self._key([part.strip().casefold() for part in parts]), answer)
        self.codes = {key: codes[answer] for key, answer in known.items() if key and answer in codes}
        self.parts = {code: key for key, code in self.codes.items()}
        words = "|".join(sorted(map(re.escape, self.ways), key=len, reverse=True))
        self.part = re.compile(rf"[\"']?({words})[\"']?(?:{SEPARATOR}(?=.)|$)")
        self.word = re.compile(rf"(?<!\w)({words})(?!\w)")

    def _key(self, parts: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(parts)) if self.is_set else tuple(parts)

    def code(self, said: str) -> int:
        """Return the code of a text with small letters and single spaces; `OUTSIDE` if it is not an answer."""
        if NO_PARTS.fullmatch(said):
            return self.empty
        if said[:1] in "[({" and said[-1:] in "])}":
            said = said[1:-1].strip()
        if said.strip("\"' ") in self.nothing:
            return self.empty
        found: list[str] = []
        at = 0
        while at < len(said):
            part = self.part.match(said, at)
            if part is None or len(found) > len(self.codes):
                return OUTSIDE
            found.append(self.ways[part[1]])
            at = part.end()
        return self.codes.get(self._key(found), OUTSIDE)

    def code_of(self, parts: Iterable[str]) -> int:
        """Return the code of the answer with these parts; `OUTSIDE` if there is none."""
        return self.codes.get(self._key(parts), OUTSIDE)


class AnswerVocabulary:
    """Reads every spelling of the answers of a vocabulary; `forms` has the composed form of each kind of question.

    If there is a largest count `most_counted`, every number is read as the nearest count from 0 to this one.
    """

    def __init__(
        self,
        answers: Sequence[str],
        forms: Sequence[ComposedForm | None] = (),
        *,
        most_counted: int | None = None,
        synonyms: Mapping[str, str] | None = None,
    ) -> None:
        self.answers, self.most_counted = tuple(answers), most_counted
        self.synonyms = dict(synonyms or {})
        self.exact = {answer: code for code, answer in enumerate(self.answers)}
        self.ways = _ways(self.answers, self.synonyms)
        self.bits = _bits(self.ways)
        made = {id(form): ComposedAnswers(form, self.exact, self.synonyms) for form in forms if form is not None}
        self.composed = tuple([None if form is None else made[id(form)] for form in forms])
        self.has_parts = bool(made)
        self.longest = max(map(len, (*self.answers, *self.synonyms)), default=0) + ROOM

    def code(self, text: str) -> int:
        """Return the code of a text; `OUTSIDE` if it is not an answer of the vocabulary."""
        if text in self.exact:
            return self.exact[text]
        if self.has_parts and has_symbols(text):
            return OUTSIDE
        if not text.isascii():
            if has_crosses(text):
                return OUTSIDE
            text = plain_characters(text)
        if self.most_counted is not None:
            number = number_in(text)
            if number is not None:
                return self._nearest(number, self.most_counted)
        if len(text) > self.longest:
            text = text.strip()
            if len(text) > self.longest:
                return OUTSIDE
        said = plain(text)
        code = self.ways.get(said, self.bits.get(said, OUTSIDE))
        return self._put_together(said) if code == OUTSIDE else code

    def number(self, text: str, code: int) -> float | None:
        """Return the number that a text with this code means, for example 3.0 for `three`; None if it means none."""
        number = number_in(text)
        return number_in(self.answers[code]) if number is None and code != OUTSIDE else number

    def _nearest(self, number: float, most: int) -> int:
        """Return the code of the count nearest to a number; if two counts are equally near, that of the even one."""
        if not math.isfinite(number):
            return OUTSIDE
        return self.exact.get(str(min(max(round(number), 0), most)), OUTSIDE)

    def _put_together(self, said: str) -> int:
        """Return the code of an answer with several parts; `OUTSIDE` if no form can read it or two forms disagree."""
        found = {form.code(said) for form in self.composed if form is not None} - {OUTSIDE}
        return found.pop() if len(found) == 1 else OUTSIDE


def _ways(answers: Sequence[str], synonyms: Mapping[str, str]) -> dict[str, int]:
    """Return the code of each plain text that means exactly one answer; synonyms count only if they are no answers."""
    ways: dict[str, int] = {}
    twice = set()
    for code, answer in enumerate(answers):
        way = plain(answer)
        if ways.setdefault(way, code) != code:
            twice.add(way)
    ways = {way: code for way, code in ways.items() if way not in twice}
    own = dict(ways)
    for one, other in (*SPELLINGS, *((other, one) for one, other in SPELLINGS)):
        if other in own and one not in twice:
            ways.setdefault(one, own[other])
    added: dict[str, int] = {}
    for way, meant in synonyms.items():
        said, code = plain(way), own.get(plain(meant), OUTSIDE)
        if code != OUTSIDE and said not in ways and said not in twice:
            added[said] = code if added.get(said, code) == code else OUTSIDE
    return {**ways, **{way: code for way, code in added.items() if code != OUTSIDE}}


def _bits(ways: Mapping[str, int]) -> dict[str, int]:
    """Return the codes of 1 and 0 as yes and no; empty if an answer is a number. They count only as whole texts."""
    if any(way.lstrip("+-").isdecimal() for way in ways):
        return {}
    return {bit: ways[meant] for bit, meant in BITS.items() if meant in ways}


def plain(text: str) -> str:
    """Return a text in small letters with single spaces between words; a whole number loses its `.0`."""
    said = " ".join(text.split()).casefold()
    whole = WHOLE.fullmatch(said)
    return whole[1] if whole else said


def number_in(text: str) -> float | None:
    """Return the number that a text is, also `nan` and `inf`; None for other texts."""
    found = NUMBER.fullmatch(text.strip())
    return float(found[0]) if found else None
