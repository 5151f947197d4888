"""Computed numbers of stories of small tasks equal those of brute force and of generated stories."""

from collections.abc import Iterator
from itertools import combinations, pairwise, permutations, product
from math import prod
from typing import Any

import pytest

from generation.engine.worlds.babi import grid
from generation.engine.worlds.babi.entities import MOTIVES, SHAPES
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.task_interface import CountableTask, Space
from generation.engine.worlds.babi.tasks import BY_NUMBER
from generation.engine.worlds.babi.tasks.motives import prefixes
from tests import proof
from tests.worlds.babi import facts_twin
from tests.worlds.babi.told import chance, stories

HOUSE = ("bathroom", "bedroom", "garden", "hallway")
Events = tuple[tuple[str, ...], ...]


def space(task: int, **parameters: Any) -> Space | None:
    """Return the computed number of stories of a task."""
    counted = BY_NUMBER[task]
    assert isinstance(counted, CountableTask)
    return counted.space(StoryParameters(**parameters))


def layouts(kind: str, names: tuple[str, ...], words: dict[str, facts_twin.Cell]) -> Iterator[Events]:
    """Yield all lists of facts that connect all names on a grid, in all orders: one fact less than names."""
    facts = [(kind, one, word, other) for one, other in permutations(names, 2) for word in words]
    for events in permutations(facts, len(names) - 1):
        if len({frozenset((event[1], event[3])) for event in events}) < len(events):
            continue
        try:
            found = facts_twin.cells(events)
        except AssertionError:
            continue
        if len(found) == len(names):
            yield events


def walks(events: Events, steps: int) -> Iterator[tuple[str, str]]:
    """Yield all pairs of start and end that a single chain connects, with exactly `steps` facts."""
    for start, end in permutations(sorted(facts_twin.cells(events)), 2):
        found = facts_twin.chains(facts_twin.joined(events), start, end)
        if [len(chain) for chain in found] == [steps]:
            yield start, end


def is_only_way(events: Events, start: str, end: str, steps: int) -> bool:
    """Return whether a way is the only shortest one, even if all adjacent cells were connected."""
    lie = facts_twin.cells(events)
    found = facts_twin.ways(lie, start, end)
    return len(found) == 1 and len(found[0]) == steps + 1 and not shortcuts(lie, found[0])


def shortcuts(lie: dict[str, facts_twin.Cell], way: list[str]) -> list[str]:
    """Return the names in cells through which another way could be as short."""

    def far(one: str, other: str) -> int:
        return abs(lie[one][0] - lie[other][0]) + abs(lie[one][1] - lie[other][1])

    return [one for one in lie if one not in way and far(way[0], one) + far(one, way[-1]) < len(way)]


@pytest.mark.parametrize("places", [3, 4])
def test_rows_of_three_places_are_counted_correctly(places: int) -> None:
    facts = [("lies", a, word, b) for a, b in permutations(HOUSE[:places], 2) for word in facts_twin.MOVES]
    stories = questions = 0
    for events in permutations(facts, 2):
        names = {name for event in events for name in (event[1], event[3])}
        if len(names) != 3 or len({frozenset((event[1], event[3])) for event in events}) < 2:
            continue
        lie = facts_twin.cells(events) if is_laid(events) else {}
        if lie and (len({cell[0] for cell in lie.values()}) == 1 or len({cell[1] for cell in lie.values()}) == 1):
            stories, questions = stories + 1, questions + 4
    assert space(4, places=places) == (stories, questions)


def is_laid(events: Events) -> bool:
    """Return whether all facts can be true with only one name in each cell."""
    try:
        facts_twin.cells(events)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("places", [3, pytest.param(4, marks=pytest.mark.full)])
@pytest.mark.parametrize("faithful", [False, True])
def test_stories_about_ways_are_counted_correctly(places: int, faithful: bool) -> None:
    stories = questions = 0
    for events in layouts("lies", HOUSE[:places], facts_twin.MOVES):
        found = [pair for pair in walks(events, 2) if faithful or is_only_way(events, *pair, 2)]
        stories, questions = stories + bool(found), questions + len(found)
    assert space(19, places=places, faithful=faithful) == (stories, questions)


@pytest.mark.parametrize("faithful", [False, True])
def test_stories_about_positions_are_counted_correctly(faithful: bool) -> None:
    stories = questions = 0
    for events in layouts("stands", SHAPES[:3], facts_twin.SIDES):
        stand = facts_twin.cells(events)
        for start, end in walks(events, 2):
            if faithful or (stand[start][0] != stand[end][0] and stand[start][1] != stand[end][1]):
                questions += len(facts_twin.SIDES)
                stories += start < end
    assert space(17, faithful=faithful) == (stories * 20, questions * 20)  # 20 ways to choose three of six shapes


@pytest.mark.parametrize("task", [4, 19])
def test_every_counted_story_is_generated(task: int) -> None:
    seen = stories(task, 6_000, places=3)

    texts = {tuple(line.text for line in story.lines) for story in seen}
    questions = {(tuple(line.text for line in story.lines), story.asks[0].text) for story in seen}
    assert space(task, places=3) == (len(texts), len(questions))


@pytest.mark.full
@pytest.mark.parametrize("faithful", [False, True])
def test_every_counted_story_about_positions_is_generated(faithful: bool) -> None:
    texts = {tuple(line.text for line in story.lines) for story in stories(17, 100_000, faithful=faithful)}

    counted = space(17, faithful=faithful)
    assert counted is not None and len(texts) == counted.stories


def count_beginnings(people: tuple[str, ...], length: int) -> int:
    """Return how many beginnings of `length` lines exist, found by trying all of them."""
    states = [motive.state for motive in MOTIVES[:4]]
    lines = [(person, what) for person in people for what in (*states, "go", "get")]
    found = 0
    for text in product(lines, repeat=length):
        if len({what for _, what in text if what in states}) < sum(what in states for _, what in text):
            continue
        own = [[what for person, what in text if person == one] for one in people]
        if all(len(done) <= 3 and done[:1] in ([], *([state] for state in states)) for done in own) and all(
            done[1:] == ["go", "get"][: max(0, len(done) - 1)] for done in own
        ):
            found += prod({"go": 5, "get": 4}.get(what, 1) for _, what in text)
    return found


def test_beginnings_of_stories_about_motives_are_counted_correctly() -> None:
    for length in (1, 2, 3):
        assert prefixes(StoryParameters(people=4), length) == count_beginnings(("a", "b", "c", "d"), length)


def test_stories_about_motives_are_the_sum_over_their_lengths() -> None:
    counts = [prefixes(StoryParameters(), length) for length in range(1, 13)]

    assert space(20) == (counts[6] + counts[9] + counts[10] + counts[11], sum(counts))


def test_spaces_that_are_too_large_or_too_complex_are_not_counted() -> None:
    assert space(19, places=9) is None
    assert [space(task, distance=1) for task in (4, 17, 19, 20)] == [None] * 4
    assert space(20, people=3) is None
    assert space(20, faithful=True) is None


def test_the_number_of_trees_on_a_grid_is_correct() -> None:
    """The numbers of trees on a square lattice by edges are from the On-Line Encyclopedia of Integer Sequences."""
    assert [len(grid.trees(cells)) for cells in range(1, 7)] == [1, 2, 6, 22, 87, 364]


@pytest.mark.parametrize("steps", [2, 3, 4, 5])
def test_walks_visit_no_cell_twice_and_only_ways_do_not_touch_themselves(steps: int) -> None:
    every = {tuple(walk) for moves in product(grid.MOVES, repeat=steps) if len(set(walk := path(moves))) == len(walk)}
    assert {walk.cells for walk in grid.walks(steps)} == every
    apart = {
        walk
        for walk in every
        if all(
            abs(one[0] - other[0]) + abs(one[1] - other[1]) > 1
            for (at, one), (upto, other) in combinations(enumerate(walk), 2)
            if upto - at > 1
        )
    }
    assert {walk.cells for walk in grid.only_ways(steps)} == apart


def path(moves: tuple[grid.Cell, ...]) -> list[grid.Cell]:
    """Return the cells that the moves visit."""
    found = [(0, 0)]
    for east, north in moves:
        found.append((found[-1][0] + east, found[-1][1] + north))
    return found


def test_layouts_are_connected_and_contain_no_shortcut_of_their_walk() -> None:
    random = chance()
    for _ in range(proof.size(4_000)):
        walk = random.choice(grid.only_ways(3))
        layout = grid.grown(walk, 9, random, clear=True)
        assert layout.cells[:4] == walk.cells and len(set(layout.cells)) == 9
        assert grid.is_only_way(walk.cells, layout.cells[4:])
        assert all(grid.distance(layout.cells[one], layout.cells[other]) == 1 for one, other, _ in layout.edges)
        assert all(one == number for number, (one, _, _) in enumerate(layout.edges, start=1))
        assert all(grid.distance(*two) == 1 for two in pairwise(walk.cells))
