"""The baselines that every complete split has: guesses that see nothing, or nothing but words, and no picture.

They are submissions of methods that are the site's own, so that boards, slices and comparisons need no second way.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef, Q, QuerySet
from numpy.typing import NDArray

from generation.blind import Guesser, Known
from generation.engine.predictions import Predictions
from generation.engine.score import NONE, OUTSIDE
from generation.expected import expected_of
from generation.models import Dataset, Split
from webapp.leaderboards.models import Method, Submission

Kind = Method.Baseline

AT_ONCE = 20  # splits whose baselines a sweep begins
LOW = -10  # their priority: what people sent goes first
CHANCE_SEED = 20


class About(NamedTuple):
    """What a baseline sees, what it was fitted on, and whether it needs a reference at all."""

    sees: str
    fitted: str
    needs_reference: bool


ABOUT = {
    Kind.CHANCE: About("which answers the question's type admits", "nothing: it draws one of them by chance", False),
    Kind.MAJORITY: About("nothing", "the reference split: its most frequent answer", True),
    Kind.TYPE_MODE: About("the question's type", "the reference split: the most frequent answer of each type", True),
    Kind.NEAREST: About("the question's words", "the reference split: the answer of the question most like it", True),
}


def said_of(method: Method | None) -> str:
    """Return in a line what a baseline sees and what it was fitted on; nothing of other methods, or of people."""
    if method is None or not method.baseline:
        return ""
    about = ABOUT[Kind(method.baseline)]
    return f"Sees {about.sees}. Fitted on {about.fitted}."


def begin() -> int:
    """Return how many baselines were begun, of splits that are complete and lack them."""
    begun = 0
    for split in lacking()[:AT_ONCE]:
        for kind in kinds_of(split):
            method = method_of(kind)
            if not Submission.objects.filter(method=method, split=split).exists():
                Submission.objects.create(method=method, split=split, trained_on=fitted_on(split, kind), priority=LOW)
                begun += 1
    return begun


def lacking() -> QuerySet[Split]:
    """Return complete splits with questions of their own that lack a baseline they should have."""
    of_split = Submission.objects.filter(split=OuterRef("pk"))
    has = {kind: Exists(of_split.filter(method__baseline=kind)) for kind in ABOUT}
    lacks = Q()
    for kind, about in ABOUT.items():
        lacks |= ~Q(has[kind]) & (Q(reference__state=Split.State.COMPLETE) if about.needs_reference else Q())
    complete = Split.objects.own().filter(state=Split.State.COMPLETE, dataset__state=Dataset.State.COMPLETE)
    rows = complete.filter(lacks, questions__gt=0)
    return rows.select_related("dataset", "reference").order_by("pk")


def kinds_of(split: Split) -> list[str]:
    """Return the baselines that a split has."""
    has_reference = split.reference is not None and split.reference.is_complete
    return [str(kind) for kind, about in ABOUT.items() if has_reference or not about.needs_reference]


def fitted_on(split: Split, kind: str) -> Split | None:
    """Return what a baseline of a split learns from."""
    return split.reference if ABOUT[Kind(kind)].needs_reference else None


def method_of(kind: str) -> Method:
    """Return the site's own method of a kind."""
    about = Kind(kind)
    made, _ = Method.objects.get_or_create(baseline=kind, defaults={"name": about.label, "made": Method.Made.BASELINE})
    return made


def predictions(kind: str, split: Split, *, check: Callable[[], None]) -> Predictions:
    """Return the predictions of a baseline on a split.

    Parameters
    ----------
    kind : str
    split : Split
        Complete; its reference too, where the baseline learns from it.
    check : callable
        Called now and then; it may raise to stop.
    """
    guesses = _by_chance(split) if kind == Kind.CHANCE else _fitted(kind, split, check)
    codes = np.where(guesses >= 0, guesses, OUTSIDE).astype(np.int32)
    return Predictions(codes, codes, {}, "made here", "")


def _by_chance(split: Split) -> NDArray[np.int64]:
    """Return for each question one of the answers that its type admits, each as likely."""
    expected = expected_of(split)
    widest = max(len(codes) for codes in expected.admitted)
    table = np.full((len(expected.admitted), widest), NONE, dtype=np.int64)
    for kind, codes in enumerate(expected.admitted):
        table[kind, : len(codes)] = codes
    sizes = np.array([len(codes) for codes in expected.admitted])[expected.kinds]
    draws = np.random.Generator(np.random.PCG64(np.random.SeedSequence([CHANCE_SEED, split.questions])))
    places = np.floor(draws.random(expected.n) * sizes).astype(np.int64)
    return table[expected.kinds, places]


def _fitted(kind: str, split: Split, check: Callable[[], None]) -> NDArray[np.int64]:
    assert split.reference is not None
    guesser = Guesser(split.dataset.get_world(), Known(split.reference), Known(split))
    if kind == Kind.MAJORITY:
        return guesser.in_own_codes(guesser.majority())
    if kind == Kind.TYPE_MODE:
        return guesser.in_own_codes(guesser.by_type())
    return guesser.in_own_codes(guesser.nearest(np.arange(split.questions), check=check))
