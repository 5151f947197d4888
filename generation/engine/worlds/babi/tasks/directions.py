"""Places that lie north, south, east or west of others: one fact (task 4), and paths (task 19)."""

from functools import cache

from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.babi import entities, grid
from generation.engine.worlds.babi.grid import COMPASS, Cell
from generation.engine.worlds.babi.story import Line
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.task_interface import Ask, Space, ToldStory
from generation.engine.worlds.babi.tasks.filler_lines import idle
from generation.engine.worlds.babi.tasks.grid_layouts import lines_of, some, space_of

DIRECTIONS = tuple(COMPASS)
WAY_LAST = 1 / 3  # approximate share of released stories of task 19 in which a line of the path is put last


@cache
def lies(one: str, direction: int, other: str) -> Line:
    """Return the line that says in which direction of another place a place lies."""
    word = DIRECTIONS[direction]
    return Line(f"The {one} lies {word} of the {other}.", (("lies", one, word, other),))


class TwoArguments:
    """Task 4: three places in a row. Only the order of a question's words decides which end of the row it asks for."""

    number, name, label = 4, "two-arg-relations", "relations of two"
    lengths: tuple[int, ...] = (1,)

    def tell(self, parameters: StoryParameters, chance: Stream, *, questions: int) -> ToldStory | None:
        first, middle, last = some(entities.places("house", parameters.places), 3, chance)
        direction = chance.below(4)
        lines = [self._line(first, direction, middle, chance), self._line(middle, direction, last, chance)]
        if chance.random() < 0.5:
            lines.reverse()
        asked = direction if chance.random() < 0.5 else grid.OPPOSITE[direction]
        first_asked = chance.random() < 0.5
        lines += idle(parameters, chance)
        ask = self._ask(len(lines), DIRECTIONS[asked], middle, first=first_asked)
        return ToldStory(tuple(lines), (ask,))

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        return entities.places("house", parameters.places)

    def space(self, parameters: StoryParameters) -> Space | None:
        """Return the number of rows of three places, in two lines of either order, each from either end."""
        if parameters.distance:
            return None
        places = parameters.places
        rows = places * (places - 1) * (places - 2) // 2 * len(DIRECTIONS)
        return Space(rows * 8, rows * 8 * 4)

    def _line(self, one: str, direction: int, other: str, chance: Stream) -> Line:
        if chance.random() < 0.5:
            return lies(one, direction, other)
        return lies(other, grid.OPPOSITE[direction], one)

    @staticmethod
    @cache
    def _ask(scope: int, direction: str, place: str, *, first: bool) -> Ask:
        if first:
            text, function = f"Which place lies {direction} of the {place}?", "that_lies"
        else:
            text, function = f"The {place} lies {direction} of which place?", "lies_of"
        return Ask(scope, text, (Step("story", (), (TwoArguments.name,)), Step(function, (0,), (direction, place))))


class PathFinding:
    """Task 19: places on a grid. The path that a question asks for is the only shortest one.

    By default this holds even if people may walk between neighbouring places that no line links. Data as released only
    consider the paths that lines give.
    """

    number, name, label = 19, "path-finding", "finding ways"
    lengths: tuple[int, ...] = (1,)

    def tell(self, parameters: StoryParameters, chance: Stream, *, questions: int) -> ToldStory | None:
        walk = chance.choice(grid.walks(parameters.steps) if parameters.faithful else grid.only_ways(parameters.steps))
        layout = grid.grown(walk, self._cells(parameters), chance, clear=not parameters.faithful)
        names = list(entities.places("house", len(layout.cells)))
        chance.shuffle(names)
        last = chance.choice(walk.edges) if parameters.faithful and chance.random() < WAY_LAST else None
        lines = (*lines_of(layout, names, chance, say=lies, last=last), *idle(parameters, chance))
        return ToldStory(lines, (self._ask(len(lines), names[0], names[parameters.steps]),))

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        walks = grid.walks(parameters.steps) if parameters.faithful else grid.only_ways(parameters.steps)
        return tuple(",".join(DIRECTIONS[direction][0] for *_, direction in walk.edges) for walk in walks)

    @staticmethod
    @cache
    def space(parameters: StoryParameters) -> Space | None:
        """Return the number of stories; None for more than eight places, or with a distance."""
        if parameters.distance:
            return None
        cells = PathFinding._cells(parameters)

        def askable(walk: tuple[Cell, ...], others: tuple[Cell, ...]) -> bool:
            return parameters.faithful or grid.is_only_way(walk, others)

        return space_of(cells, cells, parameters.steps, askable=askable, questions=1)

    @staticmethod
    def _cells(parameters: StoryParameters) -> int:
        return max(parameters.places, parameters.steps + 1)

    @staticmethod
    @cache
    def _ask(scope: int, start: str, end: str) -> Ask:
        program: Program = (
            Step("story", (), (PathFinding.name,)),
            Step("way", (0,), (start, end)),
            Step("directions", (1,), (start,)),
        )
        return Ask(scope, f"How does one get from the {start} to the {end}?", program)


TASKS = (TwoArguments(), PathFinding())
