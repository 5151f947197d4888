"""Published answers are stored in one form, however their words are separated, ordered and spelled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.errors import BadRecord
from generation.engine.worlds.babi.formats.published_answers import PublishedAnswers, tidy
from generation.engine.worlds.babi.formats.story_files import _Story
from generation.engine.worlds.babi.spec import read_spec

TEXTS = ("Mary got the Milk.", "Mary got the milk there.", "Fred is in the garden.", "Die Katze ist in der Küche.")


def reader_in(language: str, *answers: str) -> PublishedAnswers:
    told = {"faithful": True, "language": language}
    data = {"world": "babi", "title": "", "tasks": [1], "told": told, "answers": list(answers), "splits": {}}
    return PublishedAnswers(read_spec(data | {"splits": {"train": {"scenes": 1}}}))


ENGLISH, HINDI, SHUFFLED = reader_in("english"), reader_in("hindi"), reader_in("shuffled")
SET, PATH, WORD, YES_NO, COUNT = (
    "lists-sets", "path-finding", "single-supporting-fact", "yes-no-questions", "counting",
)  # fmt: skip
READINGS = [
    (ENGLISH, SET, "milk,apple", "apple,milk", "milk,apple"),
    (ENGLISH, SET, "apple,milk", "apple,milk", None),
    (ENGLISH, SET, "milk, apple", "apple,milk", "milk,apple"),
    (ENGLISH, SET, " Apple ,MILK. ", "apple,milk", None),
    (ENGLISH, SET, "milk,,apple,", "apple,milk", "milk,apple"),
    (ENGLISH, SET, "milk and apple", "apple,milk", "milk,apple"),
    (ENGLISH, SET, "milk, apple, and football", "apple,football,milk", "milk,apple,football"),
    (ENGLISH, SET, "milk;apple", "apple,milk", "milk,apple"),
    (ENGLISH, SET, "milk apple", "apple,milk", "milk,apple"),
    (ENGLISH, SET, "['milk', 'apple']", "apple,milk", "milk,apple"),
    (ENGLISH, SET, "milk, milk,apple", "apple,milk", "milk,apple"),
    (ENGLISH, SET, "ｍｉｌｋ\u00a0，apple\u200b", "apple,milk", "milk,apple"),
    (ENGLISH, SET, "milk\u3001apple", "apple,milk", "milk,apple"),
    (ENGLISH, SET, "Zither, milk", "milk,zither", "zither,milk"),
    (ENGLISH, SET, "Nothing", "nothing", None),
    (ENGLISH, SET, "[]", "nothing", None),
    (ENGLISH, SET, "none", "nothing", None),
    (ENGLISH, PATH, "n, w", "n,w", None),
    (ENGLISH, PATH, "w, n", "w,n", None),
    (ENGLISH, PATH, "N,N", "n,n", None),
    (ENGLISH, PATH, "n,,w", "n,w", None),
    (ENGLISH, PATH, "w n", "w,n", None),
    (ENGLISH, PATH, "North, then west", "n,w", None),
    (ENGLISH, PATH, "s -> e", "s,e", None),
    (ENGLISH, WORD, "Garden", "garden", None),
    (ENGLISH, WORD, "garden. ", "garden", None),
    (ENGLISH, WORD, "fred", "Fred", None),
    (ENGLISH, WORD, "Ku\u0308che", "Küche", None),
    (ENGLISH, WORD, "küche", "Küche", None),
    (ENGLISH, YES_NO, "Yes", "yes", None),
    (ENGLISH, YES_NO, "FALSE", "no", None),
    (ENGLISH, COUNT, "2", "two", None),
    (ENGLISH, COUNT, "Three", "three", None),
    (ENGLISH, COUNT, "0", "none", None),
    (HINDI, SET, "Seb aur doodh", "doodh,seb", "seb,doodh"),
    (HINDI, SET, "doodh, seb", "doodh,seb", None),
    (SHUFFLED, SET, "Ohcl, GJJCB", "gjjcb,ohcl", "ohcl,gjjcb"),
    (reader_in("english", "Bad", "Küche"), WORD, "bad", "Bad", None),
]  # fmt: skip


def test_each_form_of_an_answer_is_stored_in_one_form() -> None:
    for reader, task, published, text, spelling in READINGS:
        answer = reader.read(task, published, texts=TEXTS, where="")
        assert answer is not None
        assert (published, answer.text, answer.spelling) == (published, text, spelling)
        again = reader.read(task, answer.text, texts=TEXTS, where="")
        assert again is not None and (again.text, again.spelling) == (text, None)
        assert tidy(text) == text


@pytest.mark.parametrize("published", [",", ", ,", "nothing, milk"])
def test_an_answer_without_words_or_with_nothing_and_words_is_refused(published: str) -> None:
    with pytest.raises(BadRecord, match="line 3: Expected"):
        ENGLISH.read(SET, published, texts=TEXTS, where="line 3")


def test_an_answer_that_is_withheld_stays_so() -> None:
    assert ENGLISH.read(SET, "", texts=TEXTS, where="") is None


@given(
    st.permutations(["apple", "football", "milk"]),
    st.lists(st.sampled_from([",", ", ", " ,,", ";", " and ", ", and ", " & "]), min_size=2, max_size=2),
    st.lists(st.sampled_from([str.lower, str.upper, str.title]), min_size=3, max_size=3),
)
def test_any_order_separator_and_case_of_a_set_is_the_same_set(
    words: list[str], between: list[str], case: list
) -> None:  # type: ignore[type-arg]
    first, second, third = (change(word) for change, word in zip(case, words, strict=True))
    answer = ENGLISH.read(SET, f"{first}{between[0]}{second}{between[1]}{third}", texts=TEXTS, where="")
    assert answer is not None and answer.text == "apple,football,milk"
    assert (answer.spelling or answer.text).split(",") == words


def test_columns_after_the_supporting_facts_may_be_empty() -> None:
    story = _Story()
    story.add("1", "Mary got the milk.", where="")
    story.add("2", "John got the apple.", where="")
    story.add("3", "What?\t milk \t1, 2\t\t ", where="")
    assert story.questions[0][1:3] == ("milk", (0, 1))
