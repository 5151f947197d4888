"""What people said question by question, and which to look at again: as over a broken picture."""

from collections import Counter, defaultdict
from statistics import median
from typing import NamedTuple

from annotations.models import Answer, Study
from annotations.results import Gathered, ties


class Said(NamedTuple):
    """A question, what people said of it, and why to look at it again, if there is a reason.

    Attributes
    ----------
    position : int
    right : str
    given : list of (answer, times)
        The most frequent first; reasons against answering among them.
    flags : list of str
    """

    position: int
    right: str
    given: list[tuple[str, int]]
    flags: list[str]


SPLIT, WRONG, REFUSED = "people split", "all wrong", "could not answer"
FLAGS = {"split": SPLIT, "wrong": WRONG, "refused": REFUSED}  # as addresses call them


def by_question(found: Gathered) -> list[Said]:
    """Return questions that have an answer or a reason against, those with most flags first."""
    said: dict[int, Counter[str]] = defaultdict(Counter)
    refused: dict[int, Counter[str]] = defaultdict(Counter)
    right: Counter[int] = Counter()
    for position, code, is_right in zip(
        found.votes.questions.tolist(), found.votes.answers.tolist(), found.is_right.tolist(), strict=True
    ):
        said[position][found.vocabulary[code]] += 1
        right[position] += is_right
    for position, _, reason in found.refused:
        refused[position][Answer.Refusal(reason).label] += 1
    tied = set(ties(found))
    rows = []
    for position in sorted(said.keys() | refused.keys()):
        flags = [SPLIT] if position in tied else []
        flags += [WRONG] if position in said and not right[position] else []
        flags += [REFUSED] if position in refused else []
        given = [*said[position].most_common(), *refused[position].most_common()]
        word = found.vocabulary[int(found.truth[position])]
        rows.append(Said(position, word, given, flags))
    return sorted(rows, key=lambda row: (-len(row.flags), row.position))


def median_times(study: Study, positions: list[int]) -> dict[int, float]:
    """Return of some questions the median time in seconds that an answer which counts took, with the page visible."""
    counted = Answer.objects.counted().filter(question__study=study, question__position__in=positions)
    times: dict[int, list[int]] = defaultdict(list)
    for position, visible in counted.values_list("question__position", "visible"):
        times[position].append(visible)
    return {position: median(each) / 1000 for position, each in times.items()}
