"""What an answer means: a code of the vocabulary, said in small letters or large, as a number or in words.

That is all that is done to answers before they count: spaces around and within are made one, case is passed over, true
and false are yes and no, 3.0 is 3, and numbers up to twenty may be words. Where no answer is a number, 1 and 0 alone
are yes and no too. Answers of several parts are for `composed`. Each of it only leads to what the vocabulary
has; nothing is taken for an answer that isn't one.
"""

import math
import re
from collections.abc import Sequence

from generation.engine.items import JOINT, AnswerForm
from generation.engine.predictions.composed import Composed
from generation.engine.scoring.score import OUTSIDE

NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
SYNONYMS = (("true", "yes"), ("false", "no"), *((word, str(number)) for number, word in enumerate(NUMBERS.split())))
BITS = {"1": "yes", "0": "no"}
WHOLE = re.compile(r"([+-]?\d+)\.0+", re.ASCII)
ROOM = 100  # characters that an answer may be longer than the longest of the vocabulary, in spaces


class NoAnswer(ValueError):
    """A value that can't be an answer, as a list."""


class AnswerVocabulary:
    """Knows every way in which the answers of a vocabulary may be said; `forms` are those in which they are given."""

    def __init__(self, answers: Sequence[str], forms: Sequence[AnswerForm] = ()) -> None:
        self.answers = tuple(answers)
        self.exact = {answer: code for code, answer in enumerate(self.answers)}
        self.ways = _ways(self.answers)
        self.bits = _bits(self.ways)
        self.composed = tuple(Composed(form, self.exact) if form.parts else None for form in forms)
        self.has_parts = any(form is not None for form in self.composed)
        self.longest = max(map(len, self.answers), default=0) + ROOM

    def code(self, text: str) -> int:
        """Return the code of an answer; `OUTSIDE` where the vocabulary has none that is said so."""
        if text in self.exact:
            return self.exact[text]
        if len(text) > self.longest and len(text := text.strip()) > self.longest:
            return OUTSIDE
        said = plain(text)
        code = self.ways.get(said, self.bits.get(said, OUTSIDE))
        return self._put_together(said) if code == OUTSIDE else code

    def _put_together(self, said: str) -> int:
        """Return the code of an answer of several parts; `OUTSIDE` where the forms that have some don't agree."""
        found = {form.code(said) for form in self.composed if form is not None} - {OUTSIDE}
        return found.pop() if len(found) == 1 else OUTSIDE


def _ways(answers: Sequence[str]) -> dict[str, int]:
    """Return the code of each plain text that means one answer: the answers first, then what means the same."""
    ways: dict[str, int] = {}
    twice = set()
    for code, answer in enumerate(answers):
        way = plain(answer)
        if ways.setdefault(way, code) != code:
            twice.add(way)
    ways = {way: code for way, code in ways.items() if way not in twice}
    for one, other in SYNONYMS:
        for way, meant in ((one, other), (other, one)):
            if meant in ways and way not in twice:
                ways.setdefault(way, ways[meant])
    return ways


def _bits(ways: dict[str, int]) -> dict[str, int]:
    """Return what 1 and 0 mean where they can be no numbers; within a longer reply they mean nothing."""
    if any(way.lstrip("+-").isdecimal() for way in ways):
        return {}
    return {bit: ways[meant] for bit, meant in BITS.items() if meant in ways}


def plain(text: str) -> str:
    """Return a text in small letters, single spaces between its words; a whole number without `.0`."""
    said = " ".join(text.split()).casefold()
    whole = WHOLE.fullmatch(said)
    return whole[1] if whole else said


def text_of(value: object, *, lists: bool = False) -> str:
    """Return the text of a JSON value: of true, 3.0 and null `true`, `3` and none; raise `NoAnswer` for other kinds.

    With `lists` also that of a list: of ["a", "b"] `a,b`.
    """
    if lists and isinstance(value, list):
        return JOINT.join(map(text_of, value)) or "[]"
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value)
    raise NoAnswer(f"expected an answer in words or a number, got {shown(value)}")


def shown(value: object) -> str:
    """Return a value as messages show it: in quotes, cut, what can't be printed as its number."""
    if isinstance(value, dict | list):
        return f"a {'list' if isinstance(value, list) else 'JSON object'}"
    if value is None:
        return "null"
    said = str(value)
    cut = f"{said[:60]}..." if len(said) > 60 else said
    return repr(cut) if isinstance(value, str) else cut
