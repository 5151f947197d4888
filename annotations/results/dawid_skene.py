"""Compares the model of Dawid and Skene with majority votes, for each kind of question."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations.answering.answer_forms import forms_at
from annotations.models import Study
from annotations.results.study_statistics import GatheredAnswers
from generation.engine.scoring.answer_aggregation import Votes, dawid_skene
from generation.engine.scoring.figures import Share
from generation.engine.scoring.score import score
from generation.storage.split_index import SplitIndex

MOST_TYPES = 3  # a label names at most this many question types


class Kind(NamedTuple):
    """Questions with the same answer choices.

    Attributes
    ----------
    label : str
        The kind of the answers, followed by the types of the questions if several groups have this kind.
    choices : tuple of str
    positions : list of int
    """

    label: str
    choices: tuple[str, ...]
    positions: list[int]


class KindEstimate(NamedTuple):
    """Accuracy of majority votes and of the model on one kind of questions.

    Attributes
    ----------
    kind : Kind
    majority, model : Share
    people : int
        The number of participants who answered these questions.
    simple : list of int
        Participants, as indices of `GatheredAnswers.people`, whom the model describes only by their share of right
        answers.
    """

    kind: Kind
    majority: Share
    model: Share
    people: int
    simple: list[int]


def kinds_of(study: Study, positions: Sequence[int]) -> list[Kind]:
    """Return questions of a study's split, grouped by the kind and the choices of their answers."""
    groups: dict[tuple[str, tuple[str, ...]], tuple[list[int], set[str]]] = {}
    for position, kind, form in forms_at(study.split, SplitIndex.open(study.split), positions):
        mine, types = groups.setdefault((str(form.kind), form.choices), ([], set()))
        mine.append(position)
        types.add(kind)
    several = [kind for kind, _ in groups]
    return [
        Kind(_label(kind, types) if several.count(kind) > 1 else kind, choices, mine)
        for (kind, choices), (mine, types) in sorted(groups.items())
    ]


def _label(kind: str, types: set[str]) -> str:
    named = [one.replace("_", " ") for one in sorted(types)]
    more = ["…"] if len(named) > MOST_TYPES else []
    return f"{kind}: {', '.join([*named[:MOST_TYPES], *more])}"


def estimate(found: GatheredAnswers, kinds: Sequence[Kind]) -> list[KindEstimate]:
    """Return the accuracy of majority votes and of the model for each kind of question with answers."""
    codes = {word: code for code, word in enumerate(found.vocabulary)}
    rows = []
    for kind in kinds:
        classes = sorted(codes[word] for word in kind.choices if word in codes)
        among = np.zeros(found.votes.n, np.bool_)
        among[kind.positions] = True
        among &= found.asked
        if len(classes) > 1 and among.any():
            rows.append(_estimated(found, kind, classes, among))
    return rows


def _estimated(found: GatheredAnswers, kind: Kind, classes: list[int], among: NDArray[np.bool_]) -> KindEstimate:
    is_of_kind = among[found.votes.questions]
    questions, people, answers = (array[is_of_kind] for array in found.votes[:3])
    model = dawid_skene(Votes(questions, people, answers, found.votes.n), classes)
    crowd = np.unique(people).tolist()
    majority, modelled = (score(one, found.truth, {}, among=among) for one in (found.majority, model.answers))
    return KindEstimate(
        kind,
        Share(int(majority.right), majority.n),
        Share(int(modelled.right), modelled.n),
        len(crowd),
        [person for person in crowd if model.is_simple[person]],
    )
