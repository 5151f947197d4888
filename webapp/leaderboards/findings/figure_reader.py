"""Reads the figures of findings from stored predictions, with the data for their intervals."""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.question_terms import QuestionTerms, balanced_accuracy
from generation.engine.scoring.score import NONE, right_of
from generation.engine.scoring.statements import Measurement, measure_share, measure_terms
from generation.models import Split
from generation.reports.count_metrics import terms_of
from generation.reports.scoring import truth_of
from generation.reports.shortcuts import TYPE, hash_of, texts_of
from generation.splits.references import reference_for_site
from generation.splits.split_recipes import BadRecipe, Chooser
from generation.storage.split_index import WORD, SplitIndex
from webapp.leaderboards import stored_predictions
from webapp.leaderboards.findings.definitions import (
    ACCURACY,
    BALANCED,
    KNOWN,
    QUESTIONS,
    SHARE,
    BadFinding,
    TableColumn,
)
from webapp.leaderboards.metrics import load_predictions
from webapp.leaderboards.models import Submission


class ReadTexts(NamedTuple):
    hashes: NDArray[np.uint64]
    lengths: NDArray[np.int64]  # in words


class FigureReader:
    """Reads the figures of one split. Figures of a question set are paired with those of its parent.

    Parameters
    ----------
    split : Split
        A complete split with its dataset and parent.
    """

    def __init__(self, split: Split) -> None:
        self.split, self.index = split, SplitIndex.open(split)
        self.truth = truth_of(self.index)
        positions = self.index.positions
        self.positions = np.arange(self.index.n) if positions is None else np.asarray(positions, np.int64)
        self.pool = str(split.source)

    def find_questions(self, column: TableColumn) -> NDArray[np.bool_]:
        """Return which questions a column is about, shape (questions,); raise `BadFinding` if there are none."""
        try:
            query = Chooser(self.split, self.index).read_filter(column.slice)
        except BadRecipe as error:
            raise BadFinding(error.reason, where=f"{self.split}: slice") from error
        found = np.zeros(self.index.n, np.bool_)
        found[self.index.find(query.filters, query.each_word).positions] = True
        words = ""
        if column.words is not None:
            fewest, most = column.words
            words = f" and {fewest} to {most} words"
            found &= (self.texts.lengths >= fewest) & (self.texts.lengths <= most)
        if column.needs_answers:
            found &= self.truth != NONE
        if not found.any():
            raise BadFinding(f"Expected questions with {column.slice!r}{words}, got none.", where=str(self.split))
        return found

    @cached_property
    def texts(self) -> ReadTexts:
        return _read_texts(self.split)

    @cached_property
    def known_texts(self) -> ReadTexts:
        if self.split.reference is None:
            raise BadFinding("Expected a split that has a split to learn from, got one without.", where=str(self.split))
        return _read_texts(self.split.reference)

    def of_questions(self, column: TableColumn) -> Measurement:
        """Return a figure of the questions themselves, without answers of a method."""
        among = self.find_questions(column)
        if column.metric == SHARE:
            scores, positions = among, self.positions
        else:
            hashes, positions = self.texts.hashes[among], self.positions[among]
            scores = _is_first(hashes)
            if column.metric == KNOWN:
                scores &= np.isin(hashes, self.known_texts.hashes)
        return measure_share(scores[None], runs=(QUESTIONS,), pool=self.pool, positions=positions)

    def of_submissions(self, runs: Mapping[str, Submission], column: TableColumn) -> Measurement:
        """Return the figure of some runs by their names; raise `BadFinding` if it is not defined."""
        if column.metric in (ACCURACY, BALANCED):
            codes = {name: stored_predictions.codes_for(one, self.split) for name, one in runs.items()}
            return self._of_scores({name: right_of(one, self.truth) for name, one in codes.items()}, column)
        reference = reference_for_site(self.split)
        found = {
            name: terms_of(self.split, *load_predictions(self.split, one.predictions), reference=reference)
            for name, one in runs.items()
        }
        if any(column.metric not in one for one in found.values()):
            raise BadFinding(f"Expected predictions with {column.metric}, got some without.", where=str(self.split))
        return self._of_terms({name: one[column.metric] for name, one in found.items()}, column)

    def of_guesses(self, source: Split, column: TableColumn) -> Measurement:
        """Return the expected accuracy of answers that are drawn at random from those of a split."""
        index = SplitIndex.open(source)
        answers = truth_of(index)
        counts = np.bincount(answers[answers >= 0], minlength=len(index.answer_values))
        shares = dict(zip(index.answer_values, counts / max(1, counts.sum()), strict=True))
        table = np.array([shares.get(value, 0.0) for value in self.index.answer_values])
        scores = np.where(self.truth == NONE, 0.0, table[self.truth])
        return self._of_scores({f"guesses of {source}": scores}, column)

    def guess_of(self, column: TableColumn) -> float | None:
        """Return the figure of the best constant answer to each type of question; None for other metrics."""
        if column.metric not in (ACCURACY, BALANCED):
            return None
        among, facet = self.find_questions(column), self.index.facets.get(TYPE)
        kinds = np.zeros(self.index.n, np.int64) if facet is None else np.asarray(facet.codes, np.int64)
        answers = np.full(self.index.n, NONE, np.int64)
        for kind in np.unique(kinds[among]):
            of_kind = among & (kinds == kind)
            answers[of_kind] = np.bincount(self.truth[of_kind]).argmax()
        return self._of_scores({"constant": answers == self.truth}, column).value

    def _of_scores(
        self, runs: Mapping[str, NDArray[np.bool_] | NDArray[np.float64]], column: TableColumn
    ) -> Measurement:
        """Return an accuracy from whether each run answers each question rightly, or the probability of it."""
        among = self.find_questions(column)
        if column.metric == BALANCED:
            truth = np.where(among, self.truth, NONE)
            return self._of_terms({name: balanced_accuracy(one, truth) for name, one in runs.items()}, column)
        scores = np.stack([np.asarray(one, np.float64)[among] for one in runs.values()])
        return measure_share(scores, runs=tuple(runs), pool=self.pool, positions=self.positions[among])

    def _of_terms(self, runs: Mapping[str, QuestionTerms], column: TableColumn) -> Measurement:
        found = measure_terms(runs, self.find_questions(column), pool=self.pool, positions=self.positions)
        if found is None:
            raise BadFinding(f"Expected questions with {column.metric}, got none.", where=str(self.split))
        return found


def _read_texts(split: Split) -> ReadTexts:
    found = ReadTexts(np.zeros(split.source.questions, np.uint64), np.zeros(split.source.questions, np.int64))
    for at, text in enumerate(texts_of(split.source)):
        found.hashes[at], found.lengths[at] = hash_of(text), len(WORD.findall(text))
    positions = SplitIndex.open(split).positions
    return found if positions is None else ReadTexts(found.hashes[positions], found.lengths[positions])


def _is_first(hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    found = np.zeros(len(hashes), np.bool_)
    found[np.unique(hashes, return_index=True)[1]] = True
    return found
