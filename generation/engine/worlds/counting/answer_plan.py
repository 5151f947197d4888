"""The plan of answers: the type and the answer of each question of a chunk, fixed before statements and scenes.

Answers of a split follow one endless sequence, in which each answer of each type is spread evenly, so that any long
stretch of it has the wanted shares. A chunk takes its stretch, shuffles it, and distributes it over its scenes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import Exhausted
from generation.engine.seeding import Stream
from generation.engine.worlds.counting.spec import BESIDE, CountingSpec
from generation.engine.worlds.counting.statements import COMPLEX, SIMPLE

CHUNK = 77  # scenes; 43 chunks have the 3,311 questions of a grounding split, so its numbers are exact
SWAPS = 10_000


class PlannedQuestion(NamedTuple):
    """The type and the answer of a question."""

    kind: str
    answer: int


def wanted_shares(spec: CountingSpec) -> dict[PlannedQuestion, float]:
    """Return the share of each type and answer that is above 0."""
    asked = spec.questions
    kinds = {SIMPLE: 1.0 - asked.complex_share, COMPLEX: asked.complex_share}
    found = {
        PlannedQuestion(kind, answer): of_kind * share
        for kind, of_kind in kinds.items()
        for answer, share in enumerate(asked.shares)
    }
    return {planned: share for planned, share in found.items() if share > 0.0}


def plan_chunk(spec: CountingSpec, number: int, chance: Stream) -> list[list[PlannedQuestion]]:
    """Return the types and answers of the questions of each of a chunk's `CHUNK` scenes.

    Raises
    ------
    Exhausted
        If no way was found to distribute large answers over scenes that have too few objects for two of them.
    """
    each, shares = spec.questions.per_scene, wanted_shares(spec)
    cells, all_planned = spread(list(shares.values()), first=number * CHUNK * each, count=CHUNK * each), list(shares)
    planned = [all_planned[cell] for cell in cells.tolist()]
    chance.shuffle(planned)
    scenes = [planned[start : start + each] for start in range(0, len(planned), each)]
    _make_room(scenes, spec.scene.objects_max, chance)
    return scenes


def spread(shares: list[float], *, first: int, count: int) -> NDArray[np.int64]:
    """Return a stretch of the endless sequence of numbers in which number `i` has the share `shares[i]`.

    The k-th occurrence of number `i`, from 0, has the key (k + 1/2) / shares[i], and the sequence is sorted by keys.
    So its first n numbers are the result of Sainte-Laguë's method for n seats.

    Parameters
    ----------
    shares : list of float
        Above 0; the sum is one.
    first, count : int
        Where the stretch starts, and its length.

    Returns
    -------
    (count,) int64
    """
    each = np.array(shares)
    low, high = first - len(shares), first + count + len(shares)  # the stretch has keys between these
    starts = np.maximum(np.ceil(low * each - 0.5), 0).astype(np.int64)
    counts = np.ceil(high * each + 0.5).astype(np.int64) - starts
    numbers = np.repeat(np.arange(len(shares)), counts)
    occurrences = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts - starts, counts)
    order = np.lexsort((numbers, (occurrences + 0.5) / each[numbers]))
    at = first - int(starts.sum())
    return numbers[order][at : at + count]


def most_in_chunk(share: float, *, questions: int, cells: int) -> int:
    """Return the largest possible number of a chunk's questions that have a type and answer with this share.

    `cells` is the number of pairs of type and answer that have a share.
    """
    return int((questions + cells) * share + 1.0)


def objects_needed(planned: PlannedQuestion) -> int:
    """Return how many objects a question may need: the counted ones, and `BESIDE` more for a relation."""
    return planned.answer + (BESIDE if planned.kind == COMPLEX else 0)


def _make_room(scenes: list[list[PlannedQuestion]], room: int, chance: Stream) -> None:
    """Swap questions between scenes until the questions of each scene need at most `room` objects."""
    for scene in scenes:
        for _ in range(SWAPS):
            if _need(scene) <= room:
                break
            other, mine, theirs = chance.choice(scenes), chance.below(len(scene)), chance.below(len(scene))
            gain = objects_needed(scene[mine]) - objects_needed(other[theirs])
            if other is not scene and gain > 0 and _need(other) + gain <= room:
                scene[mine], other[theirs] = other[theirs], scene[mine]
        else:
            raise Exhausted(
                f"Expected scenes of at most {room} objects with {len(scene)} questions each, got answers that are too "
                "large for this: raise scene.objects_max, lower questions.per_scene, or give small answers in "
                "questions.shares a larger share.",
                where="questions.shares",
                count=SWAPS,
            )


def _need(scene: list[PlannedQuestion]) -> int:
    return sum(map(objects_needed, scene))
