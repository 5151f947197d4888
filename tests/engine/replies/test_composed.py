"""Answers of several parts: sets in any order, sequences in fixed order, with any separator between the parts."""

import io
import json
import re
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.items import AnswerForm, AnswerKind
from generation.engine.predictions import ExpectedAnswers, read_predictions
from generation.engine.replies.reply_reader import ReplyReader
from generation.engine.replies.vocabulary import OUTSIDE, AnswerVocabulary
from tests import proof
from tests.worlds.baskets import EMPTY, FRUIT, NUMBERS, SETS

LETTERS = ("n", "e", "s", "w")
PATHS = tuple(f"{one},{other}" for one in LETTERS for other in LETTERS if one != other)
ANSWERS = (*SETS, *PATHS, *NUMBERS)
FORMS = (
    AnswerForm(AnswerKind.SET, SETS, {}, parts=FRUIT, empty=EMPTY),
    AnswerForm(AnswerKind.SEQUENCE, PATHS, {}, parts=LETTERS, length=2),
    AnswerForm(AnswerKind.WORD, (*FRUIT, *NUMBERS), {}),
)
VOCABULARY = AnswerVocabulary(ANSWERS, [form.composed for form in FORMS])
ADMITTED = tuple(tuple(ANSWERS.index(answer) for answer in form.choices) for form in FORMS)
READER = ReplyReader(VOCABULARY, ADMITTED)
JOINTS = (",", ", ", " ", "  ", " and ", ", and ", ";", "; ", " & ", " then ", " -> ", "\n")
AROUND = ("{}", "[{}]", "({})", "{{{}}}", " {} ", "[ {} ]")
QUOTES = ("{}", '"{}"', "'{}'")


def test_the_word_of_the_prompt_is_the_empty_set_in_every_language() -> None:
    form = AnswerForm(AnswerKind.SET, ("khaali", "seb", "doodh,seb"), {}, parts=("seb", "doodh"), empty="khaali")
    vocabulary = AnswerVocabulary(form.choices, [form.composed])
    for said in ("nothing", "Nothing", '"nothing"', "[nothing]", "[]", "khaali"):
        assert vocabulary.code(said) == 0, said
    for said in ("nothing, seb", "nothing at all", ""):
        assert vocabulary.code(said) == OUTSIDE, said
    form = form._replace(choices=("khaali", "nothing", "nothing,seb"), parts=("nothing", "seb"))
    assert AnswerVocabulary(form.choices, [form.composed]).code("[nothing]") == 1  # here it is a part


def code_by_twin(said: str) -> int:
    """Return the code of the answer that a text means, found from its words only."""
    words = [word for word in re.split(r"[^\w]+", said.lower()) if word not in ("", "and", "then")]
    if not words:
        return ANSWERS.index(EMPTY) if re.fullmatch(r"\s*(\[\s*\]|\(\s*\)|\{\s*\})\s*", said) else OUTSIDE
    if len(words) == 1 and words[0] in (*NUMBERS, EMPTY):
        return ANSWERS.index(words[0])
    answers = (",".join(words), *(",".join(order) for order in permutations(words) if set(order) <= set(FRUIT)))
    return next((ANSWERS.index(answer) for answer in answers if answer in ANSWERS), OUTSIDE)


@st.composite
def texts(draw: st.DrawFn) -> str:
    words = draw(st.lists(st.sampled_from((*FRUIT, *LETTERS, EMPTY, "plum")), min_size=0, max_size=3))
    quote = draw(st.sampled_from(QUOTES))
    said = "".join(
        quote.format(word.upper() if draw(st.booleans()) else word) + draw(st.sampled_from(JOINTS))
        for word in words[:-1]
    ) + "".join(quote.format(word) for word in words[-1:])
    return draw(st.sampled_from(AROUND)).format(said)


@settings(max_examples=proof.size(3000), deadline=None)
@given(said=texts())
def test_an_answer_of_several_parts_is_read_as_its_twin_reads_it(said: str) -> None:
    assert VOCABULARY.code(said) == code_by_twin(said)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("pear, apple", "apple,pear"),
        ("fig and apple", "apple,fig"),
        ("Pear, fig, and apple", "apple,fig,pear"),
        ('["pear", "apple"]', "apple,pear"),
        ("[]", EMPTY),
        ("nothing", EMPTY),
        ("apple, apple", None),
        ("apple, plum", None),
        ("apple, nothing", None),
        ("applepear", None),
        ("n w", "n,w"),
        ("w, n", "w,n"),
        ("w then n", "w,n"),
        ("n", None),
        ("n,w,n", None),
    ],
)
def test_plain_examples(said: str, meant: str | None) -> None:
    assert VOCABULARY.code(said) == (OUTSIDE if meant is None else ANSWERS.index(meant))


@pytest.mark.parametrize(
    ("kind", "said", "meant"),
    [
        (0, "Ada has the pear and the apple.", "apple,pear"),
        (0, "Answer: the fig", "fig"),
        (0, "Answer: fig, pear", "fig,pear"),
        (0, "She carries nothing.", EMPTY),
        (0, "Nothing but the fig.", None),
        (0, "She has the fig but not the apple.", "fig"),
        (1, "Answer: s, w", "s,w"),
        (1, "First s,w.", "s,w"),
        (2, "The apple or the pear.", None),
    ],
)
def test_an_answer_of_several_parts_is_found_in_a_reply(kind: int, said: str, meant: str | None) -> None:
    assert READER.code(said, kind) == (OUTSIDE if meant is None else ANSWERS.index(meant))


@pytest.mark.parametrize("is_object", [True, False])
def test_json_lists_are_read_as_answers_of_several_parts(is_object: bool) -> None:
    said = [["pear", "apple"], ["w", "n"], [], "three"]
    expected = ExpectedAnswers("x", 4, ANSWERS, None, np.array([0, 1, 0, 2], np.uint8), ADMITTED, FORMS)
    rows = [{"question_id": number, "answer": one} for number, one in enumerate(said)]
    text = json.dumps(dict(enumerate(said))) if is_object else "".join(json.dumps(row) + "\n" for row in rows)
    found = read_predictions(io.BytesIO(text.encode()), expected)
    assert [ANSWERS[code] for code in found.codes] == ["apple,pear", "w,n", EMPTY, "three"]


@pytest.mark.parametrize("said", [[], [[]], [None], None])
def test_a_row_of_lmms_eval_without_a_reply_is_not_the_empty_set(said: Any) -> None:
    expected = ExpectedAnswers("x", 2, ANSWERS, None, np.array([0, 0], np.uint8), ADMITTED, FORMS)
    rows = [{"doc_id": number, "filtered_resps": one} for number, one in enumerate([["nothing"], said])]
    found = read_predictions(io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode()), expected)
    assert ANSWERS[found.codes[0]] == EMPTY and found.codes[1] == found.read[1] == OUTSIDE and found.outside[1] == ""


@settings(max_examples=proof.size(500), deadline=None)
@given(said=st.text(alphabet="aplefigr ,[]\"'nsew&;->", max_size=120))
def test_any_text_gives_a_valid_code(said: str) -> None:
    assert OUTSIDE <= VOCABULARY.code(said) < len(ANSWERS)


MARKED = ("{}", "Answer: {}", "**{}**", "The answer is {}.", "\\boxed{{{}}}", "<answer>{}</answer>", "Answer: {}.",
          "{}.", "Final answer: {}\n\nI looked closely.", '{{"answer": "{}"}}')  # fmt: skip
COMMAS = (", ", ",", " and ", ", and ", "; ", " & ", "/", " + ")
STRANGERS = ("cake", "key", "the cake", "a key", "blue mug", "an old lamp", "north", "up", "x")


@settings(max_examples=proof.size(4000), deadline=None)
@given(data=st.data())
def test_a_list_with_a_part_that_is_not_known_is_no_answer(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from((0, 1)))
    known = data.draw(st.lists(st.sampled_from((FRUIT, LETTERS)[kind]), min_size=1, max_size=3, unique=True))
    at = data.draw(st.integers(0, len(known)))
    stranger = data.draw(st.sampled_from([one for one in STRANGERS if kind == 0 or one != "north"]))
    comma, mark = data.draw(st.sampled_from(COMMAS)), data.draw(st.sampled_from(MARKED))
    said = mark.format(comma.join([*known[:at], stranger, *known[at:]]))
    assert READER.code(said, kind) == OUTSIDE, said


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Answer: apple, fig, cake", None),
        ("Answer: cake, apple", None),
        ("apple (and fig)", None),
        ("Answer: apple (also a key)", None),
        ("Answer: ['apple', 'fig', 'cake']", None),
        ('{"answer": ["apple", "cake"]}', None),
        ("Answer: apple, fig and a key", None),
        ("Answer:\n- apple\n- milk", None),
        ("### Answer\n- apple\n- milk", None),
        ("Answer: apple\nmilk", None),
        ("Final answer:\n* apple\n* the milk", None),
        ("Mary is carrying:\n1. The milk\n2. The apple", None),
        ("Mary is carrying the following items:\n- The apple\n- The football", None),
        ("Answer: apple, fig\n\nI followed each step of the story.", "apple,fig"),
        ("Answer: apple, glass of milk", None),
        ("apple, the big red football", None),
        ("apple (dropped), fig", None),
        ("apple, fig (no longer)", None),
        ("apple, fig and so on", None),
        ("apple – milk", None),
        ("apple with cake", None),
        ("She has the apple as well as a cake.", None),
        ("Mary carries the apple. She also carries a cake.", None),
        ("Apple. She has a key, too.", None),
        ("Answer: apple. She also has a key.", None),
        ("Answer: apple, fig, too", "apple,fig"),
        ("Answer: apple and fig, I think.", "apple,fig"),
        ("Answer: apple and fig, because she took both", "apple,fig"),
        ("Answer: the apple and the fig", "apple,fig"),
        ("Answer: apple, not fig", "apple"),
        ("So, apple and fig.", "apple,fig"),
        ("Answer: apple, fig (she took both)", "apple,fig"),
    ],
)
def test_parts_that_are_not_known(said: str, meant: str | None) -> None:
    code = READER.code(said, 0)
    assert (None if code == OUTSIDE else ANSWERS[code]) == meant
