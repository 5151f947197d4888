"""Rewards: the answer alone earns one, and every known way to trick a reward earns nothing."""

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.environment import (
    EnvironmentItem,
    answer_reward,
    compute_score,
    create_dataset,
    score_answer,
    score_reply,
    score_with_steps,
)
from generation.engine.items import AnswerForm, AnswerKind
from generation.engine.replies.steps import LONGEST_STEPS
from tests import proof
from tests.engine.environment.specs import SMALL

NUMBERS = AnswerForm(AnswerKind.INTEGER, tuple(map(str, range(16))), {})
COLORS = AnswerForm(AnswerKind.VALUE, ("red", "blue", "light blue", "green"), {})
YES_NO = AnswerForm(AnswerKind.YES_NO, ("yes", "no"), {})
THINGS = AnswerForm(
    AnswerKind.SET, ("nothing", "apple", "milk", "apple,milk"), {}, parts=("apple", "milk"), empty="nothing"
)
PATHS = AnswerForm(AnswerKind.SEQUENCE, ("n,w", "w,n", "n,n", "w,w"), {}, parts=("n", "w"), length=2)


@pytest.mark.parametrize(
    ("reply", "answer", "form"),
    [
        ("3", "3", NUMBERS),
        (" 3.\n", "3", NUMBERS),
        ("Three", "3", NUMBERS),
        ("3.0", "3", NUMBERS),
        ("**3**", "3", NUMBERS),
        ("Answer: 3", "3", NUMBERS),
        ("The answer is 3.", "3", NUMBERS),
        ("There are 3 cubes.", "3", NUMBERS),
        ("There are 13 cubes and 2 are red.\n\\boxed{3}", "3", NUMBERS),
        ("\\boxed{\\text{red}}", "red", COLORS),
        ("Answer: 3\n\nThere are 2 cubes and 1 sphere.\n3", "3", NUMBERS),
        ("<think>13 or 4? No: 3.</think>3", "3", NUMBERS),
        ("<think>I see 4.</think>\n<answer>3</answer>", "3", NUMBERS),
        ("<reasoning>I see 4.</reasoning>\n<answer>3</answer>", "3", NUMBERS),
        ("<answer>3</answer> (three cubes)", "3", NUMBERS),
        ("It is $\\boxed{3}$.\nThere are 4 others.", "3", NUMBERS),
        ("<answer>\n light  blue \n</answer>", "light blue", COLORS),
        ("YES", "yes", YES_NO),
        ("milk and apple", "apple,milk", THINGS),
        ("[apple, milk]", "apple,milk", THINGS),
        ("[]", "nothing", THINGS),
        ("nothing", "nothing", THINGS),
        ("n then w", "n,w", PATHS),
    ],
)
def test_the_answer_alone_or_marked_earns_one(reply: str, answer: str, form: AnswerForm) -> None:
    assert score_reply(reply, answer, form) == 1.0


TRAPS = {
    "several answers": ("3 or 4", "3", NUMBERS),
    "all answers": (" or ".join(NUMBERS.choices), "3", NUMBERS),
    "A or B or C": ("red or blue or green", "red", COLORS),
    "several lines": ("3\n4\n5", "3", NUMBERS),
    "several marked": ("<answer>3, 4</answer>", "3", NUMBERS),
    "several marked lines": ("<answer>3\n4</answer>", "3", NUMBERS),
    "several lines after a mark": ("Answer:\n3\n4\n5", "3", NUMBERS),
    "another answer in a line after a mark": ("Answer: 3\nor\n**4**", "3", NUMBERS),
    "another answer after the tags": ("<answer>3</answer>\n4", "3", NUMBERS),
    "another answer after the tags in their line": ("<answer>3</answer> or 4", "3", NUMBERS),
    "another answer after a box in its line": ("It is $\\boxed{3}$ or $4$.", "3", NUMBERS),
    "two boxes for one answer": ("\\boxed{blue} or red, so \\boxed{red}, perhaps light blue", "red", COLORS),
    "another answer between the same ones": ("\\boxed{3}\n4\n3", "3", NUMBERS),
    "another answer between the same ones in lines": ("Answer:\n3\n4\n3", "3", NUMBERS),
    "another answer after a box with a macro": ("\\boxed{\\text{red}}\nblue", "red", COLORS),
    "the last mark counts": ("Answer: 3. Answer: 4", "3", NUMBERS),
    "yes and no": ("yes and no", "yes", YES_NO),
    "a sentence that contains the answer, but does not give it": ("The 3 cubes are red.", "3", NUMBERS),
    "a refusal that contains the answer": ("I can't say that it is red.", "red", COLORS),
    "a negation": ("Answer: not red", "red", COLORS),
    "a number that contains the answer": ("13", "3", NUMBERS),
    "a number that begins with the answer": ("30", "3", NUMBERS),
    "a fraction": ("3.5", "3", NUMBERS),
    "a number that would be rounded": ("2.6", "3", NUMBERS),
    "a negative number": ("-3", "3", NUMBERS),
    "an exponent": ("3e0", "3", NUMBERS),
    "a word that contains the answer": ("reddish", "red", COLORS),
    "a longer answer": ("light blue", "blue", COLORS),
    "a shorter answer": ("blue", "light blue", COLORS),
    "another answer": ("blue", "red", COLORS),
    "nothing": ("", "3", NUMBERS),
    "spaces": (" \n\t", "3", NUMBERS),
    "None": (None, "3", NUMBERS),
    "a thought without an end": ("<think>It is 3", "3", NUMBERS),
    "a reply before a thought without an end": ("3 <think>or", "3", NUMBERS),
    "a longer mark of a thought without an end": ("<thinking>It is 3", "3", NUMBERS),
    "an answer in a thought": ("<think>Answer: 3</think>", "3", NUMBERS),
    "a box without an end": ("\\boxed{1", "1", NUMBERS),
    "a tag without an end": ("<answer>1", "1", NUMBERS),
    "an empty box": ("\\boxed{}", "3", NUMBERS),
    "an empty tag": ("<answer></answer>", "3", NUMBERS),
    "some of a set": ("apple", "apple,milk", THINGS),
    "too much of a set": ("apple, milk", "apple", THINGS),
    "an element twice": ("apple, apple, milk", "apple,milk", THINGS),
    "another order of a sequence": ("w, n", "n,w", PATHS),
    "a longer sequence": ("n, w, n", "n,w", PATHS),
    "the failure of a request": ("[LMMS_EVAL_REQUEST_FAILED]", "red", COLORS),
    "bytes": (b"3", "3", NUMBERS),
    "a number that is no text": (3, "3", NUMBERS),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_earns_nothing(trap: str) -> None:
    reply, answer, form = TRAPS[trap]
    assert score_reply(reply, answer, form) == 0.0  # type: ignore[arg-type]


@pytest.mark.parametrize("form", [NUMBERS, COLORS, YES_NO, THINGS, PATHS])
def test_exactly_one_answer_of_a_form_is_right(form: AnswerForm) -> None:
    for answer in form.choices:
        for template in ("{}", "Answer: {}", "\\boxed{{{}}}", "<answer>{}</answer>"):
            scores = [score_reply(template.format(said), answer, form) for said in form.choices]
            assert scores == [float(said == answer) for said in form.choices]


@given(st.lists(st.sampled_from([*COLORS.choices, "or", ",", "not", "\n", "is"]), min_size=2, max_size=6))
@settings(max_examples=200)
def test_no_text_of_several_words_earns_a_reward_for_two_answers(words: list[str]) -> None:
    reply = " ".join(words)
    assert sum(score_reply(reply, answer, COLORS) for answer in COLORS.choices) <= 1.0


@given(st.text(max_size=80))
@settings(max_examples=300)
def test_any_text_is_scored(text: str) -> None:
    assert score_reply(text, "3", NUMBERS) in (0.0, 1.0)


@pytest.mark.parametrize(
    "unit", ["answer is ", "<think>", "<answer>", "\\boxed{", "3 or ", "{" * 50, "<think></think>", "Answer: 3\n4\n"]
)
def test_a_long_reply_is_scored_within_seconds(unit: str) -> None:
    length = proof.size(LONGEST_STEPS, least=LONGEST_STEPS // 5)
    start = time.process_time()
    assert score_reply(unit * (length // len(unit)), "3", NUMBERS) == 0.0
    assert score_reply(unit * (10_000_000 // len(unit)), "3", NUMBERS) == 0.0
    assert time.process_time() - start < 5


def test_a_reply_of_too_many_characters_earns_nothing() -> None:
    one = create_dataset(SMALL["simtown"], seed=3)[0]
    whole = reply_with_steps(one, right=len(one.steps), answer=one.answer)
    for reply in (one.answer, whole):
        longest = reply.rjust(LONGEST_STEPS)
        assert score_with_steps(longest, one) > 0.0
        assert score_with_steps(f" {longest}", one) == score_answer(f" {longest}", one) == 0.0


@pytest.mark.parametrize("name", SMALL)
def test_each_answer_of_each_world_earns_one_and_no_other(name: str) -> None:
    for one in create_dataset(SMALL[name], seed=3)[:40]:
        assert score_answer(one.answer, one) == 1.0
        assert score_answer(one.answer, one, is_cut=True) == 0.0
        assert score_answer(one.prompt, one) == 0.0
        assert score_answer(" ".join(one.choices[:3]), one) == 0.0 or len(one.choices) == 1
        assert sum(score_answer(said, one) for said in one.choices) == 1.0


# Steps


def reply_with_steps(one: EnvironmentItem, *, right: int, answer: str) -> str:
    """Return a reply whose first `right` steps are right, and the others wrong."""
    given = [
        {"step": step.function, "result": step.result if at < right else "no such result"}
        for at, step in enumerate(one.steps)
    ]
    return f"{json.dumps(given)}\nAnswer: {answer}"


@pytest.mark.parametrize("name", SMALL)
def test_the_reward_of_steps_is_the_share_of_right_ones(name: str) -> None:
    for one in create_dataset(SMALL[name], seed=3)[: proof.size(12, least=5)]:
        n = len(one.steps)
        assert n == len(one.program or ())
        for right in range(n + 1):
            for answer, earned in ((one.answer, 1.0), ("no such answer", 0.0)):
                reply = reply_with_steps(one, right=right, answer=answer)
                assert score_with_steps(reply, one) == pytest.approx(earned / 2 + right / n / 2)
                assert score_with_steps(reply, one, weight=0.0) == earned
                assert score_with_steps(reply, one, weight=1.0) == pytest.approx(right / n)
                assert score_with_steps(reply, one, is_cut=True) == 0.0


def test_the_prompt_with_steps_asks_for_them_and_tells_no_result() -> None:
    one = create_dataset(SMALL["clevr"], seed=3)[0]
    assert one.prompt_with_steps.startswith(one.prompt)
    assert one.prompt_with_steps.count('"result": ...') == 2
    assert all(f" {step.function}(" in one.prompt_with_steps for step in one.steps)


def test_steps_without_a_reply_or_after_a_cut_thought_earn_nothing() -> None:
    one = create_dataset(SMALL["clevr"], seed=3)[0]
    whole = reply_with_steps(one, right=len(one.steps), answer=one.answer)
    for reply in (None, "", f"{whole}<think>", "[]"):
        assert score_with_steps(reply, one) == 0.0


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_a_weight_outside_0_to_1_is_refused(weight: float) -> None:
    one = create_dataset(SMALL["simtown"], seed=3)[0]
    with pytest.raises(ValueError, match="Expected a weight from 0 to 1"):
        score_with_steps("yes", one, weight=weight)


# Reward functions of other projects


def chat(text: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text}]


def test_rewards_of_trl_read_texts_and_chat_messages() -> None:
    form = NUMBERS.to_json()
    parts = [{"role": "assistant", "content": [{"type": "text", "text": "Answer: "}, {"type": "text", "text": "3"}]}]
    completions = ["3", chat("\\boxed{3}"), chat("13"), parts, [], [{"role": "assistant", "content": None}], 7]
    rewards = answer_reward(completions, ["3"] * 7, answer_form=[form] * 7, prompts=["?"] * 7, image=[None] * 7)
    assert rewards == [1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]


def test_rewards_without_forms_know_the_solution_alone() -> None:
    assert answer_reward(["three", "4", "Red."], ["3", "3", "red"]) == [1.0, 0.0, 1.0]
    assert answer_reward(["three", "4"], ["3", "3"], answer_form=[None, NUMBERS.to_json()]) == [1.0, 0.0]


def test_rewards_need_as_many_solutions_as_completions() -> None:
    with pytest.raises(ValueError, match="zip"):
        answer_reward(["3", "4"], ["3"])


def test_verls_score_reads_the_form_of_the_answer() -> None:
    info = {"answer_form": THINGS.to_json()}
    assert compute_score("horsesense", "milk, apple", "apple,milk", info) == 1.0
    assert compute_score("horsesense", "milk", "apple,milk", info) == 0.0
    assert compute_score("horsesense", "3", "3") == 1.0


@pytest.mark.parametrize("form", [NUMBERS, COLORS, YES_NO, THINGS, PATHS])
def test_a_form_as_json_reads_replies_as_before(form: AnswerForm) -> None:
    again = AnswerForm.from_json(form.to_json())
    for answer in form.choices:
        assert [score_reply(said, answer, again) for said in form.choices] == [
            float(said == answer) for said in form.choices
        ]
