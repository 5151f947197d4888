"""Untrusted JSON: the depth and the lengths of strings and numbers are checked before a parser reads the text.

A parser may need memory, stack and time that grow faster than the file: with the square of the depth or with the
square of a number's digits. `Guard` checks the bytes first, in a few vectorised passes over each piece, and `loads`
parses text that was checked. Every file, form field and request body from outside passes through one of them. The tests
list the modules that use another parser, each with the reason.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

PIECE = 1 << 20  # bytes checked at a time
QUOTE = ord('"')
NUMERIC = b"0123456789+-.eE"
IS_NUMERIC = bytes(ord("0") if code in NUMERIC else ord(" ") for code in range(256))
STEP = bytes({"[": 1, "{": 1, "]": 255, "}": 255}.get(chr(code), 0) for code in range(256))  # 255 is -1 as int8
CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*+"|(NaN|-?Infinity)', re.DOTALL)


class Bounds(NamedTuple):
    """The limits for JSON.

    Attributes
    ----------
    depth : int
        Nesting depth of lists and objects.
    text : int
        Bytes of one JSON string, as written.
    number : int
        Characters of one number.
    """

    depth: int = 64
    text: int = 1 << 20
    number: int = 100


BOUNDS = Bounds()


class BadJson(ValueError):
    """Text that is not JSON or exceeds the limits. The message is a sentence for users.

    Attributes
    ----------
    byte, line : int
        The place of the error, both counted from 1; 0 if it is not known.
    """

    def __init__(self, message: str, *, byte: int = 0, line: int = 0) -> None:
        self.message, self.byte, self.line = message, byte, line
        super().__init__(f"{message} (line {line}, byte {byte})." if byte else f"{message}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (self.message, self.byte, self.line))


def _again(message: str, byte: int, line: int) -> BadJson:
    return BadJson(message, byte=byte, line=line)


class Readable(Protocol):
    """An object from which bytes can be read."""

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes; empty at the end."""


class _Fault(NamedTuple):
    """A violation of the limits at a place in the piece."""

    place: int
    message: str


class Guard:
    """Checks the bytes of one JSON text, piece by piece; raises `BadJson` at the first byte beyond the limits.

    It follows the text exactly as a parser does until the parser's first error. After that nothing is read.
    """

    def __init__(self, bounds: Bounds = BOUNDS) -> None:
        self.bounds = bounds
        self.bytes = 0
        self.lines = 1
        self.depth = 0
        self.escaped = False  # whether the next byte follows a backslash
        self.inside = -1  # bytes of the string that continues in the next piece; -1 outside strings
        self.run = 0  # characters of the number that continues in the next piece
        self.next_depth = 0  # depth at the end of the piece that is being checked

    def feed(self, content: bytes) -> None:
        """Check the next bytes."""
        for start in range(0, len(content), PIECE):
            self._feed(content[start : start + PIECE])

    def _feed(self, piece: bytes) -> None:
        plain = self._without_escapes(piece)
        data = np.frombuffer(plain, np.uint8)
        quotes = np.flatnonzero(data == QUOTE)
        faults = [*self._texts(quotes, len(plain)), *self._levels(plain, quotes), *self._numbers(plain, quotes)]
        if faults:
            first = min(faults)
            line = self.lines + piece.count(b"\n", 0, first.place)
            raise BadJson(first.message, byte=self.bytes + first.place + 1, line=line)
        self._advance(piece, plain, quotes)

    def _without_escapes(self, piece: bytes) -> bytes:
        """Return a piece of the same length in which escaped backslashes and quotes are replaced."""
        if self.escaped and piece[:1] in (b"\\", b'"'):
            piece = b"_" + piece[1:]
        if b"\\" in piece:
            piece = piece.replace(b"\\\\", b"__").replace(b'\\"', b"__")
        return piece

    def _texts(self, quotes: NDArray[np.intp], size: int) -> Iterator[_Fault]:
        begun = [] if self.inside < 0 else [-1 - self.inside]
        edges = np.concatenate([np.array(begun, np.intp), quotes, np.array([size], np.intp)])
        lengths = edges[1::2] - edges[: len(edges) // 2 * 2 : 2] - 1
        long = np.flatnonzero(lengths > self.bounds.text)
        if len(long):
            place = int(edges[2 * long[0]]) + 1 + self.bounds.text
            yield _Fault(place, f"Expected texts of at most {self.bounds.text:,} bytes, got a longer one")

    def _levels(self, plain: bytes, quotes: NDArray[np.intp]) -> Iterator[_Fault]:
        steps = np.frombuffer(plain.translate(STEP), np.int8)
        places = np.flatnonzero(steps)
        places = places[(np.searchsorted(quotes, places) + (self.inside >= 0)) & 1 == 0]
        depths = self.depth + np.cumsum(steps[places], dtype=np.int64)
        deep = np.flatnonzero((depths > self.bounds.depth) | (depths < 0))
        if len(deep):
            more = f"Expected at most {self.bounds.depth} lists and objects inside one another, got more"
            closed = "Expected a value, got the end of a list or an object that has no beginning"
            yield _Fault(int(places[deep[0]]), closed if depths[deep[0]] < 0 else more)
        elif len(depths):
            self.next_depth = int(depths[-1])
        else:
            self.next_depth = self.depth

    def _numbers(self, plain: bytes, quotes: NDArray[np.intp]) -> Iterator[_Fault]:
        marks = b"0" * self.run + plain.translate(IS_NUMERIC)
        if b"0" * (self.bounds.number + 1) not in marks:
            return
        is_numeric = np.frombuffer(marks, np.uint8) == ord("0")
        is_inside = np.zeros(len(plain) + 1, np.uint8)
        is_inside[quotes + 1] = 1
        inside = (np.cumsum(is_inside[:-1], dtype=np.uint8) & 1).astype(bool) ^ (self.inside >= 0)
        is_numeric[self.run :] &= ~inside
        others = np.concatenate([[-1], np.flatnonzero(~is_numeric), [len(is_numeric)]])
        long = np.flatnonzero(np.diff(others) - 1 > self.bounds.number)
        if len(long):
            place = int(others[long[0]]) + 1 + self.bounds.number - self.run
            yield _Fault(place, f"Expected numbers of at most {self.bounds.number} characters, got a longer one")

    def _advance(self, piece: bytes, plain: bytes, quotes: NDArray[np.intp]) -> None:
        """Update the state to the end of the piece."""
        self.depth = self.next_depth
        if (len(quotes) + (self.inside >= 0)) % 2 == 0:
            self.inside = -1
        else:
            self.inside = len(plain) - 1 - int(quotes[-1]) if len(quotes) else self.inside + len(plain)
        tail = len(plain) - len(plain.rstrip(NUMERIC))
        self.run = 0 if self.inside >= 0 else tail + (self.run if tail == len(plain) else 0)
        self.escaped = plain.endswith(b"\\")
        self.bytes += len(piece)
        self.lines += piece.count(b"\n")


class Guarded:
    """A file whose bytes are checked while it is read."""

    def __init__(self, file: Readable) -> None:
        self.file, self.guard = file, Guard(BOUNDS)

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; raise `BadJson`."""
        content = self.file.read(size)
        self.guard.feed(content)
        return content


def loads(text: str | bytes, *, bounds: Bounds = BOUNDS) -> Any:
    """Return the value of a JSON text in UTF-8; raise `BadJson` if it is not JSON or exceeds the limits.

    JSON allows a name twice in an object, and half of a surrogate pair in a text; both are refused, because other
    programs read them differently or not at all.

    Parameters
    ----------
    text : str or bytes
        With or without a byte order mark.
    bounds : Bounds
    """
    if isinstance(text, bytes):
        text = _decoded(text)
    text = text.removeprefix("\ufeff")
    if not _is_small(text, bounds):
        Guard(bounds).feed(text.encode("utf-8", errors="surrogatepass"))
    try:
        value = DECODER.decode(text)
        if not text.isascii() or "\\u" in text:
            json.dumps([text, value], ensure_ascii=False).encode()
        return value
    except UnicodeEncodeError as error:
        raise BadJson("Expected texts of Unicode, got half of a surrogate pair") from error
    except json.JSONDecodeError as error:
        message = f"Expected JSON, got something else ({error.msg})"
        raise _bad(message, text, error.pos) from error
    except NoNumber as error:
        found = next((match for match in CONSTANT.finditer(text) if match[1]), None)
        raise _bad(str(error), text, found.start() if found else 0) from error
    except BadJson:
        raise
    except ValueError as error:
        raise BadJson(f"Expected JSON, got something else ({error})") from error


class NoNumber(ValueError):
    """NaN or Infinity, which Python's parser accepts but JSON does not allow."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        [(twice, _), *_] = Counter(name for name, _ in pairs).most_common(1)
        raise BadJson(f"Expected each name once in an object, got {twice[:100]!r} twice")
    return found


def _is_small(text: str, bounds: Bounds) -> bool:
    """Return whether a text is so short and simple that it cannot exceed the limits. This is faster than a check."""
    return (
        len(text) * 4 <= min(bounds.text, PIECE)
        and text.count("[") + text.count("{") <= bounds.depth
        and _numeric_run(bounds.number).search(text) is None
    )


def _numeric_run(most: int) -> re.Pattern[str]:
    return re.compile(rf"[-+.0-9eE]{{{most + 1}}}")


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise BadJson("Expected UTF-8, got another byte", byte=error.start + 1, line=line) from error


def _bad(message: str, text: str, place: int) -> BadJson:
    before = text[:place]
    return BadJson(message, byte=len(before.encode("utf-8", errors="surrogatepass")) + 1, line=before.count("\n") + 1)


def real(text: str) -> float:
    """Return a number; raise ValueError if it is too large for a float."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"a number is too large: {text[:20]}")
    return number


def refuse_constant(text: str) -> None:
    """Raise `NoNumber`."""
    raise NoNumber(f"Expected JSON, got {text}: NaN and Infinity are no JSON numbers")


DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=real, parse_constant=refuse_constant)
