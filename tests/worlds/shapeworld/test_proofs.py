"""What is proved of microworlds: ours hold, and whatever is changed is found by its own check."""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from generation.engine.items import Answer, AnswerKind, Item
from generation.engine.verification.checks import Checker
from generation.engine.verification.proof import Proof
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.shapeworld.picture import draw
from generation.engine.worlds.shapeworld.scene import FlatScene
from generation.engine.worlds.shapeworld.spec import PRESETS, ShapeWorldSpec, read_spec
from tests import proof
from tests.worlds.shapeworld.test_item_sampler import made, scene_of

WORLD, MAKER = get_world("shapeworld"), get_maker("shapeworld")
Change = Callable[[Item], Item]


def checks(item: Item, spec: ShapeWorldSpec, *, made: bool = True) -> set[str]:
    """Return which checks find something wrong with an item."""
    checker, found = Checker(WORLD, spec, made=made), Proof()
    checker.begin()
    checker.prove(item, found)
    return {flaw.check for flaw in found.settle()}


@pytest.fixture(scope="module")
def spec() -> ShapeWorldSpec:
    return read_spec(PRESETS["shapeworld-logical"]).for_split("train")


@pytest.fixture(scope="module")
def item(spec: ShapeWorldSpec) -> Item:
    """One in which something is covered."""
    return next(one for one in made(spec) if any(scene_of(one).covers) and len(scene_of(one).entities) > 3)


def in_scene(**changes: object) -> Change:
    """Return what changes a scene."""
    return lambda item: replace(item, scene=replace(scene_of(item), **changes))  # type: ignore[arg-type]


def in_last(**changes: Any) -> Change:
    """Return what changes a scene's last entity."""

    def change(item: Item) -> Item:
        scene = scene_of(item)
        return replace(
            item, scene=replace(scene, entities=(*scene.entities[:-1], scene.entities[-1]._replace(**changes)))
        )

    return change


def in_question(**changes: object) -> Change:
    """Return what changes a caption."""
    return lambda item: replace(item, questions=(replace(item.questions[0], **changes),))  # type: ignore[arg-type]


def turned(item: Item) -> Item:
    """Return an item with the other answer."""
    right = item.questions[0].answer
    other = "no" if right is not None and right.text == "yes" else "yes"
    return in_question(answer=Answer(other, AnswerKind.YES_NO))(item)


def uncovered(item: Item) -> Item:
    return in_scene(covers=(0,) * len(scene_of(item).entities))(item)


def backwards(item: Item) -> Item:
    scene = scene_of(item)
    nothing = (0,) * len(scene.entities)
    return in_scene(entities=scene.entities[::-1], covers=nothing, grazes=nothing)(item)


def first_alone(item: Item) -> Item:
    return in_scene(entities=scene_of(item).entities[:1], covers=(0,), grazes=(0,))(item)


@pytest.mark.parametrize("name", tuple(PRESETS))
def test_ours_hold(name: str) -> None:
    spec = read_spec(PRESETS[name]).for_split("validation")
    for item in islice(made(spec), proof.size(300, least=5)):
        assert checks(item, spec) == set(), item.questions[0].text


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (in_last(color="pink"), "vocabulary"),
        (in_last(shape="square", color="red"), "rules"),
        (in_last(width=0.3), "scenes"),
        (in_last(height=0.3), "scenes"),
        (in_last(shade=0.9), "scenes"),
        (in_last(rotation=1.5), "scenes"),
        (in_last(x=1.2), "scenes"),
        (in_scene(height=32, width=32), "scenes"),
        (in_scene(noise=0.5), "scenes"),
        (in_scene(noise_seed=3), "scenes"),
        (uncovered, "references"),
        (backwards, "scenes"),
        (first_alone, "scenes"),
        (turned, "programs"),
        (in_question(text="There is a red square."), "texts"),
        (in_question(text="There are a red square."), "texts"),
        (in_question(kind="existential"), "families"),
        (in_question(family=1), "families"),
    ],
)
def test_whatever_is_changed_is_found(spec: ShapeWorldSpec, item: Item, change: Change, check: str) -> None:
    assert checks(item, spec) == set()
    assert check in checks(change(item), spec)


def test_entities_of_one_colour_on_each_other_are_found(spec: ShapeWorldSpec, item: Item) -> None:
    scene = scene_of(item)
    twins = (scene.entities[0], scene.entities[0], *scene.entities[2:])
    assert "scenes" in checks(in_scene(entities=twins)(item), spec)


def test_what_is_imported_promises_nothing_of_its_making(spec: ShapeWorldSpec, item: Item) -> None:
    assert checks(in_last(width=0.3)(item), spec, made=False) == set()


@pytest.mark.parametrize("name", ["shapeworld-multishape", "shapeworld-existential"])
def test_pictures_that_we_draw_hold_and_others_are_found(name: str) -> None:
    spec = read_spec(PRESETS[name]).for_split("train")
    items = [one for one in islice(made(spec), 12) if len(scene_of(one).entities) > 1]
    drawn = [draw(scene_of(one), spec.vocabulary) for one in items]
    for one, (rgb, ids), (other, others) in zip(items, drawn, drawn[1:] + drawn[:1], strict=True):
        assert pictured(spec, one, rgb, ids) == set()
        assert pictured(spec, one, other, ids) == {"images"}
        assert pictured(spec, one, rgb, others) == {"masks"}
        assert pictured(spec, one, rgb[:32], ids[:, :32]) == {"images", "masks"}


def pictured(spec: ShapeWorldSpec, item: Item, rgb: np.ndarray, ids: np.ndarray) -> set[str]:
    """Return which checks find something wrong with a picture and its ids."""
    prover, found = WORLD.prover(spec, made=True), Proof()
    assert prover is not None
    prover.prove_pictures(item, rgb, ids, found)
    return {flaw.check for flaw in found.settle()}


def test_items_without_a_scene_are_left_open(spec: ShapeWorldSpec, item: Item) -> None:
    prover, found = WORLD.prover(spec, made=True), Proof()
    assert prover is not None
    prover.prove(replace(item, scene=None), [None], found)
    assert found.open == {"items without a microworld": 1}
    assert isinstance(item.scene, FlatScene)
