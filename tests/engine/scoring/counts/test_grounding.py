"""GroundP and average precision, compared with twins that paint boxes, and with cases that were computed by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.scoring.counts.grounding import (
    AP_IOU,
    CUTOFFS,
    IOUS,
    ScoredBoxes,
    TrueBoxes,
    average_precision,
    count_detections,
    grounding_terms,
    groundp,
    match_boxes,
)
from generation.engine.scoring.score import Slicing
from tests.engine.scoring.counts.box_twins import Answered, Box, ap_twin, counts_twin, groundp_twin, iou_twin, pack

WIDE = 8
SIDE = st.tuples(st.integers(0, WIDE), st.integers(0, WIDE)).map(sorted)
BOX = st.tuples(SIDE, SIDE).map(lambda sides: (sides[0][0], sides[1][0], sides[0][1], sides[1][1]))
SCORE = st.one_of(st.integers(0, 10).map(lambda tenth: tenth / 10), st.floats(0, 1, allow_subnormal=False))
QUESTION = st.builds(Answered, st.lists(st.tuples(BOX, SCORE), max_size=6), st.lists(BOX, max_size=5))
QUESTIONS = st.lists(QUESTION, min_size=1, max_size=6)
IOU = st.sampled_from(IOUS)

FULL: Box = (0, 0, 10, 10)
LEFT: Box = (0, 0, 5, 10)
RIGHT: Box = (5, 0, 10, 10)
TOP: Box = (0, 0, 10, 5)
INNER: Box = (2, 2, 4, 4)
AWAY: Box = (20, 20, 30, 30)
LINE: Box = (0, 0, 10, 0)
POINT: Box = (3, 3, 3, 3)
ONE, NOTHING = Answered([(FULL, 1.0)], [FULL]), Answered([], [])
REVERSED = Answered([(AWAY, 0.9), (LEFT, 0.8), (RIGHT, 0.4)], [LEFT, RIGHT])
THREE = Answered([(AWAY, 1.0), (FULL, 0.9), (LEFT, 0.1)], [FULL])

# The name of the case, the questions, GroundP, and AP at an IoU of 0.2.
CASES = [
    ("a perfect box", [ONE], 1.0, 1.0),
    ("a box far away", [Answered([(AWAY, 1.0)], [FULL])], 0.0, 0.0),
    ("half of a box is inside", [Answered([(FULL, 1.0)], [LEFT])], 0.5, 1.0),
    ("a box inside the true box", [Answered([(INNER, 1.0)], [FULL])], 1.0, 0.0),
    ("no boxes for a true box", [Answered([], [FULL])], None, 0.0),
    ("no boxes and no true boxes", [NOTHING], None, None),
    ("all scores are 0", [Answered([(FULL, 0.0), (LEFT, 0.0)], [FULL])], None, 0.5),
    ("a count of zero", [Answered([(FULL, 0.5)], [])], 0.0, None),
    ("a count of zero adds to the second sum only", [ONE, Answered([(FULL, 0.5)], [])], 1 / 1.5, 1.0),
    ("a box without an area is covered", [Answered([(LINE, 1.0)], [FULL])], 1.0, 0.0),
    ("a box without an area, without true boxes", [Answered([(POINT, 1.0)], [])], 1.0, None),
    ("a box without an area beside one far away", [Answered([(POINT, 0.5), (AWAY, 1.0)], [FULL])], 0.5 / 1.5, 0.0),
    ("a true box without an area", [Answered([(FULL, 1.0)], [LINE])], 0.0, 0.0),
    ("a duplicate is a false positive", [Answered([(FULL, 1.0), (FULL, 1.0)], [FULL])], 1.0, 0.5),
    ("a duplicate with a lower score", [Answered([(FULL, 1.0), (FULL, 0.5)], [FULL])], 1.0, 1.0),
    ("a duplicate with a higher score away", [Answered([(FULL, 0.5), (AWAY, 1.0)], [FULL])], 0.5 / 1.5, 0.5),
    ("a true box that occurs twice", [Answered([(FULL, 1.0)], [FULL, FULL])], 1.0, 0.5),
    ("both boxes find the same of two equal ones", [Answered([(FULL, 1.0)] * 2, [FULL] * 2)], 1.0, 0.25),
    ("nested true boxes count once", [Answered([(FULL, 1.0)], [LEFT, INNER])], 0.5, 0.5),
    ("overlapping true boxes count once", [Answered([(FULL, 1.0)], [LEFT, TOP])], 0.75, 0.5),
    ("a box over two true boxes finds one", [Answered([(FULL, 1.0)], [LEFT, RIGHT])], 1.0, 0.5),
    ("a box for each of two", [Answered([(LEFT, 0.8), (RIGHT, 0.6)], [LEFT, RIGHT])], 1.0, 1.0),
    ("a box that only touches the true one", [Answered([(RIGHT, 1.0)], [LEFT])], 0.0, 0.0),
    ("the IoU is exactly 0.2", [Answered([((0, 0, 2, 10), 1.0)], [FULL])], 1.0, 1.0),
    ("the IoU is 0.19", [Answered([((0, 0, 1.9, 10), 1.0)], [FULL])], 1.0, 0.0),
    ("tied scores", [Answered([(FULL, 0.5), (AWAY, 0.5)], [FULL])], 0.5, 0.5),
    ("a score of a cut-off reaches it", [Answered([(FULL, 0.3), (AWAY, 0.29)], [FULL])], 0.3 / 0.59, 1.0),
    ("scores between the same cut-offs are equal", [Answered([(FULL, 0.35), (AWAY, 0.31)], [FULL])], 0.35 / 0.66, 0.5),
    ("the precision at a cut-off is the best of lower ones", [REVERSED], 1.2 / 2.1, 2 / 3),
    ("a false box with the highest score", [THREE], 1.0 / 2.0, 0.5),
    ("a true box of another question", [Answered([(FULL, 1.0)], [AWAY]), Answered([], [FULL])], 0.0, 0.0),
    ("one of two questions is answered", [ONE, Answered([], [FULL])], 1.0, 0.5),
]


def figures(questions: list[Answered]) -> dict[str, float | None]:
    return {name: terms.figure() for name, terms in grounding_terms(match_boxes(*pack(questions))).items()}


@pytest.mark.parametrize(
    ("questions", "expected_groundp", "expected_ap"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_case_has_the_figures_that_were_computed_by_hand(
    questions: list[Answered], expected_groundp: float | None, expected_ap: float | None
) -> None:
    found = figures(questions)
    assert found["groundp"] == (None if expected_groundp is None else pytest.approx(expected_groundp))
    assert found["ap"] == (None if expected_ap is None else pytest.approx(expected_ap))


@given(QUESTIONS)
def test_groundp_equals_the_painted_twin(questions: list[Answered]) -> None:
    expected = groundp_twin(questions)
    found = groundp(match_boxes(*pack(questions))).figure()
    assert found == (None if expected is None else pytest.approx(expected))


@given(QUESTIONS)
def test_each_box_is_covered_as_it_is_painted_and_has_the_greatest_iou(questions: list[Answered]) -> None:
    matches = match_boxes(*pack(questions))
    at = 0
    for number, question in enumerate(questions):
        for box, _ in question.predicted:
            ious = [iou_twin(box, true) for true in question.true]
            assert matches.ious[at] == max(ious, default=0.0)
            first = ious.index(max(ious)) + int(matches.true.starts[number]) if any(ious) else -1
            assert matches.best[at] == first
            assert matches.covered[at] == groundp_twin([Answered([(box, 1.0)], question.true)])
            at += 1


@given(QUESTIONS, IOU)
def test_average_precision_equals_the_twin(questions: list[Answered], iou: float) -> None:
    expected = ap_twin(questions, iou)
    found = average_precision(match_boxes(*pack(questions)), iou).figure()
    assert found == (None if expected is None else pytest.approx(expected))


@given(QUESTIONS, IOU)
def test_detections_equal_those_of_the_twin(questions: list[Answered], iou: float) -> None:
    found = np.stack(count_detections(match_boxes(*pack(questions)), iou), axis=-1)
    expected = [[counts_twin(question, cutoff, iou) for cutoff in CUTOFFS] for question in questions]
    assert found.tolist() == [[list(counts) for counts in row] for row in expected]


@given(QUESTIONS)
def test_figures_are_from_0_to_1_and_ap_falls_with_the_iou(questions: list[Answered]) -> None:
    matches = match_boxes(*pack(questions))
    share = groundp(matches).figure()
    assert share is None or 0 <= share <= 1
    averages = [average_precision(matches, iou).figure() for iou in IOUS]
    if averages[0] is None:
        assert averages == [None] * len(IOUS)
        return
    assert all(average is not None and 0 <= average <= 1 for average in averages)
    found = [count_detections(matches, iou).true_positives.sum() for iou in IOUS]
    assert sorted(found, reverse=True) == found


@given(QUESTIONS, st.randoms(use_true_random=False))
def test_the_order_of_questions_and_predicted_boxes_does_not_matter(questions: list[Answered], random) -> None:
    mixed = [Answered(random.sample(one.predicted, len(one.predicted)), one.true) for one in questions]
    random.shuffle(mixed)
    assert figures(mixed) == pytest.approx(figures(questions))


@given(QUESTIONS, st.randoms(use_true_random=False))
def test_the_order_of_true_boxes_does_not_matter_for_groundp(questions: list[Answered], random) -> None:
    mixed = [Answered(one.predicted, random.sample(one.true, len(one.true))) for one in questions]
    assert figures(mixed)["groundp"] == pytest.approx(figures(questions)["groundp"])


@given(QUESTIONS, BOX)
def test_another_true_box_never_uncovers_a_box(questions: list[Answered], box: Box) -> None:
    more = [Answered(one.predicted, [*one.true, box]) for one in questions]
    less, greater = (match_boxes(*pack(some)).covered for some in (questions, more))
    assert (less <= greater).all()


@given(QUESTIONS, st.floats(0.25, 4), st.floats(-100, 100))
def test_boxes_may_have_any_scale_and_place(questions: list[Answered], scale: float, shift: float) -> None:
    predicted, true = pack(questions)
    moved = match_boxes(
        predicted._replace(boxes=predicted.boxes * scale + shift), true._replace(boxes=true.boxes * scale + shift)
    )
    plain = match_boxes(predicted, true)
    has_area = np.ptp(moved.predicted.boxes.reshape(-1, 2, 2), axis=1).prod(axis=1) > 0
    assert moved.covered[has_area] == pytest.approx(plain.covered[has_area], abs=1e-9)
    assert moved.ious[has_area] == pytest.approx(plain.ious[has_area], abs=1e-9)


@given(QUESTIONS, st.data())
def test_slices_have_the_figures_of_their_own_questions(questions: list[Answered], data: st.DataObject) -> None:
    codes = data.draw(st.lists(st.integers(0, 2), min_size=len(questions), max_size=len(questions)))
    terms = grounding_terms(match_boxes(*pack(questions)))
    for name, twin in (("groundp", groundp_twin), ("ap", lambda some: ap_twin(some, AP_IOU))):
        sliced = terms[name].slices(Slicing(np.array(codes, np.uint8), 3))
        for value in range(3):
            own = [question for question, code in zip(questions, codes, strict=True) if code == value]
            expected = twin(own)
            figure = sliced.figures[value]
            assert np.isnan(figure) if expected is None else figure == pytest.approx(expected)
        assert sliced.n.sum() == terms[name].count()


def test_read_only_arrays_of_other_types_give_the_same_figures() -> None:
    predicted, true = pack([ONE, Answered([(FULL, 1.0)], [LEFT])])
    small = ScoredBoxes(predicted.starts.astype(np.int32), predicted.boxes.astype(np.float32), predicted.scores)
    for one in (*small, *true):
        one.flags.writeable = False
    assert groundp(match_boxes(small, true)).figure() == 0.75


@pytest.mark.parametrize(
    ("predicted", "true", "message"),
    [
        ([((3, 0, 2, 9), 1.0)], [], "predicted boxes"),
        ([((0, 0, float("nan"), 9), 1.0)], [], "predicted boxes"),
        ([], [(0, 5, 2, 4)], "true boxes"),
        ([(FULL, 1.5)], [], "a score from 0 to 1"),
        ([(FULL, float("nan"))], [], "a score from 0 to 1"),
    ],
)
def test_boxes_and_scores_that_are_not_possible_are_refused(
    predicted: list[tuple[Box, float]], true: list[Box], message: str
) -> None:
    with pytest.raises(ValueError, match=f"Expected .*{message}"):
        match_boxes(*pack([Answered(predicted, true)]))


def test_boxes_of_another_number_of_questions_are_refused() -> None:
    predicted, _ = pack([ONE])
    _, true = pack([ONE, ONE])
    with pytest.raises(ValueError, match="Expected boxes of 2 questions, got 1"):
        match_boxes(predicted, true)


@pytest.mark.parametrize("starts", [[0, 2], [1, 1], [0, 1, 0, 1]])
def test_starts_that_do_not_fit_the_boxes_are_refused(starts: list[int]) -> None:
    predicted, true = pack([ONE] * (len(starts) - 1))
    one = TrueBoxes(np.array(starts), true.boxes[:1])
    with pytest.raises(ValueError, match="ascending from 0"):
        match_boxes(predicted, one)
