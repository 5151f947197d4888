"""Guesses from the words alone are as good as the most frequent answer, because words depend on no answer."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import pytest

from generation.engine.items import Question
from generation.engine.language.token_vocabulary import split_words
from generation.engine.worlds.counting.statements import COMPLEX, SIMPLE
from tests import proof
from tests.worlds.counting.made import answer_of, asked_by, items

Key = Callable[[Question], object]
SCENES = proof.size(10_000, name="counting scenes made", least=150, most=150)
KEYS: dict[str, Key] = {
    "type": lambda one: one.kind,
    "text": lambda one: one.text,
    "first three words": lambda one: one.text.split()[:3][-1],
    "length": lambda one: len(one.text.split()),
    "class": lambda one: asked_by(one).noun,
    "attributes": lambda one: asked_by(one).attributes,
    "counted": lambda one: asked_by(one).counted,
    "relation": lambda one: asked_by(one).relation,
    "anchor": lambda one: asked_by(one).anchor,
    "last word": lambda one: split_words(one.text)[-2],
}


def questions() -> list[Question]:
    return [question for item in items(SCENES) for question in item.questions]


def accuracy(learned: Sequence[Question], tried: Sequence[Question], key: Key) -> float:
    """Return the accuracy of the most frequent answer of each key; of all questions where the key is new."""
    overall = Counter(map(answer_of, learned)).most_common(1)[0][0]
    answers: dict[object, Counter[int]] = defaultdict(Counter)
    for one in learned:
        answers[key(one)][answer_of(one)] += 1
    best = {value: counts.most_common(1)[0][0] for value, counts in answers.items()}
    return sum(best.get(key(one), overall) == answer_of(one) for one in tried) / len(tried)


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("kind", [SIMPLE, COMPLEX])
def test_words_reveal_no_answer(name: str, kind: str) -> None:
    asked = [one for one in questions() if one.kind == kind]
    learned, tried = asked[::2], asked[1::2]
    base = accuracy(learned, tried, lambda one: None)
    assert accuracy(learned, tried, KEYS[name]) <= base + 4 * (base * (1 - base) / len(tried)) ** 0.5


@pytest.mark.parametrize("name", ["class", "attributes", "relation", "length"])
def test_the_mean_answer_does_not_depend_on_the_words(name: str) -> None:
    asked = questions()
    mean = sum(map(answer_of, asked)) / len(asked)
    spread = sum((answer_of(one) - mean) ** 2 for one in asked) / len(asked)
    by_key: dict[object, list[int]] = defaultdict(list)
    for one in asked:
        by_key[KEYS[name](one)].append(answer_of(one))
    for value, answers in by_key.items():
        if len(answers) >= 50:
            assert sum(answers) / len(answers) == pytest.approx(mean, abs=4 * (spread / len(answers)) ** 0.5), value


def test_words_that_reveal_the_answer_are_found() -> None:
    asked = questions()
    told = accuracy(asked[::2], asked[1::2], lambda one: answer_of(one) // 3)
    base = accuracy(asked[::2], asked[1::2], lambda one: None)
    assert told > base + 4 * (base * (1 - base) / len(asked[1::2])) ** 0.5
