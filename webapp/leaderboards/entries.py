"""Entries: what stands on a board as one row. Runs of a method under the same circumstances are one; people are one.

An entry's key names it in addresses: `m5` method 5, `m5-3-700-` the same trained on split 3 with 700 examples, `s9` the
one submission 9, `h2` the human baseline 2 of the split.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations import baseline as people
from annotations.models import Baseline
from generation.engine.statistics import Averaged
from generation.models import Split
from webapp.leaderboards import predictions
from webapp.leaderboards.figures import exact_share, is_coarse
from webapp.leaderboards.models import Method, Score, Submission
from webapp.leaderboards.training import trained_on

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
        Whose board it is.
    scores : tuple of Score
        One for each run, in order of runs; none of people.
    baseline : Baseline or None
        Of people.
    trained_on : str
        The split that its runs were trained on, as whoever reads the board may be told of it.
    """

    key: str
    split: Split
    scores: tuple[Score, ...] = ()
    baseline: Baseline | None = None
    trained_on: str = ""

    @property
    def is_human(self) -> bool:
        """Return whether it is people's."""
        return self.baseline is not None

    @property
    def submissions(self) -> list[Submission]:
        """Return its runs."""
        return [score.submission for score in self.scores]

    @property
    def method(self) -> Method | None:
        """Return whose runs they are; None of people."""
        return self.scores[0].submission.method if self.scores else None

    @property
    def name(self) -> str:
        """Return what it is called."""
        return self.scores[0].submission.method.name if self.scores else PEOPLE

    @property
    def circumstances(self) -> str:
        """Return in words how its runs came about, where they say so."""
        if self.baseline is not None:
            one = self.baseline
            answers = "1 answer" if one.per_question == 1 else f"majority of {one.per_question} answers"
            return f"{answers}, {one.people} {'person' if one.people == 1 else 'people'}"
        first = self.scores[0].submission
        trained = f"trained on {self.trained_on}" if self.trained_on and not self.is_site_baseline else ""
        size = f"{first.train_size:,} examples" if first.train_size is not None else ""
        seen = f"{first.examples_seen:,} seen" if first.examples_seen is not None else ""
        return ", ".join(part for part in (trained, size, seen) if part)

    @property
    def is_site_baseline(self) -> bool:
        """Return whether it is one of the baselines that every split has."""
        return self.method is not None and bool(self.method.baseline)

    @property
    def made(self) -> str:
        """Return how it was made, as `Method.Made` names it."""
        return Method.Made.HUMAN if self.method is None else self.method.made

    @property
    def date(self) -> datetime:
        """Return when the last of it came."""
        if self.baseline is not None:
            return self.baseline.published
        return max(_finished(score) for score in self.scores)

    @property
    def averaged(self) -> Averaged:
        """Return how many questions its runs have right; of people, of those that they were asked."""
        if self.baseline is not None:
            return Averaged(self.baseline.asked, (self.baseline.right,))
        return Averaged(self.scores[0].n, tuple(score.right for score in self.scores))

    @property
    def configuration(self) -> Configuration:
        """Return what its runs have in common."""
        return self.scores[0].submission.configuration if self.scores else (None, None, None)

    def runs(self, *, read: bool = False) -> list[NDArray[np.int32]]:
        """Return its predictions, an array (questions,) of codes for each run; `NONE` where people weren't asked.

        With `read`, answers are read out of free text too.
        """
        if self.baseline is not None:
            return [people.load(self.baseline).predictions]
        return [predictions.codes_for(submission, self.split, read=read) for submission in self.submissions]

    def asked(self) -> NDArray[np.bool_] | None:
        """Return which questions it answered, (questions,); None for all."""
        return None if self.baseline is None else people.load(self.baseline).asked


def entries_of(user: Any, split: Split, *, choose: str = BEST) -> list[Entry]:
    """Return what somebody sees on a split's board, the most accurate first, people before models.

    Parameters
    ----------
    user : account or anonymous
    split : Split
        With its dataset and parent.
    choose : str
        `best`: of each method the circumstances with the highest mean; `latest`: those of its last submission; `all`:
        each submission by itself; `each`: all circumstances of each method. Of several submissions of one run, the last
        one counts, but with `all` every one.
    """
    scores = Score.objects.on(split).filter(submission__method__in=Method.objects.visible_to(user))
    models = [_entry(user, f"s{score.submission_id}", split, (score,)) for score in scores]
    coarse = is_coarse(user, split)
    if choose != ALL:
        models = together(user, split, scores)
    if choose in (BEST, LATEST):
        models = chosen(models, choose=choose, coarse=coarse)
    return [*human_entries(split), *sorted(models, key=lambda entry: order_of(entry, coarse=coarse))]


def together(user: Any, split: Split, scores: Iterable[Score]) -> list[Entry]:
    """Return one entry for each method and circumstances, with the last submission of each run."""
    found: dict[tuple[int, Configuration], dict[str, Score]] = {}
    for score in scores:  # in the order in which they came
        submission = score.submission
        found.setdefault((submission.method_id, submission.configuration), {})[submission.run] = score
    return [
        _entry(user, key_of(method, configuration), split, tuple(runs[run] for run in sorted(runs)))
        for (method, configuration), runs in found.items()
    ]


def _entry(user: Any, key: str, split: Split, scores: tuple[Score, ...]) -> Entry:
    return Entry(key, split, scores, trained_on=trained_on(user, scores[0].submission))


def chosen(entries: Sequence[Entry], *, choose: str, coarse: bool) -> list[Entry]:
    """Return one entry for each method: its best, as far as it may be told, or its latest."""
    found: dict[int, Entry] = {}
    for entry in entries:
        assert entry.method is not None
        other = found.get(entry.method.pk)
        if other is None or _precedes(entry, other, choose=choose, coarse=coarse):
            found[entry.method.pk] = entry
    return list(found.values())


def _precedes(one: Entry, other: Entry, *, choose: str, coarse: bool) -> bool:
    if choose == LATEST:
        return one.date > other.date
    return (share_of(one, coarse=coarse), one.date) > (share_of(other, coarse=coarse), other.date)


def share_of(entry: Entry, *, coarse: bool) -> Fraction:
    """Return the mean share of an entry, as finely as it may be told; 0 of nothing."""
    return exact_share(entry.averaged, coarse=coarse)


def order_of(entry: Entry, *, coarse: bool) -> Any:
    """Return where an entry stands among models: by accuracy, then by who came first."""
    return (-share_of(entry, coarse=coarse), entry.date, entry.key)


def human_entries(split: Split) -> list[Entry]:
    """Return the human rows of a split, the latest first; people of a parent were not asked about a derived one."""
    return [Entry(f"h{row.number}", split, baseline=row) for row in people.published(split)]


def find_entry(user: Any, split: Split, key: str) -> Entry | None:
    """Return the entry that a key names, if somebody may see it; None for any other."""
    if not KEY.fullmatch(key):
        return None
    if key.startswith("h"):
        return next((entry for entry in human_entries(split) if entry.key == key), None)
    number = int(key[1:].partition("-")[0])
    scores = Score.objects.on(split).filter(submission__method__in=Method.objects.visible_to(user))
    if key.startswith("s"):
        return next((_entry(user, key, split, (one,)) for one in scores.filter(submission=number)), None)
    found = together(user, split, scores.filter(submission__method=number))
    exact = next((entry for entry in found if entry.key == key), None)
    return (
        exact
        if exact is not None or "-" in key or not found
        else chosen(found, choose=BEST, coarse=is_coarse(user, split))[0]
    )


def key_of(method: int, configuration: Configuration) -> str:
    """Return the key of a method's runs under the same circumstances."""
    if configuration == (None, None, None):
        return f"m{method}"
    return f"m{method}-" + "-".join("" if part is None else str(part) for part in configuration)


def _finished(score: Score) -> datetime:
    assert score.submission.finished is not None
    return score.submission.finished
