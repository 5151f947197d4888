"""Sentences express the meaning of programs: they can be read back, and articles and numbers are correct."""

import itertools
import re

import pytest
from hypothesis import given, settings

from generation.engine.errors import BadRecord
from generation.engine.program import typecheck
from generation.engine.worlds.shapeworld.caption_parameters import Thresholds
from generation.engine.worlds.shapeworld.caption_text import CaptionWriter, words
from generation.engine.worlds.shapeworld.functions import function_table
from generation.engine.worlds.shapeworld.logical_form import (
    ComparedCounts,
    Conjunction,
    Meaning,
    Noun,
    QuantifiedStatement,
    Relation,
    SelectedEntity,
    There,
    is_proper,
    kind_of,
    named_together,
    program_of,
    statements,
)
from generation.engine.worlds.shapeworld.parsing import Parser
from tests.proof import size
from tests.worlds.shapeworld.drawn import VOCABULARY, combinations_of, meanings

SAYER, PARSER = CaptionWriter(VOCABULARY), Parser(VOCABULARY)
TABLE = function_table(
    shapes=VOCABULARY.values("shape"), colors=VOCABULARY.values("color"), thresholds=Thresholds(), kind_of=kind_of
)
WORDS = set(words(VOCABULARY))
NOUNS = {*VOCABULARY.shapes, "shape"}
RED, SQUARE, RED_SQUARE = Noun(color="red"), Noun("square"), Noun("square", "red")
ELLIPSE, SHAPE, BLUE_CROSS = Noun("ellipse"), Noun(), Noun("cross", "blue")


@settings(max_examples=size(20_000, name="meanings said and read back", most=300))
@given(meanings())
def test_a_meaning_is_unchanged_after_writing_and_reading_its_sentence(meaning: Meaning):
    assert is_proper(meaning)
    text = SAYER.say(meaning)
    assert PARSER.parse(text) == meaning
    assert set(re.findall(r"\w+|[^\w\s]", text.lower())) <= WORDS
    assert typecheck(program_of(meaning), table=TABLE) == "Truth"
    assert set(named_together(program_of(meaning))) == set().union(*map(combinations_of, statements(meaning)))


@settings(max_examples=size(4_000, name="articles and numbers of meanings", most=100))
@given(meanings())
def test_articles_and_numbers_are_correct(meaning: Meaning):
    said = SAYER.say(meaning).lower().rstrip(".").replace(",", "").split()
    for one, following in itertools.pairwise(said):
        if one in ("a", "an") and following != "quarter":
            assert (one == "an") == (following[0] in "aeiou"), said
        if one in ("a", "an", "no", "every", "one") and following not in ("quarter", "third", "of", "more", "fewer"):
            assert not _is_plural(following), said
        if following in ("is", "has", "does", "are", "have", "do") and (_is_plural(one) or one in NOUNS):
            of_five = re.search(rf"of the \w+ (\w+ )?{one} {following}", " ".join(said))
            assert of_five or _is_plural(one) == (following in ("are", "have", "do")), said
    assert not re.search(r"\b(is|has|does) (is|are|has|have)\b", " ".join(said))


def _is_plural(word: str) -> bool:
    return word in {VOCABULARY.plural(shape) for shape in VOCABULARY.shapes} | {"shapes"}


@pytest.mark.parametrize(
    ("meaning", "text", "kind"),
    [
        (There(RED_SQUARE), "There is a red square.", "existential"),
        (There(ELLIPSE), "There is an ellipse.", "single-attribute"),
        (There(SQUARE, RED), "There is a square that is red.", "existential"),
        (There(RED, SQUARE), "There is a red shape that is a square.", "existential"),
        (QuantifiedStatement("a", SQUARE, RED), "A square is red.", "quantification"),
        (QuantifiedStatement("some", SHAPE, Noun(color="green")), "Some shapes are green.", "quantification"),
        (QuantifiedStatement("no", SHAPE, Noun("triangle", "red")), "No shape is a red triangle.", "quantification"),
        (
            QuantifiedStatement("two", Noun(color="blue"), Noun("pentagon")),
            "Two blue shapes are pentagons.",
            "quantification",
        ),
        (QuantifiedStatement("most", SHAPE, Noun("cross")), "Most shapes are crosses.", "quantification"),
        (QuantifiedStatement("every", ELLIPSE, RED), "Every ellipse is red.", "quantification"),
        (QuantifiedStatement("not all", SQUARE, RED), "Not all squares are red.", "quantification"),
        (QuantifiedStatement("at least 1", SQUARE, RED), "At least one square is red.", "quantification"),
        (QuantifiedStatement("fewer than 3", SQUARE, RED), "Fewer than three squares are red.", "quantification"),
        (
            QuantifiedStatement("less than 1/4", SQUARE, RED),
            "Less than a quarter of the squares are red.",
            "quantification",
        ),
        (QuantifiedStatement("exactly 1", SQUARE, RED, 5), "Exactly one of the five squares is red.", "number-bound"),
        (QuantifiedStatement("no", SQUARE, RED, 5), "None of the five squares are red.", "number-bound"),
        (
            QuantifiedStatement("at most 2/3", SQUARE, RED, 6),
            "At most two thirds of the six squares are red.",
            "number-bound",
        ),
        (
            QuantifiedStatement("the", RED_SQUARE, Relation("left", BLUE_CROSS, definite=True)),
            "The red square is to the left of the blue cross.",
            "relational",
        ),
        (
            QuantifiedStatement("a", RED_SQUARE, Relation("left", ELLIPSE, negated=True)),
            "A red square is not to the left of an ellipse.",
            "relational",
        ),
        (
            QuantifiedStatement("a", SQUARE, Relation("behind", RED)),
            "A square is behind a red shape.",
            "relational-single-attribute",
        ),
        (
            QuantifiedStatement("most", SQUARE, Relation("different color", BLUE_CROSS, negated=True)),
            "Most squares do not differ in color from a blue cross.",
            "quantification",
        ),
        (
            QuantifiedStatement("a", SQUARE, Relation("different shape", RED, negated=True)),
            "A square does not differ in shape from a red shape.",
            "relational",
        ),
        (
            QuantifiedStatement("a", SQUARE, Relation("same color", BLUE_CROSS, negated=True)),
            "A square does not have the same color as a blue cross.",
            "relational",
        ),
        (
            QuantifiedStatement("a", SQUARE, Relation("closer", BLUE_CROSS, True, False, ELLIPSE)),
            "A square is closer to the blue cross than the ellipse is.",
            "relational",
        ),
        (QuantifiedStatement("the", SelectedEntity("only", SQUARE), RED), "The only square is red.", "unique"),
        (
            QuantifiedStatement("the", SelectedEntity("leftmost", RED), SQUARE),
            "The leftmost red shape is a square.",
            "selection",
        ),
        (
            QuantifiedStatement("the", SelectedEntity("closest", SQUARE, BLUE_CROSS), RED),
            "The square closest to the blue cross is red.",
            "selection",
        ),
        (
            ComparedCounts("1 more", SQUARE, Noun("cross"), RED),
            "Exactly one more square than cross is red.",
            "comparative-quantification",
        ),
        (
            ComparedCounts("more than half as many", SQUARE, Noun("cross"), RED),
            "More than half as many squares as crosses are red.",
            "comparative-quantification",
        ),
        (
            Conjunction("if", There(SQUARE), QuantifiedStatement("all", SQUARE, RED)),
            "If there is a square, then all squares are red.",
            "logical",
        ),
        (
            Conjunction("iff", There(SQUARE), There(RED_SQUARE)),
            "There is a square if and only if there is a red square.",
            "logical",
        ),
    ],
)
def test_example_sentences_of_every_form(meaning: Meaning, text: str, kind: str):
    assert SAYER.say(meaning) == text
    assert PARSER.parse(text) == meaning
    assert kind_of(program_of(meaning)) == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        "There is a red square",
        "there is a red square.",
        "There is an red square.",
        "There are a red square.",
        "There is a purple square.",
        "All square are red.",
        "A square is red and",
        "Two more squares than circles is red.",
        "There is a red square. ",
    ],
)
def test_other_sentences_are_refused(text: str):
    with pytest.raises(BadRecord, match="Expected a caption"):
        PARSER.parse(text)


def test_words_with_an_unusual_first_sound_have_the_stated_article():
    own = VOCABULARY.model_copy(update={"vowels": ("red",), "consonants": ("ellipse",)})
    assert CaptionWriter(own).say(There(RED)) == "There is an red shape."
    assert CaptionWriter(own).say(There(ELLIPSE)) == "There is a ellipse."


def test_the_vocabulary_is_small_and_contains_punctuation():
    assert {".", ",", "a", "an", "ellipses", "white", "three", "twice"} <= WORDS
    assert len(WORDS) < 120
    assert list(words(VOCABULARY)) == sorted(WORDS)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("A square does not have a different color from a cross.", "A square does not differ in color from a cross."),
        (
            "Most squares do not have a different shape from a cross.",
            "Most squares do not differ in shape from a cross.",
        ),
        (
            "If a square does not have a different color from a cross, then there is a circle.",
            "If a square does not differ in color from a cross, then there is a circle.",
        ),
    ],
)
def test_sentences_of_earlier_engine_versions_are_read(older: str, newer: str) -> None:
    parser = Parser(VOCABULARY)
    assert parser.parse(older) == parser.parse(newer)
