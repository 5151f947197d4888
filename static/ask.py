#!/usr/bin/env python3
# Built from the modules of generation/asking: change them, not this file, and run `make static/ask.py`.
"""Ask a model the questions of a Horsesense site. This is one file; it needs only Python 3.9 or later.

    export MODEL_API_KEY=...        if the model's server needs a key
    export HORSESENSE_TOKEN=hs_...  to submit, and for datasets that are not public
    python ask.py https://horsesense.example.org clevr/val --base-url http://127.0.0.1:8080/v1 --model NAME

The model's server must have the interface of OpenAI's chat completions. Each attempt becomes a line of `replies.jsonl`
before the next question is asked, so `--resume` asks only what is missing. A reply that is cut off, refused, empty or
failed never becomes an answer. Exit status: 0 everything asked, 1 failed, 2 refused, 130 interrupted.
"""

from __future__ import annotations

import argparse
import base64
import email.utils
import gzip
import hashlib
import heapq
import http.client
import io
import json
import math
import os
import random
import re
import selectors
import socket
import ssl
import struct
import sys
import tarfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

# Messages on the terminal, in which keys are hidden; the errors that end a run; and the clock.


SHOWN = 200  # characters of a text from outside that are printed
KEPT_ERROR = 2000  # characters of an error that are stored
SECRET = 8  # the fewest characters of a key that is hidden wherever it occurs


class Refused(Exception):
    # Something can't be done; the text says what and why. `status` is the status of the site's response, 0 without one.

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Unreachable(Exception):
    """A server did not answer, although the request was repeated."""


class Interrupted(Exception):
    """No further requests may be sent."""


class Redactor:
    """Hides the keys, and their parts of `SECRET` characters or more, in everything that is stored or printed.

    Each such part contains an anchor: `ANCHOR` characters at a place of the key that `SPACING` divides. Anchors are
    found fast; each one that is found is extended as far as the text is the same as the key, in either case of letters.
    """

    SPACING = 3
    ANCHOR = SECRET - SPACING + 1

    def __init__(self) -> None:
        self.anchors: dict[bytes, list[tuple[bytes, int]]] = {}  # with the keys and places that have them

    def hide(self, key: str) -> None:
        if len(key) >= SECRET:
            for written in {form.lower() for form in spellings(key.encode())}:
                for place in range(0, len(written) - self.ANCHOR + 1, self.SPACING):
                    places = self.anchors.setdefault(written[place : place + self.ANCHOR], [])
                    if len(places) < SECRET:  # more only in keys that repeat a few characters
                        places.append((written, place))

    def text(self, text: str) -> str:
        content = text.encode("utf-8", "surrogatepass")
        lowered, done, pieces = content.lower(), 0, []
        ahead = [(lowered.find(anchor), anchor) for anchor in self.anchors]
        heapq.heapify(ahead := [one for one in ahead if one[0] >= 0])
        while ahead:
            place, anchor = heapq.heappop(ahead)
            begin, end = place, place
            if place >= done:
                extents = [self._extent(lowered, place, done, *one) for one in self.anchors[anchor]]
                begin, end = max(extents, key=size_of)
            if end - begin >= SECRET:
                pieces += [content[done:begin], b"[key]"]
                done = end
            following = lowered.find(anchor, max(done, place + 1))
            if following >= 0:
                heapq.heappush(ahead, (following, anchor))
        return b"".join([*pieces, content[done:]]).decode("utf-8", "surrogatepass") if pieces else text

    def _extent(self, text: bytes, place: int, least: int, key: bytes, at: int) -> tuple[int, int]:
        """Return the first and last place of the text around an anchor that is the same as the key."""
        before, after = 0, self.ANCHOR
        while before < min(at, place - least) and text[place - before - 1] == key[at - before - 1]:
            before += 1
        while after < min(len(key) - at, len(text) - place) and text[place + after] == key[at + after]:
            after += 1
        return place - before, place + after

    def value(self, value: Any) -> Any:
        """Return a JSON value without keys and without numbers that JSON does not have."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(name)): self.value(one) for name, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(one) for one in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value


def size_of(extent: tuple[int, int]) -> int:
    return extent[1] - extent[0]


def spellings(key: bytes) -> Iterator[bytes]:
    """Yield a key as it is, as in an address, and as in base64 at each of three places of a longer text."""
    yield key
    yield urllib.parse.quote(key, safe="").encode()
    for before in range(3):
        packed = base64.b64encode(bytes(before) + key)
        inner = packed[(0, 2, 3)[before] : len(packed) - (0, 4, 4)[(before + len(key)) % 3]]
        yield inner
        yield inner.translate(bytes.maketrans(b"+/", b"-_"))


SECRETS = Redactor()


def say(text: str) -> None:
    # Only results go to standard output.
    sys.stderr.write(SECRETS.text(text) + "\n")
    sys.stderr.flush()


def tell(text: str) -> None:
    sys.stdout.write(SECRETS.text(text) + "\n")


def printable(text: object, most: int = SHOWN) -> str:
    # What comes from outside is printed as one short line that can do nothing to a terminal.
    said = SECRETS.text(str(text))
    cut = said[:most] + ("..." if len(said) > most else "")
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in cut)


class Clock:
    """The time, and pauses that end early when the script stops; tests replace it."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def now(self) -> float:
        return time.monotonic()

    def date(self) -> float:
        return time.time()

    def wait(self, seconds: float) -> None:
        self.stopped.wait(seconds)


# Answers in replies. The rules are those of the site, see /docs/predictions/.


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


# SHA-256, and JSON in which equal values are equal texts.


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def as_json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


# The questions of a split: how they are read, the steps of their programs, and a sample of them.


LONGEST_LINE = 16 << 20  # bytes of a line of the site's files


class ExpectedStep(NamedTuple):
    """A step of a question's program.

    `kind` is the form of its result, and `result` the right one.
    """

    function: str
    kind: str
    result: Any


class AskedQuestion(NamedTuple):
    """A question of the split.

    `prompt` includes the story, if there is one, and `picture` names the picture. `answer` is None if it is withheld.
    `steps_prompt` asks for the results of `steps`; both are empty unless the form asks for steps.
    """

    number: int
    prompt: str
    choices: tuple[str, ...]
    answer: str | None
    picture: str | None
    steps_prompt: str = ""
    steps: tuple[ExpectedStep, ...] = ()


class QuestionSource(Protocol):
    """A split whose questions are asked: one of a site, or for `manage.py ask` one that needs no server."""

    fingerprint: str
    answers: list[str]

    def questions(self, folder: Path) -> list[AskedQuestion]: ...

    def with_steps(self, questions: Sequence[AskedQuestion], folder: Path) -> list[AskedQuestion]: ...

    def pictures(
        self, questions: Sequence[AskedQuestion], chosen: Sequence[AskedQuestion], folder: Path
    ) -> Callable[[AskedQuestion], bytes]: ...

    def check(self, fields: Mapping[str, str], answers: bytes) -> None: ...

    def submit(self, fields: Mapping[str, str], answers: bytes, replies: Path | None) -> dict[str, Any]: ...


def lines_of(path: Path, what: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of a downloaded file; raise `Refused` if it is something else."""
    try:
        with gzip.open(path) as file:
            while line := file.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise ValueError(f"a line of more than {LONGEST_LINE:,} bytes")
                yield json.loads(line)
    except (ValueError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Refused(f"Expected {what} of a Horsesense site in {path}, got something else: {error!r}.") from error


def questions_in(rows: Iterable[Mapping[str, Any]]) -> list[AskedQuestion]:
    """Return the questions of the site's lines; raise `Refused` if one has neither a picture nor a story."""
    found, numbers = [], set()
    for row in rows:
        try:
            number, image = row["question_id"], row["image"]
            if type(number) is not int or number in numbers:
                raise Refused(f"Expected another whole number for each question, got {printable(repr(number))}.")
            numbers.add(number)
            if image is None and "story" not in row:
                raise Refused(f"Expected a picture or a story for each question, got neither for question {number}.")
            found.append(AskedQuestion(number, row["prompt"], tuple(row["choices"]), row["answer"], image))
        except (KeyError, TypeError) as error:
            raise Refused(f"Expected questions of a Horsesense site, got something else: {error!r}.") from error
    return found


def with_steps(questions: Sequence[AskedQuestion], rows: Iterable[Mapping[str, Any]]) -> list[AskedQuestion]:
    """Return questions with the steps of their programs; raise `Refused` if one has no program."""
    found: dict[int, tuple[str, tuple[ExpectedStep, ...]]] = {}
    try:
        for row in rows:
            if row["steps"]:
                steps = tuple(ExpectedStep(one["function"], one["kind"], one["result"]) for one in row["steps"])
                found[row["question_id"]] = (row["prompt"], steps)
    except (KeyError, TypeError) as error:
        raise Refused(f"Expected steps of a Horsesense site, got something else: {error!r}.") from error
    missing = [question.number for question in questions if question.number not in found]
    if missing:
        raise Refused(
            f"Expected a program for each question, got none for question {missing[0]}: use another --form than steps."
        )
    every = ((question, *found[question.number]) for question in questions)
    return [question._replace(steps_prompt=prompt, steps=steps) for question, prompt, steps in every]


def chosen_of(questions: Sequence[AskedQuestion], count: int | None, salt: str) -> list[AskedQuestion]:
    """Return a sample, the same for every model; a larger sample contains each smaller one."""
    if count is None or count >= len(questions):
        return list(questions)
    ranked = sorted(questions, key=lambda question: sha256(f"{salt}:{question.number}".encode()))
    return sorted(ranked[:count])


# Steps in replies. The rules are those of the site, see /docs/asking/#steps.


LONGEST_STEPS = 1_000_000  # characters of a reply in which steps are searched
BRACKET = re.compile(r'[\[\]]|"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
PART = re.compile(r"[^\s,]+")
COMMA = re.compile(r"\s*,\s*")


class StepScore(NamedTuple):
    """Which steps of a reply are right, their share, the position of the first wrong step, and a problem of form."""

    right: tuple[bool, ...]
    accuracy: float
    first_wrong: int | None
    problem: str


class Improper(ValueError):
    """A JSON array has a key twice, or a constant that JSON does not have."""


def score_steps(reply: str, expected: Sequence[ExpectedStep]) -> StepScore:
    """Return the score of the steps that a reply gives in its only JSON array; a step counts only at its position."""
    given, problem = array_in(reply)
    right = tuple([at < len(given) and is_right_step(given[at], step) for at, step in enumerate(expected)])
    if not problem and len(given) != len(expected):
        problem = f"Expected {len(expected)} steps, got {len(given)}."
    wrong = [at for at, is_right in enumerate(right) if not is_right]
    first = wrong[0] if wrong else len(expected) if len(given) > len(expected) else None
    return StepScore(right, sum(right) / max(len(expected), len(given)), first, problem)


def is_right_step(given: Any, expected: ExpectedStep) -> bool:
    """Return whether an object of the array has the name and the result of a step."""
    if not isinstance(given, dict) or set(given) != {"step", "result"} or given["step"] != expected.function:
        return False
    found, kind, result = given["result"], expected.kind, expected.result
    if kind == "lines":
        return line_numbers(found) == result
    if kind == "object":
        words = sorted(PART.findall(str(result).casefold()))
        return isinstance(found, str) and sorted(PART.findall(found.casefold())) == words
    if kind in ("set", "sequence"):
        parts, wanted = parts_of(found), parts_of(result)
        if parts is None or wanted is None:
            return False
        return sorted(parts) == sorted(wanted) if kind == "set" else parts == wanted
    said = plain_value(found)
    return said is not None and said == plain_value(result)


def array_in(reply: str) -> tuple[list[Any], str]:
    """Return the only JSON array of a reply; an empty list and the problem if there is not exactly one."""
    if len(reply) > LONGEST_STEPS:
        return [], f"Expected at most {LONGEST_STEPS:,} characters, got {len(reply):,}."
    try:
        text = without_thoughts(reply)
        found = [array(text[start:stop]) for start, stop in in_brackets(text)]
    except Improper as error:
        return [], str(error)
    arrays = [value for value in found if value is not None]
    return (arrays[0], "") if len(arrays) == 1 else ([], f"Expected one JSON array, got {len(arrays) or 'none'}.")


def in_brackets(text: str) -> Iterator[tuple[int, int]]:
    """Yield where an outer bracket begins and where the one ends that closes it; those in strings do not count."""
    at = text.find("[")
    while at >= 0:
        depth, stop = 0, -1
        for token in BRACKET.finditer(text, at):
            depth += {"[": 1, "]": -1}.get(token[0], 0)
            if not depth:
                stop = token.end()
                break
        if stop < 0:
            return
        yield at, stop
        at = text.find("[", stop)


def array(text: str) -> list[Any] | None:
    """Return a JSON array, or None for other texts; raise `Improper`."""
    try:
        found = json.loads(
            text, object_pairs_hook=each_key_once, parse_constant=refuse_constant, parse_int=short_number
        )
    except Improper:
        raise
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Improper("Expected each key once in an object, got one twice.")
    return found


def refuse_constant(name: str) -> None:
    raise Improper(f"Expected JSON, got {name}, which JSON does not have.")


def short_number(digits: str) -> int | None:
    return int(digits) if len(digits) < 20 else None


def plain_value(value: Any) -> str | None:
    """Return a single value as a text in which equal values are equal; None for lists and objects."""
    if isinstance(value, float):
        value = int(value) if value.is_integer() and abs(value) < 1e15 else None
    if value is None or isinstance(value, (list, dict)):
        return None
    said = plain(str(value))
    return ALIKE.get(said, said)


def line_numbers(value: Any) -> list[int] | None:
    numbers = value if isinstance(value, list) else [value]
    return None if any(type(one) is not int for one in numbers) else sorted(numbers)


def parts_of(value: Any) -> list[str] | None:
    """Return the parts of a set or a sequence, which may be a list or a text with commas; None for other values."""
    if isinstance(value, str):
        said = value.strip()
        value = [] if not said or said.casefold() == "nothing" else COMMA.split(said)
    if not isinstance(value, list):
        return None
    parts = [plain_value(part) for part in value]
    return None if None in parts else [part for part in parts if part is not None]


def without_arrays(text: str) -> str:
    """Return a text without its JSON arrays, because no answer may be taken from the results of steps."""
    if len(text) > LONGEST_STEPS:
        return text.rpartition("]")[2]
    kept, at = [], 0
    for start, stop in in_brackets(text):
        try:
            is_array = array(text[start:stop]) is not None
        except Improper:
            is_array = True
        if is_array:
            kept.append(text[at:start])
            at = stop
    return " ".join([*kept, text[at:]])


# Forms of asking: the prompts for a question, and how its answer is read from the replies to them.


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LABEL = re.compile(r"\W{0,4}(?:[Oo]ption )?([A-Z])(?![\w'’])")  # the letter before an option, as in `(B) red`
WORD_AFTER = re.compile(r"[AI] +\w")  # as in `A red cube` and `I see`


class Variant(NamedTuple):
    prompt: str
    letters: Mapping[str, str]


class PlainForm:
    """Sends the prompt of the site. Other forms derive from this one."""

    has_steps = False

    def variants(self, question: AskedQuestion) -> list[Variant]:
        return [Variant(question.prompt, {})]

    def read(self, reader: AnswerReader, reply: str, *, question: AskedQuestion, variant: Variant) -> str | None:
        return reader.read(reply, question.choices, variant.letters)

    def combine(self, answers: Sequence[str | None]) -> str | None:
        return answers[0] if len(set(answers)) == 1 else None


class OptionsForm(PlainForm):
    """Lists the possible answers with letters."""

    def variants(self, question: AskedQuestion) -> list[Variant]:
        return [with_options(question, question.choices)]

    def read(self, reader: AnswerReader, reply: str, *, question: AskedQuestion, variant: Variant) -> str | None:
        found = super().read(reader, reply, question=question, variant=variant)
        said, is_marked = last_statement(without_thoughts(reply))
        label = LABEL.match(said)
        if label is None or (not is_marked and WORD_AFTER.match(said, label.start(1))):
            return found
        # None if the letter and the words contradict each other
        return found if variant.letters.get(label[1], found) == found else None


class CircularForm(OptionsForm):
    def variants(self, question: AskedQuestion) -> list[Variant]:
        choices = question.choices
        return [with_options(question, choices[at:] + choices[:at]) for at in range(max(1, len(choices)))]


class StepsForm(PlainForm):
    """Asks for the results of the program's steps besides the answer."""

    has_steps = True

    def variants(self, question: AskedQuestion) -> list[Variant]:
        return [Variant(f"{question.prompt}\n{question.steps_prompt}", {})]

    def read(self, reader: AnswerReader, reply: str, *, question: AskedQuestion, variant: Variant) -> str | None:
        said = without_arrays(without_thoughts(reply))
        return super().read(reader, said, question=question, variant=variant)


FORMS: Mapping[str, PlainForm] = {
    "plain": PlainForm(),
    "options": OptionsForm(),
    "circular": CircularForm(),
    "steps": StepsForm(),
}


def with_options(question: AskedQuestion, choices: Sequence[str]) -> Variant:
    if not 1 < len(choices) <= len(LETTERS):
        raise Refused(
            f"Expected 2 to {len(LETTERS)} possible answers to question {question.number}, got {len(choices)}: use "
            "--form plain."
        )
    letters = {LETTERS[at]: choice for at, choice in enumerate(choices)}
    listed = "\n".join(f"{letter}. {choice}" for letter, choice in letters.items())
    return Variant(f"{question.prompt}\nOptions:\n{listed}\nAnswer with the letter of the right option.", letters)


# Exchanges over HTTP that end at a deadline, however slowly a server sends; and pauses between them.


PAUSE = 0.5  # seconds before the second try; each further pause is twice as long
LONGEST_BACKOFF = 60.0
LONGEST_PAUSE = 900.0  # seconds that a server may ask to wait; the script stops if it asks for more
LONGEST_TIMER = 1e9  # seconds; timers do not take much more
SECONDS = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
PATH = re.compile(r"[!-~]*")  # of an address: as it is sent, in ASCII and without spaces
SITE_TIMEOUT = 120.0  # seconds of an exchange with the site, and of each piece of a download
PIECE = 1 << 16
LARGEST_ERROR = 1 << 20  # bytes of an error that are read


class Deadline:
    """The end of an exchange: of everything from the look-up of the server's name to the last byte of its reply."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.renew()

    def renew(self) -> None:
        self.end = time.monotonic() + self.seconds

    def left(self) -> float:
        """Return the seconds that are left; raise `TimeoutError` if there are none."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise self.error()
        return left

    def error(self) -> TimeoutError:
        return TimeoutError(f"expected a complete reply within {self.seconds:g} s")


class TimedReader(io.RawIOBase):
    """Reads from a socket until a deadline, however few bytes a server sends at a time."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self.sock, self.deadline = sock, deadline
        self.raw: Any = sock.makefile("rb", buffering=0)  # keeps the socket open after the connection is closed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Any:
        self.sock.settimeout(self.deadline.left())
        try:
            return self.raw.readinto(buffer)
        except socket.timeout as error:  # noqa: UP041 - another class before Python 3.10
            raise self.deadline.error() from error

    def close(self) -> None:
        self.raw.close()
        super().close()


class TimedSocket:
    """The part of a socket that `http.client` uses; each call ends at the deadline of its connection's exchange."""

    def __init__(self, sock: socket.socket, connection: TimedConnection) -> None:
        self.sock, self.connection = sock, connection

    def sendall(self, content: Any) -> None:
        deadline = self.connection.deadline
        view = memoryview(content).cast("B")
        try:
            for start in range(0, len(view), PIECE):  # a socket with TLS waits anew for each piece
                self.sock.settimeout(deadline.left())
                self.sock.sendall(view[start : start + PIECE])
        except socket.timeout as error:  # noqa: UP041 - another class before Python 3.10
            raise deadline.error() from error

    def makefile(self, mode: str, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(TimedReader(self.sock, self.connection.deadline))

    def fileno(self) -> int:
        return self.sock.fileno()

    def close(self) -> None:
        self.sock.close()


class TimedConnection(http.client.HTTPConnection):
    """A connection whose exchanges have a deadline. Set a new one before each further exchange."""

    def __init__(self, host: str, port: int | None = None, *, timeout: float = SITE_TIMEOUT, **more: Any) -> None:
        super().__init__(host, port, timeout=timeout, **more)
        self.deadline = Deadline(timeout)

    def connect(self) -> None:
        self._use(connected(self.host, self.port, self.deadline))
        if getattr(self, "_tunnel_host", None):
            self._tunnel()  # type: ignore[attr-defined]

    def getresponse(self) -> http.client.HTTPResponse:
        response = super().getresponse()
        response.deadline = self.deadline  # type: ignore[attr-defined]
        return response

    def _use(self, sock: socket.socket) -> None:
        self.sock: Any = TimedSocket(sock, self)


class TimedTLSConnection(TimedConnection):
    """The same with TLS; certificates are verified."""

    default_port = 443

    def connect(self) -> None:
        super().connect()
        plain, name = self.sock.sock, getattr(self, "_tunnel_host", None) or self.host
        safe = ssl.create_default_context().wrap_socket(plain, server_hostname=name, do_handshake_on_connect=False)
        self._use(safe)
        safe.settimeout(self.deadline.left())
        try:
            safe.do_handshake()
        except socket.timeout as error:  # noqa: UP041 - another class before Python 3.10
            raise self.deadline.error() from error


def connected(host: str, port: int, deadline: Deadline) -> socket.socket:
    """Return a socket that is connected to the first address of a server that answers."""
    places = looked_up(host, port, deadline)
    trouble: OSError | None = None
    for number, (family, kind, protocol, _, address) in enumerate(places):
        try:
            found = socket.socket(family, kind, protocol)
        except OSError as error:
            trouble = error
            continue
        try:
            found.settimeout(deadline.left() / (len(places) - number))  # so that there is time for each address
            found.connect(address)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return found
        except OSError as error:
            found.close()
            deadline.left()
            trouble = error
    raise trouble or OSError(f"expected an address of {host}, got none")


def looked_up(host: str, port: int, deadline: Deadline) -> list[Any]:
    """Return the addresses of a server. The look-up of a name can't be stopped, so a thread of its own waits for it."""
    found: list[Any] = []
    is_done = threading.Event()

    def look_up() -> None:
        try:
            found.append(socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            found.append(error)
        is_done.set()

    threading.Thread(target=look_up, daemon=True).start()
    if not is_done.wait(deadline.left()):
        raise deadline.error()
    if isinstance(found[0], OSError):
        raise found[0]
    if isinstance(found[0], UnicodeError):
        raise OSError(f"expected the name of a server, got {host!r}")
    return list(found[0])


class TimedHTTP(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(TimedConnection, req)


class TimedHTTPS(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(TimedTLSConnection, req)


def parts_of_address(address: str) -> urllib.parse.SplitResult | None:
    """Return the parts of an address of http or https without names and passwords, or None for other texts."""
    try:
        parts = urllib.parse.urlsplit(address)
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # of a port that is no number, or of an open bracket
        return None
    return parts if is_address and "@" not in parts.netloc and PATH.fullmatch(parts.path) else None


def seconds_asked(headers: Any, now: float) -> float | None:
    """Return the seconds in the header Retry-After, which has a number or a date; None without a valid header.

    They are 0 for a date that has passed, and at most `LONGEST_TIMER`.
    """
    said = (headers.get("Retry-After") or "").strip()
    if SECONDS.fullmatch(said):
        return min(float(said), LONGEST_TIMER)
    until = email.utils.parsedate_tz(said)
    if until is None:
        return None
    told = email.utils.parsedate_tz(headers.get("Date") or "")  # the clocks of both machines may differ
    try:
        since = now if told is None else email.utils.mktime_tz(told)
        return min(max(0.0, email.utils.mktime_tz(until) - since), LONGEST_TIMER)
    except (ValueError, OverflowError):
        return None


# The model's server: one request, and the reply in its response.


ANSWERED, CUT_OFF, REFUSED, EMPTY, FAILED = STATES = ("answered", "cut off", "refused", "empty", "failed")
LEAST_REPLY = 256 << 10  # bytes that one reply may have in any case
ALL_REPLIES = 32 << 20  # bytes of all replies that are read at once; each of the requests at once has an equal part
MOST_VALUES = 1 << 20  # values in a reply, which need more memory than their text


class ModelReply(NamedTuple):
    """The result of one attempt. `wait` is the number of seconds that the server asks to wait."""

    state: str
    reply: str | None = None
    reasoning: Mapping[str, Any] | None = None
    finish_reason: str | None = None
    usage: Mapping[str, Any] | None = None
    served_model: str | None = None
    status: int | None = None
    error: str | None = None
    wait: float | None = None


TOKENS = ("prompt_tokens", "completion_tokens")
REASONING = ("reasoning", "reasoning_content", "reasoning_details")
COMPLETE = (None, "", "stop", "eos", "eos_token", "end_turn", "stop_sequence")
LENGTH = ("length", "max_tokens", "max_output_tokens", "model_length")
FILTERED = ("content_filter", "refusal", "safety", "content_policy_violation")


class ModelServer:
    """A server with the interface of OpenAI's chat completions; each thread has a connection of its own.

    An exchange ends after `timeout` seconds, whatever the server does. All replies that are read at once have
    `ALL_REPLIES` bytes at most: each of `concurrency` requests has an equal part.
    """

    def __init__(self, base_url: str, key: str, *, timeout: float, concurrency: int = 1) -> None:
        parts = parts_of_address(base_url)
        if parts is None or parts.hostname is None or parts.query or parts.fragment:
            raise Refused(
                "Expected an address such as http://127.0.0.1:8000/v1 as --base-url, without keys and passwords: "
                "these come from environment variables."
            )
        self.scheme, self.host, self.port, self.timeout = parts.scheme, parts.hostname, parts.port, timeout
        path = parts.path.rstrip("/")
        self.path = path if path.endswith("/chat/completions") else f"{path}/chat/completions"
        self.address = f"{parts.scheme}://{parts.netloc}{self.path}"
        self.headers = {"Content-Type": "application/json", "User-Agent": "horsesense-ask"}
        if key:
            self.headers["Authorization"] = f"Bearer {key}"
        self.most = max(LEAST_REPLY, ALL_REPLIES // concurrency)
        self.own = threading.local()
        self.parsing = threading.Lock()  # a value of JSON needs many times the memory of its text

    def ask(self, body: bytes, *, now: Callable[[], float]) -> ModelReply:
        """Send a request once and return the result; a failure is a result too."""
        connection = self._connection()
        try:
            response, content = self._exchange(connection, body)
            with self.parsing:
                check_values(content)
                text = content.decode("utf-8", "replace")
                del content
                if response.status == 200:
                    return reply_in(text)
                code, said = error_in(loaded(text), text)
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            connection.close()
            return ModelReply(FAILED, error=kept_error(f"{type(error).__name__}: {error}"))
        said = said or f"{response.reason}"
        state = REFUSED if response.status == 400 and code in FILTERED else FAILED
        wait = seconds_asked(response.headers, now())
        return ModelReply(state, status=response.status, error=kept_error(f"{code} {said}".strip()), wait=wait)

    def leave(self) -> None:
        found: TimedConnection | None = getattr(self.own, "connection", None)
        if found is not None:
            found.close()

    def _connection(self) -> TimedConnection:
        """Return this thread's connection with a new deadline; one that the server has closed is opened again."""
        found: TimedConnection | None = getattr(self.own, "connection", None)
        if found is None:
            kind = TimedTLSConnection if self.scheme == "https" else TimedConnection
            found = self.own.connection = kind(self.host, self.port, timeout=self.timeout)
        elif found.sock is not None and has_input(found.sock):
            found.close()
        found.deadline = Deadline(self.timeout)
        return found

    def _exchange(self, connection: TimedConnection, body: bytes) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request; return the response and its content."""
        trouble: OSError | None = None
        try:
            connection.request("POST", self.path, body, self.headers)
        except (BrokenPipeError, ConnectionResetError) as error:
            trouble = error  # a server may refuse a request before it has read all of it
        try:
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            raise trouble or error from error
        content = self._content(response)
        if response.will_close or not response.isclosed() or trouble is not None:
            connection.close()
        return response, content

    def _content(self, response: http.client.HTTPResponse) -> bytes:
        """Return the body; raise an error if it is incomplete or too large. Of an error, the beginning is enough."""
        wanted, pieces, size = response.headers.get("Content-Length"), [], 0
        least = int(wanted) if wanted is not None and wanted.isdecimal() else None
        most = self.most if response.status == 200 else LARGEST_ERROR
        if response.status == 200 and least is not None and least > most:
            raise http.client.HTTPException(f"expected a reply of at most {most:,} bytes, got one of {least:,}")
        while (least is None or size < least) and (piece := response.read1(PIECE)):
            pieces.append(piece)
            size += len(piece)
            if size > most and response.status == 200:
                raise http.client.HTTPException(f"expected a reply of at most {most:,} bytes, got a larger one")
            if size > most:
                return b"".join(pieces)
        if least is not None and size < least:
            raise http.client.IncompleteRead(b"", least - size)
        if not response.isclosed():
            response.length = 0  # `read1` does not count before Python 3.13
            response.read()  # ends the response, so that the connection can be used again
        return b"".join(pieces)


def check_values(content: bytes) -> None:
    values = sum(content.count(mark) for mark in (b",", b"[", b"{"))
    if values > MOST_VALUES:
        raise http.client.HTTPException(f"expected a reply of at most {MOST_VALUES:,} values, got more")


def has_input(sock: socket.socket | TimedSocket) -> bool:
    with selectors.DefaultSelector() as found:  # `select.select` takes no file number above 1,023
        found.register(sock, selectors.EVENT_READ)
        return bool(found.select(0))


def kept_error(text: str) -> str:
    return SECRETS.text(text)[:KEPT_ERROR]  # in this order, because the beginning of a key would not be found


def loaded(text: str) -> Any:
    """Return a JSON value, or None for other texts."""
    try:
        return json.loads(text, parse_constant=lambda name: None)
    except (ValueError, RecursionError):
        return None


def error_in(found: Any, text: str) -> tuple[str, str]:
    """Return the code and the message of an error: of a JSON value in one of the usual forms, else of a plain text."""
    error = found.get("error", found) if isinstance(found, dict) else text
    if not isinstance(error, dict):
        return "", str(error)
    said = error.get("message") or error.get("detail") or text
    named = f" ({error['param']})" if error.get("param") else ""
    return str(error.get("code") or error.get("type") or ""), f"{said}{named}"


def reply_in(text: str) -> ModelReply:
    """Return the reply in a response with status 200; only a complete reply with text has the state `answered`."""
    found = loaded(text)
    choices = found.get("choices") if isinstance(found, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message, finish = choice.get("message"), choice.get("finish_reason")
    if message is None and state_of(finish, None, is_refused=False) == REFUSED:
        message = {}  # some servers leave out the message that their filter stops
    faulty = choice if choice.get("error") else found
    if not isinstance(found, dict) or not isinstance(message, dict) or faulty.get("error"):
        said = f"expected a chat completion, got: {' '.join(error_in(faulty, text)).strip()}"
        return ModelReply(FAILED, status=200, error=kept_error(said))
    content, refusal = content_of(message.get("content")), message.get("refusal") or refusal_in(message.get("content"))
    reasoning = {name: message[name] for name in REASONING if message.get(name)}
    usage, model = found.get("usage"), found.get("model")
    state = state_of(finish, content, is_refused=bool(refusal))
    trouble = str(refusal) if refusal else f"unknown finish reason {finish!r}" if state == FAILED else ""
    return ModelReply(
        state,
        content,
        reasoning or None,
        finish if finish is None else str(finish),
        usage if isinstance(usage, dict) else None,
        model if isinstance(model, str) else None,
        200,
        kept_error(trouble) or None,
    )


def content_of(content: Any) -> str | None:
    """Return the text of a message; its content may be a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def refusal_in(content: Any) -> str | None:
    parts = [part.get("refusal") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return next((part for part in parts if isinstance(part, str) and part), None)


def state_of(finish: Any, content: str | None, *, is_refused: bool) -> str:
    said = finish.lower() if isinstance(finish, str) else finish
    if is_refused or (said.partition(":")[0] if isinstance(said, str) else said) in FILTERED:
        return REFUSED
    if said in LENGTH:
        return CUT_OFF
    if said not in COMPLETE:
        return FAILED
    return ANSWERED if content is not None and without_thoughts(content).strip() else EMPTY


def is_at_limit(usage: Mapping[str, Any] | None, sent: Mapping[str, Any]) -> bool:
    most, tokens = sent.get("max_completion_tokens", sent.get("max_tokens")), tokens_in(usage)[1]
    return type(most) is int and tokens is not None and tokens >= most


def tokens_in(usage: Mapping[str, Any] | None) -> list[int | None]:
    # The tokens of the request and of the reply; None if the server does not report them.
    counts = [(usage or {}).get(name) for name in TOKENS]
    return [count if type(count) is int and 0 <= count < 10**9 else None for count in counts]


# Pictures as they are sent: the site's own files, or PNGs that are scaled to the nearest pixel.


class PictureStore:
    """The pictures of the questions as they are sent; `read` returns the site's own file."""

    def __init__(self, read: Callable[[AskedQuestion], bytes], *, scale: Fraction | None) -> None:
        self.read, self.scale = read, scale
        self.lock = threading.Lock()
        self.sums: dict[str, str] = {}
        self.ready: dict[str, str] = {}

    def sum_of(self, question: AskedQuestion) -> str | None:
        """Return the SHA-256 of the site's own file, or None without a picture."""
        name = question.picture
        if name is None:
            return None
        if name not in self.sums:
            self.sums[name] = sha256(self.read(question))
        return self.sums[name]

    def address_of(self, question: AskedQuestion) -> str | None:
        """Return the picture as a data URL, scaled if there is a scale."""
        name = question.picture
        if name is None:
            return None
        found = self.ready.get(name)
        if found is None:
            content = self.read(question)
            if self.scale is not None:
                content = scaled_png(content, self.scale)
            found = f"data:{media_type(content)};base64,{base64.b64encode(content).decode('ascii')}"
            with self.lock:
                while len(self.ready) >= 64:
                    del self.ready[next(iter(self.ready))]
                self.ready[name] = found
        return found


def media_type(content: bytes) -> str:
    if content.startswith(b"\xff\xd8"):
        return "image/jpeg"  # sent as it is, because encoding it again would change its pixels
    if not content.startswith(PNG):
        raise Refused("Expected a picture in the format PNG or JPEG, got another one.")
    return "image/png"


PNG = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by PNG's colour type


class PngPixels(NamedTuple):
    """A decoded PNG: its head without the size, the other chunks before the pixels, and a bytes object for each row."""

    width: int
    head: bytes
    chunks: bytes
    pixel: int  # bytes
    rows: list[bytes]


def png_chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the name and the content of each chunk; raise `Refused` if a file is no PNG or is damaged."""
    if not content.startswith(PNG):
        raise Refused("Expected a PNG to scale, got another kind of picture: ask without --scale.")
    at = len(PNG)
    while at < len(content):
        if at + 12 > len(content):
            raise Refused("Expected a complete PNG, got one that ends early.")
        size, name = struct.unpack(">I4s", content[at : at + 8])
        yield name, content[at + 8 : at + 8 + size]
        at += size + 12


def decoded_png(content: bytes) -> PngPixels:
    """Return the pixels of a PNG with 8 or 16 bits a channel that is not interlaced."""
    parts = list(png_chunks(content))
    head = parts[0][1]
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", head)
    if depth not in (8, 16) or interlaced or colour not in CHANNELS:
        raise Refused("Expected a PNG with 8 or 16 bits a channel and not interlaced: ask without --scale.")
    pixel = CHANNELS[colour] * depth // 8
    size = width * pixel
    packed = b"".join(part for name, part in parts if name == b"IDAT")
    data = zlib.decompressobj().decompress(packed, height * (size + 1))
    if len(data) != height * (size + 1):
        raise Refused(f"Expected {height} rows of pixels in a PNG, got fewer.")
    rows, before = [], bytes(size)
    for start in range(0, len(data), size + 1):
        before = unfiltered(data[start], data[start + 1 : start + 1 + size], before, pixel)
        rows.append(before)
    chunks = b"".join(png_chunk(name, part) for name, part in parts[1:] if name in (b"PLTE", b"tRNS", b"sRGB", b"gAMA"))
    return PngPixels(width, head[8:], chunks, pixel, rows)


def unfiltered(kind: int, line: bytes, before: bytes, pixel: int) -> bytes:
    """Return a row of a PNG without its filter."""
    row = bytearray(line)
    if kind == 1:
        for at in range(pixel, len(row)):
            row[at] = (row[at] + row[at - pixel]) & 255
    elif kind == 2:
        return bytes([(one + above) & 255 for one, above in zip(row, before)])  # noqa: B905 - Python 3.9
    elif kind in (3, 4):
        predict = mean if kind == 3 else paeth
        for at in range(len(row)):
            left, corner = (row[at - pixel], before[at - pixel]) if at >= pixel else (0, 0)
            row[at] = (row[at] + predict(left, before[at], corner)) & 255
    return bytes(row)


def mean(left: int, above: int, corner: int) -> int:
    return (left + above) >> 1


def paeth(left: int, above: int, corner: int) -> int:
    guess = left + above - corner
    apart = abs(guess - left), abs(guess - above), abs(guess - corner)
    return left if apart[0] == min(apart) else above if apart[1] == min(apart) else corner


def png_chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def scaled_png(content: bytes, scale: Fraction) -> bytes:
    """Return a PNG of another size, whose pixels are the nearest ones of the given PNG."""
    try:
        found = decoded_png(content)
    except (zlib.error, struct.error, IndexError) as error:
        raise Refused(f"Expected a PNG that can be decoded, got a damaged one: {error}.") from error
    columns = nearest(found.width, scale)
    lines = nearest(len(found.rows), scale)
    scaled: dict[int, bytes] = {}
    for line in set(lines):
        row = found.rows[line]
        scaled[line] = b"\0" + b"".join([row[at * found.pixel : (at + 1) * found.pixel] for at in columns])
    head = struct.pack(">II", len(columns), len(lines)) + found.head
    pixels = zlib.compress(b"".join([scaled[line] for line in lines]))
    return PNG + png_chunk(b"IHDR", head) + found.chunks + png_chunk(b"IDAT", pixels) + png_chunk(b"IEND", b"")


def nearest(size: int, scale: Fraction) -> list[int]:
    count = max(1, round(size * scale))
    return [(2 * at + 1) * size // (2 * count) for at in range(count)]


# The file of replies: a line for each attempt, on the disk before the next question is asked.


class Kept(NamedTuple):
    state: str
    reply: str | None


NESTED = ("reasoning", "usage")
REPLIED = ("reply", "reasoning", "finish_reason", "usage", "served_model", "error")  # fields that a server determines


def flat(value: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: one for name, one in (value or {}).items() if not isinstance(one, (dict, list))}


def lock(file: BinaryIO, path: Path) -> None:
    """Raise `Refused` if another process has the file; some systems and file systems have no locks."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Refused(
            f"Expected {path} for this run alone, got a file that another run is writing: wait for its end, or use "
            "another --folder."
        ) from error
    except (ImportError, OSError):
        return


def stored_reply(line: bytes) -> tuple[tuple[int, str], Kept]:
    """Return which request a stored line is about, and its reply; raise an error if a field is missing or wrong."""
    row = json.loads(line)
    number, key, state, reply = (row[name] for name in ("question", "key", "state", "reply"))
    is_text = isinstance(reply, str) or (reply is None and state != ANSWERED)
    if type(number) is not int or not isinstance(key, str) or state not in STATES or not is_text:
        raise ValueError("a field has another form")
    return (number, key), Kept(state, reply)


class ReplyLog:
    """The file with a line for each attempt. `add` returns when the line is safe on the disk."""

    def __init__(self, path: Path) -> None:
        self.done: dict[tuple[int, str], Kept] = {}
        self.file = path.open("ab")
        try:
            lock(self.file, path)
            self._load(path)
        except Refused:
            self.file.close()
            raise
        self.writing, self.syncing = threading.Lock(), threading.Lock()
        self.written = self.synced = 0

    def _load(self, path: Path) -> None:
        """Read earlier attempts; an incomplete last line, which a killed script leaves, is removed."""
        good = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                good += len(line)
                self._note(line, f"{path}, line {number}")
        if good < path.stat().st_size:
            os.truncate(path, good)

    def _note(self, line: bytes, where: str) -> None:
        try:
            name, kept = stored_reply(line)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise Refused(
                f"Expected a stored reply in {where}, got something else: delete this line, or use another --folder."
            ) from error
        if kept.state != FAILED:
            self.done[name] = kept

    def add(self, record: Mapping[str, Any]) -> None:
        replied = {name: record[name] for name in REPLIED}  # elsewhere, as in digests, parts of a key occur by chance
        try:
            line = as_json({**record, **SECRETS.value(replied)}) + b"\n"
        except RecursionError:  # a server may nest its fields as deep as it likes
            flattened = {name: flat(record[name]) for name in NESTED}
            line = as_json({**record, **SECRETS.value({**replied, **flattened})}) + b"\n"
        with self.writing:
            self.file.write(line)
            self.written += 1
            mine = self.written
        with self.syncing:  # one call of fsync serves all lines that were written meanwhile
            if self.synced < mine:
                with self.writing:
                    self.file.flush()
                    written = self.written
                os.fsync(self.file.fileno())
                self.synced = written

    def close(self) -> None:
        self.file.close()


# The limits of the model's server: the parameters that it accepts, and how many requests at once.


SHRINK = 0.7  # the limit of simultaneous requests is multiplied by this when the server asks for fewer
# Parameters that some servers refuse, and what is sent instead.
REPLACED: Mapping[str, str | None] = {"temperature": None, "seed": None, "max_tokens": "max_completion_tokens"}


class Sampling:
    """The parameters of requests. Parameters that the server does not know are dropped or renamed, each once."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.wanted = dict(parameters)
        self.sent = dict(parameters)
        self.dropped: list[str] = []
        self.lock = threading.Lock()

    def drop(self, said: str, sent: Mapping[str, Any]) -> str | None:
        """Drop the parameter of a refused request that the server names, and return its name, or None."""
        for name, other in REPLACED.items():
            if name in sent and re.search(rf"\b{name}\b", said):
                with self.lock:
                    if name in self.sent:  # replaced at once, since other threads read it
                        more = {other: self.sent[name]} if other else {}
                        # a value that the user has set under the other name counts
                        self.sent = {**more, **{key: value for key, value in self.sent.items() if key != name}}
                        self.dropped.append(name)
                        say(f"The server refuses {name}: {f'{other} is sent instead' if other else 'it is left out'}.")
                return name
        return None


class RequestGate:
    """Limits the number of simultaneous requests: fewer when the server asks for fewer, then slowly more again."""

    def __init__(self, most: int, clock: Clock) -> None:
        self.most, self.limit, self.clock = most, float(most), clock
        self.inside = self.round = 0
        self.open_at = 0.0
        self.is_stopped = False
        self.changed = threading.Condition()

    def enter(self) -> int:
        """Wait for a place and return the current round; raise `Interrupted` if no more requests may be sent."""
        while True:
            with self.changed:
                while self.inside >= int(self.limit) and not self.is_stopped:
                    self.changed.wait()
                if self.is_stopped:
                    raise Interrupted
                pause = self.open_at - self.clock.now()
                if pause <= 0:
                    self.inside += 1
                    return self.round
            self.clock.wait(pause)

    def leave(self, round_entered: int, *, is_crowded: bool, is_good: bool, pause: float = 0.0) -> None:
        """Free the place. If several requests of one round are refused, the limit becomes smaller only once."""
        with self.changed:
            self.inside -= 1
            if is_crowded:
                self.open_at = max(self.open_at, self.clock.now() + pause)
                if round_entered == self.round:
                    self.limit, self.round = max(1.0, self.limit * SHRINK), self.round + 1
            elif is_good:
                self.limit = min(float(self.most), self.limit + 1 / self.limit)
            self.changed.notify_all()

    def stop(self) -> None:
        with self.changed:
            self.is_stopped = True
            self.changed.notify_all()
        self.clock.stopped.set()


# A run: several threads ask the questions, repeat failures and count the replies.


IN_A_ROW = 20  # failed requests after which the script stops
BEAT = 1.0  # seconds between two lines of progress on a terminal
PARTS = 20  # lines of progress elsewhere, such as in a log
MILLION = 1_000_000
CROWDED, PASSING = (429, 503), (408, 409, 425)


class ModelRequest(NamedTuple):
    question: AskedQuestion
    variant: int
    epoch: int


class Tally:
    """The counts so far, for the lines of progress."""

    def __init__(self, total: int, *, prices: tuple[float, float] | None) -> None:
        self.total, self.prices = total, prices
        self.states: Counter[str] = Counter()
        self.tokens = [0, 0]
        self.asked = self.failed_in_a_row = 0
        self.began = time.monotonic()
        self.lock = threading.Lock()

    def add_usage(self, usage: Mapping[str, Any] | None) -> None:
        with self.lock:
            for at, count in enumerate(tokens_in(usage)):
                self.tokens[at] += count or 0

    def add(self, state: str, *, is_new: bool) -> None:
        with self.lock:
            self.states[state] += 1
            self.asked += is_new
            if is_new:  # replies from the disk say nothing about the server
                self.failed_in_a_row = self.failed_in_a_row + 1 if state == FAILED else 0

    def line(self) -> str:
        """Return the progress as one line."""
        done = sum(self.states.values())
        parts = [f"{done:,}/{self.total:,}", *(f"{state} {self.states[state]:,}" for state in STATES)]
        parts.append(f"tokens {self.tokens[0]:,} in, {self.tokens[1]:,} out")
        if self.prices is not None:
            parts.append(f"cost {self.cost():.4f} US dollars")
        if self.asked and done < self.total:
            parts.append(f"time left {duration((self.total - done) * (time.monotonic() - self.began) / self.asked)}")
        return "  ".join(parts)

    def cost(self) -> float:
        return cost_of(self.tokens, self.prices or (0.0, 0.0))


def cost_of(tokens: Sequence[int], prices: tuple[float, float]) -> float:
    # Prices are in US dollars for a million tokens.
    return (tokens[0] * prices[0] + tokens[1] * prices[1]) / MILLION


def duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{seconds:.0f} s" if seconds < 90 else f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"


class QuestionRun:
    """Asks a model many questions, several at once, and stores each attempt."""

    def __init__(
        self, server: ModelServer, log: ReplyLog, pictures: PictureStore, *, gate: RequestGate, sampling: Sampling,
        tally: Tally, form: PlainForm, settings: argparse.Namespace,
    ) -> None:  # fmt: skip
        self.server, self.log, self.pictures, self.gate = server, log, pictures, gate
        self.sampling, self.tally, self.form, self.settings = sampling, tally, form, settings
        self.clock = gate.clock
        self.waiting: deque[ModelRequest] = deque()
        self.outcomes: dict[tuple[int, int, int], Kept] = {}
        self.trouble: BaseException | None = None
        self.working, self.lock, self.ended = 0, threading.Lock(), threading.Event()

    def run(self, requests: Iterable[ModelRequest]) -> bool:
        """Ask everything that has no reply yet; return False if the user stopped it."""
        self.waiting.extend(requests)
        count = min(self.settings.concurrency, max(1, len(self.waiting)))
        self.working = count
        for _ in range(count):
            threading.Thread(target=self._work, daemon=True).start()
        is_complete = self._watch()
        if self.trouble is not None:
            raise self.trouble
        return is_complete

    def _watch(self) -> bool:
        """Wait for the threads, and show the progress; after Ctrl-C, wait only for the requests that were sent."""
        try:
            self._wait()
        except KeyboardInterrupt:
            self.gate.stop()
            say("\nStopping after the replies to the requests that were sent. Press Ctrl-C again to stop at once.")
            try:
                self._wait()
            except KeyboardInterrupt:
                say("")
            return False
        return True

    def _wait(self) -> None:
        # Not with `Thread.join`, which takes a running thread for a dead one after Ctrl-C.
        shown, is_terminal = 0, sys.stderr.isatty()
        while not self.ended.wait(BEAT):
            part = PARTS * sum(self.tally.states.values()) // max(1, self.tally.total)
            if is_terminal:
                sys.stderr.write(f"\r\x1b[K{self.tally.line()}")
                sys.stderr.flush()
            elif part != shown:
                shown = part
                say(self.tally.line())
        say(f"\r\x1b[K{self.tally.line()}" if is_terminal else self.tally.line())

    def _work(self) -> None:
        try:
            while not self.gate.is_stopped:
                try:
                    request = self.waiting.popleft()
                except IndexError:
                    return
                self._settle(request)
        except Interrupted:
            return
        except BaseException as error:  # the main thread raises it again
            self.trouble = self.trouble or error
            self.gate.stop()
        finally:
            self.server.leave()
            with self.lock:
                self.working -= 1
                if not self.working:
                    self.ended.set()

    def _settle(self, request: ModelRequest) -> None:
        """Get the reply to a request, from the disk or from the server."""
        key = self.key_of(request)
        kept = self.log.done.get((request.question.number, key))
        is_new = kept is None
        if kept is None:
            found = self._ask(request, key)
            kept = Kept(found.state, found.reply and SECRETS.text(found.reply))  # as it is stored
        self.outcomes[request.question.number, request.variant, request.epoch] = kept
        self.tally.add(kept.state, is_new=is_new)
        if self.tally.failed_in_a_row >= max(IN_A_ROW, 2 * self.settings.concurrency):
            raise Unreachable(
                f"Expected replies from {self.server.address}, got {self.tally.failed_in_a_row} failures in a row, the "
                f"last one: {printable(found.error)}. Continue later with --resume."
            )

    def prompt_of(self, request: ModelRequest) -> str:
        return self.form.variants(request.question)[request.variant].prompt

    def key_of(self, request: ModelRequest) -> str:
        # A request with the same key as an earlier one is not sent again.
        picture = [self.pictures.sum_of(request.question), str(self.pictures.scale or 1)]
        prompt = self.prompt_of(request)
        return sha256(as_json([self.settings.model, prompt, picture, self.sampling.wanted, request.epoch]))

    def _ask(self, request: ModelRequest, key: str) -> ModelReply:
        """Ask until there is a reply that is not a failure, or the retries are used up."""
        attempt = failures = 0
        while True:
            attempt += 1
            sent = dict(self.sampling.sent)
            body = self.body_of(request, sent)
            entered, began = self.gate.enter(), self.clock.now()
            found = ModelReply(FAILED, error="not sent")
            pause = min(LONGEST_BACKOFF, PAUSE * 2**failures) * random.uniform(0.5, 1)  # noqa: S311 - only a pause
            try:
                found = self.server.ask(body, now=self.clock.date)
                if found.state == ANSWERED and not found.finish_reason and is_at_limit(found.usage, sent):
                    found = found._replace(state=CUT_OFF)
                latency = self.clock.now() - began
                pause = found.wait or pause
                self.log.add(self._record(request, found, key=key, attempt=attempt, body=body, latency=latency))
                self.tally.add_usage(found.usage)
            finally:
                is_crowded = found.status in CROWDED
                self.gate.leave(entered, is_crowded=is_crowded, is_good=found.status == 200, pause=pause)
            if found.state != FAILED:
                return found
            if self._is_dropped(found, sent):
                continue
            self._check_passing(found, pause)
            failures += 1
            if failures > self.settings.retries:
                return found
            if not is_crowded:
                self.clock.wait(pause)

    def _is_dropped(self, found: ModelReply, sent: Mapping[str, Any]) -> bool:
        return found.status in (400, 422) and self.sampling.drop(found.error or "", sent) is not None

    def _check_passing(self, found: ModelReply, pause: float) -> None:
        """Raise `Refused` for a failure that a later attempt can't change."""
        status, said = found.status, printable(found.error, KEPT_ERROR)
        if status is not None and status != 200 and status < 500 and status not in (429, *PASSING):
            raise Refused(f"{self.server.address} refuses the request ({status}): {said}")
        if status == 429 and "insufficient_quota" in said:
            raise Refused(f"{self.server.address} refuses further requests ({status}): {said}")
        if found.wait is not None and pause > LONGEST_PAUSE:
            raise Refused(f"{self.server.address} asks to wait {duration(pause)}: continue later with --resume.")

    def body_of(self, request: ModelRequest, sent: Mapping[str, Any]) -> bytes:
        """Return the body of a request."""
        address = self.pictures.address_of(request.question)
        content: Any = self.prompt_of(request)
        if address is not None:
            picture = {"type": "image_url", "image_url": {"url": address}}
            content = [picture, {"type": "text", "text": content}]
        message = {"role": "user", "content": content}
        return as_json({"model": self.settings.model, "messages": [message], "stream": False, **sent})

    def _record(
        self, request: ModelRequest, found: ModelReply, *, key: str, attempt: int, body: bytes, latency: float
    ) -> dict[str, Any]:
        """Return the line of an attempt."""
        seconds, thousandths = divmod(time.time_ns() // 10**6, 1000)
        return {
            "time": time.strftime(f"%Y-%m-%dT%H:%M:%S.{thousandths:03}Z", time.gmtime(seconds)),
            "split": self.settings.split,
            "question": request.question.number,
            "form": self.settings.form,
            "variant": request.variant,
            "epoch": request.epoch,
            "attempt": attempt,
            "key": key,
            "request": sha256(body),
            "picture": self.pictures.sum_of(request.question),
            "scale": None if self.pictures.scale is None else str(self.pictures.scale),
            "model": self.settings.model,
            "dropped": list(self.sampling.dropped),
            "latency": round(latency, 3),
            **{name: value for name, value in found._asdict().items() if name != "wait"},
        }


# The site: its API and downloads, and a split with its questions, pictures and submissions.


API = "/api/v1/"
TRIES = 8  # of one request to the site
POLL = (1.0, 5.0)  # seconds between two checks of a submission: at first, and at most
LARGEST_ANSWER = 64 << 20  # bytes of an answer of the site that is no download
UNSCORED = ("failed", "cancelled")  # states of a submission
ENDED = ("done", *UNSCORED)
ANSWERS = "answers.jsonl"
NO_ANSWERS = "Expected the right results of the steps of"


class UploadFile(NamedTuple):
    name: str
    content: bytes


class SameSite(urllib.request.HTTPRedirectHandler):
    # The token is for the site that was named.
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        raise Refused(f"Expected the site's own address, got one that leads to {printable(newurl)}: use this address.")


class Site:
    """A site, which is asked with the token of an account."""

    def __init__(self, address: str, token: str, clock: Clock) -> None:
        parts = parts_of_address(address)
        if parts is None:
            got = "one with a password" if "@" in address else repr(address)
            raise Refused(f"Expected the site's address, such as https://example.org, got {got}.")
        self.address, self.clock = f"{parts.scheme}://{parts.netloc}", clock
        self.headers = {"Accept": "application/json", "User-Agent": "horsesense-ask"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        self.opener = urllib.request.build_opener(SameSite, TimedHTTP, TimedHTTPS)

    def ask(self, path: str) -> Any:
        return self._again(lambda: self._opened(path, {}), json_of)

    def download(self, path: str, target: Path) -> Path:
        """Download a file from an address, completely or not at all; an interrupted download continues."""
        draft, etag = target.with_name(f"{target.name}.part"), ""
        target.parent.mkdir(parents=True, exist_ok=True)
        draft.unlink(missing_ok=True)

        def opened() -> Any:
            size = draft.stat().st_size if etag and draft.exists() else 0
            return self._opened(path, {"Range": f"bytes={size}-", "If-Range": etag} if size else {})

        def write(answer: Any) -> None:
            nonlocal etag
            etag = answer.headers.get("ETag", "")
            wanted, got = answer.headers.get("Content-Length"), 0
            with draft.open("ab" if answer.status == 206 else "wb") as file:
                while piece := answer.read(PIECE):
                    got += file.write(piece)
                    answer.deadline.renew()  # a large file takes long, but each piece must come in time
            if wanted is not None and int(wanted) != got:
                raise http.client.IncompleteRead(b"", int(wanted) - got)

        self._again(opened, write)
        draft.replace(target)
        return target

    def send(self, path: str, fields: Mapping[str, str], files: Mapping[str, UploadFile], *, key: str = "") -> Any:
        """Upload files and the fields of a form. Uploads with the same key count once."""
        boundary = uuid.uuid4().hex
        body = bytearray()
        for name, value in fields.items():
            body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, file in files.items():
            about = f'form-data; name="{name}"; filename="{file.name}"\r\nContent-Type: application/octet-stream'
            body += f"--{boundary}\r\nContent-Disposition: {about}\r\n\r\n".encode() + file.content + b"\r\n"
        body += f"--{boundary}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        if key:
            headers["Idempotency-Key"] = key
        return self._again(lambda: self._opened(path, headers, bytes(body)), json_of)

    def _opened(self, path: str, headers: Mapping[str, str], body: bytes | None = None) -> Any:
        address = urllib.parse.urljoin(self.address, path)
        if urllib.parse.urlsplit(address)[:2] != urllib.parse.urlsplit(self.address)[:2]:
            raise Refused(f"Expected an address of {self.address}, got {printable(address)}.")
        request = urllib.request.Request(address, body, {**self.headers, **headers})  # noqa: S310 - http alone
        return self.opener.open(request, timeout=SITE_TIMEOUT)

    def _again(self, opened: Callable[[], Any], read: Callable[[Any], Any]) -> Any:
        """Return what `read` returns for a response; repeat a failed request after pauses that grow."""
        trouble = ""
        for number in range(TRIES):
            pause = min(LONGEST_BACKOFF, PAUSE * 2**number)
            try:
                with opened() as answer:
                    return read(answer)
            except urllib.error.HTTPError as error:
                trouble = message_of(error)
                pause = seconds_asked(error.headers, self.clock.date()) or pause
                if not (error.code == 429 or error.code >= 500) or pause > LONGEST_PAUSE:
                    raise Refused(f"{self.address} says: {trouble}", error.code) from error
            except (OSError, http.client.HTTPException, ValueError, zlib.error) as error:
                trouble = printable(getattr(error, "reason", error)) or type(error).__name__
            if number + 1 < TRIES:
                say(f"No answer from the site yet ({trouble}). The next try is in {pause:g} s.")
                self.clock.wait(pause)
        raise Unreachable(f"Expected an answer from {self.address}, got none after {TRIES} tries: {trouble}")


def json_of(answer: Any) -> Any:
    """Return the JSON value in an answer of the site."""
    content = answer.read(LARGEST_ANSWER + 1)
    if len(content) > LARGEST_ANSWER:
        raise ValueError(f"expected at most {LARGEST_ANSWER:,} bytes, got more")
    if answer.length:  # a read with a limit does not notice
        raise http.client.IncompleteRead(content, answer.length)
    return json.loads(content)


def message_of(error: urllib.error.HTTPError) -> str:
    try:
        said = json.loads(error.read(LARGEST_ERROR))["error"]["message"]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        said = error.reason
    return f"{printable(said, KEPT_ERROR)} ({error.code})"


class SiteSplit:
    """A split of a site."""

    def __init__(self, site: Site, name: str) -> None:
        self.site, self.name, self.path = site, name, split_path(name)
        self.about = site.ask(self.path)
        if not isinstance(self.about, dict) or not {"answers", "fingerprint", "questions_file"} <= self.about.keys():
            raise Refused(f"Expected a split of a Horsesense site at {site.address}{self.path}, got something else.")
        self.fingerprint: str = self.about["fingerprint"]
        self.answers: list[str] = self.about["answers"]

    def questions(self, folder: Path) -> list[AskedQuestion]:
        path = self.site.download(self.about["questions_file"], folder / "questions.jsonl.gz")
        return questions_in(lines_of(path, "questions"))

    def with_steps(self, questions: Sequence[AskedQuestion], folder: Path) -> list[AskedQuestion]:
        """Return the questions with the steps of their programs; raise `Refused` if the site does not send them."""
        address = self.about.get("steps_file")
        if address is None and self.about.get("withheld"):
            raise Refused(f"{NO_ANSWERS} {self.name}, got none because the answers are withheld: use another --form.")
        if address is None:
            raise Refused(
                f"{NO_ANSWERS} {self.name}, got none because the site does not send them: use another --form."
            )
        return with_steps(questions, lines_of(self.site.download(address, folder / "steps.jsonl.gz"), "steps"))

    def pictures(
        self, questions: Sequence[AskedQuestion], chosen: Sequence[AskedQuestion], folder: Path
    ) -> Callable[[AskedQuestion], bytes]:
        """Return a function that reads a picture. All pictures are downloaded first, unless the questions need few."""
        wanted = {question.picture for question in chosen} - {None}
        every = {question.picture for question in questions} - {None}
        home = folder / f"pictures-{self.fingerprint[:12]}"
        if not wanted or 4 * len(wanted) < len(every):
            return SinglePictures(self.site, self.path, home).read
        archive = home / "images.tar"
        if not archive.exists():
            say(f"Downloading {len(every):,} pictures.")
            self.site.download(self.about["images_file"], archive)
        return PictureArchive(archive).read

    def check(self, fields: Mapping[str, str], answers: bytes) -> None:
        # Raises `Refused` if the answers could not be submitted.
        self.site.send(f"{API}submissions/", {**fields, "dry_run": "1"}, {"file": UploadFile(ANSWERS, answers)})

    def submit(self, fields: Mapping[str, str], answers: bytes, replies: Path | None) -> dict[str, Any]:
        """Submit the answers, and the replies if the site takes them; return the submission when it has ended."""
        for key in submission_keys(fields, answers):
            sent = self._sent(fields, answers, replies, key=key)
            address, pause = sent["url"], POLL[0]
            found = self.site.ask(address)
            if not sent.get("is_repeat") or found["state"] not in UNSCORED:
                break
        page = urllib.parse.urljoin(self.site.address, found.get("page", address))
        say(f"Submission {printable(found['id'])}: {printable(page)}")
        while found["state"] not in ENDED:
            self.site.clock.wait(pause)
            pause = min(1.5 * pause, POLL[1])
            found = self.site.ask(address)
        return dict(found)

    def _sent(self, fields: Mapping[str, str], answers: bytes, replies: Path | None, *, key: str) -> Any:
        path, files = f"{API}submissions/", {"file": UploadFile(ANSWERS, answers)}
        if replies is None:
            return self.site.send(path, fields, files, key=key)
        more = {"replies": UploadFile("replies.jsonl.gz", replies.read_bytes())}
        try:
            return self.site.send(path, fields, {**files, **more}, key=key)
        except Refused as refusal:
            said = str(refusal)
            if refusal.status == 413:
                raise Refused(f"{said} --no-replies submits the answers without the replies.") from refusal
            if refusal.status != 422 or "Expected the fields" not in said or "'replies'" not in said:
                raise
        say("The site does not take replies: the answers are submitted without them.")
        return self.site.send(path, fields, files, key=key)


def submission_keys(fields: Mapping[str, str], answers: bytes) -> Iterator[str]:
    """Yield the key of a submission, so that the same answers of the same run never count twice.

    Further keys follow, since an earlier submission that was refused is no reason to refuse these answers again.
    """
    key = sha256(as_json(sorted(fields.items())) + answers)
    yield key
    yield from (f"{key}-{number}" for number in range(2, TRIES + 1))


def split_path(split: str) -> str:
    slug, slash, name = split.partition("/")
    if not slash or not slug or not name:
        raise Refused(f"Expected DATASET/SPLIT, got {split!r}.")
    quoted = [urllib.parse.quote(part, safe="") for part in (slug, name)]
    return f"{API}datasets/{quoted[0]}/splits/{quoted[1]}/"


class PictureArchive:
    """The pictures of a downloaded archive."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with tarfile.open(path) as tar:
                self.places = {entry.name: (entry.offset_data, entry.size) for entry in tar}
        except tarfile.TarError as error:
            raise Refused(
                f"Expected the pictures in {path}, got no tar archive ({error}): delete this file."
            ) from error

    def read(self, question: AskedQuestion) -> bytes:
        name = question.picture or ""
        if name not in self.places:
            raise Refused(f"Expected the picture of question {question.number}, got none named {printable(name)}.")
        start, size = self.places[name]
        with self.path.open("rb") as file:
            file.seek(start)
            return file.read(size)


class SinglePictures:
    """Pictures that are downloaded one by one."""

    def __init__(self, site: Site, path: str, folder: Path) -> None:
        self.site, self.path, self.folder = site, path, folder
        self.lock = threading.Lock()

    def read(self, question: AskedQuestion) -> bytes:
        """Return the picture of a question; download it first if necessary."""
        with self.lock:
            target = self.folder / f"{question.number}.image"
            if not target.exists():
                address = self.site.ask(f"{self.path}questions/{question.number}/").get("image")
                if not address:
                    raise Refused(f"Expected the picture of question {question.number}, got none.")
                self.site.download(address, target)
            return target.read_bytes()


# Results: the answers of a run, the report on them, and what is submitted.


TOO_MANY = "(too many steps)"


class Result(NamedTuple):
    """The answer to a question, or None with the state that prevents it.

    `unread` has replies without an answer, and `steps` the score of the steps if they were asked for.
    """

    question: AskedQuestion
    state: str
    answer: str | None
    unread: list[str]
    steps: StepScore | None = None


def results_of(
    run: QuestionRun, questions: Sequence[AskedQuestion], reader: AnswerReader, *, epoch: int = 0
) -> list[Result]:
    """Return the results of all questions. Only replies whose state is `answered` are read."""
    results, form = [], run.form
    for question in questions:
        answers: list[str | None] = []
        states, unread = [], []
        for number, variant in enumerate(form.variants(question)):
            kept = run.outcomes[question.number, number, epoch]
            states.append(kept.state)
            is_answered = kept.state == ANSWERED and kept.reply is not None
            answer = form.read(reader, kept.reply or "", question=question, variant=variant) if is_answered else None
            answers.append(answer)
            if is_answered and answer is None:
                unread.append(kept.reply or "")
        state = next((state for state in states if state != ANSWERED), ANSWERED)
        said = (kept.reply or "") if state == ANSWERED else ""
        steps = score_steps(said, question.steps) if form.has_steps else None
        answer = form.combine(answers) if None not in answers else None
        results.append(Result(question, state, answer, unread, steps))
    return results


def write_results(folder: Path, results: Sequence[Result]) -> bytes:
    """Write `answers.jsonl`, `unread.jsonl` and `steps.jsonl`, and return the content of the first."""
    rows = [{"question_id": one.question.number, "answer": one.answer, "state": one.state} for one in results]
    unread = [{"question_id": one.question.number, "reply": reply} for one in results for reply in one.unread]
    steps = [steps_row(one, one.steps) for one in results if one.steps is not None]
    answers = b"".join(as_json(row) + b"\n" for row in rows)
    replace(folder / ANSWERS, [answers])
    replace(folder / "unread.jsonl", (as_json(SECRETS.value(row)) + b"\n" for row in unread))
    if steps:
        replace(folder / "steps.jsonl", (as_json(row) + b"\n" for row in steps))
    return answers


def replace(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file completely or not at all."""
    draft = path.with_name(f"{path.name}.part")
    with draft.open("wb") as file:
        for piece in pieces:
            file.write(piece)
    draft.replace(path)


def steps_row(one: Result, score: StepScore) -> dict[str, Any]:
    """Return the line of `steps.jsonl`. Without a complete reply, no step is right."""
    named = zip((step.function for step in one.question.steps), score.right)  # noqa: B905 - Python 3.9
    return {
        "question_id": one.question.number,
        "state": one.state,
        "steps": [{"step": function, "right": is_right} for function, is_right in named],
        "accuracy": round(score.accuracy, 6),
        "first_wrong": score.first_wrong,
        "problem": score.problem if one.state == ANSWERED else one.state,
    }


def report(results: Sequence[Result], again: Sequence[Result]) -> Iterator[str]:
    """Yield the report on the results, as lines of text."""
    states = Counter(one.state for one in results)
    yield f"questions {len(results):,}: " + ", ".join(f"{state} {states[state]:,}" for state in STATES)
    unread = [(one.question.number, reply) for one in results for reply in one.unread]
    yield f"replies without a readable answer: {len(unread):,}"
    for number, reply in unread[:10]:
        yield f"  question {number}: {printable(reply)}"
    if len(unread) > 10:
        yield "  all of them are in unread.jsonl"
    known = [one for one in results if one.question.answer is not None]
    if known:
        right = sum(one.answer == one.question.answer for one in known)
        yield f"right: {right:,} of {len(known):,} ({100 * right / len(known):.1f} %)"
    yield from report_steps([one for one in results if one.steps is not None])
    if again:
        first = {one.question.number: one.answer for one in results}
        pairs = [(first[one.question.number], one.answer) for one in again]
        both = [pair for pair in pairs if None not in pair]
        same = sum(one == other for one, other in both)
        yield f"asked twice: {len(again):,} questions, {len(both):,} with two answers, of which {same:,} agree"


def report_steps(results: Sequence[Result]) -> Iterator[str]:
    """Yield the report on the steps, for all of them and for each function, as lines of text."""
    right, every, first = Counter[str](), Counter[str](), Counter[str]()
    answered, complete = [0, 0], 0
    for one in results:
        score = one.steps or StepScore((), 0.0, None, "")
        functions = [printable(step.function) for step in one.question.steps]
        every.update(functions)
        right.update(name for name, is_right in zip(functions, score.right) if is_right)  # noqa: B905 - Python 3.9
        complete += score.first_wrong is None
        if score.first_wrong is not None and one.state == ANSWERED:
            first[functions[score.first_wrong] if score.first_wrong < len(functions) else TOO_MANY] += 1
        if one.state == ANSWERED:
            answered = [answered[0] + sum(score.right), answered[1] + len(functions)]
    if not results:
        return
    yield f"steps right: {share(sum(right.values()), sum(every.values()))}; in complete replies: {share(*answered)}"
    yield f"questions with all steps right: {share(complete, len(results))}"
    problems = sum(bool(one.steps and one.steps.problem) for one in results if one.state == ANSWERED)
    yield f"complete replies whose steps do not have the requested form: {problems:,}"
    width = max(map(len, [*every, *first]))
    yield f"  {'step':{width}}  right, and how often it is the first wrong step of a complete reply"
    for name in sorted({*every, *first} - {TOO_MANY}) + [TOO_MANY] * (TOO_MANY in first):
        shown = share(right[name], every[name]) if name in every else "-"
        yield f"  {name:{width}}  {shown}, first wrong {first[name]:,}"


def share(right: int, every: int) -> str:
    return f"{right:,} of {every:,}" + (f" ({100 * right / every:.1f} %)" if every else "")


def packed_replies(log: Path, run: QuestionRun, requests: Sequence[ModelRequest]) -> Path:
    """Write the last attempt of each request, with its cost, into a gzip file beside the log, and return its path.

    A failed attempt counts only if there is no other one.
    """
    wanted = {(request.question.number, run.key_of(request)): request for request in requests}
    places: dict[tuple[int, str], tuple[bool, int]] = {}
    with log.open("rb") as file:
        at = 0
        for line in file:
            row = json.loads(line)
            name, is_reply = (row["question"], row["key"]), row["state"] != FAILED
            if name in wanted and (is_reply or not places.get(name, (False, 0))[0]):
                places[name] = (is_reply, at)
            at += len(line)
        target = log.with_name("sent-replies.jsonl.gz")
        draft = target.with_name(f"{target.name}.part")
        with draft.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
            for name, request in wanted.items():
                if name in places:
                    file.seek(places[name][1])
                    packed.write(as_json(sent_record(json.loads(file.readline()), request, run)) + b"\n")
    draft.replace(target)
    return target


def sent_record(record: dict[str, Any], request: ModelRequest, run: QuestionRun) -> dict[str, Any]:
    """Return a stored record as the site reads it: only with valid values, and with the cost if it is known.

    Its form and variant are those of this run, because another form may have sent the same prompt.
    """
    usage, reasoning, prices = record.get("usage"), record.get("reasoning"), run.tally.prices
    tokens = tokens_in(usage if isinstance(usage, dict) else None)
    record["usage"] = {name: count for name, count in zip(TOKENS, tokens) if count is not None}  # noqa: B905
    if isinstance(reasoning, dict):
        texts = {name: one if isinstance(one, str) else as_json(one).decode() for name, one in reasoning.items()}
        record["reasoning"] = texts
    for name in ("finish_reason", "served_model"):
        record[name] = (record.get(name) or "")[:SHOWN] or None
    record.update(form=run.settings.form, variant=request.variant, epoch=request.epoch)
    known = [count for count in tokens if count is not None]
    if prices is not None and len(known) == len(tokens):
        record["cost"] = round(cost_of(known, prices), 9)
    return record


def report_submission(found: Mapping[str, Any]) -> int:
    """Print the result of a submission and return the exit status."""
    if found["state"] != "done":
        said = printable(found.get("message", ""), KEPT_ERROR)
        tell(f"Submission {printable(found['id'])} {printable(found['state'])}: {said}")
        return 2
    for score in found.get("scores") or ():
        figure = score.get("accuracy")
        told = "" if figure is None else f", accuracy {100 * figure:.1f} %"
        tell(f"{printable(score['split'])}: n = {score['n']:,}{told}")
    return 0


def fields_of(options: argparse.Namespace, fingerprint: str, note: str = "") -> dict[str, str]:
    fields = {"split": options.split, "method": options.method or options.model, "run": options.run}
    return {name: value for name, value in {**fields, "fingerprint": fingerprint, "note": note}.items() if value}


def note_of(options: argparse.Namespace, sampling: Sampling, results: Sequence[Result]) -> str:
    """Return how the questions were asked, for the readers of the board."""
    states = Counter(one.state for one in results)
    said = [f"{state} {states[state]:,}" for state in STATES if states[state]]
    said += [f"{name} {value}" for name, value in sampling.sent.items() if isinstance(value, (int, float))]
    scale = [] if options.scale is None else [f"pictures scaled by {options.scale}"]
    return f"ask.py, form {options.form}: {', '.join([*said, *scale])}"[:500]


# The command: its arguments, and the way from the first check to the exit status.


PROGRAM = "ask.py"
A_DAY = 86_400.0


def not_negative(text: str, least: int = 0) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) >= least):
        raise argparse.ArgumentTypeError(f"expected a whole number of at least {least}, got {text!r}")
    return int(text)


def positive(text: str) -> int:
    return not_negative(text, 1)


def amount(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number of at least 0, got {text!r}")
    return found


def time_limit(text: str) -> float:
    found = amount(text)
    if not 0 < found <= A_DAY:
        raise argparse.ArgumentTypeError(f"expected seconds above 0 and at most {A_DAY:g}, got {text!r}")
    return found


def factor(text: str) -> Fraction:
    try:
        found = Fraction(text)
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not 0 < found <= 16:
        raise argparse.ArgumentTypeError(f"expected a factor above 0 and at most 16, such as 2 or 1/2, got {text!r}")
    return found


def more_parameters(text: str) -> dict[str, Any]:
    found = loaded(text)
    if not isinstance(found, dict) or {"model", "messages", "stream", "n"} & found.keys():
        raise argparse.ArgumentTypeError(
            'expected a JSON object such as {"top_p": 0.9}, without model, messages, stream, n'
        )
    return found


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog=program, description="Ask a model the questions of a Horsesense site.")
    found.add_argument("site", metavar="SITE", help="address of the site, such as https://horsesense.example.org")
    add_options(found)
    return found


def add_options(found: argparse.ArgumentParser) -> None:
    """Add all arguments except the address of the site, which `manage.py ask` does not need."""
    found.add_argument("split", metavar="DATASET/SPLIT")
    found.add_argument(
        "--base-url", required=True, metavar="URL", help="address of the model's server; often ends with /v1"
    )
    found.add_argument("--model", required=True, metavar="NAME", help="name of the model on its server")
    found.add_argument(
        "--key-from",
        default="MODEL_API_KEY",
        metavar="VARIABLE",
        help="variable with the server's key; default: %(default)s",
    )
    found.add_argument("--form", choices=tuple(FORMS), default="plain", help="how to ask; default: %(default)s")
    found.add_argument("--sample", type=positive, metavar="N", help="ask only N of the questions")
    found.add_argument(
        "--again", type=positive, default=0, metavar="N", help="ask N of them twice, and compare the answers"
    )
    found.add_argument("--folder", type=Path, metavar="FOLDER", help="folder of all files; default: DATASET-SPLIT")
    found.add_argument("--resume", action="store_true", help="keep the replies in the folder, and ask what is missing")
    found.add_argument("--scale", type=factor, metavar="FACTOR", help="scale pictures, to the nearest pixel")
    sampling = found.add_argument_group("sampling")
    sampling.add_argument("--temperature", type=amount, default=0.0, metavar="T", help="default: %(default)g")
    sampling.add_argument(
        "--max-tokens", type=positive, default=4096, metavar="N", help="limit of a reply; default: %(default)s"
    )
    sampling.add_argument("--seed", type=int, metavar="N", help="sent to the server; default: none")
    sampling.add_argument("--more", type=more_parameters, default={}, metavar="JSON", help="more parameters to send")
    sending = found.add_argument_group("sending")
    sending.add_argument(
        "--concurrency", type=positive, default=8, metavar="N", help="requests at once; default: %(default)s"
    )
    sending.add_argument(
        "--retries", type=not_negative, default=5, metavar="N", help="tries after a failed one; default: %(default)s"
    )
    sending.add_argument(
        "--timeout",
        type=time_limit,
        default=600.0,
        metavar="SECONDS",
        help="limit of a whole exchange with the model's server; default: %(default)g",
    )
    sending.add_argument("--price-in", type=amount, metavar="DOLLARS", help="price of a million tokens of requests")
    sending.add_argument("--price-out", type=amount, metavar="DOLLARS", help="price of a million tokens of replies")
    board = found.add_argument_group("leaderboard")
    board.add_argument("--submit", action="store_true", help="submit the answers with the replies; wait for the score")
    board.add_argument("--no-replies", action="store_false", dest="replies", help="submit the answers alone")
    board.add_argument(
        "--method", metavar="NAME", help="name or number of the method on the site; default: the model's name"
    )
    board.add_argument("--run", metavar="NAME", help="seed or name of the run, if there are several runs")


def key_in(variable: str) -> str:
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise Refused(f"Expected a key of ASCII characters without spaces in the variable {variable}, got others.")
    SECRETS.hide(key)
    return key


def sampling_of(options: argparse.Namespace) -> Sampling:
    own = {"temperature": options.temperature, "max_tokens": options.max_tokens, "seed": options.seed}
    return Sampling({**{name: value for name, value in own.items() if value is not None}, **options.more})


def prices_of(options: argparse.Namespace) -> tuple[float, float] | None:
    if options.price_in is None and options.price_out is None:
        return None
    return options.price_in or 0.0, options.price_out or 0.0


def folder_of(options: argparse.Namespace) -> Path:
    """Return the folder of all files; raise `Refused` if it has replies and --resume is not given."""
    folder: Path = options.folder or Path(options.split.replace("/", "-"))
    if (folder / "replies.jsonl").exists() and not options.resume:
        raise Refused(f"Expected no replies in {folder}, got some: keep them with --resume, or use another --folder.")
    return folder


def requests_of(chosen: Sequence[AskedQuestion], form: PlainForm, again: Sequence[AskedQuestion]) -> list[ModelRequest]:
    return [
        ModelRequest(question, variant, epoch)
        for epoch, some in enumerate((chosen, again))
        for question in some
        for variant in range(len(form.variants(question)))
    ]


def check_submission(split: QuestionSource, options: argparse.Namespace, questions: Sequence[AskedQuestion]) -> None:
    """Raise `Refused` if the answers could not be submitted, before a model is paid for them."""
    if options.sample is not None and options.sample < len(questions):
        raise Refused(
            f"Expected all {len(questions):,} questions to submit, got a sample of {options.sample:,}: make a question "
            "set of the questions that you want, ask its questions, and submit the answers to it."
        )
    # Any answers will do, but not null: a board may refuse a submission with few answers.
    answers = ((question.number, (question.choices or split.answers)[0]) for question in questions)
    rows = b"".join(as_json({"question_id": number, "answer": answer}) + b"\n" for number, answer in answers)
    split.check(fields_of(options, split.fingerprint), rows)


def open_site(options: argparse.Namespace, clock: Clock) -> SiteSplit:
    return SiteSplit(Site(options.site, key_in("HORSESENSE_TOKEN"), clock), options.split)


def ask(
    options: argparse.Namespace,
    clock: Clock,
    *,
    opened: Callable[[argparse.Namespace, Clock], QuestionSource] = open_site,
) -> int:
    """Ask the questions, write the results, and return the exit status; raise `KeyboardInterrupt` after Ctrl-C.

    `opened` returns the split. It is called after the checks of the options that do not need the split.
    """
    server = ModelServer(
        options.base_url, key_in(options.key_from), timeout=options.timeout, concurrency=options.concurrency
    )
    split_path(options.split)
    folder, form = folder_of(options), FORMS[options.form]
    split = opened(options, clock)
    folder.mkdir(parents=True, exist_ok=True)
    questions = split.questions(folder)
    if form.has_steps:
        questions = split.with_steps(questions, folder)
    reader = AnswerReader(split.answers, (question.choices for question in questions))
    if options.submit:
        check_submission(split, options, questions)
    chosen = chosen_of(questions, options.sample, split.fingerprint)
    again = chosen_of(chosen, options.again, f"again {split.fingerprint}")
    requests = requests_of(chosen, form, again)
    pictures = PictureStore(split.pictures(questions, chosen, folder), scale=options.scale)
    log = ReplyLog(folder / "replies.jsonl")
    run = QuestionRun(
        server, log, pictures, gate=RequestGate(options.concurrency, clock), sampling=sampling_of(options),
        tally=Tally(len(requests), prices=prices_of(options)), form=form, settings=options,
    )  # fmt: skip
    say(f"{len(requests):,} requests for {len(chosen):,} questions, to {server.address}")
    try:
        if not run.run(requests):
            raise KeyboardInterrupt
    finally:
        log.close()
    results, twice = results_of(run, chosen, reader), results_of(run, again, reader, epoch=1)
    answers = write_results(folder, results)
    for line in report(results, twice):
        tell(line)
    if options.submit:
        replies = packed_replies(folder / "replies.jsonl", run, requests) if options.replies else None
        fields = fields_of(options, split.fingerprint, note_of(options, run.sampling, results))
        return report_submission(split.submit(fields, answers, replies))
    return 1 if any(one.state == FAILED for one in results) else 0


def main(arguments: list[str], clock: Clock | None = None, *, program: str = PROGRAM) -> int:
    """Return the exit status of a call."""
    options = parser(program).parse_args(arguments)
    try:
        return ask(options, clock or Clock())
    except Refused as refusal:
        say(str(refusal))
        return 2
    except KeyboardInterrupt:
        say("Interrupted. Continue with --resume.")
        return 130
    except OSError as error:
        say(trouble_of(error))
        return 2
    except Unreachable as error:
        say(str(error))
        return 1


def trouble_of(error: OSError) -> str:
    return f"Expected to read and write {error.filename or 'files'}, got: {printable(error)}"


def accept_all_characters() -> None:
    # A terminal that lacks some characters must not stop the program.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


if __name__ == "__main__":
    accept_all_characters()
    sys.exit(main(sys.argv[1:]))
