"""One exchange with the model's server."""

from __future__ import annotations

import http.client
import re
import selectors
import socket
import ssl
import threading
import urllib.parse
from collections.abc import Callable, Mapping

from generation.asking.exchanges import (
    LARGEST_ERROR,
    PIECE,
    Deadline,
    TimedConnection,
    TimedSocket,
    TimedTLSConnection,
    seconds_asked,
)
from generation.asking.model_server.addresses import ModelAddress
from generation.asking.model_server.errors import (
    FILTERED,
    PASSING,
    QUESTION,
    STOP,
    error_in,
    kept_error,
    kind_of,
)
from generation.asking.model_server.interfaces import loaded, reply_in
from generation.asking.model_server.model_reply import FAILED, REFUSED, ModelReply

LEAST_REPLY = 256 << 10  # bytes that one reply may have in any case
ALL_REPLIES = 32 << 20  # bytes of all replies that are read at once; each of the requests at once has an equal part
AUTHORIZATION = "Authorization"
REDIRECTS = (301, 302, 303, 307, 308)
TUNNEL_REFUSED = re.compile(r"Tunnel connection failed: 4\d\d")
MOST_VALUES = 1 << 20  # values in a reply, which need more memory than their text


class ModelServer:
    """A server with one of OpenAI's interfaces; each thread has a connection of its own.

    An exchange ends after `timeout` seconds, whatever the server does. All replies that are read at once have
    `ALL_REPLIES` bytes at most: each of `concurrency` requests has an equal part. The key is sent in `key_header`;
    without one, in the header that the address calls for.
    """

    def __init__(
        self, address: ModelAddress, key: str, *, timeout: float, concurrency: int = 1, key_header: str | None = None
    ) -> None:
        self.address, self.timeout = address, timeout
        self.headers = {"Content-Type": "application/json", "User-Agent": "horsesense-ask"}
        header = key_header or ("api-key" if address.has_api_version else AUTHORIZATION)
        if key:
            self.headers[header] = f"Bearer {key}" if header.lower() == AUTHORIZATION.lower() else key
        self.most = max(LEAST_REPLY, ALL_REPLIES // concurrency)
        self.own = threading.local()
        self.parsing = threading.Lock()  # a value of JSON needs many times the memory of its text

    def __str__(self) -> str:
        proxy = self.address.proxy
        return f"{self.address.shown} through the proxy {proxy}" if proxy else self.address.shown

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
                    return reply_in(text, self.address.interface)._replace(wait=seconds_asked(response.headers, now()))
                error = error_in(loaded(text), text)
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as trouble:
            connection.close()
            return ModelReply(FAILED, error=kept_error(self._name_proxy(trouble)), kind=kind_of_trouble(trouble))
        said = error.text.strip() or str(response.reason)
        if response.status in REDIRECTS and response.headers.get("Location"):
            said = f"leads to {urllib.parse.urljoin(self.address.shown, response.headers['Location'])}"
        kind = kind_of(response.status, error)
        state = REFUSED if kind == QUESTION and error.code in FILTERED else FAILED
        wait = seconds_asked(response.headers, now())
        return ModelReply(state, status=response.status, error=kept_error(said), kind=kind, wait=wait)

    def _name_proxy(self, trouble: Exception) -> str:
        proxy = self.address.proxy
        return f"{type(trouble).__name__}: {trouble}" + (f" (through the proxy {proxy})" if proxy else "")

    def leave(self) -> None:
        found: TimedConnection | None = getattr(self.own, "connection", None)
        if found is not None:
            found.close()

    def _connection(self) -> TimedConnection:
        """Return this thread's connection with a new deadline; one that the server has closed is opened again."""
        found: TimedConnection | None = getattr(self.own, "connection", None)
        if found is None:
            found = self.own.connection = new_connection(self.address, self.timeout)
        elif found.sock is not None and has_input(found.sock):
            found.close()
        found.deadline = Deadline(self.timeout)
        return found

    def _exchange(self, connection: TimedConnection, body: bytes) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request; return the response and its content."""
        trouble: OSError | None = None
        try:
            connection.request("POST", *proxied(self.address, self.headers, body))
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


def new_connection(address: ModelAddress, timeout: float) -> TimedConnection:
    kind = TimedTLSConnection if address.scheme == "https" else TimedConnection
    if address.proxy is None:
        return kind(address.host, address.port, timeout=timeout)
    found = kind(address.proxy.host, address.proxy.port, timeout=timeout)
    if address.scheme == "https":
        headers = {"Proxy-Authorization": address.proxy.authorization} if address.proxy.authorization else {}
        found.set_tunnel(address.host, address.port, headers)
    return found


def proxied(address: ModelAddress, headers: Mapping[str, str], body: bytes) -> tuple[str, bytes, Mapping[str, str]]:
    """Return the target, the body and the headers of a request: a proxy without a tunnel needs the whole address."""
    if address.proxy is None or address.scheme == "https":
        return address.target, body, headers
    authorization = address.proxy.authorization
    return address.shown, body, {**headers, **({"Proxy-Authorization": authorization} if authorization else {})}


def kind_of_trouble(trouble: Exception) -> str:
    # A certificate or a proxy that refuses will do so again.
    is_refused = isinstance(trouble, ssl.SSLCertVerificationError) or TUNNEL_REFUSED.search(str(trouble))
    return STOP if is_refused else PASSING


def check_values(content: bytes) -> None:
    values = sum(content.count(mark) for mark in (b",", b"[", b"{"))
    if values > MOST_VALUES:
        raise http.client.HTTPException(f"expected a reply of at most {MOST_VALUES:,} values, got more")


def has_input(sock: socket.socket | TimedSocket) -> bool:
    with selectors.DefaultSelector() as found:  # `select.select` takes no file number above 1,023
        found.register(sock, selectors.EVENT_READ)
        return bool(found.select(0))
