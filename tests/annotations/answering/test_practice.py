"""Easy questions: short ones about something in plain sight."""

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
def anew() -> Iterator[None]:
    """Let nothing be known from before."""
    questions._found.cache_clear()
    cache.clear()
    yield
    questions._found.cache_clear()


@pytest.fixture(scope="module")
def many(django_db_setup: None, django_db_blocker: Any) -> Iterator[int]:
    """Give a split of thirty CLEVR scenes without pictures, of the size that CLEVR has."""
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


def shown_of(scene: Scene, split: Split) -> list[float]:
    """Return what each object of a scene shows of itself, in the picture's own size."""
    world, words = split.dataset.get_world(), split.read_spec().vocabulary  # type: ignore[attr-defined]
    item = item_of(scene, world=world)
    view, objects = item.view, item.scene.objects  # type: ignore[union-attr]
    assert isinstance(view, View)
    seen = np.bincount(draw_ids(objects, view, words).ravel(), minlength=len(objects) + 1)[1:]
    alone = [np.count_nonzero(draw_ids([one], view, words)) for one in objects]
    return [one / whole for one, whole in zip(seen.tolist(), alone, strict=True)]


def numbers_of(split: Split, name: str) -> list[float]:
    """Return the number that each question of a split has by a facet."""
    facet = SplitIndex.open(split).facets[name]
    return [int(facet.values[code]) if code < facet.none else math.inf for code in facet.codes.tolist()]


def texts_of(split: Split, positions: Iterable[int]) -> list[str]:
    rows = Question.objects.filter(split=split, position__in=[int(one) for one in positions])
    return list(rows.values_list("text", flat=True))


def test_easy_questions_are_short_as_asked_and_every_object_is_well_seen(train: Split) -> None:
    found, index = questions.positions(train, least=1), SplitIndex.open(train)
    assert max(len(text.split()) for text in texts_of(train, found)) <= 12
    for name, most in (("effective", 6), ("length", 8)):
        assert max(numbers_of(train, name)[one] for one in found.tolist()) <= most
    shown = {scene.position: min(shown_of(scene, train)) for scene in Scene.objects.filter(split=train)}
    taken = set(index.scenes[found].tolist())
    assert min(shown[one] for one in taken) > 0.75
    assert taken < set(shown)  # others hide something
    hidden = [one for one, share in shown.items() if share < 0.7]
    assert hidden and not taken & set(hidden)


def test_a_short_equivalent_makes_no_long_question_easy(train: Split) -> None:
    effective, length, words = (numbers_of(train, name) for name in ("effective", "length", "words"))
    short = set(questions._found(train.pk, train.index_digest).short.tolist())
    assert short == {
        one for one in range(train.questions) if effective[one] <= 6 and length[one] <= 8 and words[one] <= 12
    }
    assert any(one <= 6 and of > 12 for one, of in zip(effective, words, strict=True))


def test_too_few_give_way_to_short_ones_and_these_to_the_shortest(train: Split) -> None:
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


def test_they_are_found_once_a_process_and_pictures_looked_at_once_a_site(
    train: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = questions.positions(train, least=1)
    monkeypatch.setattr(ClevrWorld, "is_clear", lambda *_: 1 / 0)
    assert questions.positions(train, least=1) is first
    questions._found.cache_clear()  # another process
    assert questions.positions(train, least=1).tolist() == first.tolist()


def test_of_a_large_split_so_many_scenes_are_looked_at(train: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []
    monkeypatch.setattr(questions, "LOOKED_AT", 7)
    monkeypatch.setattr(ClevrWorld, "is_clear", lambda self, spec, item: looked.append(item))
    found = questions.positions(train, least=1)
    assert len(looked) == 7 == len(set(SplitIndex.open(train).scenes[found].tolist()))


def test_a_world_that_can_not_say_has_its_questions_all_the_same(made: Dataset) -> None:
    val = made.splits.get(name="val")
    assert len(questions.positions(val, least=1)) == val.questions


def sphere(x: float, y: float, size: str = "large") -> SceneObject:
    return SceneObject("sphere", size, "rubber", "red", (x, y, 0.7), 0.0, (0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("things", "clear"),
    [
        ((sphere(2, 2), sphere(-2, -2)), True),
        ((sphere(0, 0), sphere(1.15, -1)), False),  # one before the other, as the camera sees them
        ((sphere(-9, 9, "small"),), False),
    ],
)
def test_what_is_hidden_or_small_is_not_clear(things: tuple[SceneObject, ...], clear: bool) -> None:
    world = get_world("clevr")
    spec = world.read_spec({"base": "clevr-mini"})
    scene = ClevrScene(things, {}, {})
    assert world.is_clear(spec, Item(scene, View(), ())) is clear
    assert world.is_clear(spec, Item(scene, None, ())) is None  # nobody knows from where it is seen
