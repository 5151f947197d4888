"""Made counting questions on the site: their boxes, their expected answers, and shifts of their counts."""

from pathlib import Path

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser

from generation.charts.counts import charts_of
from generation.engine.reading.dataset_reader import find_reader
from generation.engine.worlds.counting.spec import FALLING
from generation.making import dataset_jobs, imports
from generation.models import Dataset
from generation.splits import count_shifts
from generation.storage.split_index import SplitIndex
from tests.generation.complete_datasets import finish, shared
from tests.worlds.counting import published
from tests.worlds.counting.made import spec_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("reads_here")]
SCENES = {"train": 77, "val": 8, "test": 20, "grounding": 20}


def make() -> Dataset:
    """Return a made dataset without pictures."""
    data = spec_of(splits={name: {"scenes": count} for name, count in SCENES.items()}).to_json()
    return finish(dataset_jobs.start(data, slug="solids", visibility="public", images=False))


key = shared(make)


@pytest.fixture
def solids(key: int) -> Dataset:
    return Dataset.objects.get(pk=key)


def test_the_index_has_a_box_for_each_counted_object(solids: Dataset) -> None:
    for split in solids.splits.all():
        index = SplitIndex.open(split)
        answers = index.facets["answer"]
        assert index.boxes is not None
        assert index.boxes.known.all()
        assert np.diff(index.boxes.starts).tolist() == [int(answers.values[code]) for code in answers.codes]
        left, top, right, bottom = index.boxes.boxes.T
        assert ((left >= 0) & (left < right) & (right <= 480)).all()
        assert ((top >= 0) & (top < bottom) & (bottom <= 320)).all()


def test_a_shift_of_counts_keeps_one_parity_whole(solids: Dataset) -> None:
    count_shifts.create(solids, [count_shifts.CountShift("odd", 90, grouped_by="type")])
    dataset_jobs.work(dataset=solids)
    parities = {}
    for name in ("train", "train-odd-even-90", "test", "test-odd-even-90"):
        facet = SplitIndex.open(solids.splits.get(name=name)).facets["parity"]
        parities[name] = [int((facet.codes == facet.values.index(parity)).sum()) for parity in ("even", "odd")]
    assert parities["train-odd-even-90"][1] == parities["train"][1]
    assert parities["test-odd-even-90"][0] == parities["test"][0]
    assert 0 < parities["train-odd-even-90"][0] < parities["train"][0] / 2


def test_charts_compare_answers_with_the_spec_only_if_they_were_made_from_it(solids: Dataset, tmp_path: Path) -> None:
    found = find_reader("tallyqa").find([published.tallyqa(tmp_path, train=120, test=80)])
    theirs = imports.begin(found, imports.ImportRequest(slug="theirs", format="tallyqa", visibility="public"))
    dataset_jobs.work(dataset=theirs)
    for dataset, is_expected in ((solids, True), (theirs, False)):
        train = dataset.splits.get(name="train")
        [chart] = [chart for chart in charts_of(AnonymousUser(), dataset, [train]) if chart.view.name == "answers"]
        assert chart.is_expected == is_expected
        assert (chart.columns[0].fit is not None) == is_expected
        if is_expected:
            shares = [row.cells[0].expected or 0.0 for row in chart.rows]
            assert shares[:-1] == FALLING[: len(shares) - 1]
            assert sum(shares) == pytest.approx(1.0)  # the last row has all larger answers
            assert chart.columns[0].fit.p > 0.9  # type: ignore[union-attr]  # answers are spread more evenly than by chance
