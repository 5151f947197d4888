"""The n-gram classifier, compared with a twin that follows its description with strings and another solver."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.scoring import ngram_classifier
from generation.engine.scoring.ngram_classifier import RIDGE, ReadQuestion, guesses

WORDS = ("anna", "bert", "box", "cat", "door", "the")
SENTENCE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
READ = st.builds(ReadQuestion, st.sampled_from("ab"), st.lists(SENTENCE, max_size=4).map(tuple), SENTENCE)
LEARNED = st.lists(st.tuples(READ, st.sampled_from(("no", "so", "yes"))), max_size=12)


def bag_of(one: ReadQuestion) -> Counter[str]:
    """Return the count of each n-gram of a question, by the definition."""
    kept = [text.split() for text in one.sentences if set(text.split()) & set(one.question.split())]
    found = Counter[str]()
    for words in [one.question.split(), *kept]:
        found.update(
            " ".join(words[a:b]) for a in range(len(words)) for b in range(a + 1, len(words) + 1) if b - a <= 3
        )
    return found


def scores_of(learned: list[tuple[ReadQuestion, str]], asked: ReadQuestion) -> dict[str, float]:
    """Return the score of each answer of the group, by least squares with a penalty on each weight."""
    mine = [(bag_of(one), answer) for one, answer in learned if one.group == asked.group]
    columns = sorted({gram for bag, _ in mine for gram in bag})
    counts = np.array([[bag[gram] for gram in columns] for bag, _ in mine], float)
    answers = sorted({answer for _, answer in mine})
    wanted = np.array([[answer == other for other in answers] for _, answer in mine], float)
    mean, shares = counts.mean(axis=0), wanted.mean(axis=0)
    rows = np.vstack([counts - mean, np.sqrt(RIDGE) * np.eye(len(columns))])
    goals = np.vstack([wanted - shares, np.zeros((len(columns), len(answers)))])
    weights = np.linalg.lstsq(rows, goals, rcond=None)[0]
    own = bag_of(asked)
    found = (np.array([own[gram] for gram in columns], float) - mean) @ weights + shares
    return dict(zip(answers, found.tolist(), strict=True))


@settings(deadline=None, max_examples=60)
@given(LEARNED, st.lists(READ, max_size=6))
def test_each_guess_has_the_highest_score(learned: list[tuple[ReadQuestion, str]], asked: list[ReadQuestion]) -> None:
    found = list(guesses(iter(learned), iter(asked)))
    assert len(found) == len(asked)
    for one, guess in zip(asked, found, strict=True):
        if one.group in {other.group for other, _ in learned}:
            scores = scores_of(learned, one)
            assert scores[guess] >= max(scores.values()) - 2e-6
        else:
            counts = Counter(answer for _, answer in learned)
            assert guess == "" if not counts else counts[guess] == max(counts.values())


def test_the_words_of_sentences_are_learned_but_not_their_order() -> None:
    places = ("barn", "mill", "port", "well")
    learned = [
        (ReadQuestion("a", (f"anna is in the {place}", "bert naps"), "where is anna"), place) for place in places * 25
    ]
    assert list(guesses(learned, [one for one, _ in learned])) == [answer for _, answer in learned]
    pairs = [(one, two) for one in places for two in places if one != two]
    ordered = [
        (ReadQuestion("a", (f"anna saw {one}", f"anna saw {two}"), "what did anna see"), two) for one, two in pairs * 9
    ]
    right = sum(map(str.__eq__, guesses(ordered, [one for one, _ in ordered]), [answer for _, answer in ordered]))
    assert Fraction(right, len(ordered)) <= Fraction(1, 2)


def test_a_sentence_that_shares_no_word_with_the_question_is_ignored() -> None:
    learned = [(ReadQuestion("a", ("bert naps",) * (n % 2), "where is anna"), ("no", "yes")[n % 2]) for n in range(60)]
    assert set(guesses(learned, [one for one, _ in learned])) == {"no"}


def test_the_size_of_blocks_does_not_change_the_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(3)
    made = [
        (ReadQuestion("ab"[n % 2], tuple(" ".join(chance.choice(WORDS, 3)) for _ in range(3)), "the box"), WORDS[n % 3])
        for n in range(90)
    ]
    whole = list(guesses(made, [one for one, _ in made]))
    monkeypatch.setattr(ngram_classifier, "BLOCK", 7)
    assert list(guesses(made, [one for one, _ in made])) == whole


def test_only_the_most_frequent_phrases_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    learned = [(ReadQuestion("a", (), text), text) for text in ("box",) * 5 + ("cat",) * 4 + ("door",)]
    monkeypatch.setattr(ngram_classifier, "MOST", 2)
    assert list(guesses(learned, [ReadQuestion("a", (), "door"), ReadQuestion("a", (), "cat")])) == ["box", "cat"]


def test_training_can_be_stopped_between_models_and_blocks() -> None:
    calls = []

    def check() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(guesses([(ReadQuestion(group, (), "box"), "yes") for group in "abc"], [], check=check))
