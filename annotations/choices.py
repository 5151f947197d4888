"""The buttons that answer a question: every choice of its kind, with its key and its colour."""

import functools
from typing import NamedTuple

from generation.engine import worlds
from generation.engine.worlds import AnswerForm, AnswerKind, Display
from generation.index import NotIndexed, SplitIndex
from generation.models import Split

TYPE = "type"
KEYS = "123456789abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789tabcdefghijklmnopqrsuvwxyz"  # of numbers: `t` is ten


class Choice(NamedTuple):
    """A button: its answer, the key that presses it, and for a colour its swatch as CSS writes it."""

    text: str
    key: str
    swatch: str


def form_of(split: Split, kind: str) -> AnswerForm:
    """Return how questions of a kind are answered: with every choice, the whole vocabulary where no kind is known."""
    return _form(split.pk, split.index_digest, kind)


@functools.lru_cache(maxsize=1000)
def _form(split: int, digest: str, kind: str) -> AnswerForm:
    row = Split.objects.select_related("dataset", "parent").get(pk=split)
    world, spec = row.dataset.get_world(), row.read_spec()
    form = world.answer_form(spec, worlds.Question("", kind=kind))
    return form if form.choices else form._replace(choices=world.answers(spec))


def display_of(split: Split) -> Display:
    """Return how a split's pictures are shown."""
    return _display(split.pk, split.index_digest)


@functools.lru_cache(maxsize=1000)
def _display(split: int, digest: str) -> Display:
    return Split.objects.select_related("dataset").get(pk=split).dataset.display


def swatches_of(split: Split) -> dict[str, tuple[int, int, int]]:
    """Return the colours of a split's world by their names, where colours can be answers and must be told apart."""
    if not split.dataset.get_world().display.needs_colour:
        return {}
    try:
        facet = SplitIndex.open(split).facets.get(TYPE)
    except NotIndexed:
        return {}
    forms = [form_of(split, kind) for kind in facet.values] if facet is not None else []
    return next((dict(form.swatches) for form in forms if form.swatches), {})


def choices_of(form: AnswerForm) -> list[Choice]:
    """Return the buttons of an answer form; who has more answers than there are keys presses the last ones by hand."""
    keys = DIGITS if form.kind == AnswerKind.INTEGER else KEYS
    return [
        Choice(text, keys[number] if number < len(keys) else "", _css(form.swatches.get(text)))
        for number, text in enumerate(form.choices)
    ]


def _css(swatch: tuple[int, int, int] | None) -> str:
    return "" if swatch is None else "rgb({} {} {})".format(*swatch)
