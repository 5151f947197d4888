"""Facets say what a question names, how often training has it, and how its vehicles stand."""

from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest

from generation.engine.items import Answer, AnswerKind, FacetKind, Item, Needs, Question
from generation.engine.worlds.simtown.facets import (
    ANSWERS,
    BOARD_VIEWS,
    OVERLAPS,
    PAIRS,
    SHARES,
    VIEWS,
    WAYS,
    answer_form,
    columns,
    facet_codes,
    facets,
    train_keys,
)
from generation.engine.worlds.simtown.programs import RELATIONS, program_of, relation_of
from generation.engine.worlds.simtown.scene import LaneName, SimTownScene, Vehicle
from generation.engine.worlds.simtown.spec import SimTownSpec
from generation.engine.worlds.simtown.weather import WEATHERS
from tests import proof
from tests.worlds.simtown import twin
from tests.worlds.simtown.frequency_tables import slow_pair_table
from tests.worlds.simtown.made import ALL_RELATIONS, BASES, items, make_items, scene_of, sized, spec_of, words_asked_of

SPEC = spec_of("simtown-k15")
GIVEN = dict(  # shares of subjects by hand; those of objects in reverse
    zip(SPEC.names[:7], (0.3, 0.25, 0.2, 0.12, 0.07, 0.045, 0.015), strict=True)
)


def vehicle(entity: str, x: float, lane: LaneName = "near") -> Vehicle:
    return Vehicle(entity=entity, lane=lane, x=x, y=1.7 if lane == "near" else 5.1)


def question(subject: str, relation: str, other: str, *, answer: str = "yes") -> Question:
    program = program_of(subject, relation, other)
    return Question("?", program, Answer(answer, AnswerKind.YES_NO), relation_of(program))


def values(scene: SimTownScene | None, one: Question, *, spec: SimTownSpec = SPEC) -> dict[str, str | None]:
    """Return what each facet says of a question."""
    codes = facet_codes(spec, Item(scene, None, (one,)))
    known = {facet.name: facet for facet in facets(spec) if facet.needs == Needs.ITEM}
    assert set(codes) == set(known)
    return {name: known[name].values[code] if code >= 0 else None for name, [code] in codes.items()}


LEFT, RIGHT = vehicle("taxi", -3.0), vehicle("tram" if "tram" in SPEC.names else "excavator", 2.0)
OTHER = RIGHT.entity
PAIR = SimTownScene(vehicles=(LEFT, RIGHT), weather="fog")
THIRD = SimTownScene(vehicles=(LEFT, RIGHT, vehicle("ambulance", 2.5, "far")), distractor=True)


@pytest.mark.parametrize(
    ("scene", "asked_", "way"),
    [
        (PAIR, ("taxi", "left", OTHER), "true"),
        (PAIR, (OTHER, "right", "taxi"), "true"),
        (PAIR, ("taxi", "right", OTHER), "reversed"),
        (PAIR, (OTHER, "left", "taxi"), "reversed"),
        (PAIR, ("ambulance", "left", "taxi"), "absent-subject"),
        (PAIR, ("taxi", "left", "ambulance"), "absent-object"),
        (THIRD, ("taxi", "left", OTHER), "true"),
        (THIRD, ("taxi", "right", OTHER), "reversed"),
        (THIRD, ("ambulance", "left", OTHER), "wrong"),
        (THIRD, ("ambulance", "right", OTHER), "wrong"),
        (THIRD, ("police car", "right", OTHER), "absent-subject"),
        (THIRD, (OTHER, "right", "police car"), "absent-object"),
    ],
)
def test_the_way_in_which_a_question_is_true_or_false(
    scene: SimTownScene, asked_: tuple[str, str, str], way: str
) -> None:
    found = values(scene, question(*asked_))
    assert found["way"] == way
    assert found["distractor"] == ("yes" if scene is THIRD else "no")
    assert (found["distance"] is None) == way.startswith("absent")
    assert (found["overlap"] is None) == way.startswith("absent")


@pytest.mark.parametrize(
    ("one", "two", "metres"),
    [
        (vehicle("taxi", -3.0), vehicle("fire engine", 2.0), "5"),
        (vehicle("taxi", 0.0), vehicle("fire engine", 4.99), "4"),
        (vehicle("taxi", 0.0), vehicle("fire engine", 0.0, "far"), "3"),
        (vehicle("taxi", 3.0), vehicle("fire engine", 0.0, "far"), "4"),
        (vehicle("taxi", 0.5), vehicle("fire engine", 0.0), "0"),
        (vehicle("taxi", -10.4), vehicle("fire engine", 10.4), "20"),
        (vehicle("taxi", -10.6), vehicle("fire engine", 10.6), None),
    ],
)
def test_distance_is_in_whole_metres(one: Vehicle, two: Vehicle, metres: str | None) -> None:
    scene = SimTownScene(vehicles=(one, two))
    assert values(scene, question("taxi", "left", "fire engine"))["distance"] == metres
    assert values(scene, question("fire engine", "left", "taxi"))["distance"] == metres


def covered(one: Vehicle, two: Vehicle) -> float:
    """Return the share of the smaller box that the other covers, by counting points of a fine grid."""
    a, b = twin.box_in_picture(one), twin.box_in_picture(two)
    small, large = sorted((a, b), key=lambda box: (box[2] - box[0]) * (box[3] - box[1]))
    steps = 200
    inside = 0
    for column in range(steps):
        x = small[0] + (column + 0.5) / steps * (small[2] - small[0])
        if large[0] <= x <= large[2]:
            for row in range(steps):
                y = small[1] + (row + 0.5) / steps * (small[3] - small[1])
                inside += large[1] <= y <= large[3]
    return inside / steps**2


def test_overlap_is_the_covered_share_of_the_smaller_box() -> None:
    bounds = {"none": (0.0, 0.005), "10": (0.005, 0.1), "25": (0.1, 0.25), "50": (0.25, 0.5), "over": (0.5, 1.0)}
    seen: Counter[str] = Counter()
    for step in range(-30, 31):
        one, two = vehicle("taxi", 0.0), vehicle("blue bus", step / 4, "far")
        found = values(SimTownScene(vehicles=(one, two)), question("taxi", "left", "blue bus"))["overlap"]
        assert found is not None
        low, high = bounds[found]
        assert low - 0.006 <= covered(one, two) <= high + 0.006
        seen[found] += 1
    assert set(seen) == set(OVERLAPS) == set(bounds)


def by_hand() -> SimTownSpec:
    """Return a spec with seven entities and shares by hand."""
    names, shares = list(GIVEN), list(GIVEN.values())
    given = {name: {"subject": one, "object": two} for name, one, two in zip(names, shares, shares[::-1], strict=True)}
    return spec_of("simtown-k5", entities=7, questions={"shares": given})


def test_shares_are_those_of_training_in_bins() -> None:
    spec = by_hand()
    expected = ["20", "20", "20", "10", "5", "2", "1"]
    for number, name in enumerate(spec.names):
        other = spec.names[number - 1]
        found = values(None, question(name, "left", other), spec=spec)
        assert found["subject_share"] == expected[number]
        assert found["object_share"] == expected[::-1][number - 1]
        assert (found["subject"], found["object"]) == (name, other)


def test_pair_shares_are_those_of_training_in_bins() -> None:
    spec = by_hand()
    table = slow_pair_table(spec.usual)
    seen = set()
    for (i, subject), (j, other) in permutations(enumerate(spec.names), 2):
        expected = next(name for name, least in PAIRS.items() if table[i][j] >= least)
        assert values(None, question(subject, "left", other), spec=spec)["pair_share"] == expected
        seen.add(expected)
    assert len(seen) >= 4


@pytest.mark.parametrize("base", BASES)
def test_each_share_is_in_the_bin_between_its_bounds_and_the_bins_add_up(base: str) -> None:
    spec = spec_of(base)
    for split in ("train", "test"):
        own, total = spec.for_split(split), dict.fromkeys(SHARES, 0.0)
        for number, name in enumerate(own.names):
            share = own.usual.subjects[number]
            other = own.names[number - 1]
            bins = values(None, question(name, "left", other), spec=own)["subject_share"]
            assert bins is not None
            higher = [least for least in SHARES.values() if least > SHARES[bins]]
            assert SHARES[bins] <= share < min(higher, default=1.01)
            total[bins] += share
        assert sum(total.values()) == pytest.approx(1.0)


def test_uniform_splits_keep_the_shares_of_training() -> None:
    """So that boards show accuracy by frequency in training."""
    spec = spec_of("simtown-k15")
    train, test = spec.for_split("train"), spec.for_split("test")
    asks = [question(name, "left", spec.names[0]) for name in spec.names[1:]]
    assert train.marginals != test.marginals
    assert [values(None, one, spec=train) for one in asks] == [values(None, one, spec=test) for one in asks]
    assert len({values(None, one, spec=test)["subject_share"] for one in asks}) > 2


@pytest.mark.parametrize("base", BASES)
def test_every_code_is_in_range(base: str) -> None:
    spec = spec_of(base)
    known = {facet.name: facet for facet in facets(spec) if facet.needs == Needs.ITEM}
    always = set(known) - {"distance", "overlap"}
    for split, some in items(base, proof.size(10_000 // len(BASES))).items():
        for item in some:
            codes = facet_codes(spec.for_split(split), item)
            assert set(codes) == set(known)
            for name, found in codes.items():
                assert len(found) == len(item.questions)
                assert all(-(name not in always) <= code < len(known[name].values) for code in found), name
            subject, relation, other = words_asked_of(item)
            assert known["subject"].values[codes["subject"][0]] == subject
            assert known["object"].values[codes["object"][0]] == other
            assert known["type"].values[codes["type"][0]] == relation
            assert known["weather"].values[codes["weather"][0]] == scene_of(item).weather
            assert (codes["distance"][0] < 0) == known["way"].values[codes["way"][0]].startswith("absent")
            answer = item.questions[0].answer
            assert answer is not None
            assert known["answer"].values[codes["answer"][0]] == answer.text
            assert (answer.text == "yes") == (codes["way"][0] == 0)


def test_ways_are_those_that_were_drawn() -> None:
    """With four relations too, where a reversed relation may be a distance below zero."""
    spec = sized("simtown-k15-distractor", train=proof.size(2_000, least=100), **ALL_RELATIONS)
    found = Counter(facet_codes(spec, item)["way"][0] for item in make_items(spec, "train"))
    assert set(found) == set(range(len(WAYS)))


def test_without_a_program_a_question_keeps_its_answer_and_scene() -> None:
    bare = Question("Is it?", None, Answer("no", AnswerKind.YES_NO), "")
    found = values(PAIR, bare)
    assert {name for name, value in found.items() if value is not None} == {"answer", "weather", "distractor"}
    assert (found["answer"], found["weather"], found["distractor"]) == ("no", "fog", "no")
    assert train_keys(bare) == {"seen_text": ("Is it?",), "seen_pair": ()}


def test_without_a_scene_a_question_keeps_what_it_names() -> None:
    one = question("taxi", "left", "blue bus")
    here, blind = values(PAIR, one), values(None, one)
    hidden = {"way", "weather", "distractor", "distance", "overlap"}
    assert {name for name, value in blind.items() if value is None} == hidden
    assert {name: here[name] for name in set(here) - hidden} == {name: blind[name] for name in set(here) - hidden}
    revealing = {facet.name for facet in facets(SPEC) if facet.reveals}
    assert revealing == hidden | {"answer"}


def test_without_anything_there_are_no_codes() -> None:
    assert set(values(None, Question("?")).values()) == {None}
    assert facet_codes(SPEC, Item(PAIR, None, ())) == {}


def test_unknown_entities_have_no_codes() -> None:
    found = values(PAIR, question("taxi", "left", "white bus"))
    assert found["subject"] is found["object"] is found["pair_share"] is found["way"] is None


def test_train_keys_are_the_text_and_the_pair() -> None:
    one = replace(question("taxi", "left", "blue bus"), text="Is the taxi left of the blue bus?")
    assert train_keys(one) == {"seen_text": ("Is the taxi left of the blue bus?",), "seen_pair": ("taxi, blue bus",)}


def test_boards_and_charts_are_about_facets_that_there_are() -> None:
    known = {facet.name: facet for facet in facets(SPEC)}
    assert {view.facet for view in VIEWS} <= set(known)
    for view in BOARD_VIEWS:
        assert view.facets <= set(known)
    assert len({view.name for view in VIEWS}) == len(VIEWS)
    for distractor in (True, False):
        found = columns(spec_of("simtown-k15", distractor=distractor))
        assert all(column.value in known[column.facet].values for column in found)
        assert any(column.value == "wrong" for column in found) == distractor
    for facet in known.values():
        assert len(facet.labels or facet.values) == len(facet.values)
        assert len(set(facet.values)) == len(facet.values)
        assert facet.kind in (FacetKind.CATEGORY, FacetKind.INTEGER)
    assert known["type"].values == tuple(RELATIONS)
    assert known["weather"].values == tuple(WEATHERS)
    assert len(known["subject_share"].labels or ()) == len(SHARES)


def test_people_and_models_are_asked_for_yes_or_no() -> None:
    assert (answer_form().kind, answer_form().choices) == (AnswerKind.YES_NO, ANSWERS)
