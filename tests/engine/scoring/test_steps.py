"""Scores of the steps in replies: what a model is asked for, and which of its results are right."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.errors import BadProgram
from generation.engine.items import Item, Media
from generation.engine.program import execute
from generation.engine.replies.steps import LONGEST_STEPS, score_steps
from generation.engine.scoring.steps import ExpectedStep, StepKind, expected_steps, steps_prompt
from generation.engine.spec import BaseSpec
from generation.engine.worlds import find_preset, get_maker, get_world
from tests import proof

PRESETS = ("clevr-mini", "clevr-counting", "shapeworld-logical", "simtown-mini", "babi")
SCENES = 3
STORIES = {"world": "babi", "tasks": [*range(1, 21)], "splits": {"test": {"questions": 100}}}

# One step of each kind, so that a few lines show what counts.
STEPS = (
    ExpectedStep("scene", (), (), "all objects", StepKind.OBJECTS, 3),
    ExpectedStep("unique", (0,), (), "the only one", StepKind.OBJECT, "small light red cube", ("size", "color")),
    ExpectedStep("stays", (), ("Mary",), "where somebody goes", StepKind.LINES, [2, 10]),
    ExpectedStep("count", (0,), (), "how many", StepKind.NUMBER, 0),
    ExpectedStep("exist", (0,), (), "any", StepKind.YES_NO, "yes"),
    ExpectedStep("query_color", (1,), (), "", StepKind.WORD, "Light Red"),
    ExpectedStep("carries", (2,), (), "", StepKind.SET, "apple,milk"),
    ExpectedStep("path", (2,), (), "", StepKind.SEQUENCE, "n,w"),
)
RIGHT: tuple[Any, ...] = (3, "small light red cube", [2, 10], 0, "yes", "light red", ["apple", "milk"], ["n", "w"])
SPELLINGS: dict[str, tuple[list[Any], list[Any]]] = {
    "scene": ([3, 3.0, "3", " 3 ", "3.0", "three", "THREE"], [True, 4, -3, 3.5, "13", "3 objects", "", None, [3], {}]),
    "unique": (
        ["small light red cube", "Cube,  red small, light"],
        ["light red cube", "a small light red cube", "small red cube cube", ["small", "light", "red", "cube"], 1, None],
    ),
    "stays": ([[2, 10], [10, 2]], [[2], [2, 10, 10], [2, 10, 11], ["2", "10"], [2.0, 10.0], "2, 10", 2, [True], []]),
    "count": ([0, "0", "zero", -0.0], [False, "no", "", None, [], "none", 1]),
    "exist": ([True, "yes", "Yes", "true"], [1, "1", False, "no", "yes, there is", "y"]),
    "query_color": (["light red", "LIGHT  RED"], ["red", "light", ["light red"], "light red cube"]),
    "carries": (
        [["milk", "apple"], "apple, milk", "Milk,apple"],
        [["apple"], "apple", ["apple", "milk", "milk"], "milk and apple", "nothing", []],
    ),
    "path": ([["n", "w"], "n,w", "N, W"], [["w", "n"], ["n"], "nw", ["n", "w", "n"]]),
}


class AskedItem(NamedTuple):
    """A generated item with the spec of its split."""

    spec: BaseSpec
    item: Item


def make_items(preset: str) -> Iterator[AskedItem]:
    """Yield the first items of a preset's last split; for stories, all items of a small split."""
    data = STORIES if preset == "babi" else find_preset(preset)
    spec = get_world(str(data["world"])).read_spec(data)
    name, maker = list(spec.splits)[-1], get_maker(spec.world)
    items = (item for chunk in maker.plan(spec, name) for item in maker.make(spec, name, chunk))
    for item in items if preset == "babi" else islice(items, SCENES):
        yield AskedItem(spec.for_split(name), item)


def reply_with(results: Any, expected: tuple[ExpectedStep, ...] = STEPS) -> str:
    return json.dumps([{"step": step.function, "result": one} for step, one in zip(expected, results, strict=True)])


@pytest.mark.parametrize("preset", PRESETS)
def test_the_results_of_every_world_are_those_of_the_trace(preset: str) -> None:
    count = 0
    for spec, item in make_items(preset):
        world = get_world(spec.world)
        table = world.functions(spec)
        assert table is not None
        for number, question in enumerate(item.questions):
            assert question.program is not None and question.answer is not None
            expected = expected_steps(item, number, spec=spec)
            trace = execute(question.program, item.scene, table=table, scope=question.scope)
            assert [step.function for step in expected] == [step.function for step in question.program]
            for step, found in zip(expected, trace, strict=True):
                assert right_by_hand(step, found.value, found.elements, world.media)
            assert str(expected[-1].result) == question.answer.text
            assert score_steps(reply_with([step.result for step in expected], expected), expected) == (
                (True,) * len(expected), 1.0, None, "",
            )  # fmt: skip
            count += 1
    assert count > 2


def right_by_hand(step: ExpectedStep, value: Any, elements: tuple[int, ...], media: Media) -> bool:
    """Return whether a result is what a trace says, without the code that makes it."""
    if step.kind is StepKind.OBJECTS:
        return media is Media.IMAGE and step.result == len(elements) == len(value)
    if step.kind is StepKind.LINES:
        return media is Media.STORY and set(step.result) == set(value)  # type: ignore[arg-type]
    if step.kind is StepKind.OBJECT:
        return len(str(step.result).split()) == len(step.attributes) == 4 and elements == (value,)
    return step.result == value


def test_all_kinds_occur_in_the_worlds() -> None:
    found = {
        step.kind
        for preset in PRESETS
        for spec, item in make_items(preset)
        for number in range(len(item.questions))
        for step in expected_steps(item, number, spec=spec)
    }
    assert found == set(StepKind)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_prompt_names_every_step_and_no_result(preset: str) -> None:
    for spec, item in make_items(preset):
        expected = expected_steps(item, 0, spec=spec)
        prompt = steps_prompt(expected)
        lines = prompt.splitlines()
        assert len(lines) == len(expected) + 3
        for number, (step, line) in enumerate(zip(expected, lines[1:], strict=False), 1):
            arguments = [*(f"step {source + 1}" for source in step.inputs), *step.values]
            assert line.startswith(f"{number}. {step.function}({', '.join(arguments)})")
        other = tuple(step._replace(result="?") for step in expected)
        assert steps_prompt(other) == prompt  # so no result is in it


def test_a_prompt_says_the_form_of_each_result() -> None:
    assert steps_prompt(STEPS[:2]).splitlines() == [
        "The answer is computed in these steps:",
        "1. scene(), all objects: how many objects",
        "2. unique(step 1), the only one: its size, color, as one text",
        'Write exactly one JSON array with the result of each step, in this order: [{"step": "scene", "result": ...}, '
        '{"step": "unique", "result": ...}]',
        'Then write "Answer:" and the answer on a new line.',
    ]


@pytest.mark.parametrize("at", range(len(STEPS)), ids=[step.function for step in STEPS])
def test_spellings_of_a_result_that_are_right_and_wrong(at: int) -> None:
    right, wrong = SPELLINGS[STEPS[at].function]
    for is_right, spellings in ((True, right), (False, wrong)):
        for spelling in spellings:
            score = score_steps(reply_with([*RIGHT[:at], spelling, *RIGHT[at + 1 :]]), STEPS)
            assert score.right[at] is is_right, spelling
            assert sum(score.right) == len(STEPS) - (not is_right)
            assert score.first_wrong == (None if is_right else at) and score.problem == ""


def test_the_words_around_the_array_and_thoughts_do_not_count() -> None:
    array = reply_with(RIGHT)
    for reply in (
        f"```json\n{array}\n```\nAnswer: yes",
        f"<think>[1] {array} [</think>I see [a cube] here: {array}",
        f"It's [not json, {{]. {array} [",
        json.dumps(json.loads(array), indent=4),
    ):
        assert score_steps(reply, STEPS).accuracy == 1.0, reply


NO_ARRAY = (
    ("", "got none"),
    ("yes", "got none"),
    (f"<think>{reply_with(RIGHT)}</think>", "got none"),
    (reply_with(RIGHT)[:-1], "got none"),
    (reply_with(RIGHT).replace('"', "'"), "got none"),
    (json.dumps({"steps": 1}), "got none"),
    (reply_with(RIGHT) * 2, "got 2"),
    (reply_with(RIGHT) + " [1]", "got 2"),
    (reply_with(RIGHT) + " [] []", "got 3"),
    (reply_with(RIGHT).replace(": 3", ": NaN"), "got NaN"),
    (reply_with(RIGHT).replace(": 3", ": -Infinity"), "got -Infinity"),
    (reply_with(RIGHT).replace(": 3", ': 3, "result": 3'), "got one twice"),
    (reply_with(RIGHT) + ' [{"a": 1, "a": 1}]', "got one twice"),
    (" " * LONGEST_STEPS + reply_with(RIGHT), "Expected at most 1,000,000 characters"),
    ("[" * 900_000, "got none"),
    ("[" * 400_000 + "]" * 400_000, "got none"),
)


@pytest.mark.parametrize(("reply", "problem"), NO_ARRAY, ids=range(len(NO_ARRAY)))
def test_a_reply_without_exactly_one_proper_array_has_no_right_step(reply: str, problem: str) -> None:
    score = score_steps(reply, STEPS)
    assert score[:3] == ((False,) * len(STEPS), 0.0, 0)
    assert problem in score.problem


def test_steps_count_only_at_their_own_position() -> None:
    rows = json.loads(reply_with(RIGHT))
    half = len(STEPS) // 2
    few = score_steps(json.dumps(rows[:half]), STEPS)
    assert few == ((True,) * half + (False,) * half, 0.5, half, f"Expected {len(STEPS)} steps, got {half}.")
    many = score_steps(json.dumps([*rows, *rows]), STEPS)
    assert many == ((True,) * len(STEPS), 0.5, len(STEPS), f"Expected {len(STEPS)} steps, got {2 * len(STEPS)}.")
    assert score_steps(json.dumps(rows[1:]), STEPS).accuracy == 0
    assert score_steps(json.dumps(rows[::-1]), STEPS).accuracy == 0
    renamed = [{**row, "step": f"{row['step']}_"} for row in rows]
    assert score_steps(json.dumps([*renamed[:1], *rows[1:]]), STEPS).right == (False,) + (True,) * (len(STEPS) - 1)


@pytest.mark.parametrize(
    "row",
    [3, [3], None, {}, {"step": "scene"}, {"result": 3}, {"step": "scene", "result": 3, "sure": True},
     {"Step": "scene", "Result": 3}, {"step": ["scene"], "result": 3}, {"step": "Scene", "result": 3}],
)  # fmt: skip
def test_a_step_in_another_form_is_wrong(row: Any) -> None:
    rows = json.loads(reply_with(RIGHT))
    score = score_steps(json.dumps([row, *rows[1:]]), STEPS)
    assert (score.right[0], sum(score.right), score.first_wrong) == (False, len(STEPS) - 1, 0)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(RIGHT),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["step", "result", "a"]), inner),
    max_leaves=5,
)


@settings(max_examples=proof.size(4000, most=100), deadline=None)
@given(rows=st.lists(JSON, max_size=12), before=st.text(max_size=9), after=st.text('[]{}" \\x1,', max_size=9))
def test_any_reply_has_a_score_whose_parts_agree(rows: list[Any], before: str, after: str) -> None:
    score = score_steps(f"{before}{json.dumps(rows)}{after}", STEPS)
    assert len(score.right) == len(STEPS) and 0 <= score.accuracy <= 1
    assert (score.accuracy == 1) == (score.first_wrong is None)
    if score.first_wrong is not None:
        is_wrong = not all(score.right[: score.first_wrong + 1])
        assert all(score.right[: score.first_wrong]) and (is_wrong or len(rows) > score.first_wrong == len(STEPS))
    assert score.accuracy <= sum(score.right) / len(STEPS)


@settings(max_examples=proof.size(2000, most=50), deadline=None)
@given(flags=st.lists(st.booleans(), min_size=len(STEPS), max_size=len(STEPS)))
def test_the_accuracy_is_the_share_of_right_results(flags: list[bool]) -> None:
    results = [one if is_right else "something else" for one, is_right in zip(RIGHT, flags, strict=True)]
    score = score_steps(reply_with(results), STEPS)
    assert score.right == tuple(flags) and score.accuracy == sum(flags) / len(STEPS)
    assert score.first_wrong == next((at for at, is_right in enumerate(flags) if not is_right), None)


def test_questions_without_programs_or_scenes_are_refused() -> None:
    spec, item = next(make_items("clevr-mini"))
    without = replace(item, questions=(replace(item.questions[0], program=None),))
    with pytest.raises(BadProgram, match=r"Expected a question with a program and a scene, got none\. Ask without"):
        expected_steps(without, 0, spec=spec)
    with pytest.raises(BadProgram, match="got no scene"):
        expected_steps(replace(item, scene=None), 0, spec=spec)
