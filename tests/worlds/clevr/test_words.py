"""The words of a vocabulary: each has one meaning, and each name can be read as an answer, in any script."""

import random
import unicodedata
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.errors import BadSpec
from generation.engine.replies.reply_reader import ReplyReader
from generation.engine.replies.vocabulary import AnswerVocabulary
from generation.engine.worlds import get_world
from generation.engine.worlds.clevr.vocabulary import regular_plural
from generation.engine.worlds.clevr.word_rules import _Part, ambiguous_phrase
from tests.worlds.clevr.bad_specs import at

WORLD = get_world("clevr")
PINK = {"rgb": [255, 130, 180]}
MATTE = {"kind": "matte"}
SIZE = {"scale": 0.5}
CONE = {"solid": "cone"}
ENTRIES: dict[str, Any] = {"colors": PINK, "materials": MATTE, "sizes": SIZE, "shapes": CONE}

# The part of the vocabulary, a new name in it, and words of the message.
REFUSED = (
    ("colors", "tiny", "'tiny' as the name of the color 'tiny', which is also a synonym of the size 'small'"),
    ("materials", "ball", "also a synonym of the shape 'sphere'"),
    ("colors", "cubes", "also the name of the shape 'cube' ('cube')"),
    ("sizes", "balls", "also a synonym of the shape 'sphere' ('ball')"),
    ("shapes", "shiny", "also a synonym of the material 'metal'"),
    ("colors", "big", "also a synonym of the size 'large'"),
    ("colors", "rubbers", "'rubber'"),
    ("colors", "thing", "a noun for any object"),
    ("shapes", "objects", "a noun for any object"),
    ("colors", "grey", "'gray'"),
    ("colors", "сyan", "('cyan')"),  # with a Cyrillic letter
    ("colors", "left", "a word that no relation has"),
    ("materials", "side", "a word that no relation has"),
    ("colors", "color", "texts of questions"),
    ("colors", "same", "texts of questions"),
    ("shapes", "picture", "texts of questions"),
    ("colors", "a", "the letter of an option"),
    ("colors", "three", "not another answer"),
    ("colors", "true", "not another answer"),
    ("colors", "none", "not another answer"),
    ("colors", "red or blue", "denies or lists"),
    ("colors", "not red", "denies or lists"),
    ("colors", "small red", "every description can be read in one way, got 'small red'"),
    ("materials", "blue rubber", "got 'blue rubber'"),
    ("colors", "dark  blue", "single spaces"),
    ("colors", "dark blue ", "single spaces"),
    ("colors", "Orange", "a name in small letters, such as 'orange', got 'Orange'"),
    ("colors", "7up", "begins with a letter"),
    ("colors", "re\u200bd", "U+200B (zero width space)"),
    ("colors", "\u202ered", "begins with a letter"),
    ("colors", "red\u202e", "U+202E (right-to-left override)"),
    ("colors", "ｏｒａｎｇｅ", "plain letters and signs, such as 'orange'"),
    ("colors", "red;blue", "spaces, hyphens, underscores and apostrophes, got 'red;blue' with the character U+003B"),
    ("colors", "😀", "begins with a letter"),
    ("colors", "x" * 31, "at most 30 characters"),
)
KEPT = (
    "dark blue",
    "navy blue",
    "größer",
    "青",
    "أحمر",
    "हरा",
    "สีส้ม",
    "mother of pearl",
    "robin's egg",
    "red-ish",
    "öl",
)


def read(vocabulary: dict[str, Any]) -> Any:
    return WORLD.read_spec({"base": "clevr-mini", "vocabulary": vocabulary})


def test_a_word_with_another_meaning_is_refused_in_words() -> None:
    for part, name, words in REFUSED:
        with pytest.raises(BadSpec) as refused:
            read({part: {name: ENTRIES[part]}})
        assert words in refused.value.reason, (name, refused.value.reason)
        assert refused.value.where.startswith(f"vocabulary.{part}")
        assert "^" not in refused.value.reason


def test_synonyms_plurals_and_nouns_are_checked_as_names_are() -> None:
    for path, value in (
        ("colors.red.synonyms", ["Ball"]),
        ("colors.red.synonyms", ["matte"]),
        ("shapes.cube.synonyms", {"brick": "balls"}),
        ("shapes.cube.plural", "spheres"),
        ("things", {"cube": "cubes"}),
    ):
        with pytest.raises(BadSpec, match="Expected a word with one meaning"):
            read(at(path, value))
    with pytest.raises(BadSpec) as refused:
        WORLD.read_spec(
            {"base": "clevr-mini", "splits": {"val": {"overrides": {"vocabulary": {"colors": {"tiny": PINK}}}}}}
        )
    assert refused.value.where == "splits.val.overrides.vocabulary.colors.tiny"


def test_a_stored_dataset_keeps_words_that_an_earlier_release_accepted() -> None:
    data = {"base": "clevr-mini", "vocabulary": {"colors": {"tiny": PINK}}}
    assert "tiny" in WORLD.read_stored_spec(data).vocabulary.values("color")


def test_names_of_any_script_are_written_and_read() -> None:
    spec = read({"colors": dict.fromkeys(KEPT, PINK), "shapes": {"立方体": CONE, "würfel": CONE, "pointed hat": CONE}})
    reader = ReplyReader(
        AnswerVocabulary(WORLD.answers(spec), synonyms=WORLD.synonyms(spec)), [range(len(WORLD.answers(spec)))]
    )
    for name in (*KEPT, "立方体", "würfel"):
        code = WORLD.answers(spec).index(name)
        for form, reply in product(("NFC", "NFD"), ("{}", "Answer: {}.", "The answer is **{}**.", "It is {}")):
            assert reader.code(unicodedata.normalize(form, reply.format(name)), 0) == code
    assert reader.code("the answer is dark blue, not blue", 0) == WORLD.answers(spec).index("dark blue")
    part = ReplyReader(AnswerVocabulary(["हर", "red"]), [range(2)])
    assert (part.code("It is हर.", 0), part.code("It is हरा.", 0), part.code("It is हरां", 0)) == (0, -1, -1)
    assert spec.vocabulary.plural("立方体") == "立方体"
    assert (spec.vocabulary.plural("würfel"), spec.vocabulary.plural("pointed hat")) == ("würfels", "pointed hats")
    assert [regular_plural(noun) for noun in ("bus", "box", "berry", "v2", "مكعب")] == [
        "buses", "boxes", "berries", "v2s", "مكعب",
    ]  # fmt: skip


def test_a_name_has_one_form_in_the_whole_spec() -> None:
    spec = WORLD.read_spec(
        {
            "base": "clevr-mini",
            "vocabulary": {"colors": {"gro\u0308ßer": PINK}},
            "scene": {"never": [{"color": ["gro\u0308ßer", "red"]}]},
            "splits": {"val": {"overrides": {"vocabulary": {"colors": {"gro\u0308ßer": {"rgb": [1, 2, 3]}}}}}},
        }
    )
    assert "größer" in spec.vocabulary.colors and spec.for_split("val").vocabulary.colors["größer"].rgb == (1, 2, 3)
    assert WORLD.read_spec(spec.to_json()).to_json() == spec.to_json()
    with pytest.raises(BadSpec, match="'größer' in two forms of Unicode"):
        read({"colors": {"größer": PINK, "gro\u0308ßer": PINK}})


def readings(parts: list[_Part]) -> bool:
    """Return whether two descriptions have the same words, by trying all of them."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    nothing = _Part(-1, (), "")
    for chosen in product(*([nothing, *(part for part in parts if part.place == place)] for place in range(3)),
                          [part for part in parts if part.place == 3]):  # fmt: skip
        said = tuple(word for part in chosen for word in part.words)
        values = tuple(part.value for part in chosen)
        if found.setdefault(said, values) != values:
            return True
    return False


@given(st.integers(0, 2**32))
def test_descriptions_with_two_readings_are_found(seed: int) -> None:
    chance = random.Random(seed)
    parts = [
        _Part(place, tuple(chance.choices("ab", k=chance.randint(1, 3))), f"{place}{number}")
        for place in range(4)
        for number in range(chance.randint(1, 2))
    ]
    assert bool(ambiguous_phrase(parts)) == readings(parts)
