"""The structured SVM: its search compared with all sets of lines, its steps, and what it does with pronouns."""

from dataclasses import replace
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from generation.engine.learners.classical import structured_svm_steps as steps
from generation.engine.learners.classical.structured_svm import StructuredSvm, model_of, names_of, resolve_pronouns
from generation.engine.learners.classical.structured_svm_steps import FEATURES, FeatureBuffer, Story, empty_features
from tests.engine.learners import made_examples
from tests.engine.learners.conformance import train

SEEDS = st.integers(0, 2**32 - 1)
Floats = NDArray[np.float64]
NOTHING = np.zeros(0, np.int64)


def drawn(seed: int) -> tuple[Story, Floats]:
    """Return a random story of up to 5 lines, and random weights of all features."""
    chance = np.random.Generator(np.random.PCG64(seed))
    lengths = chance.integers(1, 4, size=int(chance.integers(1, 6)))
    words = chance.integers(6, size=int(lengths.sum()))
    story = Story(
        chance.integers(6, size=3), np.cumsum([0, *lengths]), words, chance.integers(2, size=len(lengths)).astype(bool)
    )
    return story, chance.normal(size=FEATURES)


def features_of(story: Story, lines: tuple[int, ...]) -> FeatureBuffer:
    found = empty_features()
    steps.add_lines(story, np.array(lines, np.int64), found)
    return found


def sum_of(weights: Floats, found: FeatureBuffer) -> float:
    filled = found.filled[0]
    return float(
        sum(weights[n] * value for n, value in zip(found.numbers[:filled], found.values[:filled], strict=True))
    )


@settings(deadline=None, max_examples=30)
@given(SEEDS, st.integers(0, 5), st.sampled_from([0.0, 1.0]), st.data())
def test_a_wide_search_finds_the_best_of_all_sets(seed: int, most: int, cost: float, data: st.DataObject) -> None:
    story, weights = drawn(seed)
    n = len(story.answering)
    gold = tuple(sorted(data.draw(st.sets(st.integers(0, n - 1)))))
    sets = list(chain.from_iterable(combinations(range(n), size) for size in range(min(most, n) + 1)))
    scores = [sum_of(weights, features_of(story, one)) + cost * len({*one} ^ {*gold}) for one in sets]
    found = steps.search(weights, story, most, 40, np.array(gold, np.int64), cost, empty_features())
    assert np.isclose(scores[sets.index(tuple(found.tolist()))], max(scores))


@settings(deadline=None, max_examples=20)
@given(SEEDS)
def test_a_narrow_search_extends_the_best_sets_only(seed: int) -> None:
    story, weights = drawn(seed)
    n = len(story.answering)
    plain: dict[tuple[int, ...], float] = {(): sum_of(weights, features_of(story, ()))}
    last: tuple[int, ...] = ()
    for _ in range(n):
        longer = [tuple(sorted((*last, line))) for line in range(n) if line not in last]
        last = max(longer, key=lambda one: sum_of(weights, features_of(story, one)))
        plain[last] = sum_of(weights, features_of(story, last))
    found = steps.search(weights, story, n, 1, NOTHING, 0.0, empty_features())
    assert tuple(found.tolist()) == max(plain, key=lambda one: plain[one])


@settings(deadline=None, max_examples=20)
@given(SEEDS)
def test_a_change_closes_the_loss_unless_its_step_is_too_large(seed: int) -> None:
    story, weights = drawn(seed)
    right, wrong = features_of(story, (0,)), features_of(story, ())
    before, sums, room = sum_of(weights, right) - sum_of(weights, wrong), np.zeros(FEATURES), np.zeros(FEATURES)
    for most, gain in ((1e9, 3.0), (1e-6, None)):
        changed = weights.copy()
        steps.change(changed, sums, features_of(story, (0,)), features_of(story, ()), 3.0, most, 0, room)
        after = sum_of(changed, right) - sum_of(changed, wrong)
        assert np.isclose(after - before, gain) if gain is not None else before < after < before + 3.0
    assert not sums.any() and not room.any()


def test_the_mean_of_all_weights_needs_only_one_sum() -> None:
    story, _ = drawn(3)
    weights, sums, room, after = *np.zeros((3, FEATURES)), []
    for step, line in enumerate((0, 1, 0, 1)):
        if step != 2:
            right, wrong = features_of(story, (line,)), features_of(story, ())
            steps.change(weights, sums, right, wrong, 1.0 + step, 0.5, step, room)
        after.append(weights.copy())
    assert np.allclose(weights - sums / len(after), np.mean(after, axis=0))


def test_supporting_lines_are_found() -> None:
    examples = made_examples.stories(200)
    known, new = examples.select(range(150)), examples.select(range(150, 200))
    learner = train(StructuredSvm, known, {})
    assert isinstance(learner, StructuredSvm) and new.supports is not None
    for kind, model in learner.models.items():
        rows = np.flatnonzero(np.array(new.kinds) == kind)
        found = [model.find_lines(story, beam=4).tolist() for story in model.stories(new, rows)]
        assert np.mean([one == list(new.supports[row]) for one, row in zip(found, rows, strict=True)]) > 0.9


def test_names_have_capital_letters_within_texts() -> None:
    texts = {"Where is Mary?", "Then John and Mary left.", "Sheep eat.", "The sheep eat.", "Is Will there?", "I will."}
    assert names_of(texts) == {"mary", "john"}


@pytest.mark.parametrize(
    ("story", "last"),
    [
        (("Mary left.", "Then she returned."), ("then", "mary", "returned")),
        (("Mary and John left.", "Then they returned."), ("then", "mary", "john", "returned")),
        (("Mary left.", "It rained.", "She returned."), ("mary", "returned")),
        (("Mary left.", "She met John.", "Then he sang."), ("then", "mary", "john", "sang")),
        (("He left.",), ("he", "left")),
    ],
)
def test_pronouns_are_replaced_by_the_last_names(story: tuple[str, ...], last: tuple[str, ...]) -> None:
    assert resolve_pronouns(story, frozenset({"mary", "john"}))[-1] == last


def test_words_that_were_not_trained_still_link_lines() -> None:
    examples = made_examples.stories(20)
    model = model_of(examples, np.arange(20))
    assert examples.stories is not None
    [story] = model.stories(examples.select([0]), np.array([0]))
    renamed = examples.select([0])
    person = renamed.texts[0].split()[2 if renamed.kinds[0] == "where" else 1].strip("?")
    lines = tuple(line.replace(person, "Zoe") for line in examples.stories[0])
    other = replace(renamed, texts=(renamed.texts[0].replace(person, "Zoe"),), stories=(lines,))
    [new] = model.stories(other, np.array([0]))
    zoe = len(model.words)
    assert ((new.words == zoe) == (story.words == model.words[person.lower()])).all()
    assert zoe in new.question
