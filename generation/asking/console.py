"""Messages on the terminal, in which keys are hidden; the errors that end a run; and the clock."""

from __future__ import annotations

import base64
import heapq
import math
import sys
import threading
import time
import urllib.parse
from collections.abc import Iterator
from typing import Any

SHOWN = 200  # characters of a text from outside that are printed
KEPT_ERROR = 2000  # characters of an error that are stored
SECRET = 8  # the fewest characters of a key that is hidden wherever it occurs


class Refused(Exception):
    # Something can't be done; the text says what and why. `status` is the status of the site's response, 0 without one.

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Unreachable(Exception):
    """A server did not answer, although the request was repeated."""


class Interrupted(Exception):
    """No further requests may be sent."""


class Redactor:
    """Hides the keys, and their parts of `SECRET` characters or more, in everything that is stored or printed.

    Each such part contains an anchor: `ANCHOR` characters at a place of the key that `SPACING` divides. Anchors are
    found fast; each one that is found is extended as far as the text is the same as the key, in either case of letters.
    """

    SPACING = 3
    ANCHOR = SECRET - SPACING + 1

    def __init__(self) -> None:
        self.anchors: dict[bytes, list[tuple[bytes, int]]] = {}  # with the keys and places that have them

    def hide(self, key: str) -> None:
        if len(key) >= SECRET:
            for written in {form.lower() for form in spellings(key.encode())}:
                for place in range(0, len(written) - self.ANCHOR + 1, self.SPACING):
                    places = self.anchors.setdefault(written[place : place + self.ANCHOR], [])
                    if len(places) < SECRET:  # more only in keys that repeat a few characters
                        places.append((written, place))

    def text(self, text: str) -> str:
        content = text.encode("utf-8", "surrogatepass")
        lowered, done, pieces = content.lower(), 0, []
        ahead = [(lowered.find(anchor), anchor) for anchor in self.anchors]
        heapq.heapify(ahead := [one for one in ahead if one[0] >= 0])
        while ahead:
            place, anchor = heapq.heappop(ahead)
            begin, end = place, place
            if place >= done:
                extents = [self._extent(lowered, place, done, *one) for one in self.anchors[anchor]]
                begin, end = max(extents, key=size_of)
            if end - begin >= SECRET:
                pieces += [content[done:begin], b"[key]"]
                done = end
            following = lowered.find(anchor, max(done, place + 1))
            if following >= 0:
                heapq.heappush(ahead, (following, anchor))
        return b"".join([*pieces, content[done:]]).decode("utf-8", "surrogatepass") if pieces else text

    def _extent(self, text: bytes, place: int, least: int, key: bytes, at: int) -> tuple[int, int]:
        """Return the first and last place of the text around an anchor that is the same as the key."""
        before, after = 0, self.ANCHOR
        while before < min(at, place - least) and text[place - before - 1] == key[at - before - 1]:
            before += 1
        while after < min(len(key) - at, len(text) - place) and text[place + after] == key[at + after]:
            after += 1
        return place - before, place + after

    def value(self, value: Any) -> Any:
        """Return a JSON value without keys and without numbers that JSON does not have."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(name)): self.value(one) for name, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(one) for one in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value


def size_of(extent: tuple[int, int]) -> int:
    return extent[1] - extent[0]


def spellings(key: bytes) -> Iterator[bytes]:
    """Yield a key as it is, as in an address, and as in base64 at each of three places of a longer text."""
    yield key
    yield urllib.parse.quote(key, safe="").encode()
    for before in range(3):
        packed = base64.b64encode(bytes(before) + key)
        inner = packed[(0, 2, 3)[before] : len(packed) - (0, 4, 4)[(before + len(key)) % 3]]
        yield inner
        yield inner.translate(bytes.maketrans(b"+/", b"-_"))


SECRETS = Redactor()


def say(text: str) -> None:
    # Only results go to standard output.
    sys.stderr.write(SECRETS.text(text) + "\n")
    sys.stderr.flush()


def tell(text: str) -> None:
    sys.stdout.write(SECRETS.text(text) + "\n")


def printable(text: object, most: int = SHOWN) -> str:
    # What comes from outside is printed as one short line that can do nothing to a terminal.
    said = SECRETS.text(str(text))
    cut = said[:most] + ("..." if len(said) > most else "")
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in cut)


class Clock:
    """The time, and pauses that end early when the script stops; tests replace it."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def now(self) -> float:
        return time.monotonic()

    def date(self) -> float:
        return time.time()

    def wait(self, seconds: float) -> None:
        self.stopped.wait(seconds)
