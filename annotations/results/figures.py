"""Figures of a study, computed from the answers that count, each with its n; and whether any of them changed."""

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
from generation.engine.canonical import digest
from generation.engine.items import FacetKind
from generation.engine.scoring.figures import Share, interval_text
from generation.engine.scoring.score import NONE, OUTSIDE, Score, Slicing, banded, score
from generation.engine.scoring.statistics import Interval, Shares, crossed_bootstrap, krippendorff_alpha
from generation.engine.scoring.votes import Votes, majority
from generation.models import from_now
from generation.storage.index import IndexedFacet, SplitIndex

HOUR = 3600.0
DASH = "–"  # between the ends of a bin
KEPT = 24 * HOUR  # seconds for which an interval that took long to find is remembered


@dataclass(frozen=True)
class Gathered:
    """Answers of a study to questions whose right answer is known.

    Attributes
    ----------
    votes : Votes
        Questions are positions in the study's split; people are numbered in the order of `people`.
    people : tuple of int
        Participants' keys: everybody who gave an answer or a reason against.
    vocabulary : tuple of str
        What codes mean: the split's vocabulary, and after it whatever else was answered.
    known : int
        How many of these are the split's.
    truth : array (votes.n,) of int64
        The right answers' codes, `NONE` where there is none.
    refused : tuple of (position, person, reason)
    keys : tuple of int
        Of the answers and refusals, as they are stored.
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
        """Return (votes.n,) what most people say of each question, `TIE` and `NONE` as `engine.votes` has them."""
        return majority(self.votes)

    @functools.cached_property
    def asked(self) -> NDArray[np.bool_]:
        return np.bincount(self.votes.questions, minlength=self.votes.n) > 0

    @property
    def is_right(self) -> NDArray[np.bool_]:
        return self.votes.answers == self.truth[self.votes.questions]


class AnswerRow(NamedTuple):
    """An answer as it is read: to which question, by whom, what, why not, and its key."""

    position: int
    participant: int
    text: str
    refusal: str
    key: int


def gather(study: Study, *, everyone: bool = False) -> Gathered:
    """Return the answers that count; with `everyone`, those that would had nobody been excluded."""
    if everyone:
        return gather_without(study, [()])[0]
    return gathered(_rows_of(_answers(study).counted()), SplitIndex.open(study.split))


def gather_without(study: Study, sets: Sequence[Collection[int]]) -> list[Gathered]:
    """Return the answers that would count, had exactly these participants been left out: for each set of them.

    Of each question it is the first valid answers, as many as are wanted, in order of claim: surplus fills the places
    of those who are left out.
    """
    index, rows = SplitIndex.open(study.split), _rows_of(_answers(study).current())
    return [gathered(_first(rows, study.per_question, without=frozenset(out)), index) for out in sets]


def _answers(study: Study) -> AnswerQuerySet:
    return Answer.objects.filter(question__study=study, participant__is_test=False)


def _rows_of(answers: AnswerQuerySet) -> list[AnswerRow]:
    fields = ("question__position", "participant", "text", "refusal", "pk")
    return [AnswerRow(*row) for row in answers.order_by("claimed", "pk").values_list(*fields)]


def _first(rows: Iterable[AnswerRow], most: int, *, without: Collection[int]) -> list[AnswerRow]:
    """Return of each question the first answers but some people's, as many as are wanted."""
    seen: dict[int, int] = {}
    kept = []
    for row in (row for row in rows if row.participant not in without):
        seen[row.position] = seen.get(row.position, 0) + 1
        if seen[row.position] <= most:
            kept.append(row)
    return kept


def gathered(rows: Iterable[AnswerRow], index: SplitIndex) -> Gathered:
    """Return rows as arrays, held against a split."""
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
    return Gathered(votes, tuple(numbers), tuple(codes), len(index.answer_values), truth, refused, keys)


def baseline(study: Study) -> NDArray[np.int64]:
    """Return (questions of the split,) people's majority as predictions, as codes of the split's vocabulary.

    `TIE` where several answers were given equally often, `OUTSIDE` for a word that the vocabulary doesn't have,
    `NONE` where nobody was asked or nobody could answer.
    """
    return predictions_of(gather(study))


def predictions_of(found: Gathered) -> NDArray[np.int64]:
    """Return (questions of the split,) the majority of answers as predictions, as `baseline` has them."""
    return np.where(found.majority >= found.known, OUTSIDE, found.majority)


# Figures


class Headline(NamedTuple):
    """How right people are.

    Attributes
    ----------
    people, answers, refusals, ties : int
    majority : Share
        Of questions; a tie is wrong.
    single : Share
        Of answers.
    crossed : Shares or None
        Both shares' intervals over questions and people drawn anew; None of nothing.
    alpha : float or None
        Krippendorff's.
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
        """Return the bootstrap interval of majority votes for people; nothing where there are too few questions."""
        return "" if self.crossed is None or self.majority.is_too_small else interval_text(self.crossed.majority)

    @property
    def single_text(self) -> str:
        """Return the bootstrap interval of single answers for people; nothing where there are too few."""
        return "" if self.crossed is None or self.single.is_too_small else interval_text(self.crossed.single)


def headline(found: Gathered) -> Headline:
    """Return the figures that stand on top."""
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


def ties(found: Gathered) -> list[int]:
    return np.flatnonzero(found.asked & (found.majority < 0)).tolist()


def _crossed(found: Gathered) -> Shares | None:
    """Return the bootstrap's intervals, found once for the same answers."""
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
    """A facet, and how right majority votes are on each of its values that was asked about.

    `values` are these values, or bins of them, as addresses write them: as many as there are rows.
    """

    name: str
    label: str
    rows: list[tuple[str, Share]]
    values: list[str]

    @property
    def parts(self) -> list[tuple[str, str, Share]]:
        return [(value, *row) for value, row in zip(self.values, self.rows, strict=True)]


def break_down(found: Gathered, facets: Sequence[IndexedFacet]) -> list[Breakdown]:
    """Return how right majority votes are by facets, with integers in bins where they have bins."""
    parts = {facet.name: sliced(facet) for facet in facets}
    slicings = {name: slicing for name, (slicing, _) in parts.items()}
    scored = score(found.majority, found.truth, slicings, among=found.asked)
    return [_broken_down(facet, scored, parts[facet.name][1]) for facet in facets]


def _broken_down(facet: IndexedFacet, scored: Score, labels: Sequence[str]) -> Breakdown:
    part = scored.facets[facet.name]
    rows = zip(values_of(facet), labels, part.right.tolist(), part.n.tolist(), strict=True)
    kept = [(value, label, Share(right, n)) for value, label, right, n in rows if n]
    return Breakdown(facet.name, facet.label, [row[1:] for row in kept], [row[0] for row in kept])


def values_of(facet: IndexedFacet) -> list[str]:
    """Return what addresses call the parts that a facet is broken down into: values, or bins as `5..8`."""
    is_binned = facet.bins and facet.kind == FacetKind.INTEGER
    return [label.replace(DASH, "..") for label in sliced(facet)[1]] if is_binned else list(facet.values)


def within(facet: IndexedFacet, value: str) -> NDArray[np.bool_]:
    """Return (questions,) which belong to a part of a facet; raise `ValueError` for one that there isn't."""
    place = values_of(facet).index(value)
    if facet.kind == FacetKind.FLAGS:
        return facet.allowed([place])[facet.codes]
    return np.equal(sliced(facet)[0].codes, place)


def sliced(facet: IndexedFacet) -> tuple[Slicing, Sequence[str]]:
    """Return a facet to break down by, and what each part is called."""
    if not facet.bins or facet.kind != FacetKind.INTEGER:
        return Slicing(facet.codes, len(facet.values), facet.kind == FacetKind.FLAGS), facet.labels
    numbers = [int(value) for value in facet.values]
    bands = list(zip(facet.bins, [*(first - 1 for first in facet.bins[1:]), max(numbers)], strict=True))
    labels = [str(low) if low == high else f"{low}{DASH}{high}" for low, high in bands]
    return banded(facet.codes, numbers, bands), labels


class Confused(NamedTuple):
    """An answer that was given in place of the right one: how often, of so many answers to such questions."""

    right: str
    given: str
    times: int
    n: int


def confusion(found: Gathered) -> list[Confused]:
    """Return which wrong answers were given to questions with which right ones, the most frequent first."""
    pairs: dict[tuple[int, int], int] = {}
    each: dict[int, int] = {}
    for right, given in zip(found.truth[found.votes.questions].tolist(), found.votes.answers.tolist(), strict=True):
        pairs[right, given] = pairs.get((right, given), 0) + 1
        each[right] = each.get(right, 0) + 1
    words = found.vocabulary
    rows = [Confused(words[a], words[b], times, each[a]) for (a, b), times in pairs.items() if a != b]
    return sorted(rows, key=lambda row: (-row.times, row.right, row.given))


# How far it is


class StudyProgress(NamedTuple):
    """How many answers are in of how many that are wanted, questions that have all of theirs, answers an hour."""

    answers: int
    wanted: int
    whole: int
    questions: int
    pace: int


def progress(study: Study) -> StudyProgress:
    """Return how far a study is; its pace is what came in the last hour, by the database's clock."""
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


def median_seconds(found: Gathered, times: CountedTime) -> float | None:
    """Return the median of the counted times of some answers, in seconds; None of nothing."""
    return median(times.answers.get(key, 0) for key in found.keys) / 1000 if found.keys else None


A_WHILE = 300  # seconds
LETTERS = 20


def state_of(study: Study) -> str:
    """Return a word that is another one once an answer came, somebody moved on or was left out or taken back.

    It takes three small queries. Every five minutes it changes anyhow, for some figures change with time: the pace, and
    which sessions are over.
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
