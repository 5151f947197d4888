"""The listener recognises every text that the speaker can produce, and no other text."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from generation.engine.language.families import RELATION, Family
from generation.engine.language.text_recognition import Listener
from generation.engine.language.wording import Speaker, read_wording
from generation.engine.worlds.clevr.question_text import lexicon
from tests.engine.language.test_wording import FAMILIES, PLAIN, SPEC, chance
from tests.proof import size

LEXICON = lexicon(SPEC.vocabulary)


def random_values(family: Family, draw: random.Random) -> list[str | None]:
    """Return a random value for each parameter. It is None for some parameters that may be unset."""
    return [
        draw.choice([*SPEC.language.values(param.type), *([] if param.type == RELATION else [None])])
        for param in family.params
    ]


def test_every_spoken_text_is_recognised():
    draw, stream = random.Random(1), chance(1)
    speaker, listener = Speaker(LEXICON, optional_words=0.5), Listener(LEXICON, optional_words=0.5)
    for _ in range(size(20_000, name="texts heard again")):
        family = draw.choice(FAMILIES)
        wording, alike = draw.choice(family.wordings), draw.random() < 0.5
        said: dict[str, Any] = {
            "types": [param.type for param in family.params], "values": random_values(family, draw), "alike": alike,
        }  # fmt: skip
        text = speaker.say(wording, **said, stream=stream)
        assert listener.hears(text, wording, **said), text
        other = random_values(family, draw)
        assert listener.hears(text, wording, **{**said, "values": other}) == (other == said["values"]), (text, other)
        words = text.split()
        del words[draw.randrange(1, len(words))]
        optional = "[" in wording.text or "{" in wording.text
        assert optional or not listener.hears(" ".join(words), wording, **said), text


def hears(
    text: str, wording: str, *, values: Sequence[str | None] = (), alike: bool = True, words: float = 0.5
) -> bool:
    """Return whether the listener recognises the text as a wording with a colour and a shape."""
    names = [name for name in ("<C>", "<S>") if name in wording]
    types = [{"<C>": "Color", "<S>": "Shape"}[name] for name in names]
    read = read_wording(wording, params=names, where="here")
    return Listener(PLAIN, optional_words=words).hears(text, read, types=types, values=values, alike=alike)


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("Is it an orange bus?", True),
        ("Is it an orange coach?", True),
        ("Is it a orange bus?", False),
        ("Is it an orange buses?", False),
        ("is it an orange bus?", False),
        ("Is It an orange bus?", False),
        ("Is it an orange bus ?", False),
        ("Is it an orange bus? ", False),
        ("Is it  an orange bus?", False),
        ("Is it an orange object?", False),
        ("", False),
    ],
)
def test_every_letter_matters(text: str, heard: bool):
    assert hears(text, "Is it a <C> <S>?", values=["orange", "bus"]) == heard


def test_articles_fit_the_word_that_follows():
    assert hears("Is it an hourglass?", "Is it a <S>?", values=["hourglass"])
    assert not hears("Is it a hourglass?", "Is it a <S>?", values=["hourglass"])
    assert hears("Is it a unicycle?", "Is it an <S>?", values=["unicycle"])
    assert hears("An orange bus?", "A <C> <S>?", values=["orange", "bus"])
    assert hears("A bus or an object?", "A <S> or a thing?", values=["bus"])


@pytest.mark.parametrize(
    ("alike", "text"), [(True, "Is another bus near other things?"), (False, "Is a bus near objects?")]
)
def test_other_is_recognised_only_if_the_objects_could_be_alike(alike: bool, text: str):
    text = text.replace("things", "objects")
    assert hears(text, "Is another <S> near other things?", values=["bus"], alike=alike)
    assert not hears(text, "Is another <S> near other things?", values=["bus"], alike=not alike)


@pytest.mark.parametrize(("share", "with_it", "without"), [(0.0, False, True), (0.5, True, True), (1.0, True, False)])
def test_optional_words_are_recognised_unless_their_share_is_zero_or_one(share: float, with_it: bool, without: bool):
    assert hears("Is it very near?", "Is it [very] near?", words=share) == with_it
    assert hears("Is it near?", "Is it [very] near?", words=share) == without


def test_exactly_one_of_several_alternatives_is_recognised():
    for text, heard in (("Is it big?", True), ("Is it huge?", True), ("Is it big huge?", False), ("Is it ?", False)):
        assert hears(text, "Is it {big|huge}?") == heard
