"""Scores of predictions on a split, overall and by every facet. Nothing is stored.

Predictions are checked against the ids of the split's questions, its vocabulary, and the answers that each question
admits.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.access import is_withheld
from generation.engine.errors import BadPredictions
from generation.engine.formats.huggingface.rows import column_of
from generation.engine.items import AnswerForm, AnswerKind, FacetKind
from generation.engine.items import Question as Asked
from generation.engine.predictions import ExpectedAnswers, Predictions, read_predictions
from generation.engine.predictions.unanswered import is_failure
from generation.engine.scoring.score import NONE, OUTSIDE, ScoreCounts, Slicing, score
from generation.models import Scene, Split
from generation.reports.shortcuts import TYPE
from generation.storage.split_index import IndexedFacet, SplitIndex


def expected_of(split: Split) -> ExpectedAnswers:
    """Return what a file of predictions for a complete split is compared with; raise `NotIndexed` for other splits.

    Questions of a derived split can also be named by their ids in the parent split.
    """
    index = SplitIndex.open(split)
    kinds, admitted, forms = _admitted(split, index)
    world, spec = split.dataset.get_world(), split.read_spec()
    most_counted = world.most_counted(spec)
    sizes = None if most_counted is None else _picture_sizes(split, index)
    return ExpectedAnswers(
        str(split), index.n, index.answer_values, _names(index), kinds, admitted, forms, most_counted, sizes,
        world.synonyms(spec), None if is_withheld(split) else truth_of(index),
        frozenset(column_of(name) for name in index.facets),
    )  # fmt: skip


def _picture_sizes(split: Split, index: SplitIndex) -> NDArray[np.int32]:
    rows = Scene.objects.filter(split=split.source).order_by("position").values_list("width", "height")
    return np.array(list(rows), np.int32).reshape(-1, 2)[index.scenes]  # 0 if they are not known


def _names(index: SplitIndex) -> NDArray[np.bytes_] | None:
    """Return the ids of questions as published or as in the parent split; None if they are the positions."""
    sources = index.sources_of(np.arange(index.n))
    if sources is None and index.positions is None:
        return None
    numbers = np.arange(index.n) if index.positions is None else index.positions
    plain: NDArray[np.bytes_] = numbers.astype("S10")
    return plain if sources is None else np.where(sources == b"", plain, sources)


class _Admitted(NamedTuple):
    kinds: NDArray[np.integer]  # of each question
    codes: tuple[tuple[int, ...], ...]  # for each type, and for no type
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


@dataclass(frozen=True, eq=False)
class ScoredSplit:
    """The scores of predictions on a split.

    Attributes
    ----------
    predictions : Predictions
    strict, read : ScoreCounts
        The score of the answers as they are; and, without facets, the score if answers outside of the vocabulary are
        read as free text.
    index : SplitIndex
    """

    predictions: Predictions
    strict: ScoreCounts
    read: ScoreCounts
    index: SplitIndex

    @property
    def unreadable(self) -> int:
        return int((self.predictions.read == OUTSIDE).sum())

    @property
    def failures(self) -> int:
        return sum(map(is_failure, self.predictions.outside.values()))

    def to_json(self) -> dict[str, Any]:
        """Return accuracy and n; and, for each value of a facet that occurs, n and the number of correct answers."""
        return {
            "accuracy": self.strict.accuracy,
            "n": self.strict.n,
            "accuracy_read": self.read.accuracy,
            "outside": len(self.predictions.outside),
            "unreadable": self.unreadable,
            "failures": self.failures,
            "facets": {name: self._values(facet) for name, facet in self.index.facets.items()},
        }

    def _values(self, facet: IndexedFacet) -> dict[str, dict[str, int]]:
        n, right = (column.tolist() for column in self.strict.facets[facet.name])
        return {value: {"n": n[code], "correct": right[code]} for code, value in enumerate(facet.values) if n[code]}


def score_file(file: BinaryIO, split: Split, *, column: str = "") -> ScoredSplit:
    """Return the scores of the predictions in a file, on a complete split whose answers are known.

    `column` is the column of answers; empty to recognise it.

    Raises
    ------
    BadPredictions
        If the file cannot be read or lacks answers, or if no answer of the split is known.
    """
    index = SplitIndex.open(split)
    truth = truth_of(index)
    if not (truth >= 0).any():
        raise BadPredictions("Expected a split whose answers are known, got one without any.", where=str(split))
    found = read_predictions(file, expected_of(split), column=column)
    strict, read = score(found.codes, truth, slicings_of(index)), score(found.read, truth, {})
    return ScoredSplit(found, strict, read, index)


@functools.lru_cache(maxsize=32)
def truth_of(index: SplitIndex) -> NDArray[np.int64]:
    """Return the correct answers as codes, an array (questions,); `NONE` for an unknown answer."""
    truth: NDArray[np.int64] = index.answers.astype(np.int64)
    truth[truth >= len(index.answer_values)] = NONE
    truth.flags.writeable = False
    return truth


def slicings_of(index: SplitIndex) -> Mapping[str, Slicing]:
    return {name: slicing_of(facet) for name, facet in index.facets.items()}


def slicing_of(facet: IndexedFacet) -> Slicing:
    return Slicing(facet.codes, len(facet.values), facet.kind == FacetKind.FLAGS)
