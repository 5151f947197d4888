"""Entries: the rows of a board. The runs of a method with the same configuration are one entry, and so are people.

An entry's key names it in URLs: `m5` is method 5, `m5-3-700-` the same method trained on split 3 with 700 examples,
`s9` only submission 9, `h2` human baseline 2 of the split. A `Contender` is an entry with its predictions; it is
compared with people only on the questions that they were asked.
"""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations.models import Baseline
from annotations.results import baseline as people
from annotations.results.baseline import load_digest as people_of
from generation.access import may_see_exact_figures
from generation.engine.scoring.figures import Averaged, Figure, figure, is_too_few
from generation.engine.scoring.ladder import WHOLE
from generation.engine.scoring.score import NONE, Slice, right_of, score
from generation.engine.scoring.weights.reweighting import ReweightedAccuracy, reweighted_accuracy
from generation.models import Split
from generation.reports.reweighting import WeightsSource, weights_of
from generation.reports.scoring import slicing_of, truth_of
from generation.storage.split_index import SplitIndex, open_digest
from webapp.leaderboards import stored_predictions
from webapp.leaderboards.board_lookup import trained_on
from webapp.leaderboards.disclosure import disclosure_budget
from webapp.leaderboards.disclosure.visibility import published_figure
from webapp.leaderboards.method_names import shown_names
from webapp.leaderboards.models import Disclosure, Method, Score, Submission
from webapp.leaderboards.models.submissions import FITTED_ON_HIDDEN, RELATED

NO_RIGHT = Slice(np.zeros(0, np.int64), np.zeros(0, np.int64))


@functools.lru_cache(maxsize=5_000)
def right_by(digest: str, index: str, facet: str) -> Slice:
    opened = open_digest(index)
    return score(codes_on(digest, opened), truth_of(opened), {facet: slicing_of(opened.facets[facet])}).facets[facet]


@functools.lru_cache(maxsize=20_000)
def right_among(digest: str, people: str, index: str) -> float:
    opened = open_digest(index)
    return score(codes_on(digest, opened), truth_of(opened), {}, among=people_of(people).asked).right


@functools.lru_cache(maxsize=20_000)
def reweighted_by(digest: str, source: WeightsSource) -> ReweightedAccuracy | None:
    opened = open_digest(source.split_index)
    return reweighted_accuracy(right_of(codes_on(digest, opened), truth_of(opened)), weights_of(source))


def codes_on(digest: str, opened: SplitIndex) -> NDArray[np.int32]:
    codes = stored_predictions.load(digest).codes
    return codes if len(codes) == opened.n or opened.positions is None else codes[opened.positions]


@functools.lru_cache(maxsize=500)
def people_by(people: str, index: str, facet: str) -> Slice:
    """Return people's right answers by value of a facet, on the questions that they were asked."""
    opened, arrays = open_digest(index), people_of(people)
    if facet not in opened.facets:
        return NO_RIGHT
    slicings = {facet: slicing_of(opened.facets[facet])}
    return score(arrays.predictions, truth_of(opened), slicings, among=arrays.asked).facets[facet]


@functools.lru_cache(maxsize=500)
def people_reweighted_by(people: str, source: WeightsSource) -> ReweightedAccuracy | None:
    arrays = people_of(people)
    is_right = right_of(arrays.predictions, truth_of(open_digest(source.split_index)))
    return reweighted_accuracy(is_right, weights_of(source) * arrays.asked)


def reweighted_figure(found: Sequence[ReweightedAccuracy | None]) -> Figure:
    """Return the reweighted accuracies of some runs as they are shown to those who may see exact figures."""
    runs = [one for one in found if one is not None]
    effective = int(runs[0].effective) if runs else 0
    if is_too_few(effective):
        return Figure(effective, len(found))
    return figure(Averaged(effective, tuple(one.share * effective for one in runs)))._replace(n=runs[0].n)


Codes = NDArray[np.integer]


class Contender(NamedTuple):
    """A row of a board with the predictions of its runs.

    Attributes
    ----------
    key : str
        Its name in URLs.
    label : str
        Its name on pages.
    runs : sequence of array (questions,)
        Codes of the split's vocabulary; `NONE` where nobody was asked.
    is_human : bool
    """

    key: str
    label: str
    runs: Sequence[Codes]
    is_human: bool = False


def asked_positions(contenders: Sequence[Contender]) -> NDArray[np.bool_] | None:
    """Return which questions all people among the contenders were asked, shape (questions,); None without people.

    People answer only a sample, so all contenders are compared on that sample.
    """
    asked = [run != NONE for one in contenders if one.is_human for run in one.runs]
    return functools.reduce(np.logical_and, asked) if asked else None


BEST, LATEST, ALL, EACH = "best", "latest", "all", "each"
CHOICES = {
    BEST: "best of each method",
    LATEST: "latest of each method",
    EACH: "every training size and split",
    ALL: "every submission",
}
KEY = re.compile(r"[hsm][0-9]{1,18}(-[0-9]{0,18}){0,3}")
PEOPLE = "People"

Configuration = tuple[int | None, int | None, int | None]


class Entry(NamedTuple):
    """A row of a board.

    Attributes
    ----------
    key : str
    split : Split
        The split of the board.
    scores : tuple of Score
        One for each run, in order of runs; empty for people, and if answers are withheld.
    baseline : Baseline or None
        The human baseline, if the entry is people.
    trained_on : str
        The split that its runs were trained on, as the visitor may see it.
    disclosure : Disclosure or None
        If answers are withheld: the disclosure that set the published figure.
    parts : mapping of str to int
        If answers are withheld: the best figure on each part of the partition, in thousandths.
    shown_name : str
        The name that its list shows, if that is not the method's name.
    """

    key: str
    split: Split
    scores: tuple[Score, ...] = ()
    baseline: Baseline | None = None
    trained_on: str = ""
    disclosure: Disclosure | None = None
    parts: Mapping[str, int] = MappingProxyType({})
    shown_name: str = ""

    @property
    def is_human(self) -> bool:
        return self.baseline is not None

    @property
    def submissions(self) -> list[Submission]:
        # If answers are withheld, only the run that set the figure is known.
        if self.disclosure is not None:
            return [self.disclosure.submission] if self.disclosure.submission is not None else []
        return [score.submission for score in self.scores]

    @property
    def method(self) -> Method | None:
        return self.submissions[0].method if self.submissions else None

    @property
    def name(self) -> str:
        return PEOPLE if self.method is None else self.shown_name or self.method.name

    @property
    def circumstances(self) -> str:
        """Describe how its runs were made, as far as that is known."""
        if self.baseline is not None:
            one = self.baseline
            answers = "1 answer" if one.per_question == 1 else f"majority of {one.per_question} answers"
            return f"{answers}, {one.people} {'person' if one.people == 1 else 'people'}"
        first = self.submissions[0]
        trained = f"trained on {self.trained_on}" if self.trained_on and not self.is_site_baseline else ""
        size = f"{first.train_size:,} examples" if first.train_size is not None else ""
        seen = f"{first.examples_seen:,} examples seen" if first.examples_seen is not None else ""
        return ", ".join(part for part in (trained, size, seen) if part)

    @property
    def details(self) -> str:
        # how it differs from other rows of its method
        one = f"submission {self.key[1:]}" if self.key.startswith("s") else ""
        return ", ".join(part for part in (self.circumstances, one) if part)

    @property
    def is_site_baseline(self) -> bool:
        return self.method is not None and bool(self.method.baseline)

    @property
    def is_chance(self) -> bool:
        # A guess by chance has no answers to single questions.
        return self.method is not None and self.method.baseline == Method.Baseline.CHANCE

    @property
    def is_deferred(self) -> bool:
        return self.disclosure is not None and not self.disclosure.is_published

    @property
    def made(self) -> str:
        return Method.Made.HUMAN if self.method is None else self.method.made

    @property
    def date(self) -> datetime:
        """Return the date of its latest run or publication."""
        if self.baseline is not None:
            return self.baseline.published
        if self.disclosure is not None:
            return self.disclosure.made
        return max(_finished(score) for score in self.scores)

    @property
    def figure(self) -> Figure:
        if self.disclosure is None:
            return figure(self.averaged)
        return published_figure(self.split.questions if self.baseline is None else self.baseline.asked, self.disclosure)

    @property
    def averaged(self) -> Averaged:
        if self.baseline is not None:
            return Averaged(self.baseline.asked, (self.baseline.right,))
        return Averaged(self.scores[0].n, tuple(score.right for score in self.scores))

    @property
    def configuration(self) -> Configuration:
        return self.submissions[0].configuration if self.submissions else (None, None, None)

    def runs(self) -> list[NDArray[np.int32]]:
        # an array (questions,) of codes for each run; `NONE` where people were not asked
        if self.baseline is not None:
            return [people.load(self.baseline).predictions]
        return [stored_predictions.codes_for(submission, self.split) for submission in self.submissions]

    def reweighted(self, source: WeightsSource) -> Figure:
        # The caller checks that the visitor may see exact figures.
        if self.baseline is not None:
            return reweighted_figure([people_reweighted_by(self.baseline.digest, source)])
        return reweighted_figure([reweighted_by(one.predictions, source) for one in self.submissions])

    def asked(self) -> NDArray[np.bool_] | None:
        return None if self.baseline is None else people.load(self.baseline).asked  # shape (questions,)


def entries_of(user: Any, split: Split, *, choose: str = BEST) -> list[Entry]:
    """Return the entries of a split's board that a visitor may see, the most accurate first, people before models.

    Parameters
    ----------
    user : account or anonymous
    split : Split
        With its dataset and parent.
    choose : str
        `best`: for each method its best configuration by mean accuracy; `latest`: that of its latest submission; `all`:
        each submission separately; `each`: all configurations of each method. Of several submissions of a run, the last
        counts, except with `all`. If answers are withheld, each method has one row in any case.
    """
    if not may_see_exact_figures(user, split):
        return distinguish(_published_entries(user, split))
    scores = Score.objects.known_to(user, split)
    models = [_entry(user, f"s{score.submission_id}", split, (score,)) for score in scores]
    if choose != ALL:
        models = together(user, split, scores)
    if choose in (BEST, LATEST):
        models = choose_entries(models, choose=choose)
    return distinguish([*human_entries(split), *sorted(models, key=order_of)])


def distinguish(entries: Iterable[Entry]) -> list[Entry]:
    # In one list, methods whose names look the same are shown with their numbers.
    found = list(entries)
    names = shown_names(entry.method for entry in found if entry.method is not None)
    return [one if one.method is None else one._replace(shown_name=names[one.method.pk]) for one in found]


def _published_entries(user: Any, split: Split) -> list[Entry]:
    """Return the rows of a board with withheld answers, by figure, then by date and name."""
    known = Submission.objects.filter(~FITTED_ON_HIDDEN, method__in=Method.objects.visible_to(user))
    rows = Disclosure.objects.filter(split=split, submission__in=known)
    rows = rows.select_related(*(f"submission__{name}" for name in RELATED))
    found: dict[int, Disclosure] = {}
    parts: dict[int, Mapping[str, int]] = {}
    partition = disclosure_budget.plan_of(split).partition
    for row in rows.order_by("pk"):
        assert row.submission is not None
        if partition and row.partition == partition:
            parts[row.submission.method_id] = row.part_figures  # these figures never get lower
        if row.is_new or (row.figure is None and row.submission.method_id not in found):
            found[row.submission.method_id] = row
    models = [
        Entry(
            key_of(method, row.submission.configuration),
            split,
            trained_on=trained_on(user, row.submission),
            disclosure=row,
            parts=parts.get(method, {}),
        )
        for method, row in found.items()
        if row.submission is not None
    ]
    people = Disclosure.objects.filter(split=split, people__isnull=False)
    figures = {row.people_id: row for row in people}
    humans = [one._replace(disclosure=figures.get(one.baseline.pk)) for one in human_entries(split) if one.baseline]
    return [
        *(one for one in humans if one.disclosure is not None),
        *sorted(models, key=_published_order),
    ]


def _published_order(entry: Entry) -> Any:
    share = entry.figure.share
    return (share is None, -share_of(entry), entry.date, entry.name.casefold(), entry.key)


def together(user: Any, split: Split, scores: Iterable[Score]) -> list[Entry]:
    """Return one entry for each method and configuration, with the latest submission of each run."""
    found: dict[tuple[int, Configuration], dict[str, Score]] = {}
    for row in scores:  # in order of time
        submission = row.submission
        found.setdefault((submission.method_id, submission.configuration), {})[submission.run] = row
    return [
        _entry(user, key_of(method, configuration), split, tuple(runs[run] for run in sorted(runs)))
        for (method, configuration), runs in found.items()
    ]


def _entry(user: Any, key: str, split: Split, scores: tuple[Score, ...]) -> Entry:
    return Entry(key, split, scores, trained_on=trained_on(user, scores[0].submission))


def choose_entries(entries: Sequence[Entry], *, choose: str) -> list[Entry]:
    """Return one entry for each method: its best or its latest."""
    found: dict[int, Entry] = {}
    for entry in entries:
        assert entry.method is not None
        other = found.get(entry.method.pk)
        if other is None or _precedes(entry, other, choose=choose):
            found[entry.method.pk] = entry
    return list(found.values())


def _precedes(one: Entry, other: Entry, *, choose: str) -> bool:
    if choose == LATEST:
        return one.date > other.date
    return (share_of(one), one.date) > (share_of(other), other.date)


def share_of(entry: Entry) -> Fraction:
    if entry.disclosure is not None:
        return Fraction(entry.disclosure.figure or 0, WHOLE)
    return entry.averaged.exact_mean


def order_of(entry: Entry) -> Any:
    return (-share_of(entry), entry.date, entry.key)


def human_entries(split: Split) -> list[Entry]:
    # A question set does not show the human entries of its parent.
    return [Entry(f"h{row.number}", split, baseline=row) for row in people.published_baselines(split)]


def find_entry(user: Any, split: Split, key: str) -> Entry | None:
    """Return the entry with this key if the visitor may see it, otherwise None."""
    if not KEY.fullmatch(key):
        return None
    if not may_see_exact_figures(user, split):
        return next((entry for entry in _published_entries(user, split) if entry.key == key), None)
    if key.startswith("h"):
        return next((entry for entry in human_entries(split) if entry.key == key), None)
    number = int(key[1:].partition("-")[0])
    scores = Score.objects.known_to(user, split)
    if key.startswith("s"):
        return next((_entry(user, key, split, (one,)) for one in scores.filter(submission=number)), None)
    found = together(user, split, scores.filter(submission__method=number))
    exact = next((entry for entry in found if entry.key == key), None)
    return exact if exact is not None or "-" in key or not found else choose_entries(found, choose=BEST)[0]


def key_of(method: int, configuration: Configuration) -> str:
    if configuration == (None, None, None):
        return f"m{method}"
    return f"m{method}-" + "-".join("" if part is None else str(part) for part in configuration)


def _finished(score: Score) -> datetime:
    assert score.submission.finished is not None
    return score.submission.finished
