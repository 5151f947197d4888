"""Wordings become correct English: articles, plurals, `other` and optional words are right, and no markup is left."""

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.errors import BadFamily
from generation.engine.language import families as engine_families
from generation.engine.language.family_files import read_families
from generation.engine.language.wording import Forms, Lexicon, Speaker, most_words, read_wording
from generation.engine.seeding import Stage, Stream, stream
from generation.engine.worlds import get_world
from generation.engine.worlds.clevr.question_text import lexicon
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import ClevrVocabulary, regular_plural
from tests.proof import size

SPEC = get_world("clevr").read_spec({"base": "clevr-mini"})
assert isinstance(SPEC, ClevrSpec)
FOLDER = Path(engine_families.__file__).parents[1] / "worlds/clevr/families"
FAMILIES = read_families({p.name: p.read_text() for p in FOLDER.glob("*.json")}, language=SPEC.language)

PLAIN = Lexicon(
    forms={
        "Color": {"orange": Forms(("orange",), ("orange",)), "blue": Forms(("blue",), ("blue",))},
        "Shape": {
            "bus": Forms(("bus", "coach"), ("buses", "coaches")),
            "hourglass": Forms(("hourglass",), ("hourglasses",)),
            "unicycle": Forms(("unicycle",), ("unicycles",)),
        },
    },
    things=Forms(("object",), ("objects",)),
    noun="Shape",
    vowels=frozenset(["hourglass"]),
    consonants=frozenset(["unicycle"]),
)


def chance(seed: int = 0) -> Stream:
    return stream(seed=seed, split="words", index=0, stage=Stage.WORDS)


def speak(
    text: str,
    *,
    color: str | None = None,
    shape: str | None = None,
    alike: bool = True,
    optional: float = 0.0,
    words: Stream | None = None,
) -> str:
    """Return a sentence that the speaker produces from a text with a colour and a shape."""
    params = [name for name in ("<C>", "<S>") if name in text]
    values = {"<C>": ("Color", color), "<S>": ("Shape", shape)}
    return Speaker(PLAIN, optional_words=optional).say(
        read_wording(text, params=params, where=""),
        types=[values[name][0] for name in params],
        values=[values[name][1] for name in params],
        alike=alike,
        stream=words or chance(),
    )


@pytest.mark.parametrize(
    ("text", "color", "shape", "expected"),
    [
        ("There is a <C> <S>.", None, None, "There is an object."),
        ("There is a <C> <S>.", "orange", None, "There is an orange object."),
        ("There is a <C> <S>.", "blue", None, "There is a blue object."),
        ("There is an <C> <S>.", "blue", "hourglass", "There is a blue hourglass."),
        ("There is a <C> <S>.", None, "hourglass", "There is an hourglass."),
        ("There is a <C> <S>.", None, "unicycle", "There is a unicycle."),
        ("A <C> <S>?", "orange", None, "An orange object?"),
        ("<C> <S>s?", None, None, "Objects?"),
        ("<C> <S>s?", "blue", "hourglass", "Blue hourglasses?"),
        ("Is the <S>'s color <C>?", "blue", "unicycle", "Is the unicycle's color blue?"),
        ("Things, a <C> <S>; things?", "blue", "unicycle", "Things, a blue unicycle; objects?"),
        ("What thing is a <C> <S>?", "blue", "unicycle", "What object is a blue unicycle?"),
    ],
)
def test_sentences_by_hand(text: str, color: str | None, shape: str | None, expected: str):
    assert speak(text, color=color, shape=shape) == expected


def test_synonyms_keep_their_own_plural():
    words = chance()
    assert {speak("<C> <S>s", shape="bus", words=words) for _ in range(60)} == {"Buses", "Coaches"}
    assert {speak("<C> <S>", shape="bus", words=words) for _ in range(60)} == {"Bus", "Coach"}


@pytest.mark.parametrize(
    ("noun", "plural"),
    [
        ("cube", "cubes"),
        ("bus", "buses"),
        ("box", "boxes"),
        ("torch", "torches"),
        ("dish", "dishes"),
        ("waltz", "waltzes"),
        ("berry", "berries"),
        ("toy", "toys"),
        ("torus", "toruses"),
    ],
)
def test_regular_plurals(noun: str, plural: str):
    assert regular_plural(noun) == plural


def test_a_plural_in_the_vocabulary_replaces_the_regular_one():
    data = json.loads(json.dumps(SPEC.vocabulary.model_dump(mode="json")))
    data["shapes"]["torus"] = {"solid": "torus", "plural": "tori", "synonyms": {"ring": "rings"}}
    forms = lexicon(ClevrVocabulary.model_validate_json(json.dumps(data))).forms["Shape"]["torus"]
    assert forms == Forms(("torus", "ring"), ("tori", "rings"))


@pytest.mark.parametrize(
    ("text", "alike", "expected"),
    [
        ("Is there another <S>?", True, "Is there another bus?"),
        ("Is there another <S>?", False, "Is there a bus?"),
        ("Is there any other <S>?", True, "Is there any other bus?"),
        ("Is there any other <S>?", False, "Is there any bus?"),
        ("Is an other <S> there?", False, "Is a bus there?"),
        ("Another thing near the <S>?", False, "An object near the bus?"),
        ("Other things near the <S>?", False, "Objects near the bus?"),
    ],
)
def test_other_is_left_out_if_the_objects_cannot_be_alike(text: str, alike: bool, expected: str):
    for seed in range(20):
        sentence = speak(text, shape="bus", alike=alike, words=chance(seed)).replace("coach", "bus")
        assert sentence == expected


@pytest.mark.parametrize(("optional", "expected"), [(0.0, {"How many?"}), (1.0, {"How very many?"})])
def test_optional_words_are_never_used_at_zero_and_always_at_one(optional: float, expected: set[str]):
    assert {speak("How [very] many?", optional=optional, words=chance(seed)) for seed in range(30)} == expected


def test_optional_words_are_used_as_often_as_configured():
    words, count = chance(), size(20_000)
    kept = sum(speak("How [very] many?", optional=0.25, words=words) != "How many?" for _ in range(count))
    assert abs(kept / count - 0.25) < 0.05


def test_alternatives_are_equally_likely():
    words = chance()
    seen = Counter(speak("{One|Two|Three [or four]}?", optional=1.0, words=words) for _ in range(900))
    assert set(seen) == {"One?", "Two?", "Three or four?"}
    assert min(seen.values()) > 220


def test_brackets_may_be_nested():
    assert speak("Is [it {a|an} [very] [orange]] thing?", optional=1.0) == "Is it a very orange object?"


PARTS = st.recursive(
    st.sampled_from(["how", "many", "a", "an", "other", "orange", "things", "hour's", "blue,", "so;", "<C>", "<S>s"]),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(" ".join)
        | st.lists(st.sampled_from(["so", "very", "an", "apple"]), min_size=1, max_size=3).map(
            lambda words: f"[{' '.join(words)}]"
        )
        | st.lists(st.sampled_from(["big", "oval", "a bit", "[x] y"]), min_size=2, max_size=3).map(
            lambda words: "{" + "|".join(words) + "}"
        )
    ),
    max_leaves=8,
)


@given(
    PARTS,
    st.sampled_from([None, "orange", "blue"]),
    st.sampled_from([None, "bus", "hourglass", "unicycle"]),
    st.booleans(),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.integers(0, 99),
)
def test_any_markup_becomes_a_correct_sentence(
    text: str, color: str | None, shape: str | None, alike: bool, optional: float, seed: int
):
    sentence = speak(f"Is {text}?", color=color, shape=shape, alike=alike, optional=optional, words=chance(seed))
    check_sentence(sentence)
    assert alike or not re.search(r"(?i)\b(an)?other \w", sentence)
    assert len(sentence.split()) <= longest(f"Is {text}?")


def longest(text: str) -> int:
    """Return the largest number of words that a text with a colour and a shape can have."""
    params = {name: kind for name, kind in (("<C>", "Color"), ("<S>", "Shape")) if name in text}
    return most_words([(read_wording(text, params=list(params), where=""), list(params.values()))], PLAIN)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Is it?", 2),
        ("Is the <C> <S>'s color blue?", 6),
        ("Is [it {a bit|very} [deeply]] <C>?", 6),
        ("Is {so|as they say} a thing?", 6),
        ("? Is it", 3),
    ],
)
def test_the_length_of_the_longest_sentence_is_computed_from_its_text(text: str, words: int):
    assert longest(text) == words
    color, shape = ("blue" if "<C>" in text else None), ("bus" if "<S>" in text else None)
    chances = [chance(seed) for seed in range(30)]
    sentences = [speak(text, color=color, shape=shape, optional=1.0, words=one) for one in chances]
    assert max(len(sentence.split()) for sentence in sentences) == words


def check_sentence(sentence: str) -> None:
    """Check the rules that hold for every sentence: no markup, a capital letter, correct articles and spaces."""
    assert not re.search(r"[\[\]{}|<>]|  | [?,;.]", sentence), sentence
    assert re.match(r"[A-Z]", sentence), sentence
    assert sentence == sentence.strip()
    for article, word in re.findall(r"\b([Aa]n?) (\w+)", sentence):
        vowel = word not in ("unicycle", "unicycles") and (
            word[0].lower() in "aeiou" or word in ("hourglass", "hourglasses")
        )
        if word.lower() not in ("hourglasses", "unicycles"):
            assert (article.lower() == "an") == vowel, sentence


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("How [many", "closing"),
        ("How many]", "stray"),
        ("How {many|few", "closing"),
        ("How many}", "stray"),
        ("How | many", "stray"),
        ("How [many|few]", "closing"),
        ("How [{many]}", "closing"),
        ("How many <S>?", "<S>"),
        ("How many <Q>?", "<Q>"),
        (7, "Expected a text"),
        (None, "Expected a text"),
    ],
)
def test_broken_markup_is_refused_and_its_place_is_named(text: object, place: str):
    with pytest.raises(BadFamily) as refused:
        read_wording(text, params=[], where="own.json, family 3, text 1")
    assert refused.value.where == "own.json, family 3, text 1"
    assert place in refused.value.reason


def test_a_missing_placeholder_is_refused():
    with pytest.raises(BadFamily, match=r"<Z2> is missing"):
        read_wording("How many <Z> things?", params=["<Z>", "<Z2>"], where="own.json")


@pytest.mark.parametrize("text", ["How many [<C>] things?", "How many {<C>|of the} things?"])
def test_a_placeholder_in_an_optional_part_is_refused(text: str):
    """Otherwise the program could filter by a value that the sentence does not mention."""
    with pytest.raises(BadFamily, match="<C>"):
        read_wording(text, params=["<C>"], where="own.json")


TEXTS = [(family, wording) for family in FAMILIES for wording in family.wordings]


@pytest.mark.parametrize("optional", [0.0, 1.0])
@pytest.mark.parametrize("filled", ["bare", "full", "random"])
def test_every_bundled_text_becomes_a_correct_sentence(filled: str, optional: float):
    dice = random.Random(f"{filled} {optional}")
    speaker = Speaker(lexicon(SPEC.vocabulary), optional_words=optional)
    assert len(TEXTS) > 400
    for family, wording in TEXTS:
        for seed in range(size(40)):
            values = [draw_value(param.type, dice, filled) for param in family.params]
            sentence = speaker.say(
                wording,
                types=[param.type for param in family.params],
                values=values,
                alike=dice.random() < 0.5,
                stream=chance(seed),
            )
            check_sentence(sentence)
            assert sentence.endswith("?")
            assert len(sentence.split()) <= SPEC.most_words
            assert not re.search(r"\b(\w+) \1\b", sentence), sentence
            for param, value in zip(family.params, values, strict=True):
                assert value is None or mentions(sentence, param.type, value), (sentence, value)


def draw_value(kind: str, dice: random.Random, filled: str) -> str | None:
    """Return a value for a parameter. It may be None unless the parameter is a relation or all values are `full`."""
    options = SPEC.language.values(kind)
    if kind == "Relation" or filled == "full" or (filled == "random" and dice.random() < 0.5):
        return dice.choice(options)
    return None


def mentions(sentence: str, kind: str, value: str) -> bool:
    """Return whether a sentence contains a value or one of its synonyms."""
    words: Any = SPEC.vocabulary
    if kind == "Relation":
        forms = list(words.relations[value])
    else:
        entry = {"Size": words.sizes, "Color": words.colors, "Material": words.materials, "Shape": words.shapes}
        forms = [value, *entry[kind][value].synonyms]
    return any(re.search(rf"\b{form}", sentence, re.IGNORECASE) for form in forms)
