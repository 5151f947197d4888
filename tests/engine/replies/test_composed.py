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
COMPASS = {"north": "n", "south": "s", "east": "e", "west": "w"}
VOCABULARY = AnswerVocabulary(ANSWERS, [form.composed for form in FORMS], synonyms=COMPASS)
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
        (0, "Nothing but the fig.", "fig"),
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


@pytest.mark.parametrize(
    ("kind", "said", "meant"),
    [
        (0, "Mary has the apple. She has the milk.", None),
        (0, "milk\napple", None),
        (0, "apple (yes), fig (no)", None),
        (0, "apple: no, fig: yes", None),
        (0, "apple ✓, fig ✗", None),
        (0, "~~apple~~ pear", None),
        (0, "Answer: apple. Milk.", None),
        (0, "Answer: apple, pear\nShe also took the milk.", None),
        (0, "Answer: apple, pear\nAnd the milk.", None),
        (0, "Answer: apple\nAlso fig.", None),
        (0, "apple, pear, ...", None),
        (1, "Answer: n, e. Then south.", None),
        (1, "n,e (in either order)", None),
        (1, "n,e\n(or e,n)", None),
        (1, "north-east", None),
        (0, "apple, <unk>", None),
        (0, "apple [fig]", None),
        (0, "Answer:\n- apple\n- pear", "apple,pear"),
        (0, "Answer:\n1. apple\n2. pear", "apple,pear"),
        (0, "Answer:\napple\npear", "apple,pear"),
        (1, "Answer:\n1. north\n2. east", "n,e"),
        (1, "Answer:\n- n\n- e", "n,e"),
        (1, "Answer:\nnorth\neast", "n,e"),
        (0, "Mary is carrying:\n1. The pear\n2. The apple", "apple,pear"),
        (0, "They are the apple and the pear.", "apple,pear"),
        (0, "The two objects Mary carries are the apple and the pear.", "apple,pear"),
        (0, "Mary picked up the apple and the pear. Mary's final list is apple, pear.", "apple,pear"),
        (0, "Mary carries [apple, pear]", "apple,pear"),
        (0, "apple and nothing else", "apple"),
        (0, "Mary took the apple and dropped the fig. Therefore, she is carrying the apple.", "apple"),
        (0, "Mary dropped:\n- apple\n- fig", None),
        (0, "Mary dropped: apple", None),
        (0, "The objects Mary dropped are the apple and the pear.", None),
        (0, "Answer: apple\n\nMary picked up the apple and the fig, then dropped the fig.", "apple"),
        (0, "Answer: apple\n\nMary dropped the apple.", None),
        (0, "Mary has the apple. She then dropped it.", None),
        (0, "Two objects: apple", None),
        (0, "She has two things: apple, pear.", "apple,pear"),
        (0, "Answer: apple, fig (no longer)", None),
        (0, "Answer: apple\n- milk", None),
        (0, "| apple | yes |\n| fig | no |", None),
        (0, "- [x] apple\n- [ ] fig", None),
        (0, "apple ✅\nfig ❌", None),
        (0, "apple=1, fig=0", None),
        (0, '{"apple": true, "fig": false}', None),
        (0, "apple, etc.", None),
        (0, "apple and more", None),
        (0, "apple, among others", None),
        (0, "Mary holds the apple and Daniel holds the fig.", None),
        (0, "Answer: apple, or maybe fig", None),
        (0, "Answer: apple/fig?", None),
        (0, "apple > fig", None),
        (0, "at least the apple", None),
        (0, "not only the apple", None),
        (0, "all but the fig", None),
        (0, "Answer: apple x2", None),
        (0, "two apples", None),
        (1, "Go north, then east. Then south.", None),
        (1, "n e or e n", None),
        (1, "n, e, ...", None),
        (1, "Go north. Then go east.", "n,e"),
        (1, "First north. Second east.", None),
        (1, "north north-east", None),
        (1, "Answer: n,e\nn", None),
        (1, "n,e then back", None),
        (1, "n/e", "n,e"),
        (1, "north or east then", None),
        (1, "Start: n,e\nEnd: s", None),
        (1, "**n**, **e**", "n,e"),
        (1, "The route is: n → e.", "n,e"),
        (0, "She has **apple** and **pear**.", "apple,pear"),
        (0, "Final answer: The apple and the pear.", "apple,pear"),
        (0, "Mary currently has: apple, pear.\n\nLet me know if you need more.", "apple,pear"),
        (0, "Based on the story, Mary is carrying the apple and the pear.", "apple,pear"),
        (
            0,
            "Let's track it:\n- Mary picked up the apple.\n- Mary picked up the fig.\n- Mary dropped the fig.\n\n"
            "Mary is carrying the apple.",
            "apple",
        ),
        (0, "Step 1: Mary gets the apple.\nStep 2: Mary gets the pear.\nSo Mary carries: apple, pear", "apple,pear"),
        (0, "Mary isn't carrying anything.", EMPTY),
        (0, "**Answer:** apple, pear", "apple,pear"),
        (0, "apple\npear", "apple,pear"),
        (0, "Mary is carrying two objects: the apple and the pear.", "apple,pear"),
        (0, "At the end, Mary is carrying apple, pear.", "apple,pear"),
        (0, "Mary has the apple because she picked it up in the garden.", "apple"),
        (0, "Mary has only the apple, as she dropped the fig.", "apple"),
        (0, "Answer: [apple; pear]", "apple,pear"),
        (0, "apple pear", "apple,pear"),
        (1, "You need to go north and then east to reach the office.", "n,e"),
        (1, "To get from the kitchen to the office, go north, then go east.", "n,e"),
        (1, "From the kitchen, go north to the hallway. From the hallway, go east to the office.", "n,e"),
        (1, "The office is north of the kitchen. So, first go north. Next, go east.", "n,e"),
        (1, "north, then east (n,e)", "n,e"),
        (1, "The answer is north, then east.", "n,e"),
        (1, "Directions: go north, then go east", "n,e"),
        (1, "I would go north and then east.", "n,e"),
        (0, "Mary is carrying the apple, which she picked up in the kitchen, and the pear.", None),
        (1, "Go anywhere but north, east.", None),
        (1, "To get there: s, w. Reversed: e, n.", None),
    ],
)
def test_a_list_is_read_as_a_whole_or_not_at_all(kind: int, said: str, meant: str | None) -> None:
    code = READER.code(said, kind)
    assert (None if code == OUTSIDE else ANSWERS[code]) == meant
