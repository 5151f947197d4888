"""MemNN, compared with a slow twin that follows the formulas of the papers with one vector at a time."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from generation.engine.learners.classical import memnn_steps as steps
from generation.engine.learners.classical.memnn import MemNN, phrases_of, words_of
from generation.engine.learners.classical.memnn_steps import Form, StoryQuestions, Weights
from generation.engine.learners.examples import Examples
from tests.engine.learners import made_examples
from tests.engine.learners.conformance import answers_of, train
from tests.engine.learners.gradients import assert_gradients

FEATURES, WORDS, SIZE, LINES = 7, 4, 5, 6
FORMS = [
    Form(FEATURES, WORDS, adaptive, nonlinear, 10 if adaptive else 2, 0.5)
    for adaptive in (False, True)
    for nonlinear in (False, True)
]
Floats = NDArray[np.float64]


class Drawn(NamedTuple):
    """A network with random weights, and random questions."""

    weights: Weights
    asked: StoryQuestions


def drawn(seed: int, *, n: int = 3) -> Drawn:
    chance = np.random.Generator(np.random.PCG64(seed))
    lengths = chance.integers(0, 4, size=8)
    lines = chance.integers(1, LINES, size=n)
    supports = [chance.permutation(many)[: chance.integers(1, many + 1)] for many in lines]
    words = [chance.integers(WORDS, size=chance.integers(1, 4)) for _ in range(n)]
    asked = StoryQuestions(
        np.cumsum([0, *lengths]),
        chance.integers(FEATURES, size=int(lengths.sum())),
        chance.integers(8, size=n),
        np.cumsum([0, *lines]),
        chance.integers(8, size=int(lines.sum())),
        np.cumsum([0, *map(len, supports)]),
        np.concatenate(supports),
        np.cumsum([0, *map(len, words)]),
        np.concatenate(words),
    )
    shapes = ((3 * FEATURES + 1, SIZE), (2, SIZE), (3 * FEATURES + 2 * WORDS + 1, SIZE), (2, SIZE, SIZE))
    return Drawn(Weights(*(chance.normal(0, 0.5, shape) for shape in shapes)), asked)


class Twin:
    """The network as the papers write it: `E(x)` of a list of texts, and `E(y)` of a candidate."""

    def __init__(self, one: Drawn, row: int, form: Form) -> None:
        self.weights, self.asked, self.form = one.weights, one.asked, form
        self.question = self.asked.questions[row]
        self.lines = self.part(self.asked.line_starts, self.asked.lines, row)
        self.supports = self.part(self.asked.support_starts, self.asked.supports, row)
        self.words = self.part(self.asked.word_starts, self.asked.words, row)

    @staticmethod
    def part(starts: NDArray[np.int64], numbers: NDArray[np.int64], row: int) -> list[int]:
        return [int(one) for one in numbers[starts[row] : starts[row + 1]]]

    def total(self, table: Floats, sentence: int, role: int) -> Floats:
        features = self.part(self.asked.starts, self.asked.features, sentence)
        return sum((table[role * FEATURES + one] for one in features), np.zeros(SIZE))

    def embed(self, total: Floats, step: int) -> Floats:
        return np.tanh(self.weights.layers[step] @ np.tanh(total)) if self.form.nonlinear else total

    def line_scores(self, found: list[int]) -> list[float]:
        """Return the scores of all lines, and of the end, after some lines were found."""
        table, times = self.weights.lines, self.weights.times
        known = self.total(table, self.question, 0) + sum(self.total(table, self.lines[at], 1) for at in found)
        state, scores = self.embed(known, 0), []
        for at, sentence in enumerate(self.lines):
            score = state @ self.embed(self.total(table, sentence, 2), 0)
            scores.append(score + (state @ times[0] if found and at > found[-1] else 0))
        self.newer = float(state @ times[1])
        return [*map(float, scores), float(state @ self.embed(table[-1], 0))]

    def prefers(self, scores: list[float], one: int, other: int) -> float:
        """Return by how much candidate `one` is better than candidate `other`."""
        order = 0 if len(self.lines) in (one, other) else np.sign(one - other)
        return scores[one] - scores[other] + order * self.newer

    def find(self) -> list[int]:
        found: list[int] = []
        while len(found) < min(self.form.most, len(self.lines)):
            scores, best = self.line_scores(found), -1
            for at in range(len(self.lines)):
                if at not in found and (best < 0 or self.prefers(scores, at, best) > 0):
                    best = at
            if self.form.adaptive and scores[-1] > scores[best]:
                break
            found.append(best)
        return found

    def word_scores(self, found: list[int], chosen: list[int]) -> list[float]:
        """Return the scores of all words, and of the end."""
        table = self.weights.words
        known = self.total(table, self.question, 0)
        for turn, at in enumerate(found):
            known = known + self.total(table, self.lines[at], 2 if turn == len(found) - 1 else 1)
        known = known + sum(table[3 * FEATURES + word] for word in chosen)
        candidates = table[3 * FEATURES + WORDS :]
        return [float(self.embed(known, 1) @ self.embed(one, 1)) for one in candidates]

    def choose(self, found: list[int]) -> list[int]:
        chosen: list[int] = []
        while len(chosen) < (self.form.most if self.form.adaptive else 1):
            scores = self.word_scores(found, chosen)
            best = int(np.argmax(scores[:-1]))
            if chosen and scores[-1] > scores[best]:
                break
            chosen.append(best)
        return chosen

    def loss(self) -> float:
        """Return the sum of what lacks to the margin, over all wrong candidates of all choices."""
        form, end, total = self.form, len(self.lines), 0.0
        rights = [*self.supports, end] if form.adaptive else self.supports
        for hop, right in enumerate(rights[: form.most]):
            scores = self.line_scores(self.supports[:hop])
            wrong = set(range(end + form.adaptive)) - {right, *self.supports[:hop]}
            total += sum(max(0.0, form.margin - self.prefers(scores, right, one)) for one in wrong)
        found = self.supports if form.adaptive else self.supports[: form.most]
        if len(self.words) > 1 and not form.adaptive:
            return total
        for turn, right in enumerate([*self.words, WORDS] if form.adaptive else self.words):
            scores = self.word_scores(found, self.words[:turn])
            wrong = set(range(WORDS + form.adaptive)) - {right}
            total += sum(max(0.0, form.margin - scores[right] + scores[one]) for one in wrong)
        return total


@pytest.mark.parametrize("form", FORMS, ids=str)
@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_lines_and_words_are_those_of_the_formulas(form: Form, seed: int) -> None:
    one = drawn(seed)
    candidates = steps.activate(steps.candidate_words(one.weights, form), one.weights.layers[1], form.nonlinear)
    for row in range(len(one.asked.questions)):
        twin = Twin(one, row, form)
        found = steps.find_lines(one.weights, one.asked, row, form)
        assert found.tolist() == twin.find()
        is_answer = np.ones(WORDS, np.bool_)
        chosen = steps.choose_words(one.weights, one.asked, row, found, candidates, is_answer, form)
        assert chosen.tolist() == twin.choose(twin.find())


@pytest.mark.parametrize("form", FORMS, ids=str)
@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_the_loss_is_that_of_the_formulas_and_has_its_gradient(form: Form, seed: int) -> None:
    one, rows = drawn(seed), np.arange(3)

    def loss() -> float:
        return float(steps.add_gradients(one.weights, one.asked, rows, form, Weights(*map(np.zeros_like, one.weights))))

    assert np.isclose(loss(), sum(Twin(one, int(row), form).loss() for row in rows))
    gradient = Weights(*map(np.zeros_like, one.weights))
    steps.add_gradients(one.weights, one.asked, rows, form, gradient)
    assert_gradients(loss, one.weights._asdict(), gradient._asdict(), most=40)


def carried(n: int) -> Examples:
    """Return questions about what people carry, whose answers have up to three words."""
    chance = np.random.Generator(np.random.PCG64(6))
    things = ("apple", "football", "milk")
    texts, lines, answers, supports = [], [], [], []
    for _ in range(n):
        who = ("Mary", "John")[int(chance.integers(2))]
        told = [(str(thing), ("Mary", "John")[int(chance.integers(2))]) for thing in chance.permutation(things)]
        held = [at for at, (_, person) in enumerate(told) if person == who]
        if not held:
            continue
        texts.append(f"What does {who} carry?")
        lines.append(tuple(f"{person} took the {thing}." for thing, person in told))
        answers.append(",".join(sorted(told[at][0] for at in held)))
        supports.append(tuple(held))
    return Examples(
        name="made/carried",
        vocabulary=tuple(sorted({*answers, *things})),
        texts=tuple(texts),
        kinds=("lists",) * len(texts),
        items=np.arange(len(texts)),
        answers=tuple(answers),
        stories=tuple(lines),
        supports=tuple(supports),
    )


def test_only_the_adaptive_network_gives_answers_of_several_words() -> None:
    examples = carried(60)
    assert examples.answers is not None
    several = [at for at, answer in enumerate(examples.answers) if "," in answer]
    assert len(several) > 10
    adaptive = answers_of(train(MemNN, examples, {"adaptive": True, "nonlinear": True}), examples)
    assert np.mean([adaptive[at] == examples.answers[at] for at in several]) > 0.9
    plain = answers_of(train(MemNN, examples, {}), examples)
    assert not any("," in answer for answer in plain)


def test_the_order_of_an_answers_words_does_not_matter_where_the_answer_is_a_set() -> None:
    learner = train(MemNN, carried(8), {"epochs": 1, "adaptive": True})
    [group] = learner.groups.values()
    assert group._answer(("milk", "apple")) == "apple,milk"
    assert group._answer(("apple", "apple")) == "apple"
    assert group._answer(("nobody",)) == group.answers[0]


def test_every_answer_can_be_given_also_paths_of_the_same_steps() -> None:
    paths = ("s,n", "n,s", "n,e", "e,n", "e,e", "s,e", "e,s", "nothing", "milk")
    examples = replace(carried(8), vocabulary=(*carried(8).vocabulary, *paths))
    [group] = train(MemNN, examples, {"epochs": 1, "adaptive": True}).groups.values()
    assert [group._answer(words_of(one)) for one in group.answers] == group.answers


def test_lines_are_not_read_from_the_supporting_lines_of_questions_that_are_answered() -> None:
    examples = made_examples.stories(24)
    learner = train(MemNN, examples, {"epochs": 3})
    assert answers_of(learner, replace(examples, supports=None)) == answers_of(learner, examples)


def test_words_and_types_that_were_not_trained_do_no_harm() -> None:
    examples = made_examples.stories(8)
    learner = train(MemNN, examples, {"epochs": 2, "phrase": 3})
    other = replace(examples, texts=("What is new?",) * 8, kinds=(*examples.kinds[:4], *("else",) * 4))
    empty = replace(examples, stories=((),) * 8)
    assert len(learner.predict(other)) == len(learner.predict(empty)) == 8


def test_phrases_have_one_to_three_words() -> None:
    assert list(phrases_of(("a", "b", "a", "b"), 3)) == [
        ("a",), ("b",), ("a",), ("b",), ("a", "b"), ("b", "a"), ("a", "b"), ("a", "b", "a"), ("b", "a", "b"),
    ]  # fmt: skip


def test_the_words_of_an_answer_are_read_in_its_order() -> None:
    assert words_of("n,w") == ("n", "w") and words_of("none") == ("none",)
