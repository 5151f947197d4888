"""The reader of `static/ask.py` and the site's own read the same answers, whatever a reply is."""

from types import ModuleType
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generation.engine.items import AnswerForm, AnswerKind, Question
from generation.engine.predictions.answer_parser import AnswerVocabulary, ReplyReader
from generation.engine.scoring.score import OUTSIDE
from generation.engine.worlds import find_preset, get_world
from tests import proof
from tests.engine.predictions import asked, test_composed, test_replies

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
        self.vocabulary = AnswerVocabulary(found.answers, found.forms, most_counted=found.most_counted)
        self.theirs = ReplyReader(self.vocabulary, admitted)
        self.ours = script.AnswerReader(found.answers, [form.choices for form in found.forms])

    def site(self, text: str, kind: int, letters: dict[str, str] | None = None) -> str | None:
        """Return the answer that the site reads, as `PredictionChecker` does."""
        chosen = (letters or {}).get(text.strip(" \t()[].:"))
        code = self.vocabulary.code(text if chosen is None else chosen)
        if code == OUTSIDE:
            code = self.theirs.code(text, kind, choices=letters)
        return None if code == OUTSIDE else self.found.answers[code]

    def script(self, text: str, kind: int, letters: dict[str, str] | None = None) -> str | None:
        answer: str | None = self.ours.read(text, self.found.forms[kind].choices, letters)
        return answer


@pytest.fixture
def readers(script: ModuleType) -> dict[str, BothReaders]:
    return {name: BothReaders(found, script) for name, found in VOCABULARIES.items()}


@settings(max_examples=proof.size(20_000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=REPLIES, letters=LETTERS)
def test_both_readers_read_the_same(readers: dict[str, BothReaders], text: str, letters: dict[str, str] | None) -> None:
    for name, both in readers.items():
        for kind in range(len(both.found.forms)):
            assert both.script(text, kind, letters) == both.site(text, kind, letters), (name, kind)


def test_both_readers_read_every_example_of_the_site(readers: dict[str, BothReaders]) -> None:
    kinds = list(asked.KINDS)
    for kind, text, answer in test_replies.REPLIES:
        assert readers["pictures"].script(text, kinds.index(kind)) == answer, text


def test_both_readers_read_the_prompts_word_for_the_empty_set(script: ModuleType) -> None:
    choices = ("khaali", "seb", "doodh,seb")
    form = AnswerForm(AnswerKind.SET, choices, {}, parts=("seb", "doodh"), empty="khaali")
    site, ours = AnswerVocabulary(choices, [form]), script.ComposedReader(choices)
    for said in ("nothing", "'nothing'", "[nothing]", "nothing, seb", "khaali"):
        code = site.code(said)
        assert ours.answer(said) == (None if code == OUTSIDE else choices[code]), said
    assert ours.answer("nothing") == "khaali"


def test_the_words_of_the_property_have_answers_of_every_vocabulary(readers: dict[str, BothReaders]) -> None:
    for name, both in readers.items():
        read = {both.script(text, kind) for text in WORDS for kind in range(len(both.found.forms))}
        assert None in read and len(read) > min(5, len(both.found.answers)), name
    assert readers["counts"].script("2.7", 0) == "3" and readers["baskets"].script("pear and apple", 0) == "apple,pear"


@pytest.mark.parametrize("text", LONG)
def test_both_readers_read_the_same_of_long_texts(text: str, readers: dict[str, BothReaders]) -> None:
    said = text * (100_000 // len(text))
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
    assert most is None or reader.vocabulary[-1] == str(most)
    for form in forms:
        composed: Any = reader.composed.get(form.choices)
        assert (composed is not None) == bool(form.parts)
        if composed is not None:
            assert composed.is_set == (form.kind == AnswerKind.SET) and (composed.empty or "") == form.empty
            assert {part for key in composed.answers for part in key} == set(form.parts)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("B", "green"),
        ("(b)", None),
        ("B. green", "green"),
        ("**B**: green, not the first one", "green"),
        ("Answer: B", "green"),
        ("Option B: green", "green"),
        ("A green thing", "green"),
        ("I see red", "red"),
        ("B\n\nThe cube is surely red.", None),
        ("**B**: red", None),
        ("B - red", None),
        ("Option B, red", None),
        ("B because nothing else looks red", None),
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
