"""Which buttons people pressed: those of which questions, and where they stand among them."""

from collections.abc import Mapping
from typing import NamedTuple

from annotations.answering.answer_forms import plain_form
from annotations.models import Study
from annotations.results.dawid_skene import forms_at
from generation.engine.worlds import AnswerForm
from generation.storage.index import NotIndexed, SplitIndex


class Pressed(NamedTuple):
    """Buttons that were pressed to answer a question.

    Attributes
    ----------
    buttons : tuple of str
        All that the question has.
    places : tuple of int
        Where those stand that were pressed, from 0: several where an answer is put together of parts.
    """

    buttons: tuple[str, ...]
    places: tuple[int, ...]


def forms_of(study: Study, positions: Mapping[int, int]) -> dict[int, AnswerForm]:
    """Return how some questions of a study are answered, by their keys; none of a split without an index.

    `positions` says by each question's key where it stands in the split.
    """
    try:
        index = SplitIndex.open(study.split)
    except NotIndexed:
        return {}
    forms = {position: form for position, _, form in forms_at(study.split, index, sorted(set(positions.values())))}
    found = {key: forms[position] for key, position in positions.items()}
    whole = index.answer_values
    return {key: form if form.choices else form._replace(choices=whole) for key, form in found.items()}


def pressed_of(form: AnswerForm, text: str) -> Pressed | None:
    """Return which buttons give an answer; None where these buttons give no such answer."""
    buttons = plain_form(form).choices
    parts = (form.taken_apart(text) or (text,)) if form.parts else (text,)
    if any(part not in buttons for part in parts):
        return None
    return Pressed(buttons, tuple(buttons.index(part) for part in parts))
