"""Reads a platform's names for the person, the session and the study from the address that a visitor followed.

The researcher writes placeholders into the address, for example `{{%PROLIFIC_PID%}}`, and the platform replaces them
for each participant. If nobody replaced a placeholder, many visitors have the same text, so the text names nobody.
"""

import html
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

from django.http import QueryDict

from annotations.models import Study
from generation.engine.errors import EngineError

LONGEST = 200  # the most characters of an identity, session or study name from a platform
ENCODED_AT_MOST = 5  # how often a text may be percent-encoded and still be recognised

EDGES = " \t\"'`´‘’“”„.,;:/\\?&+-=()"
SIGILS = EDGES + "{}[]<>«»%$#@|*~!^_"

OPENS, CLOSES = re.compile(r"[$#%@*&]?[{\[<«]"), re.compile(r"[}\]>»]\Z")
STARTS_TEMPLATE = re.compile(r"\{\{|\{%|[$#%@]\{|\[%|<%|%%|\$\(")
ENDS_TEMPLATE = re.compile(r"(?:\}\}|%\}|%\]|%>|%%)\Z")
SAME_MARKS = re.compile(r"(%+|\$+|#+|@+|\|+|~+|!+|\^+|\*+|_{2,}).+\1\Z", re.DOTALL)
VARIABLE = re.compile(r"\$(?:\d|[a-z_]\w*)\Z|%(?:\(\w*\))?(?:\d+\$)?[a-z@]\Z", re.IGNORECASE)
TEMPLATE = re.compile(r"\{\{.*?\}\}|[$#%@]\{.*?\}|\{%.*?%\}|\[%.*?%\]|<%.*?%>|%%\w+?%%", re.DOTALL)

E_MAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@.]+")
ONE_WORD = re.compile(r"[0-9A-Za-z-]+")
SHORTEST_ID = 8  # characters of an id that has letters and digits
FEWEST_DIGITS = 3

NOTHING = {"na", "nv", "nan", "nil", "ref", "num", "div0"}  # too short to be parts of a longer name
FILLER = re.compile(r"x{3,}|0{8,}")
NAMES = re.compile(
    "(?:prolific|participant|person|worker|user|subject|respondent|response|visitor|panelist|contact|invite|session|"
    "survey|study|project|task|experiment|assignment|submission|hit|pid|uid|rid|psid|guid|uuid|ids|id|code|number|name|"
    "token|key|value|unique|public|external|data|reference|field|url|parameter|param|placeholder|custom|your|insert|"
    "enter|replace|here|this|the|my|not|available|applicable|provided|set|undefined|defined|null|none|unknown|unset|"
    "empty|blank|missing|void|anonymous|todo|tbd|example|default|dummy|object|function|promise|true|false|infinity|"
    "error|mturk|sona|connect|cloudresearch|qualtrics)+"
)
"""Names of parameters and words of programs: a text of nothing but these words is not the id of a person."""


class BadLink(EngineError):
    """The address that a visitor followed has a name that can't be read."""


class PlatformNames(NamedTuple):
    """What the address says; `placeholders` has a line `PARAMETER=text` for each name that is not replaced."""

    identity: str
    session: str
    there: str
    placeholders: str


def read_address(study: Study, query: QueryDict) -> PlatformNames:
    """Return the names in an address. Letter case of parameters does not matter; a name that names nobody is empty.

    Raises
    ------
    BadLink
        If a name is too long or not printable, or has several values, because it is not known which one is right.
    """
    parameters = (study.person_parameter, study.session_parameter, study.study_parameter)
    texts = _texts(query, parameters)
    names = [_name(parameter, texts[parameter], parameters) for parameter in parameters]
    unfilled = [f"{one}={texts[one][0].strip()}" for one, name in zip(parameters, names, strict=True)
                if texts[one] and not name]  # fmt: skip
    identity, session, there = names
    return PlatformNames(identity, session, there, "\n".join(unfilled))


def _texts(query: QueryDict, parameters: Collection[str]) -> dict[str, list[str]]:
    """Return the values of each parameter. An exact name comes before a name in other letter case."""
    folded = {_fold(name): name for name in parameters}
    texts: dict[str, list[str]] = {name: [] for name in parameters}
    for key, values in query.lists():
        name = key if key in texts else folded.get(_fold(key))
        if name is not None:
            texts[name] += map(str, values)
    return texts


def _fold(name: str) -> str:
    # An address that was copied from the source of a page has "&amp;" between its parameters.
    return name.strip().removeprefix("amp;").casefold()


def _name(parameter: str, texts: Iterable[str], parameters: Collection[str]) -> str:
    found = {_printable(parameter, text) for text in texts}
    names = {text for text in found if not names_nobody(text, parameters)}
    if len(names) > 1:
        raise BadLink(
            f"Expected one value in the address, got {len(names)} different ones. Follow the platform's link again, "
            "or tell the researchers.",
            where=parameter,
        )
    return names.pop() if names else ""


def _printable(parameter: str, text: str) -> str:
    stripped = text if any(unicodedata.category(one) == "Cc" for one in text) else text.strip()
    if len(text) > LONGEST or not stripped.isprintable():
        raise BadLink(
            f"Expected at most {LONGEST} printable characters, got a longer text or other characters.", where=parameter
        )
    return stripped


def names_nobody(text: str, parameters: Collection[str] = ()) -> bool:
    """Return whether a text is a placeholder that nobody replaced, or a word of a program for “nothing”.

    A name in brackets, such as `[5f3c0a9e1b]`, stays a name, and so does a name that only contains such a word. The
    names of the parameters themselves name nobody.
    """
    if "\ufffd" in text:
        return True  # different names with undecodable bytes may look the same
    own = set(map(_compact, parameters))
    return any(_is_unfilled(plain, own) for plain in _readings(text))


def _readings(text: str) -> Iterator[str]:
    """Yield a text as it is, and as it is after each decoding, because `%aid%` is also a percent-encoded byte."""
    before = None
    for _ in range(ENCODED_AT_MOST):
        if text != before:
            yield unicodedata.normalize("NFKC", text).strip(EDGES)
        before, text = text, html.unescape(unquote(text))


def _is_unfilled(plain: str, own: Collection[str]) -> bool:
    core = plain.strip(SIGILS)
    if not any(one.isalnum() for one in core):
        return True
    rest = TEMPLATE.sub(_only_id, plain)
    if rest != plain:
        return not _is_id(rest.strip(SIGILS))
    if _is_template(plain):
        return not _is_id(core)
    word = _compact(core)
    return word in NOTHING or word in own or bool(FILLER.fullmatch(word) or NAMES.fullmatch(word))


def _only_id(template: re.Match[str]) -> str:
    return template[0] if _is_id(template[0].strip(SIGILS)) else ""


def _is_template(plain: str) -> bool:
    in_brackets = OPENS.match(plain) and CLOSES.search(plain)
    patterns = (STARTS_TEMPLATE.match, ENDS_TEMPLATE.search, SAME_MARKS.match, VARIABLE.match)
    return bool(in_brackets) or any(matches(plain) for matches in patterns)


def _is_id(text: str) -> bool:
    if E_MAIL.fullmatch(text):
        return True
    digits = sum(one.isdigit() for one in text)
    is_number = text.isdigit() and len(text) > 1  # `{0}` is a placeholder in many programs
    return is_number or bool(ONE_WORD.fullmatch(text) and len(text) >= SHORTEST_ID and digits >= FEWEST_DIGITS)


def _compact(text: str) -> str:
    return "".join(one for one in text.casefold() if one.isalnum())
