"""What follows an answer: remarks leave it as it is, and everything else makes the reply unreadable."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.replies.remarks import leaves_answer
from generation.engine.replies.thoughts import is_in_thought, split_thoughts
from tests.engine.replies.worlds import reader_of

ASKED = [("query_color", "red"), ("query_shape", "cube"), ("count", "three"), ("exist", "yes"), ("exist", "no")]
SHAPES = ["{}. {}", "**{}**. {}", "{}\n\n{}", "Answer: {}. {}", "Answer: {}\n{}", "\\boxed{{{}}}. {}"]
SHAPES += ["<answer>{}</answer> {}", "The answer is {}. {}"]
REMARKS = ["", "The ball behind it is metal.", "I am sure.", "It is easy to see.", "There is nothing like it behind."]
REMARKS += ["Explanation: it stands behind the ball.", "Confidence: high.", "Visible features: flat faces."]
TAKEN_BACK = ["Just kidding.", "I lied.", "That was a joke.", "Scratch that.", "Psych!", "Gotcha!", "Fooled you."]
TAKEN_BACK += ["A wild guess.", "This is just a placeholder.", "Not really.", "As if!", "Beats me.", "lol"]


@pytest.mark.parametrize(("kind", "answer"), ASKED)
@pytest.mark.parametrize(("shape", "remark"), list(product(SHAPES, REMARKS)))
def test_a_remark_leaves_an_answer_as_it_is(kind: str, answer: str, shape: str, remark: str) -> None:
    assert reader_of("clevr").read(shape.format(answer, remark), kind) == answer.replace("three", "3")


@pytest.mark.parametrize(("kind", "answer"), ASKED)
@pytest.mark.parametrize(("shape", "end"), list(product(SHAPES, TAKEN_BACK)))
def test_an_answer_is_lost_if_it_is_taken_back(kind: str, answer: str, shape: str, end: str) -> None:
    assert reader_of("clevr").read(shape.format(answer, end), kind) is None


@given(st.sampled_from(ASKED), st.sampled_from(SHAPES), st.text("bdghjklmpqvwxz", min_size=4, max_size=12))
def test_an_unknown_word_after_an_answer_is_no_remark(asked: tuple[str, str], shape: str, word: str) -> None:
    assert not leaves_answer(word)
    assert reader_of("clevr").read(shape.format(asked[1], word), asked[0]) is None


@pytest.mark.parametrize("aside", ["wrong", "just kidding", "not really", "placeholder", "joke", "unverified", "x"])
def test_an_aside_takes_an_answer_back(aside: str) -> None:
    clevr = reader_of("clevr")
    for text in (f"red ({aside})", f"Answer: red ({aside})", f"Answer ({aside}): red", f"It is red ({aside})."):
        assert clevr.read(text, "query_color") is None, text


@pytest.mark.parametrize("aside", ["the cube", "behind the ball", "metal", "see the left side", "line 3", "I am sure"])
def test_an_aside_leaves_an_answer_as_it_is(aside: str) -> None:
    for text in (f"red ({aside})", f"Answer: red ({aside})"):
        assert reader_of("clevr").read(text, "query_color") == "red", text


@pytest.mark.parametrize("sign", ["❌", "✗", "✘", "🚫", "⛔", "👎", "🤷", "🤔", "❓"])
def test_a_cross_or_a_doubt_beside_an_answer_is_no_answer(sign: str) -> None:
    clevr = reader_of("clevr")
    for text in (f"red {sign}", f"{sign} red", f"Answer: red {sign}", f"It is red {sign}"):
        assert clevr.read(text, "query_color") is None, text
    assert clevr.read(f"yes {sign}", "exist") is None


@pytest.mark.parametrize("sign", ["!", "!=", "≠", "¬", "~"])
def test_a_sign_for_not_denies(sign: str) -> None:
    for text in (f"{sign}red", f"Answer: {sign}red", f"It is {sign}red"):
        assert reader_of("clevr").read(text, "query_color") is None, text


@pytest.mark.parametrize(
    ("kind", "reply", "answer"),
    [
        ("exist", "❌ No", "no"),
        ("exist", "No 🚫", "no"),
        ("query_color", "~~blue~~ red", "red"),
        ("query_color", "<del>blue</del> red", "red"),
        ("query_color", "~~red~~", None),
        ("count", "~3", "3"),
        ("query_color", "red 😀", "red"),
        ("query_color", "- blue ❌\n- red ✅\n\nAnswer: red", "red"),
        # fields of JSON and tags
        ("query_color", '{"reasoning": "It is left.", "color": "red"}', "red"),
        ("query_color", '{"color": "red", "shape": "cube"}', None),
        ("query_color", '{"color": "red", "object": "the cube", "other": 1}', None),
        ("count", '{"count": 3, "unit": "cubes"}', "3"),
        ("count", '{"size": 3, "unit": "MB"}', None),
        ("exist", '{"exists": false, "confidence": 0.9}', "no"),
        ("exist", '{"exists": null}', None),
        ("query_color", "<color>red</color>", "red"),
        ("query_color", "<color>red</color><color>blue</color>", None),
        ("count", "<count>3</count>", "3"),
        ("count", "<size>3</size>", None),
        # numbers for several answers, of parts, and of what is no picture
        ("exist", "yes: 0.5, no: 0.5", None),
        ("query_color", "red: 0.6, blue: 0.4", None),
        ("count", "4 in each row", None),
        ("count", "There are 3 on each side.", None),
        ("count", "4:3 aspect ratio", None),
        ("count", "I count 3 so far", None),
        ("count", "this one", None),
        ("count", "CLEVR has 3 shapes.", None),
        ("count", "3 objects are made of metal.", "3"),
        ("count", "Just one object.", "1"),
        ("count", "3 cubes are red and 2 are blue.", None),
        ("count", "The 3 cubes are red.", None),
        # a number with a stop is a count before remarks, and no count before steps
        ("count", "0. There are none.", "0"),
        ("count", "5. The objects are: red cube, blue cube", "5"),
        ("count", "3. The number of balls is 2.", None),
        ("count", "3. Two of them are red.", None),
        ("count", "2. Count the spheres.", None),
        ("count", "1. The cube is blue.", None),
        ("count", "3. The cylinder is green.", None),
        ("count", "2. It is necessary to find the cube.", None),
        ("count", "2 objects are large, but I can't see the rest.", None),
        # the sentence after an answer contradicts it, or says that it is a guess
        ("query_color", "Red. It's blue.", None),
        ("query_color", "Red. The other one is blue.", "red"),
        ("query_color", "Red. It's not red.", None),
        ("query_color", "Red. The cube is not blue.", "red"),
        ("query_color", "Red\nOther option: blue", None),
        ("query_color", "Red\nValid: no", None),
        ("query_color", "Red\nConfidence: 0.9", "red"),
        ("query_color", "Red\nConfidence: 0", None),
        ("query_color", '{"color": "red", "comment": "a guess"}', None),
        ("query_color", '{"color": "red", "confidence": 0}', None),
        ("query_color", "Red is the color of the cube.", "red"),
        ("query_color", "Red is the color of the", None),
        ("query_color", "Its color is brown.\n\n(The other cube is green.)", "brown"),
        ("query_color", "Its color is brown.\n\n(Just kidding.)", None),
        ("query_color", "red is the color of the other cube, not this one", None),
        ("count", "Step 1. There are 3 cubes.", None),
        ("count", "Step 1: 3 cubes. Step 2: 2 spheres. Total = 5.", "5"),
        ("count", "There are 10 objects in the image. Let me find the metal ones.", None),
        ("query_color", "Judging from the image: blue.", "blue"),
        ("count", "2. The sphere is red.\n3. The cube is red.", None),
        # a line with the answer alone is enough, also if a remark breaks off
        ("query_color", "red\n\nExplanation: it is left of the cube", "red"),
        ("query_color", "red\n\nWait, the other", None),
        ("query_color", "The cube is left. It is red and", None),
        # words that deny, and examples
        ("query_color", "Nothing is red.", None),
        ("query_color", "e.g. Answer: red", None),
        ("query_color", "Ex.: Answer: red", None),
        ("query_color", "red. Or blue?", None),
        ("exist", "No, because I can't see anything.", None),
        ("exist", "No, I can't see anything metal.", "no"),
        ("exist", "Yes, I am an AI.", None),
        ("exist", "No, I don't think so.", "no"),
        ("exist", "No, I don't think that it is.", None),
        ("exist", "Yes, I am sure.", "yes"),
    ],
)
def test_replies_are_read_by_what_stands_beside_the_answer(kind: str, reply: str, answer: str | None) -> None:
    assert reader_of("clevr").read(reply, kind) == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("The caption fits the picture.", "yes"),
        ("Yes, this caption fits.", "yes"),
        ("No, this caption doesn't fit the picture.", "no"),
        ("The caption fits the picture: yes.", "yes"),
        ("The caption fits the picture only partly.", None),
        ("The caption fits another picture.", None),
    ],
)
def test_a_caption_fits_or_does_not(reply: str, answer: str | None) -> None:
    assert reader_of("shapeworld").read(reply, "existential") == answer


@pytest.mark.parametrize(
    ("reply", "said", "is_open"),
    [
        ("analysisIt is red.assistantfinalblue", "blue", False),
        ("analysisIt is red!assistantfinalblue", "blue", False),
        ("analysisIt is red.", "", True),
        ("assistantanalysisIt is red.", "", True),
        ("Thinking...\nIt is red.\n...done thinking.\n\nblue", "blue", False),
        ("analysis: red", "analysis: red", False),
    ],
)
def test_thoughts_whose_marks_were_left_out_are_found(reply: str, said: str, is_open: bool) -> None:
    assert (split_thoughts(reply).said.strip(), is_in_thought(reply)) == (said, is_open)
