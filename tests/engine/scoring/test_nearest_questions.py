"""The search for nearest questions, compared with a twin that compares all pairs in fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.scoring.nearest_questions import KnownQuestions, bags_of, group_questions

FEW, MANY = (
    [f"w{number}" for number in range(6)],
    [f"w{number}" for number in range(300)],
)  # more words than a sketch has bits


def bags_from(words):
    return st.lists(st.frozensets(st.sampled_from(words), max_size=12), max_size=12)


PAIRS = st.sampled_from([FEW, MANY, MANY[:129]]).flatmap(
    lambda words: st.tuples(st.just(words), bags_from(words), bags_from(words))
)


def postings(questions, words):
    return [np.array([at for at, bag in enumerate(questions) if word in bag], dtype=np.uint32) for word in words]


def make_bags(questions, words):
    """Return the bags of questions in the form that the search expects. Words that are not in `words` have no code."""
    sizes = np.array([len(bag) for bag in questions], dtype=np.int64)
    return bags_of(postings(questions, words), questions=len(questions), sizes=sizes)


def nearest_by_search(known, asked, usable, words):
    looked = KnownQuestions(bags_of(postings(known, words), questions=len(known)), usable, words=len(words))
    return looked.nearest(make_bags(asked, words), np.arange(len(asked)))


def likeness(one, two):
    return Fraction(len(one & two), len(one | two)) if one | two else Fraction(0)


def nearest_by_twin(known, asked, usable):
    """Return the nearest of all usable questions for each bag; the first one if several are equally near."""
    places = [place for place in range(len(known)) if usable[place]]
    return [max(places, key=lambda place: (likeness(known[place], bag), -place), default=-1) for bag in asked]


@given(PAIRS, st.integers(0, 2**12 - 1))
def test_the_search_finds_the_same_question_as_comparing_all_pairs(pair, mask):
    words, known, asked = pair
    usable = np.array([bool(mask >> place & 1) for place in range(len(known))], dtype=np.bool_)
    assert nearest_by_search(known, asked, usable, words).tolist() == nearest_by_twin(known, asked, usable)


@given(PAIRS, st.integers(0, 5))
def test_words_that_no_known_question_has_count_as_not_shared(pair, kept):
    words, known, asked = pair
    usable = np.ones(len(known), dtype=np.bool_)
    known = [bag & set(words[:kept]) for bag in known]
    assert nearest_by_search(known, asked, usable, words[:kept]).tolist() == nearest_by_twin(known, asked, usable)


@given(st.integers(0, 2**32 - 1))
def test_the_nearest_of_hundreds_of_similar_bags_is_found(seed):
    chance = np.random.default_rng(seed)
    words = [f"w{number}" for number in range(int(chance.integers(8, 200)))]
    often = np.sort(chance.random(len(words)) ** 3)
    known, asked = (
        [
            {word for word, is_in in zip(words, chance.random(len(words)) < often, strict=True) if is_in}
            for _ in range(n)
        ]
        for n in (100, 8)
    )
    usable = chance.random(len(known)) < 0.9
    assert nearest_by_search(known, asked, usable, words).tolist() == nearest_by_twin(known, asked, usable)


def test_unknown_words_of_a_question_reduce_its_similarity():
    known = [{"a", "b"}, {"a", "b", "c"}]
    assert nearest_by_search(known, [{"a", "x", "y"}], np.ones(2, dtype=np.bool_), ["a", "b", "c"]).tolist() == [0]


@given(PAIRS, st.lists(st.integers(0, 11), unique=True))
def test_groups_are_the_questions_with_the_same_words(pair, places):
    words, questions, _ = pair
    places = sorted(place for place in places if place < len(questions))
    firsts, numbers = group_questions(make_bags(questions, words), np.array(places, dtype=np.int64))
    first_of = {}
    for place in places:
        first_of.setdefault(questions[place], place)
    assert firsts[numbers].tolist() == [first_of[questions[place]] for place in places]
    assert len(firsts) == len(first_of)


def test_bags_with_equal_hashes_are_not_grouped_if_their_words_differ(monkeypatch):
    bags = make_bags([{"a"}, {"b"}, {"a"}], ["a", "b"])
    monkeypatch.setattr(
        "generation.engine.scoring.nearest_questions._hashes", lambda bags, places, salt: np.zeros(3, dtype=np.uint64)
    )
    firsts, numbers = group_questions(bags, np.arange(3))
    assert firsts[numbers].tolist() == [0, 1, 2]


@given(PAIRS)
def test_bags_contain_the_words_of_the_questions(pair):
    words, questions, _ = pair
    bags = make_bags(questions, words)
    codes = np.split(bags.codes, bags.starts[1:-1]) if questions else []
    assert [[words[code] for code in one] for one in codes] == [sorted(bag, key=words.index) for bag in questions]
