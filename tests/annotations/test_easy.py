"""Easy questions: short ones about something in plain sight."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.core.cache import cache

from annotations import easy
from generation.engine.worlds import Item, get_world
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.picture import draw_ids
from generation.engine.worlds.clevr.scene import Scene as ClevrScene
from generation.engine.worlds.clevr.scene import SceneObject
from generation.engine.worlds.clevr.world import ClevrWorld
from generation.index import SplitIndex
from generation.models import Dataset, Scene, Split
from generation.store import item_of
from tests.generation import small

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    """Let nothing be known from before."""
    easy._found.cache_clear()
    cache.clear()
    yield
    easy._found.cache_clear()


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


def test_easy_questions_have_at_most_six_effective_steps_and_every_object_is_well_seen(train: Split) -> None:
    found, index = easy.positions(train, least=1), SplitIndex.open(train)
    effective = index.facets["effective"]
    lengths = {int(effective.values[code]) for code in effective.codes[found].tolist()}
    assert lengths and max(lengths) <= 6
    shown = {scene.position: min(shown_of(scene, train)) for scene in Scene.objects.filter(split=train)}
    taken = set(index.scenes[found].tolist())
    assert min(shown[one] for one in taken) > 0.75
    assert taken < set(shown)  # others hide something
    hidden = [one for one, share in shown.items() if share < 0.7]
    assert hidden and not taken & set(hidden)


def test_a_question_counts_by_its_shortest_equivalent(train: Split) -> None:
    index = SplitIndex.open(train)
    length, effective = ([int(one.values[code]) for code in one.codes.tolist() if code < one.none] for one in (
        index.facets["length"], index.facets["effective"]))  # fmt: skip
    assert sum(one <= 6 for one in effective) > sum(one <= 6 for one in length)
    short = easy._found(train.pk, train.index_digest).short
    assert len(short) == sum(one <= 6 for one in effective)


def test_too_few_give_way_to_short_ones_and_these_to_all(train: Split) -> None:
    clear, short = easy._found(train.pk, train.index_digest)
    assert set(clear.tolist()) < set(short.tolist())
    assert len(easy.positions(train, least=len(clear) + 1)) == len(short)
    assert len(easy.positions(train, least=len(short) + 1)) == train.questions


def test_they_are_found_once_a_process_and_pictures_looked_at_once_a_site(
    train: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = easy.positions(train, least=1)
    monkeypatch.setattr(ClevrWorld, "is_clear", lambda *_: 1 / 0)
    assert easy.positions(train, least=1) is first
    easy._found.cache_clear()  # another process
    assert easy.positions(train, least=1).tolist() == first.tolist()


def test_of_a_large_split_so_many_scenes_are_looked_at(train: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []
    monkeypatch.setattr(easy, "LOOKED_AT", 7)
    monkeypatch.setattr(ClevrWorld, "is_clear", lambda self, spec, item: looked.append(item))
    found = easy.positions(train, least=1)
    assert len(looked) == 7 == len(set(SplitIndex.open(train).scenes[found].tolist()))


def test_a_world_that_can_not_say_has_its_questions_all_the_same(made: Dataset) -> None:
    val = made.splits.get(name="val")
    assert len(easy.positions(val, least=1)) == val.questions


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
