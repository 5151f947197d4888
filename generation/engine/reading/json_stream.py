"""Reading a list of records from a JSON file of any length, one record at a time.

Python's own scanner parses each record as soon as the text contains it completely. This takes four fifths of the time
of ijson, which builds records from events in C. A list that occurs twice is refused, but ijson joins both lists. The
tests compare the results with those of ijson.
"""

import codecs
import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from generation.engine.errors import BadRecord
from generation.engine.reading.bounded_json import BadJson, NoNumber, Readable, real, refuse_constant

BUFFER = 1 << 18  # bytes read at a time
LONGEST = 1 << 24  # characters that one record may take
LARGEST = 1 << 63  # limit for whole numbers, which databases and arrays need
GOES_ON = ("", ".", "e", "E")  # what may follow an incomplete number
BLANK = " \t\n\r"
SPACE = re.compile(f"[{BLANK}]*")


class NoList(ValueError):
    """A file of records lacks its list, or has a second one. The message is a sentence for users."""


def records(text: "JsonText", key: str, *, where: str, others: Collection[str] = ()) -> Iterator[Any]:
    """Yield the records of the list `key` of a JSON object, one after another. Numbers are floats and integers.

    Parameters
    ----------
    text : JsonText
        The file, not yet read.
    key : str
    where : str
        The file's name in messages.
    others : collection of str
        Names of other lists that the object must not have, because they would be ignored.

    Raises
    ------
    BadRecord
        If the file ends early, is not JSON, or lacks this list. The message names the record.
    """
    return _placed(text.items(key, others=others), where=where, key=key)


def list_records(text: "JsonText", *, where: str) -> Iterator[Any]:
    """Yield the records of a JSON list, one after another.

    Raises
    ------
    BadRecord
        If the file ends early, is not JSON, or is not a list. The message names the record.
    """
    return _placed(text.elements(), where=where)


def _placed(found: Iterator[Any], *, where: str, key: str = "") -> Iterator[Any]:
    """Yield records, and raise `BadRecord` with the place of a record that cannot be read."""
    number, place = 0, f"{where}, {key}"
    try:
        for record in found:
            yield record
            number += 1
    except NoList as error:
        raise BadRecord(str(error), where=where) from error
    except BadJson as error:
        raise BadRecord(str(error), where=f"{place}[{number}]") from error
    except NoNumber as error:
        raise BadRecord(f"{error}.", where=f"{place}[{number}]") from error
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise BadRecord(
            f"Expected JSON, got something else after {number} records ({reason}).", where=f"{place}[{number}]"
        ) from error


class JsonText:
    """The text of a file that is not parsed yet, from `at` on. Values are parsed by `decoder`.

    Text that is not JSON raises ValueError or RecursionError; so does a value of more than `longest` characters. A file
    from outside must be wrapped in `bounded_json.Guarded`.
    """

    def __init__(self, file: Readable, *, decoder: json.JSONDecoder | None = None, longest: int | None = None) -> None:
        self.file = file
        self.scanner, self.longest = decoder or DECODER, longest
        self.decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.text, self.at, self.has_ended = "", 0, False
        self.length = 0  # characters of the last value
        self.read = self.lines = 0  # bytes of the file, and ends of lines in them

    def items(self, key: str, *, others: Collection[str] = ()) -> Iterator[Any]:
        """Yield the items of the list under a key of the top-level object; raise `NoList`."""
        is_there = False
        for name in self._names():
            if name == key and is_there:
                raise NoList(f"Expected one list {key!r}, got a second. Put all records into one list.")
            if name in others:
                raise NoList(f"Expected a file with {key} alone, got also {name!r}. Put each list into its own file.")
            if name == key:
                is_there = True
                self.check_list(key)
                yield from self._list()
            else:
                self.skip()
        if not is_there:
            raise NoList(f"Expected a list {key!r}, got none.")
        self.end()

    def check_list(self, key: str) -> None:
        """Raise `NoList` unless the value that begins here, of the name `key`, is a list."""
        if (here := self._next()) != "[":
            raise NoList(f"Expected a list {key!r}, got {_kind_of(here)}. Write [ and ] around the records.")

    def elements(self) -> Iterator[Any]:
        """Yield the items of the top-level list; raise `NoList` if it is not a list."""
        if (here := self._next()) != "[":
            raise NoList(f"Expected a list of records, got {_kind_of(here)}. Write [ and ] around the records.")
        yield from self._list()
        self.end()

    def pairs(self) -> Iterator[tuple[str, Any]]:
        """Yield names and values of the object that begins here. Text after it is not checked."""
        for name in self._names():
            yield name, self._value()

    def names(self) -> Iterator[str]:
        """Yield the names of the top-level object; none for a list. The caller must read the value after each name."""
        if self._next() != "[":
            yield from self._names()

    def begins_list(self) -> bool:
        """Return whether the value that begins here is a list."""
        return self._next() == "["

    def first(self) -> Any:
        """Return the first item of the list that begins here, or None. Nothing is read after it."""
        return next(self._list(), None) if self.begins_list() else None

    def skip(self) -> None:
        """Skip the value that begins here; a list is skipped item by item."""
        if self._next() != "[":
            self._value()
        else:
            for _ in self._list():
                pass

    def value(self) -> Any:
        """Return the value that begins here."""
        return self._value()

    def end(self) -> None:
        """Raise ValueError unless the end of the file is reached."""
        if self.has_more():
            raise ValueError(f"more after its end: {self._next()!r}")

    def has_more(self) -> bool:
        """Return whether anything except whitespace follows."""
        return self._next() != ""

    @property
    def span(self) -> tuple[int, int]:
        """Return the first and the last byte position of the last value in the file."""
        end = self.read - len(self.decoder.getstate()[0]) - _bytes(self.text[self.at :])
        return end - _bytes(self.text[self.at - self.length : self.at]), end

    def _names(self) -> Iterator[str]:
        """Yield the names of an object. The caller must read the value after each name."""
        self._take("{")
        is_first = True
        while self._next() != "}" or not is_first:
            name = self._value()
            if not isinstance(name, str):
                raise ValueError(f"a name is wanted, not {name!r}")
            self._take(":")
            yield name
            if self._next() == "}":
                break
            self._take(",")
            is_first = False
        self._take("}")

    def _list(self) -> Iterator[Any]:
        self._take("[")
        if self._next() != "]":
            yield self._value()
            while self._next() != "]":
                self._take(",")
                yield self._value()
        self._take("]")

    def _next(self) -> str:
        """Return the next character that is not whitespace; empty at the end."""
        while True:
            if (here := self.text[self.at : self.at + 1]) and here not in BLANK:
                return here
            found = SPACE.match(self.text, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.text) or self.has_ended:
                return self.text[self.at : self.at + 1]
            self._read()

    def _take(self, wanted: str) -> None:
        found = self._next()
        if found != wanted:
            raise ValueError(f"expecting {wanted!r}, {f'got {found!r}' if found else 'it ends too early'}")
        self.at += 1

    def _value(self) -> Any:
        """Return the value that begins here, once it is complete: `12` may continue, and so may `1` before `e`."""
        self._next()
        while True:
            try:
                value, end = self.scanner.raw_decode(self.text, self.at)
            except json.JSONDecodeError:
                if self.has_ended:
                    raise
            else:
                if self.has_ended or self.text[end : end + 1] not in GOES_ON:
                    break
            self._read()
        if self.text.find("\\u", self.at, end) >= 0:
            json.dumps(value, ensure_ascii=False).encode()  # raises ValueError for half of a surrogate pair
        self.length, self.at = end - self.at, end
        return value

    def _read(self) -> None:
        """Read more text: at least as much as is pending, so that a long record is not parsed too often."""
        waiting = len(self.text) - self.at
        longest = self.longest or LONGEST
        if waiting > longest:
            raise ValueError(f"no end of it within {longest:,} characters")
        content = self.file.read(max(BUFFER, waiting))
        self.has_ended = not content
        self.text, self.at = self.text[self.at :] + self._decoded(content), 0

    def _decoded(self, content: bytes) -> str:
        """Return the file's next bytes as text; raise `BadJson` if they are not UTF-8."""
        try:
            text = self.decoder.decode(content, final=self.has_ended)
        except UnicodeDecodeError as error:
            at = len(content) - len(error.object) + error.start  # in `content`, or before it
            line = self.lines + content.count(b"\n", 0, max(0, at)) + 1
            raise BadJson("Expected UTF-8, got another byte", byte=self.read + at + 1, line=line) from error
        self.read += len(content)
        self.lines += content.count(b"\n")
        return text


def _kind_of(first: str) -> str:
    """Return the kind of a JSON value by its first character, for messages."""
    kinds = {"": "an empty file", "{": "an object", '"': "a text", "n": "null", "t": "true", "f": "false"}
    return kinds.get(first, "a number")


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _whole(text: str) -> int:
    number = int(text)
    if not -LARGEST <= number < LARGEST:
        raise ValueError(f"a whole number is too large: {text[:20]}...")
    return number


DECODER = json.JSONDecoder(parse_int=_whole, parse_float=real, parse_constant=refuse_constant)
