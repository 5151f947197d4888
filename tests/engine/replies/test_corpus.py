"""Replies that people have labelled: none is read wrongly, and few clear ones are lost.

`replies` has 40 forms of replies, `more_replies` other wordings of the same forms, and `hostile_replies` were written
to mislead the reader; most of these assert no answer. `fresh_replies` were written and labelled without a look at the
rules. When the rules first met them, 47 of 882 were read wrongly, and 27 of 278 clear ones were unreadable; 13 that
have no certain label were left out later. `variant_replies` has other replies of the kinds that were read wrongly then;
of its 88 probes of further kinds (form `20-probes`), 10 were read wrongly at first, and one that still is was left out.
Of 120 replies as usual models write them (form `21-usual-models`), one was read wrongly at first, and 14 of 84 clear
ones were unreadable; the wrong one has no certain label and was left out. The rules were mended after each part, so no
part is a test of replies that the rules have never met. `usual_replies` has replies of usual models to the prompts of
all sets, written without a look at the rules. When the rules first met them, 6 of 310 were read wrongly, and 26 of 191
clear ones were unreadable, most of them counts of things in photographs. Form `22-probes-of-usual-models` has probes of
the kinds that were read wrongly or lost then;
50 of these 392 were read wrongly at first, and those that are still unreadable are not marked as clear.
`list_replies` has lists and paths for bAbI. Of 1,049 that were written without a look at the rules, 40 were read
wrongly at first, and 50 of 309 clear ones were unreadable; the others are probes of the kinds that were read wrongly,
of which 182 of 417 were. Six without a certain label were left out. Form `24-lists-again` was written after the rules
were mended, again without a look at them: 17 of 663 were read wrongly, and 54 of 281 clear ones were unreadable. These
17 were left out: most of them are about another person or way than the question's, which the reader does not know.
`blind_replies` has replies with a single answer, written without a look at the rules (forms `25-blind-...`). When the
rules first met them, 26 of 1,620 were read wrongly, and 19 of 652 clear ones were unreadable; 15 others that have no
certain label were left out. Form `26-probes-of-blind` has probes of the kinds that were read wrongly or lost then; 117
of these 331 were read wrongly before the rules were mended, and 30 of 110 clear ones were unreadable. Form
`27-after-blind` was written after that: 4 of 266 were read wrongly, and 24 of 126 clear ones were unreadable. Form
`28-traps-after-that` has 120 usual clear replies, of which 12 were unreadable at first, and 121 traps that were made
against the list of remarks; 59 of these were read wrongly at first. Of form `29-fresh-after-that`, 3 of 124 were read
wrongly at first, and 5 of 70 clear ones were unreadable.
"""

from time import process_time

import pytest

from generation.engine.replies.thoughts import split_thoughts, with_plain_marks
from tests.engine.replies.worlds import PRESETS, LabelledReply, read_corpus, reader_of

CORPORA = (
    "replies",
    "more_replies",
    "hostile_replies",
    "fresh_replies",
    "variant_replies",
    "usual_replies",
    "list_replies",
    "blind_replies",
)


def read(one: LabelledReply) -> str | None:
    return reader_of(one.set).read(one.reply, one.type)


@pytest.mark.parametrize("name", CORPORA)
def test_no_reply_is_read_wrongly(name: str) -> None:
    wrong = {one.reply: found for one in read_corpus(name) if (found := read(one)) not in (None, one.answer)}
    assert wrong == {}


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("replies", 0.02),
        ("more_replies", 0.1),
        ("hostile_replies", 0.16),
        ("fresh_replies", 0.02),
        ("variant_replies", 0.02),
        ("usual_replies", 0.03),
        ("list_replies", 0.12),
        ("blind_replies", 0.02),
    ],
)
def test_few_clear_replies_are_unreadable(name: str, share: float) -> None:
    clear = [one for one in read_corpus(name) if one.clear]
    lost = [one.reply for one in clear if read(one) is None]
    assert len(lost) <= share * len(clear), lost


def test_the_corpus_has_many_forms_and_labels_of_each_kind() -> None:
    corpus = read_corpus("replies")
    assert len({(one.set, one.type, one.reply) for one in corpus}) == len(corpus) >= 600
    assert len({one.form for one in corpus}) >= 30
    assert sum(one.clear for one in corpus) > 600 and sum(one.answer is None for one in corpus) > 300
    assert all(one.answer is not None for one in corpus if one.clear)


PIECES = (
    "the red ",
    "red – ",
    "3–",
    "1)\n",
    "because he is ",
    "according to the ",
    "a. red b. ",
    "before the x ",
    "A: ",
    "there are 3 small ",
)


def test_the_time_for_replies_grows_with_their_length() -> None:
    own = reader_of("clevr")
    for piece in PIECES:
        begun = process_time()
        own.read(piece * (10_000 // len(piece)), "query_color")
        assert process_time() - begun < 2, piece


ISSUES = [
    ("exist", "[THINK]The answer is yes.\nLet me check.[/THINK]no", "no"),
    ("exist", "◁think▷yes◁/think▷no", "no"),
    ("exist", "<|channel|>analysis<|message|>yes<|end|><|start|>assistant<|channel|>final<|message|>no", "no"),
    ("exist", "analysisThe answer is yes.assistantfinalno", "no"),
    ("exist", "<seed:think>yes</seed:think>no", "no"),
    ("exist", "<|begin_of_thought|>yes<|end_of_thought|><|begin_of_solution|>no<|end_of_solution|>", "no"),
    ("exist", "<reason>yes</reason>no", "no"),
    ("exist", "<analysis>yes</analysis>no", "no"),
    ("exist", "<scratchpad>yes</scratchpad>no", "no"),
    ("exist", "<think >yes</think >no", "no"),
    ("exist", "&lt;think&gt;yes&lt;/think&gt;no", "no"),
    ("exist", "[THINK]yes, the answer is yes", None),
    ("exist", "yes [/THINK] no", "no"),
    ("exist", "<muse>yes, yes, yes</muse>no", None),
    ("exist", "There is no attached image.", None),
    ("exist", "Yes, I can help! Please share the image.", None),
    ("count", "I can't see any image. Please upload one.", None),
    ("count", "Error 7: the image could not be read.", None),
    ("query_size", "The image is too small for me to analyse.", None),
    ("exist", "I doubt that the answer is yes.", None),
    ("query_color", "Answer: I can rule out red.", None),
    ("count", "I'm sorry, but there is no attached image. Please upload one.", None),
    ("exist", "Answer: yes\n\nI am confident this answer is correct.", "yes"),
    ("count", '{"answer": 3, "confidence": 0.9}', "3"),
    ("count", "Answer: 3 (2 cubes + 1 sphere)", "3"),
    ("query_color", "Answer: red, not blue", "red"),
    ("count", "### Final Answer\n**3**", "3"),
    ("count", "#### 3", "3"),
    ("count", "<|begin_of_box|>3<|end_of_box|>", "3"),
    ("count", "<final_answer>3</final_answer>", "3"),
    ("count", r"\boxed{3}", "3"),
    ("count", "Answer：3", "3"),
    ("count", "Answer = 3", "3"),
    ("count", "３", "3"),
    ("query_color", "ｒｅｄ", "red"),
    ("exist", "Yes, there are no other objects.", "yes"),
    ("query_shape", "ball", "sphere"),
    ("query_shape", "It is a block.", "cube"),
    ("query_size", "big", "large"),
    ("query_size", "Tiny.", "small"),
    ("query_material", "shiny", "metal"),
    ("query_material", "matte", "rubber"),
    ("query_material", "It is metallic.", "metal"),
    ("query_color", "grey", "gray"),
]


@pytest.mark.parametrize(("kind", "reply", "answer"), ISSUES)
def test_what_users_met_is_read_as_it_is_meant(kind: str, reply: str, answer: str | None) -> None:
    assert reader_of("clevr").read(reply, kind) == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("west, north", "w,n"), ("Go west and then north.", "w,n"), ("w n", "w,n"), ("north of the hall", None)],
)
def test_directions_are_words_for_the_letters_of_paths(reply: str, answer: str | None) -> None:
    assert reader_of("babi").read(reply, "path-finding") == answer


@pytest.mark.parametrize(
    ("reply", "mark"),
    [
        ("<muse>It is red, I am sure.</muse>blue", "<muse>"),
        ("[[musing]]It is red, I am sure.[[/musing]] blue", "[[musing]]"),
        ("<muse>It is red, I am sure.", "<muse>"),
        ("<muse>red</muse>\nThe answer is blue, as I see it.", ""),
        ("<think>red</think> blue", ""),
        ("a < b and <b>red</b>", ""),
    ],
)
def test_an_unknown_mark_around_most_of_a_reply_is_named(reply: str, mark: str) -> None:
    assert with_plain_marks(split_thoughts(reply).said).unknown_mark == mark


@pytest.mark.parametrize("name", PRESETS)
def test_a_synonym_means_an_answer_or_a_part_of_answers(name: str) -> None:
    own = reader_of(name)
    parts = {part for form in own.forms for part in form.parts}
    assert set(own.synonyms.values()) <= {*own.answers, *parts}
    assert not own.synonyms.keys() & set(own.answers)
