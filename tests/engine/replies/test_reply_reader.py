"""Answers are read from free text: examples of replies of models, and the rules for reading them."""

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.replies.reply_reader import ReplyReader
from generation.engine.replies.thoughts import split_thoughts, without_thoughts
from generation.engine.replies.vocabulary import OUTSIDE, AnswerVocabulary
from tests import proof
from tests.engine.predictions.asked import ADMITTED, KINDS, VOCABULARY

READER = ReplyReader(AnswerVocabulary(VOCABULARY), ADMITTED)

REPLIES: list[tuple[str, str, str | None]] = [
    # a plain answer or a sentence
    ("exist", "Yes.", "yes"),
    ("exist", "Yes, there is a small metal sphere behind the cube.", "yes"),
    ("exist", "**No**", "no"),
    ("exist", "no, I can't find any", "no"),
    ("exist", "There is no such object, so: no", "no"),
    ("exist", "Indeed, there are several.", None),
    ("exist", "Yes and no, depending on what counts as large.", None),
    ("exist", "I am not able to see the image.", None),
    ("exist", "", None),
    ("exist", "Nothing of the kind is known.", None),
    ("color", "The sphere is red.", "red"),
    ("color", "It looks _red_ to me", "red"),
    ("color", "Red!", "red"),
    ("color", "The big cube has a light blue surface.", "light blue"),
    ("color", "It is Light  Blue.", "light blue"),
    ("color", "Either red or blue.", None),
    ("color", "The object left of the red cube is blue.", "blue"),
    ("color", "reddish", None),
    ("color", "a red-coloured ball", "red"),
    ("color", "I'd call it the cube's colour: blue", "blue"),
    ("shape", "A red cube", "cube"),
    ("shape", "It's a *sphere*, about as large as the two others", "sphere"),
    ("shape", "cubes", None),
    ("shape", "sphere-shaped", "sphere"),
    ("shape", "The sphere, not the cube.", "sphere"),
    ("count", "There are three.", "3"),
    ("count", "I count 4 of them", "4"),
    ("count", "4.0", "4"),
    ("count", "Exactly 10 objects are visible in this picture.", "10"),
    ("count", "2 cubes and 1 sphere", None),
    ("count", "about 2.5", None),
    ("count", "twenty", None),
    ("count", "One, two, three.", None),
    ("count", "Zero", "0"),
    # an answer after a negation or comparison is not given
    ("color", "It is not red.", None),
    ("color", "It isn’t a red cube", None),
    ("color", "I don't think it is red.", None),
    ("color", "**Not** red", None),
    ("color", "non-red", None),
    ("color", "a colour other than light blue", None),
    ("color", "I am not sure, but red", "red"),
    ("color", "No - it's blue", "blue"),
    ("color", "Red is not right.", None),
    ("color", "“Red” isn’t the correct answer", None),
    ("count", "4 can't be right", None),
    ("exist", "Yes would be wrong.", None),
    ("exist", "No, it is not possible.", "no"),
    ("color", "The first guess is wrong; it is blue.", "blue"),
    ("shape", "It is a cube. The cube is not metal.", "cube"),
    ("count", "The answer is not 3.", None),
    ("count", "There are more than 3 cubes", None),
    ("count", "At least two.", None),
    ("count", "None of the 4 is red", None),
    ("count", "There are 3 that are not red", "3"),
    ("shape", "It can't be a sphere", None),
    ("exist", "There isn't one so no", "no"),
    ("exist", "No, not yes", "no"),
    # nor is "no" in a phrase that says that there is no answer
    ("exist", "There is no image attached.", None),
    ("exist", "I have no idea.", None),
    ("exist", "I can't answer: no picture was sent", None),
    ("exist", "No doubt: yes", "yes"),
    ("exist", "There is no image of a cube, so: no", "no"),
    ("color", "No idea whether it is red", None),
    # a number beside a number that is no answer is not given either
    ("count", "3 or 12", None),
    ("count", "Between 9 and 11", None),
    ("count", "3 of the 15 objects", None),
    ("count", "twenty-three", None),
    ("count", "One hundred and fifty", None),
    ("count", "-3", None),
    ("count", "Answer: −2", None),
    ("count", "about .5", None),
    ("count", "1 000", None),
    ("count", "< 5", None),
    ("count", "3 ３", "3"),
    ("count", "Let me see...3", "3"),
    ("count", "I see 4.0 cubes", "4"),
    ("exist", "No, I see 12 others", "no"),
    # the last marked answer counts
    ("count", "There are 2 cubes and 1 sphere. Answer: 3", "3"),
    ("count", "ANSWER : five", "5"),
    ("count", "**Answer:** 7", "7"),
    ("count", "**Final answer**: 7.", "7"),
    ("count", "Answer: 1\nLet me look again, I missed one.\nAnswer: 2", "2"),
    ("count", "Answer: 6\n\nExplanation: 2 on the left and 4 on the right.", "6"),
    ("count", "Answer:\n\n  9\n", "9"),
    ("count", "I see 2 of 5, so the answer is 2.", "2"),
    ("count", "The final answer is: **4**", "4"),
    ("color", "The answer is the colour of the cube, which is red.", "red"),
    ("exist", "Reasoning: no sphere is left.\nanswer: NO", "no"),
    ("exist", "Answer: True", "yes"),
    ("exist", "Short answer: yes, though it is hard to see.", "yes"),
    ("color", "Answer: red. Blue is behind it.", "red"),
    ("color", "My answer: `blue`", "blue"),
    ("shape", "The answer: unknown, but there is a cube", None),
    ("shape", "Answer: it can't be told", None),
    # answers in tags, as models trained by reinforcement give them
    ("count", "<think>2 or 3</think><answer>3</answer>", "3"),
    ("count", "There are 2 and 1.\n<ANSWER>\n 3.\n</ANSWER> So 2 was wrong.", "3"),
    ("count", "<answer>The answer is 3</answer>", "3"),
    ("count", "<answer>2, 3</answer>", None),
    ("count", "<answer>2\n3</answer>", None),
    ("exist", "<answer>no", "no"),
    ("exist", "<answer></answer> no", None),
    # boxed answers, as in mathematics
    ("count", r"There are $2 + 1 = 3$, hence $\boxed{3}$.", "3"),
    ("count", r"\boxed{1} was wrong; \boxed{2}", "2"),
    ("color", r"The final answer is $\boxed{\text{red}}$", "red"),
    ("color", r"\boxed{\textbf{Light Blue}}", "light blue"),
    ("exist", r"Answer: \boxed{yes}", "yes"),
    ("exist", r"\boxed{no", "no"),
    # thoughts are ignored
    ("count", "<think>I see 4, no, 5 of them. Answer: 4</think>5", "5"),
    ("count", "<think>There are two red ones.</think>\n\nThere are three.", "3"),
    ("exist", "Is there one? yes... wait. </think> No.", "no"),
    ("exist", "<think>yes, yes, it has to be yes", None),
    ("color", "<think>a</think>The ball<think>b, red</think> is blue.", "blue"),
    ("color", "<think>Answer: red</think>I don't know.", None),
    ("color", "<thinking>Red? No.</thinking> It is blue.", "blue"),
    ("color", "<Reasoning>\nred\n</Reasoning>\n<answer>blue</answer>", "blue"),
    ("color", "<thought>It has to be red", None),
]


def test_there_are_sixty_replies() -> None:
    assert len({text for _, text, _ in REPLIES}) >= 60


@pytest.mark.parametrize(("kind", "text", "answer"), REPLIES)
def test_replies_are_read_by_the_rules(kind: str, text: str, answer: str | None) -> None:
    code = READER.code(text, list(KINDS).index(kind))
    assert (VOCABULARY[code] if code != OUTSIDE else None) == answer


PIECES = ["a", "red", "Blue", "light", "light blue", "three", "3", "cubes", ",", "blues"]


@settings(max_examples=proof.size(2000), deadline=None)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=6))
def test_an_answer_is_read_if_the_words_name_exactly_one_of_its_kind(pieces: list[str]) -> None:
    words = " ".join(pieces).casefold().split()
    named = set()
    while words:
        word = words.pop(0)
        if word == "light" and words[:1] == ["blue"]:
            word = f"light {words.pop(0)}"
        named |= {word} & set(KINDS["color"])
    code = READER.code(" ".join(pieces), list(KINDS).index("color"))
    assert (VOCABULARY[code] if code != OUTSIDE else None) == (min(named) if len(named) == 1 else None)


OPENS = ["<think>", "<thinking>", "<thought>", "<Thoughts>", "<reasoning>"]
CLOSES = [f"</{mark[1:]}" for mark in OPENS]


@settings(max_examples=proof.size(2000), deadline=None)
@given(text=st.lists(st.sampled_from([*OPENS, *CLOSES, "a", "b", "<thin", "<", "/"])).map("".join))
def test_thoughts_are_split_off_as_a_slow_twin_splits_them_off(text: str) -> None:
    kept, at, is_thought, start = "", 0, False, 0
    thoughts = [""]
    while at < len(text):
        opened = next((mark for mark in OPENS if text.startswith(mark, at)), "")
        closed = next((mark for mark in CLOSES if text.startswith(mark, at)), "")
        if opened:
            is_thought, at = True, at + len(opened)
        elif closed:
            if not is_thought:
                kept, thoughts[-1] = kept[:start], kept[start:]
            thoughts.append("")
            is_thought, start, at = False, len(kept), at + len(closed)
        elif is_thought:
            thoughts[-1], at = thoughts[-1] + text[at], at + 1
        else:
            kept, at = kept + text[at], at + 1
    assert without_thoughts(text) == kept
    assert list(split_thoughts(text).thoughts) == (thoughts if is_thought else thoughts[:-1])


@pytest.mark.parametrize(
    "text",
    [
        *(
            "<think>",
            "</think>",
            "<answer>",
            "</answer>",
            "answer: ",
            r"\boxed{",
            "{",
            "red ",
            "a-",
            "1.",
            "*",
            "answer",
        ),
        "a is ",
    ],
)
def test_the_time_for_long_texts_grows_with_their_length(text: str) -> None:
    said = text * (proof.size(1_000_000, least=250_000) // len(text))
    begun = process_time()
    READER.code(said, 1)
    assert process_time() - begun < 5


@pytest.mark.parametrize(
    ("answers", "said", "meant"),
    [
        (("yes", "no"), "1", "yes"),
        (("yes", "no"), " 0 ", "no"),
        (("yes", "no"), "1.0", "yes"),
        (("no", "yes"), "1", "yes"),
        (("yes", "no", "2"), "1", None),
        (("yes", "no", "0", "1"), "1", "1"),
        (("yes", "no", "one"), "1", "one"),
        (("red", "blue"), "1", None),
        (("yes", "no"), "one", None),
    ],
)
def test_bits_are_read_as_yes_and_no_if_no_answer_is_a_number(answers: tuple[str, ...], said: str, meant: str | None):
    code = AnswerVocabulary(answers).code(said)
    assert (answers[code] if code != OUTSIDE else None) == meant


@pytest.mark.parametrize(("said", "meant"), [("Answer: 1", 0), ("No, there is only 1.", 1), ("There is 1.", OUTSIDE)])
def test_bits_are_read_only_as_a_whole_answer(said: str, meant: int):
    assert ReplyReader(AnswerVocabulary(("yes", "no")), [(0, 1)]).code(said, 0) == meant
