"""Count shifts: question sets of train, val and test in which numbers of one parity are rare as answers.

A model that counts is as good on the test set as on the val set. A model that repeats frequent answers is not, because
the parity that is frequent in train and val is rare in test.

References
----------
Dancette et al. 2020, Overcoming Statistical Shortcuts for Open-ended Visual Counting, sections 3 and 6.1.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.db import transaction

from generation.models import Dataset, Job, Split
from generation.splits import question_sets
from generation.splits.split_recipes import BadRecipe, Recipe, read_recipe

PARITIES = {"odd": "even", "even": "odd"}
TRAIN, TEST, VALS = "train", "test", ("val", "validation")
HELD_OUT = 10  # percent of the scenes of train that become val if the dataset has no val split


class CountShift(NamedTuple):
    """A shift: `kept` is the parity whose answers train keeps; of the others, `removed` percent are removed.

    Attributes
    ----------
    kept : str
        `odd` or `even`.
    removed : float
        0 .. 100.
    filter : str
        The questions that are used, as in the address of a split's page.
    grouped_by : str
        A facet; see `ParityRule`.
    seed : int
    """

    kept: str
    removed: float
    filter: str = ""
    grouped_by: str = ""
    seed: int = 0

    @property
    def name(self) -> str:
        """Return the name of the shift, such as `odd-even-90`."""
        return f"{self.kept}-{PARITIES[self.kept]}-{self.removed:g}".replace(".", "_")


class ShiftedSet(NamedTuple):
    """A question set of a shift: its name, the split that it is made from, and its recipe."""

    name: str
    parent: Split
    recipe: Recipe


def create(dataset: Dataset, shifts: Sequence[CountShift], *, suffix: str = "") -> list[Job]:
    """Create the question sets of shifts and return the jobs that make them; if `BadRecipe` is raised, none is stored.

    The sets are called `train-<suffix>`, `val-<suffix>`, `test-<suffix>`; by default, the suffix is the shift's name.
    Several shifts need their own names.
    """
    with transaction.atomic():
        return [
            question_sets.create(one.parent, name=one.name, recipe=one.recipe)
            for shift in shifts
            for one in sets_of(dataset, shift, suffix=suffix)
        ]


def sets_of(dataset: Dataset, shift: CountShift, *, suffix: str = "") -> Iterator[ShiftedSet]:
    """Yield the question sets of a shift; raise `BadRecipe` if the dataset has no split train or test."""
    suffix = suffix or shift.name
    splits = {split.name: split for split in Split.objects.for_browse().filter(dataset=dataset, parent=None)}
    for name in (TRAIN, TEST):
        if name not in splits:
            raise BadRecipe(f"Expected splits train and test, got {', '.join(splits) or 'none'}.", where="dataset")
    own, opposite = shift.kept, PARITIES[shift.kept]
    val = next((splits[name] for name in VALS if name in splits), None)
    if val is None:
        yield _set(splits[TRAIN], shift, own, f"{TRAIN}-{suffix}", without_held_out=HELD_OUT)
        yield _set(splits[TRAIN], shift, own, f"{VALS[0]}-{suffix}", held_out=HELD_OUT)
    else:
        yield _set(splits[TRAIN], shift, own, f"{TRAIN}-{suffix}")
        yield _set(val, shift, own, f"{val.name}-{suffix}")
    yield _set(splits[TEST], shift, opposite, f"{TEST}-{suffix}")


def _set(parent: Split, shift: CountShift, kept: str, name: str, **scenes: float) -> ShiftedSet:
    parity = {"kept": kept, "removed": shift.removed, "grouped_by": shift.grouped_by}
    data = {"parent": parent.name, "filter": shift.filter, "seed": shift.seed, "parity": parity, **scenes}
    return ShiftedSet(name, parent, read_recipe(data))
