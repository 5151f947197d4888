"""The figures of a study, computed from the answers that count, and a way to detect that the figures have changed."""

import functools
import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import numpy as np
from django.core.cache import cache
from django.db.models import Count, Max, Q
from django.utils import timezone
from numpy.typing import NDArray

from annotations.answering.timing import CountedTime
from annotations.models import Answer, AnswerQuerySet, EasyAnswer, Participant, Study
from generation.engine.content_hash import digest
from generation.engine.items import FacetKind
from generation.engine.scoring.answer_aggregation import Votes, majority
from generation.engine.scoring.figures import Interval, Share, interval_text
from generation.engine.scoring.score import NONE, OUTSIDE, ScoreCounts, Slicing, in_bands, score
from generation.engine.scoring.statistics import Shares, crossed_bootstrap, krippendorff_alpha
from generation.models import from_now
from generation.storage.split_index import IndexedFacet, SplitIndex

HOUR = 3600.0
DASH = "–"  # stands between the lowest and the highest number of a bin
KEPT = 24 * HOUR  # seconds for which bootstrap intervals are cached


@dataclass(frozen=True)
class GatheredAnswers:
    """Answers of a study to questions whose right answer is known.

    Attributes
    ----------
    votes : Votes
        The answers; questions are positions in the study's split, and people are indices of `people`.
    people : tuple of int
        The keys of all participants who gave an answer or a refusal.
    vocabulary : tuple of str
        The answer of each code: the split's vocabulary, followed by the other answers that were given.
    known : int
        The size of the split's vocabulary.
    truth : array (votes.n,) of int64
        The codes of the right answers; `NONE` for a question without one.
    refused : tuple of (position, person, reason)
    keys : tuple of int
        The keys of the stored answers and refusals.
    """

    votes: Votes
    people: tuple[int, ...]
    vocabulary: tuple[str, ...]
    known: int
    truth: NDArray[np.int64]
    refused: tuple[tuple[int, int, str], ...]
    keys: tuple[int, ...]

    @functools.cached_property
    def majority(self) -> NDArray[np.int64]:
        return majority(self.votes)

    @functools.cached_property
    def asked(self) -> NDArray[np.bool_]:
        return np.bincount(self.votes.questions, minlength=self.votes.n) > 0

    @property
    def is_right(self) -> NDArray[np.bool_]:
        return self.votes.answers == self.truth[self.votes.questions]


class AnswerRow(NamedTuple):
    """A stored answer: the position of its question, its participant, its text or refusal, and its key."""

    position: int
    participant: int
    text: str
    refusal: str
    key: int


def gather(study: Study) -> GatheredAnswers:
    return gather_answers(_rows_of(_answers(study).counted()), SplitIndex.open(study.split))


def gather_without(study: Study, sets: Sequence[Collection[int]]) -> list[GatheredAnswers]:
    """Return for each set of participants the answers that would count if exactly these participants were excluded.

    For each question, these are the first answers in order of claim, as many as are wanted. Surplus answers replace the
    answers of excluded participants.
    """
    index, rows = SplitIndex.open(study.split), _rows_of(_answers(study).current())
    return [gather_answers(_first(rows, study.per_question, without=frozenset(out)), index) for out in sets]


def _answers(study: Study) -> AnswerQuerySet:
    return Answer.objects.filter(question__study=study, participant__is_test=False)


def _rows_of(answers: AnswerQuerySet) -> list[AnswerRow]:
    fields = ("question__position", "participant", "text", "refusal", "pk")
    return [AnswerRow(*row) for row in answers.order_by("claimed", "pk").values_list(*fields)]


def _first(rows: Iterable[AnswerRow], most: int, *, without: Collection[int]) -> list[AnswerRow]:
    """Return the first `most` answers to each question, without the answers of the participants `without`."""
    seen: dict[int, int] = {}
    kept = []
    for row in (row for row in rows if row.participant not in without):
        seen[row.position] = seen.get(row.position, 0) + 1
        if seen[row.position] <= most:
            kept.append(row)
    return kept


def gather_answers(rows: Iterable[AnswerRow], index: SplitIndex) -> GatheredAnswers:
    """Return rows of answers as arrays, together with the right answers of the split."""
    truth = index.answers.astype(np.int64)
    truth[truth >= len(index.answer_values)] = NONE
    rows = [row for row in rows if truth[row.position] != NONE]
    codes = {word: code for code, word in enumerate(index.answer_values)}
    for row in rows:
        if row.text:
            codes.setdefault(row.text, len(codes))
    numbers = {key: number for number, key in enumerate(sorted({row.participant for row in rows}))}
    said = [row for row in rows if row.text]
    votes = Votes(
        np.array([row.position for row in said], np.int64),
        np.array([numbers[row.participant] for row in said], np.int64),
        np.array([codes[row.text] for row in said], np.int64),
        index.n,
    )
    refused = tuple((row.position, numbers[row.participant], row.refusal) for row in rows if not row.text)
    keys = tuple(row.key for row in rows)
    return GatheredAnswers(votes, tuple(numbers), tuple(codes), len(index.answer_values), truth, refused, keys)


def predictions_of(found: GatheredAnswers) -> NDArray[np.int64]:
    """Return majority answers as predictions: codes of the split's vocabulary, shape (questions of the split,).

    The value is `TIE` if several answers were given equally often, `OUTSIDE` for an answer outside the vocabulary, and
    `NONE` if nobody was asked or nobody could answer.
    """
    return np.where(found.majority >= found.known, OUTSIDE, found.majority)


# Figures


class Headline(NamedTuple):
    """The main figures of a study.

    Attributes
    ----------
    people, answers, refusals, ties : int
    majority : Share
        The questions whose majority answer is right; a tie is wrong.
    single : Share
        The single answers that are right.
    crossed : Shares or None
        The intervals of both shares, from a bootstrap over questions and participants; None without answers.
    alpha : float or None
        Krippendorff's alpha.
    """

    people: int
    answers: int
    refusals: int
    ties: int
    majority: Share
    single: Share
    crossed: Shares | None
    alpha: float | None

    @property
    def majority_text(self) -> str:
        return "" if self.crossed is None or self.majority.is_too_small else interval_text(self.crossed.majority)

    @property
    def single_text(self) -> str:
        return "" if self.crossed is None or self.single.is_too_small else interval_text(self.crossed.single)


def headline(found: GatheredAnswers) -> Headline:
    """Return the main figures."""
    whole = score(found.majority, found.truth, {}, among=found.asked)
    return Headline(
        people=len(found.people),
        answers=len(found.keys),
        refusals=len(found.refused),
        ties=len(ties(found)),
        majority=Share(int(whole.right), whole.n),
        single=Share(int(found.is_right.sum()), len(found.votes.answers)),
        crossed=_crossed(found),
        alpha=krippendorff_alpha(found.votes),
    )


def ties(found: GatheredAnswers) -> list[int]:
    return np.flatnonzero(found.asked & (found.majority < 0)).tolist()


def _crossed(found: GatheredAnswers) -> Shares | None:
    """Return the bootstrap intervals, from the cache if the answers have not changed; None without answers."""
    arrays = (found.votes.questions, found.votes.people, found.is_right, found.votes.answers)
    key = "study-crossed-" + hashlib.sha256(b"|".join(array.tobytes() for array in arrays)).hexdigest()
    kept: list[list[float]] | None = cache.get(key)
    if kept is None:
        shares = crossed_bootstrap(found.votes, found.truth)
        if shares is None:
            return None
        kept = [list(shares.majority), list(shares.single)]
        cache.set(key, kept, KEPT)
    return Shares(Interval(*kept[0]), Interval(*kept[1]))


class Breakdown(NamedTuple):
    """The accuracy of majority answers for each value of a facet for which there are answers.

    `values` are these values, or bins of values, as they are written in URLs; there is one for each row.
    """

    name: str
    label: str
    rows: list[tuple[str, Share]]
    values: list[str]

    @property
    def parts(self) -> list[tuple[str, str, Share]]:
        return [(value, *row) for value, row in zip(self.values, self.rows, strict=True)]


def break_down(found: GatheredAnswers, facets: Sequence[IndexedFacet]) -> list[Breakdown]:
    """Return the accuracy of majority answers by facet; integers are grouped in bins if the facet has bins."""
    parts = {facet.name: slicing_of(facet) for facet in facets}
    slicings = {name: slicing for name, (slicing, _) in parts.items()}
    scored = score(found.majority, found.truth, slicings, among=found.asked)
    return [_broken_down(facet, scored, parts[facet.name][1]) for facet in facets]


def _broken_down(facet: IndexedFacet, scored: ScoreCounts, labels: Sequence[str]) -> Breakdown:
    part = scored.facets[facet.name]
    rows = zip(values_of(facet), labels, part.right.tolist(), part.n.tolist(), strict=True)
    kept = [(value, label, Share(right, n)) for value, label, right, n in rows if n]
    return Breakdown(facet.name, facet.label, [row[1:] for row in kept], [row[0] for row in kept])


def values_of(facet: IndexedFacet) -> list[str]:
    # The bins of integers are named as in URLs, such as `5..8`.
    is_binned = facet.bins and facet.kind == FacetKind.INTEGER
    return [label.replace(DASH, "..") for label in slicing_of(facet)[1]] if is_binned else list(facet.values)


def within(facet: IndexedFacet, value: str) -> NDArray[np.bool_]:
    """Return which questions belong to a part of a facet, shape (questions,); raise `ValueError` if it is unknown."""
    place = values_of(facet).index(value)
    if facet.kind == FacetKind.FLAGS:
        return facet.allowed([place])[facet.codes]
    return np.equal(slicing_of(facet)[0].codes, place)


def slicing_of(facet: IndexedFacet) -> tuple[Slicing, Sequence[str]]:
    """Return a facet as a slicing, and the label of each part."""
    if not facet.bins or facet.kind != FacetKind.INTEGER:
        return Slicing(facet.codes, len(facet.values), facet.kind == FacetKind.FLAGS), facet.labels
    numbers = [int(value) for value in facet.values]
    bands = list(zip(facet.bins, [*(first - 1 for first in facet.bins[1:]), max(numbers)], strict=True))
    labels = [str(low) if low == high else f"{low}{DASH}{high}" for low, high in bands]
    return in_bands(facet.codes, numbers, bands), labels


class Confusion(NamedTuple):
    """A wrong answer to the questions with one right answer: it was given `times` times in `n` answers to them."""

    right: str
    given: str
    times: int
    n: int


def confusion(found: GatheredAnswers) -> list[Confusion]:
    """Return each pair of a right answer and a wrong answer that was given instead, the most frequent first."""
    pairs: dict[tuple[int, int], int] = {}
    each: dict[int, int] = {}
    for right, given in zip(found.truth[found.votes.questions].tolist(), found.votes.answers.tolist(), strict=True):
        pairs[right, given] = pairs.get((right, given), 0) + 1
        each[right] = each.get(right, 0) + 1
    words = found.vocabulary
    rows = [Confusion(words[a], words[b], times, each[a]) for (a, b), times in pairs.items() if a != b]
    return sorted(rows, key=lambda row: (-row.times, row.right, row.given))


# Progress


class StudyProgress(NamedTuple):
    """Answers and complete questions so far, the wanted number of each, and the number of answers in the last hour."""

    answers: int
    wanted: int
    whole: int
    questions: int
    pace: int


def progress(study: Study) -> StudyProgress:
    """Return the progress of a study; `pace` is the number of answers in the last hour by the database's clock."""
    answers = _answers(study)
    each: Mapping[int, int] = _times(answers.counted().values_list("question", flat=True))
    return StudyProgress(
        answers=sum(each.values()),
        wanted=study.slots.count(),
        whole=sum(times >= study.per_question for times in each.values()),
        questions=study.questions.count(),
        pace=answers.current().filter(received__gte=from_now(-HOUR)).count(),
    )


def _times(keys: Iterable[int]) -> dict[int, int]:
    times: dict[int, int] = {}
    for key in keys:
        times[key] = times.get(key, 0) + 1
    return times


def median_seconds(found: GatheredAnswers, times: CountedTime) -> float | None:
    return median(times.answers.get(key, 0) for key in found.keys) / 1000 if found.keys else None


A_WHILE = 300  # seconds
LETTERS = 20


def state_of(study: Study) -> str:
    """Return a string that changes when an answer arrives, or a participant joins, finishes, is excluded or taken back.

    It needs only a few small queries. It also changes every five minutes, because some figures depend on the time: the
    pace, and which sessions have ended.
    """
    people = Participant.objects.filter(study=study).aggregate(
        n=Count("pk"),
        out=Count("excluded"),
        last_out=Max("excluded"),
        last_back=Max("taken_back"),
        ended=Count("finished"),
        moved=Count("pk", filter=Q(stage=Participant.Stage.COMMENT)),
    )
    answers = Answer.objects.filter(participant__study=study)
    state = [
        study.state,
        {name: str(value) for name, value in people.items()},
        answers.aggregate(last=Max("pk")),
        EasyAnswer.objects.filter(participant__study=study).aggregate(last=Max("pk")),
        int(timezone.now().timestamp()) // A_WHILE,
    ]
    return digest(state)[:LETTERS]
