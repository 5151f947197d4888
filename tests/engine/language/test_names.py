"""Names that people choose: one form for the same name, visible characters, and names that look the same."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.language.names import BadName, composed, is_invisible, look_alike, looks, read_name

ALIKE = (
    ("LSTM", "lstm"),
    ("GRÖSSE", "größe"),
    ("CNN", "СNN"),  # Cyrillic
    ("ALPHA", "ΑLΡΗΑ"),  # Greek
    ("COS", "ՏOC"[::-1]),  # Armenian
    ("W", "Ꮃ"),  # Cherokee
    ("cосо", "сoco"),
    ("ë", "ё"),
    ("model", "ｍｏｄｅｌ"),
    ("model", "𝗆odel"),
    ("a-b", "a–b"),
    ("a-b", "a−b"),
    ("it's", "it’s"),
    ("model-1", "model-l"),
    ("model-I", "model-l"),
    ("v0", "vO"),
    ("corn", "com"),
    ("a b", "a\u00a0b"),
    ("a b", "a\u3000 b"),
    ("ab", "a\u200bb"),
    ("ab", "\u202eab"),
    ("fi", "ﬁ"),
    ("x2", "x²"),
    ("caffè", "caffe\u0300"),
)
DIFFERENT = (
    ("LSTM", "LSTN"),
    ("a b", "ab"),
    ("e", "é"),
    ("v1", "v2"),
    ("o", "ö"),
    ("青", "清"),
    ("в", "b"),
    ("a.b", "a-b"),
)
REFUSED = {
    "": "got nothing",
    " \u3000 ": "got nothing",
    "a\nb": r"'a\nb' with the character U+000A",
    "a\tb": "U+0009",
    "a\0b": "U+0000",
    "a\u200bb": "U+200B (zero width space)",
    "a\u200db": "U+200D (zero width joiner)",
    "\u202eabc": "U+202E (right-to-left override)",
    "\u200fabc": "U+200F (right-to-left mark)",
    "a\u2066b": "U+2066 (left-to-right isolate)",
    "a\xadb": "U+00AD (soft hyphen)",
    "a\ufe0f": "U+FE0F (variation selector-16)",
    "a\U000e0061": "U+E0061 (tag latin small letter a)",
    "a\u3164": "U+3164 (hangul filler)",
    "\u2800": "U+2800 (braille pattern blank)",
    "a\ue000": "U+E000",
    "a\ud800": "U+D800",
    "a\u2028b": "U+2028 (line separator)",
    "\u0301a": "accents on letters",
    "a\u0316\u0317\u0318\u0319": "at most 3",
    "a" * 31: "at most 30 characters, got 31 characters",
}


def test_names_that_cannot_be_told_apart_share_a_look() -> None:
    assert [pair for pair in ALIKE if not look_alike(*pair)] == []
    assert [pair for pair in DIFFERENT if look_alike(*pair)] == []


def test_a_text_that_cannot_be_a_name_is_refused_with_its_fault() -> None:
    for text, words in REFUSED.items():
        with pytest.raises(BadName) as refused:
            read_name(text, most=30)
        assert words in str(refused.value)
        assert not any(map(is_invisible, str(refused.value)))


def test_names_of_any_script_are_kept() -> None:
    for name in ("CNN+LSTM+SA", "größer", "青", "أحمر", "हरा रंग", "สีส้ม", "Tiếng Việt", "🤖 GPT-4o (0-shot)", "β-VAE"):
        assert read_name(name, most=30) == name


@given(st.text("aAeéßİıВвIl|10Omrnﬁ青أ -–\u00a0\u3000\u0301\u0327\u200b\n", max_size=12))
def test_a_name_has_one_form_and_looks_like_its_other_forms(text: str) -> None:
    try:
        name = read_name(text, most=30)
    except BadName:
        return
    assert read_name(name, most=30) == name == composed(f"  {unicodedata.normalize('NFD', text)}\u00a0")
    assert not any(map(is_invisible, name))
    assert look_alike(name, name.casefold()) and looks(name) == looks(unicodedata.normalize("NFD", name))
