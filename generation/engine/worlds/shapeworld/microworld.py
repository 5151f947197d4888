"""A scene with its relations: which entities certainly have a relation to others, and which possibly have it.

References
----------
Kuhnle and Copestake 2017, ShapeWorld, section 3.3; thresholds are those of the original code.
"""

import math
from collections.abc import Callable, Iterator

from generation.engine.worlds.shapeworld.caption_parameters import Thresholds
from generation.engine.worlds.shapeworld.phrases import INVERSES, NEAR_OF_TWO, OF_TWO, SELECTED_BY
from generation.engine.worlds.shapeworld.scene import DIGITS, FlatScene
from generation.engine.worlds.shapeworld.three_valued_logic import FALSE, NOBODY, TRUE, UNCLEAR, Set, Truth

Rows = list[int]  # one mask for each reference
BACKWARDS = frozenset(
    {"right", "below", "front", "smaller", "lighter", "different shape", "different color", "farther"}
)


def members(mask: int) -> Iterator[int]:
    """Yield the positions of a mask's set bits in ascending order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class Microworld:
    """A scene and thresholds; programs run in it.

    Parameters
    ----------
    scene : Scene
    thresholds : Thresholds
    """

    __slots__ = ("_distances", "_rows", "entities", "everything", "scene", "thresholds")

    def __init__(self, scene: FlatScene, thresholds: Thresholds) -> None:
        self.scene = scene
        self.thresholds = thresholds
        self.entities = scene.entities
        self.everything = scene.everything
        self._rows: dict[str, tuple[Rows, Rows]] = {}
        self._distances: list[list[float]] = []

    def of(self, attribute: str, value: str) -> int:
        """Return the mask of entities with this value of `shape` or `color`."""
        return self.scene.having(attribute, value)

    def rows(self, relation: str) -> tuple[Rows, Rows]:
        """Return, for each reference, the mask of entities certainly in the relation to it, and of those possibly."""
        if relation not in self._rows:
            self._rows[relation] = self._both_rows(relation)
        return self._rows[relation]

    def related(self, references: Set, relation: str) -> Set:
        """Return the entities in a relation to at least one reference other than themselves."""
        yes, maybe = self.rows(relation)
        certain = possible = 0
        for number in members(references[0]):
            certain |= yes[number]
        for number in members(references[1]):
            possible |= maybe[number]
        return (certain, possible)

    def unrelated(self, references: Set, relation: str) -> Set:
        """Return the entities that have a reference other than themselves, and are in the relation to none of these."""
        certain, possible = self.related(references, relation)
        return (self.others(references[0]) & ~possible, self.others(references[1]) & ~certain)

    def others(self, mask: int) -> int:
        """Return the mask of entities for which `mask` has another entity."""
        if not mask:
            return 0
        return self.everything if mask & (mask - 1) else self.everything & ~mask

    def near(self, references: Set, comparisons: Set, relation: str) -> Set:
        """Return the entities closer to (or farther from) a reference than a comparison is; the three must differ."""
        certain = possible = 0
        for reference in members(references[1]):
            for other in members(comparisons[1]):
                if reference == other:
                    continue
                yes, maybe = self._nearer(reference, other, relation)
                possible |= maybe
                if references[0] >> reference & 1 and comparisons[0] >> other & 1:
                    certain |= yes
        return (certain, possible)

    def not_near(self, references: Set, comparisons: Set, relation: str) -> Set:
        """Return the entities for which `near` holds with no reference and comparison, if there are two others."""
        certain, possible = self.near(references, comparisons, relation)
        sure, maybe = (self._beside(one, other) for one, other in zip(references, comparisons, strict=True))
        return (sure & ~possible, maybe & ~certain)

    def select(self, scope: Set, selector: str) -> Set:
        """Return the entity of a scope that a selector picks; all are possible if it is unclear or of wrong size."""
        if scope[0] != scope[1] or not _is_number(scope[0], is_two=selector in OF_TWO):
            return (0, scope[1])
        relation = SELECTED_BY[selector]
        return self._best(scope[0], lambda one, other: self.beats(relation, one, other))

    def select_near(self, scope: Set, references: Set, selector: str) -> Set:
        """Return the entity of a scope that is closest to the reference or farthest from it, but not the reference."""
        if not references[1]:
            return NOBODY
        if references[0] != references[1] or scope[0] != scope[1]:
            return (0, scope[1])
        mask = scope[0] & ~references[0]
        if not _is_number(mask, is_two=selector in NEAR_OF_TWO):
            return (0, mask)
        return self._best(mask, self._beats_near(references[0], selector))

    def nearer_than_another(self, scope: int, reference: int, selector: str) -> int:
        """Return the entities of a scope that are clearly closer to the reference, or farther, than at least one other.

        The original program takes each of them for the closest or the farthest.
        """
        beats, numbers = self._beats_near(reference, selector), list(members(scope & ~reference))
        return sum(any(beats(one, other) == TRUE for other in numbers) << one for one in numbers)

    def _beats_near(self, reference: int, selector: str) -> Callable[[int, int], Truth]:
        row = self.distances[reference.bit_length() - 1]
        sign = 1 if SELECTED_BY[selector] == "closer" else -1
        return lambda one, other: _clear(sign * (row[other] - row[one]), self.thresholds.distance)

    def beats(self, relation: str, one: int, other: int) -> Truth:
        """Return the truth of a relation from one entity to another, as selectors use it."""
        if relation in BACKWARDS:
            return self.beats(INVERSES[relation], other, one)
        first, second, parameters = self.entities[one], self.entities[other], self.thresholds
        if relation == "left":
            return _clear(second.x - first.x, parameters.axis)
        if relation == "above":
            return _clear(second.y - first.y, parameters.axis)
        if relation == "bigger":
            return _clear(first.area - second.area, parameters.area) if first.shape == second.shape else UNCLEAR
        return _clear(second.shade - first.shade, parameters.shade) if first.color == second.color else UNCLEAR

    @property
    def distances(self) -> list[list[float]]:
        """The distances between the entities' centres, in world units."""
        if not self._distances:
            places = [(entity.x, entity.y) for entity in self.entities]
            self._distances = [
                [round(math.sqrt((x - a) * (x - a) + (y - b) * (y - b)), DIGITS) for a, b in places] for x, y in places
            ]
        return self._distances

    def _both_rows(self, relation: str) -> tuple[Rows, Rows]:
        if relation in ("left", "right", "above", "below"):
            return self._spatial(relation)
        if relation in ("behind", "front"):
            return self._depth(relation)
        attribute = relation.partition(" ")[2]
        if attribute:
            return self._alike(attribute, same=relation.startswith("same"))
        size = range(len(self.entities))
        truths = [[self.beats(relation, one, other) if one != other else FALSE for one in size] for other in size]
        return [_mask(row, TRUE) for row in truths], [_mask(row, UNCLEAR) for row in truths]

    def _spatial(self, relation: str) -> tuple[Rows, Rows]:
        """Return the entities certainly on a side of each reference, within a right angle, and those possibly."""
        across = relation in ("left", "right")
        sign = 1.0 if relation in BACKWARDS else -1.0
        places = [(e.x, e.y) if across else (e.y, e.x) for e in self.entities]
        least = self.thresholds.axis
        yes, maybe = [], []
        for number, (along, aside) in enumerate(places):
            sure = perhaps = 0
            for other, (x, y) in enumerate(places):
                if other == number:
                    continue
                ahead = round(sign * (x - along), DIGITS)
                if ahead >= -least:
                    perhaps |= 1 << other
                    if ahead > least and ahead > round(abs(y - aside), DIGITS):
                        sure |= 1 << other
            yes.append(sure)
            maybe.append(perhaps)
        return yes, maybe

    def _depth(self, relation: str) -> tuple[Rows, Rows]:
        """Return the entities certainly and possibly behind (or in front of) each reference, from their overlaps."""
        covers, size = self.scene.covers, range(len(self.entities))
        perhaps = [clear | slight for clear, slight in zip(covers, self.scene.grazes, strict=True)]
        if relation == "behind":
            return list(covers), perhaps
        later = [[sum(1 << j for j in size if rows[j] >> i & 1) for i in size] for rows in (covers, perhaps)]
        return later[0], later[1]

    def _alike(self, attribute: str, *, same: bool) -> tuple[Rows, Rows]:
        rows = []
        for number, entity in enumerate(self.entities):
            alike = self.of(attribute, getattr(entity, attribute))
            rows.append((alike if same else self.everything & ~alike) & ~(1 << number))
        return rows, rows

    def _nearer(self, reference: int, other: int, relation: str) -> Set:
        row, sign = self.distances[reference], 1 if relation == "closer" else -1
        yes = maybe = 0
        for one in range(len(self.entities)):
            if one not in (reference, other):
                truth = _clear(sign * (row[other] - row[one]), self.thresholds.distance)
                yes |= (truth == TRUE) << one
                maybe |= (truth != FALSE) << one
        return (yes, maybe)

    def _beside(self, references: int, comparisons: int) -> int:
        """Return the mask of entities for which there are a reference and a comparison, all three different."""
        found = 0
        for one in members(references):
            for other in members(comparisons & ~(1 << one)):
                found |= self.everything & ~(1 << one | 1 << other)
        return found

    def _best(self, mask: int, beats: Callable[[int, int], Truth]) -> Set:
        certain = possible = 0
        numbers = list(members(mask))
        for one in numbers:
            truths = [beats(one, other) for other in numbers if other != one]
            certain |= all(truth == TRUE for truth in truths) << one
            possible |= all(truth != FALSE for truth in truths) << one
        return (certain, possible)


def _is_number(mask: int, *, is_two: bool) -> bool:
    """Return whether a scope has the size that a selector needs: two, or three and more for superlatives."""
    return (mask.bit_count() == 2) if is_two else mask.bit_count() > 2


def _clear(difference: float, threshold: float) -> Truth:
    difference = round(difference, DIGITS)
    return TRUE if difference > threshold else FALSE if difference < -threshold else UNCLEAR


def _mask(truths: list[Truth], least: Truth) -> int:
    return sum(1 << number for number, truth in enumerate(truths) if truth >= least)
