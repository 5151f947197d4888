#!/usr/bin/env python3
# Built from the modules of generation/asking: change them, not this file, and run `make static/ask.py`.
"""Ask a model the questions of a Horsesense site. This is one file; it needs only Python 3.9 or later.

    export MODEL_API_KEY=...        if the model's server needs a key
    export HORSESENSE_TOKEN=hs_...  to submit, and for datasets that are not public
    python ask.py https://horsesense.example.org clevr/val --base-url http://127.0.0.1:8080/v1 --model NAME

The model's server must have OpenAI's interface of chat completions or of responses. Each attempt becomes a line of
`replies.jsonl` before the next question is asked, so `--resume` asks only what is missing. A reply that is cut off,
refused, empty or failed never becomes an answer. Exit status: 0 everything asked, 1 failed, 2 refused, 130 interrupted.
"""

from __future__ import annotations

import argparse
import base64
import email.utils
import gzip
import hashlib
import heapq
import html
import http.client
import io
import ipaddress
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
import unicodedata
import urllib.error
import urllib.parse
import urllib.request
import uuid
import zlib
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
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


# Characters of replies: other forms of letters, digits and quotation marks become the plain ones.


INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufe0e\ufe0f\u20e3\ufeff")
DIRECTIONS = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
QUOTES = {"‘": "'", "’": "'", "‚": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'}
BREAKS = frozenset("\r\x0b\x0c\x85\u2028\u2029")
FULL_WIDTH = range(0xFF01, 0xFF5F)
STOPS = {"。": ". ", "、": ", ", "，": ", ", "；": "; "}

SYMBOLS = re.compile(
    "[✗✘☒❌❎✖☐☑✓✔🚫👎👍❓⛔]|~~|</?(?:s|del|strike|unk)>|\\[[ xX]\\]\\s*\\w|(?:^|\\s)(?:!=?|~|≠)\\s?\\w|←|\\[MASK\\]"
)

CROSSED, DOUBTED = "⊗", "⊘"  # a cross and a sign of doubt after `with_crosses`; no answer has them
CROSSES = re.compile("[✗✘☒❌❎✖🚫👎⛔]")
DOUBTS = re.compile("[❓❔🤷🤔]")
STRUCK = re.compile(r"~~[^~\n]{1,200}~~|<(del|strike)>.{0,200}?</\1>", re.IGNORECASE | re.DOTALL)
NOT_SIGN = re.compile(r"(?:(?<=[\s:(])|^)(?:!=?|¬|≠|~(?=[^\W\d])) ?(?=\w)", re.MULTILINE)


class _Plain(dict[int, str]):
    """The plain form of each character, by its number, as `str.translate` needs it."""

    def __missing__(self, number: int) -> str:
        self[number] = found = _plain(chr(number))
        return found


def _plain(character: str) -> str:
    if character in INVISIBLE or character in DIRECTIONS:
        return ""
    if character in BREAKS:
        return "\n"
    if character in STOPS or character in QUOTES:
        return STOPS.get(character) or QUOTES[character]
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if ord(character) > 0x2000 and unicodedata.category(character) in ("So", "Sk"):
        return " "  # such as an emoji
    narrow = unicodedata.normalize("NFKC", character)
    is_letter = len(narrow) == 1 and unicodedata.category(character) in ("Ll", "Lu")
    return narrow if narrow.isascii() and (is_letter or ord(character) in FULL_WIDTH) else character


_PLAIN = _Plain()


def plain_characters(text: str) -> str:
    """Return a text with plain letters, digits, quotation marks and line breaks, and without invisible characters."""
    if "&" in text:
        text = html.unescape(text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isascii() else unicodedata.normalize("NFC", text.translate(_PLAIN))


def with_crosses(text: str) -> str:
    """Return a text without what is struck out, with plain signs.

    All crosses become one sign, and so do all signs of doubt such as `🤷`; `!`, `≠` and `~` before a word become `not`.
    """
    if not text.isascii():
        text = DOUBTS.sub(DOUBTED, CROSSES.sub(CROSSED, text))
    return NOT_SIGN.sub(" not ", STRUCK.sub(" ", text))


def has_crosses(text: str) -> bool:
    """Return whether a text has a cross or a sign of doubt: `red ❌`."""
    return CROSSES.search(text) is not None or DOUBTS.search(text) is not None


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text with single spaces."""
    return frozenset(text.split())


def has_symbols(text: str) -> bool:
    """Return whether a text ticks or crosses out what it lists: `apple ✓, fig ✗`, `~~apple~~`, `[x] apple`."""
    return SYMBOLS.search(text) is not None


# What a text asserts: its sentences, and which of them say something without a doubt.


DRESS = " \t\r\n….,:;!?¡¿→\"'*_`$()[]{}<>|#=~“”‘’"
DRESS_OF_NUMBERS = "".join(set(DRESS) - set(".<>$"))
SIGNED_NUMBER = re.compile(r"\$\d+[^$]*$|[-−.] ?(?=\d)|[<>≤≥]=? ?(?=\d)")
MACRO = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathit|bf|rm|displaystyle|boxed)\b\s?\{?|\\[()\[\],;! ]")
EMPHASIS = re.compile(r"[*`#~|]+|(?<![^\W_])_+|_+(?![^\W_])")
BULLET = re.compile(r"^(?:(?:[-•+–—→▶‣◦·]|>(?! ?\d)) +)*(?:\(?\d{1,3}[.)] +(?=\S))?")
SENTENCE_END = re.compile(r"(?<=\.\.\.)(?=\w)|(?<=[.!?;])[\"')\]]* +(?=\S)")
ABBREVIATION = re.compile(r"\b(e\.g|eg|ex|fig|nr|vs|approx|ca)\. ")
NUMBER_RANGE = re.compile(r"(?<=\d)[–—](?=\d)")
PARENTHESES = re.compile(r"\([^()]{0,400}\)|\[[^\[\]]{0,400}\]")

IMAGE = (
    r"(?:image|picture|photo|photograph|figure|screenshot|attachment|file|visual|scene|input|upload|story|passage|"
    r"context)s?"
)
REFUSAL = re.compile(
    "|".join(
        (
            # I can't see the image; I am unable to view pictures
            r"\b(?:can't|cannot|can not|couldn't|could not|unable to|not able to|don't|do not|didn't|did not|failed to|"
            r"won't be able to|no way to|without) (?:\w+ ){0,3}(?:see|seeing|view|access|open|load|read|process|"
            r"analy[sz]e|"
            r"display|retrieve|receive|find|have|look at|interpret|inspect|examine|make out|perceive|detect)"
            rf"(?: \w+){{0,3}}? {IMAGE}\b(?! (?:of|with|that|where|containing|showing))",
            r"\b(?:can't|cannot|can not|unable to|not able to|couldn't|could not|impossible to|hard to|difficult to|"
            r"not possible to|no way to) (?:\w+ ){0,2}(?:determine|tell|say|answer|identify|know|discern|assist|help|"
            r"judge|decide|count|give (?:you )?an?|state|commit|choose|verify|confirm|comply|provide|make out|see "
            r"clearly|distinguish)\b",
            # there is no attached image
            rf"\bno (?:[\w-]+ ){{0,2}}?{IMAGE}\b(?! (?:of|with|that|where|which|containing|showing|contains|shows)\b)",
            rf"\b(?:without|missing|lacks?|lacking) (?:an?|the|any|your) (?:\w+ )?{IMAGE}\b",
            rf"\b{IMAGE} (?:\w+ ){{0,2}}?(?:is|was|are|were|seems?|appears?|looks?|did|does|has|have|could|can|"
            rf"failed|isn't|"
            r"wasn't|didn't|doesn't|hasn't|couldn't|can't) (?:to be |to |been |\w+ly )?(?:not|n't|missing|too|"
            r"blurry|blurred|"
            r"unclear|unreadable|unavailable|dark|compressed|distorted|pixelated|noisy|cropped|overexposed|"
            r"corrupt\w*|broken|empty|blank|black|fail\w*|load|come|attached|provided|"
            r"uploaded|included|be)\b(?! (?:a|an|the|there|show|contain|match|depict|support)\b)",
            # please upload one
            r"\b(?:please|kindly|could you|can you|would you|you can|you could|you need to|you may|if you|once you|"
            r"when you|feel free to|try|make sure to) (?:\w+ ){0,3}?(?:upload\w*|attach\w*|shar(?:e|ing)|re-?upload\w*|"
            r"resend\w*|re-?attach\w*|send\w*|provid(?:e|ing)|past(?:e|ing)|supply|describe|clarif\w+|give|take|"
            r"use|wait|contact|try again|re-?submit\w*|"
            r"includ(?:e|ing))\b",
            rf"\b(?:send|sending|give|show|showing|provide|share|upload|attach|paste|need|want|require|await|"
            rf"waiting for|get)\b"
            rf"(?: (?:me|us|to|see|have|with|it|over|access)){{0,3}} (?:an?|the|your|that|this|another|actual|"
            rf"some) (?:\w+ )?{IMAGE}\b",
            # Error 7: ...; HTTP 429
            r"^\W*(?:\w+ ){0,2}(?:error|exception|traceback|warning|err)(?:\b|_)",
            r"\berror(?: code)?[ :#(]*\d|\b(?:http|status|code) ?\d{3}\b|\btraceback\b|\b\w+(?:error|exception):|"
            r"\b(?:rate limit\w*|too many requests|timed out|time-?out|service unavailable|bad gateway|internal "
            r"server|quota|"
            r"api key|payload|unauthori[sz]ed|forbidden|(?:access|permission) denied|overloaded|exceeded|bad request|"
            r"connection (?:reset|refused|lost|closed)|request (?:entity|failed)|invalid (?:request|image|input)|"
            r"content (?:policy|filter)|safety (?:policy|guidelines?|system))\b|^\W*[45]\d\d\b",
            # as an AI; I don't know; not enough information
            r"\bas an? (?:\w+ ){0,2}(?:ai|language model|assistant)\b",
            r"\bi (?:do not|don't|honestly don't) know\b|\bno (?:idea|clue|answer|information)\b|\bn/a\b",
            r"\b(?:not|n't) (?:\w+ )?enough (?:\w+ )?(?:information|detail|context|data)|\binsufficient\b|"
            r"\bunanswerable\b|\bcannot be (?:\w+ )?(?:answered|determined|known|seen|inferred)\b|"
            r"\bcan't be (?:answered|determined|known|inferred|told)\b|\bunknown\b|\bundetermined\b|\bundeterminable\b",
            r"\bi(?:'m| am| must)? (?:\w+ )?(?:decline|refuse|abstain)\b|\bi won't\b|\bi will not\b|\bagainst my\b",
            r"\btoo (?:small|dark|large|big|blurry|bright|far|low|unclear|noisy|grainy)\b(?: \w+){0,3} (?:to|for)\b",
            r"\blow (?:quality|resolution)\b",
            r"\bi (?:can't|cannot|can not|couldn't|don't|didn't) (?:\w+ )?(?:see|view|make out) "
            r"(?:anything|nothing)\W*$|"
            r"\bi (?:can't|cannot|can not|couldn't) see\W*$|\bi see nothing(?: at all)?\W*$|\bi(?:'m| am) blind\b",
        )
    )
)
"""The model could not see or answer."""

OFFER = re.compile(
    r"\b(?:i|we)(?:'d| would|'m| am|'ll| will| can)? (?:be )?(?:happy|glad|pleased|able|delighted)? ?(?:to )?(?:\w+ )?"
    r"(?:help|assist|analy[sz]e|take a look|do (?:that|this|so)|answer (?:that|this|your|any)|describe)\b|"
    r"\b(?:what|which|how) (?:would|can|do|question|else)\b.*\?|"
    r"^(?:yes|no|sure|ok|okay|of course)?\W*(?:i|we) (?:can |do |have |could )?(?:see|view|received?|got|have|"
    r"understand|"
    rf"looked at) (?:the|your|this|an?) (?:\w+ )?{IMAGE}\b(?! (?:of|with|that))"
)
"""The model offers help, or says that it has the picture: `Yes, I can help!`"""

DOUBT = re.compile(
    r"\b(?:(?<!no )(?<!without )(?<!without a )(?<!beyond )(?<!beyond any )doubt\w*|not (?:\w+ )?(?:sure|certain|"
    r"clear|confident|convinced)|n't (?:sure|certain|think(?! so\W*$)|believe|say)|unsure|"
    r"uncertain|unlikely|unclear|might|maybe|perhaps|possibly|could (?:also |well |either )?be|may (?:also |well )?be|"
    r"may or may not|whether|not think|not believe|wonder|hesitat\w*|suspect|either way|depend\w*|ambiguous|"
    r"(?:partly|partially)(?! (?:hidden|occluded|covered|obscured|visible|behind|by|in|cut)\b)|rumou?r|wouldn't|"
    r"would not|some (?:people )?would|others would|"
    r"supposed(?:ly)?|allegedly|pretend|imagine|guessing)\b"
)
"""Doubts. Weaker words, such as `probably`, `I think` and `looks`, still assert."""

EARLIER = re.compile(
    r"\b(?:before (?:that|this|then)|^before (?!(?:\w+ ){0,4}the \w+,)|earlier|previously|at first|originally|"
    r"initially|used to|formerly|in "
    r"the beginning)\b"
)
"""What was before: `at first she was in the garden`."""
CONDITION = re.compile(
    r"\b(?:example|sample|format|template|instance) ?:|\b(?:if|unless|^suppose|supposing|assuming|provided that|in "
    r"case|were to|would (?:\w+ )?be|would have|should it|"
    r"otherwise|(?:example|sample|expected|template|possible|your) (?:answer|reply|response|output|format)|could "
    r"look|should (?:be|look) (?:a |an |one |like)|you can (?:just )?(?:write|say|answer)|for example|for instance|"
    r"e\.g\.|such as|hypothetically)\b|\be\.?g\b"
)
INSTRUCTION = re.compile(
    r"\b(?:answer|reply|respond|write|say|type) (?:only |just |simply )?(?:with|in|using|by|either)\b|"
    r"\b(?:options|choices|possible answers|candidates|possibilities|alternatives) (?:are|were|include|given)\b|"
    r"\b(?:options|choices|possible answers)\b ?:|\bpossible \w+ (?:are|were)\b|^(?:question|q|caption|statement|"
    r"prompt) ?:|"
    r"\b(?:need|have|want|going|try|trying|asked|task is|question is|goal is|question asks|asks?) (?:me |us |you |"
    r"is )?(?:to(?! (?:the|go|walk|head|move|travel|turn)\b)|if|whether|"
    r"about|how|what|which)\b"
)
CONCLUSION = re.compile(
    r"(?:^|[,;:] |\band |\bis that | (?=so (?:yes|no)\b))(?:so(?! (?:is|are|was|were|does|do|did|has|have|much|"
    r"many|far)\b)|therefore|thus|hence|in total|overall|in conclusion|in summary|to conclude|"
    r"altogether|all in all|consequently|accordingly|finally|total|sum(?= ?:)|the total|that's|that (?:gives|makes|"
    r"means|leaves)|"
    r"this (?:gives|makes|means|leaves)|which (?:gives|makes|means|leaves)|giving|making|leaving|conclusion|"
    r"ergo)\b|\b(?:asked for|in question|a total of|the (?:count|total|number|sum|result) is)\b"
)
RETRACTION = re.compile(
    r"\b(?:wait|actually|correction|scratch that|on second thought|let me (?:re|look again|check again|correct|count "
    r"again)\w*|i was (?:wrong|mistaken)|my mistake|i made (?:a|an) (?:mistake|error)|i meant|i mean|oops|sorry|"
    r"revis\w+|changed? my mind|hold on|hmm|rather(?! than)|no longer|instead(?! of)|alternatively|on the other "
    r"hand|make (?:that|it)|closer inspection)\b|^no\b(?=[,.!]| wait)"
)
REASON = re.compile(
    r"[:;–—]| - |\b(?:because|since|as|which|that|who|while|whereas|though|although|with|where|based on|given|after|"
    r"considering|due to|so|when|except|even though|however)\b"
)
HEAD_END = re.compile(
    r"[.!?;](?=[ \"')\]]|$)|,(?!\d)|:(?!\d)|[(\[–—]| - | (?:because|since|as|which|that|who|while|whereas|though|"
    r"although|with|where|based on|given|after|considering|due to|if|unless|but|"
    r"instead of|rather than|not|and not|when|so)\b"
)
LEAD_IN = re.compile(
    r"^(?:(?:sure|ok|okay|well|hmm|so|of course|certainly|absolutely|definitely|clearly|indeed|simply|exactly|just|"
    r"only|"
    r"there (?:is|are)|there's|it is|it's|it was|they are|they're|that is|that's|this is|i see|i count|i counted|"
    r"i'd say|"
    r"i would say|i think|i believe|i say|color|colour|shape|size|material|the|a|an|in the|at the|to the|she|he|is "
    r"in|be|total of|a total of|about|"
    r"likely|probably|most likely|about|approximately)\b[,:!]? ?)+"
)

NEGATION = re.compile(
    r"(?:\b(?:(?:not|no(?! (?:or|and)\b))(?: idea| clue| way that| chance that| way| true that)?|cannot|never|"
    r"neither|nor|none|nothing|than|at (?:least|most)|up to|except|unlike|"
    r"instead of|rather than|as opposed to|(?:anything|everything|all|any \w+) but|other than|excluding|far from|"
    r"hardly|rul(?:e|ed|es|ing) out|exclud(?:e|ed|es|ing)|eliminat(?:e|ed|es|ing)|"
    r"discard(?:ed)?|dropped|le(?:ft|aves)(?= the )|leaving|(?:minimum|maximum) of|fewer|less|more|(?:over|under|"
    r"above|below)(?= \d)|besides|apart from|aside from|without|no longer|(?:almost|nearly|roughly)(?= \d))|n't)"
    r"[\"']{0,2}(?=((?: (?!(?:and|but|so|because|no|therefore|thus)\b|-)[^\s.,:;!?–—()]+){1,4}))"
)
"""A negation or comparison, and up to four words after it that it may be about, within the same part of a sentence."""
CONTRAST = re.compile(
    r"(?:[,;(–—-] ?(?:and |but )?| and | but )not "
    r"(?!(?:this|that|really|quite|at all|sure|certain|exactly|even|true|final)\b)"
    r"(?:an? |the )?[^.;:!?()]{1,30}?(?=[.;:!?)]|$|, (?:because|since|"
    r"as|so|and)\b)|"
    r",? (?:rather than|instead of|as opposed to) (?:an? |the )?[^\s.,;:!?()]+(?: [^\s.,;:!?()]+)?(?=[.,;:!?)]|$| "
    r"(?:because|since|as|so)\b)|"
    r"\bnot (?:an? |the )?[^.,;:!?()]{1,30},? but\b"
)
"""What is not the answer, beside what is: `, not blue` in `red, not blue`, and `rather than blue`."""
NEGATED_PAIR = re.compile(r"\b(?:neither|not (?:either )?) ?([^.,:;!?–—()]{1,40}) (?:nor|or) ([^.,:;!?–—()]{1,40})")
DENIAL = re.compile(
    r"(?<![\w.'-])(\w[\w.'-]*)[\"']{0,3} (?:"
    r"(?:is|was)(?: not|n't) (?:right|correct|true|possible|the (?:right |correct )?(?:answer|case|one))|"
    r"(?:is|was|would be|can be|has been|have been|are|were) (?:wrong|incorrect|impossible|ruled out|excluded|"
    r"eliminated|"
    r"false|unlikely)|can(?:not|'t) be (?:right|correct|true|the (?:right |correct )?answer)|(?:doesn't|does not) "
    r"(?:fit|apply|match))\b"
)
"""A word that is denied directly after it: `red is not right`."""

STRONG_RETRACTION = re.compile(
    r"\b(?:wait|scratch that|on second thought|i was (?:wrong|mistaken)|my mistake|i made (?:a|an) (?:mistake|"
    r"error)|oops|sorry|"
    r"take (?:that|it) back|made (?:that|this|it) up|ignore|disregard|forget (?:that|this|it|what|my)|never ?mind|"
    r"(?:scrap|strike) (?:that|this|it)|redo|on reflection|correct (?:myself|that|this)|misread|edit(?=\W)|hold on|"
    r"let me (?:re|check|look|correct|verify|count|think|see|double|find|identify|locate|analy)\w*|"
    r"(?:that|which|this|but (?:it|that|this))(?:'s| is| was| would be) (?:\w+ )?(?:wrong|incorrect|mistaken|false|"
    r"an? (?:mistake|"
    r"error)|not (?:right|correct|true))|that (?:can't|cannot) be (?:right|correct|true)|not sure|hmm|now (?:line|"
    r"to)|could (?:just as well|also|"
    r"equally)|may be wrong|might be wrong|i give up|"
    r"jok(?:e|ed|ing)|kidding|a lie|lied|(?:equally|just as|also) (?:plausible|possible|likely))\b"
)
"""The text takes back what it said before, or goes on searching."""
RETREAT = re.compile(
    r"^(?:well|at least|or rather|or not|but then|then again)\b|\b(?:s?he|they|it) (?:\w+ )?left(?: it| again|"
    r" there)?[.!]?$"
)
"""A later sentence takes an answer back, or says that it does not hold any more: `She then left.`"""
MISSING = re.compile(
    r"\b(?:isn't|is not|aren't|are not|wasn't|was not|doesn't|does not|don't|never|not|no longer) (?:\w+ "
    r"){0,2}(?:mention\w*|give|given|named|reveal\w*|stat(?:e|ed)|"
    r"specified|sa(?:y|id)|known|shown|describe\w*|listed|told|tell|visible)\b|\b(?:is|are) hidden\b|\bnobody\b|"
    r"\bno \w+ (?:is|was|are) (?:given|stated|mentioned|named|provided|shown)\b"
)
"""The text says that what was asked for is not there."""
GONE = re.compile(
    r"\b(?:went|goes|moved|travell?ed|journeyed|walked|ran|returned|came|headed)\b(?! (?:back )?there\b)|\belsewhere\b|"
    r"\b(?:somewhere else|after (?:that|which) to|then to)\b"
)
"""Somebody went on to a place; if it is none of the answers, the place before it is none either."""
EMPTY_HANDED = re.compile(
    r"(?!(?:i|we|you|it|this|that|which|what|nobody)\b)\w{2,20}(?: is| does| has)?(?:n't| not)"
    r"(?: currently| now| still)? (?:carry|carrying|hold|holding|have) anything"
    r"(?: (?:now|any ?more|at all|anymore|at the moment|currently))?"
)
UNCOUNTED = re.compile(
    r"\b(?:(?:is|are|be) (?:\w+ )?(?:hidden|occluded)|hidden ones?|out of (?:view|frame)|not counting|minus the|"
    r"(?:thing|object|one)s? (?:that )?i (?:can't|cannot|couldn't)|more may|"
    r"may be more|"
    r"others? (?:may|might|could)|as far as i can (?:see|tell)|(?:can't|cannot|couldn't) see "
    r"(?:all|the (?:rest|others?))|so far|up to now|until now|for now|and counting)\b"
)
"""There may be more than the text counts: `There are 3, but others are hidden.`"""
FURTHER = re.compile(
    r"\b(?:many|several|some|few|one|two|three|\d|with|and) more\b(?! than)|"
    r"(?:\band|,) more (?:outside|beyond|behind|off|out)\b|"
    r"(?:\band|\bwith|\bplus|,) (?:others|another|the rest|many|several|some|a crowd|a few|more)\b"
    r"(?: \w+){0,3}? (?:in|behind|on|at|to|further|beyond|near)\b"
)
"""A count of a part: `There are 3 in front and several more behind.`"""
ELSEWHERE = re.compile(
    r"\b(?:usual(?:ly)?|typical(?:ly)?|normally|generally|often|sometimes|by default|in general|as a rule|"
    r"(?:other|another|previous|last|earlier|next|different|most|many|some|all|similar|such) (?:\w+ )?"
    rf"(?:{IMAGE}|question|example|case|dataset|puzzle|problem|version|task|stor(?:y|ies))s?)\b|"
    r"\baccording to (?:the|an?|some|my|your|its|most) (?!(?:\w+ )?(?:image|picture|photo|scene|story|text|passage|"
    r"context|"
    r"line|lines|given|facts?|statements?|sentences?|information|trace|clues?|rules?)\b)\w+|"
    r"\b(?:people|they|someone|somebody|others|who|caption|title|label|legend|name|user|student|annotator|teacher|"
    r"colleague|"
    r"friend|assistant|model) (?:\w+ ){0,2}?(?:says?|said|claim(?:s|ed)?|suggests?|states?|heard|told|wrote|writes|"
    r"answers|answered|reported|reports)\b|"
    r"\bi (?:heard|read|was told)\b|\byou (?:say|said|claim)\b"
)
"""What somebody else says, what holds in general, and what is so in another picture."""
REJECTED = re.compile(
    r"[^a-z,]{0,3}(?:(?:is|was|seems|looks|would be|can be|must be) )?(?:\w+ly )?(?:wrong|incorrect|ruled|excluded|"
    r"eliminated|"
    r"impossible|not\b|isn't|wasn't|can't|cannot|doesn't)"
)
"""What rejects an answer or a letter before it: `is wrong`, `is not my answer`."""
CHAT = re.compile(
    r"\b(?:attach\w*|upload\w*|loaded|you (?:did|didn't|have|haven't|sent|asked|gave))\b|"
    r"\b(?:question|help|ready|understand|please|thank\w*|error|an? (?:\w+ )?(?:image|picture|photo)|problem|issue|"
    r"let me|let's|one (?:second|sec|moment|minute)|"
    r"go ahead|happy|glad|given an?|"
    r"been given|our side|"
    r"went wrong|i'm here|i got|sir|"
    r"an? (?:caption|statement|text)|misunderst\w+|another time|moment|"
    r"image (?:has|is|was|hasn't|isn't)|good one|tough one|read the|"
    r"have (?:read|looked)|a look at)\b"
)
"""Words after yes or no that are about the conversation, not about the picture."""
OPEN_DENIAL = re.compile(r"(?:\b(?:is|are|was|does|do|did) not|n't)[.!]?$")
"""A denial at the end of a sentence: `The cube is red and the ball isn't`."""
THINGS = words_of(
    "object objects thing things item items shape shapes figure figures one ones cube cubes sphere spheres "
    "cylinder cylinders ball balls block blocks square squares circle circles triangle triangles rectangle "
    "rectangles pentagon pentagons cross crosses ellipse ellipses semicircle semicircles cone cones torus dot "
    "dots vehicle vehicles car cars truck trucks bus buses person people animal animals red green blue yellow "
    "gray grey brown purple cyan magenta white black orange pink large big small tiny metal metallic shiny matte "
    "rubber"
)
"""Words for what a picture can have, and for how it can look."""
EXISTENCE = re.compile(
    r"\bthere(?: is|'s| are| was| were|re) (?:no|not|n't any)((?: (?:"
    + "|".join(sorted(THINGS | {"such", "a", "an", "any", "matching", "single", "visible"}))
    + r"))+)(?= [^a-z]|[.,;!]| (?:in|on|at|to|of|left|right|"
    r"behind|front|here|visible|present|that|which|with|so|because|and so|above|below|near|next|matching|there|"
    r"therefore|hence|thus)\b|$)"
)
"""`There is no red cube` says no. The noun must be a thing: `there is no difference` says yes."""
NONE_EXISTS = re.compile(
    rf"no(?: (?:such|matching|other|{'|'.join(sorted(THINGS))}))+ (?:exists?|"
    r"(?:is|are) (?:present|visible|there|found|shown))(?: in (?:the|this) (?:image|picture|scene|photo))?|"
    rf"there (?:is|are) no other(?: (?:{'|'.join(sorted(THINGS))}))+ (?:with|of|that (?:has|have|is|are)) the same\b.*"
)
"""`No such object exists` says no, and so does `there is no other cube with the same color`."""
CAPTION = (
    r"(?:(?:the|this|that|your|given) ){0,3}(?:caption|statement|claim|sentence|description|assertion)"
    r"(?: \"[^\"]{1,120}\")?(?: is|'s| was)"
)
UNTRUE = re.compile(
    rf"{CAPTION}(?: \w+ly)? (?:wrong|incorrect|inaccurate|untrue|false)\b|(?:that|this|it)(?: is|'s) (?:incorrect|"
    rf"untrue|false)$|"
    r"(?:the |this )?(?:caption|statement|claim|sentence|description) (?:does not|doesn't) (?:match|hold|describe|"
    r"fit|apply)\b|"
    rf"{CAPTION}(?: not|n't)(?: \w+)? (?:true|correct|accurate|the case)\b|(?:that|this|it)(?: is|'s| was)"
    r"(?: not|n't)(?: \w+)? (?:true|correct|accurate|the case)(?:$| that\b(?!.*\b(?:no|not|never|none)\b))"
)
"""`The caption is not true` says no."""
WHOLLY = r"(?= ?(?:$|[^\w\s])| (?:because|since|as|so|given|and|for (?:the|this)|in (?:the|this)|based|here|that)\b)"
TRUE = re.compile(
    rf"(?:{CAPTION}(?: \w+ly)? (?:correct|accurate|right|true)|"
    r"(?:the|this|that) (?:caption|statement|description|sentence) (?:fits|matches|describes)"
    rf"(?: (?:the|this) (?:image|picture|photo|scene))?)\b{WHOLLY}"
)
ADMITS = re.compile(r"it(?: is|'s)(?: \w+ly)? (?:true|correct|right) that\b")
TRUE_THAT = re.compile(
    r"it(?: is|'s)(?: \w+ly)? true that (?=(?:there|the|an?|most|all|some|both|every|each|exactly|only|at|more|fewer|"
    r"less|half|two|three|four|five|\d+)\b)(?!.*\b(?:no|not|never|caption|statement|claim|sentence|description|image|people|"
    rf"can|way|ways|question)\b)(?=.*\b(?:{'|'.join(sorted(THINGS))})\b)"
)
PLACE = re.compile(
    r"\b(?:(?:which|that) (?:is|are) )?(?:behind|in front of|(?:to the |on the )?(?:left|right) of|next to|"
    r"near(?:er)?(?: to)?|beside|besides|above|below|underneath|"
    r"under|between|clos(?:e|er|est) to|adjacent to|opposite|the same (?:\w+ )?as|(?:bigg|small|larg|tall|dark|"
    r"light|bright|wid|thick)er than|compared (?:to|with))"
    r"(?: (?!(?:is|are|was|were|has|looks?|appears?|seems?|it (?:is|was|has|looks)|it's|there|so|but|because|the "
    r"(?:answer|object)|and (?:in front|behind|next|near|close|beside|above|below|under|to the (?:left|right)|left|"
    r"right|(?:it|the \w+|the \w+ \w+) (?:is|are)))\b)[\w'-]+){1,6}(?: (?:that|which) (?:is|are) (?:\w+ ){0,2}\w+)?"
)
"""A phrase about another object: `behind the red cube`."""
DETERMINER = re.compile(
    r"\bno(?= (?!(?:it|there|i|the|this|that|these|those|they|he|she|we|because|since|as|and|but|not|wait|in|at|"
    r"none|nothing|"
    r"only|all|neither|a|an|both|is|was|for|if|object has)\b)[\"']?[^\W\d_])"
)
"""The word no before a noun, which is not the answer no: `no other objects`, `no doubt`."""


def without_macros(text: str) -> str:
    """Return a text without LaTeX's commands for font and mathematics."""
    return MACRO.sub(" ", text).replace("{", " ").replace("}", " ") if "\\" in text else text


def plain_sentence(text: str) -> str:
    """Return a text in small letters with single spaces, and without marks of font."""
    if text.count("$") > 1:
        text = text.replace("$", "")
    said = " ".join(EMPHASIS.sub("", without_macros(text)).split()).casefold()
    return ABBREVIATION.sub(r"\1.", NUMBER_RANGE.sub("-", said)).replace("i.e. ", "")


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text that have words, as plain sentences without the signs and numbers of lists."""
    return [BULLET.sub("", said) for said in map(plain_sentence, text.split("\n")) if said.strip(DRESS)]


def sentences_of(lines: Sequence[str]) -> list[str]:
    """Return the sentences of plain lines."""
    found = (one for line in lines for one in SENTENCE_END.split(line) if one.strip(DRESS))
    return [_without_earlier_doubt(one) for one in found]


def _without_earlier_doubt(sentence: str) -> str:
    """Return what follows `but`, if a doubt or an earlier state is before it: `I am not sure, but red`."""
    before, but, after = sentence.partition(", but ")
    return after if but and (DOUBT.search(before) or EARLIER.search(before)) else sentence


def bare(text: str) -> str:
    """Return a text without the signs around it, apart from those that belong to a number: `-3`, `.5`, `< 5`."""
    return text.strip() if SIGNED_NUMBER.match(text.lstrip(DRESS_OF_NUMBERS)) else text.strip(DRESS)


def is_refusal(sentence: str) -> bool:
    """Return whether a plain sentence says that the model could not see or answer."""
    return REFUSAL.search(sentence) is not None


def is_asserted(sentence: str, *, doubts: bool = True) -> bool:
    """Return whether a plain sentence is no question, condition, instruction, offer and, with `doubts`, no doubt."""
    return not (
        sentence.rstrip("\"') ").endswith("?")
        or CONDITION.search(sentence)
        or INSTRUCTION.search(sentence)
        or OFFER.search(sentence)
        or EARLIER.search(sentence)
        or ELSEWHERE.search(sentence)
        or (doubts and DOUBT.search(sentence))
    )


def denied_parts(sentence: str) -> str:
    """Return the parts of a plain sentence that a negation, a comparison or a denial is about."""
    pairs = [part for pair in NEGATED_PAIR.findall(sentence) for part in pair]
    return " . ".join([*NEGATION.findall(sentence), *DENIAL.findall(sentence), *pairs])


# Sentences that assert an answer: a small grammar of whole sentences.


FILLERS = words_of(
    "a an the its of such very quite rather bright dark deep light solid single only exactly other visible different "
    "colored coloured shaped sized color colour shape size material kind made them those these just "
    "matching distinct separate total shade hue surface finish texture look looking object's object"
)
LEAD = re.compile(
    r"(?:(?:in (?:the|this) (?:image|picture|photo|scene)(?= (?:there|i|we|you)\b)|"
    r"no doubt(?: about it)?|without (?:a |any )?doubt|so yes|sure thing|sure|ok|okay|well|hmm|so|thus|hence|"
    r"therefore|of course|certainly|absolutely|indeed|overall|finally|clearly|"
    r"obviously|in (?:conclusion|summary|short)|to conclude|consequently|accordingly|then|now|and|but|also|"
    r"probably|likely|"
    r"most likely|apparently|here|great|alright|all right|answer|result|"
    r"(?:i|we) (?:(?:can|do|also|would|'d|could) )?(?:think|believe|say|guess|conclude|suppose|see|know|find|tell)(?: "
    r"that)?(?= (?:it|the|there|that|this|he|she|they|its|both|all)\b)|"
    r"i(?:'m| am) (?:\w+ )?(?:sure|confident|certain)(?: that)?|i(?:'d| would) say(?: that)?|i (?:think|believe|"
    r"guess)(?: it's| it is)?|"
    r"my (?:best )?guess (?:is|would be)|"
    r"it (?:seems|appears|looks like|follows|is clear)(?: that)?(?= (?:it|the|there|he|she|they|its)\b)|(?:this|that) "
    r"means(?: that)?|"
    r"(?:to (?:get|go|reach|travel|walk|move)|"
    r"based on|from|according to|in|looking at|judging by|judging from|\w+ing|among|out of|going by|although|"
    r"though|while|after|"
    r"since|because|as|given|considering|"
    r"despite|when|with|on|at|by|excluding|including|for) [^,.;:]{1,160},|"
    r"(?:based on|judging (?:by|from)|looking at|according to) [^,.;:]{1,80}:)[,:!]? )",
)
TAIL = re.compile(
    r"(?:,|;| -|–|—|:)? ?\b(?:because|since|like (?=the|all|its|every)|with (?:him|her|them)(?= |$)|as (?=shown|seen|"
    r"described|stated|indicated|it|the|there|he|she|they|we|"
    r"i|can|you)|which(?= (?:is|are|was|"
    r"were|has|have|can|means))|though|although|based on|given (?:that|the|how)|due to|"
    r"considering|according to|even though|thanks to|judging|for (?:the|this) (?:image|picture|scene)|i (?:think|"
    r"believe|guess|suppose|would say)|to me|for sure|for certain|"
    r"in (?:the|this) (?:image|picture|scene|photo|story|text|room)|(?:in|on|at|to|from|with|for) (?:the|its) "
    r"(?:left|right|back|front|middle|center|"
    r"centre|top|bottom|foreground|edge|corner|side|end)\b.*|from (?:left|right)|now|at the moment|right now|in "
    r"total|altogether|all together|as well|after all|in (?:colou?r|size|shape)|compared (?:to|with)|"
    r"visible|present|shown|displayed|depicted|pictured|though)\b.*$| (?:here|there|now|then|again|too|either|so|"
    r"overall|indeed|though)$"
)
REASON_TAIL = re.compile(
    r"(?:[,;:–—]| -|\()? ?\b(?:because|since|as|so that|given|due to|based on|considering|which means)\b"
)
ADVERBS = (
    r"(?:clearly|definitely|probably|presumably|likely|most likely|almost certainly|certainly|simply|obviously|"
    r"exactly|only|"
    r"actually|really|truly|completely|entirely|mostly|mainly|primarily|fairly|relatively|slightly|apparently|"
    r"evidently|undoubtedly|undeniably|distinctly|visibly|noticeably|currently|presently|finally|indeed|also|still|"
    r"now|just|therefore|thus|again|in fact|both|all)"
)
COPULA = (
    r"(?:is|are|was|were|looks?|appears?|seems?|must be|should be|has to be|can only be|will be|remains?|equals?|'s)"
    rf"(?: (?:to be|like|{ADVERBS}|described as|called|(?:made|built)(?: out)? of|of|colored|coloured))*"
)
NO_SUBJECT = re.compile(
    r"\b(?:backgrounds?|floor|ground|wall|surface|screen|image|picture|photo|light|lighting|lamp|text|shadow|"
    r"reflection|scene|"
    r"sky|table|tint|answers?|confidence|i|you|we|version|model|file|error|code|status|server|request|label|nothing|"
    r"nobody|none|everything|everybody|somebody|someone|chance|resolution|difference|game|opposite|reverse|format|"
    r"output|score|"
    r"first guess|description|example|sample|template|bill for|edge|radius|faces|flagged|content|mentioned|\w*_\w*)\b"
)


SUBJECT_WORDS = words_of(
    "it this that he she they these those the its a an both all each his her their them itself what which who whose on "
    "in of at to with by for from front behind left right back top middle center centre above below near next beside "
    "between closest nearest first second third last leftmost rightmost remaining same only is are was being and or "
    "asked about question described mentioned number count total sum result overall person giver receiver recipient "
    "place location current motivation reason feeling partly partially mostly hidden you're we're you we i i'm "
    "facing using made there here having has have most as than gave given received got took handed over passed "
    "correct actual "
    "carrying "
    "holding foreground corner edge side group row"
)
"""Words that a subject may have besides words for things and answers, which the reader knows."""
VERB = re.compile(
    r"(?<!that )(?<!which )(?<!who )(?<!what )\b(?:is|are|was|were|has|have|looks?|seems?|appears?)\b(?! (?:carrying|"
    r"holding)\b)"
)
AMOUNT = re.compile(r"\b(?:it|that|this|they|these|those|number|count|total|sum|result|all)\b")


class Assertion(NamedTuple):
    """A whole statement that asserts the answer in its group `phrase`; an example, and the phrase of the example."""

    example: str
    phrase: str
    pattern: re.Pattern[str]


STATED = Assertion(
    "the small ball is red",
    "red",
    re.compile(
        rf"(?P<subject>(?:it|this|that|he|she|they|these|those|the|its|an?|both|all|each|his|her|their|what|on|"
        rf"\w[\w'’.-]{{0,30}})\b[^,;:]{{0,160}}?)"
        rf"(?:(?<=it)|(?<=that)|(?<=he)|(?<=she)|(?<=this)|\b|(?<=\w)) ?\b{COPULA} (?P<phrase>[^,;:]{{1,80}})"
    ),
)
STATED_LAST = Assertion(
    "the thing that looks small is a red ball",
    "a red ball",
    re.compile(STATED.pattern.pattern.replace("{0,160}?)", "{0,160})", 1)),
)
HAS = Assertion(
    "it has a red surface",
    "red surface",
    re.compile(
        r"(?:it|this|that|the (?!dataset|data|model|question|task)[^,;:]{1,80}?|each|both) "
        r"(?:has|have|had|shows?|gives?) (?:a|an|the|its)? "
        r"?(?P<phrase>[^,;:]{1,60})"
    ),
)
SEEN = Assertion(
    "i can see exactly 3 cubes",
    "3 cubes",
    re.compile(
        r"(?:there(?: is| are| was| were|'s|'re|re| seems? to be| appears? to be)|(?:i|we|you) (?:can |do |also |could "
        r")?(?:see|count|counted|spot|find|observe|"
        r"found|get|got|have)|(?:the|this) (?:image|picture|scene|photo) (?:shows|contains|has|depicts|features|"
        r"includes|displays)|it (?:shows|"
        r"contains|has|depicts)|"
        r"(?:that|this|which)(?: is| are| was| makes| gives| leaves| means)(?: us| me)?|(?:in )?total|"
        r"making|giving|makes|equals) (?:(?:exactly|only|just|a total of|in total|precisely|therefore|thus) "
        r")*(?P<phrase>[^,;:]{1,80})"
    ),
)
MOVED = Assertion(
    "mary went back to the kitchen",
    "kitchen",
    re.compile(
        r"(?!(?:you|i|we)\b)(?:(?:the )?[\w']{1,20}(?: (?:and )?[\w']{1,20})?)"
        r"(?: (?:last|final|latest|most recent) (?:move|trip|journey|stop|visit))? ?(?:\b|(?='))"
        r"(?:(?:is|was|were|are|'s)(?: now| still| currently| again| both| located)?|"
        r"can be found|(?:will |would |must |should )?(?:went|goes?|"
        r"stay(?:s|ed)|remain(?:s|ed)|moved|travell?ed|journeyed|walked|ran|"
        r"returned|came|moves|travels|walks|headed|go)(?: back| over)?)(?: (?:in|at|to|inside|into|back to))(?: the)? "
        r"(?P<phrase>[\w -]{1,30})"
    ),
)
FELT = Assertion(
    "because he was very tired",
    "tired",
    re.compile(
        r"(?:because )?(?:they (?:are|were|felt|feel|got)|[\w']{2,20} (?:is|was|felt|feels|got))(?: very| so| just)? "
        r"(?P<phrase>\w+)"
    ),
)
CARRIED = Assertion(
    "john is still carrying the milk and the apple",
    "the milk and the apple",
    re.compile(
        r"(?:he|she|they|[\w']{2,20}) (?:is |are |was |still |now |currently |only |just |has |have )*(?:carrying|"
        r"holding|carries|carry|holds|hold|has|have|got|owns|"
        r"with)(?: still| now| only| just| exactly)* (?P<phrase>[^;:]{1,120})"
    ),
)
WALKED = Assertion(
    "you should go south and then west",
    "south and then west",
    re.compile(
        r"(?:first |to get there |you |we |she |he |one |should |must |can |could |have to |need to |just |simply |"
        r"then |the (?:path|way|route|directions?) (?:is|are)|"
        r"it is|take|turn|move|walk|go|head|travel|step|to the |from there )*(?P<phrase>(?:(?:to|from|into|through|"
        r"towards?) the \w+|north|south|east|west|[\W→]| |and|then|to|the|go|again|twice|two times|walk|head|move|"
        r"once|more|n|s|"
        r"e|w|turn|finally|after that|next)+)"
    ),
)
ACTED = Assertion(
    "it was jeff",
    "jeff",
    re.compile(
        r"(?:it was |that was |it is |that is |it's |the (?:person|thing|object|item)[^,;:]{0,60} (?:is|was) )?(?:the "
        r")?(?P<phrase>\w+)(?: did| does| was| is| has it| did it| got it| received it)?"
    ),
)
WHICH = Assertion(
    "it is the object on the left, which is red",
    "red",
    re.compile(
        r"(?:(?:it is |that is )?the [^,;:]{1,80}, which (?:is|are|looks)|(?:it|the) [^,;:]{1,120}, which (?:indicates|"
        r"suggests|means)(?: that)?(?: it is| it's)?) (?P<phrase>[^,;:]{1,60})"
    ),
)
COLON = Assertion(
    "the number of cubes: 3",
    "3",
    re.compile(
        r"(?:[^:]{0,80}\b(?:colou?r|shape|size|material|count|sum|(?:number|total)(?: of [\w ]{1,40})?|so|therefore|"
        r"thus|"
        r"hence|is|are|it|answer|"
        r"conclusion|namely|(?:final|current|last) (?:location|place|position) of [\w ]{1,40}|"
        r"carries|holds|carrying|holding|has|place|location|paths?|way|route|directions?|induction|"
        r"reason))(?: is| "
        r"are)? ?[:=] ?(?P<phrase>[^,;:]{1,60})"
    ),
)
INVERSE = Assertion(
    "jeff is the one who received the milk",
    "jeff",
    re.compile(
        r"(?P<phrase>(?:an?|the) [^,;:]{1,60}|\w+) (?:is|was) the (?:colou?r|shape|size|material|object|thing|"
        r"one|item|answer|person|receiver|recipient|giver)(?: [^,;:]{0,40}(?<! the)(?<! of))?"
    ),
)
RECEIVED = Assertion(
    "he got it from jeff",
    "jeff",
    re.compile(
        r"(?:(?:(?P<subject>[\w' ]{1,40}?) )?(?:(?:was|were) )?(?:given|handed|passed|received|got|gotten|gave|took|"
        r"taken|bought|brought)(?: [\w' ]{1,30})? )?(?:from|to|by) (?P<phrase>\w+)"
    ),
)
GAVE = Assertion(
    "bill gave it",
    "bill",
    re.compile(r"(?P<phrase>\w+) (?:gave|received|got|handed|passed|took|has|had) (?:it|that|this)(?: over)?"),
)
FEARED = Assertion(
    "gertrude is afraid of the wolf",
    "wolf",
    re.compile(
        r"(?:(?:\w+ )?(?:is |was )?(?:most )?(?:afraid|scared|frightened) of|\w+ fears|\w+ feared) "
        r"(?:the |an? )?(?P<phrase>\w+)"
    ),
)
REASONED = Assertion(
    "sumit went to the kitchen because he was hungry",
    "hungry",
    re.compile(
        r"[^,;:]{0,120}\b(?:because|since|as) (?:he|she|they|[a-z]+) (?:is|was|felt|feels|got|are|were)(?: very| so|"
        r" just| now)? "
        r"(?P<phrase>\w+)"
    ),
)
COUNTED = Assertion(
    "exactly 3 of them match",
    "3 of them",
    re.compile(
        r"(?:only |exactly |just |precisely )?(?P<phrase>[^,;:]{1,60}?) (?:meets?|match(?:es)?|fits?|satisf(?:y|ies)|"
        r"shares?|remains?|qualify|qualifies|have (?:this|that|these|the same)|"
        r"(?:are$|(?:is|are) (?:visible|present|there|shown|left|seen|found|"
        r"in (?:the|this|"
        r"it))))\b.*"
    ),
)
DESCRIBED = Assertion(
    "3 things are made of metal",
    "3 things",
    re.compile(
        r"(?:only |exactly |just |precisely )?(?P<phrase>(?!(?:the|these|those|all|both)\b)[^,;:]{1,60}?) are "
        rf"(?:either |also |all |both )?(?:made of )?(?:{'|'.join(sorted(THINGS))})\b.*"
    ),
)
OUT_OF = re.compile(r"\b(?:out|outside|way|heading|near|left|leaving)\b")
PATTERNS = (
    REASONED,
    FEARED,
    STATED,
    STATED_LAST,
    HAS,
    SEEN,
    MOVED,
    FELT,
    WHICH,
    COLON,
    ACTED,
    CARRIED,
    INVERSE,
    GAVE,
    RECEIVED,
)
NEGATION_WORD = re.compile(r"\b(?:not|no|nothing|none|never|nor|neither|cannot|nobody|hardly)\b|n't\b")
NEGATIVE = re.compile(
    r"\b(?:not|no|never|nor|neither|none|cannot|without|nobody|hardly|fewer|less|more|than|either|or|between|over|"
    r"under)\b|n't\b"
)


ASIDE = re.compile(
    r", (?:which|who|positioned|located|placed|situated|seen|shown|visible|found)\b[^,;:]{1,80}, (?=(?:is|was|has|"
    r"looks|appears)\b)"
)
APPOSITION = re.compile(r"^(\w+), an? \w+, (?=is\b|was\b)")


def stripped_sentence(sentence: str) -> str:
    """Return a plain sentence without parentheses, phrases such as `, not blue`, and words such as `so`."""
    said = bare(PARENTHESES.sub(" ", CONTRAST.sub(" ", ASIDE.sub(" ", sentence))))
    for _ in range(6):
        lead = LEAD.match(f"{said} ")
        if lead is None or lead.end() >= len(said):
            break
        said = said[lead.end() :].lstrip()
    return APPOSITION.sub(r"\1 ", said)


SAID = re.compile(
    r"\b(?:say|says|said|wrote|writes|answer\w*|reads?|line|question|example|quote\w*|caption|label|step|\w*\d)\b"
)
STANDS = re.compile(r"(?!(?:only |exactly |just )?(?:one|1)\b).*(?: (?:is|was)|'s)$|the .* (?:are|were)$")
"""What is left of `the cube is behind the sphere`: it says where something is, not what."""
STANDS_TOO = re.compile(r",? and (?:it )?(?:is|are)$")
NO_WORDS = re.compile(r" ?, ?, ?")


class Statement(NamedTuple):
    """A sentence without places, and the end that was left out: a reason, or where something is seen."""

    core: str
    tail: str
    is_after_colon: bool = False


def statements_in(sentence: str) -> Iterator[Statement]:
    """Yield a stripped sentence whole, without its tail, and without what follows a colon."""
    said = STANDS_TOO.sub("", bare(NO_WORDS.sub(" ", " ".join(PLACE.sub(" ", sentence).split()))))
    if said == bare(sentence) or STANDS.match(said) is None:
        yield Statement(said, "")
    tail = TAIL.search(said)
    if tail is not None and tail.start() > 0 and STANDS.match(bare(said[: tail.start()])) is None:
        yield Statement(bare(said[: tail.start()]), tail[0])
    before, _, after = said.partition(": ")
    if after:
        yield Statement(bare(before), f": {after}")
    if after and SAID.search(before) is None:
        yield Statement(bare(after), "", is_after_colon=True)


class Phrase(NamedTuple):
    """A phrase of a statement that may be the answer, the rest of the statement, and the pattern that fits."""

    text: str
    rest: str
    pattern: Assertion | None
    subject: str = ""


def phrases_of(core: str, patterns: Iterable[Assertion]) -> Iterator[Phrase]:
    """Yield the phrase in which each pattern that fits a whole statement has the answer."""
    yield Phrase(core, "", None)
    for pattern in patterns:
        found = pattern.pattern.fullmatch(core)
        if found is None:
            continue
        rest = f"{core[: found.start('phrase')]} {core[found.end('phrase') :]}"
        subject = found.groupdict().get("subject")
        if NEGATION_WORD.search(rest) or (subject is not None and NO_SUBJECT.search(subject)):
            continue
        yield Phrase(found["phrase"], rest, pattern, subject or "")


# The possible answers of a split, and every spelling of them.


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


# The grammar of replies that list parts: statements around a list, and what changes a list after it was given.


ANY_NUMBER = rf"\d+|{'|'.join(NUMBERS.split())}"
STILL = r"(?: (?:still|now|currently|only|just|both|then|therefore|thus|finally|actually|right now|at the end))*"
PERSON = (
    r"(?!(?:nobody|none|noone|who|whom|what|which|everybody|everyone|somebody|someone|anybody|anyone|nothing|it|this|"
    r"that|there|one|we|i|you|these|those|both|all|not|but|if|when|while|stopped|ceased|quit|was|were|by|after|before|"
    r"never|hardly|rarely|barely|scarcely|almost|nearly|avoid\w*|forgot|hates?|without|bag|shop|basket|wrong|"
    r"story|text|passage|question|kitchen|garden|hallway|bathroom|bedroom|office|room|fridge|table|floor|box|"
    r"list)\b)[^\W\d_][\w-]{0,30}?"
)
HOLDS = r"(?:carrying|holding|carries|carry|holds|hold|has|have|possesses|owns)"
NOUN = r"(?:objects?|items?|things?)"
OWN_NOUN = (
    rf"(?:(?:the|her|his|their|all|both|only|following|final|current|(?:{ANY_NUMBER})|{PERSON}'s) )*"
    rf"(?:{NOUN}|lists?|inventory|answer|possessions?|belongings|hands?|result)"
)
HELD_BY = (
    rf"(?:,? (?:that |which )?{PERSON}(?:'s| is| are)?{STILL} {HOLDS}| (?:being |currently )*(?:carried|held|owned) by "
    rf"{PERSON}| (?:that are |which are )?in (?:his|her|their|{PERSON}'s) (?:hands?|possession|inventory)|"
    rf" of {NOUN}| with (?:him|her|them))*{STILL}"
)
CARRIES = re.compile(
    rf"{PERSON}(?:(?:'s| is| are| has| have)?{STILL} (?:carrying|holding|carries|carry|holds|hold|owns|possesses|"
    rf"in possession of|left with)|(?:'s| has| have) got|{STILL} (?:has|have)|{STILL} ends? up (?:carrying|holding|"
    rf"with))"
    rf"{STILL},?:? (?P<phrase>.+)"
)
LISTED_ARE = re.compile(
    rf"(?:they|these|those|that|it|{OWN_NOUN}{HELD_BY})(?: (?:is|are|includes?|consists? of)|'s|"
    rf"'re){STILL}:? (?P<phrase>.+)"
)
ARE_LISTED = re.compile(
    rf"(?P<phrase>.+) (?:is|are) (?:the )?{OWN_NOUN} (?:that |which )?{PERSON}(?:'s| is| are)?{STILL} {HOLDS}{STILL}"
)
ARE_HELD = re.compile(
    rf"(?P<phrase>.+?) (?:is|are|remains?|stays?){STILL} (?:(?:(?:being )?(?:carried|held) by|in the hands? of|"
    rf"with) {PERSON}|"
    r"in (?:her|his|their) \w+)"
)
LABEL_OF_SET = (
    rf"(?:so|now|therefore|thus|hence|conclusion|currently|carrying|holding|{PERSON}(?:'s| is|"
    rf" are)?{STILL} {HOLDS}{STILL}|"
    rf"{OWN_NOUN}{HELD_BY}|(?:carried|held) {NOUN})(?: is| are)?"
    rf"(?: (?:as follows|the following|these|{ANY_NUMBER}))?(?: {NOUN})?"
)
PATH_NOUN = (
    r"(?:(?:the|my|your|this|that|correct|(?!final steps)final|shortest|required|right|full|whole|"
    r"complete) )*(?:path|way|route|"
    r"directions?|steps?)(?: (?:from|to) (?:the )?\w+| you (?:should|need to|have to|must) (?:take|follow))*"
)
PATH_IS = re.compile(
    rf"(?:{PATH_NOUN}|it|that|this)(?: (?:is|are|would be)|'s)(?: to)?(?: as follows)?:? (?P<phrase>.+)|"
    r"(?:the )?\w+ (?:is|can be) reached by (?:going|heading|walking|moving) (?P<walk>.+)"
)
LABEL_OF_PATH = (
    rf"(?:{PATH_NOUN}|here(?:'s| is| are) {PATH_NOUN}|to (?:get|go|travel|walk)(?: from|"
    rf" to) (?:the )?(?: ?\w+){{1,6}}|to reach the \w+|so|therefore|thus|"
    r"hence|conclusion)(?: is| are)?(?: as follows)?"
)
LABELLED_SET, LABELLED_PATH = (re.compile(rf"{label} ?[:=] ?(?P<phrase>.+)") for label in (LABEL_OF_SET, LABEL_OF_PATH))
STATEMENTS_OF_SETS = (CARRIES, LISTED_ARE, ARE_LISTED, ARE_HELD, LABELLED_SET)
STATEMENTS_OF_PATHS = (PATH_IS, LABELLED_PATH)
"""Statements around a list: `Mary carries ...`, `the two things she has are ...`, `directions: ...`."""
HEADING_OF_SET = re.compile(rf"(?:{LABEL_OF_SET}|(?:final )?answer|(?:here|these) (?:is|are) {OWN_NOUN}{HELD_BY})")
HEADING_OF_PATH = re.compile(
    rf"(?:{LABEL_OF_PATH}|(?:final )?answer|how to (?:get|go|reach|travel|walk)(?: \w+){{1,9}}|"
    r"follow these steps|you (?:should|need to|have to|must|can|go)(?: go| take| follow)?(?: these steps| as follows)?)"
)
"""What stands above the rows of a list."""

EMPTY_HANDS = re.compile(
    rf"{PERSON}(?: is| does| has|'s)?(?: currently| now)*(?:n't| not| no longer)(?: currently| now| still| actually)* "
    rf"(?:carry|carrying|hold|holding|have|having|possess)(?: currently| now)? (?:anything|any {NOUN})(?P<tail>.*)|"
    rf"{PERSON}(?:'s| is)?{STILL} {HOLDS} (?:no {NOUN}|nothing(?: at all| left)?)(?P<end>.*)|"
    rf"{PERSON}(?:'s| is){STILL} empty[- ]handed|{PERSON}(?:'s hands are empty| has empty hands)|"
    rf"there is nothing (?:that )?{PERSON}(?:'s| is) (?:carrying|holding)"
)
EMPTY_TAIL = re.compile(
    r"(?: (?:now|any ?more|at all|anymore|at (?:the|this) (?:moment|end)(?: of the story)?|currently|right now|left|"
    r"either))*"
)
"""Somebody carries nothing."""

NOTHING_AS = re.compile(r"(nothing|none)(?: at all)?(?:(?:,| [-–—]|:|;) .+)?")
LIST_LEAD = re.compile(
    rf"(?:(?:(?:the following|all|both|these) )?(?P<count>{ANY_NUMBER}|a single)(?: {NOUN})?(?:: ?| - |, )|"
    rf"(?:the )?{NOUN}: |"
    r"(?:first|just|only|both|all|exactly|simply|precisely|nothing (?:but|except)|the following:?|everything:|an?) )+"
)
COUNTED_THINGS = re.compile(rf"\b({ANY_NUMBER}) {NOUN}\b")
LIST_TAIL = re.compile(
    r",? (?:and nothing else|only|too|as well|with (?:him|her|them)|in total|(?:right )?now|currently|"
    r"at (?:the|this) moment|at the end(?: of the story)?|in (?:his|her|their) (?:hands?|possession)|"
    r"i (?:think|believe|guess)|(?:in|at) the (?!end|start|beginning|story|text|passage|question|first|last|"
    r"middle|past|fridge)\w+)$"
)
LIST_REASON = re.compile(
    r"(?:[,;–—]| -)? ?(?:\b(?:because|since|as) (?P<clause>(?:he|she|they|the|both|[\w-]+ (?:has|had|picked|took|got|"
    r"grabbed|dropped|never|did))\b.*)|\bhaving (?:just )?(?:dropped|left|put down|discarded|given away)\b.*|"
    r"\b(?:which|that|having) (?:he |she |they )?(?:just )?(?:picked|took|got|grabbed)\b"
    r"(?P<taken>(?: (?!and\b|then\b|later\b|but\b)[\w-]+)*)|\b(?:based on|according to|given|from) (?:the |this |"
    r"these )?"
    r"(?:given |above |provided )?(?:story|text|passage|context|information|facts?|sequence|events?|statements?|lines?)"
    r"(?: (?!and\b|then\b|to\b|later\b|until\b|but\b)[\w-]+){0,4})$"
)
"""The reason after a list, which names no part of it that is gone."""
JOINED_PARTS = re.compile(r",? (?:as well as|along with|together with|in addition to|plus|followed by) ")
APART_FROM = re.compile(r"(.+?)(?:,? (?:and|but)|,) (?:(?:certainly|definitely) )?(?:not|no longer) (.+)")
NOT_BUT = re.compile(r"not (?!only\b)(.+?),? but (?:rather )?(.+)")
IN_BRACKETS = re.compile(r"\(([^()]{0,400})\)|\[([^\[\]]{0,400})\]|<([^<>]{0,400})>")
HARMLESS_REMARK = re.compile(
    r"(?:(?:both|\w+) )?(?:picked up|took|taken|got|grabbed)(?: (?!and\b|then\b|later\b|but\b|by\b|from\b|away\b|off\b|"
    r"back\b)[\w-]+)*|"
    r"in that order|"
    rf"(?:{ANY_NUMBER}) (?:{NOUN}|steps?|moves?)|(?:final answer|total|in total)|(?:see |from )?lines? [\d, and]+|"
    r"from (?:the )?\w+|(?:from )?(?:the )?\w+(?: ?(?:→|->|to) ?(?:the )?\w+)+"
)
"""A remark in brackets that leaves the list before it as it is."""
CLAUSE_BREAK = re.compile(
    r"(?=;|,? (?:but|while|whereas|although|though)\b|, (?:and )?(?:then )?so\b|,? and (?:then )?(?:he|she|they)\b|"
    r"(?<!,)(?<! and) so (?:he|she|they|the)\b|, (?:he|she|they) )"
)
DESCRIBED_ROW = re.compile(
    r"(.{1,40}?)(?: [-–—] |: | \()(?:(?:he|she|they) )?(?:picked up|took|taken|grabbed|got|acquired|"
    r"collected)\b"
    r"(?: (?!and\b|then\b|later\b|but\b)[\w-]+)*\)?"
)
NUMBERED_ROW = re.compile(r"\s*[*_]*(?:step )?\(?(\d{1,3})[.):]", re.IGNORECASE)
EMPTY_ROW = re.compile(r"\n[ \t]*(?:[-*•+]|\d{1,3}[.)])[ \t]*\Z")
SIGN_OF_ROW = re.compile(r"^[ \t]*([-+]) ", re.MULTILINE)
FENCE = re.compile(r"^[ \t]*```\w*[ \t]*$", re.MULTILINE)
HEADING = re.compile(r"\s*#|.*:[\s*_]*$")
AROUND = " \t\r\n.,:;\"'`*_$#=|"
OPEN_END = re.compile(r"(?:\.\.\.|…|,|\?|\b(?:then|and|or|plus))[\s\"'`*_)]*$")
"""What is around a list in its sentence, and where a sentence ends before its list does."""

ABOUT_TEXT = (
    r"(?:story|text|passage|context|information|facts?|sequence|events?|statements?|actions|given|provided|above)"
)
LIST_FRAME = re.compile(
    r"(?:so|therefore|thus|hence|ok|okay|sure|well|finally|overall|now|and|but|yes|in (?:conclusion|summary|short|"
    r"total)|"
    r"to (?:conclude|summarize|sum up)|consequently|accordingly|indeed|clearly|certainly|apparently|probably|likely|"
    r"right now|currently|at (?:the|this) (?:end|moment|point)(?: of the story)?|in the end|"
    r"by the end(?: of the story)?|as a result|here|i'd say(?: that)?|"
    r"(?:i|we) (?:think|believe|conclude|can conclude|can see|see)(?: that)?|it (?:follows|seems|appears)(?: that)?|"
    r"this means(?: that)?|that means(?: that)?|the answer is|"
    rf"(?:based on|from|according to|given|looking at|considering|following|in|after|by tracking) (?:all |the |this |"
    rf"these |those |"
    rf"that )*{ABOUT_TEXT}(?: [\w ]{{1,40}})?,|after (?:dropping|leaving|discarding|putting down|"
    rf"giving away) [^,]{{1,40}},)"
    r"[,:!]? "
)
WALK_FRAME = re.compile(
    r"(?:(?:so|therefore|thus|hence|ok|okay|sure|well|finally|first|next|then|afterwards|after that|now|and|but|yes|"
    r"in (?:conclusion|summary|short)|overall),? (?!steps?\b)|step \d+: ?|"
    r"to (?:get|go|reach|travel|walk|move) (?:[^,.;]{1,80}, |(?:to )?the \w+ )|from (?:the )?\w+,? |"
    r"(?:start|starting|begin|beginning) (?:in|at|from) (?:the )?\w+, (?:and )?|(?:start|begin) by |"
    rf"(?:based on|according to|given|looking at|in) (?:the |this )*{ABOUT_TEXT}(?: [\w ]{{1,40}})?, |"
    r"(?:i|we) (?:think|believe|suppose|would say)(?: that)?(?: it's| it is)? |"
    r"(?:you|we|i|one)(?:'ll|'d)?(?: would| should| must| need to| have to| will)? |(?:going|heading) |it is )"
)
DOUBLE_STEP = re.compile(r"\b([a-z]+) (?:twice|two times)\b|\b(?:two|2) (?:steps|rooms|times) ([a-z]+)\b")
FILLER_OF_WALK = re.compile(
    r"\b(?:one|a) (?:step|room|move|block|unit) (?:to the )?|(?<=\w) (?:exit|door)\b|(?<=\w) first\b(?=,? (?:and|"
    r"then))|"
    r",? (?:in order )?to (?:reach|get to|arrive at|enter) the \w+(?=$|,? )|(?<=then )(?:you|we)\b ?(?:should |must )?|"
    r"\b(?:you|we) (?=go |walk |head |move )"
)
LETTERS_ALONE = re.compile(r"(?:(?:go|then|and|first|next|move|head|walk|[a-z]|to|the)\b[ ,;→>-]*)+")
ARRIVES = re.compile(r"(?:you|we)(?:'re| are| will be| arrive| reach| get)(?: now)?(?: in| at| to)? (?:the )?\w+")
TURNS = re.compile(r"\b(?:up|down|left|right|forwards?|backwards?|straight|around|back)\b")
OTHER_STEP = re.compile(
    r"^(?:but |then |first |finally |and |also )*(?:climb|take|leave|exit|keep|cross|open|pass|enter|turn|jump|use|"
    r"step|continue|repeat|"
    r"do|return|come|ascend|descend|start|begin|stop|skip|ignore)\b|\bmore steps?\b"
)
OTHER_GOAL = re.compile(r"^(?:first,? )?(?:to (?:get|go|reach|travel|walk|move)|from) ")
"""What is around the steps of a path, and steps that are no direction."""

LET_GO = (
    r"drop\w*|left(?! with)|leav\w+|gave|gives?|given|put|plac\w+|set|lay|laid|discard\w*|pass(?:ed|es)|hand(?:ed|"
    r"s) over|handed|gone|lost|threw|"
    r"throws?|releas\w+|abandon\w*|got rid|gets? rid|let go|lets go|ate|eats?|drank|drinks?|ditch\w*|toss\w*|"
    r"surrender\w*|fell|falls?|stole|no longer|no more|"
    r"before|earlier|"
    r"previously|used to|until|no|not|never|nor|neither|without|other|else"
)
NOT_HELD = re.compile(rf"\b(?:{LET_GO})\b|n't\b")
"""Words of a sentence about things that somebody does not have, or not any more."""
WHAT_IS_NOT_HELD = re.compile(
    rf"(?:{NOT_HELD.pattern})(?: (?:of|has|have|holds?|carr(?:y|ies)|holding|carrying))?"
    r"(?P<what>(?: (?!(?:but|so|because|then|has|have|is|still|kept|picked|took)\b)[\w',-]+){0,9})"
)
WAS_LET_GO = re.compile(
    r"(?P<what>(?:[\w',-]+ ){1,8})(?:(?:was|were|is|are|has been|have been|got)(?: later| then| now| both)? "
    r"(?:dropped|left|given|put|placed|discarded|passed|handed|gone|lost|thrown|released|abandoned|on the|in the|"
    r"at the|not|no longer)"
    r"|(?:(?:is|are|was|were)(?: now)?|ends? up) with (?!her\b|him\b|them\b))"
)
LET_GO_ALL = re.compile(
    r"\b(?:drop\w*|left|leav\w+|put|plac\w+|set|lay|laid|discard\w*|gave|gives?|lost|threw|passed|handed|releas\w+|"
    r"abandon\w*|rid of|let go of|"
    r"ate|drank|ditch\w*|toss\w*|took|takes?|grabs?|stole|swap\w*) (?:down )?(?:it|them|that|this|everything|all|"
    r"both|each)\b|\b(?:it|they|them|"
    r"both|all)\b(?: \w+){0,3} "
    r"(?:dropped|fell|gone|lost|given|left|on the|in the|taken|anymore)\b|\b(?:has|have|holds|carries) (?:it|them|"
    r"both) now\b|\bnow (?:has|have|holds|carries) (?:it|them|both)\b|"
    r"\bfrom (?:her|him|them)\b|\b(?:until|no longer)\b"
)
ALL_BUT = re.compile(
    r"^(?:when|while|once|until|as long as)\b|\bbut first\b|"
    r"\b(?:all|everything|anything|anywhere|everyone|any \w+|(?:all|any) (?:the )?\w+) (?:but|except|save|apart)\b|"
    r"\b(?<!nothing )except\b|\bnot only\b|\b(?:part|half|some|one|piece) of\b"
)
TAKES_BACK = re.compile(
    r"^(?:no|nope|nah)\b|\b(?:kidding|joke|joking|revers\w+|opposite|wrong|incorrect|false|example|placeholder|guess|"
    r"backwards|"
    r"student|candidate|mistake|correction|does(?:n't| not) work|nowhere|lost|blocked|belongs? to)\b"
)
ADDS = re.compile(
    r"^(?:(?P<is_weak>and|then|in addition)|also|plus|or|as well as|along with|together with|additionally|otherwise|"
    r"failing that|if not|alternatively|maybe|perhaps|don't forget)\b|^[&+]"
)
MORE_PARTS = re.compile(
    r"\b(?:also|too|as well|in addition|additionally|another|so on|etc|(?:something|anything|someone) else|"
    r"(?:other|more|few) (?:things|items|objects)|or more|among others|vice versa|(?:either|any) order|but first)\b|"
    r"\.\.\.|…"
)
HAS_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|does?|did|can|could|will|would|should|must|took|takes?|got|gets?|left|"
    r"leaves?|put|went|goes?|go|gave|gives?|held|knows?|found|came|comes?|made|kept|said|told|"
    r"(?:pick|grab|drop|mov|travel|journey|walk|pass|hand|discard|hold|carr[iy]|follow|track|look|see|let|start|end|"
    r"need|return|arriv|stay|contain|mention|list|say|explain|stat|find|check|confirm|conclud|hope|read|count|keep|"
    r"remain|stand|head|turn|reach|lead|help|show)\w*)\b|'s\b|n't\b"
)
THING = re.compile(r"(?:(?:the|an?|some|her|his|their|one|two|three|four|five|\d+) )?[^\W\d_][\w'-]*(?: [\w'-]+){0,3}")
NO_THING = re.compile(
    r"(?:just |then |also |already )*(?:\w+ed|got|taken|put|left|given|gone|been|made|lost|to|no|not|had|it|them|this|"
    r"that|him|her|both|everything|all|any\w*|nothing|something|empty)\b"
)
CHATTER = words_of(
    "as well too also both only just now currently still respectively together in total all else nothing sure ok okay "
    "yes so thus hence therefore finally thanks thank please i we he she they it that this because since from to here "
    "there order answer sorry explanation reasoning step steps note summary conclusion result why how analysis details "
    "story facts confidence certain correct done good great luck problem solution path route directions direction "
    "final inventory list json"
)
"""Words of a remark without a verb that names no part of a list."""


# What may follow an answer and leave it as it is: descriptions, reasons, remarks about certainty, polite ends.


REMARK_SIGNS = " \t\r\n….,:;!\"'*_`$()[]{}<>|=“”‘’–—-→"
FIRST_WORDS = words_of(
    # descriptions
    "the a an it its it's they they're their there there's he she his her these those that's both all each every "
    "one two three four five six seven eight nine ten none only exactly namely "
    # reasons and places
    "because since so given due thanks based according considering considered judging from with which that where "
    "while whereas whose when for of by in on at left right behind near above below between beside under "
    "located positioned standing sitting placed made looking facing compared and but also instead unlike then "
    "therefore thus hence rather "
    # certainty
    "definitely same verified confirmed period great certainly clearly obviously surely absolutely indeed "
    "unfortunately apparently visibly evidently likely probably specifically precisely approximately altogether "
    "overall again here now too answer high "
    # headings
    "explanation explanations method reason reasons reasoning rationale justification detail details evidence "
    "note notes notice description step steps look see counting key summary context background location position "
    "line lines "
    # polite ends
    "please sir madam hope hopefully cheers enjoy here's"
)
FIRST_PHRASE = re.compile(
    r"(?:\d+|(?:confidence|certainty)\b(?!\W*(?:zero|none|no|0 ?%?)\W*$)|next to|need any|"
    r"if (?:you|there)\b|like (?:the|its|an?|all|every|both|most)|double.checked|"
    r"as(?! if\b)|about as|"
    r"to(?! be (?:verified|confirmed|checked|determined|decided)\b)|who(?! knows?\b)|"
    r"just (?:the|an?|one|as|\d+)|nothing else|nobody else|no (?:other|more|doubt)|(?:some|many|most) \w+|"
    r"other (?!option|answer|possib|choice)\w+|"
    r"without (?:any )?(?:the |a )?doubt|not (?:the|an?|in|on|at|to|from)|at least one|"
    r"this (?:is|was|can|matches|object|thing|one|shape|cube|ball|block|caption|includes?|counts?|means)|"
    r"i (?:can |do |also |could |only )?(?:see|saw|find|found|count|counted|spot|observe|notice|included?|excluded?)|"
    r"i (?:think|believe|guess|suppose|hope|know|would say)|i'd say|"
    r"i(?: a|')m (?:[\w%]+ )?(?:sure|certain|confident|positive)|"
    r"we (?:can |also )?(?:see|find|count|know|have|are told)|you can (?:see|find|count)|"
    r"trust me|final answer|my (?:final )?answer|my reasoning|thank you|let me (?:know|explain)|feel free|"
    r"have (?:a|fun)|good luck|happy to|glad to|is there|do you|would you|anything else|shall i|any other|"
    r"[a-z][\w'-]* (?:[\w'-]+ ){0,3}(?:is|are|was|were|has|have|went|moved|travell?ed|journeyed|walked|took|got|gave|"
    r"picked|dropped|put|left|stayed|received|handed|passed|discarded|grabbed|fits?|matches|match|looks?|appears?|"
    r"isn't|aren't|did|does))(?!\w)",
    re.IGNORECASE,
)
FIRST_WORD = re.compile(r"[a-z][a-z']*(?![\w-])", re.IGNORECASE)
REMARK_HEADING = re.compile(
    r"\W*(?!(?:source|status|other|option|second|update|correction|corrected|edit|truth|wrong|alternative|instead|real|"
    r"true|false|note to)\b)"
    r"[a-z]+(?: [a-z]+){0,2}:(?!\W*(?:no|none|false|zero|0 ?%?)\W*$)",
    re.IGNORECASE,
)
"""How a remark after a colour or a count begins."""
GUESSED = re.compile(
    r"(?<!\bi )\bguess\w*|\b(?:placeholder|random\w*|arbitrar\w*|imagination|made up|who knows|on nothing)\b",
    re.IGNORECASE,
)
UNDONE = re.compile(
    rf"{GUESSED.pattern}|\b(?:example|sample|testing|imagin\w+|assum\w+|theory|reality|unverified|rejected|failed|"
    r"(?<!no )doubt\w*|no certainty|missing|might|may be|you say)\b|\b(?:can't|cannot) see (?:it|this|that|them)\W*$|"
    r"\b(?:above|previous|last|this|that|it|line|answer) (?:\w+ ){0,2}(?:is|was) (?:wrong|false|incorrect|untrue)\b|"
    r", no\W*$|^\W*(?:wrong|false|incorrect|untrue)\b",
    re.IGNORECASE,
)
"""What takes an answer back in a remark that begins as a harmless one: a guess, an example, a denial."""

GOES_ON = re.compile(
    r"^[,;:.!()\s–—-]+(?:and |but |though |in fact |indeed |actually )?(?:there|it|its|their|his|her|it's|they|"
    r"they're|both|the|an?|all|no|none|only|one|two|three|four|\d+|because|since|as(?! if\b)|"
    r"he|she|i (?:can |do |also |could )?(?:see|find|count|spot|observe|notice|don't see|can't see|cannot see|"
    r"can't find|cannot find|couldn't find|(?:do|did|can|could) not (?:see|find)|found|(?:don't|do not) think so|"
    r"(?:do|am)(?= (?:sure|certain|confident)|\W*$))|"
    r"you can see|we (?:can )?see|these|those|behind|in|at|on|left|right|to|from|based|according|although|while|"
    r"nothing|not(?! really\b| ?[!.])|some|at least|"
    r"each|every|exactly|just|more|fewer|less|definitely|of course|absolutely|certainly|"
    r"that's|that is|this is|indeed|"
    rf"(?:this|that) (?:caption|statement|description|sentence|{'|'.join(sorted(THINGS))})|"
    r"which|with|so|if|by|for|my|\w+(?:'s)? (?:is|was|are|has|went|took|got|gave|left|stayed|picked|dropped|"
    r"journeyed|travelled|isn't|wasn't|aren't|moved|did|does)|"
    r"[a-z]+ (?:\w+ ){0,3}(?:is|are|was|isn't|aren't|has))\b"
)
"""What may follow yes or no: denials as well."""


def leaves_answer(text: str) -> bool:
    """Return whether a plain text after an answer leaves it as it is."""
    said = text.strip(REMARK_SIGNS)
    if not said:
        return True
    first = FIRST_WORD.match(said)
    is_remark = (
        (first is not None and first[0].lower() in FIRST_WORDS)
        or FIRST_PHRASE.match(said)
        or REMARK_HEADING.match(text)
    )
    return bool(is_remark) and OPEN_DENIAL.search(said) is None and UNDONE.search(said) is None


# Thoughts of models: the parts of a reply between marks such as `<think>` and `</think>`, which are no answer.


THOUGHTS = words_of(
    "think thinking thought thoughts thoughtprocess thinkingprocess thinkingsteps reasoning reason reasons "
    "reasoningprocess rationale analysis analyze analyse scratchpad scratch reflection reflect selfreflection "
    "critique review verification verify check selfcheck innermonologue monologue inner innerthought innerthoughts "
    "internal internalthoughts internalmonologue chainofthought cot deliberation deliberate ponder plan planning "
    "brainstorm draft work working workings step steps explanation explain justification observation observe "
    "perception caption description summary context notes note question questions options choices details unused94 "
    "unused95 "
    "cotbudgetreflect"
)
ANSWER_NAMES = words_of("answer finalanswer theanswer myanswer ans conclusion box")
WRAPPERS = words_of(
    "solution response output final finalresponse finaloutput result reply message assistant root html body"
)
SPECIAL = words_of(
    "s eos bos pad unk image img imagepad imagestart imageend imstart imend im visionstart visionend vision picture "
    "end start return eotid eot endofturn startofturn turn headerid eom endoftext beginoftext text endofsentence user "
    "system assistant constrain call sep mask"
)
FIELD_MARKS = words_of("count number total sum color colour shape size material location place")
LAYOUT = words_of("p br div li ul ol tr td th table tbody thead hr h1 h2 h3 h4 h5 h6 pre blockquote section")
FONT = words_of("b i u em strong span code mark a font center small big sub sup s del ins q cite kbd samp tt var")

MARK = re.compile(
    r"(?P<open><\|?|&lt;\|?|\[{1,2}|◁|⟨|【|＜|«|⟪|⟦|〈|《|「|『|\{{1,2}|\({2})\s?(?P<slash>/?)\s?"
    r"(?P<name>[^\W\d_][\w:.\-]{0,40}(?: [^\W\d_]\w{0,20}){0,3})"
    r"(?:\s{1,3}[^\s<>\[\]=]{1,40}=[^<>\[\]\n]{0,120})?\s?(?P<slash_after>/?)(?:\|?>|\|?&gt;|\]{1,2}|▷|⟩|】|＞|»|⟫|⟧|"
    r"〉|》|」|』|\}{1,2}|\){2})"
)
OPENING = re.compile(r"^(?:begin|start)[_ -](?:of[_ -])?|[_ -](?:start|begin|prefix)$")
CLOSING = re.compile(r"^end[_ -](?:of[_ -])?|[_ -](?:end|suffix)$|^unused95$")
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
MOST_UNKNOWN = 100  # unknown marks whose pairs are looked for
CHANNEL = re.compile(r"<\|?channel\|?>[ \t]*(\w+)?", re.IGNORECASE)
FINAL_CHANNELS = frozenset(("final", "answer", "response"))
HARMONY = re.compile(
    r"\A\s*(?:assistant)?analysis(?=[A-Z\s])(?P<thought>.*)(?:\bassistant |assistant)final|"
    r"\A\s*(?:assistant)?analysis(?=[A-Z][a-z' ])(?P<open>.*)\Z|"
    r"\A\s*Thinking\.\.\.[ \t]*\n(?P<said>.*)\n[ \t]*\.\.\.done thinking\.",
    re.DOTALL,
)
"""Channels whose marks were left out, as in `analysisThe ball is red.assistantfinalred`, and Ollama's thoughts."""
TAGS = ("<", "<|", "&lt;", "&lt;|", "◁", "＜")
CLOSED = re.compile(r"[\[【⟨«⟪⟦〈《「『{(<]\s?/\s?([^\W\d_][\w:. -]{0,60})[\]】⟩»⟫⟧〉》」』})>]")
SIGNS = re.compile(r"[\W_]")


class Mark(NamedTuple):
    """A mark of a text: where it stands, its name in small letters without signs, and whether it closes a pair.

    A heading is a mark in brackets that no other one closes, such as `[Answer]`.
    """

    start: int
    end: int
    name: str
    is_closing: bool
    is_heading: bool
    written: str


class SplitReply(NamedTuple):
    """What a reply says, and its thoughts."""

    said: str
    thoughts: Sequence[str]


def marks_in(text: str) -> Iterator[Mark]:
    """Yield the marks of a text. In brackets such as `[THINK]`, only names that are known or closed are marks."""
    closed: frozenset[str] | None = None
    for found in MARK.finditer(text):
        small = found["name"].lower().rpartition(":")[2]
        is_closing = bool(found["slash"]) or CLOSING.search(small) is not None
        bare = small if found["slash"] else (CLOSING if is_closing else OPENING).sub("", small)
        name = SIGNS.sub("", bare or small)
        is_known = name in THOUGHTS or name in ANSWER_NAMES
        is_heading = found["open"] not in TAGS and not found["slash"]
        if is_heading:
            if closed is None:
                closed = frozenset(SIGNS.sub("", one.lower()) for one in CLOSED.findall(text))
            if name not in closed and not is_known:
                continue
            is_heading = name not in closed
        if (" " in found["name"] and not is_known) or (found["slash_after"] and not found["slash"]):
            continue  # a comparison such as `a <b and c> d`, and a mark without content such as `<br/>`
        yield Mark(found.start(), found.end(), name, is_closing, is_heading, found[0])


def split_thoughts(text: str) -> SplitReply:
    """Return a reply without its thoughts, and the thoughts without their marks.

    A text before an end without a beginning is a thought, and so is the text after a beginning without an end.
    """
    text, thoughts = _split_channels(text)
    kept: list[str] = []
    at, opened = 0, -1  # the end of the last mark that closes a thought, and of the one that opened the current thought
    for mark in marks_in(text):
        if opened >= 0 and mark.is_heading and mark.name in ANSWER_NAMES:
            thoughts.append(text[opened : mark.start])
            at, opened = mark.start, -1
        if mark.name not in THOUGHTS:
            continue
        if mark.is_closing:
            thoughts.append(text[max(at, opened) : mark.start])
            at, opened = mark.end, -1
        elif opened < 0:
            kept.append(text[at : mark.start])
            opened = mark.end
    if opened < 0:
        kept.append(text[at:])
    else:
        thoughts.append(text[opened:])
    return SplitReply("".join(kept), [_without_marks(one) for one in thoughts])


def _without_marks(thought: str) -> str:
    """Return a thought without the marks of thoughts in it."""
    pieces, at = [], 0
    for mark in marks_in(thought):
        if mark.name in THOUGHTS:
            pieces.append(thought[at : mark.start])
            at = mark.end
    return "".join([*pieces, thought[at:]])


def _split_channels(text: str) -> tuple[str, list[str]]:
    """Return a reply without the channels that are not final, as in `<|channel|>analysis`, and their texts."""
    bare = HARMONY.match(text)
    if bare is not None:
        return text[bare.end() :], [next(filter(None, bare.groups()), "")]
    marks = list(CHANNEL.finditer(text))
    if not marks:
        return text, []
    kept, thoughts = [text[: marks[0].start()]], []
    for mark, end in zip(marks, [*(mark.start() for mark in marks[1:]), len(text)]):  # noqa: B905 - Python 3.9
        name = mark[1] or ""
        is_final = name.lower() in FINAL_CHANNELS or name.lower() not in THOUGHTS | {"commentary"}
        part = text[mark.end() if is_final and name.lower() in FINAL_CHANNELS else mark.end() - len(name) : end]
        if is_final:
            kept.append(part)
        else:
            thoughts.append(text[mark.end() : end])
    return "".join(kept), thoughts


def without_thoughts(text: str) -> str:
    """Return a reply without its thoughts."""
    return split_thoughts(text).said


def is_in_thought(text: str) -> bool:
    """Return whether a text ends within a thought."""
    bare = HARMONY.match(text)
    if bare is not None and bare["open"]:
        return True
    is_open = False
    for mark in marks_in(text):
        if mark.name in THOUGHTS:
            is_open = not mark.is_closing
    return is_open


ANSWER, ANSWER_END = "<answer>", "</answer>"


class StatementText(NamedTuple):
    """A text whose marks of answers are `<answer>` and `</answer>`, without marks of layout, font and roles.

    `unknown_mark` is the first of a pair of unknown marks that has most of the text; empty if there is none.
    """

    text: str
    unknown_mark: str


def with_plain_marks(said: str) -> StatementText:
    """Return what a reply says with the marks of answers in one form."""
    said = COMMENT.sub(" ", said) if "<!--" in said else said
    pieces: list[str] = []
    unknown: list[Mark] = []
    at = 0
    for mark in marks_in(said):
        if mark.name in ANSWER_NAMES:
            put = ANSWER_END if mark.is_closing else ANSWER
        elif mark.name in FONT:
            put = ""
        elif mark.name in WRAPPERS or mark.name in SPECIAL or mark.name in LAYOUT:
            put = "\n"
        elif mark.name in FIELD_MARKS:
            put = "\n" if mark.is_closing else f"\n{mark.name}: "
        else:
            unknown.append(mark)
            continue
        pieces += [said[at : mark.start], put]
        at = mark.end
    return StatementText("".join([*pieces, said[at:]]), _mark_of_most(said, unknown))


def _mark_of_most(text: str, marks: Sequence[Mark]) -> str:
    """Return the first unknown mark whose pairs have more than half of a text; empty if none has."""
    if not marks:
        return ""
    opened: dict[str, Mark] = {}
    inside: dict[str, int] = {}
    first: dict[str, Mark] = {}
    for mark in marks[:MOST_UNKNOWN]:
        first.setdefault(mark.name, mark)
        if mark.is_closing:
            begin = opened.pop(mark.name).end if mark.name in opened else 0
            inside[mark.name] = inside.get(mark.name, 0) + _size(text[begin : mark.start])
        else:
            opened.setdefault(mark.name, mark)
    for name, mark in opened.items():
        if name not in inside and len(name) > 1:
            inside[name] = _size(text[mark.end :])
    whole = _size(text) - sum(len(mark.written) for mark in marks)
    found = [name for name, size in inside.items() if 2 * size > whole]
    return first[found[0]].written if found else ""


def _size(text: str) -> int:
    return len(text) - sum(map(text.count, " \t\n"))


# The answer that a reply marks: `Answer: 3`, `The answer is 3`, `\boxed{3}`, `<answer>3</answer>`, `{"answer": 3}`.


KEYS = words_of(
    "answer finalanswer final answers ans theanswer shortanswer correctanswer predictedanswer prediction response "
    "result output"
)
ANSWER_FIELDS = FIELD_MARKS | words_of("path carrying holding objects items inventory directions steps route")
TRUTH_FIELDS = words_of("exist exists is_true fits")
REMARK_FIELDS = words_of(
    "explanation reasoning reason rationale thought thoughts thinking analysis description confidence certainty unit "
    "units type id question note notes comment"
)
ERROR_FIELDS = words_of("error errors exception failure refusal alternative alternatives dropped removed excluded")
SUCCESS_FIELDS = words_of("success ok succeeded correct valid is_correct is_valid")
STATE_FIELDS = words_of("status state code")
GOOD_STATES = words_of(
    "ok okay success succeeded successful complete completed done finished answered final 0 200 true"
)
"""Names of fields with an answer if all other fields are remarks, of fields about a failure, good states."""
MOST_MARKS = 20  # marks of a reply that are looked at, from the last one on
LARGEST_JSON = 100_000  # characters of a JSON object that is read
LABEL = re.compile(
    # Answer: 3; the answer is 3; Final answer = 3; "answer": 3
    r"\b(?:answer|ans)\b[*_`\"')\] ]{0,4}(?:(?:is|was|would be|must be|should be|has to be|will be|"
    r"becomes)\b[*_`\"' ]{0,4}[:=]?|"
    r"[:=](?![:=])|->|→|⇒|=>|[-–—](?= ))|"
    # other languages
    r"\b(?:antwort|respuesta|réponse|resposta|risposta|antwoord|ответ)\b(?: \w{1,10})? ?(?:lautet|ist|es|est|é|è|"
    r"is|это)?\b ?[:：]? ?|(?:答案|答え|回答|정답)[^\S\n]?(?:是|は|은)?[:：]?|"
    # the answer to this question is 3
    r"\b(?:answer|response) (?:to|for) [^.?!\n:]{1,60}? (?:is\b:?|:)|"
    # A: 3 at the beginning of a line; Conclusion: 3
    r"^[ \t>#*_-]{0,6}(?:a|answer|conclusion|verdict|result|final result|solution|response|output|prediction|final|"
    r"total|sum|count|decision)"
    r"[*_]{0,3} ?:|"
    # a line with the word alone
    r"^[ \t>#*_=-]{0,8}(?:(?:the|my|final|short|correct) ){0,2}(?:answer|conclusion|verdict|result)[*_ \t=:-]{0,8}$",
    re.IGNORECASE | re.MULTILINE,
)
BOXED = re.compile(r"\\(?:boxed|fbox|framebox)\s?\{")
MARKS = re.compile(
    f"{LABEL.pattern}|(?P<box>{BOXED.pattern})|(?P<tag>{re.escape(ANSWER)})", re.IGNORECASE | re.MULTILINE
)
VALUE = re.compile(
    r"[\"'](?:final[_ ]?)?answer[\"']\s{0,9}:\s{0,9}(\"(?:[^\"\\\n]|\\.){0,300}\"|\[[^\[\]\n]{0,300}\]|"
    r"[^\s,}\]\"]{1,60})(?=\s{0,9}[,}\n]|$)",
    re.IGNORECASE,
)
ANSWER_ENDS = re.compile(re.escape(ANSWER_END), re.IGNORECASE)
LONGEST_LEAD = 300  # characters before a mark in which the beginning of its sentence is looked for
OWN = re.compile(
    r"(?:^|[^\w' ]\W*|\b(?:the|my|our|your|this|an?|so|thus|therefore|hence|and|but|then|is|here|here's|in|as|for|that|"
    r"its|short|ok|okay|sure|final) )"
    r"(?:(?:final|short|best|correct|corrected|right|overall|updated|revised|direct|concise|brief|detailed|full|"
    r"complete|"
    r"proper|actual|true|single|only|single-word|one-word|exact|numerical|numeric|most likely|likely|true|false) )*"
    r"(?:answer|ans)\b"
)
"""The model's own answer: `my final answer`, not `the student's answer`, `my previous answer` or `a typical answer`."""
NOT_SAID = re.compile(
    r"(?:\b(?:(?:part|half|piece|portion|some) of|can't|cannot|not|deny|denies|wrong|false|claim(?:s|ed)?|says|said|"
    r"thought|thinks|at first|initially)|"
    r"n't)\b"
)
FORMAT = re.compile(
    r"\b(?:format|template|e\.?g|ex|like so|(?:this|the following) (?:form|way)|"
    r"example|sample|instance|syntax|expected (?:output|answer|reply)|looks? like|"
    r"(?:respond|reply|answer) (?:in|with) (?:this|the following|exactly))\b",
    re.IGNORECASE,
)
HAS_WORDS = re.compile(r"[^\W_]")
LABEL_CLAUSE_END = re.compile(r"[,;](?= )|\b(?:so|but|therefore|hence|thus|then)\b")
PIECE_END = re.compile(r"[.,;!?\n](?:\s|$)|\n")
SENTENCE = re.compile(r"(?<!e\.g)(?<!\beg)(?<!\bex)[.!?\n](?:\s|$)|\n")


class MarkedAnswer(NamedTuple):
    """A marked text, the text after it, and whether the mark says where it ends.

    `text` is None if a doubt, a condition or a question is about the mark. `value` is its first piece without commas,
    `between` the text up to the next mark, and `is_below` whether the text begins below the line of the mark.
    """

    text: str | None
    after: str
    is_delimited: bool
    value: str = ""
    between: str = ""
    is_below: bool = False


def marked_answers(text: str) -> Iterator[MarkedAnswer]:
    """Yield what the marks of a text mark, the last one first."""
    marks = list(MARKS.finditer(text))[-MOST_MARKS:]
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(reversed(marks), reversed(ends)):  # noqa: B905 - Python 3.9
        found = _marked(text, mark)
        if found.is_delimited:
            yield found._replace(between=found.after[: max(0, len(found.after) - len(text) + end)])
        else:
            value, between = (*PIECE_END.split(text[mark.end() : end].strip(), 1), "")[:2]
            yield found._replace(value=value, between=between)


def _marked(text: str, mark: re.Match[str]) -> MarkedAnswer:
    rest = text[mark.end() :]
    before = SENTENCE.split(text[max(0, mark.start() - LONGEST_LEAD) : mark.start()])[-1]
    if FORMAT.search(before) or _is_announced(text[max(0, mark.start() - LONGEST_LEAD) : mark.start()]):
        return MarkedAnswer(None, rest, is_delimited=True)
    if mark["box"]:
        inside = braced(rest)
        return MarkedAnswer(without_macros(inside), rest[len(inside) + 1 :], is_delimited=True)
    if mark["tag"]:
        inside = ANSWER_ENDS.split(rest, maxsplit=1)[0]
        return MarkedAnswer(inside, rest[len(inside) + len(ANSWER_END) :], is_delimited=True)
    return _labelled(plain_sentence(f"{before}{mark[0]}"), rest)


def _is_announced(before: str) -> bool:
    """Return whether the line before a mark announces an example or a format: `Respond in this format:`."""
    line = before.rstrip(" \t\n*_`#>").rpartition("\n")[2].removesuffix("json").rstrip()
    return line.endswith(":") and FORMAT.search(line) is not None


def _labelled(label: str, rest: str) -> MarkedAnswer:
    """Return the first line with words after a label; `label` is the beginning of its sentence."""
    end = 0
    for at, whole in enumerate(rest.split("\n")):
        line = ANSWER_ENDS.split(whole)[0]
        end += len(whole) + 1
        if HAS_WORDS.search(line):
            is_said = not (
                ("answer" in label and not OWN.search(LABEL_CLAUSE_END.split(label)[-1].strip()))
                or DOUBT.search(label)
                or ELSEWHERE.search(label)
                or CONDITION.search(label.replace("would be", ""))
                or NOT_SAID.search(LABEL_CLAUSE_END.split(label)[-1])
            )
            return MarkedAnswer(line if is_said else None, rest[end:], is_delimited=False, is_below=at > 0)
    return MarkedAnswer("", "", is_delimited=False)


def braced(text: str) -> str:
    """Return the text before the brace that closes an already open one; the whole text if no brace closes it."""
    depth = 1
    for found in re.finditer(r"[{}]", text):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return text[: found.start()]
    return text


def with_marked_values(text: str) -> str:
    """Return a text in which each JSON object with an answer is the answer in `<answer>` and `</answer>`."""
    if '"' not in text and "'" not in text:
        return text
    pieces, at = [], 0
    for start, end in _objects(text):
        value = _value_in(text[start:end])
        if value is not None:
            pieces += [text[at:start], value]
            at = end
    text = "".join([*pieces, text[at:]])
    return VALUE.sub(lambda found: f"{ANSWER}{found[1]}{ANSWER_END}", text)


def _objects(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each outer brace of a text begins and ends."""
    depth = start = 0
    for found in re.finditer(r"\"(?:[^\"\\\n]|\\.)*\"|[{}]", text):
        if found[0] == "{":
            start = start if depth else found.start()
            depth += 1
        elif found[0] == "}" and depth:
            depth -= 1
            if not depth and found.end() - start <= LARGEST_JSON:
                yield start, found.end()


def _value_in(text: str) -> str | None:
    """Return the marked answer of a JSON object, a line break if it has no answer; None for other texts."""
    try:
        found = json.loads(text, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        return None
    if _is_failure(found):
        return f"{ANSWER}{ANSWER_END}"
    values = set(_values(found))
    if values:
        return f"{ANSWER}{values.pop() if len(values) == 1 else ''}{ANSWER_END}"
    remarks = [_text(value).lower() for key, value in found.items() if key.lower() in REMARK_FIELDS]
    if any(one in ("0", "error") or is_refusal(one) or UNDONE.search(one) for one in remarks):
        return "\n"
    truths = [_text(value) for key, value in found.items() if key.lower() in TRUTH_FIELDS]
    named = [(key, _text(value)) for key, value in found.items() if key.lower() in ANSWER_FIELDS]
    if (
        len(named) + len(truths) != 1
        or not {key.lower() for key in found} <= ANSWER_FIELDS | TRUTH_FIELDS | REMARK_FIELDS
    ):
        return "\n"
    return f"{ANSWER}{truths[0]}{ANSWER_END}" if truths else f"\n{named[0][0]}: {named[0][1]}\n"


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of some names and values; one whose names occur twice counts as an error."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else found | {"error": "a name occurs twice"}


def _is_failure(found: dict[str, Any]) -> bool:
    """Return whether a JSON object reports an error: `{"status": "failed", "result": 0}`."""
    for key, value in found.items():
        name = key.lower()
        if name in ERROR_FIELDS and value not in (None, False, "", 0, [], {}):
            return True
        if (name in SUCCESS_FIELDS and value is False) or (
            name in STATE_FIELDS and _text(value).lower() not in GOOD_STATES
        ):
            return True
    return False


def _values(found: dict[str, Any]) -> Iterator[str]:
    if "step" in found:
        return  # the result of a step is no answer
    for key, value in found.items():
        if re.sub(r"[\W_\d]", "", key).lower() in KEYS:
            if isinstance(value, dict):
                inner = [one for one in value.values() if not isinstance(one, (dict, list))]
                yield from map(_text, inner if len(inner) == 1 else _values(value))
            else:
                yield _text(value)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_text, value)) or "[]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return "" if value is None or isinstance(value, dict) else str(value)


def is_unfinished(text: str) -> bool:
    r"""Return whether the last mark of a text is a `\boxed{` or `<answer>` that nothing closes."""
    marks = list(MARKS.finditer(text))
    if not marks or not (marks[-1]["box"] or marks[-1]["tag"]):
        return False
    rest = text[marks[-1].end() :]
    return ANSWER_ENDS.search(rest) is None if marks[-1]["tag"] else braced(rest) == rest


# The frame of a reply around its answer: greetings, offers, further questions, lists, an end that breaks off.


ROLE = re.compile(r"\A\s*(?:assistant|model|ai|bot|gpt|reply)[*_]{0,2} ?: ?", re.IGNORECASE)
STORY = re.compile(r"[\s#*_]*(?:story|context|passage|text|input)\b", re.IGNORECASE)
NEXT_QUESTION = re.compile(
    r"\n[ \t#>*_-]*(?:(?:next |new )?(?:question|q|human|user|instruction|problem|exercise|example)[ "
    r"\t]?\d*[*_]{0,2} ?[:.\n])",
    re.IGNORECASE,
)
OPENER = re.compile(
    r"^(?:thanks|thank you|sure|good question|great question|got it|certainly|of course|okay|ok|alright|hello|hi|"
    r"great|absolutely|"
    r"let me (?:check|look|see|think)|you're welcome)\b[^,:]{0,60}[.!]?$"
)
CLOSER = re.compile(
    r"\b(?:anything else|would you like me to|do you want me to|shall i|let me know if|feel free|hope (?:this|that|"
    r"it) helps|just ask)\b"
)
CLOSING_CLAUSE = re.compile(r", (?:i )?(?:hope (?:this|that|it) helps|let me know|feel free)\b[^,;:]*$")
THOUGHT_LABEL = re.compile(
    r"^[\W_]*(?:thoughts?|reasoning|thinking|analysis|my thoughts)\b[\W_]*(?::|\n)", re.IGNORECASE
)
UNREAD_JSON = re.compile(r"\W*(?:json\s*)?\{\s*[\"']\w")
LIST_IN_LINE = re.compile(
    r"(?:^|[\n:])\s{0,9}(?:\(?1[.)]|\(?[aA][.):]) ?\S[^\n]{0,60}? \(?(?:2[.)]|[bB][.):]) ?\S[^\n]*"
)
EMPTY_LABEL = re.compile(
    r"\n[^\w\n]*(?:output|a|answer|assistant|response|reply)[*_]{0,2} ?:[\s*_]*\Z|\byour turn\b", re.IGNORECASE
)
ARROW = re.compile("->|→|=>|⇒")
TRUTH_AFTER = re.compile(r" ?(?:yes|no|true|false)\W*")
ITEM = re.compile(r"\d{1,3}[.)] ")
EMPTY_ITEM = re.compile(r"\d{1,3}[.)]")
EXAMPLE = re.compile(r"[\W_]*(?:example|sample|demo|shot) ?\d*[*_]{0,2} ?:", re.IGNORECASE)
LISTED = re.compile(
    r"\s*(?:[-*•+|–—]\s?\S|\(?\d{1,3}[.)]\s|(?:[\w()]+ ){0,3}[\w()]+: ?\S{1,12}$|[^\n]{1,40} [–-] [^\n]{1,40}$)"
)


def is_unanswered(text: str) -> bool:
    """Return whether a reply has examples of a prompt, or ends with an empty label or item: `A:`, `3)`."""
    rows = text.rstrip().split("\n")
    last = rows[-1].strip()
    is_item = EMPTY_ITEM.fullmatch(last) and (ITEM.match(rows[-2].strip()) if len(rows) > 1 else last.endswith(")"))
    return bool(is_item) or EXAMPLE.match(text) is not None or EMPTY_LABEL.search(text) is not None


def concluding_arrow(sentences: Sequence[str]) -> re.Match[str] | None:
    """Return the only arrow of a text if it leads to a yes or no at its end: `4 > 3 → yes`."""
    arrows = [arrow for one in sentences for arrow in ARROW.finditer(one)]
    return arrows[0] if len(arrows) == 1 and TRUTH_AFTER.fullmatch(sentences[-1], arrows[0].end()) else None


def breaks_off(text: str, sentences: Sequence[str]) -> bool:
    """Return whether a text of several sentences breaks off, or ends with a sign after which more is expected."""
    if concluding_arrow(sentences) is not None:
        return False
    end = text.rstrip(" \t\n*_`")
    rows = end.split("\n")
    if len(rows) > 1 and rows[-1].startswith("|") and rows[-1].count("|") < rows[-2].count("|"):
        return True
    is_unfinished = len(sentences) > 1 and end[-1:].isalnum() and not is_listed(end.split("\n")[-1])
    return end.endswith((",", ":")) or is_unfinished


def is_question(sentence: str) -> bool:
    """Return whether a sentence ends with a question mark."""
    return sentence.rstrip("\"') ").endswith("?")


def is_listed(line: str) -> bool:
    """Return whether a line is part of a list or a table."""
    return LISTED.match(line) is not None


# Replies whose answer has parts: sets, such as what somebody carries, and sequences, such as the steps of a path.


SPOILT = OUTSIDE - 1  # what a sentence gives that adds something to a list
LONGEST_CLAUSE = 600  # characters of a clause that may give a list
LONGEST_STRANGER = 4  # words of a part that is not known


class Finding(NamedTuple):
    """A plain sentence, what it gives, the steps that it names, and whether it is a row of a list or a heading.

    `number` is that of a numbered row, 0 without one. `given` is the code of a list, `SPOILT`, `OUTSIDE` for a doubt or
    a question about parts, or None.
    """

    text: str
    given: int | None
    steps: tuple[str, ...] = ()
    is_row: bool = False
    is_heading: bool = False
    number: int = 0

    @property
    def code(self) -> int:
        """Return the code of the list; `OUTSIDE` without one."""
        return OUTSIDE if self.given is None or self.given < 0 else self.given


class ComposedReader:
    """Reads replies to questions whose answers are sets or sequences; `form` reads single lists."""

    def __init__(self, form: ComposedAnswers) -> None:
        self.form = form
        words = "|".join(sorted(map(re.escape, form.ways), key=len, reverse=True))
        self.article = re.compile(rf"\b(?:the|an?|some|her|his|their) (?=[\"']?(?:{words})(?!\w))")
        self.hyphenated = re.compile(rf"\b(?:{words})[-–](?:{words})\b")
        self.frame = LIST_FRAME if form.is_set else WALK_FRAME
        self.heading = HEADING_OF_SET if form.is_set else HEADING_OF_PATH
        self.statements = STATEMENTS_OF_SETS if form.is_set else STATEMENTS_OF_PATHS

    def code(self, text: str) -> int:
        """Return the code of the answer that a text gives; `OUTSIDE` if it gives none."""
        text = FENCE.sub("", text)
        if NO_PARTS.fullmatch(text.strip()):
            return self.form.empty
        if self.hyphenated.search(text.casefold()) or EMPTY_ROW.search(text) or len(set(SIGN_OF_ROW.findall(text))) > 1:
            return OUTSIDE
        marks = marked_answers(text)
        marked = next(marks, None)
        if marked is None:
            return self._told(text)
        code = self._marked(marked)
        before = next(marks, None)
        if code == OUTSIDE or before is None or before.text is None:
            return code
        between = plain_sentence(before.between)
        if any(pattern.search(between) for pattern in (RETRACTION, STRONG_RETRACTION, NOT_HELD)):
            return code
        said = plain_sentence(before.text)
        earlier = {self._listed(one) for one in (said, *sentences_of([said])[:1])} - {OUTSIDE}
        return code if earlier <= {code} else OUTSIDE

    def _marked(self, marked: MarkedAnswer) -> int:
        """Return the code of a marked answer, unless the text after it changes it."""
        if marked.text is None:
            return OUTSIDE
        if marked.is_delimited:
            code, later = self._listed(plain_sentence(marked.text)), self._findings(marked.after)
            code = self._told(marked.text) if code == OUTSIDE else code
            return OUTSIDE if later and REJECTED.match(later[0].text) else self._left(code, later)
        found = self._findings(f"{marked.text}\n{marked.after}", is_row=marked.is_below)
        return self._left(found[0].code, found[1:]) if found else OUTSIDE

    def _told(self, text: str) -> int:
        """Return the code of the only list that the sentences of a text without marks give.

        A conclusion (`So she has the apple.`) counts whatever is before it.
        """
        found = self._findings(text)
        given = [at for at, one in enumerate(found) if one.code != OUTSIDE]
        is_unfit = UNREAD_JSON.match(text) or THOUGHT_LABEL.match(text) or any(is_refusal(one.text) for one in found)
        if not given or is_unfit or is_question(found[-1].text):
            return OUTSIDE
        last = given[-1]
        if breaks_off(text, [one.text for one in found]) and last < len(found) - 1:
            return OUTSIDE
        concludes = CONCLUSION.search(found[last].text) is not None
        before = found[:last] if concludes else found[: given[0]]
        if any(TAKES_BACK.search(one.text) for one in before[-1:]):
            return OUTSIDE
        if not concludes and any(one.given is not None for one in before):
            return OUTSIDE
        code, later = found[last].code, found[last if concludes else given[0] :]
        others = [one for one in later if one.given != code]
        named = frozenset().union(*(self._named(one.text) - self._not_held(one.text) for one in others))
        if any(one.given is not None for one in others) or (self.form.is_set and not named <= self._parts(code)):
            return OUTSIDE
        return self._left(code, later)

    def _left(self, code: int, later: Sequence[Finding]) -> int:
        """Return the code of a list; `OUTSIDE` if a later sentence adds something, or takes the list back."""
        is_changed = any(one.given != code and self._changes(code, one) for one in later)
        return OUTSIDE if is_changed else code

    def _changes(self, code: int, later: Finding) -> bool:
        said, own, named = later.text, self._parts(code), self._named(later.text)
        if later.steps or later.code != OUTSIDE:
            return True
        if later.given == SPOILT and not (named and named <= own and HAS_VERB.search(said)):
            return True
        if (
            STRONG_RETRACTION.search(said)
            or RETREAT.search(said)
            or (RETRACTION.search(said) and (named or not self.form.is_set))
        ):
            return True
        if TAKES_BACK.search(said):
            return True
        return bool(own & self._not_held(said)) or (bool(own) and LET_GO_ALL.search(said) is not None)

    def _findings(self, text: str, *, is_row: bool = True) -> list[Finding]:
        """Return what the sentences of a text give. Rows with one part each, and single steps, become one list.

        `is_row` says whether the first line may be a row.
        """
        found: list[Finding] = []
        for line in text.split("\n"):
            if line.strip(DRESS):
                some = self._of_line(line, is_row=is_row or bool(found))
                found += [one._replace(given=OUTSIDE) for one in some] if self._is_of_others(found, some) else some
        if not self.form.is_set:
            found = [one for one in found if not ARRIVES.fullmatch(bare(one.text))]
        joined: list[Finding] = []
        for is_part, rows in groupby(found, key=self._is_part):
            run = list(rows)
            joined += [self._joined(run)] if is_part and len(run) > 1 else run
        return joined

    def _is_part(self, one: Finding) -> bool:
        return one.is_row and len(self._parts(one.code)) == 1 if self.form.is_set else bool(one.steps)

    def _joined(self, run: Sequence[Finding]) -> Finding:
        """Return the list whose parts or steps stand in sentences that follow each other."""
        if run[0].steps and all(one.given == run[0].code for one in run):
            return run[0]
        numbers = [one.number for one in run if one.number]
        is_broken = numbers not in ([], list(range(1, len(run) + 1))) or not _is_chain([one.text for one in run])
        if is_broken or any(one.given == OUTSIDE for one in run):
            return Finding(" ".join(one.text for one in run), SPOILT)
        code = self.form.code_of([part for one in run for part in one.steps or self._parts(one.code)])
        return Finding(" ".join(one.text for one in run), SPOILT if code == OUTSIDE else code, run[0].steps)

    def _of_line(self, line: str, *, is_row: bool) -> list[Finding]:
        """Return what a line gives: as a whole, or its sentences and their clauses."""
        said = BULLET.sub("", plain_sentence(line))
        number = NUMBERED_ROW.match(line)
        at = int(number[1]) if number is not None else 0
        described = DESCRIBED_ROW.fullmatch(said.strip(AROUND)) if BULLET.sub("", line) != line else None
        code = self._listed(described[1] if described is not None else said)
        if code != OUTSIDE:
            return [Finding(said, code, is_row=is_row, number=at)]
        if HEADING.match(line) and not self._named(said):
            return [Finding(said, None, is_heading=True)]
        sentences = (one for one in sentences_of([said]) if not (CLOSER.search(one) or OPENER.match(one)))
        found = [found for sentence in sentences for found in self._of_sentence(sentence)]
        return [one._replace(number=at) for one in found[:1]] + found[1:]

    def _is_of_others(self, found: Sequence[Finding], rows: Sequence[Finding]) -> bool:
        """Return whether a list is below a heading that does not say that it is the answer: `Mary dropped:`."""
        if not rows or not (rows[0].is_row or rows[0].steps):
            return False
        headings = []
        for one in reversed(found):
            if not one.is_heading:
                break
            headings.append(one.text)
        return not all(any(self.heading.fullmatch(form) for form in self._forms(one)) for one in headings)

    def _of_sentence(self, sentence: str) -> list[Finding]:
        found = self._finding(sentence)
        clauses = [one for one in CLAUSE_BREAK.split(sentence) if one.strip(DRESS)]
        is_whole = len(clauses) < 2 or found.given not in (None, SPOILT) or not is_asserted(sentence)
        return [found] if is_whole else [self._finding(clause) for clause in clauses]

    def _finding(self, said: str) -> Finding:
        """Return what a sentence or a clause gives."""
        is_open = OPEN_END.search(said) or ALL_BUT.search(said)
        if is_open or len(said) > LONGEST_CLAUSE or not is_asserted(said):
            return Finding(
                said, self._addition(said) or (OUTSIDE if self._named(said) - self._not_held(said) else None)
            )
        for form in self._forms(said):
            code = self._stated(form)
            if code != OUTSIDE:
                return Finding(said, code if self._agrees(said, code) else OUTSIDE)
            steps = self._steps(form)
            if steps:
                code = self.form.code_of(steps)
                return Finding(said, None if code == OUTSIDE else code, steps)
        return Finding(said, self._addition(said) or self._strange_part(said))

    def _agrees(self, said: str, code: int) -> bool:
        """Return whether a sentence names only its list and what somebody has not, and repeats no other list."""
        own, not_held = self._parts(code), self._not_held(said)
        repeated = {self._listed(one[1] or one[2] or "") for one in IN_BRACKETS.finditer(said)}
        names_more = self.form.is_set and not self._named(said) - not_held <= own
        return not (names_more or own & not_held or repeated - {code, OUTSIDE, self.form.empty})

    def _forms(self, said: str) -> Iterator[str]:
        """Yield a sentence, and the sentence without remarks in brackets, words such as `so`, and reasons."""
        remarks = list(IN_BRACKETS.finditer(said))
        is_plain = remarks and not any(map(self._spoils, remarks))
        for form in (said, *([IN_BRACKETS.sub(" ", said)] if is_plain else [])):
            form = " ".join(form.split()).strip(AROUND)
            yield form
            for _ in range(6):
                frame = self.frame.match(f"{form} ")
                if frame is None or frame.end() >= len(form):
                    break
                form = form[frame.end() :].strip(AROUND)
                yield form
            reason = LIST_REASON.search(form)
            if reason is not None and (NOT_HELD.search(reason[0]) is None or self._not_held(reason[0])):
                yield form[: reason.start()].strip(AROUND)

    def _spoils(self, remark: re.Match[str]) -> bool:
        """Return whether a remark in brackets may change the list before it: `(or the milk)`, `(dropped)`, `[fig]`."""
        inner = (remark[1] or remark[2] or remark[3] or "").strip()
        if remark[3]:
            return True
        if HARMLESS_REMARK.fullmatch(inner):
            return not self.form.is_set and bool(self._named(inner))
        if not self.form.is_set:
            return self._listed(inner) == OUTSIDE and self.form.code_of(self._steps(inner)) == OUTSIDE
        named, not_held = self._named(inner), self._not_held(inner)
        return not named or not named <= not_held

    def _stated(self, said: str) -> int:
        """Return the code of a sentence that is a list, or a known statement around one."""
        nothing = EMPTY_HANDS.fullmatch(said) if self.form.is_set else None
        alone = NOTHING_AS.fullmatch(said) if self.form.is_set else None
        if alone is not None and self._named(said) <= self._not_held(said):
            return self.form.code(alone[1])
        if nothing is not None and EMPTY_TAIL.fullmatch(nothing["tail"] or nothing["end"] or ""):
            return self.form.empty
        code = self._listed(said)
        for pattern in self.statements if code == OUTSIDE else ():
            found = pattern.fullmatch(said)
            code = OUTSIDE if found is None else self._phrase(found)
            if code != OUTSIDE:
                count = COUNTED_THINGS.search(said)
                return OUTSIDE if count is not None and not self._has_parts(code, count[1]) else code
        before, colon, after = said.rpartition(": ")
        if code == OUTSIDE and colon and not self.form.is_set:
            names = [part for part in self.form.word.findall(DOUBLE_STEP.sub(_doubled, before)) if len(part) > 1]
            code = self._listed(after)
            return code if self.form.code_of([self.form.ways[part] for part in names]) == code else OUTSIDE
        return code

    def _phrase(self, found: re.Match[str]) -> int:
        """Return the code of the list in a statement, or of the steps in one."""
        said = found["phrase"] or found["walk"]
        code = self._listed(said)
        return self.form.code_of(self._steps(said)) if code == OUTSIDE and not self.form.is_set else code

    def _listed(self, said: str) -> int:
        """Return the code of a text that is a list as a whole: `the apple and the milk`, `just the milk`, `nothing`."""
        if OPEN_END.search(said):
            return OUTSIDE
        said = said.strip(AROUND)
        code = self._plain_list(said)
        if code != OUTSIDE:
            return code
        not_but, apart_from = NOT_BUT.fullmatch(said), APART_FROM.fullmatch(said)
        if not_but is not None:
            return self._listed(not_but[2]) if self._is_named(not_but[1]) else OUTSIDE
        if apart_from is not None:
            return self._listed(apart_from[1]) if self._is_named(apart_from[2]) else OUTSIDE
        said = JOINED_PARTS.sub(" and " if self.form.is_set else " then ", said)
        lead = LIST_LEAD.match(said)
        code = self._plain_list(LIST_TAIL.sub("", said[lead.end() if lead else 0 :]))
        is_miscounted = lead is not None and lead["count"] and not self._has_parts(code, lead["count"])
        return OUTSIDE if is_miscounted else code

    def _plain_list(self, said: str) -> int:
        code = self.form.code(said)
        return self.form.code(bare(self.article.sub("", said))) if code == OUTSIDE else code

    def _is_named(self, said: str) -> bool:
        """Return whether a text is a list, or a part alone."""
        return self._plain_list(said) != OUTSIDE or bare(self.article.sub("", said)) in self.form.ways

    def _has_parts(self, code: int, count: str) -> bool:
        return len(self._parts(code)) == _number(count)

    def _steps(self, said: str) -> tuple[str, ...]:
        """Return the steps of a sentence that only tells how to go: `go north and then west`."""
        said = FILLER_OF_WALK.sub("", DOUBLE_STEP.sub(_doubled, said)).strip(AROUND)
        said = JOINED_PARTS.sub(" then ", said)
        if self.form.is_set or IN_BRACKETS.search(said) or ":" in said or WALKED.pattern.fullmatch(said) is None:
            return ()
        found = [one[1] for one in self.form.word.finditer(said)]
        is_spelt = all(len(one) > 1 for one in found) or len(found) == 1 or LETTERS_ALONE.fullmatch(f"{said} ")
        return tuple([self.form.ways[one] for one in found]) if is_spelt else ()

    def _addition(self, said: str) -> int | None:
        """Return `SPOILT` for a sentence that says that there is more: `also the milk`, `or north`, `and so on`."""
        said = said.strip(AROUND)
        adds = ADDS.match(said)
        if not self.form.is_set and OTHER_STEP.search(said):
            return SPOILT
        is_more = MORE_PARTS.search(said) and (self.form.is_set or self._named(said))
        return SPOILT if is_more or (adds and not (adds["is_weak"] and HAS_VERB.search(said))) else None

    def _strange_part(self, said: str) -> int | None:
        """Return `SPOILT` for a sentence with a part that is not known: `milk`, `she has milk`, `apple with cake`."""
        said = said.strip(AROUND)
        if NOT_HELD.search(said):
            return None
        if HAS_VERB.search(said):
            held = CARRIES.fullmatch(said) or ARE_HELD.fullmatch(said) if self.form.is_set else None
            is_part = held is not None and (THING.fullmatch(held["phrase"]) or self._named(held["phrase"]))
            return SPOILT if held is not None and is_part and not NO_THING.match(held["phrase"]) else None
        words = [word for word in re.findall(r"[^\W_]+", said) if word not in ("the", "a", "an")]
        is_thing = 0 < len(words) <= LONGEST_STRANGER and CHATTER.isdisjoint(words)
        is_strange = is_thing if self.form.is_set else TURNS.search(said) is not None
        return SPOILT if is_strange or self._named(said) else None

    def _parts(self, code: int) -> frozenset[str]:
        return frozenset(self.form.parts.get(code, ()))

    def _named(self, said: str) -> frozenset[str]:
        """Return the known parts that a text names; a single letter counts only among words that are as short."""
        is_short = max(map(len, re.findall(r"\w+", said)), default=0) <= 4
        found = self.form.word.finditer(said.casefold())
        return frozenset(self.form.ways[one[1]] for one in found if len(one[1]) > 1 or is_short)

    def _not_held(self, said: str) -> frozenset[str]:
        """Return the parts that a sentence says somebody has not, or not any more; none for steps."""
        if not self.form.is_set:
            return frozenset()
        found = [*WHAT_IS_NOT_HELD.finditer(said), *WAS_LET_GO.finditer(said)]
        return frozenset().union(*(self._named(one["what"]) for one in found))


def _is_chain(sentences: Sequence[str]) -> bool:
    """Return whether steps belong to one way: only the first has a goal, or each begins where the last one ended."""
    for before, said in zip(sentences, sentences[1:]):  # noqa: B905, RUF007 - Python 3.9
        start = re.match(r"(?:then |next |and )?,? ?from (?:the )?(\w+)", said)
        if start is not None and not re.search(rf"\b(?:to|in|reach) (?:the )?{start[1]}\b", before):
            return False
        if (start is None and OTHER_GOAL.match(said)) or said.startswith("first") or before.startswith("finally"):
            return False
    return True


def _doubled(found: re.Match[str]) -> str:
    return f"{found[1] or found[2]} {found[1] or found[2]}"


def _number(count: str) -> int:
    if count == "a single":
        return 1
    return int(count) if count.isdigit() else NUMBERS.split().index(count)


# Options with letters: lists such as `A. red`, and the letter that a reply chooses.


LETTERED = re.compile(r"^[ \t>*_-]*\(?([A-Z])[).:][ \t*_]+(\S[^\n]{0,80})$", re.MULTILINE)
LETTER_LABEL = re.compile(r"\(?([A-Z])[).:]\s+(?=\w)")
LETTER = re.compile(
    r"[(\[\"']{0,2}(?:(?i:(?:it's |it is )?(?:the )?(?:correct |right |best )?(?:option|choice|letter|answer)(?: "
    r"is)?:? ?))?[(\[\"'*]{0,3}"
    r"([A-Z])(?![\w'])"
)
CAPITAL = re.compile(r"(?<![\w'])([A-Z])(?![\w'])")
SENTENCE_STOP = re.compile(r"[.;](?:\s|$)")
NOT_BEFORE = re.compile(r"\b(?:not|isn't|n't|nor|neither)\b[^.]{0,20}$")
OR_LETTER = re.compile(r" ?(?:or|and|/|,) ?[(\"']?[A-Z]\b")
CHOSEN = re.compile(
    r"(?:\b(?:[Oo]ption|[Cc]hoice|[Ll]etter)|\bI(?:'d| would|'ll| will| have| must)? (?:choose|select|pick|go with|"
    r"chose|selected|"
    r"picked)(?: option)?) [(\[\"'*]{0,3}([A-Z])(?![\w'])"
)
LETTER_PIECE = re.compile(r"[.\n;]")
OPTION_ALONE = re.compile(
    r"(?:the )?(?:(?:correct|right|best) )?(?:option|choice|letter|answer)(?: is)? \(?([a-z])\)?", re.IGNORECASE
)
WORD_AFTER = re.compile(r"[AI] +\w")  # as in `A red cube` and `I see`


class StatedLetter(NamedTuple):
    """The letter that a text states, empty if the text contradicts itself, and the text after it."""

    letter: str
    after: str


def stated_letter(text: str, choices: Mapping[str, str], *, is_marked: bool) -> StatedLetter | None:
    """Return the letter that a text states as its choice; None if it states none."""
    line = next((one for one in text.split("\n") if one.strip(DRESS)), "").lstrip(" \t*_`#>-")
    found = LETTER.match(line)
    if found is not None and not is_marked and WORD_AFTER.match(line, found.start(1)):
        found = None
    found = found or CHOSEN.search(line)
    if found is None or found[1] not in choices:
        return None
    rest, after = line[found.end() :], text[text.index(line) + found.end() :]
    others = set(CAPITAL.findall(SENTENCE_STOP.split(rest)[0])) & choices.keys() - {"A", "I"}
    alone = {bare(piece).upper() for piece in LETTER_PIECE.split(after)} & choices.keys() - {found[1]}
    is_denied = NOT_BEFORE.search(line[: found.start(1)]) or REJECTED.match(plain_sentence(rest))
    is_retracted = any(map(STRONG_RETRACTION.search, plain_lines(after))) or RETRACTION.search(plain_sentence(rest))
    is_unclear = is_denied or is_retracted or others or alone or OR_LETTER.match(rest)
    return StatedLetter("" if is_unclear or not is_asserted(plain_sentence(line)) else found[1], after)


def without_options(text: str, choices: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """Return a reply without a list of options with letters, such as `A) red`, and the options by their letters."""
    options = LETTERED.findall(text)
    if len(options) < 2 or [letter for letter, _ in options[:2]] != ["A", "B"]:
        return text, choices
    own = {
        letter: option.strip(DRESS)
        for letter, option in options[
            : next((at for at, one in enumerate(options) if at and one[0] == "A"), len(options))
        ]
    }
    kept = LETTERED.sub(lambda found: "" if own.pop(found[1], None) is not None else found[0], text)
    own = {letter: option.strip(DRESS) for letter, option in reversed(options)}
    return kept, choices or own


# Counts of things that no list of words has, as in `There are 4 dogs`.


NO_THINGS = words_of(
    "second minute hour day week month year time step part option choice answer question problem issue error way type "
    "kind sort group row column pair set line image picture photo photograph attachment pixel color colour size scene "
    "material percent percentage point star dollar euro cent token word letter sentence reason detail degree inch foot "
    "meter metre mile kilometer kilometre attempt try possibility hint fact section category aspect character byte "
    "file message request credit version level dozen hundred thousand million score copy page frame other piece layer "
    "corner side edge angle region area quadrant criterion condition clue sign indication evidence doubt difference "
    "mistake need idea context information mention reference guarantee limit task example case label caption class "
    "phase stage digit number bit unit probability chance remark caveat exception objection comment note rule layout "
    "across always yes is this has was plus minus perhaps its as does vs less looks seems remains matches unless us"
)
"""Units, words about the task, and words that end as plurals do."""
NO_QUALITY = (
    rf"(?!(?:{NUMBERS.replace(' ', '|')}|of|or|and|more|less|fewer|other|others|additional|extra|different|dozen|"
    r"hundred|thousand|to|per|possible|main|key|first|last|next|than|if|but|is|are|was|were|not|no|each|every|as|year|"
    r"month|hour|minus|plus|times|x|such)\b)"
)
ANY_WORD = rf"{NO_QUALITY}[a-z][a-z'-]*"
PLURALS = rf"{NO_QUALITY}(?:[a-z][a-z'-]*s|people|men|women|children|sheep|fish|deer|mice|geese|cattle|aircraft)"
DOING = (
    rf"(?: (?:\w+ing|\w+ed|in|on|at|by|along|inside|"
    rf"around|near|behind|under|beside|above|below|outside|here|visible|present|that|who|which)(?: {ANY_WORD}){{0,12}})"
)
THING_COUNT = re.compile(
    rf"(?:(?:exactly|only|just|precisely|a total of) )?(?:(?P<count>\d+|{NUMBERS.replace(' ', '|')})"
    rf"(?: {ANY_WORD}){{0,3}}? (?P<things>{PLURALS}){DOING}?|"
    rf"(?:1|one|a single)(?: {ANY_WORD}){{0,3}}? (?P<thing>{ANY_WORD}){DOING})"
)
NUMBER_OF = re.compile(rf"the (?:total )?(?:number|count) of(?: {ANY_WORD}){{0,3}}? (?P<things>{PLURALS}){DOING}?")
ABSENCE = re.compile(rf"there (?:are|were)(?: no| not any|n't any)(?: {ANY_WORD}){{0,3}}? (?P<things>{PLURALS}){DOING}")


def count_of_things(phrase: str) -> str | None:
    """Return the number of things that a plain phrase counts: `4` for `4 brown dogs on a sofa`; None without one."""
    found = THING_COUNT.fullmatch(phrase)
    if found is None or not is_thing(found["things"] or found["thing"]):
        return None
    return found["count"] or "1"


def has_no_things(clause: str) -> bool:
    """Return whether a plain clause says that things are absent: `there are no dogs`."""
    found = ABSENCE.fullmatch(clause)
    return found is not None and is_thing(found["things"])


def is_number_of_things(subject: str) -> bool:
    """Return whether the subject of a statement is a number of things: `the number of dogs`."""
    found = NUMBER_OF.fullmatch(subject)
    return found is not None and is_thing(found["things"])


def is_thing(word: str) -> bool:
    """Return whether a word may name things that a picture shows."""
    stem = word.removesuffix("s")
    return not {word, stem, stem.removesuffix("e"), f"{stem.removesuffix('ie')}y"} & NO_THINGS


# The answers that sentences name, and the one that a sentence asserts as a whole.


LONGEST_SENTENCE = 600  # characters of a sentence that may assert an answer
REMEMBERED = 10_000  # the most cached replies, and the most cached sentences
WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:[-']\w+)*")
NUMERIC = re.compile(r"\d[\d.,'-]*")
NO_NUMBER_ALONE = re.compile(r"(?<![\w.])[-−.](?=\d)|[<>≤≥]=? ?(?=\d)|\d ?%|\d\+(?! ?\d)")
TENS = "thirty forty fifty sixty seventy eighty ninety dozen hundred thousand million billion"
NUMBER_WORDS = frozenset(f"{NUMBERS} {TENS}".split())
BEFORE_ONE = words_of(
    "is are was only exactly just see count find has have of holds carries carrying there's be so total contains shows "
    "or and to gives makes precisely"
)
PRONOUN = re.compile(
    "".join(rf"(?<!\b{word} )" for word in sorted(BEFORE_ONE))
    + r"(?<=\w )one\b|\bone(?= (?:fewer|more|less|of|another|or two|or more)\b)"
)
"""The word one that is no number: `the red one`, `upload one`."""
ARITHMETIC = re.compile(
    r"(?:[\d\s+*×x().,-]{2,80}|(?:\d{1,4}(?: \w{1,20}){0,3} ?\+ ?){1,20}\d{1,4}(?: \w{1,20}){0,3} ?)"
    rf"(?:=|gives|makes|equals) ?(\d{{1,6}})(?: (?:{'|'.join(sorted(THINGS))}))*(?: (?:altogether|in total|in all))?"
)
BEFORE = re.compile(r"^before (?:\w+ ){0,4}the (\w+), (?=\w)|(?<=\w) before (?:\w+ ){0,4}the (\w+)$")
"""What came after the answer: `before the office, it was in the kitchen`."""
TRUTHS = ("yes", "no", "maybe")
PHRASE = re.compile(r"[\w\s'\".,&/-]+")
RELATIVE = re.compile(
    r" (?:that|which|who|of (?:them|those|these)|matching|meeting|with|(?:in|on)(?! (?:each|every)\b)|either)\b"
)
NUMBERED = re.compile(r"^(?!\w+$)[a-z][a-z -]* #?\d+$|\b(?:colou?rs|sizes|kinds|materials|textures|surfaces|lights)\b")
"""The number of a thing, as in `figure 2`, and numbers of what nobody counts: `8 colors`."""
OWNER = re.compile(r"^\w+'s (?=\w)|\b\w+(?= (?:is|was) (?:carrying|holding)\b)")
KIND_OF = re.compile(r" are\b| an? ")
"""What tells the kind of a name, or is about a kind: `Lily is a swan`, `swans are white`."""
ATTRIBUTE = re.compile(r"\b(?:colou?r|shape|size|material|texture|place|location|path)\b")
WITHOUT = re.compile(r"(?:none|nothing|maybe|no|yes)$")
TRUTH_OF = re.compile(
    r"\s*(?:it|this|that|(?:the|this|that|your) (?:\w+ )?(?:caption|statement|claim|sentence|description|assertion|"
    r"answer))\b[\w' ]{0,20}$"
)
CLAUSES = re.compile(
    r";|, (?:but|while|whereas)\b|, (?:and|so)\b| so (?=(?:no|yes)\b)| - |–|—|, (?=(?:it|he|she|they|this|that|the)\b)|"
    r"(?:,| and) (?=(?!who\b|which\b|that\b)\w+ (?:is|was|went|moved|travell?ed|journeyed|walked|looks|stays)\b)|"
    r", (?=(?!who\b|which\b|that\b)\w+ are\b)| and (?=they are\b)"
)
BROKEN_END = re.compile(r"\b(?:the|an|and|or)$")
WRONG_ASIDE = re.compile(
    r"\((?:wrong|incorrect|false|not|no|guess\w*|just|joke|kidding|example|sample)\b[^()]{0,30}\)|"
    r"^\W*(?:(?:the|my|final) )*(?:answer|colou?r|shape|size|material|count|number)[ *]*[(\[]"
    r"(?!(?:final|short|one[- ]word|single[- ]word|yes[/ ]|word|an? |in |number|integer|english))"
    r"[^()\[\]]{1,40}[)\]] ?:"
)
"""What takes an answer or a label back: `red (just kidding)`, `Answer (wrong): red`."""
ARTICLES = re.compile(r"\b(?:the|an?|both|only|just|still)\b ?")
INFORMAL = {"nope": "no", "nah": "no", "yep": "yes", "yeah": "yes", "yup": "yes"}


class NamedAnswers(NamedTuple):
    """The codes of all answers that a sentence names, and of those that it denies; whether it has another number.

    An answer is denied after a negation or comparison, or before a denial: `not red`, `more than 3`, `red is wrong`.
    Another number is one that is no answer: `3 or 12`, `twenty-three`, `-3`. Then no number of the text is an answer.
    """

    codes: frozenset[int]
    denied: frozenset[int]
    has_other_number: bool


class SentenceReader:
    """Reads sentences; `admitted` has the codes of the possible answers to each kind of question."""

    def __init__(self, vocabulary: AnswerVocabulary, admitted: Sequence[Iterable[int]]) -> None:
        self.vocabulary = vocabulary
        self.admitted = tuple(frozenset(codes) for codes in admitted)
        self.given: dict[tuple[str, int], int | None] = {}  # what sentences assert
        self.numbers = frozenset(code for way, code in vocabulary.ways.items() if way.lstrip("+-").isdecimal())
        self.words = {way: code for way, code in vocabulary.ways.items() if WORD.fullmatch(way)}
        self.phrases = sorted((way for way in vocabulary.ways if way not in self.words and way), key=len, reverse=True)
        self.nouns = THINGS | FILLERS | {part for way in vocabulary.ways for part in WORD.findall(way)}
        self.truths = tuple(
            codes <= {self.vocabulary.ways.get(one, OUTSIDE) for one in TRUTHS} for codes in self.admitted
        )
        self.counts = tuple(bool(codes & self.numbers) for codes in self.admitted)
        self.has_truths_alone = set(vocabulary.answers) <= set(TRUTHS)
        self.has_counts_alone = all(answer.isdecimal() for answer in vocabulary.answers)
        self.zero = vocabulary.exact.get("0", OUTSIDE)
        self.no = vocabulary.ways.get("no", OUTSIDE)
        self.maybe = vocabulary.ways.get("maybe", OUTSIDE - 1)
        self.informal = {way: vocabulary.ways[meant] for way, meant in INFORMAL.items() if meant in vocabulary.ways}
        self.words.update({way: code for way, code in self.informal.items() if way not in self.words})

    def _answer(self, said: str, kind: int) -> int:
        """Return the code of a text that is a possible answer to a question of a kind."""
        arithmetic = ARITHMETIC.fullmatch(said)
        code = self.vocabulary.code(said if arithmetic is None else arithmetic[1])
        if code in self.admitted[kind]:
            return code
        small = plain(said)
        composed = self._composed(kind)
        code = self.informal.get(small, OUTSIDE) if composed is None else composed.code(small)
        return code if code in self.admitted[kind] else OUTSIDE

    def _given(self, sentence: str, kind: int) -> int | None:
        """Return the code of the answer that a sentence asserts, `OUTSIDE` if it asserts several; None without one."""
        if (sentence, kind) not in self.given:
            if len(self.given) > REMEMBERED:
                self.given.clear()
            self.given[sentence, kind] = self._compute_given(sentence, kind)
        return self.given[sentence, kind]

    def _compute_given(self, sentence: str, kind: int) -> int | None:
        if len(sentence) > LONGEST_SENTENCE or OPEN_DENIAL.search(sentence):
            return None
        if not is_asserted(sentence, doubts=not self._has_maybe(kind)):
            return None
        if WRONG_ASIDE.search(sentence) or BROKEN_END.search(sentence):
            return None
        said = stripped_sentence(self._without_next_place(sentence, kind))
        found: set[int] = set()
        for clause in (said,) if self.truths[kind] else CLAUSES.split(said):
            code = self._clause(stripped_sentence(clause), kind, sentence)
            if code is not None:
                found.add(code)
            elif found and (GONE.search(clause) or self._names_other(clause, found, kind)):
                return OUTSIDE
        return None if not found else found.pop() if len(found) == 1 else OUTSIDE

    def _names_other(self, clause: str, found: Collection[int], kind: int) -> bool:
        """Return whether a clause names another answer than those that are found, apart from places and reasons."""
        named = self.named(PLACE.sub(" ", clause))
        return bool((named.codes - named.denied) & self.admitted[kind] - set(found))

    def _without_next_place(self, sentence: str, kind: int) -> str:
        """Return a sentence without the place that somebody went to next: `before the office`."""
        said = bare(sentence)
        found = BEFORE.search(said)
        is_place = found is not None and self._answer(found[1] or found[2], kind) != OUTSIDE
        return BEFORE.sub("", said) if is_place else sentence

    def _clause(self, clause: str, kind: int, sentence: str) -> int | None:
        """Return the code of the answer that a clause of a sentence asserts."""
        if self._composed(kind) is not None:
            return None  # `ComposedReader` reads lists
        if self.truths[kind]:
            claims = {self._claim(one) for one in CLAUSES.split(clause)} & self.admitted[kind]
            if claims:
                return claims.pop() if len(claims) == 1 else OUTSIDE
        if self.zero in self.admitted[kind] and (
            EXISTENCE.match(clause) or (self.has_counts_alone and has_no_things(clause))
        ):
            return self.zero
        if EMPTY_HANDED.fullmatch(clause):
            return self._nothing(kind)
        patterns = (*PATTERNS, COUNTED, DESCRIBED) if self.counts[kind] else PATTERNS
        for core, tail, is_after_colon in statements_in(clause):
            for phrase in phrases_of(core, patterns):
                if phrase.subject and not self._is_subject(phrase, kind):
                    continue
                if (phrase.pattern is HAS and self.has_counts_alone) or (
                    phrase.pattern is CARRIED and self.zero in self.admitted[kind]
                ):
                    continue  # parts of a thing: `the dog has 4 legs`, `CLEVR has 3 shapes`
                if is_after_colon and not phrase.rest.strip():
                    continue  # a bare answer after an unknown label, such as `Score: 3`
                code = self._phrase(phrase.text, kind)
                if code != OUTSIDE:
                    return code if self._is_whole(code, phrase, core, tail, kind, sentence) else OUTSIDE
        return None

    def _nothing(self, kind: int) -> int | None:
        """Return the code of the answer that nobody carries anything; None if there is none."""
        code = self._answer("none", kind)
        return None if code == OUTSIDE else code

    def _is_subject(self, phrase: Phrase, kind: int) -> bool:
        """Return whether a subject is a phrase of known words for things, or a name; a name is of no kind."""
        subject = phrase.subject
        if VERB.search(subject) or (self.counts[kind] and not AMOUNT.search(subject)):
            return False
        if subject in ("he", "she") and KIND_OF.search(f"{phrase.rest} {phrase.text}"):
            return False
        if self.has_counts_alone and is_number_of_things(subject):
            return True
        words = WORD.findall(OWNER.sub(" ", subject).replace("-", " ").replace("'s", ""))
        strange = [word for word in words if word not in SUBJECT_WORDS and not self._is_noun(word)]
        is_name = len(words) == 1 and strange == words
        return not strange or (is_name and not KIND_OF.search(f"{phrase.rest} {phrase.text}"))

    def _claim(self, clause: str) -> int:
        """Return the code of yes or no for a clause about existence or a caption: `there is no such object`."""
        if EXISTENCE.match(clause) or UNTRUE.match(clause) or NONE_EXISTS.fullmatch(clause):
            return self.no
        is_true = TRUE.match(clause) or (self.has_truths_alone and TRUE_THAT.match(clause))
        return self.vocabulary.ways.get("yes", OUTSIDE) if is_true else OUTSIDE

    def _is_whole(self, code: int, phrase: Phrase, core: str, tail: str, kind: int, sentence: str) -> bool:
        """Return whether the rest of a sentence leaves an answer as it is."""
        is_number = code in self.numbers
        if is_number and phrase.pattern is COLON and ATTRIBUTE.search(phrase.rest):
            return False
        if phrase.pattern is MOVED and OUT_OF.search(core):
            return False
        if phrase.pattern is SEEN and ", but" in sentence:
            return False
        if self.truths[kind] and phrase.pattern is not None and not TRUTH_OF.match(phrase.rest):
            return False
        others = self.admitted[kind] - {code}
        if phrase.pattern not in (STATED, STATED_LAST, REASONED, INVERSE) and self.named(phrase.rest).codes & others:
            return False
        if is_number and tail.startswith(":") and self._sum_of(tail) == self.vocabulary.answers[code]:
            return True
        reason = REASON_TAIL.match(tail)
        if phrase.pattern is None and tail and reason is None and WITHOUT.match(core):
            return False
        if reason is not None:
            return self._clause(tail[reason.end() :].strip(), kind, sentence) in (None, code)
        return not self.named(tail).codes & others

    def _sum_of(self, text: str) -> str:
        """Return the sum of the numbers in a text: `one red, one blue and 2 green ones`."""
        found = (self.vocabulary.code(word) for word in WORD.findall(PRONOUN.sub(" ", text)))
        return str(sum(int(self.vocabulary.answers[code]) for code in found if code in self.numbers))

    def _phrase(self, phrase: str, kind: int) -> int:
        """Return the code of the only answer in a phrase of words for things; `OUTSIDE` for other phrases."""
        said = bare(phrase)
        code = OUTSIDE if said in self.vocabulary.bits else self._answer(" ".join(ARTICLES.sub("", said).split()), kind)
        if code != OUTSIDE or self.truths[kind]:
            return code
        if self.counts[kind]:
            said = RELATIVE.split(said)[0]
            if NUMBERED.search(said):
                return OUTSIDE
            count = count_of_things(bare(phrase)) if self.has_counts_alone else None
            if count is not None:
                return self._answer(count, kind)
        if PHRASE.fullmatch(said) is None or NEGATIVE.search(said):
            return OUTSIDE
        if not all(self._is_noun(word) for word in WORD.findall(said.replace("-", " ").replace("'s", ""))):
            return OUTSIDE
        named = self.named(said)
        codes = named.codes & self.admitted[kind]
        is_unclear = len(codes) != 1 or (named.has_other_number and codes & self.numbers)
        return OUTSIDE if is_unclear else next(iter(codes))

    def _without_lead(self, said: str, kind: int) -> str:
        """Return a text without words such as `it is`, and without `color` or `size` unless it is about a number."""
        lead = LEAD_IN.match(said)
        if lead is None or (self.counts[kind] and ATTRIBUTE.search(lead[0])):
            return said
        return bare(said[lead.end() :])

    def _is_noun(self, word: str) -> bool:
        return word in self.nouns or word.rstrip("s") in self.nouns or plain(word) in self.nouns

    def _has_maybe(self, kind: int) -> bool:
        return self.maybe in self.admitted[kind]

    def _composed(self, kind: int) -> ComposedAnswers | None:
        return self.vocabulary.composed[kind] if self.vocabulary.composed else None

    def named(self, text: str) -> NamedAnswers:
        """Return the answers that occur in a text as whole words; a longer phrase hides a shorter one."""
        said = plain(text)
        denied = denied_parts(said)
        if self.no != OUTSIDE:
            said = TRUE.sub(" yes ", UNTRUE.sub(" no ", EXISTENCE.sub(" no. ", said)))
            said = DETERMINER.sub(" ", said) if "no " in said else said
        codes, has_other_number = self._search(said)
        return NamedAnswers(codes, self._search(denied)[0] if denied else frozenset(), has_other_number)

    def _search(self, said: str) -> tuple[frozenset[int], bool]:
        """Return the codes of the answers in a plain text, and whether it has a number that is no answer."""
        found = set()
        if self.numbers and "one" in said:
            said = PRONOUN.sub(" ", said)
        for phrase in self.phrases:
            if phrase in said:
                rest = re.sub(rf"(?<!\w){re.escape(phrase)}(?!\w)", _blank_unless_it_goes_on, said)
                found |= {self.vocabulary.ways[phrase]} if rest != said else set()
                said = rest
        words = {word[0] for word in WORD.finditer(said) if said.isascii() or not _goes_on(word)}
        parts = {part for word in words for part in _parts(word)}
        codes = frozenset(found | {self.words[word] for word in (words | parts) & self.words.keys()})
        return codes, NO_NUMBER_ALONE.search(said) is not None or any(map(_is_number, parts - self.words.keys()))


def _goes_on(word: re.Match[str]) -> bool:
    r"""Return whether a word goes on with a mark, such as a vowel of Hindi, which `\w` does not match."""
    return unicodedata.category(word.string[word.end() : word.end() + 1] or " ").startswith("M")


def _blank_unless_it_goes_on(phrase: re.Match[str]) -> str:
    return phrase[0] if _goes_on(phrase) else " "


def _parts(word: str) -> Sequence[str]:
    """Return the parts of a compound word, as in `sphere-shaped` and `cube's`; a decimal number is a single part."""
    if word.isalnum() or word.startswith("non-"):
        return (word,)
    return (plain(word),) if word[:1].isdigit() else re.split(r"[-']", word)


def _is_number(word: str) -> bool:
    return word in NUMBER_WORDS or NUMERIC.fullmatch(word) is not None


# The reader of texts without marks: the answer that a text begins with, concludes, ends with, or asserts at all.


ALTERNATIVE = re.compile(r"\((?:or|either|could|might|also|maybe|perhaps|possibly)\b")
TALK = re.compile(r"\b(?:i|me|my|you|your|we|it load|image|picture|photo|question|answer)\b")
BARE_TRUTH = re.compile(
    r"^(yes|no) (?=(?:there|it|they|he|she|that|we|i|both|all)(?:'s| (?:is|are|was|were|does|do|did|has|have|can|"
    r"isn't|aren't|"
    r"wasn't|doesn't|don't|didn't|hasn't|haven't|fits?))\b)"
)
TRUTH_LEAD = re.compile(
    r"^(?:based on|from|according to|looking at|judging by|in|given|after|upon|having) [^,.;:]{1,80}[,:] (?=(?:yes|"
    r"no|true|false|maybe)\b)"
)
LONGEST_PIECE = 40  # characters of an answer that stands alone, with words such as `it is`
BARE_TRUTHS = words_of("yes no true false nope nah yep yeah yup")
JOINING = words_of("and or nor not i.e i e of")
HARMLESS_ASIDE = re.compile(r"\((?:[a-h]|[\w, ]{1,80},? and (?:the |an? )?\w+)\)")  # a letter, a list of things
PROBABILITY = re.compile(r"\b(\w+)[\"']? ?[:=(] ?[\d.]")
NUMBER_FIRST = re.compile(r"\A[\s*_]*(?!1\b)(\d{1,3})[*_]*\. +(?=[^\W\d_])")
AFTER_COUNT = re.compile(
    r"(?:there (?:are|is) (?:no|none)|(?:the|these) (?:\w+ ){0,3}are|they are|i counted|none|no \w+)\b", re.IGNORECASE
)
"""What follows a count in the first sentence, not the number of a step: `5. The objects are ...`."""
STEP = re.compile(r"[\W_]*step \d", re.IGNORECASE)
IT_IS = re.compile(r"(?:it|it's|they|they're|that|that's|this|actually|in fact|one)\b")
ITEM_LINE = re.compile(r"\n[\s*_]*\d{1,3}[.)] ")
PIECES = re.compile(r"[–—;]| -+ ")
WRONG = re.compile(r"\b(?:not|wrong|incorrect|mistak\w+|error|missed|overlooked|confus\w+|mixed up)\b|n't\b")
WHOLE_CLAIM = {"correct": "yes", "incorrect": "no", "not true": "no", "not correct": "no", "untrue": "no"}


class TextReader(SentenceReader):
    """Reads texts; `admitted` has the codes of the possible answers to each kind of question."""

    def _exact(self, text: str, kind: int, choices: Mapping[str, str]) -> int:
        """Return the code of a text that is an answer, or the letter of one, apart from signs around it."""
        if text.rstrip(" \t\n\"'*_`)").endswith("?"):
            return OUTSIDE
        inner = bare(text)
        option = OPTION_ALONE.fullmatch(inner) if choices else None
        small = option[1] if option is not None else inner
        letter = choices.get(small.upper()) if len(small) == 1 else None
        if letter is not None:
            return self.vocabulary.code(letter)
        lettered = LETTER_LABEL.match(inner)
        forms = (
            text,
            text.strip(),
            inner,
            *((bare(inner[lettered.end() :]),) if lettered and lettered[1] not in choices else ()),
        )
        found = (self._answer(said, kind) for said in forms)
        return next((code for code in found if code != OUTSIDE), OUTSIDE)

    def _stated(
        self, text: str, kind: int, choices: Mapping[str, str], *, is_marked: bool, after: str = ""
    ) -> int | None:
        """Return the code of the answer that a text begins with, a word or, if it is marked, a phrase.

        It is `OUTSIDE` if the text takes it back or adds another one, and None if the text begins with something else.
        """
        line = next((one for one in text.split("\n") if one.strip(DRESS)), "")
        sentence = (sentences_of([plain_sentence(line)]) or [""])[0]
        if is_refusal(sentence) or not is_asserted(sentence, doubts=False):
            return None
        if ALTERNATIVE.search(sentence):
            return OUTSIDE
        letter = self._letter(f"{text}\n{after}", choices, is_marked=is_marked)
        if letter is not None:
            return letter
        sentence = CONTRAST.sub("", sentence)
        whole = bare(PARENTHESES.sub(" ", sentence))
        inner = self._without_lead(bare(sentence), kind)
        for said in (bare(sentence), inner, whole):
            code = OUTSIDE if said in self.vocabulary.bits and said != bare(sentence) else self._answer(said, kind)
            if code != OUTSIDE:
                return code if self._has_fit_asides(sentence) else OUTSIDE
        return self._stated_head(sentence, kind, is_marked=is_marked)

    def _stated_head(self, sentence: str, kind: int, *, is_marked: bool) -> int | None:
        """Return what `_stated` does for a sentence that has more words than its answer."""
        end = HEAD_END.search(sentence)
        head, tail = (sentence[: end.start()], sentence[end.start() :]) if end else (sentence, "")
        inner = self._without_lead(bare(head), kind)
        code = OUTSIDE if inner in self.vocabulary.bits and inner != bare(head) else self._answer(inner, kind)
        if code == OUTSIDE or (WITHOUT.match(bare(head)) and tail.strip()[:1] not in ("", *",.;:!(–—-")):
            if not is_marked:
                return None
            given = self._given(sentence, kind)
            if given is None:
                code = self._phrase(self._without_lead(bare(head), kind), kind)
                return OUTSIDE if self._others(tail, kind) - {code} else code
            return given
        if code == OUTSIDE or not is_asserted(sentence, doubts=code != self.maybe):
            return OUTSIDE
        if STRONG_RETRACTION.search(tail) or (
            RETRACTION.search(tail) and self.named(tail).codes & self.admitted[kind] - {code}
        ):
            return OUTSIDE
        others = self._others(tail, kind) - {code}
        is_whole = self.truths[kind] or self._leaves(tail)
        return code if is_whole and not others else OUTSIDE

    def _asks_for_other(self, sentences: Sequence[str], code: int, kind: int) -> bool:
        """Return whether sentences ask for another answer: `Red. Or blue?`."""
        questions = " . ".join(filter(is_question, sentences))
        return bool(self.named(questions).codes & self.admitted[kind] - {code})

    def _is_contradicted(self, sentences: Sequence[str], code: int, kind: int) -> bool:
        """Return whether sentences deny an answer, or say that it is another one, as `Red. It's blue.` does."""
        return any(
            code in self.named(one).denied or (IT_IS.match(one) and self._given(one, kind) not in (None, code))
            for one in sentences
        )

    def _has_fit_asides(self, sentence: str) -> bool:
        """Return whether what is in parentheses leaves an answer as it is: not `red (wrong)`."""
        return all(HARMLESS_ASIDE.fullmatch(one) or self._leaves(one) for one in PARENTHESES.findall(sentence))

    def _leaves(self, said: str) -> bool:
        """Return whether a text after an answer leaves it as it is: a known remark, or words for things and answers."""
        words = WORD.findall(said.strip(REMARK_SIGNS).split(",")[0].replace("-", " "))
        if leaves_answer(said):
            return True
        return not JOINING.issuperset(words) and all(
            word not in BARE_TRUTHS and (self._is_noun(word) or word in JOINING or word in self.words) for word in words
        )

    def _others(self, tail: str, kind: int) -> frozenset[int]:
        """Return the answers that the rest of a sentence adds, apart from those in parentheses and reasons."""
        rest = PARENTHESES.sub(" ", tail)
        reason = REASON.search(rest, 1)
        first = REASON.match(rest.lstrip()) or rest.lstrip()[:1] == "("
        if first:
            code = self.vocabulary.code(bare(rest))
            return frozenset({code} - {OUTSIDE})
        named = self.named(rest[: reason.start()] if reason else rest)
        return (named.codes & self.admitted[kind]) - named.denied

    def _unmarked(self, text: str, kind: int, choices: Mapping[str, str]) -> int:
        """Return the code of the answer that a text without marks asserts."""
        text = self._with_count_alone(text) if self.counts[kind] else text
        lines = [CLOSING_CLAUSE.sub("", line) for line in plain_lines(text)]
        sentences = [one for one in sentences_of(lines) if not CLOSER.search(one)]
        claim = WHOLE_CLAIM.get(plain(text.strip(DRESS)))
        if claim is not None:
            return self._answer(claim, kind)
        if self._is_unfit(text, sentences, kind):
            return OUTSIDE
        chosen = self._letter(text, choices, is_marked=False)
        if chosen is not None:
            return chosen
        exact = {self._answer(bare(line), kind) for line in lines if not line.endswith("?")} - {OUTSIDE}
        if len(exact) > 1:
            return OUTSIDE
        if self.truths[kind] and any(map(self._is_about_talk, sentences)):
            return OUTSIDE
        begin = next((at for at, one in enumerate(sentences) if not is_question(one) and not OPENER.match(one)), None)
        if begin is None:
            return OUTSIDE
        return self._told(text, sentences[begin:], exact, kind, choices)

    def _with_count_alone(self, text: str) -> str:
        """Return a text whose first sentence is a count with this count in a line of its own.

        `0. There are none.` has such a sentence. The result is empty if the rest has another number, because
        `3. There are 2 cubes.` may be the third step.
        """
        found = NUMBER_FIRST.match(text)
        if found is None or ITEM_LINE.search(text):
            return text
        rest = text[found.end() :]
        if self.named(plain_sentence(rest)).codes & self.numbers - {self.vocabulary.code(found[1])}:
            return ""
        return f"{found[1]}\n\n{rest}" if AFTER_COUNT.match(rest) else text

    def _is_unfit(self, text: str, sentences: Sequence[str], kind: int) -> bool:
        """Return whether a text without marks can't give an answer: a refusal, code, a thought, a list in one line."""
        return (
            not sentences
            or any(map(is_refusal, sentences))
            or UNREAD_JSON.match(text) is not None
            or THOUGHT_LABEL.match(text) is not None
            or (not self.counts[kind] and self._has_probabilities(" ".join(sentences), kind))
            or (STEP.match(text) is not None and len(STEP.findall(text)) == 1)
            or (self.counts[kind] and any(map(UNCOUNTED.search, sentences)))
        )

    def _has_probabilities(self, text: str, kind: int) -> bool:
        """Return whether a text has numbers for several answers: `yes: 0.5, no: 0.5`."""
        codes = {self.words.get(word, OUTSIDE) for word in PROBABILITY.findall(text)}
        return len(codes & self.admitted[kind]) > 1

    def _is_about_talk(self, sentence: str) -> bool:
        """Return whether a sentence is a question that is not about a thing: `Image loaded?`, `Are you sure?`."""
        if not is_question(sentence):
            return False
        words = WORD.findall(sentence)
        is_about_thing = any(self._is_noun(word) and word not in FILLERS for word in words)
        return not is_about_thing and (len(words) < 3 or TALK.search(sentence) is not None)

    def _told(self, text: str, sentences: Sequence[str], exact: set[int], kind: int, choices: Mapping[str, str]) -> int:
        """Return the code of the answer that sentences assert: the first one, a conclusion, the last one, or any."""
        exact = exact | self._alone(sentences, kind)
        first = self._leading(sentences, kind, choices)
        is_open = breaks_off(text, sentences) and self._given(sentences[-1], kind) is None
        has_own_line = (
            first is not None and self._answer(bare(plain_sentence(text.lstrip().split("\n")[0])), kind) == first
        )
        if is_open and not has_own_line and (first is None or len(sentences) > 1):
            return OUTSIDE
        conclusion = None if is_open else self._conclusion(sentences, kind)
        if conclusion is not None and first in (None, OUTSIDE):
            return conclusion
        is_part = self.counts[kind] and any(map(FURTHER.search, sentences))
        if first is not None:
            return first if exact <= {first} and conclusion in (None, first) and not is_part else OUTSIDE
        final = OUTSIDE if is_question(sentences[-1]) else self._answer(bare(sentences[-1]), kind)
        if final != OUTSIDE:
            before = sentences[-2] if len(sentences) > 1 else ""
            is_format = before.endswith(":") and (CONDITION.search(before) or INSTRUCTION.search(before))
            is_doubted = DOUBT.search(before) and not self._has_maybe(kind)
            return OUTSIDE if is_format or is_doubted or not exact <= {final} else final
        if is_part or self._goes_on(sentences, kind):
            return OUTSIDE
        rows = text.rstrip().split("\n")
        if self.truths[kind] and len(sentences) > 1:
            row = sentences_of(plain_lines(rows[-1]))
            for last in (row, sentences[-1:]):
                code = self._leading(last, kind, choices) if last else None
                if code is not None:
                    return code if exact <= {code} else OUTSIDE
        if sum(map(is_listed, rows[:-1])) > 1 and (not rows[-2].strip() or not is_listed(rows[-1])):
            found = self._given_by(sentences_of(plain_lines(rows[-1])), kind)
            if found != OUTSIDE:
                return found
        return OUTSIDE if any(map(MISSING.search, sentences)) else self._given_by(sentences, kind)

    def _alone(self, sentences: Sequence[str], kind: int) -> set[int]:
        """Return the codes of the answers that stand alone in a sentence, or between its dashes."""
        pieces = (piece for one in sentences if not is_question(one) for piece in PIECES.split(one))
        short = (bare(piece) for piece in pieces if len(piece) < LONGEST_PIECE)
        return {self._answer(self._without_lead(piece, kind), kind) for piece in short} - {OUTSIDE}

    def _leading(self, sentences: Sequence[str], kind: int, choices: Mapping[str, str]) -> int | None:
        """Return the code of the answer with which a text begins, `OUTSIDE` if it is taken back, None without one."""
        is_caption = self.truths[kind] and ADMITS.match(sentences[0])
        if self.truths[kind]:
            sentences = [BARE_TRUTH.sub(r"\1, ", TRUTH_LEAD.sub("", sentences[0])), *sentences[1:]]
        first = None if is_caption else self._stated(sentences[0], kind, choices, is_marked=False)
        if first is None or first == OUTSIDE:
            return first
        rest = sentences[1:]
        if any(STRONG_RETRACTION.search(one) for one in sentences) or self._is_retracted("\n".join(rest), kind):
            return OUTSIDE
        if self.truths[kind]:
            said = bare(PARENTHESES.sub(" ", sentences[0])) or bare(sentences[0])
            word = re.match(r"\w+", LEAD_IN.sub("", said) or said)
            tail = said[said.find(word[0]) + len(word[0]) :] if word else ""
            is_chat = any(CHAT.search(one) or OFFER.search(one) or GUESSED.search(one) for one in (tail, *rest))
            goes_on = not HAS_WORDS.search(tail) or GOES_ON.match(f"{tail} ")
            is_said = not rest or all(
                GOES_ON.match(f". {one} ") or REMARK_HEADING.match(one) or self._answer(bare(one), kind) == first
                for one in rest[:1]
            )
            return first if goes_on and is_said and not is_chat else OUTSIDE
        is_left = all(map(self._leaves, rest[:1])) and not self._asks_for_other(rest, first, kind)
        is_left = is_left and not self._is_contradicted(rest[:1], first, kind)
        return first if is_left else OUTSIDE

    def _goes_on(self, sentences: Sequence[str], kind: int) -> bool:
        """Return whether a text asks, or goes on searching, after what it says."""
        given = next((at for at, one in enumerate(sentences) if self._given(one, kind) is not None), len(sentences))
        said = [one for one in sentences if not INSTRUCTION.search(one)]
        return (
            not said
            or is_question(said[-1])
            or any(map(STRONG_RETRACTION.search, sentences[given + self.truths[kind] :]))
            or any(map(RETREAT.search, sentences[given + 1 :]))
            or any(GONE.search(one) and self._given(one, kind) is None for one in sentences[given + 1 :])
        )

    def _conclusion(self, sentences: Sequence[str], kind: int) -> int | None:
        """Return the code of the last conclusion's answer, `OUTSIDE` if it has several; None without a conclusion."""
        for sentence in reversed(sentences[-3:]):
            if STRONG_RETRACTION.search(sentence):
                return None
            marks = list(CONCLUSION.finditer(sentence))
            arrow = concluding_arrow(sentences) if self.truths[kind] and sentence is sentences[-1] else None
            if arrow is not None and not self.named(sentence[: arrow.start()]).codes & self.admitted[kind]:
                marks.append(arrow)
            if not marks or not is_asserted(sentence, doubts=not self._has_maybe(kind)):
                continue
            for said in (sentence[marks[-1].end() :], sentence[marks[-1].start() :].lstrip(" ,;:"), sentence):
                code = self._answer(self._without_lead(bare(said), kind), kind)
                if code == OUTSIDE and self.truths[kind]:
                    code = self._answer(bare(said.rpartition(": ")[2]), kind)
                given = self._given(said, kind) if code == OUTSIDE else code
                if given is None and self.truths[kind] and said.strip(DRESS):
                    given = self._leading([said.lstrip(" ,;:")], kind, {})
                if given is not None:
                    return given
        return None

    def _given_by(self, sentences: Sequence[str], kind: int) -> int:
        """Return the code of the only answer that sentences assert; `OUTSIDE` if they assert none or several."""
        if len(sentences) > 1 and any(map(TRUE_THAT.match, sentences)):
            return OUTSIDE
        sentences = [one for one in sentences if not one.startswith("(") or not self._leaves(one)]
        found = {given for one in sentences if (given := self._given(one, kind)) is not None}
        code = found.pop() if len(found) == 1 else OUTSIDE
        at = next((at for at, one in enumerate(sentences) if self._given(one, kind) is not None), 0)
        later = " . ".join(one for one in sentences[at + 1 :] if not EARLIER.search(one))
        named_later = self.named(later)
        return OUTSIDE if (named_later.codes - named_later.denied) & self.admitted[kind] - {code} else code

    def _is_retracted(self, after: str, kind: int) -> bool:
        """Return whether the text after an answer takes it back."""
        return any(
            STRONG_RETRACTION.search(one)
            or RETREAT.search(one)
            or (RETRACTION.search(one) and (self.named(one).codes & self.admitted[kind] or WRONG.search(one)))
            for one in sentences_of(plain_lines(after))
        )

    def _letter(self, text: str, choices: Mapping[str, str], *, is_marked: bool) -> int | None:
        """Return the code of the answer whose letter a text states, `OUTSIDE` for a contradiction, or None."""
        found = stated_letter(text, choices, is_marked=is_marked) if choices else None
        if found is None or not found.letter:
            return None if found is None else OUTSIDE
        code = self.vocabulary.code(choices[found.letter])
        words = self.named(plain_sentence(found.after))
        named = (words.codes - words.denied) & {self.vocabulary.code(choice) for choice in choices.values()}
        return OUTSIDE if named and code not in named else code


# The reader of replies: which of the possible answers a reply asserts, by rules that are the same for every model.


LONGEST = 200_000  # characters without the thoughts; a longer reply is unreadable
SHORT = 200  # the most characters of a cached reply
REMARK = re.compile(
    r"(?:\w+ly |also |so |indeed )?(?:correct|right|clear|obvious|based|supported|straightforward|found|simple|"
    r"consistent)\b"
)
YES = re.compile(r"\b(?:yes|true)\b", re.IGNORECASE)
LIST_ROW = 3  # words of a line that may be a row of a list, with its number
ADDED = re.compile(r"[\s$*_)\].,;]{0,6}(?:or|and|/|maybe|perhaps|possibly|alternatively)\b", re.IGNORECASE)


class ReplyReader(TextReader):
    """Finds answers in replies; `admitted` has the codes of the possible answers to each kind of question."""

    def __init__(self, vocabulary: AnswerVocabulary, admitted: Sequence[Iterable[int]]) -> None:
        super().__init__(vocabulary, admitted)
        made = {id(form): ComposedReader(form) for form in vocabulary.composed if form is not None}
        self.composed = [made.get(id(form)) for form in vocabulary.composed] or [None] * len(self.admitted)
        self.known: dict[tuple[str, int], int] = {}

    def code(self, text: str, kind: int, *, choices: Mapping[str, str] | None = None) -> int:
        """Return the code of the answer that a reply gives to a question of a kind; `OUTSIDE` if it gives none.

        `choices` has the answers that letters stand for, if the question has letters.
        """
        if choices:
            return self._read(text, kind, choices)
        found = self.known.get((text, kind))
        if found is None:
            found = self._read(text, kind, {})
            if len(text) <= SHORT and len(self.known) < REMEMBERED:
                self.known[text, kind] = found
        return found

    def _read(self, text: str, kind: int, choices: Mapping[str, str]) -> int:
        outside = split_thoughts(text).said
        said, unknown_mark = with_plain_marks(with_crosses(outside))
        said = self._without_crosses(said.strip(), kind)
        composed = self.composed[kind]
        if (
            unknown_mark
            or len(said) > LONGEST
            or is_unanswered(said)
            or (composed is not None and has_symbols(outside))
        ):
            return OUTSIDE
        said = self._own_part(with_marked_values(plain_characters(said)), kind)
        if composed is not None and not choices:
            code = composed.code(said)
            return code if code in self.admitted[kind] else OUTSIDE
        said, choices = without_options(self._without_list(said, kind), choices)
        whole = self._exact(said, kind, choices)
        if whole != OUTSIDE:
            return whole
        marks = marked_answers(said)
        for marked in marks:
            if marked.text is None:
                return OUTSIDE
            if not marked.is_delimited and REMARK.match(plain_sentence(marked.text)):
                continue
            code = self._marked(marked, kind, choices)
            earlier = self._other_marked(next(marks, None), kind, choices)
            return code if earlier in (code, OUTSIDE) else OUTSIDE
        return self._unmarked(said, kind, choices)

    def _without_list(self, text: str, kind: int) -> str:
        """Return a text without a list of several answers in a line: `A. red B. blue`."""
        found = LIST_IN_LINE.search(text) if self._composed(kind) is None else None
        if found is None or len(self.named(plain_sentence(found[0])).codes & self.admitted[kind]) < 2:
            return text
        return f"{text[: found.start()]} {text[found.end() :]}"

    def _without_crosses(self, text: str, kind: int) -> str:
        """Return a text without crosses if they may mean no: `No ❌`."""
        return text.replace(CROSSED, " ") if self.truths[kind] and YES.search(text) is None else text

    def _own_part(self, text: str, kind: int) -> str:
        """Return a reply without further questions that the model asks and answers itself."""
        text = ROLE.sub("", text)
        questions = list(NEXT_QUESTION.finditer(f"\n{text}"))
        own = questions[1:] if questions and not questions[0].start() else questions
        own = own[1:] if STORY.match(text) and len(own) == len(questions) else own
        if own and HAS_WORDS.search(text[: own[0].start()]):
            return text[: own[0].start()]
        lines = text.split("\n")
        if len(lines) > 2 and self._answer(bare(plain_sentence(lines[0])), kind) != OUTSIDE:
            asked = next((at for at, line in enumerate(lines) if at and line.rstrip().endswith("?")), None)
            return text if asked is None else "\n".join(lines[:asked])
        return text

    def _other_marked(self, before: MarkedAnswer | None, kind: int, choices: Mapping[str, str]) -> int:
        """Return the code of the answer that is marked before another one, unless the text between them corrects it."""
        if before is None or before.text is None:
            return OUTSIDE
        between = plain_sentence(before.between)
        if RETRACTION.search(between) or STRONG_RETRACTION.search(between) or WRONG.search(between):
            return OUTSIDE
        return self._exact(before.text if before.is_delimited else before.value, kind, choices)

    def _marked(self, marked: MarkedAnswer, kind: int, choices: Mapping[str, str]) -> int:
        """Return the code of the answer in a marked text."""
        text, after = marked.text or "", marked.after
        line = [] if marked.is_delimited else sentences_of([plain_sentence(text)])[1:]
        if self._is_retracted("\n".join([*line, after]), kind):
            return OUTSIDE
        next_line = plain_sentence(after.split("\n")[0])
        if ADDED.match(after) and self.named(next_line).codes & self.admitted[kind]:
            return OUTSIDE
        if marked.is_delimited and REJECTED.match(next_line):
            return OUTSIDE
        code = self._exact(text, kind, choices)
        if code == OUTSIDE and marked.is_delimited and len(plain_lines(text)) > 1:
            code = self._unmarked(text, kind, choices)
        elif code == OUTSIDE:
            stated = self._stated(text, kind, choices, is_marked=True, after=after)
            code = OUTSIDE if stated is None else stated
        further = sentences_of([*line, *plain_lines(after.replace(ANSWER_END, " "))])
        if further and not self._leaves(further[0]):
            return OUTSIDE
        later = {self.vocabulary.code(bare(line)) for line in plain_lines(after)} - {OUTSIDE, code}
        return OUTSIDE if later & self.admitted[kind] else code


def is_cut_off(text: str) -> bool:
    """Return whether a reply ends within a thought, or before the end of the answer that it marks last."""
    return is_in_thought(text) or is_unfinished(with_plain_marks(split_thoughts(text).said).text)


# Answers in replies, read by the site's own reader.


class AnswerReader:
    """Reads answers from replies by fixed rules, without a judge. Only answers of the vocabulary are accepted.

    Answers with several parts, such as `apple,milk`, are recognised by the possible answers to the questions.
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        choices: Iterable[tuple[str, ...]] = (),
        synonyms: Mapping[str, str] | None = None,
    ) -> None:
        if not vocabulary:
            raise Refused(
                "Expected the possible answers of the split, got none: the site lacks the world of this dataset."
            )
        self.answers = tuple(vocabulary)
        self.kinds = {some: kind for kind, some in enumerate(dict.fromkeys([(), *choices]))}
        self.is_count = self.answers == tuple(map(str, range(len(self.answers))))
        known = AnswerVocabulary(
            self.answers,
            [recognised_form(some) for some in self.kinds],
            most_counted=len(self.answers) - 1 if self.is_count else None,
            synonyms=synonyms,
        )
        every = range(len(self.answers))
        codes = [[known.exact[choice] for choice in some if choice in known.exact] or every for some in self.kinds]
        self.reader = ReplyReader(known, codes)

    def read(self, text: str, choices: tuple[str, ...], letters: Mapping[str, str] | None = None) -> str | None:
        """Return the answer that a reply gives, or None.

        `choices` are the possible answers to the question, and `letters` has the answers that letters stand for.
        """
        code = self.reader.code(text, self.kinds.get(choices, 0), choices=letters)
        return None if code == OUTSIDE else self.answers[code]


def unknown_mark_in(reply: str) -> str:
    # The first of a pair of marks around most of a reply that are not known, for example `<muse>`.
    return with_plain_marks(split_thoughts(reply).said).unknown_mark


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

    @property
    def synonyms(self) -> Mapping[str, str]: ...

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


# The score of the steps of a program that a reply gives as one JSON array, see /docs/asking/#steps.


LONGEST_STEPS = 1_000_000  # characters of a reply in which steps are searched
BRACKET = re.compile(r'[\[\]]|"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
PART = re.compile(r"[^\s,]+")
COMMA = re.compile(r"\s*,\s*")
ALIKE = dict(SPELLINGS)


class ProgramStep(Protocol):
    """A step of a program: its function, the form of its result, and the right result."""

    @property
    def function(self) -> str:
        """Return the name of the function."""

    @property
    def kind(self) -> str:
        """Return the form of the result, one of `StepKind`."""

    @property
    def result(self) -> Any:
        """Return the right result."""


class StepScore(NamedTuple):
    """The score of the steps in a reply.

    Attributes
    ----------
    right : tuple of bool
        For each expected step, whether the reply has the right result at its position.
    accuracy : float
        The number of right steps, divided by the number of expected steps or, if that is larger, of steps in the reply.
    first_wrong : int or None
        The 0-based position of the first step that is wrong, missing or too many; None if all are right.
    problem : str
        Why the reply does not have the expected form; empty if it does. If the reply has exactly one valid JSON array,
        results at the right positions count in spite of a problem.
    """

    right: tuple[bool, ...]
    accuracy: float
    first_wrong: int | None
    problem: str


class Improper(ValueError):
    """A JSON array has a key twice, or a constant that JSON does not have."""


def score_steps(reply: str, expected: Sequence[ProgramStep]) -> StepScore:
    """Return the score of the steps that a reply gives.

    A step is right if the object at its position has exactly the keys `step` and `result`, with the name of the
    function and the right result. Upper and lower case, extra spaces, the order of an object's words and the spellings
    that answers have (`true` for yes, `three` for 3) do not matter. Blocks in `<think>` are ignored.

    Parameters
    ----------
    reply : str
        The whole reply of a model.
    expected : sequence of ProgramStep
        At least one.

    Returns
    -------
    StepScore
        No step is right if the reply has no JSON array, or several, or one with a key twice or with `NaN`.
    """
    given, problem = _array_in(reply)
    right = tuple([at < len(given) and _is_right_step(given[at], step) for at, step in enumerate(expected)])
    if not problem and len(given) != len(expected):
        problem = f"Expected {len(expected)} steps, got {len(given)}."
    wrong = [at for at, is_right in enumerate(right) if not is_right]
    first = wrong[0] if wrong else len(expected) if len(given) > len(expected) else None
    return StepScore(right, sum(right) / max(len(expected), len(given)), first, problem)


def _is_right_step(given: Any, expected: ProgramStep) -> bool:
    """Return whether an object of the array has the name and the result of a step."""
    if not isinstance(given, dict) or set(given) != {"step", "result"} or given["step"] != expected.function:
        return False
    found, kind, result = given["result"], expected.kind, expected.result
    if kind == "lines":
        return _line_numbers(found) == result
    if kind == "object":
        words = sorted(PART.findall(str(result).casefold()))
        return isinstance(found, str) and sorted(PART.findall(found.casefold())) == words
    if kind in ("set", "sequence"):
        parts, wanted = _parts_of(found), _parts_of(result)
        if parts is None or wanted is None:
            return False
        return sorted(parts) == sorted(wanted) if kind == "set" else parts == wanted
    said = _plain_value(found)
    return said is not None and said == _plain_value(result)


def _array_in(reply: str) -> tuple[list[Any], str]:
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
            text, object_pairs_hook=_each_key_once, parse_constant=_refuse_constant, parse_int=_short_number
        )
    except Improper:
        raise
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Improper("Expected each key once in an object, got one twice.")
    return found


def _refuse_constant(name: str) -> None:
    raise Improper(f"Expected JSON, got {name}, which JSON does not have.")


def _short_number(digits: str) -> int | None:
    return int(digits) if len(digits) < 20 else None


def _plain_value(value: Any) -> str | None:
    """Return a single value as a text in which equal values are equal; None for lists and objects."""
    if isinstance(value, float):
        value = int(value) if value.is_integer() and abs(value) < 1e15 else None
    if value is None or isinstance(value, (list, dict)):
        return None
    said = plain(str(value))
    return ALIKE.get(said, said)


def _line_numbers(value: Any) -> list[int] | None:
    numbers = value if isinstance(value, list) else [value]
    return None if any(type(one) is not int for one in numbers) else sorted(numbers)


def _parts_of(value: Any) -> list[str] | None:
    """Return the parts of a set or a sequence, which may be a list or a text with commas; None for other values."""
    if isinstance(value, str):
        said = value.strip()
        value = [] if not said or said.casefold() == "nothing" else COMMA.split(said)
    if not isinstance(value, list):
        return None
    parts = [_plain_value(part) for part in value]
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
    def variants(self, question: AskedQuestion) -> list[Variant]:
        return [with_options(question, question.choices)]


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


# The HTTP proxy on the way to a server, which the environment names.


class Proxy(NamedTuple):
    """An HTTP proxy. `url` has its password, and `authorization` is the value of its header, or empty."""

    url: str
    host: str
    port: int
    authorization: str = ""

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def is_loopback(host: str) -> bool:
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback or address.is_unspecified


def proxy_for(address: str) -> Proxy | None:
    """Return the proxy for an address that the environment names, or None; raise `Refused` for other proxies than HTTP.

    The variables are `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`. An address of this machine never has one.
    """
    parts = urllib.parse.urlsplit(address)
    host, proxies = parts.hostname or "", urllib.request.getproxies()
    value = (proxies.get(parts.scheme) or proxies.get("all") or "").strip()
    if not value or is_loopback(host) or is_in_network(host, proxies.get("no", "")):
        return None
    if urllib.request.proxy_bypass(parts.netloc):
        return None
    name = f"{parts.scheme}_proxy" if proxies.get(parts.scheme) else "all_proxy"
    try:
        found = urllib.parse.urlsplit(value if "://" in value else f"http://{value}")
        server, port = found.hostname or "", found.port or 80
    except ValueError:
        server, port = "", 0
    if not server or found.scheme != "http":
        shown = value.rpartition("@")[2] if "@" in value else value  # without a password
        raise Refused(
            f"Expected the address of an HTTP proxy, such as http://proxy.example.org:3128, in the variable {name}, "
            f"got {printable(shown)}: change it, or name {host} in the variable no_proxy."
        )
    if found.username is None:
        return Proxy(found.geturl(), server, port)
    pair = f"{urllib.parse.unquote(found.username)}:{urllib.parse.unquote(found.password or '')}"
    packed = base64.b64encode(pair.encode()).decode()
    for secret in (packed, urllib.parse.unquote(found.password or "")):
        SECRETS.hide(secret)
    return Proxy(found.geturl(), server, port, f"Basic {packed}")


def is_in_network(host: str, names: str) -> bool:
    """Return whether `no_proxy` names a network, such as 10.0.0.0/8, that has this address."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    for name in names.replace(",", " ").split():
        try:
            if "/" in name and address in ipaddress.ip_network(name, strict=False):
                return True
        except ValueError:
            continue
    return False


# The address of the model's server, and its path for an interface.


# Addresses of other interfaces of the same servers, and the path of the one that is meant.
OTHER_PATHS: Mapping[str, str] = {
    r"/messages": "",  # Anthropic's own
    r"/v1(?:alpha|beta)?/models(?:/.*)?": "/v1beta/openai",  # Gemini's own
    r"/v1(?:alpha|beta)": "/v1beta/openai",
    r"/api(?:/chat|/generate)?": "/v1",  # Ollama's own
    r"(?<!/chat)/completions": "",
    r"/models": "",
}
OTHER_PATH = tuple((re.compile(rf"(?:{pattern})/*$"), other) for pattern, other in OTHER_PATHS.items())
SECRET_NAME = re.compile(r"key|token|secret|passw|^sig(?:nature)?$|^auth", re.IGNORECASE)
CHAT_PATH, RESPONSES_PATH = "/chat/completions", "/responses"
CHAT_INTERFACE, RESPONSES_INTERFACE = INTERFACES = ("chat", "responses")


class ModelAddress(NamedTuple):
    """Where requests go: `target` is the path with the query."""

    scheme: str
    host: str
    port: int | None
    target: str
    shown: str
    interface: str
    proxy: Proxy | None

    @property
    def has_api_version(self) -> bool:
        # Azure's addresses have it; keys are in a header of their own there.
        return "api-version=" in self.target.partition("?")[2]


def model_address(base_url: str, interface: str | None = None) -> ModelAddress:
    """Return where requests go for a --base-url; raise `Refused` for other texts.

    Without `interface`, an address that ends in /responses has the interface of that name, and others that of chats.
    """
    parts = parts_of_address(base_url)
    if parts is None or parts.hostname is None or parts.fragment:
        raise Refused(
            "Expected an address such as http://127.0.0.1:8000/v1 as --base-url, without keys and passwords: "
            "these come from environment variables."
        )
    secret = [name for name, _ in urllib.parse.parse_qsl(parts.query, True) if SECRET_NAME.search(name)]
    if secret:
        raise Refused(
            f"Expected no key in --base-url, got the parameter {printable(secret[0])}: put the key into the variable "
            "that --key-from names, and leave the parameter out."
        )
    path = parts.path.rstrip("/")
    found = interface or (RESPONSES_INTERFACE if path.endswith(RESPONSES_PATH) else CHAT_INTERFACE)
    for known in (CHAT_PATH, RESPONSES_PATH):
        path = path[: -len(known)] if path.endswith(known) else path
    check_path(parts, path)
    path += CHAT_PATH if found == CHAT_INTERFACE else RESPONSES_PATH
    target = f"{path}?{parts.query}" if parts.query else path
    shown = f"{parts.scheme}://{parts.netloc}{target}"
    return ModelAddress(parts.scheme, parts.hostname, parts.port, target, shown, found, proxy_for(base_url))


def check_path(parts: urllib.parse.SplitResult, path: str) -> None:
    """Raise `Refused` for the address of another interface, and name the one to use."""
    for pattern, other in OTHER_PATH:
        start = pattern.search(path)
        if start is not None:
            better = f"{parts.scheme}://{parts.netloc}{path[: start.start()]}{other}"
            raise Refused(
                f"Expected an address with the interface of OpenAI, got {printable(parts.path)} of another interface: "
                f"use --base-url {printable(better)}"
            )


# Errors of the model's server: their texts in many forms, and what each means for a run.


# What an error means: ask later with fewer requests; ask again; this question is refused; every request would fail.
CROWDED, PASSING, QUESTION, STOP = ("crowded", "passing", "question", "stop")
KINDS: Mapping[int, str] = {
    **dict.fromkeys((429, 503, 529), CROWDED),
    **dict.fromkeys((408, 409, 425), PASSING),
    **dict.fromkeys((400, 403, 413, 422, 451), QUESTION),
}
# Names of errors that servers send in place of a status, in the order in which they are looked for.
NAMED: tuple[tuple[str, int], ...] = (
    (r"insufficient_(?:quota|balance|credit)|billing", 402),
    (r"rate.?limit|too_many_requests|resource_exhausted|throttl", 429),
    (r"overloaded|unavailable|capacity", 503),
    (r"invalid_api_key|authentication|unauthenticated|unauthorized", 401),
    (r"permission|forbidden|moderation", 403),
    (r"content.?(?:filter|policy|management)|context_length|invalid_request|invalid_argument|bad_request", 400),
    (r"not_found", 404),
    (r"too_large", 413),
    (r"timeout|timed_out|deadline", 408),
)
NO_CREDIT = re.compile(r"insufficient_(?:quota|balance|credit)", re.IGNORECASE)
FILTERED = ("content_filter", "refusal", "safety", "content_policy_violation")
NESTED_FIELDS = ("error", "errors", "detail", "fault")
LONGEST_NAME = 60


class ServerError(NamedTuple):
    """The error in a response. `code` is the server's name for it, and `status` the one that the text gives, if any."""

    code: str
    message: str
    status: int | None

    @property
    def text(self) -> str:
        return f"{self.code} {self.message}".strip()


def kept_error(text: str) -> str:
    return SECRETS.text(text)[:KEPT_ERROR]  # in this order, because the beginning of a key would not be found


def error_in(found: Any, text: str) -> ServerError:
    """Return the error in a JSON value of one of the usual forms, else in a plain text."""
    error = innermost(found)
    if not isinstance(error, dict):
        return ServerError("", text if error is None else message_text(error), None)
    said = error.get("message") or error.get("msg") or error.get("detail") or error.get("title")
    named = f" ({error['param']})" if error.get("param") else ""
    codes = [error.get(name) for name in ("code", "type", "status")]
    numbers = [number for number in map(status_in, codes) if number]
    code = next((str(one) for one in codes if one), "")
    message = f"{message_text(said) if said else text}{named}{details_of(error)}"
    status = (
        numbers[0]
        if numbers
        else next((named_status(str(one)) for one in codes if one and named_status(str(one))), None)
    )
    return ServerError(code, message, status)


def innermost(found: Any) -> Any:
    """Return the object or text that has the error: `{"error": ...}`, a list of these, or the value itself."""
    for _ in range(4):
        if isinstance(found, list) and len(found) == 1 and isinstance(found[0], dict) and "loc" not in found[0]:
            found = found[0]
        elif isinstance(found, dict) and not found.get("message") and any(found.get(name) for name in NESTED_FIELDS):
            inner = next(found[name] for name in NESTED_FIELDS if found.get(name))
            if not isinstance(inner, (dict, list, str)) or (isinstance(inner, str) and found.get("code")):
                return found
            found = inner
        elif isinstance(found, dict) and isinstance(found.get("error"), dict):
            found = found["error"]
        else:
            return found
    return found


def message_text(said: Any) -> str:
    """Return a message as text: also a list of problems, each with the place in the request and what is wrong."""
    if isinstance(said, dict):
        said = [said]
    if not isinstance(said, list) or not all(isinstance(one, dict) for one in said):
        return str(said)
    lines = []
    for one in said:
        place = one.get("loc") or one.get("path") or ""
        where = ".".join(map(str, place)) if isinstance(place, list) else str(place)
        what = one.get("msg") or one.get("message") or one
        lines.append(f"{where}: {what}" if where else str(what))
    return "; ".join(lines)


def details_of(error: Mapping[str, Any]) -> str:
    # Routers put the reasons of the provider behind them into `metadata`.
    metadata = error.get("metadata")
    if not isinstance(metadata, dict):
        return ""
    parts = [metadata.get("reasons"), metadata.get("raw")]
    said = [", ".join(map(str, part)) if isinstance(part, list) else str(part) for part in parts if part]
    return f" [{'; '.join(said)}]" if said else ""


def status_in(code: Any) -> int | None:
    number = int(code) if isinstance(code, str) and re.fullmatch(r"[3-5]\d\d", code) else code
    return number if type(number) is int and 300 <= number < 600 else None


def named_status(name: str) -> int | None:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name[:LONGEST_NAME]).lower().replace(" ", "_")
    return next((status for pattern, status in NAMED if re.search(pattern, words)), None)


def kind_of(status: int | None, error: ServerError) -> str:
    """Return what an error with this status means; None is an error that came without one."""
    if status is None:
        return PASSING
    if NO_CREDIT.search(error.text):
        return STOP
    if status in KINDS:
        return KINDS[status]
    return PASSING if status >= 500 or status < 300 else STOP


# The result of one request to the model's server.


ANSWERED, CUT_OFF, REFUSED, EMPTY, FAILED = STATES = ("answered", "cut off", "refused", "empty", "failed")
TOKENS = ("prompt_tokens", "completion_tokens")
LIMITS = ("max_completion_tokens", "max_output_tokens", "max_tokens")  # names of the limit of a reply


class ModelReply(NamedTuple):
    """The result of one attempt.

    `kind` is what an error means for the run, and empty without one. `wait` is the number of seconds that the server
    asks to wait.
    """

    state: str
    reply: str | None = None
    reasoning: Mapping[str, Any] | None = None
    finish_reason: str | None = None
    usage: Mapping[str, Any] | None = None
    served_model: str | None = None
    status: int | None = None
    error: str | None = None
    kind: str = ""
    wait: float | None = None


def is_at_limit(usage: Mapping[str, Any] | None, sent: Mapping[str, Any]) -> bool:
    most, tokens = next((sent[name] for name in LIMITS if name in sent), None), tokens_in(usage)[1]
    return type(most) is int and tokens is not None and tokens >= most


def tokens_in(usage: Mapping[str, Any] | None) -> list[int | None]:
    # The tokens of the request and of the reply; None if the server does not report them.
    counts = [(usage or {}).get(name) for name in TOKENS]
    return [count if type(count) is int and 0 <= count < 10**9 else None for count in counts]


# The two interfaces of OpenAI, chat completions and responses: the body of a request, and the reply in a response.


REASONING = ("reasoning", "reasoning_content", "reasoning_details", "thinking", "thinking_blocks")
THINKING = ("thinking", "reasoning", "reasoning_text", "summary_text", "thought")  # kinds of parts of a content
COMPLETE = (None, "", "stop", "eos", "eos_token", "end_turn", "stop_sequence", "completed")
LENGTH = ("length", "max_tokens", "max_output_tokens", "model_length")
# The name of the limit of a reply in each interface.
LIMIT_NAMES: Mapping[str, str] = {CHAT_INTERFACE: "max_tokens", RESPONSES_INTERFACE: "max_output_tokens"}
SPOKEN = ("text", "output_text")


def loaded(text: str) -> Any:
    """Return a JSON value, or None for other texts."""
    try:
        return json.loads(text, parse_constant=lambda name: None)
    except (ValueError, RecursionError):
        return None


def request_body(interface: str, model: str, prompt: str, picture: str | None, sent: Mapping[str, Any]) -> bytes:
    """Return the body of a request. `picture` is a data URL, and `sent` has the parameters."""
    content: Any = prompt
    if interface == RESPONSES_INTERFACE:
        if picture is not None:
            content = [{"type": "input_image", "image_url": picture}, {"type": "input_text", "text": prompt}]
        messages = {"input": [{"role": "user", "content": content}], "store": False}
    else:
        if picture is not None:
            content = [{"type": "image_url", "image_url": {"url": picture}}, {"type": "text", "text": prompt}]
        messages = {"messages": [{"role": "user", "content": content}]}
    return as_json({"model": model, **messages, "stream": False, **sent})


def reply_in(text: str, interface: str) -> ModelReply:
    """Return the reply in a response with status 200; only a complete reply with text has the state `answered`.

    An error in such a response is one as with a status of its own.
    """
    found = loaded(text)
    if interface == RESPONSES_INTERFACE:
        return reply_of_response(found, text)
    return reply_of_chat(found, text)


def reply_of_chat(found: Any, text: str) -> ModelReply:
    choices = found.get("choices") if isinstance(found, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message, finish = choice.get("message"), choice.get("finish_reason")
    if message is None and state_of(finish, None, is_refused=False) == REFUSED:
        message = {}  # some servers leave out the message that their filter stops
    faulty = choice if choice.get("error") else found
    if not isinstance(found, dict) or not isinstance(message, dict) or faulty.get("error"):
        return failed_reply("a chat completion", error_in(faulty, text))
    content, refusal = content_of(message.get("content")), message.get("refusal") or refusal_in(message.get("content"))
    reasoning = {name: message[name] for name in REASONING if message.get(name)}
    thoughts = "\n".join(thoughts_in(message.get("content")))
    if thoughts:
        reasoning.setdefault("reasoning", thoughts)
    return finished_reply(found, finish, content, refusal=refusal, reasoning=reasoning)


def reply_of_response(found: Any, text: str) -> ModelReply:
    output = found.get("output") if isinstance(found, dict) else None
    status = found.get("status") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(output, list) or found.get("error"):
        return failed_reply("a response", error_in(found, text))
    items = [item for item in output if isinstance(item, dict)]
    said = [item for item in items if item.get("type") == "message" and item.get("phase") != "commentary"]
    contents = [content_of(item.get("content")) for item in said]
    refusal = next(filter(None, (refusal_in(item.get("content")) for item in said)), None)
    parts = [
        part for item in items if item.get("type") == "reasoning" for part in (item.get("summary"), item.get("content"))
    ]
    thoughts = "\n".join(one for part in parts for one in thoughts_in(part))
    details = found.get("incomplete_details")
    finish = details.get("reason") if status == "incomplete" and isinstance(details, dict) else status
    content = None if not said else "".join(one for one in contents if one is not None)
    return finished_reply(
        found, finish, content, refusal=refusal, reasoning={"reasoning": thoughts} if thoughts else {}
    )


def failed_reply(expected: str, error: ServerError) -> ModelReply:
    said, kind = kept_error(f"expected {expected}, got: {error.text}"), kind_of(error.status, error)
    is_filtered = kind == QUESTION and error.code in FILTERED
    return ModelReply(REFUSED if is_filtered else FAILED, status=error.status or 200, error=said, kind=kind)


def finished_reply(
    found: Mapping[str, Any], finish: Any, content: str | None, *, refusal: Any, reasoning: Mapping[str, Any]
) -> ModelReply:
    model = found.get("model")
    state = state_of(finish, content, is_refused=bool(refusal))
    trouble = str(refusal) if refusal else f"unknown finish reason {finish!r}" if state == FAILED else ""
    return ModelReply(
        state,
        content,
        reasoning or None,
        finish if finish is None else str(finish),
        usage_in(found.get("usage")),
        model if isinstance(model, str) else None,
        200,
        kept_error(trouble) or None,
        PASSING if state == FAILED else "",
    )


def usage_in(usage: Any) -> Mapping[str, Any] | None:
    """Return the numbers of tokens; those of the interface of responses with the names that chat completions have."""
    if not isinstance(usage, dict):
        return None
    renamed = {name: usage[other] for name, other in zip(TOKENS, ("input_tokens", "output_tokens")) if other in usage}  # noqa: B905 - Python 3.9
    return {**renamed, **usage}


def content_of(content: Any) -> str | None:
    """Return the text of a message; its content may be a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") in SPOKEN]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def refusal_in(content: Any) -> str | None:
    parts = [part.get("refusal") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return next((part for part in parts if isinstance(part, str) and part), None)


def thoughts_in(content: Any) -> Iterator[str]:
    """Yield the texts of those parts of a content that are no reply but reasoning."""
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict) or part.get("type") not in THINKING:
            continue
        inner = next((part[name] for name in ("thinking", "text", "reasoning") if part.get(name)), None)
        if isinstance(inner, str):
            yield inner
        elif isinstance(inner, list):
            yield from (one["text"] for one in inner if isinstance(one, dict) and isinstance(one.get("text"), str))


def state_of(finish: Any, content: str | None, *, is_refused: bool) -> str:
    said = finish.lower() if isinstance(finish, str) else finish
    if is_refused or (said.partition(":")[0] if isinstance(said, str) else said) in FILTERED:
        return REFUSED
    if said in LENGTH:
        return CUT_OFF
    if said not in COMPLETE:
        return FAILED
    return ANSWERED if content is not None and without_thoughts(content).strip() else EMPTY


# The limits of the model's server: the parameters that it accepts, and how many requests at once.


SHRINK = 0.7  # the limit of simultaneous requests is multiplied by this when the server asks for fewer
UNKNOWN_PARAMETER = re.compile(
    r"unknown|unrecogni[sz]ed|unsupported|not (?:be )?support|(?:does|do)(?:n't| not) support|unexpected|extra|"
    r"not (?:permitted|allowed|recogni[sz]ed|available|accepted)|deprecated|cannot find|no longer|instead|"
    r"at the same time|send one of|(?:invalid|valid) (?:parameter|argument|field|name)",
    re.IGNORECASE,
)
BAD_VALUE = re.compile(
    r"too (?:large|high|big|long|many|small|low)|exceed|at (?:most|least)|maximum|minimum|larger|greater|less than|"
    r"(?:must|should) be|strictly|positive|between|range|limit|[<>\u2264\u2265]|"
    r"(?:invalid|unsupported|bad) (?:\S+ )?value|unsupported_value",
    re.IGNORECASE,
)
# Other names of the limit of a reply, and a complaint about its size that has no name.
REPLY_LIMIT = re.compile(
    r"max_?(?:completion_|output_|new_)?tokens|num_predict|tokens? in the completion|in the completion", re.IGNORECASE
)
# Parameters, the options that set them, and what is sent instead of one that is unknown to the server.
OPTIONS: Mapping[str, str] = {"temperature": "--temperature", "seed": "--seed"}
RENAMED: Mapping[str, str] = {"max_tokens": "max_completion_tokens"}


class Sampling:
    """The parameters of requests. Each fallback is tried once, and none changes what the user set.

    A limit that the server does not know by its name is sent by another name. A temperature that the user did not set
    is left out if the server refuses it.
    """

    def __init__(self, parameters: Mapping[str, Any], *, chosen: Collection[str] = ()) -> None:
        self.wanted = dict(parameters)
        self.chosen = frozenset(chosen)  # the names of the parameters that the user has set
        self.sent = dict(parameters)
        self.dropped: list[str] = []
        self.lock = threading.Lock()

    def fall_back(self, said: str, sent: Mapping[str, Any]) -> bool:
        """Change a parameter that a refused request names; return False if it names none that may change."""
        is_free = "temperature" in sent and "temperature" not in self.chosen
        if is_free and is_named("temperature", said) and is_about_a_parameter(said):
            self._replace("temperature", None)
            return True
        for name, other in RENAMED.items():
            if name in sent and is_named(name, said) and is_unknown(said):
                self._replace(name, other)
                return True
        return False

    def _replace(self, name: str, other: str | None) -> None:
        with self.lock:
            if name in self.sent:  # replaced at once, since other threads read it
                more = {other: self.sent[name]} if other else {}
                # a value that the user has set under the other name counts
                self.sent = {**more, **{key: value for key, value in self.sent.items() if key != name}}
                self.dropped.append(name)
                say(f"The server refuses {name}: {f'{other} is sent instead' if other else 'it is left out'}.")

    def setting_named(self, said: str, sent: Mapping[str, Any]) -> str | None:
        """Return what to do about the setting that a refused request names, or None if it names none."""
        if not is_about_a_parameter(said):
            return None
        if REPLY_LIMIT.search(said) and is_unknown(said):
            return "the limit of --max-tokens can't be sent to this server under any name that is known"
        if REPLY_LIMIT.search(said):
            return "set another limit with --max-tokens"
        for name, option in OPTIONS.items():
            if name in sent and is_named(name, said):
                return f"leave out {option}, or set another value"
        named = next((name for name in sent if name in self.chosen and is_named(name, said)), None)
        return None if named is None else f"change {printable(named)} in --more"


def is_named(name: str, said: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", said) is not None


def is_about_a_parameter(said: str) -> bool:
    return UNKNOWN_PARAMETER.search(said) is not None or BAD_VALUE.search(said) is not None


def is_unknown(said: str) -> bool:
    # It is about a name that the server does not know, and not about its value.
    return UNKNOWN_PARAMETER.search(said) is not None and BAD_VALUE.search(said) is None


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


# One exchange with the model's server.


LEAST_REPLY = 256 << 10  # bytes that one reply may have in any case
ALL_REPLIES = 32 << 20  # bytes of all replies that are read at once; each of the requests at once has an equal part
AUTHORIZATION = "Authorization"
REDIRECTS = (301, 302, 303, 307, 308)
TUNNEL_REFUSED = re.compile(r"Tunnel connection failed: 4\d\d")
MOST_VALUES = 1 << 20  # values in a reply, which need more memory than their text


class ModelServer:
    """A server with one of OpenAI's interfaces; each thread has a connection of its own.

    An exchange ends after `timeout` seconds, whatever the server does. All replies that are read at once have
    `ALL_REPLIES` bytes at most: each of `concurrency` requests has an equal part. The key is sent in `key_header`;
    without one, in the header that the address calls for.
    """

    def __init__(
        self, address: ModelAddress, key: str, *, timeout: float, concurrency: int = 1, key_header: str | None = None
    ) -> None:
        self.address, self.timeout = address, timeout
        self.headers = {"Content-Type": "application/json", "User-Agent": "horsesense-ask"}
        header = key_header or ("api-key" if address.has_api_version else AUTHORIZATION)
        if key:
            self.headers[header] = f"Bearer {key}" if header.lower() == AUTHORIZATION.lower() else key
        self.most = max(LEAST_REPLY, ALL_REPLIES // concurrency)
        self.own = threading.local()
        self.parsing = threading.Lock()  # a value of JSON needs many times the memory of its text

    def __str__(self) -> str:
        proxy = self.address.proxy
        return f"{self.address.shown} through the proxy {proxy}" if proxy else self.address.shown

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
                    return reply_in(text, self.address.interface)._replace(wait=seconds_asked(response.headers, now()))
                error = error_in(loaded(text), text)
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as trouble:
            connection.close()
            return ModelReply(FAILED, error=kept_error(self._name_proxy(trouble)), kind=kind_of_trouble(trouble))
        said = error.text.strip() or str(response.reason)
        if response.status in REDIRECTS and response.headers.get("Location"):
            said = f"leads to {urllib.parse.urljoin(self.address.shown, response.headers['Location'])}"
        kind = kind_of(response.status, error)
        state = REFUSED if kind == QUESTION and error.code in FILTERED else FAILED
        wait = seconds_asked(response.headers, now())
        return ModelReply(state, status=response.status, error=kept_error(said), kind=kind, wait=wait)

    def _name_proxy(self, trouble: Exception) -> str:
        proxy = self.address.proxy
        return f"{type(trouble).__name__}: {trouble}" + (f" (through the proxy {proxy})" if proxy else "")

    def leave(self) -> None:
        found: TimedConnection | None = getattr(self.own, "connection", None)
        if found is not None:
            found.close()

    def _connection(self) -> TimedConnection:
        """Return this thread's connection with a new deadline; one that the server has closed is opened again."""
        found: TimedConnection | None = getattr(self.own, "connection", None)
        if found is None:
            found = self.own.connection = new_connection(self.address, self.timeout)
        elif found.sock is not None and has_input(found.sock):
            found.close()
        found.deadline = Deadline(self.timeout)
        return found

    def _exchange(self, connection: TimedConnection, body: bytes) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request; return the response and its content."""
        trouble: OSError | None = None
        try:
            connection.request("POST", *proxied(self.address, self.headers, body))
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


def new_connection(address: ModelAddress, timeout: float) -> TimedConnection:
    kind = TimedTLSConnection if address.scheme == "https" else TimedConnection
    if address.proxy is None:
        return kind(address.host, address.port, timeout=timeout)
    found = kind(address.proxy.host, address.proxy.port, timeout=timeout)
    if address.scheme == "https":
        headers = {"Proxy-Authorization": address.proxy.authorization} if address.proxy.authorization else {}
        found.set_tunnel(address.host, address.port, headers)
    return found


def proxied(address: ModelAddress, headers: Mapping[str, str], body: bytes) -> tuple[str, bytes, Mapping[str, str]]:
    """Return the target, the body and the headers of a request: a proxy without a tunnel needs the whole address."""
    if address.proxy is None or address.scheme == "https":
        return address.target, body, headers
    authorization = address.proxy.authorization
    return address.shown, body, {**headers, **({"Proxy-Authorization": authorization} if authorization else {})}


def kind_of_trouble(trouble: Exception) -> str:
    # A certificate or a proxy that refuses will do so again.
    is_refused = isinstance(trouble, ssl.SSLCertVerificationError) or TUNNEL_REFUSED.search(str(trouble))
    return STOP if is_refused else PASSING


def check_values(content: bytes) -> None:
    values = sum(content.count(mark) for mark in (b",", b"[", b"{"))
    if values > MOST_VALUES:
        raise http.client.HTTPException(f"expected a reply of at most {MOST_VALUES:,} values, got more")


def has_input(sock: socket.socket | TimedSocket) -> bool:
    with selectors.DefaultSelector() as found:  # `select.select` takes no file number above 1,023
        found.register(sock, selectors.EVENT_READ)
        return bool(found.select(0))


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
    error: str | None = None  # or the reason of a refusal


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


class StoredReply(NamedTuple):
    """A stored line. `name` says which request it is about.

    The line of a request that the server refused is unsure until a reply follows: all requests may have been refused.
    """

    name: tuple[int, str]
    kept: Kept
    model: str
    is_unsure: bool


def stored_reply(line: bytes) -> StoredReply:
    """Return the reply in a stored line; raise an error if a field is missing or wrong."""
    row = json.loads(line)
    number, key, state, reply = (row[name] for name in ("question", "key", "state", "reply"))
    is_text = isinstance(reply, str) or (reply is None and state != ANSWERED)
    if type(number) is not int or not isinstance(key, str) or state not in STATES or not is_text:
        raise ValueError("a field has another form")
    error, status = row.get("error"), row.get("status")
    is_unsure = state == REFUSED and status != 200 and status is not None
    kept = Kept(state, reply, error if isinstance(error, str) else None)
    return StoredReply((number, key), kept, str(row.get("model")), is_unsure)


class ReplyLog:
    """The file with a line for each attempt. `add` returns when the line is safe on the disk."""

    def __init__(self, path: Path) -> None:
        self.done: dict[tuple[int, str], Kept] = {}
        self.answering: set[str] = set()  # the models that have answered a question
        self.unsure: dict[tuple[int, str], Kept] = {}
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
            found = stored_reply(line)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise Refused(
                f"Expected a stored reply in {where}, got something else: delete this line, or use another --folder."
            ) from error
        if found.is_unsure:
            self.unsure[found.name] = found.kept
        elif found.kept.state != FAILED:
            self.done.update({**self.unsure, found.name: found.kept})
            self.unsure.clear()
            self.answering.add(found.model)

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


# A run: several threads ask the questions, repeat failures and count the replies.


IN_A_ROW = 20  # failed or refused requests after which the script stops
FIRST_REFUSALS = 3  # questions that the server may refuse before it has answered any
MOST_REASONS = 50  # different reasons of failures that are printed
BEAT = 1.0  # seconds between two lines of progress on a terminal
PARTS = 20  # lines of progress elsewhere, such as in a log
MILLION = 1_000_000
DIGITS = re.compile(r"\d+")


HINTS: Mapping[int, str] = {
    401: "put the server's key into the variable that --key-from names",
    404: "check --model and --base-url, which often ends in /v1",
}


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
        self.asked = self.troubles_in_a_row = 0
        self.reasons: Counter[str] = Counter()
        self.began = time.monotonic()
        self.lock = threading.Lock()

    def add_usage(self, usage: Mapping[str, Any] | None) -> None:
        with self.lock:
            for at, count in enumerate(tokens_in(usage)):
                self.tokens[at] += count or 0

    def add(self, state: str, *, is_new: bool, is_trouble: bool = False) -> None:
        with self.lock:
            self.states[state] += 1
            self.asked += is_new
            if is_new:  # replies from the disk say nothing about the server
                self.troubles_in_a_row = self.troubles_in_a_row + 1 if is_trouble else 0

    def is_worth_saying(self, reason: str) -> int:
        """Count a reason of a failure; return how often there was one like it, or 0 if it need not be said again."""
        alike = DIGITS.sub("0", reason)
        with self.lock:
            if alike not in self.reasons and len(self.reasons) >= MOST_REASONS:
                return 0
            self.reasons[alike] += 1
            count = self.reasons[alike]
        return count if count in (1, 10, 100, 1000, 10_000, 100_000) else 0

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
        self.postponed: list[ModelRequest] = []  # refused before the server had answered any question
        self.last_refusal = ModelReply(FAILED)
        self.is_answering = settings.model in log.answering
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
        if is_complete and self.postponed and self.trouble is None:
            self.trouble = self._refusal(self.last_refusal)
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
        if kept is not None:
            self.outcomes[request.question.number, request.variant, request.epoch] = kept
            self.tally.add(kept.state, is_new=False)
            return
        found = self._ask(request, key)
        if found.state == FAILED and found.kind == QUESTION:
            self._postpone(request, found)
            return
        kept = Kept(found.state, found.reply and SECRETS.text(found.reply), found.error)  # as it is stored
        self.outcomes[request.question.number, request.variant, request.epoch] = kept
        self.tally.add(kept.state, is_new=True, is_trouble=bool(found.kind))
        if not found.kind:
            self._go_on_with_postponed()
        most = self.settings.stop_after or max(IN_A_ROW, 2 * self.settings.concurrency)
        if self.tally.troubles_in_a_row >= most:
            raise Unreachable(
                f"Expected replies from {self.server}, got {self.tally.troubles_in_a_row} failed or refused requests "
                f"in a row, the last one: {printable(found.error)}. Continue later with --resume; --stop-after sets "
                "how many end the run."
            )

    def _postpone(self, request: ModelRequest, found: ModelReply) -> None:
        """Keep a refused request for later: until the server answers a question, every request may be wrong."""
        with self.lock:
            if self.is_answering:
                self.waiting.append(request)
                return
            self.postponed.append(request)
            self.last_refusal = found
            is_over = len({one.question.number for one in self.postponed}) >= FIRST_REFUSALS
        if is_over or self.sampling.setting_named(found.error or "", self.sampling.sent):
            raise self._refusal(found)

    def _go_on_with_postponed(self) -> None:
        with self.lock:
            self.is_answering = True
            self.waiting.extend(self.postponed)
            self.postponed.clear()

    def _refusal(self, found: ModelReply) -> Refused:
        said = printable(found.error, KEPT_ERROR)
        hint = self.sampling.setting_named(said, self.sampling.sent) or HINTS.get(found.status or 0)
        return Refused(
            f"{self.server} refuses the request ({found.status or 'no status'}): {said}"
            + (f". What to do: {hint}." if hint else "")
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
            found, is_changed = ModelReply(FAILED, error="not sent"), False
            pause = min(LONGEST_BACKOFF, PAUSE * 2**failures) * random.uniform(0.5, 1)  # noqa: S311 - only a pause
            try:
                found = self.server.ask(body, now=self.clock.date)
                if found.state == ANSWERED and not found.finish_reason and is_at_limit(found.usage, sent):
                    found = found._replace(state=CUT_OFF)
                if found.kind == QUESTION:
                    is_changed = self.sampling.fall_back(found.error or "", sent)
                    if self.is_answering and not is_changed:
                        found = found._replace(state=REFUSED)
                latency = self.clock.now() - began
                pause = found.wait or pause
                self.log.add(self._record(request, found, key=key, attempt=attempt, body=body, latency=latency))
                self.tally.add_usage(found.usage)
            finally:
                is_crowded = found.kind == CROWDED
                self.gate.leave(entered, is_crowded=is_crowded, is_good=not found.kind, pause=pause)
            if is_changed:
                continue
            self._say_trouble(request, found)
            if found.state != FAILED or found.kind == QUESTION:
                return found
            self._check_passing(found, pause)
            failures += 1
            if failures > self.settings.retries:
                return found
            if not is_crowded:
                self.clock.wait(pause)

    def _say_trouble(self, request: ModelRequest, found: ModelReply) -> None:
        """Print the reason of a failure when it comes first, and then at the 10th, 100th, ... time."""
        reason = printable(found.error)
        count = self.tally.is_worth_saying(reason) if found.kind else 0
        if count:
            state = REFUSED if found.kind == QUESTION else found.state
            state = f"{state} ({found.status})" if found.status else state
            again = f" ({count:,} times so far)" if count > 1 else ""
            say(f"Question {request.question.number} {state}: {reason}{again}")

    def _check_passing(self, found: ModelReply, pause: float) -> None:
        """Raise `Refused` for a failure that a later attempt can't change."""
        if found.kind == STOP:
            raise self._refusal(found)
        if found.wait is not None and pause > LONGEST_PAUSE:
            raise Refused(f"{self.server} asks to wait {duration(pause)}: continue later with --resume.")

    def body_of(self, request: ModelRequest, sent: Mapping[str, Any]) -> bytes:
        picture = self.pictures.address_of(request.question)
        interface = self.server.address.interface
        return request_body(interface, self.settings.model, self.prompt_of(request), picture, sent)

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
            **{name: value for name, value in found._asdict().items() if name not in ("kind", "wait")},
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
        proxy = proxy_for(self.address)
        self.shown = f"{self.address} through the proxy {proxy}" if proxy else self.address
        proxies = urllib.request.ProxyHandler({parts.scheme: proxy.url} if proxy else {})
        self.opener = urllib.request.build_opener(SameSite, TimedHTTP, TimedHTTPS, proxies)

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
                    raise Refused(f"{self.shown} says: {trouble}", error.code) from error
            except (OSError, http.client.HTTPException, ValueError, zlib.error) as error:
                trouble = printable(getattr(error, "reason", error)) or type(error).__name__
            if number + 1 < TRIES:
                say(f"No answer from the site yet ({trouble}). The next try is in {pause:g} s.")
                self.clock.wait(pause)
        raise Unreachable(f"Expected an answer from {self.shown}, got none after {TRIES} tries: {trouble}")


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
        self.synonyms: dict[str, str] = self.about.get("synonyms") or {}  # older sites do not send them

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


SHOWN_REASONS = 5
TOO_MANY = "(too many steps)"


class Result(NamedTuple):
    """The answer to a question, or None with the state that prevents it.

    `unread` has replies without an answer, and `steps` the score of the steps if they were asked for. `reason` is the
    text of a refusal or of an error.
    """

    question: AskedQuestion
    state: str
    answer: str | None
    unread: list[str]
    steps: StepScore | None = None
    reason: str = ""


def results_of(
    run: QuestionRun, questions: Sequence[AskedQuestion], reader: AnswerReader, *, epoch: int = 0
) -> list[Result]:
    """Return the results of all questions. Only replies whose state is `answered` are read."""
    results, form = [], run.form
    for question in questions:
        answers: list[str | None] = []
        states, unread, reasons = [], [], []
        for number, variant in enumerate(form.variants(question)):
            kept = run.outcomes[question.number, number, epoch]
            states.append(kept.state)
            reasons.append(kept.error or "")
            is_answered = kept.state == ANSWERED and kept.reply is not None
            answer = form.read(reader, kept.reply or "", question=question, variant=variant) if is_answered else None
            answers.append(answer)
            if is_answered and answer is None:
                unread.append(kept.reply or "")
        state = next((state for state in states if state != ANSWERED), ANSWERED)
        said = (kept.reply or "") if state == ANSWERED else ""
        steps = score_steps(said, question.steps) if form.has_steps else None
        answer = form.combine(answers) if None not in answers else None
        results.append(Result(question, state, answer, unread, steps, next(filter(None, reasons), "")))
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
    yield from report_reasons(results)
    unread = [(one.question.number, reply) for one in results for reply in one.unread]
    yield f"replies without a readable answer: {len(unread):,}"
    for number, reply in unread[:10]:
        yield f"  question {number}: {printable(reply)}"
    if len(unread) > 10:
        yield "  all of them are in unread.jsonl"
    for mark, count in Counter(unknown_mark_in(reply) for _, reply in unread).most_common():
        if mark:
            yield f"  {count:,} of them are mostly between marks that are not known: {printable(mark)}"
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


def report_reasons(results: Sequence[Result]) -> Iterator[str]:
    """Yield the most frequent reasons of refusals and failures, as lines of text."""
    for state in (REFUSED, FAILED):
        reasons = Counter(printable(one.reason) for one in results if one.state == state and one.reason)
        for reason, count in reasons.most_common(SHOWN_REASONS):
            yield f"  {state} {count:,}: {reason}"
        if len(reasons) > SHOWN_REASONS:
            yield f"  {state} for {len(reasons) - SHOWN_REASONS:,} other reasons: see replies.jsonl"


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
TEMPERATURE = 0.0
RESERVED = ("model", "messages", "input", "stream", "n")  # parameters that the script sets


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


def header_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9-]{1,64}", text):
        raise argparse.ArgumentTypeError(f"expected the name of a header, such as api-key, got {text!r}")
    return text


def more_parameters(text: str) -> dict[str, Any]:
    found = loaded(text)
    if not isinstance(found, dict) or found.keys() & set(RESERVED):
        raise argparse.ArgumentTypeError(
            f'expected a JSON object such as {{"top_p": 0.9}}, without {", ".join(RESERVED)}'
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
    found.add_argument(
        "--interface", choices=INTERFACES, help="interface of the server; default: responses if its address says so"
    )
    found.add_argument("--model", required=True, metavar="NAME", help="name of the model on its server")
    found.add_argument(
        "--key-from",
        default="MODEL_API_KEY",
        metavar="VARIABLE",
        help="variable with the server's key; default: %(default)s",
    )
    found.add_argument(
        "--key-header",
        type=header_name,
        metavar="NAME",
        help="header with this key; default: Authorization, or api-key if the address has api-version",
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
    sampling.add_argument("--temperature", type=amount, metavar="T", help=f"default: {TEMPERATURE:g}")
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
        "--stop-after",
        type=positive,
        metavar="N",
        help=f"failed or refused requests in a row that end the run; default: {IN_A_ROW}, or twice --concurrency",
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


def sampling_of(options: argparse.Namespace, interface: str) -> Sampling:
    own = {"temperature": options.temperature, LIMIT_NAMES[interface]: options.max_tokens, "seed": options.seed}
    if options.temperature is None:
        own["temperature"] = TEMPERATURE
    chosen = {"seed", *options.more} | ({"temperature"} if options.temperature is not None else set())
    return Sampling(
        {**{name: value for name, value in own.items() if value is not None}, **options.more}, chosen=chosen
    )


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
    key, address = key_in(options.key_from), model_address(options.base_url, options.interface)
    server = ModelServer(
        address, key, timeout=options.timeout, concurrency=options.concurrency, key_header=options.key_header
    )
    split_path(options.split)
    folder, form = folder_of(options), FORMS[options.form]
    split = opened(options, clock)
    folder.mkdir(parents=True, exist_ok=True)
    questions = split.questions(folder)
    if form.has_steps:
        questions = split.with_steps(questions, folder)
    reader = AnswerReader(split.answers, (question.choices for question in questions), split.synonyms)
    if options.submit:
        check_submission(split, options, questions)
    chosen = chosen_of(questions, options.sample, split.fingerprint)
    again = chosen_of(chosen, options.again, f"again {split.fingerprint}")
    requests = requests_of(chosen, form, again)
    pictures = PictureStore(split.pictures(questions, chosen, folder), scale=options.scale)
    log = ReplyLog(folder / "replies.jsonl")
    run = QuestionRun(
        server, log, pictures, gate=RequestGate(options.concurrency, clock),
        sampling=sampling_of(options, address.interface),
        tally=Tally(len(requests), prices=prices_of(options)), form=form, settings=options,
    )  # fmt: skip
    say(f"{len(requests):,} requests for {len(chosen):,} questions, to {server}")
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
