"""`--form steps` of `static/ask.py`: what it asks, how it scores steps, and that the site scores them alike."""

import gzip
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generation.engine.replies import steps as engine
from tests import proof
from tests.asking import colour_site
from tests.asking.conftest import Call, answers, records, truth
from tests.asking.model_stub import ModelStub, reply_with
from tests.engine.scoring.test_steps import JSON, NO_ARRAY, RIGHT, SPELLINGS, STEPS
from tests.webapp.contrary import Contrary

STEPS_FILE = f"{colour_site.PATH}steps.jsonl.gz"


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "steps.jsonl").read_bytes().splitlines()]


def given_steps(*results: Any, names: tuple[str, ...] = ("scene", "query_colour")) -> str:
    return json.dumps([{"step": name, "result": one} for name, one in zip(names, results, strict=False)])


def test_steps_are_asked_for_and_scored_beside_the_answer(
    call: Call, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model.troubles.extend(
        [
            reply_with(f"{given_steps(2, 'red')}\nAnswer: red"),  # question 0: the first step is wrong
            reply_with(given_steps(1, "yes", names=("scene", "is_red"))),  # 1: no answer, only steps
            reply_with("Answer: green"),  # 2: only an answer
            reply_with(f"{given_steps(1, 'green')} Answer: no", finish="length"),  # 3: cut off
            reply_with(f"{given_steps(1, 'blue', 'blue', names=('scene', 'query_colour', 'end'))}\nAnswer: blue"),
        ]
    )
    assert call("--form", "steps") == 0
    assert model.asked[0].prompt == (
        "What colour is it?\nAnswer with one word.\n"
        "The answer is computed in these steps:\n1. scene()\n2. query_colour(step 1)"
    )
    assert {one["form"] for one in records(folder)} == {"steps"}
    assert answers(folder) == ["red", None, "green", None, *truth(8)[4:]]
    found = [(row["accuracy"], row["first_wrong"], row["problem"]) for row in rows(folder)]
    assert found == [
        (0.5, 0, ""),
        (1.0, None, ""),
        (0.0, 0, "Expected one JSON array, got none."),
        (0.0, 0, "cut off"),
        (0.666667, 2, "Expected 2 steps, got 3."),
        *[(1.0, None, "")] * 3,
    ]
    assert rows(folder)[0]["steps"] == [{"step": "scene", "right": False}, {"step": "query_colour", "right": True}]
    out = capsys.readouterr().out
    assert out.endswith(
        """right: 6 of 8 (75.0 %)
steps right: 11 of 16 (68.8 %); in complete replies: 11 of 14 (78.6 %)
questions with all steps right: 4 of 8 (50.0 %)
complete replies whose steps do not have the requested form: 2
  step              right, and how often it is the first wrong step of a complete reply
  is_red            3 of 4 (75.0 %), first wrong 0
  query_colour      3 of 4 (75.0 %), first wrong 0
  scene             5 of 8 (62.5 %), first wrong 2
  (too many steps)  -, first wrong 1
"""
    )


def test_all_forms_share_a_folder_and_steps_are_resumed(call: Call, model: ModelStub, folder: Path) -> None:
    assert call() == 0
    assert not (folder / "steps.jsonl").exists()
    assert call("--form", "steps", "--resume") == 0 and len(model.asked) == 16
    assert call("--form", "steps", "--resume") == 0 and len(model.asked) == 16
    assert [row["accuracy"] for row in rows(folder)] == [1.0] * 8


def test_withheld_answers_have_no_steps_to_ask_for(
    call: Call, site: Contrary, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    about = {name: value for name, value in site.answers[colour_site.PATH][0].items() if name != "steps_file"}
    for withheld, says in (
        (True, "got none because the answers are withheld: use another"),
        (False, "the site does not send them"),
    ):
        site.answers[colour_site.PATH] = [{**about, "withheld": withheld}]
        assert call("--form", "steps") == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1 and says in err
    assert model.asked == [] and not (folder / "replies.jsonl").exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (gzip.compress(b'{"question_id": 0, "prompt": null, "steps": null}\n'), "got none for question 0: use another"),
        (gzip.compress(b"[]\n"), "Expected steps of a Horsesense site"),
        (gzip.compress(b'{"steps": [1]}\n'), "Expected steps of a Horsesense site"),
        (b"not gzip", "Expected steps of a Horsesense site"),
    ],
    ids=["no program", "a list", "other steps", "no gzip"],
)
def test_questions_without_steps_are_refused_before_anything_is_asked(
    content: bytes, says: str, call: Call, site: Contrary, model: ModelStub, capsys: pytest.CaptureFixture[str]
) -> None:
    site.answers[STEPS_FILE] = [content]
    assert call("--form", "steps") == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and says in err and model.asked == []


# The same scores as the site's own --------------------------------------------------------------------------


def both(script: ModuleType, reply: str) -> tuple[Any, Any]:
    """Return the scores of a reply by the site's reader and by the script's."""
    expected = [script.ExpectedStep(step.function, str(step.kind), step.result) for step in STEPS]
    return engine.score_steps(reply, STEPS), script.score_steps(reply, expected)


NAMES = st.sampled_from([*(step.function for step in STEPS), "Scene", ""])
ANY_RESULT = JSON | st.sampled_from(RIGHT)


def one_step(at: int) -> st.SearchStrategy[Any]:
    """Return a strategy of objects for the step at a position: right, or wrong in one of many ways."""
    step, (right, wrong) = STEPS[at], SPELLINGS[STEPS[at].function]
    found = {"step": st.just(step.function), "result": st.sampled_from([*right, *wrong])}
    return st.one_of(
        st.fixed_dictionaries(found),
        st.fixed_dictionaries({**found, "step": NAMES}),
        st.fixed_dictionaries({**found, "result": ANY_RESULT}),
        st.fixed_dictionaries({**found, "more": JSON}),
        JSON,
    )


ROWS = st.tuples(*map(one_step, range(len(STEPS)))).map(list)
AROUND = st.one_of(
    st.just(""), st.text('[]{}" ,:1a\\\n', max_size=12), st.sampled_from(["<think>", "</think>", "[1]", "[]", "```"])
)


@settings(
    max_examples=proof.size(20_000, most=250),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(rows=ROWS, less=st.integers(0, 3), more=st.lists(JSON, max_size=2), before=AROUND, after=AROUND)
def test_both_readers_score_the_same(
    script: ModuleType, rows: list[Any], less: int, more: list[Any], before: str, after: str
) -> None:
    site, ours = both(script, f"{before}{json.dumps([*rows[: len(rows) - less], *more])}{after}")
    assert ours == site


@settings(max_examples=proof.size(5000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text('[]{}":, 1eNa\\<think>/', max_size=60) | st.text(max_size=60))
def test_both_readers_score_the_same_for_any_text(script: ModuleType, text: str) -> None:
    site, ours = both(script, text)
    assert ours == site


@pytest.mark.parametrize("reply", [reply for reply, _ in NO_ARRAY], ids=range(len(NO_ARRAY)))
def test_both_readers_find_the_same_problems(script: ModuleType, reply: str) -> None:
    site, ours = both(script, reply)
    assert ours == site and ours.problem


def test_an_answer_is_not_taken_from_the_results_of_steps(script: ModuleType) -> None:
    for text, rest in (
        ('[{"result": "red"}] Answer: blue', "  Answer: blue"),
        ('a [1] b [x] c [{"a": NaN}] d', "a   b [x] c   d"),
        ("[1" * 50_000, "[1" * 50_000),
        ("[1]" * 50_000, " " * 50_000),
        ('["' + r"\a" * 2_000_000 + '"] Answer: blue', " Answer: blue"),
    ):
        assert script.without_arrays(text) == rest
