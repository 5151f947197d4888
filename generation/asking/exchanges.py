"""Exchanges over HTTP that end at a deadline, however slowly a server sends; and pauses between them."""

from __future__ import annotations

import email.utils
import http.client
import io
import re
import socket
import ssl
import threading
import time
import urllib.parse
import urllib.request
from typing import Any

PAUSE = 0.5  # seconds before the second try; each further pause is twice as long
LONGEST_BACKOFF = 60.0
LONGEST_PAUSE = 900.0  # seconds that a server may ask to wait; the script stops if it asks for more
LONGEST_TIMER = 1e9  # seconds; timers do not take much more
SECONDS = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
PATH = re.compile(r"[!-~]*")  # of an address: as it is sent, in ASCII and without spaces
SITE_TIMEOUT = 120.0  # seconds of an exchange with the site, and of each piece of a download
PIECE = 1 << 16
LARGEST_ERROR = 1 << 20  # bytes of an error that are read


class Deadline:
    """The end of an exchange: of everything from the look-up of the server's name to the last byte of its reply."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.renew()

    def renew(self) -> None:
        self.end = time.monotonic() + self.seconds

    def left(self) -> float:
        """Return the seconds that are left; raise `TimeoutError` if there are none."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise self.error()
        return left

    def error(self) -> TimeoutError:
        return TimeoutError(f"expected a complete reply within {self.seconds:g} s")


class TimedReader(io.RawIOBase):
    """Reads from a socket until a deadline, however few bytes a server sends at a time."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self.sock, self.deadline = sock, deadline
        self.raw: Any = sock.makefile("rb", buffering=0)  # keeps the socket open after the connection is closed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Any:
        self.sock.settimeout(self.deadline.left())
        try:
            return self.raw.readinto(buffer)
        except socket.timeout as error:  # noqa: UP041 - another class before Python 3.10
            raise self.deadline.error() from error

    def close(self) -> None:
        self.raw.close()
        super().close()


class TimedSocket:
    """The part of a socket that `http.client` uses; each call ends at the deadline of its connection's exchange."""

    def __init__(self, sock: socket.socket, connection: TimedConnection) -> None:
        self.sock, self.connection = sock, connection

    def sendall(self, content: Any) -> None:
        deadline = self.connection.deadline
        view = memoryview(content).cast("B")
        try:
            for start in range(0, len(view), PIECE):  # a socket with TLS waits anew for each piece
                self.sock.settimeout(deadline.left())
                self.sock.sendall(view[start : start + PIECE])
        except socket.timeout as error:  # noqa: UP041 - another class before Python 3.10
            raise deadline.error() from error

    def makefile(self, mode: str, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(TimedReader(self.sock, self.connection.deadline))

    def fileno(self) -> int:
        return self.sock.fileno()

    def close(self) -> None:
        self.sock.close()


class TimedConnection(http.client.HTTPConnection):
    """A connection whose exchanges have a deadline. Set a new one before each further exchange."""

    def __init__(self, host: str, port: int | None = None, *, timeout: float = SITE_TIMEOUT, **more: Any) -> None:
        super().__init__(host, port, timeout=timeout, **more)
        self.deadline = Deadline(timeout)

    def connect(self) -> None:
        self._use(connected(self.host, self.port, self.deadline))
        if getattr(self, "_tunnel_host", None):
            self._tunnel()  # type: ignore[attr-defined]

    def getresponse(self) -> http.client.HTTPResponse:
        response = super().getresponse()
        response.deadline = self.deadline  # type: ignore[attr-defined]
        return response

    def _use(self, sock: socket.socket) -> None:
        self.sock: Any = TimedSocket(sock, self)


class TimedTLSConnection(TimedConnection):
    """The same with TLS; certificates are verified."""

    default_port = 443

    def connect(self) -> None:
        super().connect()
        plain, name = self.sock.sock, getattr(self, "_tunnel_host", None) or self.host
        safe = ssl.create_default_context().wrap_socket(plain, server_hostname=name, do_handshake_on_connect=False)
        self._use(safe)
        safe.settimeout(self.deadline.left())
        try:
            safe.do_handshake()
        except socket.timeout as error:  # noqa: UP041 - another class before Python 3.10
            raise self.deadline.error() from error


def connected(host: str, port: int, deadline: Deadline) -> socket.socket:
    """Return a socket that is connected to the first address of a server that answers."""
    places = looked_up(host, port, deadline)
    trouble: OSError | None = None
    for number, (family, kind, protocol, _, address) in enumerate(places):
        try:
            found = socket.socket(family, kind, protocol)
        except OSError as error:
            trouble = error
            continue
        try:
            found.settimeout(deadline.left() / (len(places) - number))  # so that there is time for each address
            found.connect(address)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return found
        except OSError as error:
            found.close()
            deadline.left()
            trouble = error
    raise trouble or OSError(f"expected an address of {host}, got none")


def looked_up(host: str, port: int, deadline: Deadline) -> list[Any]:
    """Return the addresses of a server. The look-up of a name can't be stopped, so a thread of its own waits for it."""
    found: list[Any] = []
    is_done = threading.Event()

    def look_up() -> None:
        try:
            found.append(socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            found.append(error)
        is_done.set()

    threading.Thread(target=look_up, daemon=True).start()
    if not is_done.wait(deadline.left()):
        raise deadline.error()
    if isinstance(found[0], OSError):
        raise found[0]
    if isinstance(found[0], UnicodeError):
        raise OSError(f"expected the name of a server, got {host!r}")
    return list(found[0])


class TimedHTTP(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(TimedConnection, req)


class TimedHTTPS(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(TimedTLSConnection, req)


def parts_of_address(address: str) -> urllib.parse.SplitResult | None:
    """Return the parts of an address of http or https without names and passwords, or None for other texts."""
    try:
        parts = urllib.parse.urlsplit(address)
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # of a port that is no number, or of an open bracket
        return None
    return parts if is_address and "@" not in parts.netloc and PATH.fullmatch(parts.path) else None


def seconds_asked(headers: Any, now: float) -> float | None:
    """Return the seconds in the header Retry-After, which has a number or a date; None without a valid header.

    They are 0 for a date that has passed, and at most `LONGEST_TIMER`.
    """
    said = (headers.get("Retry-After") or "").strip()
    if SECONDS.fullmatch(said):
        return min(float(said), LONGEST_TIMER)
    until = email.utils.parsedate_tz(said)
    if until is None:
        return None
    told = email.utils.parsedate_tz(headers.get("Date") or "")  # the clocks of both machines may differ
    try:
        since = now if told is None else email.utils.mktime_tz(told)
        return min(max(0.0, email.utils.mktime_tz(until) - since), LONGEST_TIMER)
    except (ValueError, OverflowError):
        return None
