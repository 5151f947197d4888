"""A grid: splits of one dataset that stand for values of k, and methods with several training sizes on each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from generation.models import Dataset, Split
from generation.reports.scoring import truth_of
from generation.storage.split_index import SplitIndex
from tests.generation import small
from tests.leaderboards.reading.rows import submit
from webapp.leaderboards.analysis.learning_curves import ReachedBetween, ReachedTarget
from webapp.leaderboards.analysis.sample_complexity import Grid, NeededSize
from webapp.leaderboards.analysis.sample_complexity_chart import ChartLine, spec_of
from webapp.leaderboards.models import Method, Suite, SuiteMember

KS = {"five": 5.0, "fifteen": 15.0, "sixty": 60.0}
SPLITS = {
    "train": {"scenes": 2},
    **{name: {"scenes": 10} for name in KS},
    "hidden": {"scenes": 10, "withheld": True},
}
N = 40  # questions of each split


def make_dataset(slug: str) -> Dataset:
    """Return a complete public dataset with a split for each k, and one whose answers are withheld."""
    return small.made(slug, with_images=False, splits=SPLITS)


def grid_of(dataset: Dataset, slug: str = "towns", **ks: float) -> Suite:
    """Return a listed suite of the dataset's splits with these numbers k, by name."""
    suite = Suite.objects.create(slug=slug, title="Towns", is_public=True, k_name="entities")
    for ordinal, (name, k) in enumerate((ks or KS).items()):
        split = dataset.splits.get(name=name)
        suite.members.create(split=split, ordinal=ordinal, label=f"{name} entities", k=k)
    return suite


def answered(split: Split, right: int) -> np.ndarray:
    """Return predictions of which this many are right."""
    codes = truth_of(SplitIndex.open(split)).copy()
    codes[right:] = -1
    return codes


def train(by: Method, split: Split, rights: Mapping[int, Sequence[int]]) -> None:
    """Submit runs that have these numbers of questions right, by training size."""
    for size, runs in rights.items():
        for run, right in enumerate(runs):
            submit(by, split, answered(split, right), train_size=size, run=str(run), trained_on=split.reference)


def needed(k: float, sizes: Sequence[int], size: int | None) -> NeededSize:
    """Return that a target needs this size, and that others next to it are possible."""
    between = ReachedBetween(size, size if size == sizes[-1] else None)
    return NeededSize(k, ReachedTarget(size, 0.5), between, tuple(sizes), "/there/")


def charted(ks: Sequence[float], sizes: Sequence[int], *reached: Sequence[int | None], is_paper: bool = False) -> Any:
    """Return a chart with a line for each of these lists of sizes by k; one by default, not reached for the last k."""
    reached = reached or ((*[sizes[0]] * (len(ks) - 1), None),)
    lines = [
        ChartLine(f"Line {at}", [needed(k, sizes, size) for k, size in zip(ks, one, strict=True)])
        for at, one in enumerate(reached)
    ]
    members = [SuiteMember(k=k) for k in ks]
    grid = Grid(Suite(k_name="entities"), members, 0, 0, [], sorted(sizes))
    return spec_of(grid, lines, is_paper=is_paper, title="Towns" if is_paper else "")
