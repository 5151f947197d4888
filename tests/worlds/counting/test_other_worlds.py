"""Another world that names its counted objects and their boxes has shifts, a grounding set, and all metrics."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command

from generation.engine import worlds
from generation.engine.items import Box, Item, Question
from generation.engine.predictions import PredictedBoxes
from generation.making import dataset_jobs
from generation.models import Dataset, Split
from generation.reports.count_metrics import terms_of
from generation.reports.scoring import truth_of
from generation.splits.references import reference_for_site
from generation.storage.split_index import SplitIndex
from tests.generation.complete_datasets import finish
from tests.worlds.marbles import MOST, NAME, MarbleWorld, Row

pytestmark = pytest.mark.django_db
WIDE = 4  # pixels of a marble
BOXES = {at: (WIDE * at, 0, WIDE * (at + 1), WIDE) for at in range(MOST)}


class CountedMarbles(MarbleWorld):
    """Marbles whose boxes are known."""

    metrics = ("rmse", "groundp", "ap", "own_parity", "opposite_parity")
    count_groups = "color"

    def most_counted(self, spec: Any) -> int:
        return MOST

    def counted(self, spec: Any, item: Item, question: Question) -> tuple[int, ...] | None:
        assert isinstance(item.scene, Row)
        color = question.text.split()[-1].rstrip("?")
        return tuple(at for at, marble in enumerate(item.scene.marbles) if marble == color)

    def element_boxes(self, spec: Any, item: Item) -> Mapping[int, Box]:
        return BOXES


WORLD = CountedMarbles()


@pytest.fixture
def marbles(monkeypatch: pytest.MonkeyPatch) -> Dataset:
    monkeypatch.setattr(worlds, "_LOADED", worlds._Loaded())  # another test may have loaded marbles without boxes
    monkeypatch.setitem(worlds.REGISTRY, NAME, f"{__name__}:WORLD")
    splits = {"train": {"scenes": 40}, "test": {"scenes": 60}}
    return finish(dataset_jobs.start({"world": NAME, "splits": splits}, slug="marbles", images=False))


def split_of(dataset: Dataset, name: str) -> Split:
    return Split.objects.for_browse().get(dataset=dataset, name=name)


def answers_of(split: Split) -> Counter[str]:
    index = SplitIndex.open(split)
    return Counter(index.answer_values[code] for code in truth_of(index).tolist())


def test_predictions_are_scored_by_every_metric_that_the_world_names(marbles: Dataset) -> None:
    call_command("derive", "marbles", "--mcd", "odd-even:50")
    split = split_of(marbles, "test-odd-even-50")
    index = SplitIndex.open(split)
    assert index.boxes is not None and index.boxes.known.all()
    boxes = PredictedBoxes(index.boxes.starts, index.boxes.boxes, np.ones(len(index.boxes.boxes), np.float32))
    terms = terms_of(split, truth_of(index), boxes=boxes, reference=reference_for_site(split))
    found = {name: one.figure() for name, one in terms.items()}
    assert found == {"rmse": 0, "groundp": 1, "ap": 1, "own_parity": 1, "opposite_parity": 1}


def test_a_grounding_set_has_equally_many_questions_with_some_answers_and_all_others(marbles: Dataset) -> None:
    before = answers_of(split_of(marbles, "test"))
    few = ("4", "5", "3")
    least = min(before[answer] for answer in few)
    keep = [f"answer={answer}:{100 * least / before[answer]}" for answer in few]
    options = [part for one in keep for part in ("--keep", one)]
    call_command("derive", "marbles/test", "--name", "grounding", *options)
    after = answers_of(split_of(marbles, "grounding"))
    assert after == {**before, **dict.fromkeys(few, least)}
