"""What a count shift does to train, val and test: counts before and after, and how similar words and objects stay.

The guesses in the report need no model: each answer is drawn from the answers of train, or from those of test.

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
from generation.engine.scoring.counts.label_shift import COMMON_WORDS, guessing_accuracy, similarity
from generation.models import Dataset, Import, Split
from generation.reports.scene_objects import objects_of
from generation.splits.count_shifts import PARITIES, TEST, TRAIN, VALS
from generation.splits.split_recipes import Chooser, ParityRule, Recipe, read_recipe
from generation.storage.split_index import SplitIndex

Counts = NDArray[np.int64]

PAPER = "Dancette et al. 2020, TallyQA"
PAPER_SIMILARITIES: Mapping[float, tuple[float, float]] = {
    0: (1.0, 1.0),
    50: (0.997, 0.9999),
    90: (0.986, 0.9996),
    100: (0.976, 0.9995),
}
"""Table 5, by the removed percentage: the coefficients of words and of objects."""
PAPER_GUESSES = {"train": (0.3215, 0.1104, 0.0921), "test": (0.1037, 0.3134, 0.2995)}
"""Table 6, if 90 % of the even answers are removed: accuracy on val, and on simple and complex questions of test."""
PAPER_METHODS: Mapping[str, tuple[float, float, float]] = {
    "Q-Only": (0.5378, 0.1314, 0.2897),
    "I-Only": (0.5377, 0.1263, 0.0605),
    "Q+I": (0.6108, 0.1755, 0.2477),
    "MUTAN": (0.6433, 0.1858, 0.2620),
    "Counter": (0.6750, 0.1799, 0.2043),
    "RCN": (0.6953, 0.3064, 0.2669),
    "RCN, uniform sampling": (0.6544, 0.2650, 0.2778),
    "RCN Regression": (0.6141, 0.3725, 0.2855),
    "SCN": (0.5478, 0.4822, 0.3254),
}
"""Tables 1 and 6: the accuracies of trained models, in the same order."""
PAPER_COUNTS: Mapping[str, Mapping[float, tuple[int, int, int]]] = {
    "odd": {0: (137_102, 15_292, 23_138), 50: (68_549, 7_644, 11_565), 90: (13_707, 1_525, 2_328), 100: (0, 0, 0)},
    "even": {0: (87_289, 9_635, 15_451), 50: (43_643, 4_815, 7_719), 90: (8_725, 969, 1_551), 100: (0, 0, 0)},
}
"""Tables 3 and 4, by the parity that train keeps and the removed percentage: rare answers of train, val and test."""
PAPER_FORMAT = "tallyqa"  # of the import whose counts the paper has


class SetCounts(NamedTuple):
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
        before, after = ((int(one[1::2].sum()), int(one[::2].sum())) for one in (self.before, self.after))
        return before, after


class CountShiftFamily(NamedTuple):
    """The question sets of one shift: those of train, val and test, in this order, that are complete and visible."""

    name: str
    rule: ParityRule
    sets: tuple[SetCounts, ...]

    @property
    def kept(self) -> str:
        return self.rule.kept

    @property
    def rare(self) -> str:
        return PARITIES[self.rule.kept]

    def find(self, role: str) -> SetCounts | None:
        return next((one for one in self.sets if one.role == role), None)


def names_of(splits: Sequence[Split]) -> list[str]:
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


def _set(role: str, split: Split, recipe: Recipe, *, most: int) -> SetCounts:
    parent = SplitIndex.open(split.source)
    before = Chooser(split.source, parent).choose(recipe.model_copy(update={"parity": None}))
    after = SplitIndex.open(split).positions
    assert after is not None
    numbers = _numbers(split.source)
    counts = (np.bincount(numbers[parent.answers[one]], minlength=most + 1) for one in (before, after))
    return SetCounts(role, split, recipe, *(one[: most + 1].astype(np.int64) for one in counts))


def _numbers(split: Split) -> Counts:
    texts = SplitIndex.open(split).answer_values
    return np.array([int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0 for text in texts], np.int64)


def published_counts(dataset: Dataset, family: CountShiftFamily) -> Mapping[str, int]:
    """Return the paper's numbers of rare answers by role; empty unless the dataset is an import of TallyQA."""
    if not Import.objects.filter(dataset=dataset, format=PAPER_FORMAT).exists():
        return {}
    counts = PAPER_COUNTS[family.kept].get(family.rule.removed)
    return {} if counts is None else dict(zip(ORDER, counts, strict=True))


def published_methods(family: CountShiftFamily) -> Mapping[str, tuple[float, float, float]]:
    return PAPER_METHODS if _is_papers_choice(family) else {}  # on val, and on simple and complex questions of test


def _is_papers_choice(family: CountShiftFamily) -> bool:
    return family.kept == "odd" and family.rule.removed == 90


# How similar the questions stay


class Similarity(NamedTuple):
    """The Bhattacharyya coefficients between two sets, of words and of objects; None without words, or objects.

    `paper` has the paper's coefficients for TallyQA, if it has them.
    """

    label: str
    words: float | None
    objects: float | None
    paper: tuple[float, float] | None = None


def similarities(user: Visitor, family: CountShiftFamily) -> list[Similarity]:
    """Return how similar the words and objects of train and test are, before and after the shift."""
    train, test = family.find(TRAIN), family.find(TEST)
    if train is None or test is None:
        return []
    paper = PAPER_SIMILARITIES.get(family.rule.removed) if family.kept == "odd" else None
    sees = all(may_see(user, one.split, What.SCENE) for one in (train, test))
    return [
        _similarity("train after and before", (train, True), (train, False), sees=sees)._replace(paper=paper),
        _similarity("test after and before", (test, True), (test, False), sees=sees),
        _similarity("train and test before", (train, False), (test, False), sees=sees),
        _similarity("train and test after", (train, True), (test, True), sees=sees),
    ]


Side = tuple[SetCounts, bool]
"""A set, and whether to use its questions after the shift or before it."""


def _similarity(label: str, one: Side, other: Side, *, sees: bool) -> Similarity:
    words = similarity(*_align(_words(*one), _words(*other)))
    objects = similarity(*_align(_object_counts(*one), _object_counts(*other))) if sees else None
    return Similarity(label, words, objects)


def _align(one: Mapping[str, int], other: Mapping[str, int]) -> tuple[Counts, Counts]:
    values = sorted({*one, *other})
    first, second = (np.array([found.get(value, 0) for value in values], np.int64) for found in (one, other))
    return first, second


def _words(one: SetCounts, is_after: bool) -> dict[str, int]:
    """Return in how many questions each word occurs, without common words."""
    index = SplitIndex.open(one.split.source)
    found = index.words_of(_positions(one, is_after))
    counts = np.diff(found.starts).tolist()
    return {word: n for word, n in zip(found.vocabulary, counts, strict=True) if word not in COMMON_WORDS}


def _object_counts(one: SetCounts, is_after: bool) -> dict[str, int]:
    found = objects_of(one.split.source)
    scenes = np.unique(SplitIndex.open(one.split.source).scenes[_positions(one, is_after)])
    return dict(zip(found.kinds, found.among(scenes).tolist(), strict=True))


def _positions(one: SetCounts, is_after: bool) -> Counts:
    index = SplitIndex.open(one.split.source)
    if not is_after:
        return Chooser(one.split.source, index).choose(one.recipe.model_copy(update={"parity": None}))
    positions = SplitIndex.open(one.split).positions
    assert positions is not None
    return positions.astype(np.int64)


# Guesses


class GuessLine(NamedTuple):
    """The expected accuracy of guesses that are drawn from the answers of one set, by column; None for an empty column.

    `paper` has the paper's figures for TallyQA, in the order val, simple, complex; empty if it has none.
    """

    label: str
    shares: tuple[float | None, ...]
    paper: tuple[float, ...] = ()


class Guesses(NamedTuple):
    columns: tuple[str, ...]  # val, test, and each group of test
    lines: tuple[GuessLine, ...]


def guesses(family: CountShiftFamily) -> Guesses:
    """Return the accuracies of answers that are drawn from those of train, and from those of test."""
    columns = [(one.split.name, one.after) for one in family.sets if one.role != TRAIN]
    columns += [
        (f"{one.split.name}, {label}", counts)
        for one in family.sets
        if one.role == TEST
        for label, counts in _groups(one)
    ]
    has_paper = _is_papers_choice(family)
    lines = []
    for role in (TRAIN, TEST):
        source = family.find(role)
        if source is not None:
            shares = tuple(guessing_accuracy(source.after, counts) for _, counts in columns)
            lines.append(GuessLine(f"Random ({role})", shares, PAPER_GUESSES[role] if has_paper else ()))
    return Guesses(tuple(name for name, _ in columns), tuple(lines))


def _groups(one: SetCounts) -> Iterator[tuple[str, Counts]]:
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
