"""The report on a count shift, compared with figures that are counted row by row."""

import json
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser

from generation.engine.scoring.counts.label_shift import COMMON_WORDS
from generation.making import dataset_jobs
from generation.models import Dataset, Question, Scene, Split
from generation.reports import count_shifts, scene_objects
from generation.reports.count_shifts import CountShiftFamily, family_of, guesses, names_of, similarities
from generation.splits import question_sets
from generation.splits.count_shifts import CountShift
from generation.splits.split_recipes import read_recipe
from generation.storage.items import item_of
from generation.storage.split_index import WORD, SplitIndex
from tests.generation import fake_world
from tests.generation.complete_datasets import finish, shared

NUMBERS = "type=sum&type=largest"
SHIFT = CountShift("odd", 75.0, NUMBERS, "type")
VISITOR = AnonymousUser()


def make_rows() -> Dataset:
    """Return a dataset without val and with two shifts."""
    splits = {"train": {"scenes": 60}, "test": {"scenes": 40}}
    spec = {**fake_world.PRESET, "splits": splits, "questions_per_scene": 6}
    dataset = finish(dataset_jobs.start(spec, slug="rows", visibility="public", images=False))
    dataset_jobs.shift_counts(dataset, SHIFT, suffix="")
    dataset_jobs.shift_counts(dataset, SHIFT._replace(kept="even", grouped_by=""), suffix="other")
    return dataset


kept = shared(make_rows, world=fake_world)


@pytest.fixture
def dataset(kept: int, db: None) -> Dataset:
    return Dataset.objects.get(pk=kept)


@pytest.fixture
def family(dataset: Dataset) -> CountShiftFamily:
    found = family_of(VISITOR, dataset, "odd-even-75")
    assert found is not None
    return found


def rows_of(split: Split) -> list[Question]:
    """Return the questions of a split or question set, read from the database."""
    rows = list(Question.objects.filter(split=split.source).select_related("scene").order_by("position"))
    positions = SplitIndex.open(split).positions
    return rows if positions is None else [rows[at] for at in positions.tolist()]


def before_of(split: Split) -> list[Question]:
    """Return the questions that the shift may remove: those about numbers, and about the scenes that are meant."""
    rows = [row for row in rows_of(split.source) if row.kind in ("sum", "largest")]
    recipe = json.loads(split.recipe)
    if not {"held_out", "without_held_out"} & set(recipe):
        return rows
    data = {name: value for name, value in recipe.items() if name != "parity"}
    scenes = SplitIndex.open(split.source).scenes
    positions = question_sets.choose(split.source, read_recipe(data)).positions
    meant = set(scenes[positions].tolist())
    return [row for row in rows if row.scene.position in meant]


def counts_of(rows: Sequence[Question]) -> dict[int, int]:
    return dict(Counter(int(row.answer or "") for row in rows))


def slow_similarity(one: Counter[str], other: Counter[str]) -> float:
    return sum(math.sqrt(n / one.total() * other[name] / other.total()) for name, n in one.items())


def test_both_shifts_of_the_dataset_are_found(dataset: Dataset) -> None:
    splits = list(Split.objects.for_browse().filter(dataset=dataset))
    assert names_of(splits) == ["odd-even-75", "other"]
    assert family_of(VISITOR, dataset, "odd-even-90") is None


def test_counts_before_and_after_equal_those_of_the_rows(family: CountShiftFamily) -> None:
    assert [one.role for one in family.sets] == ["train", "val", "test"]
    for one in family.sets:
        found = [{number: n for number, n in enumerate(side.tolist()) if n} for side in (one.before, one.after)]
        assert found == [counts_of(before_of(one.split)), counts_of(rows_of(one.split))]
        odd = sum(n for number, n in found[1].items() if number % 2)
        assert one.odd_and_even()[1] == (odd, one.split.questions - odd)


def test_words_and_objects_are_as_alike_as_the_rows_say(family: CountShiftFamily) -> None:
    rows = {
        (one.role, is_after): rows_of(one.split) if is_after else before_of(one.split)
        for one in family.sets
        for is_after in (False, True)
    }
    words = {side: words_of(found) for side, found in rows.items()}
    objects = {side: objects_of(found) for side, found in rows.items()}
    pairs = [(("train", True), ("train", False)), (("test", True), ("test", False))]
    pairs += [(("train", when), ("test", when)) for when in (False, True)]
    for found, (one, other) in zip(similarities(VISITOR, family), pairs, strict=True):
        assert found.words == pytest.approx(slow_similarity(words[one], words[other])), found.label
        assert found.objects == pytest.approx(slow_similarity(objects[one], objects[other])), found.label


def words_of(rows: Sequence[Question]) -> Counter[str]:
    each = [{match[0] for match in WORD.finditer(row.text.lower())} for row in rows]
    return Counter(word for words in each for word in words - COMMON_WORDS)


def objects_of(rows: Sequence[Question]) -> Counter[str]:
    world = rows[0].split.dataset.get_world()
    spec = rows[0].split.read_spec()
    scenes = {row.scene.pk: row.scene for row in rows}.values()
    return Counter(element.label for scene in scenes for element in world.elements(spec, item_of(scene, world=world)))


def test_guesses_are_right_as_often_as_all_pairs_of_answers_agree(family: CountShiftFamily) -> None:
    found = guesses(family)
    by_name = {one.split.name: rows_of(one.split) for one in family.sets}
    test = by_name["test-odd-even-75"]
    asked = {name: rows for name, rows in by_name.items() if not name.startswith("train")}
    asked |= {f"test-odd-even-75, {kind}": [row for row in test if row.kind == kind] for kind in ("sum", "largest")}
    assert set(found.columns) == set(asked)
    for line, source in zip(found.lines, ("train", "test"), strict=True):
        guessed = by_name[f"{source}-odd-even-75"]
        for column, share in zip(found.columns, line.shares, strict=True):
            right = sum(one.answer == other.answer for one in guessed for other in asked[column])
            assert share == pytest.approx(right / (len(guessed) * len(asked[column])))
        assert line.paper == ()  # the paper has 90 %


def test_objects_are_counted_in_a_sample_of_many_scenes(
    family: CountShiftFamily, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scene_objects, "SAMPLE", 7)
    scene_objects._objects.cache_clear()
    split = family.sets[0].split.source
    found = scene_objects.objects_of(split)
    assert len(found.scenes) == 7
    read = Scene.objects.filter(split=split, position__in=found.scenes.tolist()).count()
    assert read == len(found.counts)
    assert found.among(np.zeros(0, np.int64)).sum() == 0
    scene_objects._objects.cache_clear()


def test_sets_with_withheld_answers_are_not_shown(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_shifts, "may_see", lambda user, split, what: not split.name.startswith("test"))
    found = family_of(VISITOR, dataset, "odd-even-75")
    assert found is not None
    assert [one.role for one in found.sets] == ["train", "val"]
    assert similarities(VISITOR, found) == []
    assert [line.label for line in guesses(found).lines] == ["Random (train)"]
