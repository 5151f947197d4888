"""Options with letters: lists such as `A. red`, and the letter that a reply chooses."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from generation.engine.replies.statements import (
    DRESS,
    REJECTED,
    RETRACTION,
    STRONG_RETRACTION,
    bare,
    is_asserted,
    plain_lines,
    plain_sentence,
)

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
