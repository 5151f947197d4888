"""A slow twin of tasks 4 and 15 to 20: it finds answers from the events of lines and the words of a question.

It follows the definitions of the tasks: it tries every chain of facts, or places everything on a grid. It shares no
code with the engine.

References
----------
Weston et al. 2015, Towards AI-Complete Question Answering, section 3.
"""

import re
from collections.abc import Callable, Iterator, Sequence

Events = Sequence[tuple[str, ...]]
Cell = tuple[int, int]

MOVES = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
SIDES = {"above": (0, 1), "below": (0, -1), "to the right of": (1, 0), "to the left of": (-1, 0)}
LEADS = {
    "bored": "garden",
    "hungry": "kitchen",
    "thirsty": "kitchen",
    "tired": "bedroom",
    "dirty": "bathroom",
    "curious": "library",
    "cold": "attic",
    "musical": "studio",
    "busy": "office",
    "restless": "garage",
    "creative": "workshop",
    "gloomy": "cellar",
}


def read(pattern: str, text: str) -> tuple[str, ...]:
    """Return the names in a question. Fail if the question does not match the pattern."""
    match = re.fullmatch(pattern, text)
    assert match is not None, text
    return match.groups()


def cells(events: Events) -> dict[str, Cell]:
    """Return the cells of all things, found from the facts one by one. The first thing is at (0, 0)."""
    moves = {**MOVES, **SIDES}
    events = [event for event in events if event[0] in ("lies", "stands")]
    found = {events[0][3]: (0, 0)}
    for _ in events:
        for _, one, direction, other in events:
            east, north = moves[direction]
            if other in found:
                found.setdefault(one, (found[other][0] + east, found[other][1] + north))
            if one in found:
                found.setdefault(other, (found[one][0] - east, found[one][1] - north))
    for _, one, direction, other in events:
        assert (found[one][0] - found[other][0], found[one][1] - found[other][1]) == moves[direction]
    assert len(set(found.values())) == len(found), "two in one cell"
    return found


def joined(events: Events) -> list[tuple[str, str]]:
    """Return the two ends of each fact. Facts come before the lines about people."""
    return [(event[1], event[3]) for event in events if event[0] in ("lies", "stands")]


def chains(ends: Sequence[tuple[str, str]], start: str, end: str, seen: tuple[str, ...] = ()) -> Iterator[list[int]]:
    """Yield every chain of facts from start to end as fact numbers. No chain visits anything twice."""
    if start == end:
        yield []
        return
    for number, two in enumerate(ends):
        if start in two:
            after = two[1 - two.index(start)]
            if after not in (*seen, start):
                yield from ([number, *rest] for rest in chains(ends, after, end, (*seen, start)))


def shortest(found: Iterator[list[int]], least: int = 1) -> list[list[int]]:
    """Return the shortest chains of at least `least` facts."""
    every = [chain for chain in found if len(chain) >= least]
    return [chain for chain in every if len(chain) == min(map(len, every))]


def ways(among: dict[str, Cell], start: str, end: str) -> list[list[str]]:
    """Return the shortest ways from start to end over adjacent cells, whether a fact joins them or not."""
    found = [[start]]
    for _ in among:
        there = [way for way in found if way[-1] == end]
        if there:
            return there
        found = [
            [*way, after]
            for way in found
            for after, (east, north) in among.items()
            if after not in way and abs(east - among[way[-1]][0]) + abs(north - among[way[-1]][1]) == 1
        ]
    return []


def relations_of_two(events: Events, text: str) -> tuple[str, list[int]]:
    """Return the answer and the supporting facts of task 4."""
    if text.startswith("Which"):
        direction, place = read(r"Which place lies (\w+) of the (\w+)\?", text)
        wanted = MOVES[direction]
    else:
        place, direction = read(r"The (\w+) lies (\w+) of which place\?", text)
        wanted = (-MOVES[direction][0], -MOVES[direction][1])
    lie = cells(events)
    found = [one for one, cell in lie.items() if cell == (lie[place][0] + wanted[0], lie[place][1] + wanted[1])]
    (line,) = [number for number, event in enumerate(events) if {found[0], place} == {*event[1::2]}]
    assert len(found) == 1
    return found[0], [line]


def deduction(events: Events, text: str) -> tuple[str, list[int]]:
    """Return the answer and the supporting facts of task 15."""
    (name,) = read(r"Of which animal is (\w+) afraid\?", text)
    (own,) = [number for number, event in enumerate(events) if event[:2] == ("is-a", name)]
    (fear,) = [number for number, event in enumerate(events) if event[:2] == ("afraid", events[own][2])]
    return events[fear][2], [own, fear]


def induction(events: Events, text: str) -> tuple[str, list[int]]:
    """Return the answer and the supporting facts of task 16. The last animal of the same kind counts."""
    (name,) = read(r"Which colour is (\w+)\?", text)
    (own,) = [number for number, event in enumerate(events) if event[:2] == ("is-a", name)]
    assert not any(event[:2] == ("coloured", name) for event in events)
    peers = [number for number, event in enumerate(events) if event[0] == "is-a" and event[2] == events[own][2]]
    last = max(number for number in peers if number != own)
    (colour,) = [number for number, event in enumerate(events) if event[:2] == ("coloured", events[last][1])]
    return events[colour][2], [own, last, colour]


def positions(events: Events, text: str) -> tuple[str, list[int]]:
    """Return the answer and the supporting facts of task 17."""
    one, side, other = read(r"Is the (.+?) (above|below|to the right of|to the left of) the (.+)\?", text)
    stand = cells(events)
    east, north = stand[one][0] - stand[other][0], stand[one][1] - stand[other][1]
    (chain,) = shortest(chains(joined(events), one, other))
    return "yes" if east * SIDES[side][0] + north * SIDES[side][1] > 0 else "no", chain


def sizes(events: Events, text: str) -> tuple[str, list[int]]:
    """Return the answer and supporting facts of task 18: of the shortest chains of two or more facts, the first one."""
    pairs = ordered(events)
    if text.startswith("Does"):
        one, other = read(r"Does the (.+) fit inside the (.+)\?", text)
        small, large = one, other
    else:
        one, other = read(r"Is the (.+) bigger than the (.+)\?", text)
        small, large = other, one
    rising = [chain for chain in chains(pairs, one, other) if len({rises(pairs, chain, one)} - {None}) == 1]
    chain = min(shortest(iter(rising), 2))
    smallest = one if rises(pairs, chain, one) else other
    return "yes" if (small, large) == (smallest, other if smallest == one else one) else "no", chain


def ordered(events: Events) -> list[tuple[str, str]]:
    """Return the smaller and the larger thing of each fact about sizes."""
    return [
        (event[1], event[2]) if event[0] == "fits" else (event[2], event[1]) for event in events if event[0] != "go"
    ]


def rises(pairs: Sequence[tuple[str, str]], chain: Sequence[int], start: str) -> bool | None:
    """Return True if a chain goes only from small to large, False if only from large to small, and None otherwise."""
    ups, at = set(), start
    for number in chain:
        ups.add(pairs[number][0] == at)
        at = pairs[number][1] if pairs[number][0] == at else pairs[number][0]
    return ups.pop() if len(ups) == 1 else None


def paths(events: Events, text: str) -> tuple[str, list[int]]:
    """Return the answer and the supporting facts of task 19."""
    start, end = read(r"How does one get from the (\w+) to the (\w+)\?", text)
    lie = cells(events)
    (chain,) = shortest(chains(joined(events), start, end))
    letters, at = [], start
    for number in chain:
        _, one, _, other = events[number]
        after = other if at == one else one
        move = lie[after][0] - lie[at][0], lie[after][1] - lie[at][1]
        letters += [direction[0] for direction in MOVES if MOVES[direction] == move]
        at = after
    return ",".join(letters), chain


def motives(events: Events, text: str) -> tuple[str, list[int]]:
    """Return the answer and the supporting facts of task 20."""
    if text.startswith("Where"):
        (person,) = read(r"Where will (\w+) go\?", text)
        upto = len(events)
    else:
        person, kind, what = read(r"Why did (\w+) (go to|get) the (\w+)\?", text)
        (upto,) = [
            number for number, event in enumerate(events) if event == ("go" if kind == "go to" else "get", person, what)
        ]
    feels = max(number for number in range(upto) if events[number][:2] == ("feels", person))
    state = events[feels][2]
    if text.startswith("Where"):
        assert not any(event[:2] == ("go", person) for event in events[feels:]), "gone already"
        return LEADS[state], [feels]
    return state, [feels]


ANSWER: dict[int, Callable[[Events, str], tuple[str, list[int]]]] = {
    4: relations_of_two,
    15: deduction,
    16: induction,
    17: positions,
    18: sizes,
    19: paths,
    20: motives,
}
