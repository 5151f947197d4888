"""The meaning of an answer: the code of the vocabulary for a text or a JSON value.

`AnswerVocabulary` ignores case and extra spaces. It reads true and false as yes and no, 3.0 as 3, and the words for
numbers up to twenty as numbers. If no answer is a number, 1 and 0 alone also mean yes and no. `ComposedAnswer` reads
the parts of sets and sequences. `ReplyReader` finds the answer in a model's free text by a few rules, which are the
same for every model. Only answers of the vocabulary are accepted. If the answers of a world are counts, other
numbers, for example of a regression, are rounded to the nearest count.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from generation.engine.items import JOINT, AnswerForm, AnswerKind
from generation.engine.scoring.score import OUTSIDE

JOINTS = r"(?: ?(?:[,;&]|->|→) ?(?:and |then )?| and | and then | then | )"
NONE_OF_IT = re.compile(r"\[ ?\]|\{ ?\}|\( ?\)")
EMPTY_SET = "nothing"  # the word for it in prompts, whatever the language of the answers


class ComposedAnswer:
    """Reads answers of one form, which have parts; `codes` has the code of each group of parts, in small letters."""

    def __init__(self, form: AnswerForm, codes: dict[str, int]) -> None:
        self.is_set = form.kind == AnswerKind.SET
        self.empty = codes.get(form.empty, OUTSIDE) if form.empty else OUTSIDE
        self.nothing = {form.empty.casefold(), EMPTY_SET} - {part.casefold() for part in form.parts}
        apart = {answer: self._key([part.casefold() for part in form.taken_apart(answer)]) for answer in form.choices}
        self.codes = {key: codes[answer] for answer, key in apart.items() if key and answer in codes}
        self.parts = {code: key for key, code in self.codes.items()}
        parts = sorted((re.escape(part.casefold()) for part in form.parts), key=len, reverse=True)
        one = f"[\"']?({'|'.join(parts)})[\"']?"
        self.part = re.compile(rf"{one}(?:{JOINTS}|$)")

    def _key(self, parts: Sequence[str]) -> tuple[str, ...]:
        return tuple(sorted(parts)) if self.is_set else tuple(parts)

    def code(self, said: str) -> int:
        """Return the code of a text with small letters and single spaces; `OUTSIDE` if it is not an answer."""
        if NONE_OF_IT.fullmatch(said):
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
            found.append(part[1])
            at = part.end()
        return self.codes.get(self._key(found), OUTSIDE)

    def together(self, named: Collection[int]) -> int:
        """Return the code of the set with all parts of these answers; `OUTSIDE` if no answer is that set."""
        if not self.is_set or self.empty in named or any(code not in self.parts for code in named):
            return OUTSIDE
        return self.codes.get(tuple(sorted({part for code in named for part in self.parts[code]})), OUTSIDE)


NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
SYNONYMS = (("true", "yes"), ("false", "no"), *((word, str(number)) for number, word in enumerate(NUMBERS.split())))
BITS = {"1": "yes", "0": "no"}
WHOLE = re.compile(r"([+-]?\d+)\.0+", re.ASCII)
NUMBER = re.compile(r"[+-]?(?:(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?|nan|inf(?:inity)?)", re.ASCII | re.IGNORECASE)
ROOM = 100  # characters that a text may have beyond the longest answer, for extra spaces


class NoAnswer(ValueError):
    """A value that can't be an answer, for example an object."""


class AnswerVocabulary:
    """Reads every spelling of the answers of a vocabulary; `forms` has the answer form of each kind of question.

    If there is a largest count `most_counted`, every number is read as the nearest count from 0 to this one.
    """

    def __init__(
        self, answers: Sequence[str], forms: Sequence[AnswerForm] = (), *, most_counted: int | None = None
    ) -> None:
        self.answers, self.most_counted = tuple(answers), most_counted
        self.exact = {answer: code for code, answer in enumerate(self.answers)}
        self.ways = _ways(self.answers)
        self.bits = _bits(self.ways)
        self.composed = tuple(ComposedAnswer(form, self.exact) if form.parts else None for form in forms)
        self.has_parts = any(form is not None for form in self.composed)
        self.longest = max(map(len, self.answers), default=0) + ROOM

    def code(self, text: str) -> int:
        """Return the code of a text; `OUTSIDE` if it is not an answer of the vocabulary."""
        if text in self.exact:
            return self.exact[text]
        if self.most_counted is not None and (number := number_in(text)) is not None:
            return self._nearest(number, self.most_counted)
        if len(text) > self.longest and len(text := text.strip()) > self.longest:
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


def _ways(answers: Sequence[str]) -> dict[str, int]:
    """Return the code of each plain text that means exactly one answer; synonyms count only if they are no answers."""
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


def text_of(value: object, *, lists: bool = False) -> str:
    """Return the text of a JSON value: `true` for true, `3` for 3.0, and an empty text for null.

    With `lists`, a list is allowed too: its text is `a,b` for ["a", "b"]. Other values raise `NoAnswer`.
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
    raise NoAnswer(f"expected an answer in words or a number, got {quote(value)}")


def quote(value: object) -> str:
    """Return a value for a message: a shortened text in quotes with escapes, or only the kind of a list or object."""
    if isinstance(value, dict | list):
        return f"a {'list' if isinstance(value, list) else 'JSON object'}"
    if value is None:
        return "null"
    said = str(value)
    cut = f"{said[:60]}..." if len(said) > 60 else said
    return repr(cut) if isinstance(value, str) else cut


OPEN, CLOSE = "<think>", "</think>"
THOUGHT = re.compile(r"<(/?)(?:think|thinking|thoughts?|reasoning)>", re.IGNORECASE)
MARK = re.compile(r"\banswer\b[*_`\"' ]{0,4}(?:is\b[*_`\"' ]{0,4}:?|:)|\\boxed\s?\{|<answer>", re.IGNORECASE)
END = re.compile(r"</answer>", re.IGNORECASE)
SHORT, REMEMBERED = 200, 10_000  # the most characters of a cached reply, and the most cached replies
DRESS = " \t\r\n.,:;!?\"'*_`$()[]{}“”‘’"
MACRO = re.compile(r"\\(?:text|textbf|mathrm|mathbf|boxed)\s?\{")
WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:[-']\w+)*")
NEGATION = re.compile(
    r"(?:\b(?:not?(?: idea| clue)?|cannot|never|neither|nor|none|nothing|than|at (?:least|most)|except|unlike|"
    r"instead of)|n['’]t)"
    r"[*_\"'”’]{0,3}(?=((?: (?!(?:and|but|so|because|no)\b|-)[^\s.,:;!?–—]+){1,4}))"
)
"""A negation or comparison, and up to four words after it that it may be about, within the same part of a sentence."""
DENIAL = re.compile(
    r"(?<![\w.'-])(\w[\w.'-]*)[*_\"'”’]{0,3} (?:"
    r"(?:is|was)(?: not|n['’]t) (?:right|correct|true|possible|the (?:right |correct )?answer)|"
    r"(?:is|was|would be) (?:wrong|incorrect|impossible|ruled out)|"
    r"can(?:not|['’]t) be (?:right|correct|true|the (?:right |correct )?answer))\b"
)
"""A word that is denied directly after it: `red is not right`."""
NO_NOUN = re.compile(
    r"\bno (?:image|picture|photo|attachment|file|input|information|context|access|answer|idea|clue|way|doubt)s?\b"
)
"""Phrases such as `no image` and `no idea`, which are not the answer no."""
NUMERIC = re.compile(r"\d[\d.,'-]*")
SIGNED = re.compile(r"(?<![\w.])[-−.](?=\d)|[<≤≥] ?(?=\d)")
TENS = "thirty forty fifty sixty seventy eighty ninety dozen hundred thousand million billion"
NUMBER_WORDS = frozenset(f"{NUMBERS} {TENS}".split())


class NamedAnswers(NamedTuple):
    """The codes of all answers that a text names, and of those that it names but does not give.

    An answer is doubtful after a negation or comparison, or before a denial: `not red`, `more than 3`, `red is wrong`.
    All numbers are doubtful if the text has a number that is no answer: `3 or 12`, `twenty-three`, `-3`.
    """

    codes: frozenset[int]
    doubtful: frozenset[int]


NOTHING = NamedAnswers(frozenset(), frozenset())


class ReplyReader:
    """Finds answers in replies; `admitted` has the codes of the possible answers to each kind of question."""

    def __init__(self, vocabulary: AnswerVocabulary, admitted: Sequence[Iterable[int]]) -> None:
        self.vocabulary = vocabulary
        self.admitted = tuple(frozenset(codes) for codes in admitted)
        self.known: dict[str, tuple[int, NamedAnswers]] = {}
        self.numbers = frozenset(code for way, code in vocabulary.ways.items() if way.lstrip("+-").isdecimal())
        self.words = {way: code for way, code in vocabulary.ways.items() if WORD.fullmatch(way)}
        self.phrases = sorted((way for way in vocabulary.ways if way not in self.words and way), key=len, reverse=True)

    def code(self, text: str, kind: int, *, choices: Mapping[str, str] | None = None) -> int:
        """Return the code of the answer that a reply gives to a question of a kind; `OUTSIDE` if it gives none.

        `choices` has the answers that letters stand for, if the question has letters.
        """
        code, named = (not choices and self.known.get(text)) or self._understood(text, choices or {})
        if code != OUTSIDE:
            return code
        answers = named.codes & self.admitted[kind]
        if answers & named.doubtful:
            return OUTSIDE
        composed = self.vocabulary.composed[kind] if self.vocabulary.composed else None
        if composed is not None and len(answers) > 1:
            return composed.together(answers)
        return min(answers) if len(answers) == 1 else OUTSIDE

    def _understood(self, text: str, choices: Mapping[str, str]) -> tuple[int, NamedAnswers]:
        """Return the code of the answer that a reply states, and all answers that it names."""
        said, is_marked = last_answer(without_thoughts(text))
        said = choices.get(said.strip(DRESS), said)
        code = self.vocabulary.code(said.strip(DRESS)) if is_marked or choices else OUTSIDE
        found = code, self.named(said) if code == OUTSIDE else NOTHING
        if not choices and len(text) <= SHORT and len(self.known) < REMEMBERED:
            self.known[text] = found
        return found

    def named(self, text: str) -> NamedAnswers:
        """Return the answers that occur in a text as whole words; a longer phrase hides a shorter one."""
        said = plain(text)
        codes, has_other_number = self._search(NO_NOUN.sub(" ", said))
        doubtful, _ = self._search(" . ".join(NEGATION.findall(said) + DENIAL.findall(said)))
        return NamedAnswers(codes, doubtful | (self.numbers if has_other_number else frozenset()))

    def _search(self, said: str) -> tuple[frozenset[int], bool]:
        """Return the codes of the answers in a plain text, and whether it has a number that is no answer."""
        found = set()
        for phrase in self.phrases:
            if phrase in said:
                said, times = re.subn(rf"(?<!\w){re.escape(phrase)}(?!\w)", " ", said)
                found |= {self.vocabulary.ways[phrase]} if times else set()
        words = set(WORD.findall(said))
        parts = {part for word in words for part in _parts(word)}
        codes = frozenset(found | {self.words[word] for word in (words | parts) & self.words.keys()})
        return codes, SIGNED.search(said) is not None or any(map(_is_number, parts - self.words.keys()))


def _parts(word: str) -> Sequence[str]:
    """Return the parts of a compound word, as in `sphere-shaped` and `cube's`; a decimal number is a single part."""
    if word.isalnum() or word.startswith("non-"):
        return (word,)
    return (plain(word),) if word[:1].isdigit() else re.split(r"[-'_]", word)


def _is_number(word: str) -> bool:
    return word in NUMBER_WORDS or NUMERIC.fullmatch(word) is not None


def without_thoughts(text: str) -> str:
    """Return a text without its blocks of `THOUGHT`, also if the beginning or end of a block is missing."""
    return split_thoughts(text).said


class SplitReply(NamedTuple):
    """What a reply says, and the blocks of thoughts that it has."""

    said: str
    thoughts: Sequence[str]


def split_thoughts(text: str) -> SplitReply:
    """Return a text without its blocks of `THOUGHT`, and the blocks without their marks.

    A text before an end without a beginning is a block, and so is the text after a beginning without an end.
    """
    *before, last = _with_one_mark(text).split(CLOSE)
    kept, thoughts = [], []
    for part in before:
        said, opened, thought = part.partition(OPEN)
        kept.append(said if opened else "")
        thoughts.append(thought if opened else said)
    said, opened, thought = last.partition(OPEN)
    thoughts += [thought] if opened else []
    return SplitReply("".join([*kept, said]), [one.replace(OPEN, "") for one in thoughts])


def _with_one_mark(text: str) -> str:
    """Return a text whose blocks of thoughts begin with `OPEN` and end with `CLOSE`, whatever their marks are."""
    return THOUGHT.sub(r"<\1think>", text)


class StatedAnswer(NamedTuple):
    """The answer that a text states, whether the text marks it, and the text after it."""

    said: str
    is_marked: bool
    after: str


def last_answer(text: str) -> tuple[str, bool]:
    """Return the answer that a text marks, and True; the whole text and False if it marks none."""
    said, is_marked, _ = stated_answer(text)
    return said, is_marked


def stated_answer(text: str) -> StatedAnswer:
    r"""Return the answer that a text marks, and what follows it; the whole text if it marks none.

    The last mark counts. The answer is the first line with words after `answer:`, or the content of `\boxed{}` or of
    `<answer></answer>`.
    """
    marks = list(MARK.finditer(text))
    if not marks:
        return StatedAnswer(text, is_marked=False, after="")
    mark = marks[-1]
    rest = text[mark.end() :]
    if mark[0].endswith("{"):
        said = _braced(rest)
        return StatedAnswer(_without_macros(said), is_marked=True, after=rest[len(said) :])
    said = END.split(rest, maxsplit=1)[0]
    if mark[0].endswith(">"):
        return StatedAnswer(said, is_marked=True, after=rest[len(said) :])
    end = 0
    for line in said.split("\n"):
        end += len(line)
        if line.strip(DRESS):
            return StatedAnswer(_without_macros(line), is_marked=True, after=rest[end:])
        end += 1  # the line break
    return StatedAnswer("", is_marked=True, after=rest[len(said) :])


def is_cut_off(text: str) -> bool:
    """Return whether a text ends within a thought, or before the end of the answer that it marks last."""
    text = _with_one_mark(text)
    if text.rfind(OPEN) > text.rfind(CLOSE):
        return True
    said = without_thoughts(text)
    marks = list(MARK.finditer(said))
    if not marks or not marks[-1][0].endswith(("{", ">")):
        return False
    rest = said[marks[-1].end() :]
    return END.search(rest) is None if marks[-1][0].endswith(">") else _braced(rest) == rest


def _braced(text: str) -> str:
    """Return the text before the brace that closes an already open one; the whole text if no brace closes it."""
    depth = 1
    for found in re.finditer(r"[{}]", text):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return text[: found.start()]
    return text


def _without_macros(text: str) -> str:
    return MACRO.sub(" ", text).replace("}", " ").replace("{", " ") if "\\" in text else text
