"""Tokens: the proof that an item was given to a participant."""

from collections.abc import Callable

import pytest

from annotations.answering import question_tokens
from annotations.models import Participant, Study
from tests.annotations.conftest import Begin

pytestmark = pytest.mark.django_db
THINGS = ("question:1", "question:2", "check:0")


def test_a_token_names_one_item_of_one_participant(joined: Callable[[], Participant]) -> None:
    one, other = joined(), joined()
    token = question_tokens.token_of(one, "question:2")
    assert question_tokens.find(one, token, among=THINGS) == "question:2"
    assert question_tokens.find(one, token, among=["question:1"]) is None
    assert question_tokens.find(other, token, among=THINGS) is None


def test_a_token_does_not_reveal_its_item(joined: Callable[[], Participant]) -> None:
    person = joined()
    token = question_tokens.token_of(person, "check:0")
    assert len(token) == len(question_tokens.token_of(person, "question:123456"))
    assert ":" not in token and "check" not in token


@pytest.mark.parametrize("forged", ["", "x", "question:1", "٣", "\0", "a" * 10_000])
def test_a_forged_token_names_nothing(joined: Callable[[], Participant], forged: str) -> None:
    assert question_tokens.find(joined(), forged, among=THINGS) is None


def test_a_test_link_is_for_one_study(study: Study, begin_study: Begin) -> None:
    token = question_tokens.test_token(study)
    assert question_tokens.is_test(study, token)
    assert not question_tokens.is_test(begin_study(questions=1), token)
    for forged in ("", study.code, f"{study.code}:x", token[:-1], token + "x", "\0"):
        assert not question_tokens.is_test(study, forged)
