"""The check of the facets "seen in train" agrees with a simple twin that looks at each question in turn."""

from hypothesis import given
from hypothesis import strategies as st

from generation.engine.verification.train_overlap import NONE, NOT_VERIFIED, VALUES, TrainOverlap
from generation.engine.verification.verdict import Verdict
from generation.engine.worlds import SEEN, UNSEEN

QUESTIONS = st.lists(st.lists(st.integers(0, 9), max_size=3), min_size=1, max_size=12)


def overlap_of(**splits: list[list[int]]) -> TrainOverlap:
    made = TrainOverlap()
    for name, questions in splits.items():
        for keys in questions:
            made.add(name, "text", keys, [len(keys)])
    return made


def code_by_twin(keys: list[int], train: list[list[int]]) -> int:
    known = {key for one in train for key in one}
    return NONE if not keys else VALUES.index(SEEN if known.issuperset(keys) else UNSEEN)


@given(QUESTIONS, QUESTIONS)
def test_the_codes_of_the_twin_are_proved(val: list[list[int]], train: list[list[int]]) -> None:
    verdict = Verdict()
    stated = [code_by_twin(keys, train) for keys in val]
    overlap_of(val=val, train=train).prove("val", "train", {"text": stated}, verdict)
    assert [(row.split, row.count) for row in verdict.proved] == [("val", len(val))] and verdict.holds


@given(QUESTIONS, QUESTIONS, st.data())
def test_any_other_code_is_found_with_its_question(
    val: list[list[int]], train: list[list[int]], data: st.DataObject
) -> None:
    verdict = Verdict()
    stated = [code_by_twin(keys, train) for keys in val]
    at = data.draw(st.integers(0, len(val) - 1))
    stated[at] = data.draw(st.sampled_from([code for code in (*range(len(VALUES)), NONE, -2) if code != stated[at]]))
    overlap_of(val=val, train=train).prove("val", "train", {"text": stated}, verdict)
    assert [(one.check, one.question) for one in verdict.findings] == [("facets", at)]


def test_without_the_reference_split_nothing_is_proved() -> None:
    verdict = Verdict()
    overlap_of(val=[[1]]).prove("val", "train", {"text": [0]}, verdict)
    assert verdict.holds and not verdict.proved and [row.what for row in verdict.open] == [NOT_VERIFIED]
