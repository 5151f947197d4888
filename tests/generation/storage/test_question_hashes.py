"""The comparison of one split's questions with another's by hashes, checked against sets of plain texts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.worlds import SEEN, UNSEEN
from generation.storage import question_hashes

NAME = "any"
QUESTIONS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=4), max_size=12)


def gather_keys(questions: list[list[str]]) -> question_hashes.Keys:
    """Return the keys of questions in the form in which an index stores them."""
    columns = question_hashes.KeyColumns([NAME])
    for question in questions:
        columns.add({NAME: question})
    [(name, found)] = columns.taken()
    assert name == NAME
    return found


def seen_by_sets(mine: list[list[str]], reference: list[list[str]]) -> list[str | None]:
    """Return for each question whether the reference has all of its keys, or None if it has no keys."""
    known = {key for question in reference for key in question}
    return [None if not question else SEEN if set(question) <= known else UNSEEN for question in mine]


@pytest.mark.parametrize("block", [2, question_hashes.BLOCK])
@given(mine=QUESTIONS, reference=QUESTIONS)
def test_seen_questions_are_those_found_by_plain_sets(block: int, mine: list[list[str]], reference: list[list[str]]):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(question_hashes, "BLOCK", block)
        codes = question_hashes.seen_codes(gather_keys(mine), gather_keys(reference)).tolist()
    values = [None if code == question_hashes.NONE else (SEEN, UNSEEN)[code] for code in codes]
    assert values == seen_by_sets(mine, reference)


@given(QUESTIONS)
def test_each_key_is_stored_once(questions: list[list[str]]):
    found = gather_keys(questions)
    hashes = [sorted({question_hashes.hash_key(key) for key in question}) for question in questions]
    kept = [
        sorted(set(found.distinct[found.places[first:end]].tolist()))
        for first, end in zip(found.starts, found.starts[1:], strict=False)
    ]
    assert kept == hashes
    assert found.distinct.tolist() == sorted({one for question in hashes for one in question})
    assert found.n == len(questions)


def test_places_of_many_keys_use_a_larger_type():
    found = gather_keys([[str(number)] for number in range(300)])
    assert found.distinct.dtype == np.uint64
    assert found.places.dtype == np.uint16
    assert (question_hashes.seen_codes(found, found) == 0).all()
