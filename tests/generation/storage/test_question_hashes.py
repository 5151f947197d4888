"""What one split's questions had seen of another's, held against sets of plain texts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.worlds import SEEN, UNSEEN
from generation.storage import question_hashes

NAME = "any"
QUESTIONS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=4), max_size=12)


def gathered(questions: list[list[str]]) -> question_hashes.Keys:
    """Return questions' keys as an index has them."""
    columns = question_hashes.KeyColumns([NAME])
    for question in questions:
        columns.add({NAME: question})
    [(name, found)] = columns.taken()
    assert name == NAME
    return found


def twin(mine: list[list[str]], reference: list[list[str]]) -> list[str | None]:
    """Return for each question whether the reference has all of its keys; None without any."""
    known = {key for question in reference for key in question}
    return [None if not question else SEEN if set(question) <= known else UNSEEN for question in mine]


@pytest.mark.parametrize("block", [2, question_hashes.BLOCK])
@given(mine=QUESTIONS, reference=QUESTIONS)
def test_questions_are_seen_where_the_twin_says_so(block: int, mine: list[list[str]], reference: list[list[str]]):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(question_hashes, "BLOCK", block)
        codes = question_hashes.seen_codes(gathered(mine), gathered(reference)).tolist()
    values = [None if code == question_hashes.NONE else (SEEN, UNSEEN)[code] for code in codes]
    assert values == twin(mine, reference)


@given(QUESTIONS)
def test_each_key_is_kept_once(questions: list[list[str]]):
    found = gathered(questions)
    hashes = [sorted({question_hashes.hash_key(key) for key in question}) for question in questions]
    kept = [
        sorted(set(found.distinct[found.places[first:end]].tolist()))
        for first, end in zip(found.starts, found.starts[1:], strict=False)
    ]
    assert kept == hashes
    assert found.distinct.tolist() == sorted({one for question in hashes for one in question})
    assert found.n == len(questions)


def test_many_keys_take_the_room_they_need():
    found = gathered([[str(number)] for number in range(300)])
    assert found.distinct.dtype == np.uint64
    assert found.places.dtype == np.uint16
    assert (question_hashes.seen_codes(found, found) == 0).all()
