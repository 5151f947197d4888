"""The answer forms of questions: their buttons with keys and colours, and the buttons that people pressed."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from annotations.models import Study
from generation.engine import worlds
from generation.engine.items import AnswerForm, AnswerKind, Display, Media
from generation.engine.items import Question as Asked
from generation.models import Question, Split
from generation.storage.split_index import NotIndexed, SplitIndex


class PressedButtons(NamedTuple):
    """The buttons that were pressed to answer a question.

    Attributes
    ----------
    buttons : tuple of str
        All buttons of the question.
    places : tuple of int
        The positions of the pressed buttons, from 0; there may be several if an answer is composed of parts.
    """

    buttons: tuple[str, ...]
    places: tuple[int, ...]


def forms_of(study: Study, positions: Mapping[int, int]) -> dict[int, AnswerForm]:
    """Return the answer forms of a study's questions by the keys of the questions; empty for a split without an index.

    `positions` has each question's position in the split by its key.
    """
    try:
        index = SplitIndex.open(study.split)
    except NotIndexed:
        return {}
    forms = {position: form for position, _, form in forms_at(study.split, index, sorted(set(positions.values())))}
    found = {key: forms[position] for key, position in positions.items()}
    whole = index.answer_values
    return {key: form if form.choices else form._replace(choices=whole) for key, form in found.items()}


def buttons_of(form: AnswerForm, text: str) -> PressedButtons | None:
    """Return the buttons that must be pressed to give an answer, or None if the form's buttons can't give it."""
    buttons = plain_form(form).choices
    parts = (form.taken_apart(text) or (text,)) if form.parts else (text,)
    if any(part not in buttons for part in parts):
        return None
    return PressedButtons(buttons, tuple(buttons.index(part) for part in parts))


SOME = 900  # questions that are read at once
KEYS = "123456789abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789tabcdefghijklmnopqrsuvwxyz"  # the keys for numbers; `t` is the key for ten


class AnswerButton(NamedTuple):
    text: str
    key: str
    swatch: str  # its CSS colour, or empty


def form_of(split: Split, kind: str) -> AnswerForm:
    return _form(split.pk, split.index_digest, kind)


def media_of(split: Split) -> Media:
    return _media_and_tells(split.pk, split.index_digest)[0]


def is_told(split: Split) -> bool:
    return _media_and_tells(split.pk, split.index_digest)[1]


@functools.lru_cache(maxsize=1000)
def _media_and_tells(split: int, digest: str) -> tuple[Media, bool]:
    dataset = Split.objects.select_related("dataset").get(pk=split).dataset
    return dataset.media, dataset.tells


@functools.lru_cache(maxsize=1000)
def _form(split: int, digest: str, kind: str) -> AnswerForm:
    row = Split.objects.select_related("dataset", "parent").get(pk=split)
    world, spec = row.dataset.get_world(), row.read_spec()
    form = world.answer_form(spec, worlds.Question("", kind=kind))
    return form if form.choices else form._replace(choices=world.answers(spec))


def display_of(split: Split) -> Display:
    return _display(split.pk, split.index_digest)


@functools.lru_cache(maxsize=1000)
def _display(split: int, digest: str) -> Display:
    return Split.objects.select_related("dataset").get(pk=split).dataset.display


def swatches_of(split: Split) -> dict[str, tuple[int, int, int]]:
    return dict(_swatches(split.pk, split.index_digest))


@functools.lru_cache(maxsize=1000)
def _swatches(split: int, digest: str) -> Mapping[str, tuple[int, int, int]]:
    row = Split.objects.select_related("dataset", "parent").get(pk=split)
    return row.dataset.get_world().swatches(row.read_spec())


def choices_of(form: AnswerForm) -> list[AnswerButton]:
    return _with_keys(form, form.choices, keys=DIGITS if form.kind == AnswerKind.INTEGER else KEYS)


def places_of(form: AnswerForm) -> list[list[AnswerButton]]:
    """Return the buttons for the parts of a composed answer: one group for a set, one group per place of a sequence."""
    if form.kind == AnswerKind.SEQUENCE:
        count = len(form.parts)
        return [_with_keys(form, form.parts, keys=KEYS[place * count :]) for place in range(form.length)]
    return [_with_keys(form, [*form.parts, *([form.empty] if form.empty else [])], keys=KEYS)] if form.parts else []


def join_parts(form: AnswerForm, parts: Sequence[str]) -> str | None:
    return form.empty if parts == [form.empty] and form.empty else form.put_together(parts) if parts else None


def plain_form(form: AnswerForm) -> AnswerForm:
    if not form.parts:
        return form
    return AnswerForm(AnswerKind.WORD, (*form.parts, *([form.empty] if form.empty else [])), {})


def _with_keys(form: AnswerForm, texts: Sequence[str], *, keys: str) -> list[AnswerButton]:
    return [
        AnswerButton(text, keys[number] if number < len(keys) else "", _css(form.swatches.get(text)))
        for number, text in enumerate(texts)
    ]


def _css(swatch: tuple[int, int, int] | None) -> str:
    return "" if swatch is None else "rgb({} {} {})".format(*swatch)


def forms_at(split: Split, index: SplitIndex, positions: Sequence[int]) -> Iterator[tuple[int, str, AnswerForm]]:
    """Yield each of these positions of a split, in ascending order, with the type and answer form of its question."""
    world, spec = split.dataset.get_world(), split.read_spec()
    forms: dict[str, AnswerForm] = {}
    places = dict(zip(index.in_source(positions), positions, strict=True))
    source = sorted(places)
    for start in range(0, len(source), SOME):
        some = Question.objects.filter(split=split.source, position__in=source[start : start + SOME])
        for position, kind in some.order_by("position").values_list("position", "kind"):
            if kind not in forms:
                forms[kind] = world.answer_form(spec, Asked("", kind=kind))
            yield places[position], kind, forms[kind]
