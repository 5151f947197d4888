"""Animals, sizes, shapes and motives: names as the released data have them, and further ones for harder stories."""

from typing import NamedTuple

from generation.engine.worlds.babi.grid import Cell

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

CONTENTS = ("chocolate", "box of chocolates")  # as released the smallest two, in this order
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
    """What somebody in a state does: where they go, and for what."""

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
