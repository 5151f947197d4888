"""What predictions for a split are held against: its questions' ids, the vocabulary, and what each question admits."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.predictions import Expected
from generation.engine.worlds import AnswerForm, AnswerKind
from generation.engine.worlds import Question as Asked
from generation.models import Split
from generation.reports.shortcuts import TYPE
from generation.storage.index import SplitIndex


def expected_of(split: Split) -> Expected:
    """Return what a file of predictions for a complete split is held against; raise `NotIndexed` for another one.

    Questions of a derived split may also be called what they are in the split that has them.
    """
    index = SplitIndex.open(split)
    kinds, admitted, forms = _admitted(split, index)
    return Expected(str(split), index.n, index.answer_values, _names(index), kinds, admitted, forms)


def _names(index: SplitIndex) -> NDArray[np.bytes_] | None:
    """Return the ids under which questions were published, or are known in a parent; None where those are positions."""
    sources = index.sources_of(np.arange(index.n))
    if sources is None and index.positions is None:
        return None
    numbers = np.arange(index.n) if index.positions is None else index.positions
    plain: NDArray[np.bytes_] = numbers.astype("S10")
    return plain if sources is None else np.where(sources == b"", plain, sources)


class _Admitted(NamedTuple):
    """Of which type each question is; of each type, and of none, the codes of its answers and their form."""

    kinds: NDArray[np.integer]
    codes: tuple[tuple[int, ...], ...]
    forms: tuple[AnswerForm, ...]


def _admitted(split: Split, index: SplitIndex) -> _Admitted:
    every, any_form = tuple(range(len(index.answer_values))), AnswerForm(AnswerKind.WORD, (), {})
    facet = index.facets.get(TYPE)
    if facet is None:
        return _Admitted(np.zeros(index.n, np.uint8), (every,), (any_form,))
    world, spec = split.dataset.get_world(), split.read_spec()
    codes = {answer: code for code, answer in enumerate(index.answer_values)}
    forms = [world.answer_form(spec, Asked("", kind=kind)) for kind in facet.values]
    found = [tuple(codes[choice] for choice in form.choices if choice in codes) or every for form in forms]
    return _Admitted(np.minimum(facet.codes, len(found)), (*found, every), (*forms, any_form))
