"""Task 14 asks where a person was before a visit. Lines name times of day, in any order."""

import re
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from generation.engine.errors import IllPosed
from generation.engine.program import Step, execute
from generation.engine.worlds.babi.story import Line, Story
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.tasks import BY_NUMBER
from tests import proof
from tests.worlds.babi.told import (
    TABLE,
    Asked,
    answer_questions,
    assert_shares,
    chance,
    parameters,
    questions,
    stories,
    tell,
)

TIMES = ("yesterday", "this morning", "this afternoon", "this evening")
PLACES = ("bedroom", "cinema", "kitchen", "office", "park", "school")


def visits(asked: Asked) -> list[tuple[int, str, int]]:
    """Return time, place and line of each visit of the person in the question, sorted by time, from the text only."""
    found = []
    person = asked.text.split(" ")[2]
    for number, line in enumerate(asked.lines):
        if re.search(rf"\b{person}\b", line.text):
            time = next(time for time in TIMES if time in line.text.lower())
            place = re.search(r" the (\w+)\b(?!.* the )", line.text)
            assert place
            found.append((TIMES.index(time), place[1], number))
    return sorted(found)


def readings(asked: Asked) -> list[tuple[str, list[int]]]:
    """Return all possible answers to a question with their supporting facts, the latest visit first."""
    found = re.fullmatch(r"Where was \w+ right before the (\w+)\?", asked.text)
    assert found
    own = visits(asked)
    assert [time for time, _, _ in own] == list(range(len(own))), "times are left out"
    each = [(before, [late, early]) for (_, before, early), (_, place, late) in pairwise(own) if place == found[1]]
    return each[::-1]


def is_named_once(asked: Asked) -> bool:
    return [place for _, place, _ in visits(asked)].count(asked.program[2].values[0]) == 1


def test_every_question_has_exactly_one_reading() -> None:
    for asked in questions(14, proof.size(20_000, name="task 14 as read plainly")):
        assert [(asked.answer, list(asked.supports))] == readings(asked), asked
        assert is_named_once(asked)


def test_faithful_questions_may_be_ambiguous_and_mean_the_latest_visit() -> None:
    asked = questions(14, proof.size(20_000, name="task 14 as released", least=2_000), faithful=True)
    for one in asked:
        assert (one.answer, list(one.supports)) == readings(one)[0], one
    ambiguous = sum(len({answer for answer, _ in readings(one)}) > 1 for one in asked)
    shares = {"ambiguous": 0.027, "clear": 0.973}
    assert_shares(Counter({"ambiguous": ambiguous, "clear": len(asked) - ambiguous}), shares, within=0.01)


@settings(max_examples=proof.size(2_000, least=40), deadline=None)
@given(parameters(people=3, distance=4), some.integers(0, 2**32))
def test_stories_respect_all_parameters(parameters: dict[str, Any], index: int) -> None:
    told = tell(14, chance(index), **parameters)
    assert len({event[1] for line in told.lines for event in line.events}) <= parameters["people"]
    for asked in answer_questions(14, told):
        assert (asked.answer, list(asked.supports)) == readings(asked)[0]
        assert parameters["faithful"] or is_named_once(asked)
        assert asked.answer in BY_NUMBER[14].answers(StoryParameters(**parameters))
        assert len(asked.lines) - 1 - max(asked.supports) >= parameters["distance"]


def test_stories_have_ten_to_fourteen_lines_and_two_between_questions() -> None:
    for told in stories(14, proof.size(1_000)):
        scopes = [ask.scope for ask in told.asks]
        assert scopes[0] in (2, 4, 6)
        assert scopes == [scopes[0] + 2 * number for number in range(5)]
        assert len(told.lines) == scopes[-1]


def test_later_visits_come_first_as_often_as_in_the_release() -> None:
    asked = questions(14, proof.size(20_000, name="order of telling in task 14", least=1_000))
    found = Counter("first" if one.supports[0] < one.supports[1] else "then" for one in asked)
    assert_shares(found, {"first": 0.3, "then": 0.7}, within=0.05)  # 35 of 105 in a part of the released test data


def test_lines_before_the_first_question_are_in_random_order() -> None:
    before = [told.lines[: told.asks[0].scope] for told in stories(14, proof.size(4_000, least=300))]
    first = Counter("yesterday" if "esterday" in lines[0].text else "then" for lines in before if len(lines) == 4)
    assert_shares(
        first, {"then": 9 / 28, "yesterday": 19 / 28}, within=0.0
    )  # of four lines, if two of them do not determine the order


def test_verbs_places_and_both_word_orders_are_equally_frequent() -> None:
    told = stories(14, proof.size(4_000, name="stories of task 14", least=200))
    lines = [line for story in told for line in story.lines]
    first = Counter("front" if line.text.lower().startswith(TIMES) else "back" for line in lines)
    assert_shares(first, {"front": 0.5, "back": 0.5}, within=0.01)
    assert_shares(Counter(line.events[0][2] for line in lines), dict.fromkeys(PLACES, 1 / 6), within=0.01)
    answers = Counter(one.answer for story in told for one in answer_questions(14, story))
    assert_shares(answers, dict.fromkeys(PLACES, 1 / 6), within=0.015)


@pytest.mark.parametrize("parameters", [{"people": 2, "places": 3}, {"people": 3, "distance": 4}, {"distance": 8}])
def test_no_question_is_asked_twice_after_the_same_lines(parameters: dict[str, Any]) -> None:
    for told in stories(14, 30, **parameters):
        assert len({(ask.scope, ask.text) for ask in told.asks}) == 5


def test_two_people_are_enough() -> None:
    for asked in questions(14, 50, people=2, places=3):
        assert [(asked.answer, list(asked.supports))] == readings(asked)


def test_a_distance_that_needs_more_lines_than_times_is_refused() -> None:
    assert all(BY_NUMBER[14].tell(StoryParameters(distance=15), chance(), questions=5) is None for _ in range(50))


def test_many_people_allow_a_large_distance() -> None:
    for asked in questions(14, 20, people=12, distance=30):
        assert [(asked.answer, list(asked.supports))] == readings(asked)
        assert len(asked.lines) - 1 - max(asked.supports) >= 30


LINES = (
    Line("Mary went over to the park yesterday.", (("go-at", "Mary", "park", "yesterday"),)),
    Line("This morning Mary went over to the school.", (("go-at", "Mary", "school", "this morning"),)),
)


@pytest.mark.parametrize(("place", "message"), [("park", "something earlier"), ("cinema", "a visit of the cinema")])
def test_a_question_without_the_necessary_visits_has_no_answer(place: str, message: str) -> None:
    steps = (Step("story", (), ("time-reasoning",)), Step("dated", (0,), ("Mary",)), Step("visit", (1,), (place,)))
    with pytest.raises(IllPosed, match=message):
        execute((*steps, Step("preceding", (1, 2))), Story(14, LINES), table=TABLE)
