"""Names that people choose: the characters that they may have, and which names look the same.

A name is one line of visible characters. It is stored in Unicode's composed form (NFC) with single spaces, so that the
same name always has the same bytes. `looks` says how a name looks: two names that share a look cannot be told apart.

References
----------
Unicode Standard Annex 15 (normal forms); Unicode Technical Standard 39, section 4 (confusable characters).
"""

import re
import unicodedata
from functools import lru_cache

INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0").union(
    map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
"""Characters without ink that Unicode counts as letters, marks or signs."""
MOST_MARKS = 3  # accents on one letter
SHOWN = 60  # characters of a refused name in a message
DASHES = "‐‑‒–—―−﹘˗⁃➖"
APOSTROPHES = "‘’‛′`´ʹʻʼʽˈ՚＇׳"


class BadName(ValueError):
    """A text that cannot be a name; the text says what was expected and what came."""


def read_name(text: str, *, most: int) -> str:
    """Return a name in composed form, with single spaces between its words.

    Parameters
    ----------
    text : str
        Every kind of space counts as a space; white space at both ends does not count.
    most : int
        The largest number of characters.

    Raises
    ------
    BadName
        For a text without words, for one that is too long, for a line break or tab within it, and for a character that
        cannot be seen, such as one that changes the direction of writing.
    """
    name = composed(text)
    if not name:
        raise BadName("Expected a name, got nothing")
    if len(name) > most:
        raise BadName(f"Expected a name of at most {most} characters, got {len(name):,} characters")
    hidden = next((sign for sign in name if is_invisible(sign)), None)
    if hidden is not None:
        raise BadName(f"Expected a name of visible characters, got {quote(name)} with {character_name(hidden)}")
    if _marks_in_a_row(name) > MOST_MARKS or unicodedata.category(name[0]).startswith("M"):
        raise BadName(f"Expected accents on letters, at most {MOST_MARKS} on each, got {quote(name)}")
    return name


def composed(text: str) -> str:
    """Return a text in composed form, with single spaces between its words; nothing is refused."""
    spaced = "".join(" " if unicodedata.category(sign) == "Zs" else sign for sign in text.strip())
    return unicodedata.normalize("NFC", re.sub(" +", " ", spaced))


def is_invisible(sign: str) -> bool:
    """Return whether a character other than a space has no ink, or no agreed meaning.

    These are control characters, characters that change the direction of writing, characters that join or separate
    letters, private and unknown characters.
    """
    return sign in INVISIBLE or not sign.isprintable()


def character_name(sign: str) -> str:
    """Return a character for a message: its number and its name in Unicode, if it has one."""
    name = unicodedata.name(sign, "")
    return f"the character U+{ord(sign):04X}" + (f" ({name.lower()})" if name else "")


def quote(name: str) -> str:
    """Return a name for a message, in quotes; a long one is shortened, and what cannot be seen is escaped."""
    shown = name if len(name) <= SHOWN else f"{name[: SHOWN - 3]}..."
    return "".join(ascii(sign)[1:-1] if is_invisible(sign) else sign for sign in f"'{shown}'")


def _marks_in_a_row(name: str) -> int:
    most = count = 0
    for sign in unicodedata.normalize("NFD", name):
        count = count + 1 if unicodedata.category(sign) == "Mn" else 0
        most = max(most, count)
    return most


# How names look


def _table(*pairs: tuple[str, str]) -> dict[int, str]:
    return {ord(one): other for some, others in pairs for one, other in zip(some, others, strict=True)}


_LETTERS = _table(
    # Cyrillic
    ("АВЕЅІЈКМНОРСТУХԌԚԜѴҮӀ", "ABESIJKMHOPCTYXGQWVYl"),
    ("аеѕіјорсухһԁԛԝѵүԍӏЬЗб", "aesijopcyxhdqwvyglb36"),
    # Greek
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿϜ", "ABEZHIKMNOPTYXCJF"),
    ("αγικνορυχϲϳσ", "ayikvopuxcjo"),
    # Armenian
    ("ՕՏՍօոսհցզյ", "OSUonuhgqj"),
    # Cherokee
    ("ᎠᎡᎢᎪᎫᎬᎳᎷᎻᏀᏃᏙᏚᏞᏟᏢᏦᏴ", "DRTAJEWMHGZVSLCPKB"),
    # Latin letters of other origin
    ("ıȷɑɡɩʋ", "ijagiv"),
    # signs that are a circle or a bar
    ("סഠଠ໐०০੦૦௦౦೦൦๐၀٥۵〇", "O" * 17),
    ("וןا∣ǀ׀│", "l" * 7),
    # Katakana and Hiragana beside Han
    ("ーエカニロハトタヘ", "一工力二口八卜夕へ"),
    (DASHES, "-" * len(DASHES)),
    (APOSTROPHES, "'" * len(APOSTROPHES)),
    ("“”‟″״", '"' * 5),
    ("∕⁄╱ː∶꞉׃·•‧∙⋅・․‚×", "///::::······.,x"),
)
_SHAPES = str.maketrans({"0": "O", "1": "l", "I": "l", "|": "l", "m": "rn"})


@lru_cache(maxsize=10_000)
def looks(name: str) -> frozenset[str]:
    """Return the ways in which a name can be seen: apart from capitals, and by the shapes of its letters.

    Letters of other scripts count as the Latin letters that they look like, and other forms of letters and signs as the
    plain ones. Two names that have one of the ways in common cannot be told apart in a list.
    """
    plain = unicodedata.normalize("NFKC", " ".join(name.split()))
    plain = "".join(sign for sign in plain if sign == " " or not is_invisible(sign))
    latin = unicodedata.normalize("NFC", unicodedata.normalize("NFD", plain).translate(_LETTERS))
    return frozenset({folded(plain), folded(latin), f"shape of {latin.translate(_SHAPES)}"})


def folded(name: str) -> str:
    """Return a name without the difference between capital and small letters."""
    return unicodedata.normalize("NFC", name.casefold())


def look_alike(one: str, other: str) -> bool:
    """Return whether two names cannot be told apart in a list."""
    return not looks(one).isdisjoint(looks(other))
