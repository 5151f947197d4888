"""Which buttons give an answer, and at which places they are."""

import pytest

from annotations.answering.answer_forms import buttons_of
from generation.engine.items import AnswerForm, AnswerKind

EITHER = AnswerForm(AnswerKind.YES_NO, ("yes", "no"), {})
SET = AnswerForm(AnswerKind.SET, ("none", "apple", "milk", "apple,milk"), {}, parts=("apple", "milk"), empty="none")
WAY = AnswerForm(AnswerKind.SEQUENCE, ("n,e", "e,n"), {}, parts=("n", "e"), length=2)


@pytest.mark.parametrize(
    ("form", "text", "places"),
    [
        (EITHER, "yes", (0,)),
        (EITHER, "no", (1,)),
        (EITHER, "maybe", None),
        (SET, "apple,milk", (0, 1)),
        (SET, "none", (2,)),
        (SET, "pear", None),
        (WAY, "e,n", (1, 0)),
    ],
)
def test_an_answer_says_which_buttons_were_pressed(form: AnswerForm, text: str, places: tuple[int, ...] | None) -> None:
    found = buttons_of(form, text)
    assert (None if found is None else found.places) == places
