"""What a count shift does to train, val and test: their counts before and after, and how alike words and objects stay.

The guesses of the report need no model: an answer is drawn from the answers of train, or from those of test.

References
----------
Dancette et al. 2020, Overcoming Statistical Shortcuts for Open-ended Visual Counting, figure 2, tables 3 to 6.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.access import Visitor, What, may_see
from generation.engine.scoring.label_shift import COMMON_WORDS, guessing_accuracy, similarity
from generation.models import Dataset, Split
from generation.reports.scene_objects import objects_of
from generation.splits.count_shifts import PARITIES, TEST, TRAIN, VALS
from generation.splits.split_recipes import Chooser, ParityRule, Recipe, read_recipe
from generation.storage.split_index import SplitIndex

Counts = NDArray[np.int64]

PAPER = "Dancette et al. 2020, TallyQA"
PAPER_SIMILARITIES = {0: (1.0, 1.0), 50: (0.997, 0.9999), 90: (0.986, 0.9996), 100: (0.976, 0.9995)}
"""Table 5, by the percentage that is removed: of words, and of objects."""
PAPER_GUESSES = {"train": (0.3215, 0.1104, 0.0921), "test": (0.1037, 0.3134, 0.2995)}
"""Table 6, for 90 % removed of the even answers: accuracy on val, on simple and on complex questions of test."""


class ShiftedSet(NamedTuple):
    """A question set of a shift, and the questions from which its recipe removes some.

    Attributes
    ----------
    role : str
        `train`, `val` or `test`.
    split : Split
    recipe : Recipe
    before, after : array (numbers,) of int64
        How many questions have the answer 0, 1, ... before and after the shift.
    """

    role: str
    split: Split
    recipe: Recipe
    before: Counts
    after: Counts

    def odd_and_even(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the numbers of questions with odd and with even answers, before and after."""
        before, after = ((int(one[1::2].sum()), int(one[::2].sum())) for one in (self.before, self.after))
        return before, after


class CountShiftFamily(NamedTuple):
    """The question sets of one shift: train, val and test, in this order, as far as they are complete and visible."""

    name: str
    rule: ParityRule
    sets: tuple[ShiftedSet, ...]

    @property
    def kept(self) -> str:
        return self.rule.kept

    @property
    def rare(self) -> str:
        return PARITIES[self.rule.kept]

    def find(self, role: str) -> ShiftedSet | None:
        return next((one for one in self.sets if one.role == role), None)


def names_of(splits: Sequence[Split]) -> list[str]:
    """Return the names of the shifts of a dataset, in the order in which they were made."""
    return list(_members(splits))


def family_of(user: Visitor, dataset: Dataset, name: str) -> CountShiftFamily | None:
    """Return a shift with the sets whose answers this user may see; None if there is no shift of this name."""
    splits = list(Split.objects.for_browse().filter(dataset=dataset))
    members = _members(splits).get(name)
    if members is None:
        return None
    visible = [
        (role, split, recipe)
        for role, (split, recipe) in sorted(members.items(), key=lambda one: ORDER.index(one[0]))
        if split.is_complete and may_see(user, split, What.ANSWER)
    ]
    rule = members[TRAIN][1].parity
    assert rule is not None
    most = max([0, *(max(_numbers(split.source)) for _, split, _ in visible)])
    return CountShiftFamily(name, rule, tuple(_set(*one, most=most) for one in visible))


def train_set_of(split: Split) -> Split | None:
    """Return the split that models of this split are trained on: of a shift its train set, otherwise the reference."""
    if split.is_derived:
        siblings = Split.objects.for_browse().filter(dataset=split.dataset_id)
        for sets in _members(list(siblings)).values():
            if any(one.pk == split.pk for one, _ in sets.values()):
                return sets[TRAIN][0]
    return split.reference


ORDER = (TRAIN, VALS[0], TEST)


def _members(splits: Sequence[Split]) -> dict[str, dict[str, tuple[Split, Recipe]]]:
    """Return the sets of each shift by role; a shift has at least train and test."""
    found: dict[str, dict[str, tuple[Split, Recipe]]] = {}
    for split in splits:
        recipe = read_recipe(split.recipe) if split.is_derived else None
        if recipe is None or recipe.parity is None:
            continue
        role = VALS[0] if recipe.held_out is not None or recipe.parent in VALS else recipe.parent
        start = next((f"{name}-" for name in (role, recipe.parent) if split.name.startswith(f"{name}-")), None)
        if role in ORDER and start is not None:
            found.setdefault(split.name.removeprefix(start), {})[role] = (split, recipe)
    return {name: sets for name, sets in found.items() if {TRAIN, TEST} <= set(sets)}


def _set(role: str, split: Split, recipe: Recipe, *, most: int) -> ShiftedSet:
    parent = SplitIndex.open(split.source)
    before = Chooser(split.source, parent).choose(recipe.model_copy(update={"parity": None}))
    after = SplitIndex.open(split).positions
    assert after is not None
    numbers = _numbers(split.source)
    counts = (np.bincount(numbers[parent.answers[one]], minlength=most + 1) for one in (before, after))
    return ShiftedSet(role, split, recipe, *(one[: most + 1].astype(np.int64) for one in counts))


def _numbers(split: Split) -> Counts:
    """Return the number that each answer of a split's vocabulary is; 0 for those that are no numbers."""
    texts = SplitIndex.open(split).answer_values
    return np.array([int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0 for text in texts], np.int64)


# How alike the questions stay


class Similarity(NamedTuple):
    """The Bhattacharyya coefficients between two sets, of words and of objects; None without words, or objects.

    `paper` has the paper's coefficients for TallyQA, if it has them.
    """

    label: str
    words: float | None
    objects: float | None
    paper: tuple[float, float] | None = None


def similarities(user: Visitor, family: CountShiftFamily) -> list[Similarity]:
    """Return how alike the words and objects of train and test are, before and after the shift."""
    train, test = family.find(TRAIN), family.find(TEST)
    if train is None or test is None:
        return []
    paper = PAPER_SIMILARITIES.get(int(family.rule.removed)) if family.kept == "odd" else None
    sees = all(may_see(user, one.split, What.SCENE) for one in (train, test))
    return [
        _similarity("train after and before", (train, True), (train, False), sees=sees)._replace(paper=paper),
        _similarity("test after and before", (test, True), (test, False), sees=sees),
        _similarity("train and test before", (train, False), (test, False), sees=sees),
        _similarity("train and test after", (train, True), (test, True), sees=sees),
    ]


Side = tuple[ShiftedSet, bool]
"""A set, and whether it is meant after the shift."""


def _similarity(label: str, one: Side, other: Side, *, sees: bool) -> Similarity:
    words = similarity(*_aligned(_words(*one), _words(*other)))
    objects = similarity(*_aligned(_objects(*one), _objects(*other))) if sees else None
    return Similarity(label, words, objects)


def _aligned(one: Mapping[str, int], other: Mapping[str, int]) -> tuple[Counts, Counts]:
    values = sorted({*one, *other})
    first, second = (np.array([found.get(value, 0) for value in values], np.int64) for found in (one, other))
    return first, second


def _words(one: ShiftedSet, is_after: bool) -> dict[str, int]:
    """Return in how many questions each word occurs, without common words."""
    index = SplitIndex.open(one.split.source)
    found = index.words_of(_positions(one, is_after))
    counts = np.diff(found.starts).tolist()
    return {word: n for word, n in zip(found.vocabulary, counts, strict=True) if word not in COMMON_WORDS}


def _objects(one: ShiftedSet, is_after: bool) -> dict[str, int]:
    """Return how often each object occurs in the scenes of a set."""
    found = objects_of(one.split.source)
    scenes = np.unique(SplitIndex.open(one.split.source).scenes[_positions(one, is_after)])
    return dict(zip(found.kinds, found.among(scenes).tolist(), strict=True))


def _positions(one: ShiftedSet, is_after: bool) -> Counts:
    index = SplitIndex.open(one.split.source)
    if not is_after:
        return Chooser(one.split.source, index).choose(one.recipe.model_copy(update={"parity": None}))
    positions = SplitIndex.open(one.split).positions
    assert positions is not None
    return positions.astype(np.int64)


# Guesses


class GuessLine(NamedTuple):
    """The expected accuracy of answers drawn from the answers of one set, by column; None for an empty column.

    `paper` has the paper's figures for TallyQA, in the order val, simple, complex; empty if it has none.
    """

    label: str
    shares: tuple[float | None, ...]
    paper: tuple[float, ...] = ()


class Guesses(NamedTuple):
    """The accuracies of guesses: a column for val, for test, and for each group of test."""

    columns: tuple[str, ...]
    lines: tuple[GuessLine, ...]


def guesses(family: CountShiftFamily) -> Guesses:
    """Return how often answers that are drawn from those of train, or of test, are right."""
    columns = [(one.split.name, one.after) for one in family.sets if one.role != TRAIN]
    columns += [
        (f"{one.split.name}, {label}", counts)
        for one in family.sets
        if one.role == TEST
        for label, counts in _groups(one)
    ]
    has_paper = family.kept == "odd" and family.rule.removed == 90
    lines = []
    for role in (TRAIN, TEST):
        source = family.find(role)
        if source is not None:
            shares = tuple(guessing_accuracy(source.after, counts) for _, counts in columns)
            lines.append(GuessLine(f"Random ({role})", shares, PAPER_GUESSES[role] if has_paper else ()))
    return Guesses(tuple(name for name, _ in columns), tuple(lines))


def _groups(one: ShiftedSet) -> Iterator[tuple[str, Counts]]:
    """Yield the counts of each value of the facet by which the shift makes groups; none without a facet."""
    rule = one.recipe.parity
    index = SplitIndex.open(one.split)
    facet = index.facets.get(rule.grouped_by) if rule is not None else None
    if facet is None:
        return
    numbers = _numbers(one.split.source)[index.answers]
    for code, label in enumerate(facet.labels):
        counts = np.bincount(numbers[facet.codes == code], minlength=len(one.after))[: len(one.after)]
        if counts.any():
            yield label, counts.astype(np.int64)
