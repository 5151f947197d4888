"""Reading a list of records out of a JSON file of any length, one record at a time.

Each record is parsed by Python's own scanner as soon as the text has it whole: several times as fast as parsers that
build it from events, which matters for files of a gigabyte.
"""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from generation.engine.bounded_json import BadJson, Guarded, NoNumber, Readable, real, refuse_constant
from generation.engine.errors import BadRecord

BUFFER = 1 << 18  # bytes read at a time
LONGEST = 1 << 24  # characters that one record may take
LARGEST = 1 << 63  # whole numbers stay below it, as databases and arrays need
GOES_ON = ("", ".", "e", "E")  # what may stand after the part of a number
BLANK = " \t\n\r"
SPACE = re.compile(f"[{BLANK}]*")


def records(file: Readable, key: str, *, where: str) -> Iterator[Any]:
    """Yield the records of the list `key` of a JSON object, one after the other; numbers are floats and integers.

    Raises
    ------
    BadRecord
        If the file ends early or isn't JSON, naming the record it happened at, or has no such list.
    """
    number = 0
    try:
        for record in JsonText(Guarded(file)).items(key):
            yield record
            number += 1
    except BadJson as error:
        raise BadRecord(str(error), where=f"{where}, {key}[{number}]") from error
    except NoNumber as error:
        raise BadRecord(f"{error}.", where=f"{where}, {key}[{number}]") from error
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise BadRecord(
            f"Expected JSON, got something else after {number} records ({reason}).",
            where=f"{where}, {key}[{number}]",
        ) from error


class JsonText:
    """The part of a file's text that is not parsed yet: from `at` on; what it yields is parsed by `decoder`.

    What is no JSON raises ValueError or RecursionError; so does a value of more than `longest` characters. A file from
    outside comes in `bounded_json.Guarded`.
    """

    def __init__(self, file: Readable, *, decoder: json.JSONDecoder | None = None, longest: int | None = None) -> None:
        self.file = file
        self.scanner, self.longest = decoder or DECODER, longest
        self.decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.text, self.at, self.has_ended = "", 0, False
        self.length = 0  # characters of the last value

    def items(self, key: str) -> Iterator[Any]:
        """Yield the items of the lists that the whole, an object, has under a key."""
        for name in self._names():
            if name == key and self._next() == "[":
                yield from self._list()
            else:
                self.skip()
        self.end()

    def elements(self) -> Iterator[Any]:
        """Yield the items of the whole, a list."""
        yield from self._list()
        self.end()

    def pairs(self) -> Iterator[tuple[str, Any]]:
        """Yield names and values of an object, which begins here; what stands after it is not looked at."""
        for name in self._names():
            yield name, self._value()

    def names(self) -> Iterator[str]:
        """Yield the names of the whole, an object; none where it is a list. Take the value after each."""
        if self._next() != "[":
            yield from self._names()

    def first(self) -> Any:
        """Return the first item of the list that begins here, None where there is none; nothing is read after it."""
        return next(self._list(), None) if self._next() == "[" else None

    def skip(self) -> None:
        """Pass over the value that begins here: of a list one item after the other."""
        if self._next() != "[":
            self._value()
        else:
            for _ in self._list():
                pass

    def value(self) -> Any:
        """Return the value that begins here."""
        return self._value()

    def end(self) -> None:
        """Raise ValueError unless this is the end."""
        if self.has_more():
            raise ValueError(f"more after its end: {self._next()!r}")

    def has_more(self) -> bool:
        """Return whether anything but space follows."""
        return self._next() != ""

    def _names(self) -> Iterator[str]:
        """Yield the names of an object; after each one stands its value, which whoever asks has to take."""
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
        """Return the next character that is no space; none at the end."""
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
        """Return the value that begins here, once it is whole: `12` may go on, and so may `1` before `e`."""
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
            json.dumps(value, ensure_ascii=False).encode()  # half of a character is none
        self.length, self.at = end - self.at, end
        return value

    def _read(self) -> None:
        """Read on: as much again as is waited with, so that a long record isn't tried too often."""
        waiting = len(self.text) - self.at
        longest = self.longest or LONGEST
        if waiting > longest:
            raise ValueError(f"no end of it within {longest:,} characters")
        content = self.file.read(max(BUFFER, waiting))
        self.has_ended = not content
        self.text, self.at = self.text[self.at :] + self.decoder.decode(content, final=self.has_ended), 0


def _whole(text: str) -> int:
    number = int(text)
    if not -LARGEST <= number < LARGEST:
        raise ValueError(f"a whole number is too large: {text[:20]}...")
    return number


DECODER = json.JSONDecoder(parse_int=_whole, parse_float=real, parse_constant=refuse_constant)
