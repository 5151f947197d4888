"""The meaning of sentences: statements become events, questions their kind and words."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

Event = tuple[str, ...]

NAME, WORD, WORDS = r"([A-Z][a-z]+)", r"([a-z]+)", r"([a-z]+(?: [a-z]+)*?)"
ANYONE = r"([A-Za-z]+)"  # some questions of the released data have names in small letters
TIME = r"(yesterday|this morning|this afternoon|this evening)"
AT_TIME = r"(Yesterday|This morning|This afternoon|This evening)"
WENT = r"(?:went|went over|went back|returned|journeyed|moved|moved on|travelled) to the"
GOT = r"(?:got|took|grabbed|picked up) the"
LEFT = r"(?:dropped|discarded|left|put down) the"
GAVE = r"(?:gave|handed|passed) the"
COMPASS = r"(north|south|east|west) of"
SIDE = r"(to the left of|to the right of|above|below)"
LEADS_TO: Mapping[str, str] = {  # everyday knowledge: where people in a state go
    "bored": "garden",
    "busy": "office",
    "cold": "attic",
    "creative": "workshop",
    "curious": "library",
    "dirty": "bathroom",
    "gloomy": "cellar",
    "hungry": "kitchen",
    "musical": "studio",
    "restless": "garage",
    "thirsty": "kitchen",
    "tired": "bedroom",
}
ONE_OF: Mapping[str, str] = {"mice": "mouse", "wolves": "wolf", "sheep": "sheep", "geese": "goose", "foxes": "fox"}
PRONOUNS = ("he", "she", "they")


class ParsedStatement(NamedTuple):
    """The meaning of a statement.

    Attributes
    ----------
    who : tuple of str
        The people in it, by name or pronoun; empty if there are none.
    events : tuple of Event
        One event for each of these people, who is its second part; without people, the statement's only event.
    """

    who: tuple[str, ...]
    events: tuple[Event, ...]


class ParsedQuestion(NamedTuple):
    """The meaning of a question: its kind, and its words."""

    kind: str
    about: tuple[str, ...]


@lru_cache(maxsize=1 << 16)  # most sentences occur often
def statement(text: str) -> ParsedStatement | None:
    """Return the meaning of a statement, or None if it cannot be read."""
    for pattern, say in STATEMENTS:
        found = re.fullmatch(pattern, text)
        if found:
            return say(*found.groups())
    return None


def question(text: str) -> ParsedQuestion | None:
    """Return the meaning of a question, or None if it cannot be read."""
    for kind, pattern in QUESTIONS:
        found = re.fullmatch(pattern, text.strip())
        if found:
            return ParsedQuestion(kind, tuple(_capital(kind, at, part) for at, part in enumerate(found.groups())))
    return None


def _capital(kind: str, at: int, part: str) -> str:
    return part.capitalize() if kind in ABOUT_PEOPLE and at == 0 else part


def _of_people(kind: str) -> Callable[..., ParsedStatement]:
    def say(who: str, *rest: str) -> ParsedStatement:
        people = tuple(who.split(" and "))
        return ParsedStatement(people, tuple((kind, person, *rest) for person in people))

    return say


def _dated(time: str, who: str, place: str) -> ParsedStatement:
    return _of_people("go-at")(who, place, time[0].lower() + time[1:])


def _afraid(one: str, other: str) -> ParsedStatement:
    return ParsedStatement((), (("afraid", singular(one), singular(other)),))


def _feels(name: str, word: str) -> ParsedStatement:
    return ParsedStatement((name,), (("feels" if word in LEADS_TO else "coloured", name, word),))


def _fact(kind: str) -> Callable[..., ParsedStatement]:
    return lambda *parts: ParsedStatement((), ((kind, *parts),))


def singular(plural: str) -> str:
    """Return the singular of an animal's plural."""
    word = plural.lower()
    return ONE_OF[word] if word in ONE_OF else word.removesuffix("s")


SOMEBODY = r"([A-Z][a-z]+(?: and [A-Z][a-z]+)?)"
THEN = r"(?:Then|Afterwards|After that|Following that),? "
STATEMENTS: Sequence[tuple[str, Callable[..., ParsedStatement]]] = (
    (rf"{SOMEBODY} {WENT} {WORD}\.", _of_people("go")),
    (rf"{THEN}(he|she|they) {WENT} {WORD}\.", _of_people("go")),
    (rf"{AT_TIME},? {NAME} {WENT} {WORD}\.", _dated),
    (rf"{NAME} {WENT} {WORD} {TIME}\.", lambda who, place, time: _dated(time, who, place)),
    (rf"{NAME} {GOT} {WORD}(?: there)?\.", _of_people("get")),
    (rf"{NAME} {LEFT} {WORD}(?: there)?\.", _of_people("drop")),
    (rf"{NAME} {GAVE} {WORD} to {NAME}\.", _of_people("give")),
    (rf"{NAME} is in the {WORD}\.", _of_people("in")),
    (rf"{NAME} is (?:no longer|not) in the {WORD}\.", _of_people("not-in")),
    (rf"{NAME} is either in the {WORD} or (?:in )?the {WORD}\.", _of_people("either")),
    (rf"The {WORD} (?:is|lies) {COMPASS} the {WORD}\.", _fact("lies")),
    (rf"The {WORDS} is {SIDE} the {WORDS}\.", _fact("stands")),
    (rf"The {WORDS} fits inside the {WORDS}\.", _fact("fits")),
    (rf"The {WORDS} is bigger than the {WORDS}\.", _fact("bigger")),
    (rf"([A-Z][a-z]+) are afraid of {WORD}\.", _afraid),
    (rf"{NAME} is an? {WORD}\.", _of_people("is-a")),
    (rf"{NAME} is {WORD}\.", _feels),
)
QUESTIONS: Sequence[tuple[str, str]] = (
    ("where is the thing", rf"Where is the {WORD}(?: now)?\?"),
    ("where is", rf"Where is {NAME}(?: now)?\?"),
    ("where was the thing", rf"Where was the {WORD} before (?:it was in )?the {WORD}\?"),
    ("where was", rf"Where was {NAME} (?:right )?before the {WORD}\?"),
    ("what lies", rf"(?:Which place lies|What is) {COMPASS} the {WORD}\?"),
    ("of what it lies", rf"The {WORD} lies {COMPASS} which place\?"),
    ("of what it lies", rf"What is the {WORD} {COMPASS}\?"),
    ("what was given", rf"What did {NAME} (?:last )?give to {NAME}\?"),
    ("who gave to", rf"Who (?:last )?gave the {WORD} to {NAME}\?"),
    ("who gave", rf"Who (?:last )?gave the {WORD}(?: to somebody)?\?"),
    ("who received", rf"Who (?:last )?received the {WORD}\?"),
    ("to whom", rf"To whom did {NAME} (?:last )?give the {WORD}\?"),
    ("to whom", rf"Who did {NAME} give the {WORD} to\?"),
    ("is in", rf"Is {NAME} in the {WORD}(?: now)?\?"),
    ("how many", rf"How many things does {NAME} carry\?"),
    ("how many", rf"How many objects is {NAME} carrying\?"),
    ("which", rf"Which things does {NAME} carry\?"),
    ("which", rf"What is {NAME} carrying\?"),
    ("afraid of", rf"Of which animal is {ANYONE} afraid\?"),
    ("afraid of", rf"What is {ANYONE} afraid of\?"),
    ("colour", rf"(?:Which colour|What color) is {ANYONE}\?"),
    ("fits", rf"Does the {WORDS} fit (?:inside|in) the {WORDS}\?"),
    ("bigger", rf"Is the {WORDS} bigger than the {WORDS}\?"),
    ("stands", rf"Is the {WORDS} {SIDE} the {WORDS}\?"),
    ("path", rf"How (?:does one get|do you go) from the {WORD} to the {WORD}\?"),
    ("will go", rf"Where will {ANYONE} go\?"),
    ("why", rf"Why did {ANYONE} (?:go to|get) the {WORD}\?"),
)
ABOUT_PEOPLE = ("afraid of", "colour", "will go", "why")
