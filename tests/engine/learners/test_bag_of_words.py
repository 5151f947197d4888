"""The bag of words: its gradient, its features and Adam, compared with slow twins."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.learners.classical import adam
from generation.engine.learners.classical.adam import Adam
from generation.engine.learners.classical.bag_of_words import BagOfWords, Words, features_of, loss_of
from generation.engine.learners.examples import Examples
from tests.engine.learners.conformance import SilentReporter
from tests.engine.learners.gradients import assert_gradients

TEXTS = st.lists(st.lists(st.integers(0, 5), max_size=6), min_size=1, max_size=5)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3]))
def test_the_gradient_is_that_of_the_loss(seed: int, decay: float) -> None:
    chance = np.random.Generator(np.random.PCG64(seed))
    weights = {"words": chance.normal(size=(6, 3)), "constant": chance.normal(size=3)}
    features, codes = chance.normal(size=(4, 6)), chance.integers(3, size=4)
    found = loss_of(weights, features, codes, decay=decay)[1]
    assert_gradients(lambda: loss_of(weights, features, codes, decay=decay)[0], weights, found)


@given(TEXTS, st.data())
def test_features_are_counts_of_words_scaled_to_length_one(texts: list[list[int]], data: st.DataObject) -> None:
    words = Words(np.cumsum([0, *map(len, texts)]), np.array([word for text in texts for word in text], np.int64))
    rows = data.draw(st.permutations(range(len(texts))))
    expected = np.zeros((len(texts), 6))
    for place, row in enumerate(rows):
        for half in (range(3), range(3, 6)):
            counts = {word: texts[row].count(word) for word in half}
            length = sum(count**2 for count in counts.values()) ** 0.5
            for word, count in counts.items():
                expected[place, word] = count / length if count else 0
    assert np.allclose(features_of(words, np.array(rows), width=6, parts=2), expected, atol=1e-12)


@pytest.mark.parametrize("words", [5, 6])
def test_without_stories_a_word_has_one_row_of_weights(words: int) -> None:
    texts = tuple(" ".join(f"w{number}" for number in range(at % words + 1)) for at in range(20))
    kept: dict[str, Any] = {"kinds": ("exist",) * 20, "items": np.arange(20), "vocabulary": ("yes", "no")}
    kept["answers"] = ("yes", "no") * 10
    examples = Examples(name="made/train", texts=texts, **kept)
    learner = BagOfWords(BagOfWords.read_config({"epochs": 1}), seed=1)
    learner.fit(examples, examples, report=SilentReporter())
    assert learner.weights["words"].shape == (words + 2, 2) and learner.parameters == 2 * (words + 2) + 2
    told = replace(examples, stories=(("w0 w1",),) * 20)
    assert learner.predict(told) == learner.predict(examples)


def test_adam_follows_its_definition() -> None:
    chance = np.random.Generator(np.random.PCG64(1))
    weights, plain = {"a": np.ones(3)}, np.ones(3)
    stepper, first, second = Adam(weights, learning_rate=0.1), np.zeros(3), np.zeros(3)
    for step in range(1, 6):
        gradient = chance.normal(size=3)
        stepper.step({"a": gradient})
        first = adam.FIRST * first + (1 - adam.FIRST) * gradient
        second = adam.SECOND * second + (1 - adam.SECOND) * gradient**2
        mean, square = first / (1 - adam.FIRST**step), second / (1 - adam.SECOND**step)
        plain = plain - 0.1 * mean / np.sqrt(square)
    assert np.allclose(weights["a"], plain, atol=1e-6)
