"""Scenes as they are made: vehicles in their lanes, apart and visible; distractors in no relation; full streets."""

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.stats import chisquare

from generation.engine.errors import Exhausted
from generation.engine.items import Item
from generation.engine.seeding import Stage, stream
from generation.engine.worlds.simtown.entities import ENTITIES
from generation.engine.worlds.simtown.programs import RELATIONS
from generation.engine.worlds.simtown.road import GAP, SWAY, overlap, room_for, sizes
from generation.engine.worlds.simtown.scene_sampling import ASIDE, SEEN, aside, place_vehicles, stand_apart
from generation.engine.worlds.simtown.spec import StreetParameters
from generation.engine.worlds.simtown.street import BUILDINGS, EDGE, FRONTS, HOUSE_COLOURS, KERBS, LANES, ROWS, THINGS
from generation.engine.worlds.simtown.weather import WEATHERS
from generation.engine.worlds.simtown.world import BLOCK
from tests import proof
from tests.worlds.simtown import place_twin, twin
from tests.worlds.simtown.made import (
    ALL_RELATIONS,
    BASES,
    MAKER,
    items,
    make_items,
    says_yes,
    scene_of,
    sized,
    spec_of,
    words_asked_of,
)

EVERY = pytest.mark.parametrize("base", BASES)


def scenes(base: str) -> list[Item]:
    """Return items of train and test."""
    count = proof.size(10_000 // len(BASES), name="SimTown scenes of each of six presets", least=80)
    return [item for split in items(base, count).values() for item in split]


@pytest.mark.parametrize("relation", RELATIONS)
def test_places_are_those_of_the_slow_search(relation: str) -> None:
    """Bit for bit, also where few places or none are found; and both use as many random numbers."""
    parameters, names = StreetParameters(), [one.name for one in ENTITIES]
    found = 0
    for seed in range(proof.size(4_000, most=60)):
        choice = stream(seed=seed, split="which", index=0, stage=Stage.SAMPLE)
        choice.shuffle(names)
        some, margin = names[: 2 + choice.below(2)], choice.choice([0.5, 1.5, 3.0, 6.0])
        settings = {"margin": margin, "parameters": parameters, "placement": choice.choice(["beside", "random"])}
        fast, slow = (stream(seed=seed, split="where", index=0, stage=Stage.SAMPLE) for _ in range(2))
        placed = place_vehicles(some, relation, chance=fast, **settings)
        assert placed == place_twin.place_vehicles(some, relation, chance=slow, **settings)
        assert fast.random() == slow.random()
        found += placed is not None
    assert found > proof.size(2_000, most=30)


@EVERY
def test_vehicles_are_two_or_three_different_ones_of_the_first_entities(base: str) -> None:
    spec = spec_of(base)
    known = [one.name for one in ENTITIES[: spec.entities]]
    for item in scenes(base):
        names = [one.entity for one in scene_of(item).vehicles]
        assert len(names) == len(set(names)) == (3 if base.endswith("distractor") else 2)
        assert set(names) <= set(known)
        assert scene_of(item).distractor == base.endswith("distractor")


@EVERY
def test_vehicles_in_a_lane_are_apart_and_near_its_middle(base: str) -> None:
    for item in scenes(base):
        for vehicle in scene_of(item).vehicles:
            assert abs(vehicle.y - LANES[vehicle.lane]) <= SWAY + 1e-9
        for one, two in combinations(scene_of(item).vehicles, 2):
            lengths = sizes()[one.entity][0] + sizes()[two.entity][0]
            assert one.lane != two.lane or abs(one.x - two.x) - lengths / 2 >= GAP


def test_the_lanes_are_wide_enough_for_every_vehicle() -> None:
    between = abs(LANES["far"] - LANES["near"]) - 2 * SWAY
    widths = {name: size[1] for name, size in sizes().items()}
    assert max(widths.values()) < between
    assert KERBS[0] < LANES["near"] - SWAY - max(widths.values()) / 2
    assert KERBS[1] > LANES["far"] + SWAY + max(widths.values()) / 2


@EVERY
def test_each_vehicle_appears_wholly_inside_the_picture(base: str) -> None:
    for item in scenes(base):
        for vehicle in scene_of(item).vehicles:
            left, top, right, bottom = twin.box_in_picture(vehicle)
            assert -0.5 < left < right < 0.5
            assert -0.25 < top < bottom < 0.25  # half the height of the flattest pictures


@EVERY
def test_enough_pixels_of_each_vehicle_are_visible(base: str) -> None:
    least, (width, height) = spec_of(base).scene.least_pixels, SEEN
    for item in scenes(base)[: proof.size(10_000 // len(BASES), most=30)]:
        vehicles = scene_of(item).vehicles
        ids = twin.object_ids(vehicles, width=width, height=height)
        assert np.bincount(ids.ravel(), minlength=len(vehicles) + 1)[1:].min() >= least


def test_a_higher_bound_of_visible_pixels_is_kept() -> None:
    spec = sized("simtown-k15-distractor", train=proof.size(20, least=8), scene={"least_pixels": 100})
    for item in make_items(spec, "train"):
        ids = twin.object_ids(scene_of(item).vehicles, width=96, height=64)
        assert np.bincount(ids.ravel(), minlength=4)[1:].min() >= 100


@EVERY
def test_a_distractor_is_in_no_relation_to_the_object(base: str) -> None:
    checked = 0
    for item in scenes(base):
        scene, (_, relation, other) = scene_of(item), words_asked_of(item)
        objects = [one for one in scene.vehicles[:2] if one.entity == other]
        if scene.distractor and objects:
            checked += 1
            apart = twin.metres(scene.vehicles[2], objects[0], relation)
            assert abs(apart) < ASIDE * spec_of(base).questions.margin
    assert (checked > 0) == base.endswith("distractor")


def test_a_distractor_is_in_no_relation_to_the_object_with_all_four_relations() -> None:
    spec = sized("simtown-k15-distractor", train=proof.size(2_000), **ALL_RELATIONS)
    for item in make_items(spec, "train"):
        scene, (_, relation, other) = scene_of(item), words_asked_of(item)
        for vehicle in scene.vehicles[:2]:
            if vehicle.entity == other:
                assert abs(twin.metres(scene.vehicles[2], vehicle, relation)) < aside(relation, spec.questions.margin)


@EVERY
def test_the_pair_is_apart_by_the_margin(base: str) -> None:
    """Thus no scene is a close call."""
    for item in scenes(base):
        _, relation, _ = words_asked_of(item)
        first, second = scene_of(item).vehicles[:2]
        assert abs(twin.metres(first, second, relation)) >= spec_of(base).questions.margin


@EVERY
def test_no_two_pictures_have_the_same_vehicles_in_the_same_places(base: str) -> None:
    places = [scene_of(item).vehicles for item in scenes(base)]
    assert len(set(places)) == len(places)


@EVERY
def test_both_lanes_and_all_of_their_length_are_used(base: str) -> None:
    vehicles = [one for item in scenes(base) for one in scene_of(item).vehicles]
    lanes = Counter(one.lane for one in vehicles)
    assert set(lanes) == {"near", "far"}
    for lane in lanes:
        x = [one.x for one in vehicles if one.lane == lane]
        assert min(x) < -2.5
        assert max(x) > 2.5


@EVERY
def test_exactly_half_of_each_ten_successive_answers_are_yes(base: str) -> None:
    for split in items(base, proof.size(10_000 // len(BASES))).values():
        for first in range(0, len(split) - BLOCK + 1, BLOCK):
            assert sum(says_yes(item) for item in split[first : first + BLOCK]) == BLOCK // 2


def test_exactly_half_of_the_answers_of_each_chunk_are_yes() -> None:
    spec = sized("simtown-k15", train=230)
    for chunk in MAKER.plan(spec, "train"):
        answers = [says_yes(item) for item in MAKER.make(spec, "train", chunk)]
        assert len(answers) == chunk.items
        assert 2 * sum(answers) == len(answers)


def test_the_order_of_answers_is_random() -> None:
    answers = [says_yes(item) for item in make_items(sized("simtown-k15", train=200), "train")]
    blocks = {tuple(answers[first : first + BLOCK]) for first in range(0, 200, BLOCK)}
    assert len(blocks) > 15
    assert {block[0] for block in blocks} == {block[-1] for block in blocks} == {True, False}


@pytest.mark.parametrize("fewer", [1, 37, 100, 140])
def test_a_longer_split_begins_like_a_shorter_one(fewer: int) -> None:
    longer = list(make_items(sized("simtown-k15-distractor", train=150), "train"))
    assert list(make_items(sized("simtown-k15-distractor", train=fewer), "train")) == longer[:fewer]


@EVERY
def test_buildings_cover_the_street(base: str) -> None:
    for item in scenes(base):
        buildings = scene_of(item).street.buildings
        assert {one.style for one in buildings} <= set(BUILDINGS)
        assert {one.colour for one in buildings} <= set(HOUSE_COLOURS)
        ends = [(one.x - BUILDINGS[one.style][0] / 2, one.x + BUILDINGS[one.style][0] / 2) for one in buildings]
        assert ends[0][0] < -EDGE + 4.01
        assert ends[-1][1] + 1.4 > EDGE
        assert all(0.09 < right[0] - left[1] < 1.41 for left, right in pairwise(ends))
        assert all(FRONTS <= one.y <= round(FRONTS + 1.2, 3) for one in buildings)


def test_the_row_of_buildings_is_longer_than_the_picture_shows() -> None:
    """At 30 metres from the camera, both borders of the picture are still within the row."""
    for side in (-0.5, 0.5):
        ray = twin.FORWARD + side / twin.FOCAL * twin.RIGHT
        x = twin.EYE[0] + ray[0] * (FRONTS + 1.2 - twin.EYE[1]) / ray[1]
        assert -EDGE + 4.0 < x < EDGE


@EVERY
def test_things_stand_beside_the_road(base: str) -> None:
    for item in scenes(base):
        for thing in scene_of(item).street.things:
            assert thing.y == ROWS[thing.kind]
            assert KERBS[1] < thing.y < FRONTS


@EVERY
def test_all_weathers_styles_and_things_occur_equally_often(base: str) -> None:
    found = [scene_of(item) for item in scenes(base)]
    counts = Counter(scene.weather for scene in found)
    styles = Counter(one.style for scene in found for one in scene.street.buildings)
    kinds = Counter(one.kind for scene in found for one in scene.street.things)
    assert (set(counts), set(styles), set(kinds)) == (set(WEATHERS), set(BUILDINGS), set(THINGS))
    assert chisquare(list(counts.values())).pvalue > 0.001
    assert chisquare(list(kinds.values())).pvalue > 0.001


def test_only_the_weathers_of_the_spec_occur() -> None:
    spec = sized("simtown-k5", train=60, scene={"weathers": ["fog", "snow"]})
    assert {scene_of(item).weather for item in make_items(spec, "train")} == {"fog", "snow"}


def test_overlap_and_standing_apart_are_decided_at_their_bounds() -> None:
    scene = scene_of(items("simtown-k5", 4)["train"][0])
    one = scene.vehicles[0].model_copy(update={"entity": "taxi", "lane": "near", "x": 0.0, "y": 1.7})
    apart = sizes()["taxi"][0] + GAP
    for offset, expected in ((apart - 0.001, True), (apart + 0.001, False)):
        two = one.model_copy(update={"x": offset})
        assert overlap(one, two) is overlap(two, one) is expected
        assert not overlap(one, two.model_copy(update={"lane": "far"}))
    step = 1.5 / float(twin.RIGHT[0])
    for offset, is_apart in ((step - 0.002, False), (step + 0.002, True), (-step - 0.002, True)):
        two = one.model_copy(update={"x": offset})
        for relation in ("left", "right"):
            assert stand_apart(one, two, relation, margin=1.5) is stand_apart(two, one, relation, margin=1.5)
            assert stand_apart(one, two, relation, margin=1.5) is is_apart


@EVERY
def test_hardly_any_statement_is_given_up_for_want_of_a_place(base: str) -> None:
    """Otherwise entities that are hard to place would be asked about less often than the spec says."""
    assert sum(item.replaced for item in scenes(base)) <= 2 + 0.002 * len(scenes(base))


@pytest.mark.parametrize("base", BASES[1::2])
def test_hardly_any_statement_about_front_and_behind_is_given_up(base: str) -> None:
    spec = sized(base, train=proof.size(2_000), questions={"relations": ["front", "behind"]})
    found = list(make_items(spec, "train"))
    assert sum(item.replaced for item in found) <= 2 + 0.01 * len(found)


@pytest.mark.parametrize("base", ["simtown-k5", "simtown-k15-distractor", "simtown-k60"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_largest_allowed_margin_has_places(base: str, relation: str) -> None:
    margin = room_for(spec_of(base).names, relation).margin
    spec = sized(base, train=proof.size(200), questions={"margin": margin, "relations": [relation]})
    for item in make_items(spec, "train"):
        first, second = scene_of(item).vehicles[:2]
        assert abs(twin.metres(first, second, relation)) >= margin


@pytest.mark.parametrize("base", ["simtown-k5", "simtown-k5-distractor"])
def test_what_has_no_place_is_given_up_with_what_to_lower(base: str) -> None:
    spec = sized(base, train=40, questions={"margin": 11.1}, scene={"tries": 1, "least_pixels": 100})
    words = (
        f"{3 if spec.distractor else 2} vehicles",
        "50 × 1 attempts",
        "questions.margin",
        "scene.least_pixels",
    )
    with pytest.raises(Exhausted) as given_up:
        list(make_items(spec, "train"))
    message = str(given_up.value)
    assert given_up.value.where.startswith("train, scene ")
    assert given_up.value.count == 50
    assert "\n" not in message
    assert [word for word in words if word not in message] == []
    assert ("distractor" in message) == spec.distractor
