"""Single questions with the answers of models and people, and the right answer."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.predictions.unanswered import is_empty, is_failure
from generation.engine.scoring.score import GUESS, NONE, TIE, is_guess, right_of
from generation.reports.scoring import truth_of
from webapp.leaderboards.analysis.slices import SliceContext
from webapp.leaderboards.entries import Codes, Contender

Mask = NDArray[np.bool_]


class Show(NamedTuple):
    """A way to choose questions by how they were answered."""

    name: str
    label: str
    models: int
    people: bool
    find: Callable[[Sequence[Contender], NDArray[np.int64]], Mask]

    def may(self, contenders: Sequence[Contender]) -> bool:
        models = sum(not one.is_human and bool(_answering_runs(one)) for one in contenders)
        return models >= self.models and (not self.people or any(one.is_human for one in contenders))


def shares(one: Contender, truth: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.mean([right_of(run, truth) for run in one.runs], axis=0)


def _models(contenders: Sequence[Contender]) -> list[Codes]:
    return [run for one in contenders if not one.is_human for run in _answering_runs(one)]


def _answering_runs(one: Contender) -> list[Codes]:
    return [run for run in one.runs if not is_guess(run).all()]


def _every(contenders: Sequence[Contender], truth: NDArray[np.int64]) -> Mask:
    return np.ones(len(truth), np.bool_)


def _rights(contenders: Sequence[Contender], truth: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.array([right_of(run, truth) for one in contenders for run in _answering_runs(one)], np.bool_).reshape(
        -1, len(truth)
    )


def _each_right(contenders: Sequence[Contender], truth: NDArray[np.int64]) -> Mask:
    rights = _rights(contenders, truth)
    return np.logical_and(rights.all(axis=0), len(rights) > 0)


def _each_wrong(contenders: Sequence[Contender], truth: NDArray[np.int64]) -> Mask:
    return ~_rights(contenders, truth).any(axis=0) & (truth != NONE)


def _all_wrong(contenders: Sequence[Contender], truth: NDArray[np.int64]) -> Mask:
    return _each_wrong([one for one in contenders if not one.is_human], truth)


def _people_alone_right(contenders: Sequence[Contender], truth: NDArray[np.int64]) -> Mask:
    people = [right_of(run, truth) for one in contenders if one.is_human for run in one.runs]
    return _all_wrong(contenders, truth) & np.logical_and.reduce(people)


def _same_wrong(contenders: Sequence[Contender], truth: NDArray[np.int64]) -> Mask:
    models = np.stack(_models(contenders))
    return (models == models[0]).all(axis=0) & (models[0] >= 0) & (models[0] != truth) & (truth != NONE)


def _first(contenders: Sequence[Contender], truth: NDArray[np.int64]) -> Mask:
    return shares(contenders[0], truth) > shares(contenders[1], truth)


def _second(contenders: Sequence[Contender], truth: NDArray[np.int64]) -> Mask:
    return _first([contenders[1], contenders[0]], truth)


SHOWS = (
    Show("all", "all", 0, False, _every),
    Show("right", "right in each row", 0, False, _each_right),
    Show("wrong", "wrong in each row", 0, True, _each_wrong),
    Show("people-right", "all models wrong, people right", 1, True, _people_alone_right),
    Show("same-wrong", "models agree on the same wrong answer", 2, False, _same_wrong),
    Show("all-wrong", "all models wrong", 1, False, _all_wrong),
    Show("first", "the first right, the second wrong", 0, False, _first),
    Show("second", "the second right, the first wrong", 0, False, _second),
)
BETWEEN_TWO = frozenset({"first", "second"})


def shows_for(contenders: Sequence[Contender]) -> list[Show]:
    return [one for one in SHOWS if one.may(contenders) and (one.name not in BETWEEN_TWO or len(contenders) == 2)]


def choose_questions(
    ground: SliceContext, contenders: Sequence[Contender], show: Show, within: NDArray[np.int64]
) -> list[int]:
    """Return the positions in `within` of questions that everybody was asked and that match the choice."""
    inside = np.zeros(ground.index.n, np.bool_)
    inside[within] = True
    if ground.asked is not None:
        inside &= ground.asked
    return np.flatnonzero(inside & show.find(contenders, truth_of(ground.index))).tolist()


class RowAnswers(NamedTuple):
    text: str
    times: int  # the number of runs that give it
    is_right: bool | None  # None for a guess


def given(
    ground: SliceContext, one: Contender, position: int, outside: Sequence[Mapping[int, str]] = ()
) -> list[RowAnswers]:
    """Return the answers of a row's runs to a question, the most frequent first.

    `outside` has for each run its answers outside the vocabulary, by position.
    """
    words, truth = ground.index.answer_values, int(ground.index.answers[position])
    said: Counter[tuple[str, bool | None]] = Counter()
    for number, run in enumerate(one.runs):
        code = int(run[position])
        if code >= 0:
            said[words[code], code == truth] += 1
        elif code < GUESS:
            said[f"a guess among {GUESS - code} answers", None] += 1
        else:
            said[_without_code(code, outside[number] if outside else {}, position), False] += 1
    return [RowAnswers(text, times, is_right) for (text, is_right), times in said.most_common()]


def _without_code(code: int, outside: Mapping[int, str], position: int) -> str:
    if code == NONE:
        return "not asked"
    if code == TIE:
        return "a tie"
    text = outside.get(position)
    if text is None:
        return "outside the vocabulary"
    if is_failure(text):
        return "no answer: the request failed"
    return "no answer" if is_empty(text) else f"“{text}”"
