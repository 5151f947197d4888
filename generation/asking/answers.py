"""Answers in replies. The rules are those of the site, see /docs/predictions/."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from generation.asking.console import Refused

NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
ALIKE = {"true": "yes", "false": "no", **{word: str(number) for number, word in enumerate(NUMBERS)}}
MARK = re.compile(r"\banswer\b[*_`\"' ]{0,4}(?:is\b[*_`\"' ]{0,4}:?|:)|\\boxed\s?\{|<answer>", re.IGNORECASE)
THOUGHT = re.compile(r"<(/?)(?:think|thinking|thoughts?|reasoning)>", re.IGNORECASE)
TAG_END = re.compile(r"</answer>", re.IGNORECASE)
MACRO = re.compile(r"\\(?:text|textbf|mathrm|mathbf|boxed)\s?\{")
WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:[-']\w+)*")
NEGATION = re.compile(
    r"(?:\b(?:not?(?: idea| clue)?|cannot|never|neither|nor|none|nothing|than|at (?:least|most)|except|unlike|"
    r"instead of)|n['’]t)"
    r"[*_\"'”’]{0,3}(?=((?: (?!(?:and|but|so|because|no)\b|-)[^\s.,:;!?–—]+){1,4}))"
)
DENIAL = re.compile(
    r"(?<![\w.'-])(\w[\w.'-]*)[*_\"'”’]{0,3} (?:"
    r"(?:is|was)(?: not|n['’]t) (?:right|correct|true|possible|the (?:right |correct )?answer)|"
    r"(?:is|was|would be) (?:wrong|incorrect|impossible|ruled out)|"
    r"can(?:not|['’]t) be (?:right|correct|true|the (?:right |correct )?answer))\b"
)
NO_NOUN = re.compile(
    r"\bno (?:image|picture|photo|attachment|file|input|information|context|access|answer|idea|clue|way|doubt)s?\b"
)
NUMERIC = re.compile(r"\d[\d.,'-]*")
SIGNED = re.compile(r"(?<![\w.])[-−.](?=\d)|[<≤≥] ?(?=\d)")
TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS = frozenset((*NUMBERS, *TENS, "dozen", "hundred", "thousand", "million", "billion"))
WHOLE = re.compile(r"([+-]?\d+)\.0+", re.ASCII)
NUMBER = re.compile(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|nan|inf(?:inity)?)", re.ASCII | re.IGNORECASE)
SEPARATOR = r"(?: ?(?:[,;&]|->|→) ?(?:and |then )?| and | and then | then | )"
DRESS = " \t\r\n.,:;!?\"'*_`$()[]{}“”‘’"
LONGER = 100  # characters that an answer may have beyond the longest one, for extra spaces


class AnswerReader:
    """Reads answers from replies by fixed rules, without a judge. Only answers of the vocabulary are accepted.

    Answers with several parts, such as `apple,milk`, are recognised by the possible answers to the questions.
    """

    def __init__(self, vocabulary: Sequence[str], choices: Iterable[tuple[str, ...]] = ()) -> None:
        if not vocabulary:
            raise Refused(
                "Expected the possible answers of the split, got none: the site lacks the world of this dataset."
            )
        self.vocabulary = tuple(vocabulary)
        self.known = frozenset(vocabulary)
        self.is_count = self.vocabulary == tuple(map(str, range(len(vocabulary))))
        self.longest = max(map(len, vocabulary)) + LONGER
        self.ways = ways_of(self.vocabulary)
        self.numbers = frozenset(answer for way, answer in self.ways.items() if way.lstrip("+-").isdecimal())
        bits = {} if self.numbers else {"1": "yes", "0": "no"}
        self.bits = {bit: self.ways[meant] for bit, meant in bits.items() if meant in self.ways}
        self.words = {way: answer for way, answer in self.ways.items() if WORD.fullmatch(way)}
        self.phrases = sorted((way for way in self.ways if way and way not in self.words), key=len, reverse=True)
        lists = dict.fromkeys(choices)
        self.composed = {some: ComposedReader(some) for some in lists if any("," in choice for choice in some)}

    def read(self, text: str, choices: tuple[str, ...], letters: Mapping[str, str] | None = None) -> str | None:
        """Return the answer that a reply gives, or None.

        `choices` are the possible answers to the question, and `letters` has the answers that letters stand for.
        """
        letters = letters or {}
        found = self.answer(letters.get(text.strip(DRESS), text))
        if found is not None:
            return found
        said, is_marked = last_statement(without_thoughts(text))
        said = letters.get(said.strip(DRESS), said)
        found = self.answer(said.strip(DRESS)) if is_marked or letters else None
        if found is not None:
            return found
        every, doubtful = self.named(said)
        named = every & (frozenset(choices) & self.known or self.known)
        if named & doubtful:
            return None
        if len(named) > 1:
            return self.composed[choices].together(named) if choices in self.composed else None
        return next(iter(named), None)

    def answer(self, text: str) -> str | None:
        """Return the answer that a whole text is, or None."""
        if text in self.known:
            return text
        number = number_of(text) if self.is_count else None
        if number is not None:
            nearest_count = min(max(round(number), 0), len(self.vocabulary) - 1) if math.isfinite(number) else None
            return None if nearest_count is None else self.vocabulary[nearest_count]
        if len(text) > self.longest and len(text.strip()) > self.longest:
            return None
        said = plain(text)
        found = self.ways.get(said, self.bits.get(said))
        if found is not None:
            return found
        composed = {one.answer(said) for one in self.composed.values()} - {None}
        return composed.pop() if len(composed) == 1 else None

    def named(self, text: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return the answers that occur in a text as whole words, and those that the text names but does not give.

        A longer phrase hides a shorter one. An answer is not given after a negation or comparison, and a number is not
        if the text has another number that is no answer.
        """
        said = plain(text)
        found, has_other_number = self.search(NO_NOUN.sub(" ", said))
        doubtful, _ = self.search(" . ".join(NEGATION.findall(said) + DENIAL.findall(said)))
        return found, doubtful | (self.numbers if has_other_number else frozenset())

    def search(self, said: str) -> tuple[frozenset[str], bool]:
        """Return the answers in a plain text, and whether it has a number that is no answer."""
        found = set()
        for phrase in self.phrases:
            if phrase in said:
                said, times = re.subn(rf"(?<!\w){re.escape(phrase)}(?!\w)", " ", said)
                if times:
                    found.add(self.ways[phrase])
        words = set(WORD.findall(said))
        parts = {part for word in words for part in parts_of_word(word)}
        found |= {self.words[word] for word in (words | parts) & self.words.keys()}
        return frozenset(found), SIGNED.search(said) is not None or any(map(is_number, parts - self.words.keys()))


def parts_of_word(word: str) -> Sequence[str]:
    if word.isalnum() or word.startswith("non-"):
        return (word,)
    return (plain(word),) if word[:1].isdigit() else re.split(r"[-'_]", word)


def is_number(word: str) -> bool:
    return word in NUMBER_WORDS or NUMERIC.fullmatch(word) is not None


class ComposedReader:
    """Reads answers that are sets or sequences of parts, which the possible answers show."""

    def __init__(self, choices: Sequence[str]) -> None:
        parts = {choice: choice.split(",") for choice in choices}
        bags = [tuple(sorted(some)) for some in parts.values()]
        self.is_set = len(set(bags)) == len(bags) and all(len(set(bag)) == len(bag) for bag in bags)
        joined = {part for some in parts.values() if len(some) > 1 for part in some}
        alone = [choice for choice, some in parts.items() if len(some) == 1 and choice not in joined]
        self.empty = alone[0] if self.is_set and len(alone) == 1 else None
        self.parts = {answer: self._key(some) for answer, some in parts.items() if answer != self.empty}
        self.answers = {key: answer for answer, key in self.parts.items()}
        small = {part for key in self.answers for part in key}
        self.nothing = {(self.empty or "").casefold(), "nothing"} - small
        words = sorted(map(re.escape, small), key=len, reverse=True)
        self.part = re.compile(rf"[\"']?({'|'.join(words)})[\"']?(?:{SEPARATOR}|$)")

    def _key(self, parts: Iterable[str]) -> tuple[str, ...]:
        small = [part.casefold() for part in parts]
        return tuple(sorted(small) if self.is_set else small)

    def answer(self, said: str) -> str | None:
        """Return the answer that a text with small letters and single spaces is, or None."""
        if re.fullmatch(r"\[ ?\]|\{ ?\}|\( ?\)", said):
            return self.empty
        if said[:1] in "[({" and said[-1:] in "])}":
            said = said[1:-1].strip()
        if self.empty is not None and said.strip("\"' ") in self.nothing:
            return self.empty
        found: list[str] = []
        at = 0
        while at < len(said):
            part = self.part.match(said, at)
            if part is None or len(found) > len(self.answers):
                return None
            found.append(part[1])
            at = part.end()
        return self.answers.get(self._key(found))

    def together(self, named: frozenset[str]) -> str | None:
        if not self.is_set or any(answer not in self.parts for answer in named):
            return None
        return self.answers.get(tuple(sorted({part for answer in named for part in self.parts[answer]})))


def ways_of(answers: Sequence[str]) -> dict[str, str]:
    """Return the answer of each plain text that means exactly one; synonyms count only if they are no answers."""
    counts = Counter(map(plain, answers))
    ways = {plain(answer): answer for answer in answers if counts[plain(answer)] == 1}
    for one, other in ALIKE.items():
        for way, meant in ((one, other), (other, one)):
            if meant in ways and counts[way] < 2:
                ways.setdefault(way, ways[meant])
    return ways


def plain(text: str) -> str:
    said = " ".join(text.split()).casefold()
    whole = WHOLE.fullmatch(said)
    return whole[1] if whole else said


def number_of(text: str) -> float | None:
    found = NUMBER.fullmatch(text.strip())
    return float(found[0]) if found else None


def without_thoughts(text: str) -> str:
    # The beginning or the end of a block may be missing.
    *before, last = THOUGHT.sub(r"<\1think>", text).split("</think>")
    kept = [part.partition("<think>")[0] for part in before if "<think>" in part]
    return "".join([*kept, last.partition("<think>")[0]])


def last_statement(text: str) -> tuple[str, bool]:
    r"""Return what the last mark (`answer:`, `answer is`, `\boxed{`, `<answer>`) marks, and True; else the text."""
    mark = None
    for found in MARK.finditer(text):
        mark = found
    if mark is None:
        return text, False
    rest = text[mark.end() :]
    if mark[0].endswith("{"):
        return without_macros(in_braces(rest)), True
    tagged = TAG_END.split(rest, maxsplit=1)[0]
    if mark[0].endswith(">"):
        return tagged, True
    return without_macros(next((line for line in tagged.split("\n") if line.strip(DRESS)), "")), True


def in_braces(text: str) -> str:
    """Return the text up to the brace that closes an open one; the whole text if none does."""
    depth = 1
    for brace in re.finditer(r"[{}]", text):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return text[: brace.start()]
    return text


def without_macros(text: str) -> str:
    return MACRO.sub(" ", text).replace("{", " ").replace("}", " ") if "\\" in text else text
