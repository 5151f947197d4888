"""Hindi words in Latin letters, by what they stand for: our own lexicon."""

from typing import NamedTuple

MALE, FEMALE, MEN, WOMEN = range(4)  # what verbs agree with: gender, and of several that of all


class Word(NamedTuple):
    """A word: as a subject, before a postposition (of an adjective the feminine), and what agrees with it."""

    direct: str
    other: str
    agrees: int = MALE


def _words(male: str, female: str = "") -> dict[str, Word]:
    """Return words by their English ones, from `english=direct/other`; the second form may be the first."""
    found = {}
    for text, agrees in ((male, MALE), (female, FEMALE)):
        for entry in filter(None, (one.strip() for one in text.split(";"))):
            english, _, hindi = entry.partition("=")
            direct, _, other = hindi.partition("/")
            found[english] = Word(direct, other or direct, agrees)
    return found


FEMININE = (
    "Alice Cleo Dana Emily Fatima Gertrude Hazel Ines Jessica Julie Lena Lily Mary Poppy Priya Sandra Tessa Winona"
)
MASCULINE = (
    "Antoine Basil Bernhard Bill Brian Carlos Daniel Erik Felix Fred Greg Hugo Jason Jeff John Julius Karl Nero Omar "
    "Rufus Sumit Tomas Yann"
)
PEOPLE = {
    **{name: Word(name, name, MALE) for name in MASCULINE.split()},
    **{name: Word(name, name, FEMALE) for name in FEMININE.split()},
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
LETTERS = {"n": "u", "s": "d", "e": "pu", "w": "pa"}  # as answers have directions
SPECIES = _words(
    "mouse=chooha/choohe; wolf=bhediya/bhediye; goose=kalhans; horse=ghoda/ghode; snake=saanp; frog=mendhak; "
    "lion=sher; rhino=gainda/gainde; swan=hans; bear=bhaalu; crow=kauva/kauve; hare=khargosh; toad=bhek",
    "cat=billi; sheep=bhed; fox=lomdi",
)
KINDS = {
    "cats": Word("billiyan", "billiyon", WOMEN),
    "sheep": Word("bheden", "bhedon", WOMEN),
    "foxes": Word("lomdiyan", "lomdiyon", WOMEN),
    "mice": Word("choohe", "choohon", MEN),
    "wolves": Word("bhediye", "bhediyon", MEN),
    "geese": Word("kalhans", "kalhanson", MEN),
    "horses": Word("ghode", "ghodon", MEN),
    "snakes": Word("saanp", "saanpon", MEN),
}
COLOURS = _words("gray=sleti; green=hara; white=safed; yellow=peela")
STATES = _words(
    "bored=ooba/oobi; hungry=bhookha/bhookhi; thirsty=pyaasa/pyaasi; tired=thaka/thaki; dirty=maila/maili; "
    "curious=jigyasu; cold=thithura/thithuri; musical=sangeetpremi; busy=vyast; restless=bechain; "
    "creative=rachnasheel; gloomy=udaas"
)
LINKS = _words("then=phir; afterwards=baad mein; after that=uske baad; following that=iske baad")
TIMES = _words("yesterday=kal; this morning=aaj subah; this afternoon=aaj dopahar; this evening=aaj shaam")
PRONOUNS: dict[str, tuple[Word, ...]] = {
    "he": (Word("vah", "vah", MALE),),
    "she": (Word("vah", "vah", FEMALE),),
    "they": (Word("ve", "ve", MEN), Word("ve", "ve", WOMEN)),
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
VARIANTS: dict[str, dict[str, tuple[Word, ...]]] = {
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
