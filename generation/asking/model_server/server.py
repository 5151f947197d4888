"""One exchange with the model's server."""

from __future__ import annotations

import http.client
import selectors
import socket
import threading
from collections.abc import Callable

from generation.asking.console import Refused
from generation.asking.exchanges import (
    LARGEST_ERROR,
    PIECE,
    Deadline,
    TimedConnection,
    TimedSocket,
    TimedTLSConnection,
    parts_of_address,
    seconds_asked,
)
from generation.asking.model_server.interfaces import FILTERED, error_in, kept_error, loaded, reply_in
from generation.asking.model_server.model_reply import FAILED, REFUSED, ModelReply

LEAST_REPLY = 256 << 10  # bytes that one reply may have in any case
ALL_REPLIES = 32 << 20  # bytes of all replies that are read at once; each of the requests at once has an equal part
MOST_VALUES = 1 << 20  # values in a reply, which need more memory than their text


class ModelServer:
    """A server with the interface of OpenAI's chat completions; each thread has a connection of its own.

    An exchange ends after `timeout` seconds, whatever the server does. All replies that are read at once have
    `ALL_REPLIES` bytes at most: each of `concurrency` requests has an equal part.
    """

    def __init__(self, base_url: str, key: str, *, timeout: float, concurrency: int = 1) -> None:
        parts = parts_of_address(base_url)
        if parts is None or parts.hostname is None or parts.query or parts.fragment:
            raise Refused(
                "Expected an address such as http://127.0.0.1:8000/v1 as --base-url, without keys and passwords: "
                "these come from environment variables."
            )
        self.scheme, self.host, self.port, self.timeout = parts.scheme, parts.hostname, parts.port, timeout
        path = parts.path.rstrip("/")
        self.path = path if path.endswith("/chat/completions") else f"{path}/chat/completions"
        self.address = f"{parts.scheme}://{parts.netloc}{self.path}"
        self.headers = {"Content-Type": "application/json", "User-Agent": "horsesense-ask"}
        if key:
            self.headers["Authorization"] = f"Bearer {key}"
        self.most = max(LEAST_REPLY, ALL_REPLIES // concurrency)
        self.own = threading.local()
        self.parsing = threading.Lock()  # a value of JSON needs many times the memory of its text

    def ask(self, body: bytes, *, now: Callable[[], float]) -> ModelReply:
        """Send a request once and return the result; a failure is a result too."""
        connection = self._connection()
        try:
            response, content = self._exchange(connection, body)
            with self.parsing:
                check_values(content)
                text = content.decode("utf-8", "replace")
                del content
                if response.status == 200:
                    return reply_in(text)
                code, said = error_in(loaded(text), text)
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            connection.close()
            return ModelReply(FAILED, error=kept_error(f"{type(error).__name__}: {error}"))
        said = said or f"{response.reason}"
        state = REFUSED if response.status == 400 and code in FILTERED else FAILED
        wait = seconds_asked(response.headers, now())
        return ModelReply(state, status=response.status, error=kept_error(f"{code} {said}".strip()), wait=wait)

    def leave(self) -> None:
        found: TimedConnection | None = getattr(self.own, "connection", None)
        if found is not None:
            found.close()

    def _connection(self) -> TimedConnection:
        """Return this thread's connection with a new deadline; one that the server has closed is opened again."""
        found: TimedConnection | None = getattr(self.own, "connection", None)
        if found is None:
            kind = TimedTLSConnection if self.scheme == "https" else TimedConnection
            found = self.own.connection = kind(self.host, self.port, timeout=self.timeout)
        elif found.sock is not None and has_input(found.sock):
            found.close()
        found.deadline = Deadline(self.timeout)
        return found

    def _exchange(self, connection: TimedConnection, body: bytes) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request; return the response and its content."""
        trouble: OSError | None = None
        try:
            connection.request("POST", self.path, body, self.headers)
        except (BrokenPipeError, ConnectionResetError) as error:
            trouble = error  # a server may refuse a request before it has read all of it
        try:
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            raise trouble or error from error
        content = self._content(response)
        if response.will_close or not response.isclosed() or trouble is not None:
            connection.close()
        return response, content

    def _content(self, response: http.client.HTTPResponse) -> bytes:
        """Return the body; raise an error if it is incomplete or too large. Of an error, the beginning is enough."""
        wanted, pieces, size = response.headers.get("Content-Length"), [], 0
        least = int(wanted) if wanted is not None and wanted.isdecimal() else None
        most = self.most if response.status == 200 else LARGEST_ERROR
        if response.status == 200 and least is not None and least > most:
            raise http.client.HTTPException(f"expected a reply of at most {most:,} bytes, got one of {least:,}")
        while (least is None or size < least) and (piece := response.read1(PIECE)):
            pieces.append(piece)
            size += len(piece)
            if size > most and response.status == 200:
                raise http.client.HTTPException(f"expected a reply of at most {most:,} bytes, got a larger one")
            if size > most:
                return b"".join(pieces)
        if least is not None and size < least:
            raise http.client.IncompleteRead(b"", least - size)
        if not response.isclosed():
            response.length = 0  # `read1` does not count before Python 3.13
            response.read()  # ends the response, so that the connection can be used again
        return b"".join(pieces)


def check_values(content: bytes) -> None:
    values = sum(content.count(mark) for mark in (b",", b"[", b"{"))
    if values > MOST_VALUES:
        raise http.client.HTTPException(f"expected a reply of at most {MOST_VALUES:,} values, got more")


def has_input(sock: socket.socket | TimedSocket) -> bool:
    with selectors.DefaultSelector() as found:  # `select.select` takes no file number above 1,023
        found.register(sock, selectors.EVENT_READ)
        return bool(found.select(0))
