"""One JSON text a value, and the fingerprint of a split: what 'the same dataset' means."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.content_hash import Fingerprint, canonical, dataset_fingerprint, digest
from generation.engine.items import Answer, AnswerKind, Question
from generation.engine.program import Step

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
QUESTIONS = [{"text": "How many?", "answer": "2"}, {"text": "Any?", "answer": "yes"}]


def reversed_keys(value: Any) -> Any:
    """Return the value with every object's keys in the opposite order."""
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(one) for one in value] if isinstance(value, list) else value


@given(JSON)
def test_order_of_keys_changes_nothing(value: Any):
    assert canonical(reversed_keys(value)) == canonical(value)
    assert digest(reversed_keys(value)) == digest(value)


@given(JSON)
def test_canonical_text_is_json_of_the_value(value: Any):
    assert json.loads(canonical(value)) == value
    assert "\n" not in canonical(value)


@given(JSON, JSON)
def test_another_value_has_another_digest(one: Any, two: Any):
    assert (digest(one) == digest(two)) == (canonical(one) == canonical(two))


def test_canonical_text_by_hand():
    assert canonical({"b": [1, 2.5, True, None], "a": "é\n"}) == '{"a":"é\\n","b":[1,2.5,true,null]}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_what_json_cannot_say_is_refused(value: Any):
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical(value)


def of(*items: tuple[Any, list[dict[str, Any]]]) -> str:
    """Return the fingerprint of items."""
    fingerprint = Fingerprint()
    for scene, questions in items:
        fingerprint.add(scene, questions)
    return fingerprint.hexdigest()


def test_fingerprint_is_sha256_over_lines():
    lines = '{"a":1}\n{"answer":"2","text":"How many?"}\n{"answer":"yes","text":"Any?"}\nnull\n'
    assert of(({"a": 1}, QUESTIONS), (None, [])) == hashlib.sha256(lines.encode()).hexdigest()


def test_fingerprint_knows_order_and_owner_of_questions():
    plain = of(({"a": 1}, QUESTIONS), ({"a": 2}, []))
    assert plain == of(({"a": 1}, QUESTIONS), ({"a": 2}, []))
    assert plain != of(({"a": 1}, QUESTIONS[::-1]), ({"a": 2}, []))
    assert plain != of(({"a": 1}, QUESTIONS[:1]), ({"a": 2}, QUESTIONS[1:]))
    assert plain != of(({"a": 2}, []), ({"a": 1}, QUESTIONS))


def test_dataset_fingerprint_sorts_by_name():
    assert dataset_fingerprint({"b": "2", "a": "1"}) == dataset_fingerprint({"a": "1", "b": "2"})
    assert dataset_fingerprint({"b": "2", "a": "1"}) == digest([["a", "1"], ["b", "2"]])
    assert dataset_fingerprint({"b": "1", "a": "2"}) != dataset_fingerprint({"b": "2", "a": "1"})


def test_question_covers_all_but_the_sources_name():
    question = Question(
        text="Any?",
        program=(Step("scene"), Step("exist", (0,))),
        answer=Answer("yes", AnswerKind.YES_NO, "true"),
        kind="exist",
        family=85,
        scope=None,
        source_id="CLEVR_train_000001/3",
    )
    assert question.to_json() == {
        "answer": "yes",
        "family": 85,
        "kind": "exist",
        "program": [
            {"function": "scene", "inputs": [], "value_inputs": []},
            {"function": "exist", "inputs": [0], "value_inputs": []},
        ],
        "scope": None,
        "text": "Any?",
    }
