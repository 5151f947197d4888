"""No part of a key of eight characters or more is stored, printed or uploaded, however a server writes it."""

import base64
import json
import random
import time
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.asking.conftest import Call
from tests.asking.model_stub import ModelStub, reply_with, status
from tests.proof import size

KEY = "sk-proj-AbC/9+xyzQ_7tuvw-KLMNOP=0123456789abcdefghij"
LEAST = 8
Hidden = Callable[..., Any]


@pytest.fixture
def hidden(script: ModuleType) -> Hidden:
    """Give a function that returns what hides some keys."""

    def make(*keys: str) -> Any:
        redactor = script.Redactor()
        for key in keys:
            redactor.hide(key)
        return redactor

    return make


def has_part(text: str, key: str = KEY) -> bool:
    """Return whether a text has a part of a key of eight characters. This is the slow twin."""
    return any(key[at : at + LEAST].lower() in text.lower() for at in range(len(key) - LEAST + 1))


def test_every_part_is_hidden_and_nothing_else(hidden: Hidden) -> None:
    redactor, chance = hidden(KEY), random.Random(1)
    for _ in range(size(40_000, least=1000)):
        begin = chance.randrange(len(KEY))
        part = KEY[begin : chance.randrange(begin + 1, len(KEY) + 1)]
        part = chance.choice([part, part.upper(), part.lower()])
        text = "".join(chance.choices("xé…-k8 ", k=3)) + part + "".join(chance.choices("xé…-k8 ", k=3))
        found = redactor.text(text)
        assert not has_part(found)
        assert found == text or has_part(text)


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {KEY[:7]}...{KEY[-7:]}",
        f"{KEY[:7]} {KEY[7:14]} {KEY[14:21]}",
        "sk-proj",
        "",
        "\ud800",
        "The answer is red.",
    ],
)
def test_other_texts_are_the_same(hidden: Hidden, text: str) -> None:
    assert hidden(KEY).text(text) == text


def test_a_text_with_parts_keeps_the_rest(hidden: Hidden) -> None:
    assert hidden(KEY).text(f"é {KEY[:12]}***{KEY[-8:]} \ud800") == "é [key]***[key] \ud800"
    assert hidden(KEY, "hs_0123456789").text(f"{KEY[4:20]}, HS_01234567") == "[key], [key]"


def test_keys_of_a_few_characters_hide_nothing(hidden: Hidden) -> None:
    for key in ("", "local", "EMPTY", "1234567"):
        assert hidden(key).text(f"red {key} local EMPTY") == f"red {key} local EMPTY"


def test_a_key_that_repeats_one_character_is_hidden(hidden: Hidden) -> None:
    found = hidden("a" * 300).text("a" * 7 + " " + "a" * 900)
    assert found.startswith("a" * 7 + " [key]") and not has_part(found, "a" * 300)


def test_other_spellings_are_hidden(hidden: Hidden) -> None:
    redactor = hidden(KEY)
    assert redactor.text(urllib.parse.quote(KEY, safe="")) == "[key]"
    for before in range(6):
        for after in range(4):
            packed = base64.b64encode(b"u" * before + KEY.encode() + b"z" * after).decode()
            for text in (packed, packed.replace("+", "-").replace("/", "_")):
                found = redactor.text(text)
                assert "[key]" in found and len(found) <= len("[key]") + 4 * 5


def test_a_value_is_hidden_wherever_it_is(hidden: Hidden) -> None:
    value = {"a": [KEY[:9], {KEY[3:15]: (KEY, 1.5, None)}]}
    assert hidden(KEY).value(value) == {"a": ["[key]", {"[key]": ["[key]", 1.5, None]}]}


@pytest.mark.parametrize("text", ["The answer is red. ", KEY, f"{KEY[3:9]} ", f"{KEY[3:10]} ", KEY[::-1]])
def test_the_work_grows_with_the_length_alone(hidden: Hidden, text: str) -> None:
    redactor, seconds = hidden(KEY), []
    for length in (100_000, 800_000):
        long = text * (length // len(text))
        begin = time.process_time()
        redactor.text(long)
        seconds.append(time.process_time() - begin)
    assert seconds[1] < 40 * max(seconds[0], 0.01)  # it would be 64 times as long


def test_parts_of_a_key_are_not_stored_and_not_printed(
    call: Call, model: ModelStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MODEL_API_KEY", KEY)
    echoes = [KEY[:12], KEY[-8:], KEY[5:30].upper(), urllib.parse.quote(KEY, safe=""), KEY]
    said = f"Incorrect API key provided: {echoes[0]}****{echoes[1]}"
    model.troubles += [
        *(reply_with(f"red {echo}", reasoning=f"key {echo}", **{echo: 1}) for echo in echoes[:3]),
        status(500, {"error": {"message": said, "code": KEY[:20]}}),
        status(500, json.dumps({"detail": " ".join(echoes)}).encode()),
    ]
    call()
    out, err = capsys.readouterr()
    assert not has_part(out + err)
    stored = [path.read_text() for path in tmp_path.rglob("*") if path.is_file() and path.suffix in (".jsonl", ".json")]
    assert stored and not any(has_part(text) for text in stored)
    assert any("[key]" in text for text in stored)
