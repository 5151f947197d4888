"""JSON is checked against limits before it is parsed."""

import io
import json
from itertools import pairwise
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from generation.engine.reading.bounded_json import BadJson, Bounds, Guard, Guarded, loads

SMALL = Bounds(depth=3, text=5, number=4)


def first_fault(text: bytes, bounds: Bounds) -> int | None:
    """Return the byte (from 0) at which a text exceeds the limits, or None. This is the slow twin of the guard."""
    depth, inside, run, escaped = 0, -1, 0, False
    for place, code in enumerate(text):
        sign, was_escaped = chr(code), escaped
        escaped = sign == "\\" and not was_escaped
        if inside >= 0:
            run = 0
            if sign == '"' and not was_escaped:
                inside = -1
                continue
            inside += 1
            if inside > bounds.text:
                return place
            continue
        run = run + 1 if sign in "0123456789+-.eE" else 0
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(sign, 0)
        if run > bounds.number or not 0 <= depth <= bounds.depth:
            return place
        if sign == '"' and not was_escaped:
            inside = 0
    return None


def fault_of(pieces: list[bytes], bounds: Bounds) -> tuple[int, int] | None:
    """Return the byte and the line (both from 1) at which the guard refuses the text; None if it accepts it."""
    guard = Guard(bounds)
    try:
        for piece in pieces:
            guard.feed(piece)
    except BadJson as error:
        return error.byte, error.line
    return None


TEXTS = st.lists(st.sampled_from([*'[]{}"\\12.e-: ,\nax', '""', "123", '\\"', "\\\\", "ü"]), max_size=60).map("".join)


@given(text=TEXTS, cuts=st.lists(st.integers(0, 60), max_size=4))
@example(text='"\\\\"[[[[', cuts=[2])
@example(text="12345", cuts=[2, 4])
@example(text="]]]][[[[[[[[", cuts=[])
def test_the_guard_refuses_at_the_same_byte_as_its_slow_twin(text: str, cuts: list[int]) -> None:
    content = text.encode()
    edges = [0, *sorted(cuts), len(content)]
    pieces = [content[start:end] for start, end in pairwise(edges)] if edges[-2] <= len(content) else [content]
    place = first_fault(content, SMALL)
    assert fault_of(pieces, SMALL) == (None if place is None else (place + 1, content[:place].count(b"\n") + 1))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(value=VALUES, indent=st.sampled_from([None, 2]), is_ascii=st.booleans())
def test_valid_json_is_parsed_unchanged(value: object, indent: int | None, is_ascii: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)
    assert loads(text) == value
    if is_ascii:
        assert loads(b"\xef\xbb\xbf" + text.encode()) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 65, "Expected at most 64 lists and objects inside one another, got more (line 1, byte 65)"),
        ("[1,\n" + "9" * 101, "Expected numbers of at most 100 characters, got a longer one (line 2, byte 105)"),
        ('["' + "a" * (1 << 20) + 'b"]', "Expected texts of at most 1,048,576 bytes, got a longer one (line 1"),
        ("[1, 2\n, NaN]", "got NaN: NaN and Infinity are no JSON numbers (line 2, byte 9)"),
        ('["NaN", -Infinity]', "got -Infinity: NaN and Infinity are no JSON numbers (line 1, byte 9)"),
        ("]" * 100 + "[" * 100, "Expected a value, got the end of a list or an object that has no beginning"),
        ("[1,]", "Expected JSON, got something else (Expecting value) (line 1, byte 4)"),
        ('{"a": 1', "Expected JSON, got something else"),
        ("1e999", "a number is too large"),
        ("", "Expected JSON, got something else"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "Expected each name once in an object, got 'c' twice"),
        ('{"a": 1, "\\u0061": 2}', "Expected each name once in an object, got 'a' twice"),
        ('["\\ud800"]', "got half of a surrogate pair"),
        ('{"\\udc00": 1}', "got half of a surrogate pair"),
        ('["\ud800"]', "got half of a surrogate pair"),
        ('{"a":' * 10_000, "Expected at most 64 lists and objects inside one another, got more"),
        ("9" * 5000, "Expected numbers of at most 100 characters, got a longer one"),
    ],
)
def test_each_error_has_one_message_with_its_place(text: str, message: str) -> None:
    with pytest.raises(BadJson) as caught:
        loads(text)
    assert message in str(caught.value)


def test_other_encodings_are_refused() -> None:
    with pytest.raises(BadJson, match="line 1, byte 1"):
        loads("[1]".encode("utf-16"))


def test_the_limits_of_numbers_and_depth_do_not_apply_within_texts() -> None:
    text = json.dumps(["9" * 1000, "[" * 1000, '\\"' * 500])
    assert loads(text) == json.loads(text)


def test_a_guarded_file_returns_the_bytes_before_the_error() -> None:
    file = Guarded(io.BytesIO(b'{"a": [1]}' + b"[" * 100))
    assert file.read(10) == b'{"a": [1]}'
    with pytest.raises(BadJson, match="byte 75"):
        file.read(100)


def test_a_hundred_megabytes_are_checked_within_seconds() -> None:
    record = json.dumps({'a\\"b': [1.25, -3, {"deep": ["x" * 50, "y\n"]}], "text": "z" * 100})
    piece = f"{record},".encode() * ((1 << 20) // (len(record) + 1))
    guard = Guard()
    guard.feed(b"[")
    before = process_time()
    for _ in range(100):
        guard.feed(piece)
    assert process_time() - before < 10
