"""The plan of answers: shares are exact, spread evenly, and distributed over scenes with room for them."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.errors import Exhausted
from generation.engine.seeding import Stage, stream
from generation.engine.worlds.counting.answer_plan import (
    CHUNK,
    PlannedQuestion,
    most_in_chunk,
    objects_needed,
    plan_chunk,
    spread,
    wanted_shares,
)
from generation.engine.worlds.counting.spec import CountingSpec
from generation.engine.worlds.counting.statements import COMPLEX, SIMPLE
from tests import proof
from tests.worlds.counting import twin
from tests.worlds.counting.made import MAKER, spec_of

WEIGHTS = st.lists(st.integers(1, 1_000), min_size=1, max_size=12)


def shares_of(weights: list[int]) -> list[float]:
    return [weight / sum(weights) for weight in weights]


def planned(spec: CountingSpec, number: int) -> list[list[PlannedQuestion]]:
    return plan_chunk(spec, number, stream(seed=0, split="plan", index=number, stage=Stage.QUESTIONS))


@given(st.lists(st.integers(0, 150), min_size=1, max_size=8), st.integers(0, 300), st.integers(1, 100))
def test_a_stretch_is_that_of_the_slow_twin(halves: list[int], first: int, count: int) -> None:
    weights = [(2 * half + 1) << number for number, half in enumerate(halves)]  # so that no two keys are equal
    expected = twin.sequence(weights, first + count)[first:]
    assert spread(shares_of(weights), first=first, count=count).tolist() == expected


@given(WEIGHTS, st.integers(0, 5_000), st.integers(1, 300))
def test_stretches_continue_each_other(weights: list[int], first: int, count: int) -> None:
    shares = shares_of(weights)
    whole = spread(shares, first=first, count=2 * count).tolist()
    parts = [spread(shares, first=start, count=count).tolist() for start in (first, first + count)]
    assert whole == parts[0] + parts[1]


@given(WEIGHTS, st.integers(1, 4))
def test_whole_periods_have_exact_shares(weights: list[int], periods: int) -> None:
    total = sum(weights)
    counts = Counter(spread(shares_of(weights), first=0, count=periods * total).tolist())
    assert [counts[number] for number in range(len(weights))] == [periods * weight for weight in weights]


@given(WEIGHTS, st.integers(0, 10_000), st.integers(1, 300))
def test_no_stretch_has_a_number_more_often_than_is_proved(weights: list[int], first: int, count: int) -> None:
    shares = shares_of(weights)
    counts = Counter(spread(shares, first=first, count=count).tolist())
    for number, share in enumerate(shares):
        assert counts[number] <= most_in_chunk(share, questions=count, cells=len(shares))


def test_a_full_grounding_split_has_the_numbers_of_coco_grounding() -> None:
    spec = spec_of("clevr-counting")
    scenes, own = spec.splits["grounding"].scenes, spec.for_split("grounding")
    assert scenes == 3_311 and scenes % CHUNK == 0
    asked = [one for number in range(scenes // CHUNK) for scene in planned(own, number) for one in scene]
    counts = Counter(one.answer for one in asked)
    assert {one.kind for one in asked} == {SIMPLE}
    assert [counts[answer] for answer in (0, 1, 2)] == [734, 734, 734]
    assert sum(counts[answer] for answer in range(3, 16)) == 3_311 - 3 * 734
    assert all(counts[answer] >= counts[answer + 1] > 0 for answer in range(2, 15))


@pytest.mark.parametrize("kind", [SIMPLE, COMPLEX])
def test_both_types_keep_the_shares(kind: str) -> None:
    spec = spec_of("clevr-counting")
    chunks = proof.size(130, name="chunks of counting questions planned", least=20)
    asked = [one for number in range(chunks) for scene in planned(spec, number) for one in scene]
    share = {SIMPLE: 0.6, COMPLEX: 0.4}[kind]
    counts = Counter(one.answer for one in asked if one.kind == kind)
    for answer, wanted in enumerate(spec.questions.shares):
        assert counts[answer] == pytest.approx(wanted * share * len(asked), abs=2)


@pytest.mark.parametrize(
    "questions",
    [
        {},
        {"complex_share": 1.0, "shares": [0.4, 0.3, *[0.02] * 15]},
        {"complex_share": 0.0, "shares": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.9, 0.0, 0.1]},
        {"per_scene": 1, "shares": [0.5, *[0.0] * 14, 0.5]},
    ],
)
def test_scenes_have_room_for_their_answers(questions: dict[str, object]) -> None:
    spec = spec_of(most=16, scene={"objects_max": 20}, questions=questions)
    for number in range(10):
        scenes = planned(spec, number)
        assert len(scenes) == CHUNK
        assert {len(scene) for scene in scenes} == {spec.questions.per_scene}
        assert max(sum(map(objects_needed, scene)) for scene in scenes) <= spec.scene.objects_max
        expected = spread(
            list(wanted_shares(spec).values()),
            first=number * CHUNK * spec.questions.per_scene,
            count=CHUNK * spec.questions.per_scene,
        )
        order = {one: code for code, one in enumerate(wanted_shares(spec))}
        assert sorted(order[one] for scene in scenes for one in scene) == np.sort(expected).tolist()


def test_answers_that_are_too_large_for_two_questions_are_refused() -> None:
    spec = spec_of(questions={"shares": [0.01, *[0.0] * 11, 0.99]})
    with pytest.raises(Exhausted, match=r"Expected scenes of at most 18 objects with 2 questions each.*objects_max"):
        planned(spec, 0)


def test_large_and_small_answers_meet_in_one_scene_by_chance() -> None:
    spec = spec_of("clevr-counting", questions={"complex_share": 0.0})
    pairs = [scene for number in range(60) for scene in planned(spec, number)]
    small = [[one.answer for one in scene] for scene in pairs]
    first, second = np.array([scene for scene in small if max(scene) <= 8]).T
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.06


def test_the_plan_has_a_chunk_for_every_77_scenes() -> None:
    assert [chunk.items for chunk in MAKER.plan(spec_of(splits={"train": {"scenes": 160}}), "train")] == [77, 77, 6]
