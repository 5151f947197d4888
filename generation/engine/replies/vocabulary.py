"""The possible answers of a split, and every spelling of them.

Case and extra spaces do not matter. True and false mean yes and no, 3.0 means 3, and the words for numbers up to twenty
mean numbers. If no answer is a number, 1 and 0 alone also mean yes and no. The parts of sets and sequences may be
written with commas, spaces or `and`. If the answers are counts, other numbers, for example of a regression, are rounded
to the nearest count. A world adds synonyms, such as `ball` for `sphere`.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from generation.engine.replies.characters import plain_characters, words_of

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
TWICE = re.compile(r"(\w+) (?:twice|two times)\b")
NUMBER = re.compile(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|nan|inf(?:inity)?)", re.ASCII | re.IGNORECASE)
ROOM = 100  # characters that a text may have beyond the longest answer, for extra spaces


MEMBER_END = re.compile(
    r"[,;&+/|]| [-–—] |->|→|\b(?:and|then|plus|as well as|(?:along |together )?with|besides|alongside)\b"
)
MORE = re.compile(r"\b(?:also|too|as well|in addition|additionally|another|plus)\b")
ADDITION = re.compile(
    r"\((?:and|plus|also|or|maybe|dropped|gone|left|discarded|no|not|no longer|in either|reverse|uncertain)\b|"
    r"\b(?:so on|(?:something|anything) else|(?:other|more) (?:things|items|objects))\b"
)
IN_PARENTHESES = re.compile(r"\([^()]*\)")
MEMBER_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
MEMBER_ARTICLES = ("a", "an", "the", "some")
NO_MEMBERS = words_of(
    "as well too also both only just now currently still respectively together in total all else nothing sure ok okay "
    "yes so thus hence therefore finally thanks please i we he she they it that this is are has had because since from "
    "to here there order answer sorry"
)
"""Words that are no part of a list of things or steps, although they may stand between its commas."""
LARGEST_MEMBER = 4  # words of one that is not known


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
        self.nothing = {form.empty.casefold(), EMPTY_SET} - small
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
        self.part = re.compile(rf"[\"']?({words})[\"']?(?:{SEPARATOR}|$)")
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

    def lists_others(self, said: str) -> bool:
        """Return whether a list has a part that is none of the form's: `apple, milk and cake`, or `apple (and milk)`.

        `said` is a sentence in small letters. A part that is not known has at most four words.
        """
        pieces = MEMBER_END.split(IN_PARENTHESES.sub(" ", said))
        known = [self.word.search(piece) is not None for piece in pieces]
        if not any(known):
            return False
        return ADDITION.search(said) is not None or any(
            not is_known and self._is_member(piece)
            for piece, is_known in zip(pieces, known)  # noqa: B905 - Python 3.9
        )

    def adds_others(self, said: str) -> bool:
        """Return whether a sentence adds something that is no part of the form: `she also carries a cake`."""
        return self.is_set and MORE.search(said) is not None and self.word.search(said) is None

    @staticmethod
    def _is_member(piece: str) -> bool:
        words = MEMBER_WORD.findall(piece)
        words = words[1:] if words and words[0] in MEMBER_ARTICLES else words
        return 0 < len(words) <= LARGEST_MEMBER and NO_MEMBERS.isdisjoint(words)

    def together(self, named: Collection[int]) -> int:
        """Return the code of the set with all parts of these answers; `OUTSIDE` if no answer is that set."""
        if not self.is_set or self.empty in named or any(code not in self.parts for code in named):
            return OUTSIDE
        return self.codes.get(tuple(sorted({part for code in named for part in self.parts[code]})), OUTSIDE)

    def in_order(self, said: str) -> int:
        """Return the code of the sequence whose parts a sentence names; `OUTSIDE` for a set or another number of parts.

        A part of one letter counts only in a text without other words, and `north of` is not a step to the north.
        """
        if self.is_set:
            return OUTSIDE
        said = TWICE.sub(r"\1 \1", said)
        found = [
            part
            for part in self.word.finditer(said)
            if len(part[1]) > 1 and said[part.end() : part.end() + 4] != " of "
        ]
        return self.codes.get(tuple([self.ways[part[1]] for part in found]), OUTSIDE)


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
        if not text.isascii():
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
