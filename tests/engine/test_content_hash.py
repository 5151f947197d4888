"""The canonical JSON text of a value, and the fingerprint of a split, which says whether two datasets are the same."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.content_hash import Fingerprint, canonical, dataset_fingerprint, digest, question_line
from generation.engine.items import Answer, AnswerKind, Question
from generation.engine.program import Step

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
QUESTIONS = [{"text": "How many?", "answer": "2"}, {"text": "Any?", "answer": "yes"}]


def reversed_keys(value: Any) -> Any:
    """Return the value with the keys of every object in reverse order."""
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(one) for one in value] if isinstance(value, list) else value


@given(JSON)
def test_the_order_of_keys_does_not_matter(value: Any):
    assert canonical(reversed_keys(value)) == canonical(value)
    assert digest(reversed_keys(value)) == digest(value)


@given(JSON)
def test_the_canonical_text_is_json_of_the_value(value: Any):
    assert json.loads(canonical(value)) == value
    assert "\n" not in canonical(value)


@given(JSON, JSON)
def test_different_values_have_different_digests(one: Any, two: Any):
    assert (digest(one) == digest(two)) == (canonical(one) == canonical(two))


def test_example_of_a_canonical_text():
    assert canonical({"b": [1, 2.5, True, None], "a": "é\n"}) == '{"a":"é\\n","b":[1,2.5,true,null]}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_numbers_that_json_does_not_have_are_refused(value: Any):
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical(value)


NUMBERS = st.none() | st.integers(0, 10**9)
PROGRAMS = st.none() | st.lists(
    st.builds(Step, st.text(), st.lists(st.integers(0, 9)).map(tuple), st.lists(st.text()).map(tuple)), max_size=3
).map(tuple)


@given(st.text(), st.text(), st.none() | st.text(), PROGRAMS, NUMBERS, NUMBERS)
def test_the_line_of_a_question_is_the_canonical_text_of_its_json(
    text: str, kind: str, answer: str | None, program: Any, family: int | None, scope: int | None
):
    found = None if answer is None else Answer(answer, AnswerKind.WORD)
    question = Question(text, program, found, kind, family, scope)
    whole = question.to_json()
    steps = None if program is None else canonical(whole["program"])
    assert question_line(text=text, kind=kind, answer=answer, program=steps, family=family, scope=scope) == canonical(
        whole
    )


def test_lines_give_the_same_fingerprint_as_values():
    one, other = Fingerprint(), Fingerprint()
    one.add({"a": 1}, QUESTIONS)
    other.add_lines([canonical({"a": 1}), *map(canonical, QUESTIONS)])
    assert one.hexdigest() == other.hexdigest()


def fingerprint_of(*items: tuple[Any, list[dict[str, Any]]]) -> str:
    """Return the fingerprint of the items."""
    fingerprint = Fingerprint()
    for scene, questions in items:
        fingerprint.add(scene, questions)
    return fingerprint.hexdigest()


def test_fingerprint_is_sha256_over_lines():
    lines = '{"a":1}\n{"answer":"2","text":"How many?"}\n{"answer":"yes","text":"Any?"}\nnull\n'
    assert fingerprint_of(({"a": 1}, QUESTIONS), (None, [])) == hashlib.sha256(lines.encode()).hexdigest()


def test_the_fingerprint_depends_on_the_order_of_questions_and_on_their_scenes():
    plain = fingerprint_of(({"a": 1}, QUESTIONS), ({"a": 2}, []))
    assert plain == fingerprint_of(({"a": 1}, QUESTIONS), ({"a": 2}, []))
    assert plain != fingerprint_of(({"a": 1}, QUESTIONS[::-1]), ({"a": 2}, []))
    assert plain != fingerprint_of(({"a": 1}, QUESTIONS[:1]), ({"a": 2}, QUESTIONS[1:]))
    assert plain != fingerprint_of(({"a": 2}, []), ({"a": 1}, QUESTIONS))


def test_the_dataset_fingerprint_does_not_depend_on_the_order_of_splits():
    assert dataset_fingerprint({"b": "2", "a": "1"}) == dataset_fingerprint({"a": "1", "b": "2"})
    assert dataset_fingerprint({"b": "2", "a": "1"}) == digest([["a", "1"], ["b", "2"]])
    assert dataset_fingerprint({"b": "1", "a": "2"}) != dataset_fingerprint({"b": "2", "a": "1"})


def test_the_json_of_a_question_has_everything_except_its_source_id():
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
