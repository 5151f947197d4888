"""Canonical lines of some questions, with and without keeping them, compared with reading row by row."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.content_hash import canonical
from generation.making import dataset_jobs
from generation.models import Dataset, Question, Split
from generation.storage import canonical_lines as module
from generation.storage.canonical_lines import canonical_lines, keep_lines
from generation.storage.items import load_chosen
from generation.storage.split_index import SplitIndex
from tests.generation import fake_world
from tests.proof import size

pytestmark = pytest.mark.django_db
N = 240


@pytest.fixture(scope="module")
def split(django_db_setup: None, django_db_blocker: Any) -> Any:
    """Give a sealed split of 40 scenes with 6 questions each, in blocks of 50 questions, with the database open."""
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patched:
        patched.setitem(dataset_jobs.engine.REGISTRY, fake_world.NAME, fake_world.WHERE)
        patched.setattr(module, "BLOCK", 50)
        spec = {**fake_world.PRESET, "splits": {"train": {"scenes": N // 6}}, "questions_per_scene": 6}
        dataset = dataset_jobs.start(spec, slug="lines", images=False)
        dataset_jobs.work(dataset=dataset)
        yield Split.objects.for_browse().get(dataset=dataset, name="train")
        Dataset.objects.filter(pk=dataset.pk).delete()


def slow_lines(split: Split, positions: list[int]) -> list[str]:
    """Return the lines from the engine's items."""
    scenes = SplitIndex.open(split).scenes[positions]
    lines = []
    for stored in load_chosen(split, np.array(positions), scenes=scenes):
        lines.append(canonical(stored.scene.scene_json))
        lines += [canonical(question.to_json()) for question in stored.item.questions]
    return lines


def lines_of(split: Split, positions: list[int]) -> list[str]:
    scenes = SplitIndex.open(split).scenes[positions]
    found = list(canonical_lines(split, np.array(positions), scenes=scenes))
    assert sum(count for count, _ in found) == len(positions)
    return [line for _, lines in found for line in lines]


@settings(max_examples=size(100, least=20, most=20))
@given(
    sets=st.lists(st.sets(st.integers(0, N - 1), min_size=1).map(sorted), min_size=1, max_size=4),
    most=st.sampled_from([0, 20_000, 10**9]),
)
def test_kept_lines_are_those_of_the_rows(split: Split, sets: list[list[int]], most: int) -> None:
    """With few kept characters, blocks are dropped and read again."""
    with pytest.MonkeyPatch.context() as patched, keep_lines():
        patched.setattr(module, "MOST_KEPT", most)
        for positions in [*sets, list(range(N))]:
            expected = slow_lines(split, positions)
            assert lines_of(split, positions) == expected
    assert lines_of(split, sets[0]) == slow_lines(split, sets[0])


def test_each_row_is_read_once_while_lines_are_kept(split: Split, django_assert_num_queries: Any) -> None:
    with keep_lines():
        lines_of(split, list(range(N)))
        with django_assert_num_queries(0):
            lines_of(split, list(range(10, N, 2)))


@pytest.mark.parametrize("are_kept", [True, False])
def test_questions_without_a_row_or_a_scene_are_left_out(split: Split, are_kept: bool) -> None:
    """Of scenes with 6 questions each, the first question of scene 1 and the row of scene 3 are missing."""
    expected = [
        line for first, last in ((0, 5), (7, 17), (24, N - 1)) for line in slow_lines(split, [*range(first, last + 1)])
    ]
    scenes = SplitIndex.open(split).scenes[:]
    with transaction.atomic():
        Question.objects.filter(split=split, position=6).delete()
        Question.objects.filter(scene__split=split, scene__position=3).update(scene=split.scene_set.get(position=0))
        split.scene_set.get(position=3).delete()
        with keep_lines() if are_kept else nullcontext():
            found = list(canonical_lines(split, np.arange(N), scenes=scenes))
        transaction.set_rollback(True)
    assert sum(count for count, _ in found) == N - 7
    assert [line for _, lines in found for line in lines] == expected
