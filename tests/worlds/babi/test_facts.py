"""Tasks 4 and 15 to 20: programs give the same answers and supporting facts as a slow twin."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from generation.engine.errors import IllPosed
from generation.engine.program import Program, Step, execute, typecheck
from generation.engine.worlds.babi.functions import function_table
from generation.engine.worlds.babi.story import Event, Line, Story
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.tasks import BY_NUMBER
from tests import proof
from tests.worlds.babi import facts_twin
from tests.worlds.babi.told import Asked, answer_questions, assert_shares, chance, questions, stories, tell

TASKS = (4, 15, 16, 17, 18, 19, 20)
LINES = {4: {2}, 15: {8}, 16: {9}, 17: {2}, 18: {5}, 19: {5}, 20: {7, 10, 11, 12}}
SUPPORTS = {4: 1, 15: 2, 16: 3, 17: 2, 18: 2, 19: 2, 20: 1}
HARDER: dict[str, Any] = {
    "people": some.integers(2, 12),
    "places": some.integers(3, 14),
    "animals": some.integers(2, 8),
    "shapes": some.integers(3, 8),
    "sizes": some.integers(5, 12),
    "steps": some.integers(2, 6),
    "distance": some.integers(0, 12),
    "faithful": some.booleans(),
}


def facts(one: Asked) -> list[Event]:
    """Return the event of each line before the question."""
    return [line.events[0] for line in one.lines]


def pairs(one: Asked) -> set[frozenset[str]]:
    """Return the two names in each line."""
    return {frozenset(event[1:]) - {*facts_twin.MOVES, *facts_twin.SIDES} for event in facts(one)}


def ends(one: Asked) -> frozenset[str]:
    """Return the two names in a question of task 17 or 18."""
    pattern = r"(?:Is|Does) the (.+?) (?:above|below|to the right of|to the left of|bigger than|fit inside) the (.+)\?"
    return frozenset(facts_twin.read(pattern, one.text))


def check_share(found: int, of: int, wanted: float, *, within: float = 0.001) -> None:
    """Check that `found` of `of` questions are the wanted share."""
    assert_shares(Counter({"so": found, "else": of - found}), {"so": wanted, "else": 1 - wanted}, within=within)


@pytest.mark.parametrize("faithful", [False, True])
@pytest.mark.parametrize("task", TASKS)
def test_answers_and_supporting_facts_equal_those_of_the_twin(task: int, faithful: bool) -> None:
    for one in questions(task, proof.size(20_000), faithful=faithful):
        assert (one.answer, list(one.supports)) == facts_twin.ANSWER[task](facts(one), one.text), one


@settings(max_examples=proof.size(600), deadline=None)
@given(task=some.sampled_from(TASKS), parameters=some.fixed_dictionaries(HARDER), index=some.integers(0, 1_000))
def test_harder_stories_have_the_answers_of_the_twin(task: int, parameters: dict[str, Any], index: int) -> None:
    answers = BY_NUMBER[task].answers(StoryParameters(**parameters))
    for one in answer_questions(task, tell(task, chance(index), **parameters)):
        assert (one.answer, list(one.supports)) == facts_twin.ANSWER[task](facts(one), one.text), one
        assert one.answer in answers
        if task in (17, 18, 19) and not parameters["faithful"]:
            assert len(one.supports) == parameters["steps"]
        assert len(one.lines) - 1 - max(one.supports) >= parameters["distance"]


@pytest.mark.parametrize("task", TASKS)
def test_stories_are_as_long_as_in_the_release(task: int) -> None:
    told = stories(task, 120)  # each of the lengths of the task equally often

    assert {len(story.lines) for story in told} == LINES[task]
    lengths = [len(story.asks) for story in told]
    assert sorted(lengths) == sorted(BY_NUMBER[task].lengths * (120 // len(BY_NUMBER[task].lengths)))
    assert {len(one.supports) for one in questions(task, 100)} == {SUPPORTS[task]}


@pytest.mark.parametrize("task", TASKS)
def test_a_story_asks_no_question_twice(task: int) -> None:
    for story in stories(task, proof.size(1_000)):
        assert len({(ask.scope, ask.text) for ask in story.asks}) == len(story.asks)
        assert len({line.text for line in story.lines}) == len(story.lines)


@pytest.mark.parametrize("task", TASKS)
def test_programs_are_well_typed_and_all_answers_occur(task: int) -> None:
    table, answers = function_table(), set(BY_NUMBER[task].answers(StoryParameters()))
    for story in stories(task, 50):
        for ask in story.asks:
            assert typecheck(ask.program, table=table) in table.answer_kinds
            assert ask.program[0] == Step("story", (), (BY_NUMBER[task].name,))
    assert {one.answer for one in questions(task, 2_000)} == answers


@pytest.mark.parametrize(
    ("task", "answers"), [(4, 6), (15, 4), (16, 4), (17, 2), (18, 2), (19, 12)], ids=lambda value: str(value)
)
def test_answers_are_equally_likely(task: int, answers: int) -> None:
    count = proof.size(40_000, least=2_000)
    found = Counter(one.answer for one in questions(task, count))

    assert len(found) == answers
    for often in found.values():
        check_share(often, found.total(), 1 / answers)


class TestRelationsOfTwo:
    def test_both_wordings_and_all_directions_are_equally_likely(self) -> None:
        found = questions(4, proof.size(20_000))

        check_share(sum(one.text.startswith("Which") for one in found), len(found), 0.5)
        for direction in facts_twin.MOVES:
            check_share(sum(f" {direction} " in one.text for one in found), len(found), 0.25)

    def test_the_reversed_question_has_another_answer(self) -> None:
        for one in questions(4, proof.size(2_000)):
            match one.text.rstrip("?").split():
                case ["Which", "place", "lies", direction, "of", "the", place]:
                    other = f"The {place} lies {direction} of which place?"
                case ["The", place, "lies", direction, "of", "which", "place"]:
                    other = f"Which place lies {direction} of the {place}?"
            answer, supports = facts_twin.relations_of_two(facts(one), other)
            assert answer != one.answer and supports != list(one.supports)


class TestDeduction:
    def test_the_fears_of_a_kind_come_before_its_animals(self) -> None:
        for story in stories(15, proof.size(2_000)):
            feared = set()
            for line in story.lines:
                kind, one, other = line.events[0]
                feared.add(one if kind == "afraid" else None)
                assert other in feared or kind == "afraid"
                assert one != other


class TestInduction:
    def colours(self, one: Asked) -> list[str]:
        """Return the colours of the other animals of the same kind."""
        (name,) = facts_twin.read(r"Which colour is (\w+)\?", one.text)
        kinds = {event[1]: event[2] for event in facts(one) if event[0] == "is-a"}
        return [
            event[2]
            for event in facts(one)
            if event[0] == "coloured" and event[1] != name and kinds[event[1]] == kinds[name]
        ]

    def test_all_animals_of_a_kind_have_the_same_colour(self) -> None:
        for one in questions(16, proof.size(4_000)):
            assert set(self.colours(one)) == {one.answer}

    def test_faithful_animals_of_a_kind_differ_in_colour_as_often_as_in_the_release(self) -> None:
        found = [(Counter(self.colours(one)), one.answer) for one in questions(16, proof.size(40_000), faithful=True)]

        check_share(sum(len(colours) > 1 for colours, _ in found), len(found), 0.075)
        check_share(sum(colours[answer] < max(colours.values()) for colours, answer in found), len(found), 0.024)

    def test_five_animals_have_a_kind_and_four_of_them_then_a_colour(self) -> None:
        for one in questions(16, proof.size(2_000)):
            kinds = [event[1] for event in facts(one) if event[0] == "is-a"]
            coloured = [event[1] for event in facts(one) if event[0] == "coloured"]
            assert len(set(kinds)) == 5 and len(set(coloured)) == 4
            for name in coloured:
                assert facts(one).index(next(event for event in facts(one) if event[:2] == ("is-a", name))) < next(
                    number for number, event in enumerate(facts(one)) if event[:2] == ("coloured", name)
                )


class TestPositions:
    def off(self, one: Asked) -> int:
        """Return the distance of the two shapes on the axis of the question."""
        names = r"Is the (.+?) (above|below|to the right of|to the left of) the (.+)\?"
        shape, side, other = facts_twin.read(names, one.text)
        stand = facts_twin.cells(facts(one))
        axis = 0 if facts_twin.SIDES[side][0] else 1
        return abs(stand[shape][axis] - stand[other][axis])

    def test_the_two_shapes_of_a_question_are_never_in_one_line(self) -> None:
        for faithful in (False, True):
            for one in questions(17, proof.size(4_000), faithful=faithful):
                assert ends(one) not in pairs(one)

    def test_shapes_at_the_same_coordinate_are_not_compared(self) -> None:
        assert all(self.off(one) for one in questions(17, proof.size(8_000)))

    def test_each_story_has_all_eight_questions(self) -> None:
        for told in stories(17, proof.size(1_000)):
            asked = list(answer_questions(17, told))
            assert Counter(one.answer for one in asked) == {"yes": 4, "no": 4}
            assert len({one.text for one in asked}) == 8

    def test_faithful_questions_compare_shapes_at_the_same_coordinate_as_often_as_in_the_release(self) -> None:
        found = questions(17, proof.size(80_000), faithful=True)

        check_share(
            sum(not self.off(one) for one in found), len(found), 0.114, within=0.03
        )  # by stories of eight questions
        check_share(sum(one.answer == "yes" for one in found), len(found), 0.497)
        assert all(one.answer == "no" for one in found if not self.off(one))


class TestSizes:
    def test_no_single_line_gives_the_answer_and_exactly_one_chain_does(self) -> None:
        for one in questions(18, proof.size(8_000)):
            assert ends(one) not in pairs(one)
            ordered = facts_twin.ordered(facts(one))
            assert len(set(ordered)) == len(ordered)
            start, end = sorted(ends(one))
            every = [way for way in facts_twin.chains(ordered, start, end) if len(way) <= 2]
            rising = [way for way in every if facts_twin.rises(ordered, way, start) is not None]
            assert sorted(rising[0]) == sorted(one.supports) and len(rising) == 1

    def test_the_words_of_a_question_do_not_predict_the_answer(self) -> None:
        found: dict[str, Counter[str]] = {}
        for one in questions(18, proof.size(40_000, least=4_000)):
            found.setdefault(one.text, Counter())[one.answer] += 1

        assert len(found) == 2 * 5 * 4  # two wordings, and any two things except the chocolate
        for answers in found.values():
            check_share(answers["yes"], answers.total(), 0.5)

    def test_a_single_line_gives_the_answer_of_a_faithful_question_as_often_as_in_the_release(self) -> None:
        found = questions(18, proof.size(40_000), faithful=True)

        check_share(sum(ends(one) in pairs(one) for one in found), len(found), 0.31, within=0.03)
        check_share(sum(one.answer == "yes" for one in found), len(found), 0.5)

    def test_faithful_stories_have_five_to_fifteen_lines_in_blocks_of_five(self) -> None:
        found = Counter(len(story.lines) for story in stories(18, proof.size(20_000, least=500), faithful=True))

        assert set(found) <= {5, 10, 15}
        assert found.most_common(1)[0][0] == 5 and len(found) > 1


class TestPaths:
    def test_the_way_is_the_only_shortest_one_over_adjacent_places(self) -> None:
        for steps in (2, 3, 4):
            for one in questions(19, proof.size(8_000), steps=steps):
                start, end = facts_twin.read(r"How does one get from the (\w+) to the (\w+)\?", one.text)
                (way,) = facts_twin.ways(facts_twin.cells(facts(one)), start, end)
                assert len(way) == steps + 1 == len(one.supports) + 1

    def test_the_directions_of_the_answer_lead_to_the_end(self) -> None:
        for one in questions(19, proof.size(8_000), steps=3, places=8):
            start, end = facts_twin.read(r"How does one get from the (\w+) to the (\w+)\?", one.text)
            lie = facts_twin.cells(facts(one))
            at = lie[start]
            for letter in one.answer.split(","):
                (move,) = [move for direction, move in facts_twin.MOVES.items() if direction[0] == letter]
                at = at[0] + move[0], at[1] + move[1]
                assert at in lie.values()
            assert at == lie[end]

    def test_faithful_stories_may_have_another_shortest_way(self) -> None:
        found = []
        for one in questions(19, 400, faithful=True):
            start, end = facts_twin.read(r"How does one get from the (\w+) to the (\w+)\?", one.text)
            found.append(len(facts_twin.ways(facts_twin.cells(facts(one)), start, end)))
        assert set(found) == {1, 2}


class TestMotives:
    def test_the_question_after_each_line_is_about_that_line(self) -> None:
        for story in stories(20, proof.size(2_000)):
            assert [ask.scope for ask in story.asks] == list(range(1, len(story.lines) + 1))
            for line, ask in zip(story.lines, story.asks, strict=True):
                kind, person, what = line.events[0]
                wanted = {
                    "feels": f"Where will {person} go?",
                    "go": f"Why did {person} go to the {what}?",
                    "get": f"Why did {person} get the {what}?",
                }
                assert ask.text == wanted[kind]

    def test_no_thing_is_taken_twice(self) -> None:
        for people in (2, 4, 7):
            for story in stories(20, proof.size(2_000), people=people):
                got = [line.events[0][2] for line in story.lines if line.events[0][0] == "get"]
                assert len(set(got)) == len(got)

    def test_in_faithful_stories_several_people_take_the_same_thing(self) -> None:
        got = [
            Counter(line.events[0][2] for line in story.lines if line.events[0][0] == "get")
            for story in stories(20, 100, faithful=True)
        ]
        assert any(max(things.values(), default=0) > 1 for things in got)

    def test_large_distances_are_filled_with_moves_without_a_motive(self) -> None:
        (story,) = stories(20, 1, people=2, distance=200)

        places = {line.events[0][2] for line in story.lines if line.events[0][0] == "go"}
        assert len(story.lines) > 200 and "hallway" in places


def run(events: list[Event], *steps: Step) -> str:
    """Return the answer of a program for a story whose lines have the given events."""
    program: Program = (Step("story", (), ("path-finding",)), *steps)
    lines = tuple(Line(" ".join(event), (event,)) for event in events)
    return str(execute(program, Story(19, lines), table=function_table())[-1].value)


ROUND: list[Event] = [
    ("lies", "kitchen", "north", "garden"),
    ("lies", "office", "east", "kitchen"),
    ("lies", "bedroom", "east", "garden"),
    ("lies", "office", "north", "bedroom"),
]


@pytest.mark.parametrize(
    ("events", "steps", "expected"),
    [
        (ROUND, [Step("way", (0,), ("garden", "office"))], "one shortest way"),
        (ROUND, [Step("way", (0,), ("garden", "attic"))], "one shortest way"),
        (ROUND, [Step("that_lies", (0,), ("south", "garden"))], "one place"),
        (
            [("lies", "attic", "north", "garden"), *ROUND],
            [Step("that_lies", (0,), ("north", "garden"))],
            "one place",
        ),
        (ROUND, [Step("is_a", (0,), ("Lily",))], "told of Lily"),
        ([("is-a", "Lily", "swan")], [Step("is_a", (0,), ("Lily",)), Step("peer", (0, 1))], "another swan"),
        ([("is-a", "Emily", "cat")], [Step("is_a", (0,), ("Emily",)), Step("fear", (0, 1))], "told of cat"),
        ([("fits", "box", "chest")], [Step("sizes", (0,), ("box", "chest"))], "order the box and the chest"),
        (
            [("go", "Yann", "garden"), ("feels", "Yann", "bored")],
            [Step("feelings", (0,), ("Yann",)), Step("why_go", (0, 1), ("Yann", "garden"))],
            "felt before",
        ),
        (
            [("feels", "Yann", "bored")],
            [Step("feelings", (0,), ("Yann",)), Step("why_get", (0, 1), ("Yann", "football"))],
            "felt before",
        ),
    ],
)
def test_a_question_without_the_necessary_lines_has_no_answer(
    events: list[Event], steps: list[Step], expected: str
) -> None:
    with pytest.raises(IllPosed, match=expected):
        run(events, *steps)


def test_directions_are_given_in_the_order_of_walking() -> None:
    way = [Step("way", (0,), ("bedroom", "kitchen")), Step("directions", (1,), ("bedroom",))]

    assert run(ROUND[:3], *way) == "w,n"
