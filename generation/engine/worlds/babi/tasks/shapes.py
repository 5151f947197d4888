"""Where shapes are, concluded from facts about other shapes (task 17)."""

from functools import cache
from itertools import product

from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.babi import grid
from generation.engine.worlds.babi.entities import SHAPES, SIDES
from generation.engine.worlds.babi.grid import Cell, GridLayout
from generation.engine.worlds.babi.story import Line
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.task_interface import Ask, Space, ToldStory
from generation.engine.worlds.babi.tasks.filler_lines import idle
from generation.engine.worlds.babi.tasks.grid_layouts import lines_of, some, space_of

RELEASED = 6  # shapes from which the released data choose
WORDS = tuple(SIDES)
MOVES = tuple(SIDES.values())


@cache
def stands(one: str, direction: int, other: str) -> Line:
    """Return the line that says on which side of another shape a shape is."""
    return Line(f"The {one} is {WORDS[direction]} the {other}.", (("stands", one, WORDS[direction], other),))


class Positions:
    """Task 17: shapes on a grid; no line names both shapes of the questions.

    In lines "above" means straight above; in questions it also means diagonally above. The same holds for other sides.

    By default the two shapes share neither row nor column, and each of the eight questions about them is asked once. In
    data as released they may be in one row: then a question may ask whether one is above the other; the answer is no.
    """

    number, name, label = 17, "positional-reasoning", "positions"
    lengths: tuple[int, ...] = (8,)

    def tell(self, parameters: StoryParameters, chance: Stream, *, questions: int) -> ToldStory | None:
        walk = chance.choice(grid.walks(parameters.steps) if parameters.faithful else grid.askew(parameters.steps))
        layout = grid.grown(walk, self._cells(parameters), chance, clear=False)
        names = some(self._pool(parameters), len(layout.cells), chance)
        lines = (*lines_of(layout, names, chance, say=stands), *idle(parameters, chance))
        wanted = self._draw(layout, parameters, chance) if parameters.faithful else self._each(chance)
        ends = names[0], names[parameters.steps]
        return ToldStory(lines, tuple([self._ask(len(lines), *ends, *which) for which in wanted[:questions]]))

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        return ("yes", "no")

    @staticmethod
    @cache
    def space(parameters: StoryParameters) -> Space | None:
        """Return the number of stories; None with a distance."""
        if parameters.distance:
            return None
        return space_of(
            len(Positions._pool(parameters)),
            Positions._cells(parameters),
            parameters.steps,
            askable=lambda walk, _: parameters.faithful or grid.is_askew(walk),
            questions=len(WORDS),
        )

    @staticmethod
    def _cells(parameters: StoryParameters) -> int:
        return max(parameters.shapes, parameters.steps + 1)

    @staticmethod
    def _pool(parameters: StoryParameters) -> tuple[str, ...]:
        return SHAPES[: max(RELEASED, Positions._cells(parameters))]

    def _each(self, chance: Stream) -> list[tuple[bool, int]]:
        found = list(product((False, True), range(len(WORDS))))
        chance.shuffle(found)
        return found

    def _draw(self, layout: GridLayout, parameters: StoryParameters, chance: Stream) -> list[tuple[bool, int]]:
        """Return as many questions as `_each`, half of them with the answer yes; some may repeat."""
        start, end = layout.cells[0], layout.cells[parameters.steps]
        by_answer: dict[bool, list[tuple[bool, int]]] = {True: [], False: []}
        for back, side in product((False, True), range(len(WORDS))):
            by_answer[_is_on(MOVES[side], *((end, start) if back else (start, end)))].append((back, side))
        return [chance.choice(by_answer[chance.random() < 0.5]) for _ in range(2 * len(WORDS))]

    @staticmethod
    @cache
    def _ask(scope: int, start: str, end: str, back: bool, side: int) -> Ask:
        one, other = (end, start) if back else (start, end)
        program: Program = (
            Step("story", (), (Positions.name,)),
            Step("chain", (0,), (one, other)),
            Step("is_side", (1,), (one, WORDS[side])),
        )
        return Ask(scope, f"Is the {one} {WORDS[side]} the {other}?", program)


def _is_on(side: Cell, one: Cell, other: Cell) -> bool:
    return (one[0] - other[0]) * side[0] + (one[1] - other[1]) * side[1] > 0


TASKS = (Positions(),)
