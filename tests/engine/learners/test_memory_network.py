"""The memory network, compared with a slow twin that follows the formulas of the paper with whole matrices."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from generation.engine.learners.classical.memory_network import MemoryNetwork, loss_of
from generation.engine.learners.classical.memory_network_steps import (
    EncodedSentences,
    Network,
    StoryQuestions,
    embed,
    scores_of,
)
from generation.engine.learners.examples import Examples
from tests.engine.learners import made_examples
from tests.engine.learners.conformance import SilentReporter, answers_of, continues_after_an_interruption, train
from tests.engine.learners.gradients import assert_gradients

MEMORY, WORDS, SIZE, HOPS = 4, 7, 5, 3
Floats = NDArray[np.float64]


class Drawn(NamedTuple):
    """A network with random weights, and random questions."""

    network: Network
    sentences: EncodedSentences
    asked: StoryQuestions
    answers: NDArray[np.int64]
    codes: NDArray[np.int64]

    @property
    def used(self) -> NDArray[np.int64]:
        return np.arange(len(self.sentences.starts) - 1)


def drawn(seed: int, *, n: int = 3) -> Drawn:
    chance = np.random.Generator(np.random.PCG64(seed))
    lengths = chance.integers(0, 5, size=6)
    sentences = EncodedSentences(np.cumsum([0, *lengths]), chance.integers(WORDS, size=int(lengths.sum())))
    asked = StoryQuestions(
        chance.integers(6, size=n),
        chance.integers(6, size=(n, MEMORY)),
        chance.integers(0, MEMORY + 1, size=n),
        np.sort(chance.integers(MEMORY, size=(n, MEMORY)), axis=1),
    )
    shapes = ((HOPS + 1, WORDS, SIZE), (HOPS + 1, MEMORY, SIZE))
    network = Network(*(chance.normal(0, 0.7, shape) for shape in shapes))
    return Drawn(network, sentences, asked, np.array([1, 4, 6]), chance.integers(3, size=n))


def sentence_of(sentences: EncodedSentences, number: int, table: Floats) -> Floats:
    """Return the sum of `l * embedding` over the words of a sentence, with `l` as the paper writes it."""
    words = sentences.words[sentences.starts[number] : sentences.starts[number + 1]]
    j = np.arange(1, len(words) + 1)[:, None]
    k = np.arange(1, SIZE + 1)[None, :]
    weights = (1 - j / len(words)) - (k / SIZE) * (1 - 2 * j / len(words)) if len(words) else np.zeros((0, SIZE))
    found: Floats = (weights * table[words]).sum(axis=0)
    return found


def plain_scores(one: Drawn, row: int, *, is_linear: bool) -> Floats:
    """Return the scores of the answers by `u = u + sum p c`, with a whole matrix for each hop."""
    words, times = one.network
    lines = range(one.asked.counts[row])
    state = sentence_of(one.sentences, one.asked.questions[row], words[0])
    for hop in range(HOPS):
        match, read = (
            np.array(
                [
                    sentence_of(one.sentences, one.asked.lines[row, line], words[table])
                    + times[table, one.asked.times[row, line]]
                    for line in lines
                ]
            ).reshape(-1, SIZE)
            for table in (hop, hop + 1)
        )
        weights = match @ state
        if not is_linear and len(weights):
            weights = np.exp(weights) / np.exp(weights).sum()
        state = state + weights @ read
    found: Floats = words[HOPS][one.answers] @ state
    return found


@pytest.mark.parametrize("is_linear", [False, True])
@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_scores_are_those_of_the_formulas(is_linear: bool, seed: int) -> None:
    one = drawn(seed)
    embedded = embed(one.sentences, one.used, one.network.words)
    found = scores_of(one.network, embedded, one.asked, one.answers, is_linear)
    expected = [plain_scores(one, row, is_linear=is_linear) for row in range(len(one.codes))]
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("is_linear", [False, True])
@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_the_gradient_is_that_of_the_loss(is_linear: bool, seed: int) -> None:
    one = drawn(seed)

    def result() -> tuple[float, Network]:
        return loss_of(one.network, one.sentences, one.asked, one.used, one.answers, one.codes, is_linear)

    gradient = result()[1]
    assert_gradients(lambda: result()[0], one.network._asdict(), gradient._asdict())


def test_the_loss_is_the_cross_entropy_of_the_scores() -> None:
    one = drawn(5)
    loss = loss_of(one.network, one.sentences, one.asked, one.used, one.answers, one.codes, False)[0]
    shares = [np.exp(plain_scores(one, row, is_linear=False)) for row in range(len(one.codes))]
    assert np.isclose(loss, -sum(np.log(some[code] / some.sum()) for some, code in zip(shares, one.codes, strict=True)))


def test_empty_memories_keep_the_order_of_times() -> None:
    learner = MemoryNetwork(MemoryNetwork.read_config({"memory": 20, "noise": 0.3}), seed=0)
    times = learner._times(500, np.random.Generator(np.random.PCG64(0)))
    assert times.min() == 0 and times.max() == 19
    assert ((np.diff(times, axis=1) > 0) | (times[:, 1:] == 19)).all()
    shares = (times[:, :5] - np.arange(5)).mean(axis=0) / np.arange(1, 6)
    assert np.allclose(shares, 0.3, atol=0.05)


def test_the_rate_is_halved_after_the_linear_start() -> None:
    learner = MemoryNetwork(MemoryNetwork.read_config({}), seed=0)
    rates = [learner.rate(epoch) for epoch in (0, 19, 20, 44, 45, 70, 119)]
    assert rates == [0.005, 0.005, 0.01, 0.01, 0.005, 0.0025, 0.00125]


def test_only_the_latest_lines_are_read() -> None:
    examples = made_examples.stories(8)
    learner = train(MemoryNetwork, examples, {"epochs": 2, "starts": 1, "memory": 2})
    assert examples.stories is not None
    shorter = tuple(lines[-2:] for lines in examples.stories)
    assert answers_of(learner, replace(examples, stories=shorter)) == answers_of(learner, examples)


def test_words_and_types_that_were_not_trained_do_no_harm() -> None:
    examples = made_examples.stories(8)
    learner = train(MemoryNetwork, examples, {"epochs": 2, "starts": 1, "memory": 5})
    other = replace(examples, texts=("What is new?",) * 8, kinds=(*examples.kinds[:4], *("else",) * 4))
    assert len(learner.predict(other)) == 8


@pytest.mark.parametrize("joint", [False, True])
def test_several_starts_keep_the_one_with_the_smallest_loss(joint: bool) -> None:
    examples = made_examples.stories(12)
    learner = MemoryNetwork(MemoryNetwork.read_config({"starts": 3, "joint": joint, "memory": 5}), seed=0)
    learner.begin(examples)
    assert len(learner.groups) == (1 if joint else 2)
    for epoch in range(2):
        learner.run_epoch(examples, np.random.Generator(np.random.PCG64(epoch)), epoch=epoch, report=SilentReporter())
    for group in learner.groups.values():
        assert len(group.networks) == 3
        assert group.best is group.networks[int(np.argmin(group.losses))]


@pytest.mark.parametrize("diverged", [(0,), (1,), (0, 2)])
def test_a_start_that_diverged_does_not_end_the_training(diverged: tuple[int, ...]) -> None:
    examples = made_examples.stories(12)
    learner = begun(examples, diverged)
    loss = learner.run_epoch(examples, np.random.Generator(np.random.PCG64(1)), epoch=0, report=SilentReporter())
    assert np.isfinite(loss)
    for group in learner.groups.values():
        assert np.flatnonzero(np.isnan(group.losses)).tolist() == list(diverged)
        assert group.best is group.networks[int(np.nanargmin(group.losses))]
    assert len(learner.predict(examples)) == 12


def test_the_loss_is_not_a_number_if_all_starts_have_diverged() -> None:
    examples = made_examples.stories(12)
    learner = begun(examples, (0, 1, 2))
    loss = learner.run_epoch(examples, np.random.Generator(np.random.PCG64(1)), epoch=0, report=SilentReporter())
    assert np.isnan(loss)
    assert len(learner.predict(examples)) == 12


def begun(examples: Examples, diverged: tuple[int, ...]) -> MemoryNetwork:
    """Return a learner with three starts, some of which have weights that are not numbers."""
    learner = MemoryNetwork(MemoryNetwork.read_config({"starts": 3, "memory": 5}), seed=0)
    learner.begin(examples)
    for group in learner.groups.values():
        for start in diverged:
            group.networks[start].words[:] = np.nan
    return learner


def test_a_training_with_several_starts_continues_after_an_interruption() -> None:
    continues_after_an_interruption(MemoryNetwork, made_examples.stories(24), {"starts": 3, "memory": 5, "batch": 8})
