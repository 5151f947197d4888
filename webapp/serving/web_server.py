"""The web server's connections: a client that sends or reads slowly does not block a thread.

waitress reads requests and sends responses in one loop for all connections of a process. A thread works on a request
only after the whole request has arrived. This module adds:

- Every client may send a body of `SMALL` bytes. If the body is larger, the server asks the site whether it accepts the
  body (`webapp.running.request_limits.UploadLimit`). It asks when the headers have arrived, before it reads the rest.
- Connections that send or read too slowly are closed. If there are too many connections, one that waits for its client
  is closed (`make_room`).
- No thread waits for a client. When enough of a response is buffered, its thread works on other responses, and the
  response goes on, in any thread, when the client has read most of it (`Connection.give_way`).
"""

import logging
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from generation.site_addresses import network_of
from webapp.running.request_limits import is_ours
from webapp.serving.requests import WebRequest
from webapp.serving.responses import WSGI, Parked, SiteTask, UploadCheck

CONNECTIONS = 1000  # the most connections of a process
CONNECTIONS_OF_ADDRESS = 100  # the most per address (for IPv6, per /64 network), except for trusted proxies
HEADER_SECONDS = 10.0  # seconds in which the headers of a request must arrive
WINDOW = 30.0  # seconds over which a connection's speed is measured
SLOWEST = 10_000  # bytes per second, sent or received; slower connections are closed
LINGER = 5.0  # seconds for which the body of a refused request is discarded, so that the client sees the response
LARGEST_HEADERS = 65_536  # bytes, including the URL
MOST_BUFFERED = 131_072  # bytes of a response; if more wait for the client, no thread adds to them
FEW_BUFFERED = 65_536  # bytes of a response; if at most these wait for the client, a thread adds to them
TURN = 0.05  # seconds for which a thread works on a response that is sent in pieces while other requests wait
BEGUN_SHARE = 0.25  # of the threads may work on begun responses at the same time
READ_AHEAD = 262_144  # bytes of a response that are taken from its buffer at once
UNBOUNDED = 10**18  # bytes; this means no limit
BURST = 1_000_000  # bytes that are sent to one connection before the other connections get their turn
UPLOADS_OF_ADDRESS = 2  # bodies of the largest size from one address, or /64 network, at the same time
UPLOADS = 8  # bodies of the largest size from all addresses together, at the same time


class Connection(HTTPChannel):
    """A connection whose speed is measured while it sends a request or reads a response."""

    parser_class = WebRequest

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.sendbuf_len: int
        self.request: Any
        self.budget = 0
        self.bytes_sent = self.bytes_received = self.discarded = 0
        self.is_asking = self.is_refusing = self.is_parked = False
        self.task: SiteTask | None = None  # the response to the first request, once it has begun
        self.turn_began = 0.0
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
        self.go_on()

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
        """Do nothing. A thread would wait here for the client; `give_way` ends its turn instead."""

    def give_way(self) -> None:
        # A response also gives way when other requests have waited during its turn.
        is_over = time.monotonic() - self.turn_began > TURN and self.server.task_dispatcher.queue
        if is_over or self.total_outbufs_len > MOST_BUFFERED:
            raise Parked

    def park(self) -> None:
        with self.outbuf_lock:
            self.is_parked = True
        self.server.pull_trigger()
        self.go_on()

    def go_on(self) -> None:
        """If the response is parked, queue its next turn when little is buffered or the connection is closed."""
        if not self.is_parked:
            return
        with self.outbuf_lock:
            if not self.is_parked or (self.connected and self.total_outbufs_len > FEW_BUFFERED):
                return
            self.is_parked = False
        self.server.add_task(self)

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
        self.go_on()

    def task_class(self, _: HTTPChannel, request: WebRequest) -> SiteTask:
        self.task = self.task or SiteTask(self, request)
        return self.task

    def service(self) -> None:
        """Answer the first request, or continue its response, and then release the room for a large body."""
        self.is_refusing = self.is_refusing or any(request.error is not None for request in self.requests)
        self.turn_began = time.monotonic()
        [first, *_] = self.requests
        task = None if first.error else self.task_class(self, first)
        try:
            if self.connected and self.total_outbufs_len > MOST_BUFFERED:
                raise Parked
            super().service()
        except Parked:
            self.park()
            return
        self.server.release(self)
        if task is not None:
            task.end()  # it has not been worked on if the client had gone

    def cancel(self) -> None:
        super().cancel()
        if self.task is not None:
            self.task.end()


class TaskQueue:
    """The tasks that wait for a thread: new requests and begun responses take turns.

    Parameters
    ----------
    begun_at_once : int
        The most threads that work on begun responses at the same time. Many downloads that go on at the same moment
        would slow down the pages that the other threads make, because Python runs one thread at a time.
    """

    def __init__(self, *, begun_at_once: int) -> None:
        self.new: deque[Any] = deque()
        self.begun: deque[Any] = deque()
        self.begun_is_next = False
        self.free = begun_at_once
        self.lock = threading.Lock()

    def append(self, task: Any) -> None:
        (self.new if getattr(task, "task", None) is None else self.begun).append(task)

    def popleft(self) -> Any:
        self.begun_is_next = not self.begun_is_next
        if self.begun and self.free > 0 and (self.begun_is_next or not self.new):
            self.change_free(-1)
            return BegunTurn(self, self.begun.popleft())
        return self.new.popleft()

    def change_free(self, number: int) -> None:
        with self.lock:
            self.free += number

    def __len__(self) -> int:
        return len(self.new) + (len(self.begun) if self.free > 0 else 0)


class BegunTurn(NamedTuple):
    """The turn of a thread on a begun response."""

    queue: TaskQueue
    task: Any

    def service(self) -> None:
        """Continue the response. At the end, the same thread looks for its next task, so no other has to be woken."""
        try:
            self.task.service()
        finally:
            self.queue.change_free(1)

    def cancel(self) -> None:
        self.queue.change_free(1)
        self.task.cancel()


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
            outbuf_high_watermark=MOST_BUFFERED,
            inbuf_overflow=2**16,
            recv_bytes=2**16,
            max_request_header_size=LARGEST_HEADERS,
            max_request_body_size=UNBOUNDED,  # the site decides about a body of more than SMALL bytes
            log_socket_errors=False,
            server_name="localhost",
            backlog=2048,
        )
        self.keep_alive, self.largest, self.log_access = keep_alive, largest, access
        self.is_stopping = False
        self.lock = threading.Lock()
        self.reserved: dict[Connection, tuple[str, int]] = {}
        dispatcher = ThreadedTaskDispatcher()
        dispatcher.queue = TaskQueue(begun_at_once=max(1, round(threads * BEGUN_SHARE)))
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
        # Waits for events, and handles them.
        wasyncore.loop(timeout=seconds, use_poll=True, map=self._map, count=1)

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

    def end(self, *, seconds: float) -> None:
        # The threads close the bodies of responses; those that no thread gets to are closed here.
        for connection in list(self.active_channels.values()):
            connection.cut_off()
        self.task_dispatcher.shutdown(timeout=seconds)

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
