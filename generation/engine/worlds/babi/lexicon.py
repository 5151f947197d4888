"""Stories in a user's own words: a lexicon has words, sentences and answers by meaning.

A sentence belongs to a kind, such as `go` or `lies north`, and has its roles in braces: `{person} went to the {place}.`
Each class of words has one or more tables: `{place.1}` takes the word from the second table, for example another case
of a noun, or a name in small letters.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Annotated, NamedTuple, Self
from zlib import crc32

from pydantic import Field, PrivateAttr, model_validator

from generation.engine.errors import BadSpec
from generation.engine.spec import Frozen
from generation.engine.worlds.babi.reading import sentences
from generation.engine.worlds.babi.reading.sentences import PRONOUNS
from generation.engine.worlds.babi.story import Line, Story
from generation.engine.worlds.base import LearnedLexicon

REMEMBERED = 1 << 16  # cached sentences; stories repeat most sentences
SLOT = re.compile(r"\{([a-z]+2?)(?:\.([1-9]))?\}")
TIMES = ("yesterday", "this morning", "this afternoon", "this evening")
COMPASS = ("north", "south", "east", "west")
SIDES = ("above", "below", "to the left of", "to the right of")
TWO_PLACES, TWO_SHAPES, TWO_SIZES = ("place", "place2"), ("shape", "shape2"), ("size", "size2")
KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {  # plain English that `reading` can read, and its roles in order
    "go": ("{person} went to the {place}.", ("person", "place")),
    "go together": ("{person} and {person2} went to the {place}.", ("person", "person2", "place")),
    **{f"go {who}": (f"Then {who} went to the {{place}}.", ("place",)) for who in PRONOUNS},
    **{f"go {time}": (f"{time.capitalize()} {{person}} went to the {{place}}.", ("person", "place")) for time in TIMES},
    "get": ("{person} took the {thing}.", ("person", "thing")),
    "drop": ("{person} dropped the {thing}.", ("person", "thing")),
    "give": ("{person} gave the {thing} to {person2}.", ("person", "thing", "person2")),
    "in": ("{person} is in the {place}.", ("person", "place")),
    "not in": ("{person} is not in the {place}.", ("person", "place")),
    "either": ("{person} is either in the {place} or the {place2}.", ("person", *TWO_PLACES)),
    **{f"lies {way}": (f"The {{place}} lies {way} of the {{place2}}.", TWO_PLACES) for way in COMPASS},
    **{f"stands {side}": (f"The {{shape}} is {side} the {{shape2}}.", TWO_SHAPES) for side in SIDES},
    "fits": ("The {size} fits inside the {size2}.", TWO_SIZES),
    "bigger": ("The {size} is bigger than the {size2}.", TWO_SIZES),
    "is a": ("{name} is a {species}.", ("name", "species")),
    "afraid": ("{kind} are afraid of {kind2}.", ("kind", "kind2")),
    "coloured": ("{name} is {colour}.", ("name", "colour")),
    "feels": ("{person} is {state}.", ("person", "state")),
    "where is?": ("Where is {person}?", ("person",)),
    "where is the thing?": ("Where is the {thing}?", ("thing",)),
    "where was the thing?": ("Where was the {thing} before the {place}?", ("thing", "place")),
    "where was?": ("Where was {person} before the {place}?", ("person", "place")),
    **{f"what lies {way}?": (f"What is {way} of the {{place}}?", ("place",)) for way in COMPASS},
    **{f"of what it lies {way}?": (f"What is the {{place}} {way} of?", ("place",)) for way in COMPASS},
    "what was given?": ("What did {person} give to {person2}?", ("person", "person2")),
    "who gave to?": ("Who gave the {thing} to {person}?", ("thing", "person")),
    "who gave?": ("Who gave the {thing}?", ("thing",)),
    "who received?": ("Who received the {thing}?", ("thing",)),
    "to whom?": ("Who did {person} give the {thing} to?", ("person", "thing")),
    "is in?": ("Is {person} in the {place}?", ("person", "place")),
    "how many?": ("How many objects is {person} carrying?", ("person",)),
    "which?": ("What is {person} carrying?", ("person",)),
    "afraid of?": ("What is {name} afraid of?", ("name",)),
    "colour?": ("What color is {name}?", ("name",)),
    "fits?": ("Does the {size} fit in the {size2}?", TWO_SIZES),
    "bigger?": ("Is the {size} bigger than the {size2}?", TWO_SIZES),
    **{f"stands {side}?": (f"Is the {{shape}} {side} the {{shape2}}?", TWO_SHAPES) for side in SIDES},
    "path?": ("How do you go from the {place} to the {place2}?", TWO_PLACES),
    "will go?": ("Where will {person} go?", ("person",)),
    "why go?": ("Why did {person} go to the {place}?", ("person", "place")),
    "why get?": ("Why did {person} get the {thing}?", ("person", "thing")),
}
CLASSES = frozenset(role.rstrip("2") for _, roles in KINDS.values() for role in roles)


class Meaning(NamedTuple):
    """The meaning of a sentence: its kind, and the plain English word of each role."""

    kind: str
    words: tuple[str, ...]

    @property
    def roles(self) -> dict[str, str]:
        """The words by role."""
        return dict(zip(KINDS[self.kind][1], self.words, strict=True))

    @property
    def english(self) -> str:
        """The sentence in plain English."""
        text = SLOT.sub(lambda slot: self.roles[slot[1]], KINDS[self.kind][0])
        return text[:1].upper() + text[1:]


@lru_cache(maxsize=REMEMBERED)
def meaning(english: str) -> Meaning | None:
    """Return the meaning of an English sentence or question of a task or the release, or None if it cannot be read."""
    said = sentences.statement(english)
    if said is not None:
        return _meaning_of(said)
    asked = sentences.question(english)
    if asked is None:
        return None
    about = list(asked.about)
    named = next((part for part in about if part in (*COMPASS, *SIDES)), "")
    if named:
        about.remove(named)
    kind = asked.kind + (f" {named}" if named else "")
    if kind == "why":
        kind = "why get" if " get the " in english else "why go"
    return Meaning(f"{kind}?", tuple(about))


def _meaning_of(said: sentences.ParsedStatement) -> Meaning:
    kind, *parts = said.events[0]
    if len(said.who) > 1:
        return Meaning("go together", (*said.who, parts[-1]))
    if kind == "go" and parts[0] in PRONOUNS:
        return Meaning(f"go {parts[0]}", (parts[1],))
    if kind == "go-at":
        return Meaning(f"go {parts[2]}", (parts[0], parts[1]))
    if kind in ("lies", "stands"):
        return Meaning(f"{kind} {parts[1]}", (parts[0], parts[2]))
    return Meaning(kind.replace("-", " "), tuple(parts))


class Sentence(Frozen):
    """A sentence of a lexicon.

    Attributes
    ----------
    text : str
        The sentence, with its roles in braces.
    times : int
        Its frequency, relative to other sentences of its kind.
    only : dict of str to list of str
        For each role that not every word fits, the plain English words that fit.
    """

    text: str = Field(min_length=1, max_length=1_000)
    times: int = Field(default=1, ge=1, le=100_000_000)
    only: dict[str, list[str]] = Field(default={})

    @property
    def slots(self) -> list[tuple[str, int]]:
        """The sentence's roles, each with the number of its table of words."""
        return [(slot[1], int(slot[2] or 0)) for slot in SLOT.finditer(self.text)]


Table = dict[str, Annotated[str, Field(min_length=1, max_length=200)]]


class BabiLexicon(Frozen):
    """Words, sentences and answers by meaning.

    Attributes
    ----------
    words : dict of str to list of dict
        The tables of each class of words; a table maps plain English words to words.
    sentences : dict of str to list of Sentence
        Sentences by kind, as in `KINDS`.
    answers : dict of str to str
        Maps plain English answers, and parts of answers, to answers.
    """

    words: dict[str, list[Table]] = Field(max_length=50)
    sentences: dict[str, list[Sentence]] = Field(max_length=200)
    answers: Table = Field(max_length=1_000)

    _readers: list[tuple[str, Sentence, re.Pattern[str]]] = PrivateAttr(default_factory=list)

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        for unknown, known in ((self.words.keys() - CLASSES, CLASSES), (self.sentences.keys() - KINDS.keys(), KINDS)):
            if unknown:
                raise ValueError(f"Expected some of {', '.join(sorted(known))}; got {sorted(unknown)[0]!r}")
        for kind, ways in self.sentences.items():
            for sentence in ways:
                self._check(kind, sentence)
        if len(set(self.answers.values())) < len(self.answers):
            raise ValueError("Expected each answer to be spelt differently from the others, got two that are alike")
        if any("," in part for part in self.answers.values()):
            raise ValueError("Expected answers without commas, which part the members of lists, got one with a comma")
        return self

    def _check(self, kind: str, sentence: Sentence) -> None:
        expected = sorted(KINDS[kind][1])
        if sorted(role for role, _ in sentence.slots) != expected or re.search(
            r"[{}\t\n]", SLOT.sub("", sentence.text)
        ):
            raise ValueError(
                f"Expected a sentence for {kind!r} with {', '.join('{' + role + '}' for role in expected)} once each, "
                f"got {sentence.text!r}"
            )
        for role, table in sentence.slots:
            if table >= len(self.words.get(role.rstrip("2"), ())):
                raise ValueError(
                    f"Expected a table of words {table} for {role!r}, which {sentence.text!r} names; "
                    f"got {len(self.words.get(role.rstrip('2'), ()))} tables"
                )

    def word(self, role: str, english: str, *, table: int = 0) -> str:
        """Return the word for a plain English word, from `table` if possible; raise `BadSpec` if there is none."""
        tables = self.words.get(role.rstrip("2"), [])
        for one in (*tables[table : table + 1], *tables):
            if english in one:
                return one[english]
        raise BadSpec(f"Expected a word for the {role.rstrip('2')} {english!r}, got none.", where="lexicon.words")

    def say(self, meant: Meaning, *, seed: str) -> str:
        """Return a sentence with this meaning, chosen by `seed` with probability in proportion to `times`."""
        fit = [
            one
            for one in self.sentences.get(meant.kind, ())
            if all(meant.roles[role] in words for role, words in one.only.items())
        ] or self.sentences.get(meant.kind, [])
        if not fit:
            raise BadSpec(
                f"Expected a sentence of the kind {meant.kind!r}, as {meant.english!r}, got none. Add one, or leave "
                "out the tasks that need it.",
                where="lexicon.sentences",
            )
        upto = list(accumulate(one.times for one in fit))
        chosen = fit[bisect_right(upto, crc32(seed.encode()) % upto[-1])]
        return SLOT.sub(lambda slot: self.word(slot[1], meant.roles[slot[1]], table=int(slot[2] or 0)), chosen.text)

    def described(self) -> LearnedLexicon:
        """Return the lexicon as JSON, with a summary."""
        words = sum(len(set().union(*tables)) for tables in self.words.values())
        ways = sum(map(len, self.sentences.values()))
        about = f"{words:,} words, {ways:,} sentences, {len(self.answers):,} answers"
        return LearnedLexicon(self.model_dump(mode="json", exclude_defaults=True), about)

    def meanings(self, text: str) -> Iterator[Meaning]:
        """Yield the possible meanings of a sentence."""
        for kind, sentence, reader in self._all_readers():
            found = reader.fullmatch(text)
            if found is None:
                continue
            own = {
                role: next(english for english, word in self._table(role, table).items() if word == found[role])
                for role, table in sentence.slots
            }
            yield Meaning(kind, tuple(own[role] for role in KINDS[kind][1]))

    def _table(self, role: str, table: int) -> dict[str, str]:
        """Return the words that fit a slot: those of its table, then words of other tables that its table lacks."""
        tables = self.words[role.rstrip("2")]
        found = dict(tables[table])
        for one in tables:
            for english, word in one.items():
                found.setdefault(english, word)
        return found

    def _all_readers(self) -> list[tuple[str, Sentence, re.Pattern[str]]]:
        if not self._readers:
            for kind, ways in self.sentences.items():
                self._readers.extend((kind, one, self._reader(one)) for one in ways)
        return self._readers

    def _reader(self, sentence: Sentence) -> re.Pattern[str]:
        tables = dict(sentence.slots)

        def words(role: str) -> str:
            found = sorted(set(self._table(role, tables[role]).values()), key=lambda word: (-len(word), word))
            return f"(?P<{role}>{'|'.join(map(re.escape, found))})"

        parts = SLOT.split(sentence.text)  # text, role, table, text, ...
        return re.compile(
            "".join(
                words(part) if at % 3 == 1 else re.escape(part) if at % 3 == 0 else "" for at, part in enumerate(parts)
            )
        )


class LexiconLanguage:
    """The language of a lexicon."""

    is_placed_by_english = False

    def __init__(self, lexicon: BabiLexicon) -> None:
        self.lexicon = lexicon
        self.back = {word: english for english, word in lexicon.answers.items()}
        self._meant = lru_cache(maxsize=REMEMBERED)(lambda text: next(lexicon.meanings(text), None))

    def text(self, english: str, *, line: int = 0) -> str:
        """Return a sentence or question; raise `BadSpec` if the lexicon lacks a word or sentence for it."""
        meant = meaning(english)
        assert meant is not None, english
        return self.lexicon.say(meant, seed=f"{line} {english}")

    def answer(self, english: str) -> str:
        """Return an answer of one or more parts; raise `BadSpec` if the lexicon lacks a part."""
        missing = next((part for part in english.split(",") if part not in self.lexicon.answers), None)
        if missing is not None:
            raise BadSpec(
                f"Expected a spelling of the answer {missing!r}, got none. Add it, or leave out its tasks.",
                where="lexicon.answers",
            )
        return ",".join([self.lexicon.answers[part] for part in english.split(",")])

    def story(self, story: Story) -> Story:
        """Return a story with its lines in this language."""
        return story._replace(
            lines=tuple(
                [
                    Line(self.text(line.text, line=at), line.events, line.antecedent)
                    for at, line in enumerate(story.lines)
                ]
            )
        )

    def english(self, text: str) -> str:
        """Return a sentence, question or answer in plain English; a text without meaning is returned unchanged."""
        parts = text.split(",")
        if all(part in self.back for part in parts):
            return ",".join([self.back[part] for part in parts])
        meant = self._meant(text.strip())
        return text if meant is None else meant.english


@lru_cache(maxsize=16)
def language_of_lexicon(lexicon: str) -> LexiconLanguage:
    """Return the language of a lexicon, given as JSON."""
    return LexiconLanguage(BabiLexicon.model_validate_json(lexicon))
