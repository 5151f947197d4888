"""The baselines that the site makes for every complete split: they see nothing, or only the question's words.

A world may define further baselines, named after it, which read stories or scenes as they are stored. All baselines are
submissions of methods that belong to the site, so boards, slices and comparisons treat them like any other submission.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef, Q, QuerySet
from numpy.typing import NDArray

from generation.engine.errors import BrokenWorld, EngineError
from generation.engine.items import Item
from generation.engine.predictions import Predictions
from generation.engine.scoring.score import GUESS, OUTSIDE, is_guess
from generation.engine.worlds import get_world, usable
from generation.engine.worlds.base import Baseline, unanswered
from generation.models import Dataset, Scene, Split
from generation.reports.shortcuts import Guesser, SplitTexts, choices_of
from generation.splits.references import split_to_learn
from generation.storage.items import load_items
from generation.storage.split_index import SplitIndex
from webapp.leaderboards.models import Method, Submission

Kind = Method.Baseline

AT_ONCE = 20  # splits per sweep
DERIVED = Q(kind=Split.Kind.DERIVED)
HAS_REFERENCE = Q(reference__state=Split.State.COMPLETE, reference__dataset__state=Dataset.State.COMPLETE)
LOW = -10  # their priority: submissions of users go first
OF = ":"  # separates the names of a world and of its baseline
SCENES = 200  # read per query


class About(NamedTuple):
    sees: str
    fitted: str
    needs_reference: bool


ABOUT = {
    Kind.CHANCE: About(
        "which answers the question's type allows", "nothing: its figure is the share expected of guesses", False
    ),
    Kind.MAJORITY: About("nothing", "the reference split: its most frequent answer", True),
    Kind.TYPE_MODE: About("the question's type", "the reference split: the most frequent answer of each type", True),
    Kind.NEAREST: About("the question's words", "the reference split: the answer of the question most like it", True),
}


def describe(method: Method | None) -> str:
    """Describe in one line what a baseline sees and what it was fitted on; empty for other methods and for people."""
    if method is None or not method.baseline:
        return ""
    about = about_of(method.baseline)
    return f"It sees {about.sees}. It is fitted on {about.fitted}." if about is not None else ""


def about_of(kind: str) -> About | None:
    """Return the description of a baseline, or None if its world no longer exists."""
    if kind in ABOUT:
        return ABOUT[Kind(kind)]
    own = own_of(kind)
    return About(own.sees, own.fitted, own.needs_reference) if own is not None else None


def own_of(kind: str) -> Baseline | None:
    """Return a world's baseline by its full name, or None if there is none."""
    world, _, name = kind.partition(OF)
    try:
        return next((one for one in get_world(world).baselines if one.name == name), None)
    except EngineError:
        return None


def begin() -> int:
    """Create submissions for missing baselines of complete splits, and return how many."""
    begun = 0
    for split in lacking()[:AT_ONCE]:
        for kind in kinds_of(split):
            method = method_of(kind)
            if not Submission.objects.filter(method=method, split=split).exists():
                Submission.objects.create(method=method, split=split, trained_on=fitted_on(split, kind), priority=LOW)
                begun += 1
    return begun


def lacking() -> QuerySet[Split]:
    """Return complete splits that lack a baseline they should have.

    Question sets show the baselines of their parent. But if the reference of a set is also a set, as in a shift of
    counts, it has baselines that are fitted on that one.
    """
    of_split = Submission.objects.filter(split=OuterRef("pk"))
    has = {kind: Exists(of_split.filter(method__baseline=kind)) for kind in ABOUT}
    lacks = Q()
    for kind, about in ABOUT.items():
        can_have = HAS_REFERENCE if about.needs_reference else ~DERIVED
        lacks |= ~Q(has[kind]) & can_have
    for world in usable():
        for one in world.baselines:
            has_it = Exists(of_split.filter(method__baseline=f"{world.name}{OF}{one.name}"))
            lacks |= Q(dataset__world=world.name) & ~Q(has_it) & _can_be_read(one)
    complete = Split.objects.filter(state=Split.State.COMPLETE, dataset__state=Dataset.State.COMPLETE)
    rows = complete.filter(~DERIVED | Q(reference__kind=Split.Kind.DERIVED)).filter(lacks, questions__gt=0)
    return rows.select_related("dataset", "reference__dataset").order_by("pk")


def _can_be_read(own: Baseline) -> Q:
    """Return the condition for splits that a world's baseline can read: the scenes of split and reference are known."""
    known = Scene.objects.filter(data__isnull=False)
    here = Q(Exists(known.filter(split=OuterRef("pk"))))
    if not own.needs_reference:
        return here
    return here & HAS_REFERENCE & Q(Exists(known.filter(split=OuterRef("reference"))))


def kinds_of(split: Split) -> list[str]:
    """Return the names of the baselines that a split should have."""
    reference = split_to_learn(split)
    has_reference = reference is not None and reference.dataset.state == Dataset.State.COMPLETE
    kinds = [
        str(kind) for kind, about in ABOUT.items() if (has_reference if about.needs_reference else not split.is_derived)
    ]
    world = split.dataset.get_world()
    own = [one for one in world.baselines if Split.objects.filter(_can_be_read(one), pk=split.pk).exists()]
    return [*kinds, *(f"{world.name}{OF}{one.name}" for one in own)]


def fitted_on(split: Split, kind: str) -> Split | None:
    about = about_of(kind)
    return split.reference if about is not None and about.needs_reference else None


def method_of(kind: str) -> Method:
    """Return the site's method for a baseline; create it if it is missing."""
    own = own_of(kind)
    name = own.label if own is not None else Kind(kind).label
    made, _ = Method.objects.get_or_create(baseline=kind, defaults={"name": name, "made": Method.Made.BASELINE})
    return made


def predictions(kind: str, split: Split, *, check: Callable[[], None]) -> Predictions:
    """Return the predictions of a baseline on a split.

    Parameters
    ----------
    kind : str
    split : Split
        A complete split; if the baseline learns from a reference split, that is complete too.
    check : callable
        Called regularly; it may raise to stop the work.
    """
    own = own_of(kind)
    if own is not None:
        guesses = _of_world(own, split, check)
    else:
        guesses = _by_chance(split) if kind == Kind.CHANCE else _fitted(kind, split, check)
    codes = np.where((guesses >= 0) | is_guess(guesses), guesses, OUTSIDE).astype(np.int32)
    return Predictions(codes, codes, {}, "made here", "")


def _by_chance(split: Split) -> NDArray[np.int64]:
    return GUESS - choices_of(split, SplitIndex.open(split))


def _fitted(kind: str, split: Split, check: Callable[[], None]) -> NDArray[np.int64]:
    learned = split_to_learn(split)
    assert learned is not None
    guesser = Guesser(split.dataset.get_world(), SplitTexts(learned), SplitTexts(split))
    if kind == Kind.MAJORITY:
        return guesser.in_own_codes(guesser.majority())
    if kind == Kind.TYPE_MODE:
        return guesser.in_own_codes(guesser.by_type())
    return guesser.in_own_codes(guesser.nearest(np.arange(split.questions), check=check))


def _of_world(own: Baseline, split: Split, check: Callable[[], None]) -> NDArray[np.int64]:
    """Return the answers of a world's baseline as codes, `OUTSIDE` for answers outside the vocabulary."""
    codes = {answer: code for code, answer in enumerate(SplitIndex.open(split).answer_values)}
    reference = split_to_learn(split) if own.needs_reference else None
    learned = _items(reference, check) if reference is not None else iter(())
    asked = (unanswered(item) for item in _items(split, check))
    said = own.guess(split.read_spec(), asked, learned=learned, check=check)
    found = np.array([codes.get(answer, OUTSIDE) for answer in said], np.int64)
    if len(found) != split.questions:
        raise BrokenWorld(f"Expected {split.questions:,} answers of {own.label}, got {len(found):,}.", where=str(split))
    return found


def _items(split: Split, check: Callable[[], None]) -> Iterator[Item]:
    """Yield a split's items, reading a few scenes at a time."""
    for first in range(0, split.scenes, SCENES):
        check()
        for stored in load_items(split, first, SCENES):
            yield stored.item
