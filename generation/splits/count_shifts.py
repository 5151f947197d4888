"""Count shifts: question sets of train, val and test in which numbers of one parity are rare as answers.

A model that counts is as good on the test set as on the val set. A model that repeats frequent answers is not, because
the parity that is frequent in train and val is rare in test.

References
----------
Dancette et al. 2020, Overcoming Statistical Shortcuts for Open-ended Visual Counting, sections 3 and 6.1.
"""

import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from django.db import transaction

from generation.models import Dataset, Job, Split
from generation.splits import question_sets
from generation.splits.split_recipes import BadRecipe, Recipe, read_recipe
from generation.storage.split_index import SplitIndex

PARITIES = {"odd": "even", "even": "odd"}
TRAIN, TEST, VALS = "train", "test", ("val", "validation")
HELD_OUT = 10  # the percentage of the scenes of train that become val if the dataset has no val split


class CountShift(NamedTuple):
    """A shift: train keeps all answers of the parity `kept`, and loses `removed` percent of the others.

    Attributes
    ----------
    kept : str
        `odd` or `even`.
    removed : float
        0 .. 100.
    filter : str
        The questions that are used, as in the address of a split's page.
    grouped_by : str
        A facet; see `ParityRule`. A split in which some questions have no known group is grouped by the answer alone,
        if the facet is the one that the world names.
    seed : int
    """

    kept: str
    removed: float
    filter: str = ""
    grouped_by: str = ""
    seed: int = 0

    @property
    def name(self) -> str:
        return f"{self.kept}-{PARITIES[self.kept]}-{self.removed:g}".replace(".", "_")  # such as `odd-even-90`


class ShiftedSet(NamedTuple):
    name: str
    parent: Split  # the set is made from it
    recipe: Recipe


def create(dataset: Dataset, shifts: Sequence[CountShift], *, suffix: str = "") -> list[Job]:
    """Create the question sets of shifts and return the jobs that make them; if `BadRecipe` is raised, none is stored.

    The sets are called `train-<suffix>`, `val-<suffix>`, `test-<suffix>`; by default, the suffix is the shift's name.
    Several shifts can only have the default suffix. The train set of a shift is the reference of its other sets.
    """
    with transaction.atomic():
        return [job for shift in shifts for job in _create(list(sets_of(dataset, shift, suffix=suffix)))]


def _create(sets: Sequence[ShiftedSet]) -> Iterator[Job]:
    """Create the sets of a shift, of which the first one is its train set, and yield their jobs."""
    reference: Split | None = None
    for one in sets:
        job = question_sets.create(one.parent, name=one.name, recipe=one.recipe, reference=reference)
        reference = reference or job.split
        yield job


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


def command(dataset: str, shift: CountShift, *, suffix: str = "") -> str:
    """Return the command that makes the question sets of a shift."""
    parities = f"{shift.kept}-{PARITIES[shift.kept]}:{shift.removed:g}"
    parts = ["python manage.py derive", dataset, "--mcd", parities, "--parity-by", shlex.quote(shift.grouped_by)]
    parts += ["--filter", shlex.quote(shift.filter)] if shift.filter else []
    parts += ["--name", suffix] if suffix not in ("", shift.name) else []
    return " ".join([*parts, "--seed", str(shift.seed)])


def _set(parent: Split, shift: CountShift, kept: str, name: str, **scenes: float) -> ShiftedSet:
    parity = {"kept": kept, "removed": shift.removed, "grouped_by": _groups_of(parent, shift)}
    data = {"parent": parent.name, "filter": shift.filter, "seed": shift.seed, "parity": parity, **scenes}
    return ShiftedSet(name, parent, read_recipe(data))


def _groups_of(parent: Split, shift: CountShift) -> str:
    """Return the facet by which a shift groups the questions of a split, which is empty for the answer alone.

    The facet that the world names is not used if some questions have no known group. The authors' program does the same
    for questions without `issimple`, such as those of TallyQA's train file.
    """
    world = parent.dataset.get_world()
    if shift.grouped_by != world.count_groups or not world.unknown_group or not parent.is_complete:
        return shift.grouped_by
    facet = SplitIndex.open(parent).facets[shift.grouped_by]
    has_unknown = np.isin(facet.codes, [at for at, value in enumerate(facet.values) if value == world.unknown_group])
    return "" if has_unknown.any() else shift.grouped_by
