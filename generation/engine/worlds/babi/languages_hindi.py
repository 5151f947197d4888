"""Hindi: words, sentences and their inflected forms."""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

from generation.engine.worlds.babi.story import Line, Story

MALE, FEMALE, MEN, WOMEN = range(4)  # what verbs agree with: the gender of one, or of several together


class HindiWord(NamedTuple):
    """A word: as a subject, before a postposition (for adjectives: the feminine form), and its gender."""

    direct: str
    other: str
    agrees: int = MALE


def _words(male: str, female: str = "") -> dict[str, HindiWord]:
    """Return words by English word, from `english=direct/other`; without a second form, both are the same."""
    found = {}
    for text, agrees in ((male, MALE), (female, FEMALE)):
        for entry in filter(None, (one.strip() for one in text.split(";"))):
            english, _, hindi = entry.partition("=")
            direct, _, other = hindi.partition("/")
            found[english] = HindiWord(direct, other or direct, agrees)
    return found


FEMININE = (
    "Alice Cleo Dana Emily Fatima Gertrude Hazel Ines Jessica Julie Lena Lily Mary Poppy Priya Sandra Tessa Winona"
)
MASCULINE = (
    "Antoine Basil Bernhard Bill Brian Carlos Daniel Erik Felix Fred Greg Hugo Jason Jeff John Julius Karl Nero Omar "
    "Rufus Sumit Tomas Yann"
)
PEOPLE = {
    **{name: HindiWord(name, name, MALE) for name in MASCULINE.split()},
    **{name: HindiWord(name, name, FEMALE) for name in FEMININE.split()},
}
PLACES = _words(
    "bathroom=snaanghar; bedroom=shayankaksh; garden=bageecha/bageeche; hallway=galiyara/galiyare; office=daftar; "
    "cinema=sinemaghar; park=udyaan; school=vidyalay; balcony=chhajja/chhajje; cellar=tehkhana/tehkhane; "
    "garage=gairej; library=pustakalay; museum=sangrahalay; station=steshan; workshop=karkhana/karkhane",
    "kitchen=rasoi; attic=ataari; studio=chitrashala; theatre=natyashala",
)
THINGS = _words(
    "apple=seb; milk=doodh; hammer=hathauda/hathaude; violin=vaayalin; pajamas=pajama/pajame; soap=sabun; "
    "blanket=kambal; brush=burush",
    "football=phutbol; basket=tokri; candle=mombatti; letter=chitthi; book=kitaab; bicycle=saikil",
)
SOLIDS = _words(
    "box of chocolates=chokalet ka dibba/chokalet ke dibbe; box=dibba/dibbe; chest=sandook; container=bartan; "
    "suitcase=sootkes; barrel=peepa/peepe; trunk=bakasa/bakase",
    "chocolate=chokalet; crate=peti; basket=tokri; drawer=daraaz; cupboard=almaari",
)
SHAPES = _words(
    "red square=laal varg; blue square=neela varg/neele varg; yellow square=peela varg/peele varg; "
    "pink rectangle=gulabi aayat; red sphere=laal gola/laal gole; triangle=tribhuj; "
    "green circle=hara vritt/hare vritt; white cross=safed salib"
)
SIDES = _words("to the left of=baayin or; to the right of=daayin or; above=upar; below=neeche")
DIRECTIONS = _words("north=uttar; south=dakshin; east=purv; west=pashchim")
LETTERS = {"n": "u", "s": "d", "e": "pu", "w": "pa"}  # directions in answers
SPECIES = _words(
    "mouse=chooha/choohe; wolf=bhediya/bhediye; goose=kalhans; horse=ghoda/ghode; snake=saanp; frog=mendhak; "
    "lion=sher; rhino=gainda/gainde; swan=hans; bear=bhaalu; crow=kauva/kauve; hare=khargosh; toad=bhek",
    "cat=billi; sheep=bhed; fox=lomdi",
)
KINDS = {
    "cats": HindiWord("billiyan", "billiyon", WOMEN),
    "sheep": HindiWord("bheden", "bhedon", WOMEN),
    "foxes": HindiWord("lomdiyan", "lomdiyon", WOMEN),
    "mice": HindiWord("choohe", "choohon", MEN),
    "wolves": HindiWord("bhediye", "bhediyon", MEN),
    "geese": HindiWord("kalhans", "kalhanson", MEN),
    "horses": HindiWord("ghode", "ghodon", MEN),
    "snakes": HindiWord("saanp", "saanpon", MEN),
}
COLOURS = _words("gray=sleti; green=hara; white=safed; yellow=peela")
STATES = _words(
    "bored=ooba/oobi; hungry=bhookha/bhookhi; thirsty=pyaasa/pyaasi; tired=thaka/thaki; dirty=maila/maili; "
    "curious=jigyasu; cold=thithura/thithuri; musical=sangeetpremi; busy=vyast; restless=bechain; "
    "creative=rachnasheel; gloomy=udaas"
)
LINKS = _words("then=phir; afterwards=baad mein; after that=uske baad; following that=iske baad")
TIMES = _words("yesterday=kal; this morning=aaj subah; this afternoon=aaj dopahar; this evening=aaj shaam")
PRONOUNS: dict[str, tuple[HindiWord, ...]] = {
    "he": (HindiWord("vah", "vah", MALE),),
    "she": (HindiWord("vah", "vah", FEMALE),),
    "they": (HindiWord("ve", "ve", MEN), HindiWord("ve", "ve", WOMEN)),
}
OTHER_ANSWERS = {
    "yes": "haan",
    "no": "nahin",
    "maybe": "shayad",
    "nothing": "khaali",
    "none": "shoonya",
    "one": "ek",
    "two": "do",
    "three": "teen",
    "four": "chaar",
    "five": "paanch",
    "six": "chhah",
    "seven": "saat",
    "eight": "aath",
    "nine": "nau",
    "ten": "das",
}
WORDS = {
    "who": PEOPLE,
    "place": PLACES,
    "thing": THINGS,
    "solid": SOLIDS,
    "shape": SHAPES,
    "side": SIDES,
    "direction": DIRECTIONS,
    "species": SPECIES,
    "kinds": KINDS,
    "colour": COLOURS,
    "state": STATES,
    "link": LINKS,
    "time": TIMES,
}
VARIANTS: dict[str, dict[str, tuple[HindiWord, ...]]] = {
    **{kind: {english: (word,) for english, word in words.items()} for kind, words in WORDS.items()},
    "pronoun": PRONOUNS,
}
ANSWERS: dict[str, str] = {
    **{
        english: word.direct
        for kind in ("who", "place", "thing", "species", "colour", "state")
        for english, word in WORDS[kind].items()
    },
    **OTHER_ANSWERS,
    **LETTERS,
}


MOVES = (
    ("went over to the", "{place.o} chal<WHO:a/i/e/i> gay<WHO:a/i/e/in>"),
    ("returned to the", "{place.o} laut<WHO:a/i/e/in>"),
    ("journeyed to the", "yatra karke {place.o} gay<WHO:a/i/e/in>"),
    ("moved on to the", "aage badhkar {place.o} gay<WHO:a/i/e/in>"),
    ("travelled to the", "safar karke {place.o} pahunch<WHO:a/i/e/in>"),
)
WAYS_TO_SAY_A_MOVE = (  # English sentence, what Hindi has before the place, and the role that agrees
    ("{who} VERB {place}.", "{who}", "who"),
    ("{who} and {who2} VERB {place}.", "{who} aur {who2}", "who+who2"),
    ("{link}, {pronoun} VERB {place}.", "{link} {pronoun}", "pronoun"),
    ("{time} {who} VERB {place}.", "{time} {who}", "who"),
    ("{who} VERB {place} {time}.", "{who} {time}", "who"),
)
DEEDS = (
    ("got the", "paay<thing:a/i>"),
    ("took the", "li<thing:ya/>"),
    ("grabbed the", "pakd<thing:a/i>"),
    ("picked up the", "uthay<thing:a/i>"),
    ("dropped the", "giray<thing:a/i>"),
    ("discarded the", "phenk<thing:a/i>"),
    ("left the", "chhod<thing:a/i>"),
    ("put down the", "neeche rakh<thing:a/i>"),
)
GIVES = (("gave", "di<thing:ya/>"), ("handed", "thamay<thing:a/i>"), ("passed", "pakday<thing:a/i>"))

STATEMENTS = (
    ("{who} is in the {place}.", "{who} {place.o} mein hai."),
    ("{who} is no longer in the {place}.", "{who} ab {place.o} mein nahin hai."),
    ("{who} is not in the {place}.", "{who} {place.o} mein nahin hai."),
    ("{who} is either in the {place} or in the {place2}.", "{who} ya to {place.o} mein hai ya {place2.o} mein."),
    ("the {place} lies {direction} of the {place2}.", "{place} {place2.o} ke {direction} mein hai."),
    ("{kinds} are afraid of {kinds2}.", "{kinds} {kinds2.o} se dart<kinds:a/i/e/i> hain."),
    ("{who} is a {species}.", "{who} ek {species} hai."),
    ("{who} is {colour}.", "{who} ka rang {colour} hai."),
    ("{who} is {state}.", "{who} {state.who} hai."),
    ("the {shape} is {side} the {shape2}.", "{shape} {shape2.o} ke {side} hai."),
    ("the {solid} fits inside the {solid2}.", "{solid} {solid2.o} ke andar sama jaat<solid:a/i> hai."),
    ("the {solid} is bigger than the {solid2}.", "{solid} {solid2.o} se bad<solid:a/i> hai."),
)
QUESTIONS = (
    ("where is {who} now?", "{who} ab kahan hai?"),
    ("where is the {thing} now?", "{thing} ab kahan hai?"),
    (
        "where was the {thing} before it was in the {place}?",
        "{place.o} mein hone se pehle {thing} kahan th<thing:a/i>?",
    ),
    ("which place lies {direction} of the {place}?", "{place.o} ke {direction} mein kaun si jagah hai?"),
    ("the {place} lies {direction} of which place?", "{place} kis jagah ke {direction} mein hai?"),
    ("is {who} in the {place} now?", "kya {who} ab {place.o} mein hai?"),
    ("how many things does {who} carry?", "{who} ke paas kitni cheezein hain?"),
    ("which things does {who} carry?", "{who} ke paas kaun si cheezein hain?"),
    ("where was {who} right before the {place}?", "{who} {place.o} se theek pehle kahan th<who:a/i>?"),
    ("of which animal is {who} afraid?", "{who} kis jaanvar se dart<who:a/i> hai?"),
    ("which colour is {who}?", "{who} ka rang kaun sa hai?"),
    ("is the {shape} {side} the {shape2}?", "kya {shape} {shape2.o} ke {side} hai?"),
    ("does the {solid} fit inside the {solid2}?", "kya {solid} {solid2.o} ke andar sama jaat<solid:a/i> hai?"),
    ("is the {solid} bigger than the {solid2}?", "kya {solid} {solid2.o} se bad<solid:a/i> hai?"),
    ("how does one get from the {place} to the {place2}?", "{place.o} se {place2.o} tak kaise jaate hain?"),
    ("where will {who} go?", "{who} kahan jaayeg<who:a/i>?"),
    ("why did {who} go to the {place}?", "{who} {place.o} kyon gay<who:a/i>?"),
    ("why did {who} get the {thing}?", "{who} ne {thing} kyon li<thing:ya/>?"),
)
GIFTS = (  # with LAST or without it
    ("what did {who} LASTgive to {who2}?", "{who} ne {who2} ko LASTkya diya?"),
    ("who LASTgave the {thing} to {who}?", "{who} ko LAST{thing} kisne di<thing:ya/>?"),
    ("who LASTgave the {thing} to somebody?", "kisi ko LAST{thing} kisne di<thing:ya/>?"),
    ("who LASTreceived the {thing}?", "LAST{thing} kise mil<thing:a/i>?"),
    ("to whom did {who} LASTgive the {thing}?", "{who} ne LAST{thing} kise di<thing:ya/>?"),
)

PATTERNS: tuple[tuple[str, str], ...] = (
    *(
        (english.replace("VERB", verb), f"{hindi} {said}.".replace("WHO", whom))
        for english, hindi, whom in WAYS_TO_SAY_A_MOVE
        for verb, said in MOVES
    ),
    *(
        (f"{{who}} {verb} {{thing}}{there}.", f"{{who}} ne {wahan}{{thing}} {said}.")
        for verb, said in DEEDS
        for there, wahan in (("", ""), (" there", "wahan "))
    ),
    *(
        (f"{{who}} {verb} the {{thing}} to {{who2}}.", f"{{who}} ne {{who2}} ko {{thing}} {said}.")
        for verb, said in GIVES
    ),
    *STATEMENTS,
    *QUESTIONS,
    *(
        (english.replace("LAST", last), hindi.replace("LAST", aakhiri))
        for english, hindi in GIFTS
        for last, aakhiri in (("last ", "aakhiri baar "), ("", ""))
    ),
)


SLOT = re.compile(r"\{(\w+)(?:\.(\w+))?\}")
ENDING = re.compile(r"<([\w+]+):([^>]*)>")
REMEMBERED = 1 << 16  # cached sentences; stories repeat most sentences
ENGLISH_ANSWERS: Mapping[str, str] = {hindi: english for english, hindi in ANSWERS.items()}

Filled = Mapping[str, tuple[str, HindiWord]]
"""For each slot of a pattern, the English word and the Hindi word."""


class Pattern(NamedTuple):
    """A kind of sentence in both languages, and the expressions that recognize it."""

    english: str
    hindi: str
    slots: tuple[str, ...]
    reads_english: re.Pattern[str]
    reads_hindi: re.Pattern[str]

    def in_english(self, filled: Filled) -> str:
        """Return the English sentence with these words."""
        return _capital(SLOT.sub(lambda slot: filled[slot[1]][0], self.english))

    def in_hindi(self, filled: Filled) -> str:
        """Return the Hindi sentence with these words."""
        text = SLOT.sub(lambda slot: _form(filled, slot[1], slot[2]), self.hindi)
        return _capital(ENDING.sub(lambda ending: ending[2].split("/")[_agreement(filled, ending[1])], text))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _form(filled: Filled, slot: str, form: str | None) -> str:
    word = filled[slot][1]
    takes_other = form == "o" or (form is not None and filled[form][1].agrees == FEMALE)
    return word.other if takes_other else word.direct


def _agreement(filled: Filled, slots: str) -> int:
    """Return the gender with which an ending agrees, from one slot or from two people together."""
    found = [filled[slot][1].agrees for slot in slots.split("+")]
    if len(found) == 1:
        return found[0]
    return WOMEN if set(found) == {FEMALE} else MEN


def _variants(slot: str) -> Mapping[str, tuple[HindiWord, ...]]:
    return VARIANTS[slot.rstrip("2")]


def _reader(text: str, *, hindi: bool) -> re.Pattern[str]:
    """Return an expression that recognizes a pattern's sentences and captures the words of its slots."""

    def words(slot: re.Match[str]) -> str:
        found = {
            form
            for english, variants in _variants(slot[1]).items()
            for form in ([form for word in variants for form in word[:2]] if hindi else [english])
        }
        longest_first = sorted(found, key=lambda word: (-len(word), word))
        return f"(?P<{slot[1]}>{'|'.join(map(re.escape, longest_first))})"

    def endings(ending: re.Match[str]) -> str:
        return f"(?:{'|'.join(dict.fromkeys(ending[2].split('/')))})"

    plain = re.sub(r"[.?](?=$)", lambda mark: "\\" + mark[0], text)
    return re.compile(ENDING.sub(endings, SLOT.sub(words, plain)))


@cache
def read_patterns() -> tuple[Pattern, ...]:
    """Return the patterns with their expressions, which are compiled at the first call because that takes long."""
    return tuple(
        Pattern(
            english,
            hindi,
            tuple(dict.fromkeys(slot[1] for slot in SLOT.finditer(english))),
            _reader(english, hindi=False),
            _reader(hindi, hindi=True),
        )
        for english, hindi in PATTERNS
    )


def _matches(reader: re.Pattern[str], text: str) -> re.Match[str] | None:
    return reader.fullmatch(text) or reader.fullmatch(text[:1].lower() + text[1:])


@lru_cache(maxsize=REMEMBERED)
def to_hindi(english: str, *, women: bool = False) -> str:
    """Return a sentence or question in Hindi; `women` states that a pronoun means women only.

    Raises
    ------
    ValueError
        If no pattern fits, because a task has a sentence that Hindi lacks.
    """
    for pattern in read_patterns():
        found = _matches(pattern.reads_english, english)
        if found is not None:
            filled = {
                slot: (word, _variants(slot)[word][-1 if women else 0]) for slot, word in found.groupdict().items()
            }
            return pattern.in_hindi(filled)
    raise ValueError(f"Expected a sentence that can be said in Hindi, got {english!r}.")


def readings(hindi: str) -> Iterator[str]:
    """Yield every possible English translation of a Hindi sentence."""
    for pattern in read_patterns():
        found = _matches(pattern.reads_hindi, hindi)
        if found is None:
            continue
        each = [
            [
                (slot, (english, word))
                for english, variants in _variants(slot).items()
                for word in variants
                if form in word[:2]
            ]
            for slot, form in found.groupdict().items()
        ]
        for words in product(*each):
            if pattern.in_hindi(dict(words)) == hindi:
                yield pattern.in_english(dict(words))


@lru_cache(maxsize=REMEMBERED)
def to_english(hindi: str) -> str | None:
    """Return the first English translation of a Hindi sentence, or None if no pattern fits."""
    return next(readings(hindi), None)


class Hindi:
    """Hindi, translated from English sentences by rules."""

    is_placed_by_english = True

    def text(self, english: str) -> str:
        return to_hindi(english)

    def answer(self, english: str) -> str:
        return ",".join([ANSWERS[word] for word in english.split(",")])

    def story(self, story: Story) -> Story:
        return story._replace(lines=tuple([_line(line) for line in story.lines]))

    def english(self, text: str) -> str:
        """Return a sentence, question or answer in English; a text that fits no pattern is returned unchanged."""
        words = text.split(",")
        if all(word in ENGLISH_ANSWERS for word in words):
            return ",".join([ENGLISH_ANSWERS[word] for word in words])
        return to_english(text) or text


def _line(line: Line) -> Line:
    if line.antecedent is None:
        return line._replace(text=to_hindi(line.text))
    women = all(PEOPLE[event[1]].agrees == FEMALE for event in line.events)
    return line._replace(text=to_hindi(line.text, women=women))
