"""Counts of things that no list of words has, as in `There are 4 dogs`.

Questions about photographs ask for the number of anything. If all possible answers are counts, a number before a plural
counts its things, unless the word is a unit, such as `seconds`, or is about the task, such as `steps`.
"""

import re

from generation.engine.replies.characters import words_of
from generation.engine.replies.vocabulary import NUMBERS

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
