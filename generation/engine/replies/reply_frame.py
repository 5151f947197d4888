"""The frame of a reply around its answer: greetings, offers, further questions, lists, an end that breaks off."""

import re
from collections.abc import Sequence

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
