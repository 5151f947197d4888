"""Small examples for tests of learners: pictures of coloured squares, stories about places, counts and relations.

Each function always returns the same examples, and those of a smaller `n` are the first of a larger one.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.learners.examples import Examples, Regions
from generation.engine.program import Program, Step

SIDE = 32  # pixels of a picture
CELL, SQUARE = 8, 6  # pixels of a cell of the grid on which squares stand, and of a square
COLOURS = {"red": (220, 30, 30), "green": (30, 190, 50), "blue": (40, 60, 230), "yellow": (230, 220, 40)}
GROUND = (120, 120, 120)
MOST_COUNTED = 4
VEHICLES = {"car": (220, 30, 30), "bus": (230, 220, 40), "truck": (40, 60, 230)}
RELATIONS = {"left": "left of", "right": "right of", "front": "in front of", "behind": "behind"}
PEOPLE = ("Mary", "John", "Daniel", "Sandra")
PLACES = ("kitchen", "garden", "office", "hallway")
Random = np.random.Generator


class Square(NamedTuple):
    """A square at a cell of the grid, counted from the upper left corner."""

    label: str
    colour: tuple[int, int, int]
    row: int
    column: int


class SquareQuestion(NamedTuple):
    """A question about squares."""

    squares: Sequence[Square]
    text: str
    kind: str
    program: Program
    answer: str


def pictures(n: int) -> Examples:
    """Return questions about a left and a right square: the colour of one, or whether a colour occurs."""
    chance = np.random.Generator(np.random.PCG64(1))
    asked = [_about_colours(chance, number) for number in range(n)]
    return _with_pictures("made/pictures", asked, (*COLOURS, "yes", "no"))


def counts(n: int) -> Examples:
    """Return questions that ask how many squares have a colour; the answers are 0 to `MOST_COUNTED`."""
    chance = np.random.Generator(np.random.PCG64(2))
    asked = [_about_number(chance) for _ in range(n)]
    answers = tuple(map(str, range(MOST_COUNTED + 1)))
    return _with_pictures("made/counts", asked, answers, most_counted=MOST_COUNTED)


def relations(n: int) -> Examples:
    """Return yes/no questions about the relation of two vehicles, of which the nearer one is lower in the picture."""
    chance = np.random.Generator(np.random.PCG64(3))
    return _with_pictures("made/relations", [_about_relation(chance) for _ in range(n)], ("yes", "no"))


def stories(n: int) -> Examples:
    """Return questions about where people are, of two types, each with its story and its supporting line."""
    chance = np.random.Generator(np.random.PCG64(4))
    texts, kinds, answers, lines, supports = [], [], [], [], []
    for _ in range(n):
        moves = [(_one(chance, PEOPLE), _one(chance, PLACES)) for _ in range(int(chance.integers(2, 7)))]
        at = int(chance.integers(len(moves)))
        who = moves[at][0]
        last = max(number for number, (person, _) in enumerate(moves) if person == who)
        place, other = moves[last][1], _one(chance, PLACES)
        is_open = bool(chance.integers(2))
        asked = place if chance.integers(2) else other
        texts.append(f"Where is {who}?" if is_open else f"Is {who} in the {asked}?")
        kinds.append("where" if is_open else "yes-no")
        answers.append(place if is_open else "yes" if asked == place else "no")
        lines.append(tuple(f"{person} went to the {where}." for person, where in moves))
        supports.append((last,))
    return Examples(
        name="made/stories",
        vocabulary=(*PLACES, "yes", "no"),
        texts=tuple(texts),
        kinds=tuple(kinds),
        items=np.arange(n),
        answers=tuple(answers),
        stories=tuple(lines),
        supports=tuple(supports),
    )


def _about_colours(chance: Random, number: int) -> SquareQuestion:
    places = [(int(chance.integers(4)), column) for column in (int(chance.integers(2)), int(chance.integers(2, 4)))]
    names = [_one(chance, COLOURS) for _ in places]
    squares = [Square(f"{name} square", COLOURS[name], *at) for name, at in zip(names, places, strict=True)]
    if number % 2:
        asked = _one(chance, COLOURS)
        program = (Step("scene"), Step("filter_color", (0,), (asked,)), Step("exist", (1,)))
        answer = "yes" if asked in names else "no"
        return SquareQuestion(squares, f"Is there a {asked} square?", "exist", program, answer)
    side = int(chance.integers(2))
    word = ("left", "right")[side]
    program = (Step("scene"), Step("filter_side", (0,), (word,)), Step("query_color", (1,)))
    return SquareQuestion(squares, f"What colour is the {word} square?", "query_color", program, names[side])


def _about_number(chance: Random) -> SquareQuestion:
    asked = _one(chance, COLOURS)
    wanted, others = int(chance.integers(MOST_COUNTED + 1)), int(chance.integers(4))
    rest = [name for name in COLOURS if name != asked]
    names = [asked] * wanted + [_one(chance, rest) for _ in range(others)]
    cells = chance.permutation(16)[: len(names)]
    squares = [
        Square(f"{name} square", COLOURS[name], *divmod(int(at), 4)) for name, at in zip(names, cells, strict=True)
    ]
    program = (Step("scene"), Step("filter_color", (0,), (asked,)), Step("count", (1,)))
    return SquareQuestion(squares, f"How many {asked} squares are there?", "count", program, str(wanted))


def _about_relation(chance: Random) -> SquareQuestion:
    names = [list(VEHICLES)[at] for at in chance.permutation(len(VEHICLES))[:2]]
    rows, columns = chance.permutation(4)[:2], chance.permutation(4)[:2]
    squares = [Square(name, VEHICLES[name], int(rows[at]), int(columns[at])) for at, name in enumerate(names)]
    subject, other = squares if chance.integers(2) else squares[::-1]
    relation = _one(chance, RELATIONS)
    holds = {
        "left": subject.column < other.column,
        "right": subject.column > other.column,
        "front": subject.row > other.row,
        "behind": subject.row < other.row,
    }
    program = (
        Step("scene"),
        Step("filter_entity", (0,), (other.label,)),
        Step("relate", (1,), (relation,)),
        Step("filter_entity", (2,), (subject.label,)),
        Step("exist", (3,)),
    )
    text = f"Is the {subject.label} {RELATIONS[relation]} the {other.label}?"
    return SquareQuestion(squares, text, relation, program, "yes" if holds[relation] else "no")


def _with_pictures(
    name: str, asked: Sequence[SquareQuestion], vocabulary: tuple[str, ...], *, most_counted: int | None = None
) -> Examples:
    return Examples(
        name=name,
        vocabulary=vocabulary,
        texts=tuple(one.text for one in asked),
        kinds=tuple(one.kind for one in asked),
        items=np.arange(len(asked)),
        answers=tuple(one.answer for one in asked),
        images=np.stack([_draw(one.squares) for one in asked]),
        programs=tuple(one.program for one in asked),
        regions=_regions([one.squares for one in asked]),
        most_counted=most_counted,
    )


def _draw(squares: Sequence[Square]) -> NDArray[np.uint8]:
    image = np.full((SIDE, SIDE, 3), GROUND, np.uint8)
    for one in squares:
        top, left = one.row * CELL + 1, one.column * CELL + 1
        image[top : top + SQUARE, left : left + SQUARE] = one.colour
    return image


def _regions(scenes: Sequence[Sequence[Square]]) -> Regions:
    boxes = [
        (one.column * CELL + 1, one.row * CELL + 1, one.column * CELL + 1 + SQUARE, one.row * CELL + 1 + SQUARE)
        for squares in scenes
        for one in squares
    ]
    return Regions(
        starts=np.cumsum([0, *map(len, scenes)], dtype=np.int64),
        boxes=(np.array(boxes) / SIDE).astype(np.float32).reshape(-1, 4),
        ids=np.array([number for squares in scenes for number in range(len(squares))], np.int64),
        labels=tuple(one.label for squares in scenes for one in squares),
    )


def _one(chance: Random, names: Iterable[str]) -> str:
    among = list(names)
    return among[int(chance.integers(len(among)))]
