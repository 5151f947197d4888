"""Conclusions about places, shapes and sizes, from facts that have no order in time."""

from collections.abc import Iterator, Mapping, Sequence

from generation.engine.worlds.babi.reading.possession import Conclusion, Told

STEPS: Mapping[str, tuple[int, int]] = {  # how far the first one lies to the right of the other, and above it
    "north": (0, 1),
    "south": (0, -1),
    "east": (1, 0),
    "west": (-1, 0),
    "to the left of": (-1, 0),
    "to the right of": (1, 0),
    "above": (0, 1),
    "below": (0, -1),
}
LETTERS: Mapping[tuple[int, int], str] = {(0, 1): "n", (0, -1): "s", (1, 0): "e", (-1, 0): "w"}
Step = tuple[int, str, str, tuple[int, int]]
"""A line, its start, its end, and how far the end lies to the right and above."""


def steps(told: Told, kind: str) -> list[Step]:
    """Return the steps that facts of a kind give, in both directions."""
    found: list[Step] = []
    for line, event in told:
        if event[0] == kind:
            _, one, side, other = event
            right, up = STEPS[side]
            found += [(line, other, one, (right, up)), (line, one, other, (-right, -up))]
    return found


def ways(
    known: Sequence[Step], start: str, end: str, *, length: int, been: tuple[str, ...] = ()
) -> Iterator[list[Step]]:
    """Yield every way of `length` steps from one thing to another that visits no thing twice."""
    if length == 0:
        if start == end:
            yield []
        return
    for step in known:
        if step[1] == start and step[2] not in (*been, start):
            for rest in ways(known, step[2], end, length=length - 1, been=(*been, start)):
                yield [step, *rest]


def shortest(known: Sequence[Step], start: str, end: str) -> list[Step] | None:
    """Return the only shortest way from one thing to another, or None if there is none or more than one."""
    for length in range(1, len(known) // 2 + 1):
        found = list(ways(known, start, end, length=length))
        if found:
            return found[0] if len(found) == 1 else None
    return None


def what_lies(told: Told, direction: str, place: str) -> Conclusion | None:
    """Return what lies in a direction of a place."""
    return _neighbour(told, STEPS[direction], place)


def of_what_it_lies(told: Told, place: str, direction: str) -> Conclusion | None:
    """Return the place of which another place lies in a direction."""
    right, up = STEPS[direction]
    return _neighbour(told, (-right, -up), place)


def _neighbour(told: Told, move: tuple[int, int], place: str) -> Conclusion | None:
    found = [(line, other) for line, one, other, by in steps(told, "lies") if one == place and by == move]
    return Conclusion(found[0][1], (found[0][0],)) if len({other for _, other in found}) == 1 else None


def path(told: Told, start: str, end: str) -> Conclusion | None:
    """Return the directions from one place to another."""
    way = shortest(steps(told, "lies"), start, end)
    if way is None:
        return None
    return Conclusion(",".join(LETTERS[by] for _, _, _, by in way), tuple(line for line, *_ in way))


def stands(told: Told, one: str, side: str, other: str) -> Conclusion | None:
    """Return whether a shape is on a side of another; a shape straight above is neither left nor right."""
    way = shortest(steps(told, "stands"), one, other)
    if way is None:
        return None
    right, up = (-sum(by[axis] for _, _, _, by in way) for axis in (0, 1))
    wanted = STEPS[side]
    return Conclusion("yes" if right * wanted[0] + up * wanted[1] > 0 else "no", tuple(line for line, *_ in way))


def fits(told: Told, one: str, other: str) -> Conclusion | None:
    """Return whether a thing fits inside another."""
    return _smaller(told, one, other)


def bigger(told: Told, one: str, other: str) -> Conclusion | None:
    """Return whether a thing is bigger than another."""
    found = _smaller(told, one, other)
    return None if found is None else found._replace(answer="no" if found.answer == "yes" else "yes")


def ordered_by(told: Told, one: str, other: str, lines: Sequence[int]) -> bool:
    """Return whether the facts of exactly these lines form a chain that orders two things."""
    rising = [step for step in _rising(told) if step[0] in lines]
    return any(
        {step[0] for step in way} == set(lines)
        for start, end in ((one, other), (other, one))
        for way in ways(rising, start, end, length=len(set(lines)))
    )


def _rising(told: Told) -> list[Step]:
    """Return the facts about sizes as steps from the smaller thing to the larger one."""
    rising: list[Step] = []
    for line, event in told:
        if event[0] in ("fits", "bigger"):
            small, large = event[1:] if event[0] == "fits" else (event[2], event[1])
            rising.append((line, small, large, (0, 0)))
    return rising


def _smaller(told: Told, one: str, other: str) -> Conclusion | None:
    """Return whether a thing is smaller, by the shortest chain of two or more facts, or the earliest of these."""
    rising = _rising(told)
    for length in range(2, len(rising) + 1):
        up = [("yes", tuple(step[0] for step in way)) for way in ways(rising, one, other, length=length)]
        down = [("no", tuple(step[0] for step in way[::-1])) for way in ways(rising, other, one, length=length)]
        if up or down:
            return Conclusion(*min([*up, *down], key=lambda found: found[1]))
    return None
