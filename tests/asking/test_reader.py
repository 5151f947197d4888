"""The reader of `static/ask.py` and the site's own read the same answers, whatever a reply is."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generation.engine.environment import score_reply
from generation.engine.items import AnswerForm, AnswerKind, Question
from generation.engine.predictions import ExpectedAnswers
from generation.engine.predictions.packed_predictions import PackedPredictions
from generation.engine.replies.reply_reader import ReplyReader, is_cut_off
from generation.engine.replies.vocabulary import OUTSIDE, AnswerVocabulary
from generation.engine.worlds import find_preset, get_world
from generation.exchange import predictions_process
from generation.exchange.predictions_process import CheckRequest
from tests import proof
from tests.engine.predictions import asked
from tests.engine.replies import test_composed, test_reply_reader
from tests.engine.replies.test_corpus import CORPORA
from tests.engine.replies.worlds import PRESETS, WorldReader, read_corpus, reader_of

CHOICES = ("yes", "no", "light blue", "3")


class Vocabulary(NamedTuple):
    """The possible answers of a split, and for each kind of question its form."""

    answers: tuple[str, ...]
    forms: tuple[AnswerForm, ...]
    most_counted: int | None = None


def word_form(choices: tuple[str, ...]) -> AnswerForm:
    return AnswerForm(AnswerKind.WORD, choices, {})


COUNTS = tuple(map(str, range(16)))
VOCABULARIES = {
    "pictures": Vocabulary(asked.VOCABULARY, (*map(word_form, asked.KINDS.values()), word_form(()))),
    "baskets": Vocabulary(test_composed.ANSWERS, test_composed.FORMS),
    "counts": Vocabulary(COUNTS, (word_form(COUNTS),), 15),
    "bits": Vocabulary(("yes", "no"), (word_form(("yes", "no")),)),
    "odd": Vocabulary(
        ("A", "a", "One", "1", "Yes.", "it's", "it", "10.0", "-3", "don't know", "true", "Straße"),
        (word_form(("A", "a", "One", "1")), word_form(())),
    ),
}
WORDS = (
    *("red", "Blue", "light", "light blue", "LIGHT  BLUE", "cube", "sphere-shaped", "cube's", "yes", "No", "true"),
    *("apple", "pear", "fig", "nothing", "n", "w", "n,w", "w, n", "apple,fig", "pear and apple", '["fig", "apple"]'),
    *("three", "3", "3.0", "2.7", "-1", "1e3", "nan", "inf", "1", "0", "99", "2,5", "Two.", "one", "twenty", "thirty"),
    *("A", "B", "(C)", "D.", "a", "it's", "it", "don't know", "STRASSE", "10.0", "10", "False", "[]"),
    *("answer:", "Answer is", "the **answer**:", "\\boxed{", "\\boxed{\\text{", "}", "{", "$", "<think>", "</think>"),
    *("<thinking>", "</thinking>", "<Thought>", "</reasoning>"),
    *("\n", "\n\n", ",", ";", "and", "then", "->", "&", "or", ".", "!", "“", "”", "_", "-", "'", "`", "?", " "),
    *("\t", "é", "\0", "not", "isn't", "n’t", "more than", "at least", "but", "non-red", "**not**", "none"),
    *("no image", "no ideas", "no doubt", "twelve", "twenty-three", "hundred", "-", "−3", "< 2", "...", ".5", "3-4"),
    "３",
)
REPLIES = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=9).map("".join),
    st.text(max_size=40),
    st.text("answer:isbox{}\\<think>/ redblu3.0n,w", max_size=60),
)
LONG = ("<think>", "<thinking>", "</think>", "answer: ", r"\boxed{", "{", "red ", "a-", "1.", "*", "answer", "1")
LETTERS = st.one_of(st.none(), st.permutations(CHOICES).map(lambda some: dict(zip("ABCD", some, strict=True))))


class BothReaders:
    """The reader of the site and that of the script, for one vocabulary."""

    def __init__(self, found: Vocabulary, script: ModuleType) -> None:
        self.found = found
        codes = {answer: code for code, answer in enumerate(found.answers)}
        every = tuple(range(len(codes)))
        admitted = [tuple(codes[choice] for choice in form.choices if choice in codes) or every for form in found.forms]
        forms = [form.composed for form in found.forms]
        self.vocabulary = AnswerVocabulary(found.answers, forms, most_counted=found.most_counted)
        self.theirs = ReplyReader(self.vocabulary, admitted)
        self.ours = script.AnswerReader(found.answers, [form.choices for form in found.forms])

    def site(self, text: str, kind: int, letters: dict[str, str] | None = None) -> str | None:
        code = self.theirs.code(text, kind, choices=letters)
        return None if code == OUTSIDE else self.found.answers[code]

    def script(self, text: str, kind: int, letters: dict[str, str] | None = None) -> str | None:
        answer: str | None = self.ours.read(text, self.found.forms[kind].choices, letters)
        return answer


@pytest.fixture
def readers(script: ModuleType) -> dict[str, BothReaders]:
    return {name: BothReaders(found, script) for name, found in VOCABULARIES.items()}


@settings(
    max_examples=proof.size(20_000, most=250),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=REPLIES, letters=LETTERS)
def test_both_readers_read_the_same(readers: dict[str, BothReaders], text: str, letters: dict[str, str] | None) -> None:
    for name, both in readers.items():
        for kind in range(len(both.found.forms)):
            assert both.script(text, kind, letters) == both.site(text, kind, letters), (name, kind)


def test_both_readers_read_every_example_of_the_site(readers: dict[str, BothReaders]) -> None:
    kinds = list(asked.KINDS)
    for kind, text, answer in test_reply_reader.REPLIES:
        assert readers["pictures"].script(text, kinds.index(kind)) == answer, text


@pytest.fixture(params=PRESETS)
def world(request: pytest.FixtureRequest) -> tuple[str, WorldReader]:
    return request.param, reader_of(request.param)


def test_the_script_the_site_its_check_and_rewards_read_each_reply_of_the_corpus_the_same(
    world: tuple[str, WorldReader], script: ModuleType, tmp_path: Path
) -> None:
    name, own = world
    corpus = [one for some in CORPORA for one in read_corpus(some)]
    ours = script.AnswerReader(own.answers, [form.choices for form in own.forms], own.synonyms)
    rows = [one for one in corpus if one.set == name]
    kinds = [own.types.index(one.type) for one in rows]
    codes = {answer: code for code, answer in enumerate(own.answers)}
    expected = ExpectedAnswers(
        name, len(rows), own.answers, None, np.array(kinds, np.uint8),
        tuple(tuple(codes[choice] for choice in form.choices) for form in own.forms),
        tuple(own.forms), own.most_counted, synonyms=own.synonyms,
    )  # fmt: skip
    lines = "".join(json.dumps({"question_id": at, "answer": one.reply}) + "\n" for at, one in enumerate(rows))
    (tmp_path / "replies.jsonl").write_text(lines)
    _, content = predictions_process.answer(CheckRequest(tmp_path / "replies.jsonl", expected))
    found = PackedPredictions(content)  # of a submission, and of a check of one
    for one, kind, code, whole in zip(rows, kinds, found.read.tolist(), found.codes.tolist(), strict=True):
        form = own.forms[kind]
        answer = own.read(one.reply, one.type)
        assert ours.read(one.reply, form.choices) == answer, one.reply
        if whole == OUTSIDE or own.answers[whole] in form.choices:  # else an answer to another kind of question
            assert (None if code == OUTSIDE else own.answers[code]) == answer, one.reply
        if own.most_counted is None and answer is not None and not is_cut_off(one.reply):
            assert score_reply(one.reply, answer, form._replace(synonyms=own.synonyms)) == 1.0, one.reply


def test_the_words_of_the_property_have_answers_of_every_vocabulary(readers: dict[str, BothReaders]) -> None:
    for name, both in readers.items():
        read = {both.script(text, kind) for text in WORDS for kind in range(len(both.found.forms))}
        assert None in read and len(read) > min(5, len(both.found.answers)), name
    assert readers["counts"].script("2.7", 0) == "3" and readers["baskets"].script("pear and apple", 0) == "apple,pear"


@pytest.mark.parametrize("text", LONG)
def test_both_readers_read_the_same_of_long_texts(text: str, readers: dict[str, BothReaders]) -> None:
    said = text * (proof.size(100_000) // len(text))
    for both in readers.values():
        assert both.script(said, 0) == both.site(said, 0)


@pytest.mark.parametrize(
    "preset", ["babi-10k", "babi-hindi", "clevr-mini", "clevr-counting", "shapeworld-spatial", "simtown-k5"]
)
def test_the_forms_of_all_worlds_are_recognised_by_their_answers(preset: str, script: ModuleType) -> None:
    spec = find_preset(preset)
    world = get_world(spec["world"])
    read = world.read_spec(spec)
    kinds = next((facet.values for facet in world.facets(read) if facet.name == "type"), ("",))
    forms = [world.answer_form(read, Question("", kind=kind)) for kind in kinds]
    reader = script.AnswerReader(world.answers(read), [form.choices for form in forms])
    most = world.most_counted(read)
    assert reader.is_count == (most is not None)
    assert most is None or reader.answers[-1] == str(most)
    for form in forms:
        composed: Any = script.recognised_form(form.choices)
        assert (composed is not None) == bool(form.parts)
        if composed is not None:
            assert composed.is_set == (form.kind == AnswerKind.SET) and composed.empty == form.empty
            assert set(composed.parts) == set(form.parts)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("B", "green"),
        ("(b)", "green"),
        ("B. green", "green"),
        ("The answer is B. Note that A is a distractor.", "green"),
        ("Option B", "green"),
        ("I choose B.", "green"),
        ("b", "green"),
        ("**B**: green, not the first one", "green"),
        ("Answer: B", "green"),
        ("Option B: green", "green"),
        ("A green thing", "green"),
        ("I see red", "red"),
        ("B\n\nThe cube is surely red.", None),
        ("**B**: red", None),
        ("B - red", None),
        ("Option B, red", None),
        ("B because nothing else looks red", "green"),
        ("The answer is A because it is green", None),
        ("C: red", "red"),
        ("A or B", None),
        ("not B", None),
    ],
)
def test_the_letter_of_an_option_and_the_words_must_agree(reply: str, answer: str | None, script: ModuleType) -> None:
    question = script.AskedQuestion(0, "Colour?", ("red", "green"), None, None)
    form, reader = script.FORMS["options"], script.AnswerReader(("red", "green", "yes", "no"))
    [variant] = form.variants(question)
    assert form.read(reader, reply, question=question, variant=variant) == answer


@pytest.mark.parametrize("form", ["options", "circular"])
@pytest.mark.parametrize("choices", [(), ("red",)])
def test_a_question_without_options_to_choose_from_is_refused(
    form: str, choices: tuple[str, ...], script: ModuleType
) -> None:
    question = script.AskedQuestion(3, "Colour?", choices, None, None)
    with pytest.raises(script.Refused, match=f"possible answers to question 3, got {len(choices)}: use --form plain"):
        script.FORMS[form].variants(question)
