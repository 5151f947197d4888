"""Tasks 9 and 10 ask whether a person is at a place, although lines may deny it or leave it open."""

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from generation.engine.errors import IllPosed
from generation.engine.program import Step, execute
from generation.engine.worlds.babi.story import Event, Line, Story
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

TASKS = (9, 10)


def possible_places(event: Event, places: frozenset[str]) -> frozenset[str]:
    """Return the places at which a person may be, according to one line."""
    named = frozenset(event[2:])
    return places - named if event[0] == "not-in" else named


def parse_question(asked: Asked) -> tuple[str, str]:
    """Return the person and the place of a question."""
    found = re.fullmatch(r"Is (\w+) in the (\w+) now\?", asked.text)
    assert found
    return found[1], found[2]


def judge(place: str, where: frozenset[str]) -> str:
    """Return the answer that is correct in all possible cases."""
    return "no" if place not in where else "yes" if len(where) == 1 else "maybe"


def answer_by_last_line(asked: Asked, places: frozenset[str]) -> tuple[str, list[int]]:
    """Return the answer and its supporting line, using only the last line about the person.

    A line that says "either" of one and the same place also gives the answer "maybe", as in the release.
    """
    person, place = parse_question(asked)
    number, event = asked.events(person)[-1]
    if event[0] == "either" and place in event[2:]:
        return "maybe", [number]
    return judge(place, possible_places(event, places)), [number]


def answer_by_memory(asked: Asked, places: frozenset[str]) -> str:
    """Return the answer of a reader who combines all lines while they agree, because people stay where they are."""
    person, place = parse_question(asked)
    where = places
    for _, event in asked.events(person):
        alone = possible_places(event, places)
        where = alone if event[0] == "go" or not where & alone else where & alone
    return judge(place, where)


PLACES = {
    9: frozenset(("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")),
    10: frozenset(("bedroom", "cinema", "kitchen", "office", "park", "school")),
}


@pytest.mark.parametrize("faithful", [False, True])
@pytest.mark.parametrize("task", TASKS)
def test_answer_and_supports_equal_those_of_the_last_line(task: int, faithful: bool) -> None:
    for asked in questions(task, proof.size(20_000, name=f"task {task} as read plainly"), faithful=faithful):
        assert (asked.answer, list(asked.supports)) == answer_by_last_line(asked, PLACES[task]), asked


@pytest.mark.parametrize("task", TASKS)
def test_earlier_lines_change_no_answer(task: int) -> None:
    for asked in questions(task, proof.size(20_000, name=f"task {task} by memory")):
        assert asked.answer == answer_by_memory(asked, PLACES[task]), asked


def test_in_faithful_stories_earlier_lines_change_some_answers_and_a_line_may_name_one_place_twice() -> None:
    asked = questions(10, proof.size(10_000, least=2_000), faithful=True)
    assert any(one.answer != answer_by_memory(one, PLACES[10]) for one in asked)
    hedges = [event for one in asked for line in one.lines for event in line.events if event[0] == "either"]
    same = sum(event[2] == event[3] for event in hedges)
    assert_shares(Counter({"same": same, "other": len(hedges) - same}), {"same": 1 / 6, "other": 5 / 6}, within=0.03)


@settings(max_examples=proof.size(2_000, least=40), deadline=None)
@given(some.sampled_from(TASKS), parameters(people=3), some.integers(0, 2**32))
def test_stories_respect_all_parameters(task: int, parameters: dict[str, Any], index: int) -> None:
    told = tell(task, chance(index), **parameters)
    named = {place for line in told.lines for event in line.events for place in event[2:]}
    assert len(named) <= parameters["places"]
    assert len({event[1] for line in told.lines for event in line.events}) <= parameters["people"]
    asked_of = {parse_question(asked)[1] for asked in answer_questions(task, told)}
    places = frozenset(
        named | asked_of | {f"room {number}" for number in range(parameters["places"] - len(named | asked_of))}
    )
    for asked in answer_questions(task, told):
        assert (asked.answer, list(asked.supports)) == answer_by_last_line(asked, places)
        assert parameters["faithful"] or asked.answer == answer_by_memory(asked, places)
        assert asked.answer in BY_NUMBER[task].answers(StoryParameters(**parameters))
        assert len(asked.lines) - 1 - asked.supports[0] >= parameters["distance"]


@pytest.mark.parametrize("task", TASKS)
def test_stories_have_ten_lines_and_a_question_after_every_second_line(task: int) -> None:
    for told in stories(task, proof.size(400)):
        assert len(told.lines) == 10
        assert [ask.scope for ask in told.asks] == [2, 4, 6, 8, 10]


@pytest.mark.parametrize("faithful", [False, True])
@pytest.mark.parametrize(
    ("task", "answers"),
    [(9, {"yes": 0.375, "no": 0.625}), (10, {"yes": 0.377, "no": 0.475, "maybe": 0.147})],
)
def test_answers_have_the_shares_of_the_release(task: int, answers: dict[str, float], faithful: bool) -> None:
    asked = questions(task, proof.size(20_000, name=f"answers of task {task}", least=1_000), faithful=faithful)
    assert_shares(Counter(one.answer for one in asked), answers, within=0.015)


@pytest.mark.parametrize(
    ("task", "forms"),
    [
        (9, {"go": 0.49, "in": 0.25, "no longer": 0.13, "not": 0.12}),
        (10, {"go": 0.5, "in": 0.25, "either": 0.25}),
    ],
)
def test_lines_have_the_shares_of_the_release(task: int, forms: dict[str, float]) -> None:
    found: Counter[str] = Counter()
    for told in stories(task, proof.size(4_000, least=200)):
        for line in told.lines:
            kind = line.events[0][0]
            found["no longer" if "no longer" in line.text else "not" if kind == "not-in" else kind] += 1
    assert_shares(found, forms, within=0.015)


def test_a_denied_place_is_the_last_known_one() -> None:
    for told in stories(9, proof.size(400)):
        known: dict[str, Event] = {}
        for line in told.lines:
            (event,) = line.events
            before = known.get(event[1])
            if event[0] == "not-in" and before and before[0] != "not-in":
                assert before[2] == event[2]
            known[event[1]] = event


LINES = (
    Line("Mary is not in the office.", (("not-in", "Mary", "office"),)),
    Line("Fred is either in the office or in the kitchen.", (("either", "Fred", "office", "kitchen"),)),
)


@pytest.mark.parametrize(
    ("person", "function", "place"),
    [("Mary", "is_in", "kitchen"), ("Mary", "may_be_in", "kitchen"), ("Fred", "is_in", "office")],
)
def test_a_question_that_lines_do_not_decide_has_no_answer(person: str, function: str, place: str) -> None:
    steps = (Step("story", (), ("simple-negation",)), Step("knowledge", (0,), (person,)), Step("last", (1,)))
    with pytest.raises(IllPosed, match="Expected to be told whether"):
        execute((*steps, Step(function, (2,), (place,))), Story(9, LINES), table=TABLE)
