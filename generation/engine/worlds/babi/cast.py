"""Who and what stories are about: names as the released data have them, and further ones for harder stories."""

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
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight")  # of things
MEN = frozenset(("John", "Daniel", "Fred", "Bill", "Jeff", "Carlos", "Erik", "Hugo", "Karl", "Omar", "Tomas"))


def people(group: str, count: int) -> tuple[str, ...]:
    """Return a group's people, the first of them where fewer are wanted, with others where more are."""
    return _some(PEOPLE[group], FURTHER_PEOPLE, count)


def places(group: str, count: int) -> tuple[str, ...]:
    """Return a group's places, fewer or more."""
    return _some(PLACES[group], FURTHER_PLACES, count)


def things(count: int) -> tuple[str, ...]:
    """Return the things that are carried, fewer or more."""
    return _some(THINGS, FURTHER_THINGS, count)


def _some(own: tuple[str, ...], further: tuple[str, ...], count: int) -> tuple[str, ...]:
    return (own + tuple(one for one in further if one not in own))[:count]


EVERYBODY = tuple(dict.fromkeys((*(name for group in PEOPLE.values() for name in group), *FURTHER_PEOPLE)))
EVERYWHERE = tuple(dict.fromkeys((*(place for group in PLACES.values() for place in group), *FURTHER_PLACES)))
EVERYTHING = THINGS + FURTHER_THINGS
TIMES = ("yesterday", "this morning", "this afternoon", "this evening")  # in the order in which they pass
