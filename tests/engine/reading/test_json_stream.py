"""Records are read from a JSON file one by one, compared with a parser that builds them from events."""

import io
import json
from typing import Any

import ijson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from generation.engine.errors import BadRecord
from generation.engine.reading import json_stream
from generation.engine.reading.bounded_json import Guarded
from generation.engine.reading.json_stream import JsonText, records
from tests import proof

NUMBERS = st.integers(1 - 2**63, 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(["list", "info", "", "ist", "li\\st"])


class Trickle:
    """A file that returns only a few bytes for each read, whatever size is requested."""

    def __init__(self, content: bytes, sizes: list[int]) -> None:
        self.content, self.sizes, self.reads = io.BytesIO(content), sizes, 0

    def read(self, size: int = -1, /) -> bytes:
        self.reads += 1
        return self.content.read(min(size, self.sizes[self.reads % len(self.sizes)]))


def read_in_pieces(content: bytes, sizes: list[int]) -> list[Any]:
    return read_all(Trickle(content, sizes))


def read_all(file: Any) -> list[Any]:
    return list(records(JsonText(Guarded(file)), "list", where="a.json"))


def read_by_ijson(content: bytes) -> list[Any]:
    return list(ijson.items(io.BytesIO(content), "list.item", use_float=True))


@settings(max_examples=proof.size(2000))
@given(
    data=st.dictionaries(KEYS, VALUES | st.lists(VALUES, max_size=6)).map(lambda data: {"list": [], **data}),
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    style=st.sampled_from([{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}]),
)
def test_records_equal_those_of_a_plain_parser(data: dict[str, Any], sizes: list[int], style: dict[str, Any]) -> None:
    content = json.dumps(data, **style).encode()
    if not isinstance(data["list"], list):
        with pytest.raises(BadRecord, match=r"a\.json: Expected a list 'list', got"):
            read_in_pieces(content, sizes)
        return
    found = read_in_pieces(content, sizes)
    assert found == read_by_ijson(content)
    assert list(map(repr, found)) == list(map(repr, read_by_ijson(content)))  # `repr` distinguishes 1 and 1.0


@settings(max_examples=proof.size(2000))
@given(
    data=st.lists(VALUES, max_size=6),
    info=VALUES,
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    style=st.sampled_from([{}, {"indent": 1}, {"ensure_ascii": False}]),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
)
def test_the_span_of_a_record_is_its_place_in_the_file(
    data: list[Any], info: Any, sizes: list[int], style: dict[str, Any], mark: bytes
) -> None:
    content = mark + json.dumps({"info": info, "list": data}, **style).encode()
    text = JsonText(Guarded(Trickle(content, sizes)))
    spans = [text.span for _ in records(text, "list", where="a.json")]
    assert [json.loads(content[begin:end]) for begin, end in spans] == data


def has_one_list(text: str) -> bool:
    """Return whether the name `list` occurs exactly once in a JSON object."""
    return [name for name, _ in json.loads(text, object_pairs_hook=list)].count("list") == 1


def has_long_number(value: Any) -> bool:
    """Return whether a JSON value has a whole number that needs more than 64 bits, which the reader refuses."""
    if isinstance(value, list | dict):
        return any(map(has_long_number, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int) and not -(2**63) <= value < 2**63


@settings(max_examples=proof.size(2000))
@given(
    data=st.fixed_dictionaries({"list": st.lists(VALUES, max_size=4)}, optional={"info": VALUES}),
    place=st.floats(0, 1),
    harm=st.sampled_from(["", "cut", *'{}[]:,"x1\\']),
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=5),
)
@example(data={"list": [0, 1.7976931347313668e308]}, place=12.5 / 38, harm="1", sizes=[1])
@example(data={"list": [], "info": 1.7976931347313668e308}, place=20.5 / 45, harm="1", sizes=[1])
def test_broken_json_is_refused_or_read_as_a_plain_parser_reads_it(
    data: dict[str, Any], place: float, harm: str, sizes: list[int]
) -> None:
    whole = json.dumps(data)
    at = int(place * len(whole))
    text = whole[:at] if harm == "cut" else whole[:at] + harm + whole[at + 1 :]
    try:
        found = json.loads(text)
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()  # refuses half surrogate pairs and 1e999, too
        is_object = isinstance(found, dict) and not has_long_number(found)
    except ValueError:
        is_object = False
    if is_object and isinstance(found.get("list"), list) and has_one_list(text):
        assert read_in_pieces(text.encode(), sizes) == read_by_ijson(text.encode())
    else:
        with pytest.raises(BadRecord, match=r"a\.json(, list\[\d\])?: Expected (JSON|a value|(a|one) list)"):
            read_in_pieces(text.encode(), sizes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expecting '{', it ends too early"),
        ("[]", "expecting '{', got '['"),
        ('{"list": [1', "expecting ',', it ends too early"),
        ('{"list": [1,]}', "Expecting value"),
        ('{"list": [1] "a": 2}', "expecting ',', got '\"'"),
        ('{"list": [1],}', "Expecting value"),
        ('{1: []}', "a name is wanted, not 1"),
        ('{"list": []} x', "more after its end: 'x'"),
        ('{"list": [NaN]}', "Expected JSON, got NaN: NaN and Infinity are no JSON numbers."),
        ('{"list": [1e999]}', "a number is too large: 1e999"),
        ('{"list": [9223372036854775808]}', "a whole number is too large: 9223372036854775808"),
        ('{"list": ["\\ud800"]}', "surrogates not allowed"),
        ('{"list": [' + "[" * 100_000, "Expected at most 64 lists and objects inside one another, got more"),
        ('{"list": ["\n"]}', "Invalid control character"),
    ],
)  # fmt: skip
def test_invalid_json_is_refused_with_a_message(text: str, message: str) -> None:
    with pytest.raises(BadRecord) as caught:
        read_all(io.BytesIO(text.encode()))
    assert message in caught.value.reason


def test_bytes_that_are_not_utf_8_are_refused() -> None:
    with pytest.raises(BadRecord, match=r"Expected UTF-8, got another byte \(line 1, byte 12\)"):
        read_all(io.BytesIO(b'{"list": ["\xff"]}'))


def test_a_byte_order_mark_is_skipped() -> None:
    assert read_all(io.BytesIO(b'\xef\xbb\xbf{"list": [1]}')) == [1]


def test_reading_stops_at_a_record_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "LONGEST", 1000)
    monkeypatch.setattr(json_stream, "BUFFER", 100)
    file = io.BytesIO(b'{"list": [0, "' + b"a" * 1_000_000)
    with pytest.raises(BadRecord, match=r"list\[1\]: .*no end of it within 1,000 characters"):
        read_all(file)
    assert file.tell() < 10_000
