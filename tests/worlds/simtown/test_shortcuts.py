"""How well guesses do that never look at the picture: by chance, for half of the questions of each text are true."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache

import pytest

from generation.engine.items import Item
from generation.engine.language.token_vocabulary import split_words
from generation.engine.worlds.simtown.question_text import say
from tests import proof
from tests.worlds.simtown.made import (
    ALL_RELATIONS,
    BASES,
    make_items,
    sampler,
    says_yes,
    sized,
    spec_of,
    statements,
    words_asked_of,
)

Asked = tuple[str, str, str, str, bool]  # text, subject, relation, object, and whether the answer is yes
Key = Callable[[Asked], object]
LEARNED, GUESSED = 80_000, 40_000  # questions of each preset, at full size
KEYS: dict[str, Key] = {
    "nothing": lambda one: None,
    "text": lambda one: one[0],
    "subject": lambda one: one[1],
    "relation": lambda one: one[2],
    "object": lambda one: one[3],
    "pair": lambda one: (one[1], one[3]),
    "subject and relation": lambda one: (one[1], one[2]),
    "relation and object": lambda one: (one[2], one[3]),
    "subject, relation and object": lambda one: one[1:4],
    "length": lambda one: len(one[0]),
    "wording": lambda one: one[0].replace(one[1], "").replace(one[3], ""),
}


@cache
def questions(base: str, split: str, count: int, index: int) -> list[Asked]:
    """Return questions as they are asked, without their scenes."""
    own = spec_of(base).for_split(split)
    words = sampler(own, index=index + 1).words
    return [
        (say(one.subject, one.relation, one.other, words), one.subject, one.relation, one.other, holds)
        for one, holds in statements(own, count, index=index)
    ]


def guessed_right(learned: Iterable[Asked], tried: Sequence[Asked], key: Key) -> float:
    """Return the share that is right if each key is answered as more often in training; ties count half."""
    leaning: dict[object, int] = defaultdict(int)
    for one in learned:
        leaning[key(one)] += 1 if one[4] else -1
    right = 0.0
    for one in tried:
        lean = leaning.get(key(one), 0)
        right += 0.5 if lean == 0 else float((lean > 0) == one[4])
    return right / len(tried)


def guessed_by_words(learned: Iterable[Asked], tried: Sequence[Asked]) -> float:
    """Return the share that a naive Bayes classifier over words gets right."""
    yes: dict[str, int] = defaultdict(lambda: 1)
    no: dict[str, int] = defaultdict(lambda: 1)
    for one in learned:
        for word in set(split_words(one[0])):
            (yes if one[4] else no)[word] += 1
    right = 0
    for one in tried:
        odds = 1.0
        for word in set(split_words(one[0])):
            odds *= yes[word] / no[word]
        right += (odds > 1.0) == one[4]
    return right / len(tried)


def near_half(share: float, count: int) -> bool:
    """Return whether a share is within four standard deviations of one half."""
    return abs(share - 0.5) < 4 * 0.5 / count**0.5


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("base", BASES)
def test_guesses_from_the_words_alone_are_right_by_chance(base: str, split: str) -> None:
    learned = questions(base, "train", proof.size(LEARNED, name="SimTown questions learned without pictures"), 0)
    tried = questions(base, split, proof.size(GUESSED, name="SimTown questions guessed without pictures"), 50)
    assert sum(one[4] for one in tried) * 2 == len(tried)
    found = {what: guessed_right(learned, tried, key) for what, key in KEYS.items()}
    found["words"] = guessed_by_words(learned, tried)
    assert {what: share for what, share in found.items() if not near_half(share, len(tried))} == {}


@pytest.mark.parametrize(
    ("base", "changes"),
    [
        ("simtown-k5", {}),
        ("simtown-k15-distractor", {}),
        ("simtown-k15-distractor", ALL_RELATIONS),
        ("simtown-k60", {"questions": {"exponent": 0.0}}),
    ],
)
def test_guesses_on_made_items_are_right_by_chance(base: str, changes: dict[str, object]) -> None:
    count = proof.size(10_000, name="SimTown items learned and guessed without pictures", most=150)
    spec = sized(base, train=count, test=count, **changes)
    learned, tried = ([asked_in(item) for item in make_items(spec, split)] for split in ("train", "test"))
    found = {what: guessed_right(learned, tried, key) for what, key in KEYS.items()}
    found["words"] = guessed_by_words(learned, tried)
    assert {what: share for what, share in found.items() if not near_half(share, len(tried))} == {}


def asked_in(item: Item) -> Asked:
    """Return the words of an item's question."""
    subject, relation, other = words_asked_of(item)
    return item.questions[0].text, subject, relation, other, says_yes(item)


def test_a_question_that_tells_its_answer_is_found() -> None:
    """Guessing from the subject finds out if the frequent subjects have another answer."""
    found = questions("simtown-k5", "train", 2_000, 0)
    top = found[0][1]
    told = [(*one[:4], one[4] if one[1] != top else True) for one in found]
    assert not near_half(guessed_right(told[:1_000], told[1_000:], KEYS["subject"]), 1_000)
    assert not near_half(guessed_by_words(told[:1_000], told[1_000:]), 1_000)
