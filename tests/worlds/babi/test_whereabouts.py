"""Tasks 1, 11, 12 and 13 ask for the place of a person. The last line about the person has the answer."""

import re
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.tasks import BY_NUMBER
from tests import proof
from tests.worlds.babi.told import Asked, answer_questions, assert_shares, chance, parameters, questions, stories, tell

TASKS = (1, 11, 12, 13)
PLACES = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
PEOPLE = ("John", "Mary", "Sandra", "Daniel")
HE = ("John", "Daniel", "Fred", "Bill", "Jeff", "Carlos", "Erik", "Hugo", "Karl", "Omar", "Tomas")
MOVES = ("went over to", "returned to", "journeyed to", "moved on to", "travelled to")
CONNECTIVES = ("Then", "Afterwards", "After that", "Following that")


def people_of_line(texts: list[str], number: int) -> tuple[list[str], list[int]]:
    """Return the people of a line, and the lines that resolve them. A pronoun means the people of the line before."""
    subject = re.sub(rf"^({'|'.join(CONNECTIVES)}), ", "", texts[number]).split(" ")
    if subject[0] in ("he", "she", "they"):
        people, _ = people_of_line(texts, number - 1)
        fits = {"they": len(people) == 2, "he": people[0] in HE, "she": people[0] not in HE}
        assert fits[subject[0]], texts[number]
        assert len(people) == 1 or subject[0] == "they", texts[number]
        return people, [number - 1, number]
    return ([subject[0], subject[2]] if subject[1] == "and" else [subject[0]]), [number]


def answer_by_text(asked: Asked) -> tuple[str, list[int]]:
    """Return the answer and its supporting facts, from the text only."""
    texts = [line.text for line in asked.lines]
    found = re.fullmatch(r"Where is (\w+) now\?", asked.text)
    assert found
    for number in reversed(range(len(texts))):
        people, lines = people_of_line(texts, number)
        if found[1] in people:
            return texts[number].rstrip(".").split(" ")[-1], lines
    raise AssertionError(f"{found[1]} is never told of")


@pytest.mark.parametrize("task", TASKS)
def test_answer_and_supports_equal_those_of_a_plain_reading(task: int) -> None:
    for asked in questions(task, proof.size(20_000, name=f"task {task} as read plainly")):
        assert (asked.answer, list(asked.supports)) == answer_by_text(asked), asked


@settings(max_examples=proof.size(2_000, least=40), deadline=None)
@given(some.sampled_from(TASKS), parameters(people=3), some.integers(0, 2**32))
def test_stories_respect_all_parameters(task: int, parameters: dict[str, Any], index: int) -> None:
    told = tell(task, chance(index), **parameters)
    names = {event[1] for line in told.lines for event in line.events}
    places = {event[2] for line in told.lines for event in line.events}
    assert len(names) <= parameters["people"]
    assert places <= set(BY_NUMBER[task].answers(StoryParameters(**parameters)))
    assert len(places) <= parameters["places"]
    for asked in answer_questions(task, told):
        assert (asked.answer, list(asked.supports)) == answer_by_text(asked)
        assert len(asked.lines) - 1 - max(asked.supports) >= parameters["distance"]


@pytest.mark.parametrize("task", TASKS)
def test_stories_have_ten_lines_and_a_question_after_every_second_line(task: int) -> None:
    for told in stories(task, proof.size(400)):
        assert len(told.lines) == 10
        assert [ask.scope for ask in told.asks] == [2, 4, 6, 8, 10]


@pytest.mark.parametrize("task", TASKS)
def test_people_places_and_verbs_are_equally_frequent(task: int) -> None:
    told = stories(task, proof.size(4_000, name=f"stories of task {task}", least=200))
    events = [event for story in told for line in story.lines for event in line.events]
    texts = [line.text for story in told for line in story.lines]
    assert_shares(Counter(event[1] for event in events), dict.fromkeys(PEOPLE, 1 / 4), within=0.01)
    assert_shares(Counter(event[2] for event in events), dict.fromkeys(PLACES, 1 / 6), within=0.01)
    verbs = Counter(next(verb for verb in MOVES if f" {verb} the " in text) for text in texts)
    assert_shares(verbs, dict.fromkeys(MOVES, 1 / 5), within=0.01)
    answers = Counter(one.answer for story in told for one in answer_questions(task, story))
    assert_shares(answers, dict.fromkeys(PLACES, 1 / 6), within=0.01)


@pytest.mark.parametrize("task", [11, 13])
def test_every_second_line_has_one_of_four_connectives_and_a_pronoun(task: int) -> None:
    told = stories(task, proof.size(4_000, least=200))
    found: Counter[str] = Counter()
    for story in told:
        assert [line.antecedent for line in story.lines] == [None, 0, None, 2, None, 4, None, 6, None, 8]
        found.update(line.text.split(",")[0] for line in story.lines[1::2])
    assert_shares(found, dict.fromkeys(CONNECTIVES, 1 / 4), within=0.01)


@pytest.mark.parametrize("task", TASKS)
def test_nobody_goes_to_the_place_where_they_already_are(task: int) -> None:
    for told in stories(task, proof.size(400)):
        went: dict[str, list[str]] = {}
        for line in told.lines:
            for _, person, place in line.events:
                went.setdefault(person, []).append(place)
        assert all(one != other for places in went.values() for one, other in pairwise(places))


@pytest.mark.parametrize(("task", "people"), [(12, 2), (13, 2)])
def test_a_distance_needs_more_people_than_a_pair(task: int, people: int) -> None:
    teller = BY_NUMBER[task]
    assert teller.tell(StoryParameters(people=people, distance=1), chance(), questions=5) is None
    assert teller.tell(StoryParameters(people=people), chance(), questions=5) is not None


def test_a_question_may_come_two_hundred_lines_after_its_facts() -> None:
    for asked in questions(11, 5, distance=200):
        assert len(asked.lines) - 1 - max(asked.supports) >= 200
        assert (asked.answer, list(asked.supports)) == answer_by_text(asked)
