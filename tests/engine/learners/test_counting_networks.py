"""What holds for networks that count or verify relations without PyTorch: regions, schedules, and reading programs."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from generation.engine.errors import BadTraining
from generation.engine.learners.networks.counting.regions import RegionConfig, detect
from generation.engine.learners.networks.counting.spatial_counting import (
    SpatialCountingConfig,
    entropy_weight,
    learning_rate,
)
from generation.engine.learners.networks.relations.predicate_boxes import exact_boxes, read_claim
from generation.engine.program import Step
from tests.engine.learners import made_examples

EXACT = {"jitter": 0.0, "dropped": 0.0, "repeated": 0.0, "false_boxes": 0}
NO_BOXES: NDArray[np.float32] = np.zeros((0, 4), np.float32)


def exact(**changes: Any) -> RegionConfig:
    """Return the config of a detector without errors, except for some."""
    return RegionConfig(**{**EXACT, **changes})


@st.composite
def boxes(draw: st.DrawFn) -> NDArray[np.float32]:
    """Draw the boxes of a picture."""
    share = st.floats(0, 1, width=32)
    found = [
        (min(x), min(y), max(x), max(y))
        for x, y in draw(st.lists(st.tuples(*[st.tuples(share, share)] * 2), max_size=6))
    ]
    return np.array(found, np.float32).reshape(-1, 4)


@given(
    found=boxes(),
    jitter=st.floats(0, 1),
    dropped=st.floats(0, 1),
    repeated=st.floats(0, 1),
    false_boxes=st.integers(0, 5),
)
def test_regions_are_boxes_within_the_picture_and_always_the_same(
    found: NDArray[np.float32], jitter: float, dropped: float, repeated: float, false_boxes: int
) -> None:
    config = RegionConfig(jitter=jitter, dropped=dropped, repeated=repeated, false_boxes=false_boxes)
    regions = detect(found, config)
    assert regions.dtype == np.float32 and false_boxes <= len(regions) <= 2 * len(found) + false_boxes
    assert ((regions >= 0) & (regions <= 1)).all() and (regions[:, :2] <= regions[:, 2:]).all()
    assert np.array_equal(regions, detect(found.copy(), config))


@given(boxes())
def test_a_detector_without_errors_finds_the_exact_boxes(found: NDArray[np.float32]) -> None:
    assert np.array_equal(detect(found, exact()), found)
    assert np.array_equal(detect(found, exact(repeated=1.0)), np.concatenate([found, found]))
    assert len(detect(found, exact(dropped=1.0))) == 0


def test_errors_of_regions_are_as_large_as_the_settings_say() -> None:
    found = np.tile(np.array([[0.4, 0.4, 0.6, 0.5]], np.float32), (5_000, 1))
    moved = (detect(found, exact(jitter=0.1)) - found) / [0.2, 0.1, 0.2, 0.1]
    assert np.allclose(moved.std(axis=0), 0.1, atol=0.01) and np.allclose(moved.mean(axis=0), 0, atol=0.01)
    assert abs(len(detect(found, exact(dropped=0.3))) / len(found) - 0.7) < 0.03
    assert abs(len(detect(found, exact(repeated=0.3))) / len(found) - 1.3) < 0.03


def test_false_boxes_have_the_size_of_other_boxes() -> None:
    found = np.array([[0.1, 0.1, 0.3, 0.2]], np.float32)
    false = detect(found, exact(dropped=1.0, false_boxes=50))
    assert np.allclose(false[:, 2:] - false[:, :2], [0.2, 0.1], atol=1e-6)
    assert np.ptp(false[:, 0]) > 0.5 and np.ptp(false[:, 1]) > 0.5
    assert len(detect(NO_BOXES, exact(false_boxes=3))) == 3


def test_false_boxes_of_empty_pictures_differ_like_those_of_other_pictures() -> None:
    config = exact(false_boxes=2)
    found, one = (
        [detect(NO_BOXES, config, item=item) for item in range(20)],
        np.array([[0.1, 0.1, 0.3, 0.3]], np.float32),
    )
    assert len(np.unique(np.stack(found), axis=0)) == 20
    assert np.array_equal(found[3], detect(NO_BOXES, config, item=3))
    assert np.array_equal(detect(one, config, item=1), detect(one, config, item=2))


def test_learning_rate_and_entropy_of_the_paper_follow_its_schedule() -> None:
    config = SpatialCountingConfig()
    rates = [learning_rate(config, epoch) for epoch in range(30)]
    assert rates[:14] == [2e-5] * 14
    assert np.allclose(rates[14::2], [2e-5 * 0.25**step for step in range(1, 9)])
    assert rates[14::2] == rates[15::2]
    assert [entropy_weight(config, epoch) for epoch in (0, 5, 29)] == [1, 1, 1]


def test_the_weight_of_the_entropy_can_start_late_and_rise() -> None:
    config = SpatialCountingConfig(entropy=0.4, entropy_from=2, entropy_over=4)
    weights = [entropy_weight(config, epoch) for epoch in range(8)]
    assert np.allclose(weights, [0, 0, 0.1, 0.2, 0.3, 0.4, 0.4, 0.4])


def test_exact_boxes_are_those_of_subject_and_object() -> None:
    examples = made_examples.relations(20)
    assert examples.programs is not None and examples.regions is not None
    found = exact_boxes(examples, np.arange(20))
    for row, program in enumerate(examples.programs):
        asked = read_claim(program, where="here")
        assert examples.texts[row].startswith(f"Is the {asked.subject} ")
        assert examples.texts[row].endswith(f" the {asked.other}?")
        place = examples.regions.of_item(int(examples.items[row]))
        by_label = dict(zip(examples.regions.labels[place], examples.regions.boxes[place], strict=True))
        assert np.array_equal(found[row], [by_label[asked.subject], by_label[asked.other]])


def test_the_box_of_an_absent_thing_is_zeros() -> None:
    examples = made_examples.relations(1)
    assert examples.regions is not None
    others = examples.regions._replace(labels=("tram",) * len(examples.regions.labels))
    assert np.array_equal(exact_boxes(replace(examples, regions=others), np.arange(1)), np.zeros((1, 2, 4)))


def test_a_program_without_a_relation_of_two_labels_is_refused() -> None:
    attributes = [
        Step("filter_size", (0,), ("large",)),
        Step("filter_color", (1,), ("red",)),
        Step("filter_shape", (2,), ("cube",)),
    ]
    message = "two labels and one relation, got the functions scene, filter_size, filter_color, filter_shape, exist"
    with pytest.raises(BadTraining, match=message):
        read_claim((Step("scene"), *attributes, Step("exist", (3,))), where="made/train")
