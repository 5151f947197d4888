"""What is proved of streets: ours hold, and whatever is changed is found by its own check."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from generation.engine.items import Answer, AnswerKind, Item
from generation.engine.program import execute
from generation.engine.seeding import Stage, stream
from generation.engine.verification.checks import Checker
from generation.engine.verification.proof import Proof
from generation.engine.worlds.simtown.programs import RELATIONS, program_of
from generation.engine.worlds.simtown.question_text import say
from generation.engine.worlds.simtown.road import sizes
from generation.engine.worlds.simtown.scene import SimTownScene, Vehicle
from generation.engine.worlds.simtown.spec import SimTownSpec
from tests import proof
from tests.worlds.simtown import twin
from tests.worlds.simtown.made import (
    ALL_RELATIONS,
    BASES,
    MAKER,
    RANDOM_BASES,
    WORLD,
    items,
    make_items,
    says_yes,
    scene_of,
    sized,
    spec_of,
    words_asked_of,
)

Change = Callable[[Item], Item]
SPEC = spec_of("simtown-k15-distractor")
REVERSE = {"left": "right", "right": "left", "front": "behind", "behind": "front"}


def checks(item: Item, spec: SimTownSpec = SPEC, *, made: bool = True) -> set[str]:
    """Return which checks find something wrong with an item."""
    checker, found = Checker(WORLD, spec, made=made), Proof()
    checker.begin()
    checker.prove(item, found)
    return {flaw.check for flaw in found.settle()}


@pytest.fixture(scope="module")
def item() -> Item:
    """A true one with three vehicles that are far from the borders."""
    true = [one for one in items("simtown-k15-distractor", 80)["train"] if says_yes(one)]
    return min(true, key=lambda one: max(abs(each.x) for each in scene_of(one).vehicles))


def in_vehicle(number: int, **changes: Any) -> Change:
    def change(item: Item) -> Item:
        vehicles = list(scene_of(item).vehicles)
        vehicles[number] = vehicles[number].model_copy(update=changes)
        return in_scene(vehicles=tuple(vehicles))(item)

    return change


def in_scene(**changes: Any) -> Change:
    return lambda item: replace(item, scene=scene_of(item).model_copy(update=changes))


def in_question(**changes: Any) -> Change:
    return lambda item: replace(item, questions=(replace(item.questions[0], **changes),))


def out_of_its_lane(item: Item) -> Item:
    first = scene_of(item).vehicles[0]
    return in_vehicle(0, y=first.y + 0.8)(item)


def in_the_other_lane_by_name(item: Item) -> Item:
    first = scene_of(item).vehicles[0]
    return in_vehicle(0, lane="far" if first.lane == "near" else "near")(item)


def into_another(item: Item) -> Item:
    first = scene_of(item).vehicles[0]
    return in_vehicle(1, lane=first.lane, y=first.y, x=first.x + 0.3)(item)


def without_the_third(item: Item) -> Item:
    return in_scene(vehicles=scene_of(item).vehicles[:2])(item)


def twins(item: Item) -> Item:
    return in_vehicle(2, entity=scene_of(item).vehicles[0].entity)(item)


def third_moved(item: Item) -> Item:
    """Return an item whose third vehicle stands as far from the object as the first one, on the other side."""
    _, second, third = scene_of(item).vehicles
    for lane, x in ((lane, x) for lane in ("near", "far") for x in (-4.0, 4.0, -3.0, 3.0, -5.0, 5.0)):
        moved = third.model_copy(update={"lane": lane, "x": x, "y": {"near": 1.7, "far": 5.1}[lane]})
        if abs(twin.metres(moved, second, "right")) >= SPEC.questions.margin:
            return in_scene(vehicles=(*scene_of(item).vehicles[:2], moved))(item)
    raise AssertionError


def behind_another(item: Item) -> Item:
    """Return an item whose second vehicle is hidden: a small one directly behind a large one."""
    one = Vehicle(entity="double-decker bus", lane="near", x=0.0, y=1.7)
    two = Vehicle(entity="motorcycle", lane="far", x=-0.3, y=5.1)
    return in_scene(vehicles=(one, two, scene_of(item).vehicles[2].model_copy(update={"x": 8.0})))(item)


def other_answer(item: Item) -> Item:
    return in_question(answer=Answer("no", AnswerKind.YES_NO))(item)


def text_of_another(item: Item) -> Item:
    subject, relation, other = words_asked_of(item)
    chance = stream(seed=0, split="", index=0, stage=Stage.WORDS)
    return in_question(text=say(other, relation, subject, chance))(item)


def text_of_the_reverse(item: Item) -> Item:
    subject, relation, other = words_asked_of(item)
    chance = stream(seed=0, split="", index=0, stage=Stage.WORDS)
    return in_question(text=say(subject, REVERSE[relation], other, chance))(item)


def another_scene(item: Item) -> Item:
    """Return an item with a scene that shows none of the vehicles it asks for."""
    wanted = {words_asked_of(item)[0], words_asked_of(item)[2]}
    for one in items("simtown-k15-distractor", 80)["train"]:
        if not wanted & {vehicle.entity for vehicle in scene_of(one).vehicles}:
            return replace(item, scene=one.scene)
    raise AssertionError


@pytest.mark.parametrize("base", (*BASES, *RANDOM_BASES))
def test_ours_hold(base: str) -> None:
    spec = spec_of(base)
    for split, some in items(base, proof.size(10_000 // len(BASES))).items():
        for one in some:
            assert checks(one, spec.for_split(split)) == set(), one


@pytest.mark.parametrize("base", ["simtown-k15-distractor", "simtown-k15-random-distractor"])
def test_ours_hold_with_all_four_relations(base: str) -> None:
    spec = sized(base, train=proof.size(4_000), **ALL_RELATIONS)
    for one in make_items(spec, "train"):
        assert checks(one, spec) == set(), one


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (other_answer, "answers"),
        (other_answer, "programs"),
        (in_question(answer=Answer("maybe", AnswerKind.YES_NO)), "vocabulary"),
        (out_of_its_lane, "scenes"),
        (in_the_other_lane_by_name, "scenes"),
        (into_another, "scenes"),
        (in_vehicle(0, x=9.0), "scenes"),
        (in_vehicle(0, x=-9.0), "scenes"),
        (in_vehicle(0, entity="white bus"), "scenes"),
        (in_vehicle(0, entity="zeppelin"), "scenes"),
        (without_the_third, "scenes"),
        (twins, "scenes"),
        (behind_another, "scenes"),
        (in_scene(distractor=False), "scenes"),
        (third_moved, "rules"),
        (text_of_another, "texts"),
        (text_of_the_reverse, "texts"),
        (in_question(text="Is it?"), "texts"),
        (in_question(program=None), "texts"),
        (in_question(program=program_of("taxi", "left", "taxi")), "texts"),
        (in_question(kind="near"), "programs"),
        (another_scene, "answers"),
        (another_scene, "programs"),
    ],
)
def test_whatever_is_changed_is_found(item: Item, change: Change, check: str) -> None:
    assert checks(item) == set()
    assert check in checks(change(item))


def test_a_weather_that_the_spec_leaves_out_is_found(item: Item) -> None:
    others = [one for one in ("clear", "fog", "snow") if one != scene_of(item).weather]
    assert checks(item, spec_of("simtown-k15-distractor", scene={"weathers": others})) == {"scenes"}


def test_too_few_visible_pixels_are_found(item: Item) -> None:
    vehicles = scene_of(item).vehicles
    counts = np.bincount(twin.object_ids(vehicles, width=96, height=64).ravel(), minlength=4)[1:]
    fewest = min(int(counts.min()), 100)
    assert checks(item, spec_of("simtown-k15-distractor", scene={"least_pixels": fewest})) == set()
    hidden = behind_another(item)
    assert "scenes" in checks(hidden, spec_of("simtown-k15-distractor", scene={"least_pixels": 100}))


def about_the_third(item: Item, *, is_subject: bool) -> Item:
    """Return a true question with the distractor as the subject, or as the object."""
    first, _, third = scene_of(item).vehicles
    subject, other = (third, first) if is_subject else (first, third)
    relation = next(name for name in ("left", "right") if twin.metres(subject, other, name) >= SPEC.questions.margin)
    chance = stream(seed=0, split="", index=0, stage=Stage.WORDS)
    return in_question(
        text=say(subject.entity, relation, other.entity, chance),
        program=program_of(subject.entity, relation, other.entity),
        kind=relation,
        answer=Answer("yes", AnswerKind.YES_NO),
    )(item)


@pytest.mark.parametrize("is_subject", [True, False])
def test_a_random_distractor_that_makes_a_question_true_is_found(is_subject: bool) -> None:
    spec = spec_of("simtown-k15-random-distractor")
    some = items("simtown-k15-random-distractor", 80)["train"]
    item = next(one for one in some if abs(twin.metres(*scene_of(one).vehicles[::2], "left")) >= 1.6)
    assert checks(item, spec) == set()
    assert checks(about_the_third(item, is_subject=is_subject), spec) == {"rules"}


def close_calls() -> Iterator[tuple[SimTownScene, str]]:
    """Yield pairs of vehicles whose distance in a relation is the margin, within two millimetres."""
    rng = np.random.default_rng(5)
    for number in range(proof.size(20_000, name="close calls that SimTown's prover decides", least=1_000)):
        relation = tuple(RELATIONS)[number % 4]
        x, y = np.round(rng.uniform(-4.0, 4.0), 3), np.round(rng.uniform(1.5, 5.0), 3)
        way = twin.DIRECTIONS[relation]
        across = rng.uniform(-2.0, 2.0) * np.array([-way[1], way[0]])
        there = np.array([x, y]) + way[:2] * (SPEC.questions.margin + rng.uniform(-0.002, 0.002)) + across
        second = Vehicle(entity="taxi", lane="near", x=float(x), y=float(y))
        first = Vehicle(entity="blue bus", lane="far", x=round(float(there[0]), 3), y=round(float(there[1]), 3))
        yield SimTownScene(vehicles=(first, second)), relation


def test_the_prover_decides_close_calls_as_programs_do() -> None:
    """Positions are rounded to millimetres along the axis before they are compared, and so must the prover."""
    table, prover = WORLD.functions(SPEC), WORLD.prover(SPEC, made=True)
    assert table is not None
    assert prover is not None
    seen = set()
    for scene, relation in close_calls():
        came = execute(program_of("blue bus", relation, "taxi"), scene, table=table)[-1].value == "yes"
        assert prover._is_true(scene, "blue bus", relation, "taxi") == came, (scene, relation)  # type: ignore[attr-defined]
        seen.add(came)
    assert seen == {True, False}


def test_what_is_imported_promises_nothing_of_its_making(item: Item) -> None:
    assert WORLD.prover(SPEC, made=False) is None
    assert checks(out_of_its_lane(item), made=False) == set()
    assert checks(other_answer(item), made=False) == {"programs"}


def pictured(spec: SimTownSpec, item: Item, rgb: np.ndarray | None, ids: np.ndarray | None) -> set[str]:
    """Return which checks find something wrong with a picture and its ids."""
    prover, found = WORLD.prover(spec, made=True), Proof()
    assert prover is not None
    prover.prove_pictures(item, rgb, ids, found)
    return {flaw.check for flaw in found.settle()}


def test_pictures_that_we_draw_hold_and_those_of_other_scenes_are_found() -> None:
    some = items("simtown-k15-distractor", 24)["train"]
    drawn = [MAKER.render(SPEC, "train", one) for one in some]
    for one, (rgb, ids), (other, others) in zip(some, drawn, drawn[1:] + drawn[:1], strict=True):
        assert pictured(SPEC, one, rgb, ids) == set()
        assert pictured(SPEC, one, other, ids) == {"rerendered"}
        assert pictured(SPEC, one, rgb, others) == {"masks"}
        assert pictured(SPEC, one, rgb[:32], ids[:, :32]) == {"rerendered", "masks"}
        assert pictured(SPEC, one, None, None) == set()


def test_a_picture_in_another_weather_is_found(item: Item) -> None:
    weather = "fog" if scene_of(item).weather != "fog" else "dusk"
    rgb, ids = MAKER.render(SPEC, "train", in_scene(weather=weather)(item))
    assert pictured(SPEC, item, rgb, ids) == {"rerendered"}


def test_a_vehicle_moved_by_a_quarter_metre_is_found_in_the_picture(item: Item) -> None:
    last = scene_of(item).vehicles[2]
    assert sizes()[last.entity][0] > 1.0
    rgb, ids = MAKER.render(SPEC, "train", in_vehicle(2, x=last.x + 0.25)(item))
    assert "masks" in pictured(SPEC, item, rgb, ids)
