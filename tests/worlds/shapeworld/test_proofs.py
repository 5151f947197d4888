"""The verification of microworlds accepts generated items, and every change is found by its own check."""

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
from tests.worlds.shapeworld.test_item_sampler import generate, scene_of

WORLD, MAKER = get_world("shapeworld"), get_maker("shapeworld")
Change = Callable[[Item], Item]


def checks(item: Item, spec: ShapeWorldSpec, *, made: bool = True) -> set[str]:
    """Return the checks that find an error in an item."""
    checker, found = Checker(WORLD, spec, made=made), Proof()
    checker.begin()
    checker.prove(item, found)
    return {flaw.check for flaw in found.settle()}


@pytest.fixture(scope="module")
def spec() -> ShapeWorldSpec:
    return read_spec(PRESETS["shapeworld-logical"]).for_split("train")


@pytest.fixture(scope="module")
def item(spec: ShapeWorldSpec) -> Item:
    """An item in which at least one entity is covered."""
    return next(one for one in generate(spec) if any(scene_of(one).covers) and len(scene_of(one).entities) > 3)


def change_scene(**changes: object) -> Change:
    """Return a function that changes the scene of an item."""
    return lambda item: replace(item, scene=replace(scene_of(item), **changes))  # type: ignore[arg-type]


def change_last_entity(**changes: Any) -> Change:
    """Return a function that changes the last entity of a scene."""

    def change(item: Item) -> Item:
        scene = scene_of(item)
        return replace(
            item, scene=replace(scene, entities=(*scene.entities[:-1], scene.entities[-1]._replace(**changes)))
        )

    return change


def change_caption(**changes: object) -> Change:
    """Return a function that changes the caption of an item."""
    return lambda item: replace(item, questions=(replace(item.questions[0], **changes),))  # type: ignore[arg-type]


def turned(item: Item) -> Item:
    """Return the item with the opposite answer."""
    right = item.questions[0].answer
    other = "no" if right is not None and right.text == "yes" else "yes"
    return change_caption(answer=Answer(other, AnswerKind.YES_NO))(item)


def uncovered(item: Item) -> Item:
    return change_scene(covers=(0,) * len(scene_of(item).entities))(item)


def backwards(item: Item) -> Item:
    scene = scene_of(item)
    nothing = (0,) * len(scene.entities)
    return change_scene(entities=scene.entities[::-1], covers=nothing, grazes=nothing)(item)


def first_alone(item: Item) -> Item:
    return change_scene(entities=scene_of(item).entities[:1], covers=(0,), grazes=(0,))(item)


@pytest.mark.parametrize("name", tuple(PRESETS))
def test_generated_items_are_valid(name: str) -> None:
    spec = read_spec(PRESETS[name]).for_split("validation")
    for item in islice(generate(spec), proof.size(300, least=5)):
        assert checks(item, spec) == set(), item.questions[0].text


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (change_last_entity(color="pink"), "vocabulary"),
        (change_last_entity(shape="square", color="red"), "rules"),
        (change_last_entity(width=0.3), "scenes"),
        (change_last_entity(height=0.3), "scenes"),
        (change_last_entity(shade=0.9), "scenes"),
        (change_last_entity(rotation=1.5), "scenes"),
        (change_last_entity(x=1.2), "scenes"),
        (change_scene(height=32, width=32), "scenes"),
        (change_scene(noise=0.5), "scenes"),
        (change_scene(noise_seed=3), "scenes"),
        (uncovered, "references"),
        (backwards, "scenes"),
        (first_alone, "scenes"),
        (turned, "programs"),
        (change_caption(text="There is a red square."), "texts"),
        (change_caption(text="There are a red square."), "texts"),
        (change_caption(kind="existential"), "families"),
        (change_caption(family=1), "families"),
    ],
)
def test_every_change_is_found(spec: ShapeWorldSpec, item: Item, change: Change, check: str) -> None:
    assert checks(item, spec) == set()
    assert check in checks(change(item), spec)


def test_entities_of_one_colour_on_top_of_each_other_are_found(spec: ShapeWorldSpec, item: Item) -> None:
    scene = scene_of(item)
    twins = (scene.entities[0], scene.entities[0], *scene.entities[2:])
    assert "scenes" in checks(change_scene(entities=twins)(item), spec)


def test_imported_items_need_not_follow_the_parameters(spec: ShapeWorldSpec, item: Item) -> None:
    assert checks(change_last_entity(width=0.3)(item), spec, made=False) == set()


@pytest.mark.parametrize("name", ["shapeworld-multishape", "shapeworld-existential"])
def test_drawn_pictures_are_valid_and_other_pictures_are_found(name: str) -> None:
    spec = read_spec(PRESETS[name]).for_split("train")
    items = [one for one in islice(generate(spec), 12) if len(scene_of(one).entities) > 1]
    drawn = [draw(scene_of(one), spec.vocabulary) for one in items]
    for one, (rgb, ids), (other, others) in zip(items, drawn, drawn[1:] + drawn[:1], strict=True):
        assert checks_of_pictures(spec, one, rgb, ids) == set()
        assert checks_of_pictures(spec, one, other, ids) == {"images"}
        assert checks_of_pictures(spec, one, rgb, others) == {"masks"}
        assert checks_of_pictures(spec, one, rgb[:32], ids[:, :32]) == {"images", "masks"}


def checks_of_pictures(spec: ShapeWorldSpec, item: Item, rgb: np.ndarray, ids: np.ndarray) -> set[str]:
    """Return the checks that find an error in a picture and its object ids."""
    prover, found = WORLD.prover(spec, made=True), Proof()
    assert prover is not None
    prover.prove_pictures(item, rgb, ids, found)
    return {flaw.check for flaw in found.settle()}


def test_items_without_a_scene_are_reported_as_not_verified(spec: ShapeWorldSpec, item: Item) -> None:
    prover, found = WORLD.prover(spec, made=True), Proof()
    assert prover is not None
    prover.prove(replace(item, scene=None), [None], found)
    assert found.open == {"items without a microworld": 1}
    assert isinstance(item.scene, FlatScene)
