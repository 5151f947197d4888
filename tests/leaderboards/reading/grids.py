"""A grid: splits of one dataset that stand for values of k, and methods with several training sizes on each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from generation.engine.scoring.sample_complexity import SizeInterval
from generation.models import Dataset, Split
from generation.reports.scoring import truth_of
from generation.storage.split_index import SplitIndex
from tests.generation import small
from tests.leaderboards.reading.rows import submit
from webapp.leaderboards.analysis.charts.sample_complexity_chart import ChartLine, spec_of
from webapp.leaderboards.analysis.learning_curves import ReachedTarget
from webapp.leaderboards.analysis.sample_complexity import Grid, NeededSize
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
    """Return a listed suite of the dataset's splits with the k of each split by its name; all splits by default."""
    suite = Suite.objects.create(slug=slug, title="Towns", is_public=True, k_name="entities")
    for ordinal, (name, k) in enumerate((ks or KS).items()):
        split = dataset.splits.get(name=name)
        suite.members.create(split=split, ordinal=ordinal, label=f"{name} entities", k=k)
    return suite


def predictions_with(split: Split, right: int) -> np.ndarray:
    """Return predictions of which the first `right` are right."""
    codes = truth_of(SplitIndex.open(split)).copy()
    codes[right:] = -1
    return codes


def train(by: Method, split: Split, rights: Mapping[int, Sequence[int]]) -> None:
    """Submit runs that have these numbers of questions right, by training size."""
    for size, runs in rights.items():
        for run, right in enumerate(runs):
            submit(by, split, predictions_with(split, right), train_size=size, run=str(run), trained_on=split.reference)


def needed_size(k: float, sizes: Sequence[int], size: int | None, *, is_over_runs: bool = True) -> NeededSize:
    """Return the needed size of a target: it is `size`, or not reached if that is None, with a matching interval."""
    between = SizeInterval(size, size if size == sizes[-1] else None)
    return NeededSize(k, ReachedTarget(size, 0.5), between, is_over_runs, tuple(sizes), "/there/")


def make_chart(
    ks: Sequence[float], sizes: Sequence[int], *reached: Sequence[int | None], is_paper: bool = False
) -> Any:
    """Return a chart with a line for each list of sizes by k; by default one line, not reached for the last k."""
    reached = reached or ((*[sizes[0]] * (len(ks) - 1), None),)
    lines = [
        ChartLine(f"Line {at}", [needed_size(k, sizes, size) for k, size in zip(ks, one, strict=True)])
        for at, one in enumerate(reached)
    ]
    members = [SuiteMember(k=k) for k in ks]
    grid = Grid(Suite(k_name="entities"), members, 0, 0, [], sorted(sizes))
    return spec_of(grid, lines, is_paper=is_paper, title="Towns" if is_paper else "")
