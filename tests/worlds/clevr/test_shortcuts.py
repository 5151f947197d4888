"""The score of guesses without looking (the Q-type mode of the paper) on generated questions, by question type."""

from collections import defaultdict

import numpy as np
import pytest

from generation.engine.scoring.figures import wilson
from generation.engine.scoring.shortcuts import modes
from generation.engine.worlds import get_maker, get_world
from tests.proof import SHARE, size

CLEVR = get_world("clevr")
SEED = 11
BOUNDS = {
    "query_color": 0.16,
    "query_shape": 0.38,
    **dict.fromkeys(("query_size", "query_material", "exist"), 0.55),
    **dict.fromkeys(("equal_size", "equal_color", "equal_material", "equal_shape"), 0.55),
}


@pytest.fixture(scope="module")
def right_by_type():
    """For each type, how often the most frequent train answer is right in val, and the number of val questions."""
    scenes = size(2000, name="scenes that Q-type mode is measured on", least=100)
    train, val = (questions(split, scenes=count) for split, count in (("train", scenes // 2), ("val", scenes // 2)))
    kinds = sorted({kind for kind, _ in [*train, *val]})
    answers = CLEVR.answers(CLEVR.read_spec(spec(scenes)))
    codes = [np.array([(kinds.index(kind), answers.index(text)) for kind, text in asked]) for asked in (train, val)]
    guesses = modes(codes[0][:, 0], codes[0][:, 1], count=len(kinds))
    found = defaultdict(list)
    for kind, answer in codes[1].tolist():
        found[kinds[kind]].append(guesses[kind] == answer)
    return {kind: (sum(right), len(right)) for kind, right in found.items()}


def spec(scenes):
    return {
        "world": "clevr",
        "seed": SEED,
        "splits": {"train": {"scenes": scenes}, "val": {"scenes": scenes}},
        "scene": {"min_pixels": 0},
    }


def questions(split, *, scenes):
    maker, read = get_maker("clevr"), CLEVR.read_spec(spec(scenes))
    items = (item for chunk in maker.plan(read, split) for item in maker.make(read, split, chunk))
    return [(question.kind, question.answer.text) for item in items for question in item.questions]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "bound"), BOUNDS.items())
def test_the_q_type_mode_stays_below_its_limit(right_by_type, kind, bound):
    right, n = right_by_type[kind]
    assert n > 0
    least = right / n if SHARE >= 1 else wilson(right, n, level=0.999).low  # a small sample may deviate by chance
    assert least <= bound, f"{right} of {n}"


@pytest.mark.slow
def test_counts_are_guessed_about_as_often_as_in_the_paper(right_by_type):
    right, n = right_by_type["count"]
    low, high = wilson(right, n, level=0.999)
    assert low < 0.40 and high > 0.30, f"{right} of {n}"
