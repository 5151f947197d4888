"""Stories in Hindi: each English sentence has its own grammatical Hindi sentence, which can be translated back."""

import re
from collections import Counter
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from generation.engine.items import AnswerKind
from generation.engine.worlds.babi import entities
from generation.engine.worlds.babi.languages import language_of
from generation.engine.worlds.babi.languages_hindi import (
    ANSWERS,
    DIRECTIONS,
    FEMALE,
    LETTERS,
    MALE,
    PATTERNS,
    PEOPLE,
    PLACES,
    SLOT,
    THINGS,
    VARIANTS,
    Hindi,
    readings,
    to_hindi,
)
from generation.engine.worlds.babi.spec import read_spec
from generation.engine.worlds.babi.story import Line, Story
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.story_sampler import StorySampler
from generation.engine.worlds.babi.tasks import BY_NUMBER
from tests import proof
from tests.worlds.babi.told import MOST, chance, tell

HINDI = Hindi()


@pytest.mark.parametrize("task", list(BY_NUMBER))
def test_all_lines_and_questions_can_be_translated_to_hindi_and_back(task: int) -> None:
    random = chance(task)
    for number in range(proof.size(400, name=f"stories of task {task} in Hindi")):
        told = tell(task, random, faithful=number % 2 == 1, **(MOST if number % 4 > 1 else {}))
        hindi = HINDI.story(Story(task, told.lines))
        for english, line in zip(told.lines, hindi.lines, strict=True):
            assert (line.events, line.antecedent) == (english.events, english.antecedent)
            assert list(readings(line.text)) == [english.text]
        for ask in told.asks:
            assert list(readings(HINDI.text(ask.text))) == [ask.text]


@pytest.mark.parametrize("task", list(BY_NUMBER))
def test_all_answers_can_be_translated_to_hindi_and_back(task: int) -> None:
    for parameters in (StoryParameters(), StoryParameters(**MOST)):
        answers = BY_NUMBER[task].answers(parameters)
        assert len({HINDI.answer(answer) for answer in answers}) == len(answers)
        for answer in answers:
            assert HINDI.english(HINDI.answer(answer)) == answer


def fill_pattern(pattern: str, draw: Any) -> str:
    """Return an English sentence of the pattern with random words."""
    words: dict[str, str] = {}
    for slot in SLOT.finditer(pattern):
        kind = slot[1].rstrip("2")
        words[slot[1]] = draw(some.sampled_from(sorted(VARIANTS[kind])))
    text = SLOT.sub(lambda slot: words[slot[1]], pattern)
    return text[0].upper() + text[1:]


@settings(max_examples=proof.size(20_000, name="sentences of every pattern, in Hindi", most=300), deadline=None)
@given(some.sampled_from([english for english, _ in PATTERNS]), some.data())
def test_each_hindi_sentence_has_exactly_one_english_meaning(english: str, data: Any) -> None:
    text = fill_pattern(english, data.draw)
    assert list(readings(to_hindi(text))) == [text]
    assert HINDI.english(to_hindi(text)) == text


def test_patterns_are_distinct_in_both_languages() -> None:
    for side in zip(*PATTERNS, strict=True):
        assert [pattern for pattern, count in Counter(side).items() if count > 1] == []


@pytest.mark.parametrize("kind", sorted(VARIANTS))
def test_words_of_a_kind_are_distinct(kind: str) -> None:
    words = [(english, variants[0]) for english, variants in VARIANTS[kind].items() if kind != "pronoun"]
    for (one, first), (other, second) in permutations(words, 2):
        assert not set(first[:2]) & set(second[:2]), (one, other)


def test_hindi_answers_are_distinct() -> None:
    alike = [hindi for hindi, count in Counter(ANSWERS.values()).items() if count > 1]
    assert alike == []


def test_all_people_places_and_things_have_a_hindi_word() -> None:
    assert set(entities.EVERYBODY) <= set(PEOPLE)
    assert set(entities.EVERYWHERE) <= set(PLACES)
    assert set(entities.EVERYTHING) <= set(THINGS)


@pytest.mark.parametrize("group", ["mary", "fred", "jeff"])
def test_the_gender_of_people_is_the_same_in_both_languages(group: str) -> None:
    for person in entities.people(group, 12):
        assert (PEOPLE[person].agrees == MALE) == (person in entities.MEN), person


@pytest.mark.parametrize(
    ("english", "hindi"),
    [
        ("Mary went over to the garden.", "Mary bageeche chali gayi."),
        ("John went over to the garden.", "John bageeche chala gaya."),
        ("John and Mary went over to the garden.", "John aur Mary bageeche chale gaye."),
        ("Mary and Sandra went over to the garden.", "Mary aur Sandra bageeche chali gayin."),
        ("Then, he went over to the kitchen.", "Phir vah rasoi chala gaya."),
        ("Then, she went over to the kitchen.", "Phir vah rasoi chali gayi."),
        ("Yesterday Bill returned to the park.", "Kal Bill udyaan lauta."),
        ("Bill returned to the park yesterday.", "Bill kal udyaan lauta."),
        ("Mary took the milk.", "Mary ne doodh liya."),
        ("John took the football there.", "John ne wahan phutbol li."),
        ("Bill handed the apple to Mary.", "Bill ne Mary ko seb thamaya."),
        ("Winona is hungry.", "Winona bhookhi hai."),
        ("Cats are afraid of wolves.", "Billiyan bhediyon se darti hain."),
        ("The garden lies north of the hallway.", "Bageecha galiyare ke uttar mein hai."),
        ("The box is bigger than the box of chocolates.", "Dibba chokalet ke dibbe se bada hai."),
        ("Is the red sphere above the blue square?", "Kya laal gola neele varg ke upar hai?"),
    ],
)
def test_verbs_and_postpositions_agree(english: str, hindi: str) -> None:
    assert to_hindi(english) == hindi


def test_a_plural_pronoun_is_feminine_if_the_line_before_is_about_women() -> None:
    lines = (
        Line("Mary and Sandra returned to the office.", (("go", "Mary", "office"), ("go", "Sandra", "office"))),
        Line("Then, they returned to the park.", (("go", "Mary", "park"), ("go", "Sandra", "park")), 0),
    )
    assert [line.text for line in HINDI.story(Story(13, lines)).lines] == [
        "Mary aur Sandra daftar lautin.",
        "Phir ve udyaan lautin.",
    ]
    assert HINDI.english("Phir ve udyaan lautin.") == HINDI.english("Phir ve udyaan laute.")


@pytest.mark.parametrize(
    "text", ["", "Mary udyaan chala gayi.", "Where is Mary now?", "mary udyaan lauti.", "Kya?", "\u0915"]
)
def test_other_texts_are_not_translated_from_hindi(text: str) -> None:
    assert HINDI.english(text) == text
    assert list(readings(text)) == []


@pytest.mark.parametrize("text", ["", "Mary sleeps.", "Mary went over to the moon."])
def test_english_sentences_of_no_pattern_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="can be said in Hindi"):
        to_hindi(text)


def test_the_words_of_a_list_answer_keep_their_order() -> None:
    assert HINDI.answer("apple,milk") == "seb,doodh"
    assert HINDI.english("doodh,seb") == "milk,apple"
    assert HINDI.answer("w,n") == "pa,u"
    assert HINDI.english("doodh,chaand") == "doodh,chaand"
    assert all(DIRECTIONS[name].direct.startswith(LETTERS[name[0]]) for name in DIRECTIONS)


def test_women_are_recognised_by_name() -> None:
    assert {PEOPLE[name].agrees for name in ("Mary", "Sandra", "Julie", "Emily")} == {FEMALE}


def test_a_dataset_in_hindi_is_a_translation_of_the_english_one() -> None:
    made: dict[str, list[Any]] = {}
    for language in ("english", "hindi"):
        spec = read_spec(
            {"tasks": sorted(BY_NUMBER), "splits": {"train": {"questions": 5}}, "told": {"language": language}}
        )
        made[language] = list(StorySampler(spec.for_split("train"), "train", secret=b"").items(0))
    assert len(made["english"]) == len(made["hindi"])
    for english, hindi in zip(made["english"], made["hindi"], strict=True):
        assert [HINDI.english(line.text) for line in hindi.scene.lines] == [line.text for line in english.scene.lines]
        for one, other in zip(english.questions, hindi.questions, strict=True):
            assert HINDI.english(other.text) == one.text
            answer = HINDI.english(other.answer.text).split(",")
            ordered = sorted(answer) if other.answer.kind == AnswerKind.SET else answer  # sets have the Hindi order
            assert ",".join(ordered) == one.answer.text
            assert other.program == one.program
            assert re.fullmatch(r"[A-Za-z,]+", other.answer.text)


def test_hindi_is_an_available_language() -> None:
    assert isinstance(language_of("hindi"), Hindi)
