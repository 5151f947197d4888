"""The answers to each question, and which questions should be reviewed, for example because of a broken picture.

The URL filters the list on the page: `?flag=split&by=type&value=count&right=yes&given=no`. Each parameter is optional.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from annotations.answering.timing import CountedTime
from annotations.models import Answer, Study
from annotations.results.study_statistics import GatheredAnswers, slicing_of, ties, values_of, within
from generation.splits.query_string import BadAddress, QueryString
from generation.storage.split_index import IndexedFacet


class ReviewedQuestion(NamedTuple):
    """A question with its answers, and the reasons to review it, if there are any.

    Attributes
    ----------
    position : int
    right, majority : str
        The right answer and the majority answer; the latter is empty if there is no majority.
    given : list of (answer, times)
        The answers, the most frequent first, and then the reasons why participants could not answer.
    flags : list of str
        The reasons to review the question.
    """

    position: int
    right: str
    majority: str
    given: list[tuple[str, int]]
    flags: list[str]


SPLIT, WRONG, REFUSED = "participants disagree", "all wrong", "could not answer"
FLAGS = {"split": SPLIT, "wrong": WRONG, "refused": REFUSED}  # the names of the flags in URLs


def by_question(found: GatheredAnswers) -> list[ReviewedQuestion]:
    """Return the questions with an answer or a refusal, those with the most flags first."""
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
        rows.append(ReviewedQuestion(position, word, found.vocabulary[most] if most >= 0 else "", given, flags))
    return sorted(rows, key=lambda row: (-len(row.flags), row.position))


class Raw(NamedTuple):
    """A participant's answer or refusal, its time in seconds, and why it does not count (empty if it counts)."""

    pseudonym: str
    text: str
    seconds: float
    aside: str


def raw_answers(
    study: Study, positions: list[int], names: Mapping[int, str], *, times: CountedTime
) -> dict[int, list[Raw]]:
    """Return all current answers to these questions in order of claim, including answers that do not count.

    `names` are the pseudonyms of the participants by their keys, and `times` are the study's counted times. Answers of
    the test link are left out.
    """
    rows = Answer.objects.current().filter(
        question__study=study, question__position__in=positions, participant__is_test=False
    )
    found: dict[int, list[Raw]] = defaultdict(list)
    for row in rows.select_related("question", "participant").order_by("claimed", "pk"):
        aside = (
            "excluded"
            if row.participant.excluded is not None
            else "more than the wanted number"
            if row.slot_id is None
            else ""
        )
        name = names.get(row.participant_id, "")
        found[row.question.position].append(
            Raw(name, row.text or row.get_refusal_display(), times.answers.get(row.pk, 0) / 1000, aside),
        )
    return found


def median_times(study: Study, positions: list[int], *, times: CountedTime) -> dict[int, float]:
    """Return for each question the median counted time of the answers that fill slots, in seconds."""
    counted = Answer.objects.counted().filter(question__study=study, question__position__in=positions)
    found: dict[int, list[int]] = defaultdict(list)
    for position, key in counted.values_list("question__position", "pk"):
        found[position].append(times.answers.get(key, 0))
    return {position: median(each) / 1000 for position, each in found.items()}


FLAG, BY, VALUE, RIGHT, GIVEN = "flag", "by", "value", "right", "given"
NAMES = (FLAG, BY, VALUE, RIGHT, GIVEN)
EVERY = "every"
CHOICES = {"": "any flag", **FLAGS, EVERY: "all questions"}
LONGEST = 60


class ReviewChip(NamedTuple):
    label: str
    query: str  # of the list without this filter


class ReviewFilter(NamedTuple):
    """The filters of a URL.

    Attributes
    ----------
    flag : str
        A key of `CHOICES`.
    among : array (questions,) of bool
        Which questions the other filters select.
    chips : list of ReviewChip
    query : str
        The query string without the number of the page.
    flags : list of (query, label, whether it is active)
    """

    flag: str
    among: NDArray[np.bool_]
    chips: list[ReviewChip]
    query: str
    flags: list[tuple[str, str, bool]]

    def has(self, flags: Sequence[str]) -> bool:
        return self.flag == EVERY or (CHOICES[self.flag] in flags if self.flag else bool(flags))


def read(asked: QueryString, found: GatheredAnswers, facets: Sequence[IndexedFacet]) -> ReviewFilter:
    """Return the filters of a URL; raise `BadAddress` if a facet, value, answer or flag does not exist."""
    kept = {name: value for name in NAMES if (value := asked.value(name))}
    flag = kept.get(FLAG, "")
    _check(flag, list(CHOICES), FLAG)
    among, chips = np.ones(found.votes.n, np.bool_), []
    if BY in kept or VALUE in kept:
        facet, label = _part(kept, facets)
        among &= within(facet, kept[VALUE])
        chips.append(ReviewChip(f"{facet.label}: {label}", _without(kept, BY, VALUE)))
    for name, said in ((RIGHT, "right answer"), (GIVEN, "answer given")):
        if name in kept:
            among &= _with_word(found, name, kept[name])
            chips.append(ReviewChip(f"{said}: {kept[name]}", _without(kept, name)))
    flags = [
        (_without(kept, FLAG) if not name else urlencode(kept | {FLAG: name}), label, name == flag)
        for name, label in CHOICES.items()
    ]
    return ReviewFilter(flag, among, chips, urlencode(kept), flags)


def _part(kept: Mapping[str, str], facets: Sequence[IndexedFacet]) -> tuple[IndexedFacet, str]:
    """Return the facet that the URL names, and the label of the value that it names."""
    by = {facet.name: facet for facet in facets}
    _check(kept.get(BY, ""), list(by), BY)
    facet = by[kept[BY]]
    values = values_of(facet)
    _check(kept.get(VALUE, ""), values, VALUE)
    return facet, slicing_of(facet)[1][values.index(kept[VALUE])]


def _with_word(found: GatheredAnswers, name: str, word: str) -> NDArray[np.bool_]:
    """Return which questions have this right answer, or were given this answer, shape (questions,)."""
    _check(word, list(found.vocabulary), name)
    code = found.vocabulary.index(word)
    if name == RIGHT:
        return np.equal(found.truth, code)
    among = np.zeros(found.votes.n, np.bool_)
    among[found.votes.questions[found.votes.answers == code]] = True
    return among


def _check(word: str, words: Sequence[str], where: str) -> None:
    if word not in words:
        some = ", ".join(one for one in words if one)
        some = some if len(some) <= 10 * LONGEST else f"{some[: 10 * LONGEST]} …"
        raise BadAddress(f"Expected {where} to be one of {some or 'none'}, got {word[:LONGEST] or 'nothing'}.")


def _without(kept: Mapping[str, str], *names: str) -> str:
    return urlencode({name: value for name, value in kept.items() if name not in names})
