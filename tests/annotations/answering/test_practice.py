"""Easy questions: short questions about objects that are clearly visible."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from django.core.cache import cache

from annotations.answering import questions
from generation.engine.items import Item
from generation.engine.worlds import find_preset, get_world
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.picture import draw_ids
from generation.engine.worlds.clevr.scene import ClevrScene, SceneObject
from generation.engine.worlds.clevr.world import ClevrWorld
from generation.making import dataset_jobs
from generation.models import Dataset, Question, Scene, Split
from generation.storage.items import item_of
from generation.storage.split_index import SplitIndex
from tests.generation import small

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def clear_caches() -> Iterator[None]:
    """Clear what other tests have put into the caches."""
    questions._found.cache_clear()
    cache.clear()
    yield
    questions._found.cache_clear()


@pytest.fixture(scope="module")
def many(django_db_setup: None, django_db_blocker: Any) -> Iterator[int]:
    """Give a split of thirty CLEVR scenes without pictures, whose pictures would have the size of CLEVR's."""
    images = {"width": 480, "height": 320, "samples": 1}
    with django_db_blocker.unblock():
        dataset = small.made(
            "easy", with_images=False, images=images, splits={"train": {"scenes": 30}}, questions={"per_scene": 10}
        )
        yield dataset.splits.get().pk
        dataset.delete()


@pytest.fixture
def train(many: int, db: None) -> Split:
    return Split.objects.for_browse().get(pk=many)


def visible_shares(scene: Scene, split: Split) -> list[float]:
    """Return the visible share of each object of a scene, counted in pixels at the size of the picture."""
    world, words = split.dataset.get_world(), split.read_spec().vocabulary  # type: ignore[attr-defined]
    item = item_of(scene, world=world)
    view, objects = item.view, item.scene.objects  # type: ignore[union-attr]
    assert isinstance(view, View)
    seen = np.bincount(draw_ids(objects, view, words).ravel(), minlength=len(objects) + 1)[1:]
    alone = [np.count_nonzero(draw_ids([one], view, words)) for one in objects]
    return [one / whole for one, whole in zip(seen.tolist(), alone, strict=True)]


def numbers_of(split: Split, name: str) -> list[float]:
    """Return the number that a facet gives to each question of a split, infinity if it gives none."""
    facet = SplitIndex.open(split).facets[name]
    return [int(facet.values[code]) if code < facet.none else math.inf for code in facet.codes.tolist()]


def texts_of(split: Split, positions: Iterable[int]) -> list[str]:
    rows = Question.objects.filter(split=split, position__in=[int(one) for one in positions])
    return list(rows.values_list("text", flat=True))


def test_easy_questions_are_short_and_every_object_is_clearly_visible(train: Split) -> None:
    found, index = questions.positions(train, least=1), SplitIndex.open(train)
    assert max(len(text.split()) for text in texts_of(train, found)) <= 12
    for name, most in (("effective", 6), ("length", 8)):
        assert max(numbers_of(train, name)[one] for one in found.tolist()) <= most
    shown = {scene.position: min(visible_shares(scene, train)) for scene in Scene.objects.filter(split=train)}
    taken = set(index.scenes[found].tolist())
    assert min(shown[one] for one in taken) > 0.75
    assert taken < set(shown)  # the other scenes have partly hidden objects
    hidden = [one for one, share in shown.items() if share < 0.7]
    assert hidden and not taken & set(hidden)


def test_a_long_question_with_a_short_equivalent_is_not_easy(train: Split) -> None:
    effective, length, words = (numbers_of(train, name) for name in ("effective", "length", "words"))
    short = set(questions._found(train.pk, train.index_digest).short.tolist())
    assert short == {
        one for one in range(train.questions) if effective[one] <= 6 and length[one] <= 8 and words[one] <= 12
    }
    assert any(one <= 6 and of > 12 for one, of in zip(effective, words, strict=True))


def test_too_few_easy_questions_are_replaced_by_short_ones_and_these_by_the_shortest(train: Split) -> None:
    clear, short, _ = questions._found(train.pk, train.index_digest)
    assert set(clear.tolist()) < set(short.tolist())
    assert len(questions.positions(train, least=len(clear) + 1)) == len(short)
    least = len(short) + 5
    shortest = questions.positions(train, least=least)
    assert len(shortest) == least and set(short.tolist()) < set(shortest.tolist())
    words = numbers_of(train, "words")
    assert max(words[one] for one in shortest.tolist()) < max(words)
    assert len(questions.positions(train, least=train.questions + 1)) == train.questions


@pytest.mark.parametrize(
    ("preset", "most"),
    [("babi", {"lines": 6, "supports": 2}), ("shapeworld-mixer", {"length": 6, "words": 8})],
)
def test_other_worlds_have_easy_questions_too(preset: str, most: dict[str, int], db: None) -> None:
    spec = {**find_preset(preset), "splits": {"train": {"scenes": 200}}}
    dataset = dataset_jobs.start(spec, slug="others", images=False, visibility="public")
    dataset_jobs.work(dataset=dataset)
    train = Split.objects.for_browse().get(dataset=dataset)
    found = questions.positions(train, least=14).tolist()
    assert 14 <= len(found) < train.questions
    for name, limit in most.items():
        assert max(numbers_of(train, name)[one] for one in found) <= limit
        assert max(numbers_of(train, name)) > limit
    assert max(len(text.split()) for text in texts_of(train, found)) <= 12


def test_questions_are_found_once_per_process_and_scenes_are_examined_once_per_site(
    train: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = questions.positions(train, least=1)
    monkeypatch.setattr(ClevrWorld, "is_clear", lambda *_: 1 / 0)
    assert questions.positions(train, least=1) is first
    questions._found.cache_clear()  # as in another process
    assert questions.positions(train, least=1).tolist() == first.tolist()


def test_a_limited_number_of_scenes_of_a_large_split_is_examined(train: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []
    monkeypatch.setattr(questions, "LOOKED_AT", 7)
    monkeypatch.setattr(ClevrWorld, "is_clear", lambda self, spec, item: looked.append(item))
    found = questions.positions(train, least=1)
    assert len(looked) == 7 == len(set(SplitIndex.open(train).scenes[found].tolist()))


def test_all_questions_are_easy_if_the_world_cannot_judge_scenes(made: Dataset) -> None:
    val = made.splits.get(name="val")
    assert len(questions.positions(val, least=1)) == val.questions


def sphere(x: float, y: float, size: str = "large") -> SceneObject:
    return SceneObject("sphere", size, "rubber", "red", (x, y, 0.7), 0.0, (0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("things", "clear"),
    [
        ((sphere(2, 2), sphere(-2, -2)), True),
        ((sphere(0, 0), sphere(1.15, -1)), False),  # one is in front of the other in the camera's view
        ((sphere(-9, 9, "small"),), False),
    ],
)
def test_a_scene_with_a_hidden_or_small_object_is_not_clear(things: tuple[SceneObject, ...], clear: bool) -> None:
    world = get_world("clevr")
    spec = world.read_spec({"base": "clevr-mini"})
    scene = ClevrScene(things, {}, {})
    assert world.is_clear(spec, Item(scene, View(), ())) is clear
    assert world.is_clear(spec, Item(scene, None, ())) is None  # the view of the camera is unknown
