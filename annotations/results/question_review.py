"""What people said question by question, and which to look at again: as over a broken picture."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from statistics import median
from typing import NamedTuple

from annotations.answering.timing import Counted
from annotations.models import Answer, Study
from annotations.results.figures import Gathered, ties


class Said(NamedTuple):
    """A question, what people said of it, and why to look at it again, if there is a reason.

    Attributes
    ----------
    position : int
    right, majority : str
        The right answer, and what most people say; the latter is empty where there is no such thing.
    given : list of (answer, times)
        The most frequent first; reasons against answering among them.
    flags : list of str
    """

    position: int
    right: str
    majority: str
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
        most = int(found.majority[position])
        rows.append(Said(position, word, found.vocabulary[most] if most >= 0 else "", given, flags))
    return sorted(rows, key=lambda row: (-len(row.flags), row.position))


class Raw(NamedTuple):
    """One person's answer: of whom, what, or why none, in how many seconds, and why it doesn't count if it doesn't."""

    pseudonym: str
    text: str
    seconds: float
    aside: str


def raw_answers(
    study: Study, positions: list[int], names: Mapping[int, str], *, times: Counted
) -> dict[int, list[Raw]]:
    """Return the answers to some questions as they were given, in order of claim, those that don't count among them.

    `names` are the pseudonyms of participants by their keys, `times` the study's counted times. Answers by the test
    link are left out.
    """
    rows = Answer.objects.current().filter(
        question__study=study, question__position__in=positions, participant__is_test=False
    )
    found: dict[int, list[Raw]] = defaultdict(list)
    for row in rows.select_related("question", "participant").order_by("claimed", "pk"):
        aside = "left out" if row.participant.excluded is not None else "surplus" if row.slot_id is None else ""
        name = names.get(row.participant_id, "")
        found[row.question.position].append(
            Raw(name, row.text or row.get_refusal_display(), times.answers.get(row.pk, 0) / 1000, aside),
        )
    return found


def median_times(study: Study, positions: list[int], *, times: Counted) -> dict[int, float]:
    """Return for some questions the median of the counted times of the answers that fill slots, in seconds."""
    counted = Answer.objects.counted().filter(question__study=study, question__position__in=positions)
    found: dict[int, list[int]] = defaultdict(list)
    for position, key in counted.values_list("question__position", "pk"):
        found[position].append(times.answers.get(key, 0))
    return {position: median(each) / 1000 for position, each in found.items()}
