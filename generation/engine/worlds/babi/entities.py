"""The people, places and things of stories: those of the released data, and further ones for harder stories."""

from typing import NamedTuple

from generation.engine.worlds.babi.grid import Cell

PEOPLE = {
    "mary": ("John", "Mary", "Sandra", "Daniel"),
    "fred": ("Fred", "Bill", "Julie", "Mary"),
    "jeff": ("Bill", "Fred", "Jeff", "Mary"),
    "sumit": ("Antoine", "Jason", "Sumit", "Yann"),
}
FURTHER_PEOPLE = ("Alice", "Carlos", "Dana", "Erik", "Fatima", "Hugo", "Ines", "Karl", "Lena", "Omar", "Priya", "Tomas")
PLACES = {
    "house": ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office"),
    "town": ("bedroom", "cinema", "kitchen", "office", "park", "school"),
}
FURTHER_PLACES = (
    "attic",
    "balcony",
    "cellar",
    "garage",
    "library",
    "museum",
    "station",
    "studio",
    "theatre",
    "workshop",
)
THINGS = ("apple", "football", "milk")
FURTHER_THINGS = ("basket", "candle", "hammer", "letter", "violin")
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight")  # numbers of things
MEN = frozenset(("John", "Daniel", "Fred", "Bill", "Jeff", "Carlos", "Erik", "Hugo", "Karl", "Omar", "Tomas"))


def people(group: str, count: int) -> tuple[str, ...]:
    """Return the first `count` people of a group, followed by further people if the group is too small."""
    return _some(PEOPLE[group], FURTHER_PEOPLE, count)


def places(group: str, count: int) -> tuple[str, ...]:
    """Return the first `count` places of a group, followed by further places if the group is too small."""
    return _some(PLACES[group], FURTHER_PLACES, count)


def things(count: int) -> tuple[str, ...]:
    """Return the first `count` things that people carry."""
    return _some(THINGS, FURTHER_THINGS, count)


def _some(own: tuple[str, ...], further: tuple[str, ...], count: int) -> tuple[str, ...]:
    return (own + tuple(one for one in further if one not in own))[:count]


EVERYBODY = tuple(dict.fromkeys((*(name for group in PEOPLE.values() for name in group), *FURTHER_PEOPLE)))
EVERYWHERE = tuple(dict.fromkeys((*(place for group in PLACES.values() for place in group), *FURTHER_PLACES)))
EVERYTHING = THINGS + FURTHER_THINGS
TIMES = ("yesterday", "this morning", "this afternoon", "this evening")  # in the order of time


PLURALS = {
    "cat": "cats",
    "mouse": "mice",
    "sheep": "sheep",
    "wolf": "wolves",
    "fox": "foxes",
    "goose": "geese",
    "horse": "horses",
    "snake": "snakes",
}
PETS = ("Emily", "Gertrude", "Jessica", "Winona", "Basil", "Cleo", "Felix", "Hazel", "Nero", "Poppy", "Rufus", "Tessa")

BEASTS = ("frog", "lion", "rhino", "swan", "bear", "crow", "hare", "toad")
COLOURS = ("gray", "green", "white", "yellow")
BEARERS = ("Bernhard", "Brian", "Greg", "Julius", "Lily", *PETS[4:])

SHAPES = (
    "red square",
    "blue square",
    "yellow square",
    "pink rectangle",
    "red sphere",
    "triangle",
    "green circle",
    "white cross",
)
SIDES: dict[str, Cell] = {
    "above": (0, 1),
    "below": (0, -1),
    "to the right of": (1, 0),
    "to the left of": (-1, 0),
}

CONTENTS = ("chocolate", "box of chocolates")  # in the released data the smallest two, in this order
SIZES = (
    *CONTENTS,
    "box",
    "chest",
    "container",
    "suitcase",
    "crate",
    "barrel",
    "basket",
    "drawer",
    "trunk",
    "cupboard",
)


class Motive(NamedTuple):
    """What a person in a state does: the place where they go, and the thing that they get there."""

    state: str
    place: str
    thing: str


MOTIVES = (
    Motive("bored", "garden", "football"),
    Motive("hungry", "kitchen", "apple"),
    Motive("thirsty", "kitchen", "milk"),
    Motive("tired", "bedroom", "pajamas"),
    Motive("dirty", "bathroom", "soap"),
    Motive("curious", "library", "book"),
    Motive("cold", "attic", "blanket"),
    Motive("musical", "studio", "violin"),
    Motive("busy", "office", "letter"),
    Motive("restless", "garage", "bicycle"),
    Motive("creative", "workshop", "brush"),
    Motive("gloomy", "cellar", "candle"),
)
