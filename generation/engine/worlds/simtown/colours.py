"""The colours of vehicles."""

from collections.abc import Mapping

from generation.engine.worlds.simtown.parts import paint

NAMED: Mapping[str, str] = {  # the colours by which names of vehicles differ, as "red tractor" and "green tractor" do
    "red": "#d9121f",
    "orange": "#f97306",
    "green": "#119c2e",
    "blue": "#1450dc",
    "pink": "#ff6fb1",
    "white": "#f6f6f2",
}
SWATCHES: Mapping[str, tuple[int, int, int]] = {
    name: (int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)) for name, code in NAMED.items()
}

RED = paint(NAMED["red"])
MAROON = paint("#7a1026")
ORANGE = paint(NAMED["orange"])
AMBER = paint("#f5a300")
YELLOW = paint("#ffd500")
LIME = paint("#9be010")
GREEN = paint(NAMED["green"])
OLIVE = paint("#7d8a2b")
FOREST = paint("#0b5a2c")
PINE = paint("#0a6b56")
TEAL = paint("#0aa5a0")
MINT = paint("#7fe3c4")
SKY = paint("#5cc3f5")
BLUE = paint(NAMED["blue"])
NAVY = paint("#14235e")
PURPLE = paint("#7a22c4")
MAGENTA = paint("#cf148c")
PINK = paint(NAMED["pink"])
WHITE = paint(NAMED["white"])
CREAM = paint("#f6e3b4")
SILVER = paint("#b9c2c9")
ASH = paint("#a9b8cf")
GREY = paint("#7d858c")
STEEL = paint("#3f78b5")
BLACK = paint("#15161a")

BARK = paint("#6b3f1d")
BROWN = paint("#8a5226")
TAN = paint("#d9a25f")
STRAW = paint("#e8c34a")
SAND = paint("#e3c27a")
GOLD = paint("#d9a514")
SKIN = paint("#f2b48c")

GLASS = paint("#1b2c40")
TYRE = paint("#1d1d20")
CHASSIS = paint("#33373d")
HEADLAMP = paint("#fff3b0")
TAIL_LAMP = paint("#b00012")
