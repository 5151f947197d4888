"""Responses of the site: begun by one thread, and continued by others when the client has read enough of them."""

import logging
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import Any

from django.db import close_old_connections
from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.task import WSGITask, hop_by_hop

from generation.site_addresses import network_of
from webapp.running.request_limits import HEADERS_ONLY, UPLOAD_BYTES
from webapp.serving.requests import WebRequest

log = logging.getLogger(__name__)
WSGI = Callable[..., Iterable[bytes]]


class Parked(BaseException):  # not an Exception, because waitress answers those with an error page
    """The thread stops working on a response here; a thread continues it when the client has read more."""


class SiteTask(WSGITask):
    """The response to a request. Responses to HEAD have no body.

    The site's iterator of pieces is kept between two turns, which may be in different threads. An iterator must
    therefore hold nothing that belongs to a thread when it yields: no cursor and no transaction of the database.
    """

    pieces: Iterator[bytes] | None = None  # None until the site has been called
    content_length: int | None
    body: Any = None  # what has to be closed at the end
    has_ended = False

    def service(self) -> None:
        """Begin or continue the response; raise `Parked` if its rest comes later."""
        is_parked = False
        try:
            super().service()
        except Parked:
            is_parked = True
            raise
        finally:
            if not is_parked:
                self.end()

    def start(self) -> None:
        if self.pieces is None:
            super().start()

    def execute(self) -> None:
        """Send the refusal if there is one; otherwise send the pieces of the site's response, or the rest of them."""
        if self.request.refusal is not None:
            self._send_refusal()
            return
        if self.pieces is None:
            self.pieces = self._call_site()
        else:
            close_old_connections()  # as at the begin of a request: the connection of this thread may be broken
        for piece in self.pieces:
            if piece:
                self.write(piece)
            if self.content_bytes_written != self.content_length:
                self.channel.give_way()
        missing = self.content_length is not None and self.content_bytes_written != self.content_length
        if missing and self.request.command != "HEAD":
            log.warning("Expected %s bytes of %s, got %s.", self.content_length, self.request.path,
                        self.content_bytes_written)  # fmt: skip
            self.set_close_on_finish()  # else the client would wait for the rest

    def _send_refusal(self) -> None:
        self.status, headers, body = self.request.refusal
        self.response_headers = [pair for pair in headers if pair[0].lower() not in {*hop_by_hop, "content-length"}]
        self.complete, self.content_length = True, len(body)
        self.set_close_on_finish()
        self.write(body)

    def _call_site(self) -> Iterator[bytes]:
        """Call the site, and return the pieces of the body that a thread has to send."""
        self.body = self.channel.server.application(self.get_environment(), self.start_response)
        if self.request.command == "HEAD":
            return iter(())
        if isinstance(self.body, ReadOnlyFileBasedBuffer) and (size := self.body.prepare(self.content_length)):
            self._send_file(self.body, size)
            return iter(())
        return iter(self.body)

    def _send_file(self, file: ReadOnlyFileBasedBuffer, size: int) -> None:
        """Leave a file to the connection, which sends it without a thread and closes it."""
        if self.content_length != size:
            self.remove_content_length_header()
            self.content_length = size
        self.write(b"")  # the headers
        self.channel.write_soon(file)
        self.content_bytes_written, self.body = size, None

    def start_response(
        self, status: str, headers: list[tuple[str, str]], exc_info: Any = None
    ) -> Callable[[bytes], None]:
        """Take the status and headers of the response (PEP 3333)."""
        if exc_info and self.wrote_header:
            raise exc_info[1]
        if any(end in text for text in (status, *(part for pair in headers for part in pair)) for end in "\r\n"):
            raise ValueError("Expected a status and headers of one line each, got a line break.")
        self.status, self.complete = status, True
        self.response_headers = [pair for pair in headers if pair[0].lower() not in hop_by_hop]
        lengths = [int(value) for name, value in headers if name.lower() == "content-length"]
        self.content_length = lengths[-1] if lengths else None
        return self.write

    def end(self) -> None:
        """Close the body and log the request, at the first call."""
        if self.has_ended:
            return
        self.has_ended, self.channel.task = True, None
        try:
            if hasattr(self.body, "close"):
                self.body.close()
        finally:
            self.channel.server.log_access(self)

    def build_response_header(self) -> bytes:
        """Return the headers; if the process is stopping, they say that the connection will be closed."""
        if self.channel.server.is_stopping:
            self.set_close_on_finish()
        header: bytes = super().build_response_header()
        if self.request.command == "HEAD":
            self.chunked_response = False
        return header

    def write(self, data: bytes) -> None:
        super().write(b"" if self.request.command == "HEAD" else data)

    def get_environment(self) -> dict[str, Any]:
        variables: dict[str, Any] = super().get_environment()
        variables["RAW_URI"] = self.request.request_uri  # the name that gunicorn's access log uses
        return variables


class UploadCheck:
    """A task that asks the site whether it accepts a large body; the body is not read during this time."""

    def __init__(self, connection: Any, request: WebRequest) -> None:
        self.connection, self.request = connection, request

    def service(self) -> None:
        """Ask the site, and then continue to read the body or refuse the request."""
        server = self.connection.server
        variables = SiteTask(self.connection, self.request).get_environment() | {HEADERS_ONLY: True}
        try:
            refusal = ask(server.application, variables)
        except Exception:
            log.exception("Expected to learn whether an upload may come, got an error.")
            refusal = plain(HTTPStatus.INTERNAL_SERVER_ERROR, "The server could not decide about this upload.")
        if UPLOAD_BYTES in variables:
            self.request.largest = variables[UPLOAD_BYTES]
            size = self.request.content_length or self.request.largest
            if server.reserve(self.connection, network_of(variables["REMOTE_ADDR"]), size):
                self.connection.read_on(self.request)
                return
            refusal = plain(HTTPStatus.SERVICE_UNAVAILABLE, "Too many uploads come at once. Try again in a minute.")
            refusal[1].append(("Retry-After", "60"))
        self.request.refusal = refusal
        self.connection.refuse(self.request)

    def cancel(self) -> None:
        self.connection.cancel()


def ask(application: WSGI, variables: dict[str, Any]) -> tuple[str, list[tuple[str, str]], bytes]:
    """Return the status, headers and body of an application's response."""
    answer: list[tuple[str, list[tuple[str, str]]]] = []
    body = application(variables, lambda status, headers, _=None: answer.append((status, list(headers))))
    try:
        content = b"".join(body)
    finally:
        if hasattr(body, "close"):
            body.close()
    return *answer[-1], content


def plain(status: HTTPStatus, text: str) -> tuple[str, list[tuple[str, str]], bytes]:
    return f"{status.value} {status.phrase}", [("Content-Type", "text/plain; charset=utf-8")], text.encode()
