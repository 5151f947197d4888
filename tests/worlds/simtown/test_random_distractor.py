"""Distractors at random places: they change no answer, and nothing about their places marks them.

The tests compare them with distractors beside the object, with slow checks from coordinates alone, and with the paper's
procedure: a random scene, then random questions until one has the answer.

References
----------
Bingham et al. 2017, Characterizing how Visual Question Answering models scale with the world, sections 2.2 and 6.5.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from generation.engine.items import Item
from generation.engine.worlds.simtown.road import GAP, sizes
from generation.engine.worlds.simtown.scene import Vehicle
from generation.engine.worlds.simtown.scene_sampling import place_vehicles
from generation.engine.worlds.simtown.street import LANES
from tests import proof
from tests.worlds.simtown import twin
from tests.worlds.simtown.made import (
    ALL_RELATIONS,
    RANDOM_BASES,
    items,
    make_items,
    sampler,
    says_yes,
    scene_of,
    sized,
    spec_of,
    words_asked_of,
)
from webapp import documentation

BESIDE, RANDOM = "simtown-k15-distractor", "simtown-k15-random-distractor"
LEAST = 0.001  # p-value
MARGIN = 1.5
SIDES = ("left", "right")
Key = Callable[[Item], object]


def third_items(base: str, *, least: int = 400) -> list[Item]:
    """Return items of train and test."""
    count = proof.size(20_000, name="SimTown scenes of each placement of the distractor", least=least)
    return [item for split in items(base, count).values() for item in split]


def is_asked_of_third(item: Item) -> bool:
    return words_asked_of(item)[0] == scene_of(item).vehicles[2].entity


@pytest.mark.parametrize("base", RANDOM_BASES)
def test_answers_are_those_of_the_scene_and_no_distractor_makes_a_question_true(base: str) -> None:
    """For each pair of vehicles in turn: is it the one that the question names, and how far apart are the two?"""
    asked_of_third = 0
    for item in third_items(base):
        subject, relation, other = words_asked_of(item)
        vehicles = scene_of(item).vehicles
        true = [
            (a, b)
            for a, one in enumerate(vehicles)
            for b, two in enumerate(vehicles)
            if (one.entity, two.entity) == (subject, other) and twin.metres(one, two, relation) >= MARGIN
        ]
        assert true == ([(0, 1)] if says_yes(item) else [])
        assert vehicles[2].entity != other
        asked_of_third += vehicles[2].entity == subject
    assert asked_of_third > len(third_items(base)) / 10


@pytest.mark.parametrize("base", RANDOM_BASES)
def test_a_random_distractor_is_at_a_possible_place(base: str) -> None:
    """In a lane, wholly inside the picture, and apart from both others."""
    for item in third_items(base):
        *others, third = scene_of(item).vehicles
        assert abs(third.y - LANES[third.lane]) <= 0.25 + 1e-9
        left, _, right, _ = twin.box_in_picture(third)
        assert -0.5 < left < right < 0.5
        for other in others:
            lengths = sizes()[third.entity][0] + sizes()[other.entity][0]
            assert third.lane != other.lane or abs(third.x - other.x) >= lengths / 2 + GAP


def gaps(item: Item) -> dict[tuple[int, int], float]:
    """Return how far each two vehicles are apart, to the left or right, in metres."""
    vehicles = scene_of(item).vehicles
    return {(a, b): abs(twin.metres(vehicles[a], vehicles[b], "right")) for a, b in combinations(range(3), 2)}


def share(found: Sequence[Item], is_so: Callable[[Item], bool]) -> float:
    return sum(map(is_so, found)) / len(found)


def in_other_lanes(one: int, two: int) -> Callable[[Item], bool]:
    return lambda item: scene_of(item).vehicles[one].lane != scene_of(item).vehicles[two].lane


def nearest(one: int, two: int) -> Callable[[Item], bool]:
    return lambda item: min(gaps(item), key=lambda pair: gaps(item)[pair]) == (one, two)


def within_margin(one: int, two: int) -> Callable[[Item], bool]:
    return lambda item: gaps(item)[one, two] < MARGIN


DOCUMENTED = [  # words of a row of the documentation, and the shares of scenes with each placement
    ("in different lanes", in_other_lanes(1, 2), 1.0, 0.69),
    ("the two vehicles nearest to each other", nearest(1, 2), 1.0, 0.38),
    ("less than the margin", within_margin(1, 2), 1.0, 0.14),
]


@pytest.mark.parametrize(("what", "is_so", "beside", "random"), DOCUMENTED)
def test_shares_are_those_of_the_documentation(
    what: str, is_so: Callable[[Item], bool], beside: float, random: float
) -> None:
    [row] = [line for line in documentation.source("simtown").splitlines() if line.startswith("|") and what in line]
    assert re.findall(r"\| (\d+) %", row) == [f"{100 * one:.0f}" for one in (beside, random)]
    for base, documented in ((BESIDE, beside), (RANDOM, random)):
        found = third_items(base)
        spread = 4 * (documented * (1 - documented) / len(found)) ** 0.5
        assert share(found, is_so) == pytest.approx(documented, abs=0.01 + spread), (what, base)


@pytest.mark.parametrize("base", RANDOM_BASES)
def test_a_random_distractor_is_as_far_from_both_others_and_as_often_in_their_lanes(base: str) -> None:
    """Without a question about the distractor, the places of the other two are exchangeable."""
    found = [item for item in third_items(base) if not is_asked_of_third(item)]
    for key in (in_other_lanes, within_margin, nearest):
        near_first, near_second = (sum(map(key(one, 2), found)) for one in (0, 1))
        assert abs(near_first - near_second) < 4 * (near_first + near_second) ** 0.5, key.__name__


def alone_in_its_lane(item: Item) -> list[int]:
    lanes = [one.lane for one in scene_of(item).vehicles]
    return [number for number, lane in enumerate(lanes) if lanes.count(lane) == 1]


def in_the_middle(item: Item) -> list[int]:
    places = [twin.metres(one, scene_of(item).vehicles[0], "right") for one in scene_of(item).vehicles]
    return [int(np.argsort(places)[1])]


def in_the_nearest_pair(item: Item) -> list[int]:
    return list(min(gaps(item), key=lambda pair: gaps(item)[pair]))


def out_of_the_widest_pair(item: Item) -> list[int]:
    return [({0, 1, 2} - set(max(gaps(item), key=lambda pair: gaps(item)[pair]))).pop()]


def in_pairs_within_the_margin(item: Item) -> list[int]:
    """Return what is the best guess from distances: the pair of the question is at least the margin apart."""
    close = [pair for pair, metres in gaps(item).items() if metres < MARGIN]
    common = [number for number in range(3) if close and all(number in pair for pair in close)]
    return common or [0, 1, 2]


GUESSES = (alone_in_its_lane, in_the_middle, in_the_nearest_pair, out_of_the_widest_pair, in_pairs_within_the_margin)


def guessed(found: Sequence[Item], guess: Callable[[Item], list[int]]) -> float:
    """Return how often a guess finds the distractor, if it chooses one of its candidates at random."""
    chances = [(2 in (candidates := guess(item) or [0, 1, 2])) / len(candidates) for item in found]
    return sum(chances) / len(chances)


@pytest.mark.parametrize("guess", GUESSES)
def test_lanes_and_distances_hardly_reveal_a_random_distractor(guess: Callable[[Item], list[int]]) -> None:
    """By chance, a third of the guesses are right. The documentation says that at most 39 % are."""
    found = third_items(RANDOM)
    assert guessed(found, guess) < 0.39 + 3 * 0.5 / len(found) ** 0.5


def test_distances_reveal_a_distractor_beside_the_object() -> None:
    """The vehicle apart from the other two is neither the object nor the distractor."""
    found = third_items(BESIDE)
    assert guessed(found, in_the_nearest_pair) == 0.5
    assert guessed(found, out_of_the_widest_pair) > 0.45


def geometry(item: Item) -> tuple[object, ...]:
    """Return how lanes and distances in a picture look, without the names of the vehicles."""
    ordered = sorted(scene_of(item).vehicles, key=lambda one: twin.metres(one, scene_of(item).vehicles[0], "right"))
    close = tuple(twin.metres(two, one, "right") < MARGIN for one, two in pairwise(ordered))
    return tuple(one.lane for one in ordered), close


@pytest.mark.parametrize("base", RANDOM_BASES)
def test_places_are_the_same_for_both_answers(base: str) -> None:
    """A model that sees where vehicles are, but not which, learns nothing about the answer."""
    found = third_items(base, least=2_000)
    by_answer = [Counter(geometry(item) for item in found if says_yes(item) == answer) for answer in (True, False)]
    assert p_value(*by_answer) > LEAST


def p_value(one: Counter[tuple[object, ...]], two: Counter[tuple[object, ...]]) -> float:
    """Return the p-value of two distributions being the same; what occurs fewer than 20 times is left out."""
    often = [key for key in one.keys() | two.keys() if one[key] + two[key] >= 20]
    table = np.array([[one[key] for key in often], [two[key] for key in often]])
    return float(chi2_contingency(table, correction=False).pvalue)


# The paper's procedure


def slow_false_questions(count: int) -> Iterator[tuple[str, tuple[Vehicle, ...]]]:
    """Yield questions whose subject is the distractor: scenes are drawn first, then relations until one is false."""
    spec = spec_of(RANDOM)
    making, random = sampler(spec, index=3), np.random.default_rng(8)
    for _ in range(count):
        names = [str(name) for name in random.choice(spec.names, 3, replace=False)]
        side = SIDES[random.integers(2)]
        vehicles = place_vehicles(
            names, side, margin=MARGIN, parameters=spec.scene, chance=making.scenes, placement="random"
        )
        assert vehicles is not None
        relation = SIDES[random.integers(2)]
        while twin.metres(vehicles[2], vehicles[1], relation) >= MARGIN:
            relation = SIDES[random.integers(2)]
        yield relation, vehicles


def our_false_questions(count: int) -> Iterator[tuple[str, tuple[Vehicle, ...]]]:
    ways = {"false_shares": {"reversed": 1e-9, "wrong": 1.0, "absent": 0.0}, "frequencies": "uniform"}
    for item in make_items(sized(RANDOM, train=2 * count, questions=ways), "train"):
        if not says_yes(item):
            yield words_asked_of(item)[1], scene_of(item).vehicles


def where(relation: str, vehicles: Sequence[Vehicle]) -> tuple[object, ...]:
    """Return where the distractor and the first vehicle are, seen from the object, and in which lanes."""
    first, second, third = vehicles
    bins = [int(np.digitize(twin.metres(one, second, "right"), [-4.0, -MARGIN, MARGIN, 4.0])) for one in (first, third)]
    return relation, *bins, second.lane == third.lane


def test_false_questions_about_the_distractor_are_those_of_the_paper_s_procedure() -> None:
    count = proof.size(10_000, name="SimTown questions about random distractors by the paper's procedure", least=1_000)
    slow, ours = (Counter(where(*one) for one in found(count)) for found in (slow_false_questions, our_false_questions))
    assert len([key for key in slow if slow[key] >= 10]) > 20
    assert p_value(slow, ours) > LEAST


def test_all_four_relations_have_random_distractors_that_satisfy_no_question() -> None:
    sides: Counter[str] = Counter()
    for item in make_items(sized(RANDOM, train=proof.size(2_000, least=400), **ALL_RELATIONS), "train"):
        _, relation, other = words_asked_of(item)
        if is_asked_of_third(item):
            _, second, third = scene_of(item).vehicles
            apart = twin.metres(third, second, relation)
            assert second.entity == other
            assert apart < MARGIN
            sides["reversed" if apart <= -MARGIN else "neither"] += 1
    assert min(sides.values()) > sum(sides.values()) / 10
