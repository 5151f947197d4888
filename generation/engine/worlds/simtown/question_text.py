"""The texts of questions, and reading them back."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from generation.engine.language.token_vocabulary import split_words
from generation.engine.seeding import Stream
from generation.engine.worlds.simtown.programs import RELATIONS

PHRASES: Mapping[str, tuple[str, ...]] = {  # the first is the plain one
    "left": ("left of", "to the left of"),
    "right": ("right of", "to the right of"),
    "front": ("in front of", "nearer than"),
    "behind": ("behind", "farther away than"),
}
FORMS = (
    "Is the {subject} {relation} the {object}?",
    "Is there {a} {subject} {relation} the {object}?",
    "Can you see {a} {subject} {relation} the {object}?",
    "Does the picture show {a} {subject} {relation} the {object}?",
)
assert set(PHRASES) == set(RELATIONS)


def article(noun: str) -> str:
    """Return `a` or `an`."""
    return "an" if noun[0] in "aeiou" else "a"


def say(subject: str, relation: str, other: str, chance: Stream) -> str:
    """Return a question in one of its wordings, all equally likely."""
    form, phrase = chance.choice(FORMS), chance.choice(PHRASES[relation])
    return form.format(subject=subject, a=article(subject), relation=phrase, object=other)


@cache
def _pattern() -> re.Pattern[str]:
    forms = "|".join(
        re.escape(form)
        .replace(re.escape("{a}"), "an?")
        .replace(re.escape("{subject}"), f"(?P<subject{number}>.+?)")
        .replace(re.escape("{relation}"), f"(?P<relation{number}>{_phrases()})")
        .replace(re.escape("{object}"), f"(?P<object{number}>.+)")
        for number, form in enumerate(FORMS)
    )
    return re.compile(f"(?:{forms})")


def _phrases() -> str:
    phrases = [phrase for some in PHRASES.values() for phrase in some]
    return "|".join(sorted(phrases, key=len, reverse=True))


def parse(text: str) -> tuple[str, str, str] | None:
    """Return subject, relation and object of a question, or None if it has none of the wordings."""
    found = _pattern().fullmatch(text)
    if found is None:
        return None
    subject, phrase, other = (
        next(value for name, value in found.groupdict().items() if name.startswith(part) and value is not None)
        for part in ("subject", "relation", "object")
    )
    relation = next(name for name, phrases in PHRASES.items() if phrase in phrases)
    return subject, relation, other


def words(names: Sequence[str], relations: Sequence[str]) -> tuple[str, ...]:
    """Return every word that questions about entities and relations can have."""
    texts = [form.format(subject=name, a=article(name), relation="", object=name) for form in FORMS for name in names]
    texts += [phrase for relation in relations for phrase in PHRASES[relation]]
    return tuple(sorted({word for text in texts for word in split_words(text)}))
