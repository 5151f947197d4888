"""The web server's connections: a client that sends or reads slowly does not block a thread.

waitress reads requests and sends responses in one loop for all connections of a process. A thread works on a request
only after the whole request has arrived. This module adds:

- Every client may send a body of `SMALL` bytes. If the body is larger, the server asks the site whether it accepts the
  body (`webapp.running.request_limits.UploadLimit`). It asks when the headers have arrived, before it reads the rest.
- Connections that send or read too slowly are closed. If there are too many connections, one that waits for its client
  is closed (`make_room`).
- While a thread waits for a slow reader, an additional thread does its work.
"""

import io
import logging
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import Any

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher, WSGITask, hop_by_hop
from waitress.utilities import BadRequest, RequestEntityTooLarge

from generation.site_addresses import network_of
from webapp.running.request_limits import HEADERS_ONLY, SMALL, UPLOAD_BYTES, is_ours

CONNECTIONS = 1000  # the most connections of a process
CONNECTIONS_OF_ADDRESS = 100  # the most per address (for IPv6, per /64 network), except for trusted proxies
HEADER_SECONDS = 10.0  # seconds in which the headers of a request must arrive
WINDOW = 30.0  # seconds over which a connection's speed is measured
SLOWEST = 10_000  # bytes per second, sent or received; slower connections are closed
LINGER = 5.0  # seconds for which the body of a refused request is discarded, so that the client sees the response
LONGEST_ADDRESS = 8190  # bytes; it is large, because a URL may contain a list of chosen questions
LARGEST_HEADERS = 65_536  # bytes, including the URL
LARGEST_CONTROL = 4_096  # bytes between the chunks of a body
READ_AHEAD = 262_144  # bytes of a response that are taken from its buffer at once
BURST = 1_000_000  # bytes that are sent to one connection before the other connections get their turn
UNBOUNDED = 10**18  # bytes; this means no limit
UPLOADS_OF_ADDRESS = 2  # bodies of the largest size from one address, or /64 network, at the same time
UPLOADS = 8  # bodies of the largest size from all addresses together, at the same time

log = logging.getLogger(__name__)
WSGI = Callable[..., Iterable[bytes]]


class WebRequest(HTTPRequestParser):
    """A request that is being read, with limits on its URL and body."""

    error: Any
    completed: bool
    expect_continue: bool
    asked = False  # whether the site has accepted a body of more than SMALL bytes
    largest = SMALL
    continue_later = False
    body_rcv: Any
    content_length: int
    body_bytes_received: int
    headers_finished: bool
    refusal: tuple[str, list[tuple[str, str]], bytes] | None = None

    @property
    def needs_consent(self) -> bool:
        large = max(self.content_length, self.body_bytes_received) > SMALL
        return large and self.headers_finished and not (self.asked or self.completed)

    def received(self, data: bytes) -> int:
        """Process received bytes and return how many of them belong to this request."""
        consumed: int = super().received(data)
        between = len(getattr(self.body_rcv, "control_line", b"")) + len(getattr(self.body_rcv, "trailer", b""))
        if self.error is None and between > LARGEST_CONTROL:
            self.error = BadRequest("The chunks of the body can't be read.")
        elif self.error is None and self.asked and self.body_bytes_received > self.largest:
            self.error = RequestEntityTooLarge(f"Expected at most {self.largest:,} bytes, got more.")
        self.completed = self.completed or self.error is not None
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        """Read the headers; if the body is large, send `100 Continue` only after the site has accepted the body."""
        super().parse_header(header_plus)
        if len(self.request_uri) > LONGEST_ADDRESS:
            raise ParsingError(f"Expected an address of at most {LONGEST_ADDRESS:,} bytes, got a longer one.")
        if self.expect_continue and self.content_length > SMALL:
            self.expect_continue, self.continue_later = False, True

    def get_body_stream(self) -> Any:
        # A body that is not complete yet is not read.
        return super().get_body_stream() if self.completed else io.BytesIO()


class SiteTask(WSGITask):
    """The task of answering a request. Responses to HEAD have no body."""

    def execute(self) -> None:
        """Send the refusal if there is one; otherwise call the site and send its response."""
        if self.request.refusal is None:
            super().execute()
            return
        self.status, headers, body = self.request.refusal
        self.response_headers = [pair for pair in headers if pair[0].lower() not in {*hop_by_hop, "content-length"}]
        self.complete, self.content_length = True, len(body)
        self.set_close_on_finish()
        self.write(body)

    def service(self) -> None:
        """Answer the request and log it."""
        try:
            super().service()
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
        if self.request.command == "HEAD":
            variables.pop("wsgi.file_wrapper", None)
        return variables


class UploadCheck:
    """A task that asks the site whether it accepts a large body; the body is not read during this time."""

    def __init__(self, connection: "Connection", request: WebRequest) -> None:
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


class Connection(HTTPChannel):
    """A connection whose speed is measured while it sends a request or reads a response."""

    parser_class, task_class = WebRequest, SiteTask

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.sendbuf_len: int
        self.request: Any
        self.budget = 0
        self.bytes_sent = self.bytes_received = self.discarded = 0
        self.is_asking = self.is_refusing = False
        self.drains_until: float | None = None
        self.watched: tuple[str, Any] = ("", None)
        self.mark_time, self.mark_bytes = time.time(), 0
        super().__init__(*arguments, **options)
        self.network = network_of(self.addr[0])
        self.sendbuf_len = min(self.sendbuf_len, READ_AHEAD)

    @property
    def state(self) -> tuple[str, Any]:
        """Return what the connection is doing, and the request that is being read, or None if there is none."""
        if self.total_outbufs_len:
            return "reads an answer", None
        if self.requests or self.is_asking:
            return "is answered", None
        if self.request is None:
            return "is idle", None
        return ("sends a body" if self.request.headers_finished else "sends headers"), self.request

    def is_too_slow(self, now: float, *, keep_alive: float) -> bool:
        """Return whether the connection should be closed, because the client is too slow or was idle for too long."""
        if self.drains_until is not None:
            return now > self.drains_until
        what, request = self.state
        if what == "is answered":
            self.watched = ("", None)
            return False
        if what == "is idle":
            return now - self.last_activity > keep_alive
        moved = self.bytes_sent if what == "reads an answer" else self.bytes_received
        if self.watched[0] != what or self.watched[1] is not request:
            self.watched, self.mark_time, self.mark_bytes = (what, request), now, moved
        if what == "sends headers":
            return now - self.mark_time > HEADER_SECONDS
        if now - self.mark_time < WINDOW:
            return False
        slow = moved - self.mark_bytes < (now - self.mark_time) * SLOWEST
        self.mark_time, self.mark_bytes = now, moved
        return slow

    def cut_off(self) -> None:
        """Close the connection at once and discard unsent data."""
        if self.socket is None:  # the connection was closed in the meantime
            return
        self.drains_until = 0.0
        with suppress(OSError):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.handle_close()

    # Reading

    def readable(self) -> bool:
        return self.drains_until is not None or (not self.is_asking and bool(super().readable()))

    def handle_read(self) -> None:
        if self.drains_until is None:
            super().handle_read()
        elif self.recv(READ_AHEAD) == b"" and self.connected:
            self.handle_close()

    def received(self, data: bytes) -> bool:
        """Process received data; if a large body begins, ask the site whether it accepts the body."""
        self.bytes_received += len(data)
        taken = bool(super().received(data))
        if self.request is not None and self.request.needs_consent and not self.is_asking:
            self.is_asking = True
            self.server.add_task(UploadCheck(self, self.request))
        return taken

    def read_on(self, request: WebRequest) -> None:
        """Continue to read a body that the site accepts."""
        request.asked = True
        if request.continue_later and self.connected:
            self.send_continue()
        self.is_asking = False
        self.server.pull_trigger()

    def refuse(self, request: WebRequest) -> None:
        """Answer a request without reading the rest of its body, and read nothing more."""
        self.is_refusing = True
        with self.requests_lock:
            request.completed, self.request = True, None
            self.requests.append(request)
            is_first = len(self.requests) == 1
        self.is_asking = False
        if is_first:
            self.service()

    # Sending

    def writable(self) -> bool:
        return self.drains_until is None and bool(super().writable())

    def handle_write(self) -> None:
        self.budget = BURST
        super().handle_write()

    def write_soon(self, data: Any) -> int:
        # The threads that answer requests call this.
        self.budget = BURST
        return int(super().write_soon(data))

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Send data and return how many bytes were sent; 0 if other connections must get their turn first."""
        if self.budget <= 0:
            return 0
        sent = int(super().send(data, do_close=do_close))
        self.budget -= sent
        self.bytes_sent += sent
        return sent

    def _flush_outbufs_below_high_watermark(self) -> None:
        if self.total_outbufs_len > self.adj.outbuf_high_watermark:
            with self.server.waiting(self):
                super()._flush_outbufs_below_high_watermark()

    def handle_close(self) -> None:
        """Close the connection; after a refusal, first read for up to `LINGER` seconds, so that the client sees it."""
        if self.is_refusing and self.drains_until is None and self.connected:
            self.drains_until = time.time() + LINGER
            self.will_close = self.close_when_flushed = False
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)
                return
        self.server.release(self)
        super().handle_close()

    def service(self) -> None:
        """Answer requests, and then release the room that was reserved for a large body."""
        self.is_refusing = self.is_refusing or any(request.error is not None for request in self.requests)
        try:
            super().service()
        finally:
            self.server.release(self)


class Server(TcpWSGIServer):
    """A listening socket with its connections.

    Parameters
    ----------
    application : callable
        The WSGI application.
    listener : socket.socket
    threads : int
        The number of requests that are answered at the same time.
    keep_alive : float
        Seconds for which an idle connection stays open.
    largest : int
        The size in bytes of the largest body that any view accepts.
    access : callable
        It is called with the task of each response, and writes the access log.
    """

    channel_class = Connection

    def __init__(
        self,
        application: WSGI,
        listener: socket.socket,
        *,
        threads: int,
        keep_alive: float,
        largest: int,
        access: Callable[[SiteTask], object] = lambda _: None,
    ) -> None:
        adjustments = Adjustments(
            sockets=[listener],
            threads=threads,
            ident="",
            clear_untrusted_proxy_headers=False,  # webapp.running.request_limits.OurProxies does this
            connection_limit=10**9,  # `make_room` closes connections if there are too many
            outbuf_overflow=2**19,
            outbuf_high_watermark=2**18,
            inbuf_overflow=2**16,
            recv_bytes=2**16,
            max_request_header_size=LARGEST_HEADERS,
            max_request_body_size=UNBOUNDED,  # the site decides about a body of more than SMALL bytes
            log_socket_errors=False,
            server_name="localhost",
            backlog=2048,
        )
        self.threads, self.keep_alive, self.largest, self.log_access = threads, keep_alive, largest, access
        self.is_stopping = False
        self.lock = threading.Lock()
        self.patient: set[Connection] = set()
        self.surplus: set[Connection] = set()
        self.reserved: dict[Connection, tuple[str, int]] = {}
        dispatcher = ThreadedTaskDispatcher()
        dispatcher.queue_logger.setLevel(logging.ERROR)  # else it warns of every request that waits for a thread
        dispatcher.set_thread_count(threads)
        super().__init__(
            application,
            {},
            True,
            listener,
            dispatcher=dispatcher,
            adj=adjustments,
            bind_socket=False,
            sockinfo=(listener.family, listener.type, listener.proto, listener.getsockname()),
        )

    # The loop

    def turn(self, seconds: float) -> None:
        """Wait for events for at most this many seconds, and handle them."""
        wasyncore.loop(timeout=seconds, use_poll=True, map=self._map, count=1)
        with self.lock:
            surplus, self.surplus = self.surplus, set()
        for connection in surplus:
            connection.cut_off()

    def maintenance(self, now: float) -> None:
        """Do nothing, because `tidy` does what waitress does here."""

    def tidy(self) -> None:
        """Close the connections whose clients are too slow."""
        now = time.time()
        for connection in list(self.active_channels.values()):
            if connection.is_too_slow(now, keep_alive=self.keep_alive):
                connection.cut_off()

    def stop_accepting(self) -> None:
        # An open connection is closed after its next response.
        self.is_stopping, self.accepting = True, False
        self.del_channel()
        self.socket.close()

    @property
    def is_busy(self) -> bool:
        return any(connection.state[0] != "is idle" for connection in list(self.active_channels.values()))

    # Connections

    def handle_accept(self) -> None:
        """Accept a connection; if there are too many connections in all or from its address, close one of them."""
        try:
            found = self.accept()
            if found is None:
                return
            sock, address = found
            self.set_socket_options(sock)
        except OSError:  # the client has already closed the connection
            return
        connection = Connection(self, sock, self.fix_addr(address), self.adj, map=self._map)
        connections = list(self.active_channels.values())
        same = [one for one in connections if one.network == connection.network]
        if len(connections) > CONNECTIONS:
            make_room(connections, instead_of=connection)
        elif len(same) > CONNECTIONS_OF_ADDRESS and not is_ours(connection.addr[0]):
            make_room(same, instead_of=connection)

    # Threads that wait for readers

    @contextmanager
    def waiting(self, connection: Connection) -> Iterator[None]:
        """Add a thread while the calling thread waits in the block; if too many wait, close the slowest connection."""
        with self.lock:
            self.patient.add(connection)
            if len(self.patient) > 2 * self.threads:
                self.surplus.add(min(self.patient, key=lambda one: one.bytes_sent / (time.time() - one.creation_time)))
            self.task_dispatcher.set_thread_count(self.threads + len(self.patient))
        try:
            yield
        finally:
            with self.lock:
                self.patient.discard(connection)
                self.task_dispatcher.set_thread_count(self.threads + len(self.patient))

    # Room for large bodies

    def reserve(self, connection: Connection, network: str, size: int) -> bool:
        """Reserve room for a large body; return False if there is not enough room."""
        with self.lock:
            used: Counter[str] = Counter()
            for known, taken in self.reserved.values():
                used[known] += taken
            few = used[network] + size <= UPLOADS_OF_ADDRESS * self.largest
            if few and used.total() + size <= UPLOADS * self.largest:
                self.reserved[connection] = (network, size)
                return True
            return False

    def release(self, connection: Connection) -> None:
        if connection in self.reserved:
            with self.lock:
                self.reserved.pop(connection, None)


RANKS = {"is idle": 0, "sends headers": 0, "sends a body": 1, "reads an answer": 2}


def make_room(connections: list[Connection], *, instead_of: Connection) -> None:
    """Close one of the connections that wait for their client, or the new one if none of the others waits.

    Connections that are idle or send headers are closed first, then those that send a body, then those that read a
    response; among equal ones, the oldest.
    """
    waiting = [one for one in connections if one is not instead_of and one.state[0] in RANKS]
    victim = min(waiting, key=lambda one: (RANKS[one.state[0]], one.creation_time), default=instead_of)
    victim.cut_off()
