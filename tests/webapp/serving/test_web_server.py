"""The web server's connections, with a small application: which are closed, and which bodies are read."""

import io
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest

from webapp.running.request_limits import HEADERS_ONLY, SMALL, UPLOAD_BYTES
from webapp.serving import web_server
from webapp.serving.web_server import MOST_BUFFERED, Server, TaskQueue

LARGEST = 5_000_000
THREADS = 2
PATIENCE = 20.0
PIECE = b"x" * 100_000
NUMBERS = 2500  # pieces
STEADY, PAUSE = 200, 0.01  # pieces, and seconds for each of them


class Application:
    """Gives a different kind of answer for each address, and records the sizes of the bodies that it gets."""

    def __init__(self) -> None:
        self.bodies: list[int] = []
        self.taken = self.closed = 0  # pieces of responses, and responses
        self.questions: list[str] = []

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path, headers = environ["PATH_INFO"], [("Content-Type", "text/plain")]
        if HEADERS_ONLY in environ:
            self.questions.append(path)
            if path == "/takes":
                environ[UPLOAD_BYTES] = LARGEST
                start("204 No Content", [])
                return []
            start("403 Forbidden", [*headers, ("Content-Length", "7")])
            return [b"refused"]
        body = environ["wsgi.input"].read()
        self.bodies.append(len(body))
        if path == "/endless":
            start("200 OK", headers)
            return (PIECE for _ in range(1000))
        if path in ("/numbers", "/broken", "/steady"):
            start("200 OK", headers)
            return Pieces(self, path)
        if path == "/file":
            start("200 OK", headers)
            wrapper = environ.get("wsgi.file_wrapper")
            file = io.BytesIO(PIECE * 500)
            return wrapper(file) if wrapper else [file.read()]
        text = f"{len(body)} bytes".encode()
        start("200 OK", [*headers, ("Content-Length", str(len(text)))])
        return [text]


class Pieces:
    """A response of many pieces of different sizes, which counts the pieces that are taken, and notes its close."""

    def __init__(self, application: Application, path: str) -> None:
        self.application, self.path, self.number = application, path, 0

    def __iter__(self) -> "Pieces":
        return self

    def __next__(self) -> bytes:
        self.number += 1
        self.application.taken += 1
        if self.number > (STEADY if self.path == "/steady" else NUMBERS):
            raise StopIteration
        if self.path == "/broken" and self.number == NUMBERS:
            raise ValueError("This piece can't be made.")
        if self.path == "/steady":
            time.sleep(PAUSE)
        return str(self.number).encode() * (self.number)

    def close(self) -> None:
        self.application.closed += 1


def all_numbers() -> bytes:
    return b"".join(str(number).encode() * (number) for number in range(1, NUMBERS + 1))


class Running:
    """A server whose loop runs in a thread."""

    def __init__(self) -> None:
        self.application = Application()
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self.answers: list[str] = []
        self.server = Server(
            self.application,
            listener,
            threads=THREADS,
            keep_alive=PATIENCE,
            largest=LARGEST,
            access=lambda answer: self.answers.append(answer.status),
        )
        self.is_over = False
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while not self.is_over:
            self.server.turn(0.02)
            self.server.tidy()

    def stop(self) -> None:
        self.is_over = True
        self.thread.join(PATIENCE)
        self.server.stop_accepting()
        self.server.end(seconds=PATIENCE)

    @property
    def threads(self) -> int:
        return len(self.server.task_dispatcher.threads)

    @property
    def parked(self) -> int:
        return sum(connection.is_parked for connection in list(self.server.active_channels.values()))

    @contextmanager
    def sent(
        self, text: str | bytes, *, source: str = "127.0.0.1", window: int | None = 4096
    ) -> Iterator[socket.socket]:
        """Give a connection on which `text` was sent, with a small receive buffer."""
        with closing(socket.socket()) as sock:
            if window is not None:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
            sock.bind((source, 0))
            sock.settimeout(PATIENCE)
            sock.connect(("127.0.0.1", self.port))
            sock.sendall(text if isinstance(text, bytes) else text.replace("\n", "\r\n").encode())
            yield sock

    def ask(self, text: str | bytes) -> str:
        """Send a request and return the whole answer until the connection ends."""
        with self.sent(text, window=None) as sock:
            return read_all(sock).decode()

    def wait_until(self, true: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end
            time.sleep(0.01)


def read_all(sock: socket.socket) -> bytes:
    """Return all bytes until the connection is closed or reset."""
    found = []
    with suppress(ConnectionError):
        while piece := sock.recv(2**20):
            found.append(piece)
    return b"".join(found)


@pytest.fixture
def running() -> Iterator[Running]:
    server = Running()
    yield server
    server.stop()


CLOSE = "Host: x\nConnection: close\n"


def test_a_request_is_answered(running: Running) -> None:
    answer = running.ask(f"POST / HTTP/1.1\n{CLOSE}Content-Length: 5\n\nhello")
    assert answer.startswith("HTTP/1.1 200 OK") and answer.endswith("5 bytes")
    assert "Server:" not in answer
    assert running.answers == ["200 OK"]


def test_a_connection_is_used_again(running: Running) -> None:
    with running.sent("GET / HTTP/1.1\nHost: x\n\n") as sock:
        first = b""
        while not first.endswith(b"0 bytes"):  # head and body may come separately
            piece = sock.recv(4096)
            assert piece
            first += piece
        sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert read_all(sock).endswith(b"0 bytes")


@pytest.mark.parametrize("path", ["/", "/file", "/numbers"])
def test_an_answer_to_head_has_no_body(running: Running, path: str) -> None:
    answer = running.ask(f"HEAD {path} HTTP/1.1\n{CLOSE}\n")
    head, _, body = answer.partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 200 OK") and body == ""
    assert running.application.taken == 0  # a body that nobody reads is not made


@pytest.mark.parametrize(
    "text",
    [
        "GET / HTTP/1.1\nHost: x\nX-Slow: ",
        "GET /",
        f"POST / HTTP/1.1\nHost: x\nContent-Length: {SMALL}\n\nhello",
        "POST / HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n5\nhello\n",
        "GET /endless HTTP/1.1\nHost: x\n\n",
        "GET /file HTTP/1.1\nHost: x\n\n",
    ],
)
def test_a_client_that_sends_or_reads_too_slowly_is_disconnected(
    running: Running, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(web_server, "HEADER_SECONDS", 0.3)
    monkeypatch.setattr(web_server, "WINDOW", 0.3)
    monkeypatch.setattr(web_server, "SLOWEST", 10_000_000)
    with running.sent(text):
        running.wait_until(lambda: running.server.active_channels)
        running.wait_until(lambda: not running.server.active_channels)


def test_a_client_that_sends_headers_byte_by_byte_is_disconnected(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_server, "HEADER_SECONDS", 0.5)
    with running.sent("GET / HTTP/1.1\nHost: x\nX-Slow: ") as sock, pytest.raises(ConnectionError):
        for _ in range(200):
            sock.sendall(b"x")
            time.sleep(0.05)


def test_a_client_that_is_slow_but_fast_enough_is_served(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "WINDOW", 0.3)
    monkeypatch.setattr(web_server, "SLOWEST", 1)
    with running.sent(f"POST / HTTP/1.1\n{CLOSE}Content-Length: 10\n\n") as sock:
        for _ in range(10):
            time.sleep(0.1)
            sock.sendall(b"x")
        assert read_all(sock).endswith(b"10 bytes")


# Responses that are sent in several turns


NUMBERED = "GET /numbers HTTP/1.1\nHost: x\n\n"


def content_of(answer: bytes) -> bytes:
    """Return the content of an answer that is sent in chunks."""
    found: list[bytes] = []
    at = answer.index(b"\r\n\r\n") + 4
    while True:
        end = answer.index(b"\r\n", at)
        at, size = end + 2, int(answer[at:end], 16)
        if not size:
            return b"".join(found)
        found.append(answer[at : at + size])
        at += size + 2


def test_slow_readers_of_a_generated_answer_hold_no_thread(running: Running) -> None:
    text = "GET /endless HTTP/1.1\nHost: x\n\n"
    with ExitStack() as sockets:
        one, *_ = [sockets.enter_context(running.sent(text)) for _ in range(10 * THREADS)]
        running.wait_until(lambda: running.parked == 10 * THREADS)
        assert running.threads == THREADS
        assert running.ask(f"GET / HTTP/1.1\n{CLOSE}\n").endswith("0 bytes")
        assert len(read_all(one)) > 1000 * len(PIECE)
        assert running.threads == THREADS


def test_a_parked_answer_needs_little_memory(running: Running) -> None:
    with running.sent(NUMBERED):
        running.wait_until(lambda: running.parked)
        [connection] = running.server.active_channels.values()
        assert connection.total_outbufs_len < MOST_BUFFERED + 4 * NUMBERS + 100
        assert sum(len(buffer) for buffer in connection.outbufs) == connection.total_outbufs_len
        assert not any(buffer.overflowed for buffer in connection.outbufs)  # to a file


def test_a_slow_reader_gets_every_byte_in_order(running: Running) -> None:
    with running.sent(NUMBERED) as slow, running.sent(NUMBERED) as other:
        found = b""
        for size in (1, 10, 1000, 100_000, 1_000_000):
            running.wait_until(lambda: running.parked)
            while size > 0:
                piece = slow.recv(size)
                found, size = found + piece, size - len(piece)
        assert content_of(found + read_all(slow)) == all_numbers()
        assert content_of(read_all(other)) == all_numbers()
    assert running.application.closed == 2


def test_requests_behind_a_parked_answer_are_answered_after_it(running: Running) -> None:
    text = f"GET /file HTTP/1.1\nHost: x\n\n{NUMBERED}"
    with running.sent(text * 2) as sock:
        running.wait_until(lambda: running.parked)
        assert running.application.taken == 0
        found = read_all(sock)
    head, _, rest = found.partition(b"\r\n\r\n")
    assert f"Content-Length: {500 * len(PIECE)}".encode() in head
    assert rest[: 500 * len(PIECE)] == PIECE * 500
    assert content_of(rest[500 * len(PIECE) :]) == all_numbers()  # it has no length, so the connection ends


@pytest.mark.parametrize("way", ["close", "reset", "cut off", "end"])
def test_the_body_is_closed_when_the_client_of_a_parked_answer_goes(running: Running, way: str) -> None:
    with running.sent(NUMBERED) as sock:
        running.wait_until(lambda: running.parked)
        if way == "reset":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if way == "cut off":
            [connection] = running.server.active_channels.values()
            connection.cut_off()
        if way == "end":
            running.server.end(seconds=PATIENCE)
    running.wait_until(lambda: running.application.closed == 1)
    running.wait_until(lambda: running.answers == ["200 OK"])  # it is in the log


def test_a_client_that_sends_no_more_can_still_read(running: Running) -> None:
    with running.sent(NUMBERED) as sock:
        sock.shutdown(socket.SHUT_WR)
        running.wait_until(lambda: running.parked)
        assert content_of(read_all(sock)) == all_numbers()


def test_an_answer_that_fails_in_a_later_turn_ends_the_connection(running: Running) -> None:
    with running.sent("GET /broken HTTP/1.1\nHost: x\n\n") as sock:
        running.wait_until(lambda: running.parked)
        assert not read_all(sock).endswith(b"0\r\n\r\n")
    running.wait_until(lambda: running.application.closed == 1)


def test_long_answers_to_fast_readers_do_not_keep_the_threads(running: Running) -> None:
    with ExitStack() as sockets:
        readers = [
            sockets.enter_context(running.sent("GET /steady HTTP/1.1\nHost: x\n\n", window=None))
            for _ in range(2 * THREADS)
        ]
        for reader in readers[:THREADS]:
            assert reader.recv(1)
        assert running.ask(f"GET / HTTP/1.1\n{CLOSE}\n").endswith("0 bytes")
        assert running.application.taken < STEADY  # none is complete
        for reader in readers:
            assert read_all(reader).endswith(b"0\r\n\r\n")


def test_new_requests_and_begun_answers_take_turns() -> None:
    queue = TaskQueue(begun_at_once=8)
    new, begun = [SimpleNamespace(task=None) for _ in range(3)], [SimpleNamespace(task="begun") for _ in range(5)]
    for task in (*begun, *new):
        queue.append(task)
    taken = [task.task or task for task in (queue.popleft() for _ in range(len(queue)))]
    assert taken == [begun[0], new[0], begun[1], new[1], begun[2], new[2], begun[3], begun[4]]
    assert not queue


def test_only_some_threads_continue_answers() -> None:
    queue = TaskQueue(begun_at_once=2)
    begun = [SimpleNamespace(task="begun", service=lambda: None, cancel=lambda: None) for _ in range(5)]
    new = SimpleNamespace(task=None)
    for task in begun:
        queue.append(task)
    first, second = queue.popleft(), queue.popleft()
    assert not queue
    queue.append(new)
    assert len(queue) == 1 and queue.popleft() is new
    first.service()
    third = queue.popleft()
    assert third.task is begun[2] and not queue
    second.cancel()
    third.service()
    assert [queue.popleft().task for _ in range(2)] == begun[3:]


def test_the_oldest_waiting_one_of_too_many_connections_is_closed(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_server, "CONNECTIONS", 2)
    with running.sent("GET / HT") as first, running.sent("GET / HT") as second, running.sent("GET / HT"):
        assert read_all(first) == b""
        second.sendall(b"TP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert read_all(second).endswith(b"0 bytes")


def test_connections_of_one_address_are_limited_but_not_those_of_a_proxy(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_server, "CONNECTIONS_OF_ADDRESS", 1)
    monkeypatch.setattr(web_server, "is_ours", lambda address: address == "127.0.0.1")
    with running.sent("GET"), running.sent("GET"), running.sent("GET", source="127.0.0.9") as other:
        running.wait_until(lambda: len(running.server.active_channels) == 3)
        with running.sent("GET", source="127.0.0.9"):
            assert read_all(other) == b""
        running.wait_until(lambda: len(running.server.active_channels) == 2)


def test_connections_of_one_network_count_together(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "CONNECTIONS_OF_ADDRESS", 1)
    monkeypatch.setattr(web_server, "is_ours", lambda address: False)
    monkeypatch.setattr(
        web_server, "network_of", lambda address: address.rpartition(".")[0]
    )  # like a /64 network of IPv6
    with running.sent("GET", source="127.0.0.8") as first:
        running.wait_until(lambda: len(running.server.active_channels) == 1)
        with running.sent("GET", source="127.0.0.9"):
            assert read_all(first) == b""
            running.wait_until(lambda: len(running.server.active_channels) == 1)


# Large bodies


def test_a_large_body_is_refused_before_it_is_read(running: Running) -> None:
    with running.sent(f"POST /other HTTP/1.1\nHost: x\nContent-Length: {SMALL + 1}\n\n") as sock:
        answer = sock.recv(4096)
    assert answer.startswith(b"HTTP/1.1 403 Forbidden") and b"Connection: close" in answer
    assert running.application.questions == ["/other"] and running.application.bodies == []


def test_a_client_that_sends_a_refused_body_gets_the_refusal(running: Running) -> None:
    head = f"POST /other HTTP/1.1\r\nHost: x\r\nContent-Length: {2 * SMALL}\r\n\r\n"
    assert running.ask(head.encode() + b"x" * 2 * SMALL).endswith("refused")
    assert running.application.bodies == []


def test_an_accepted_large_body_is_read_completely(running: Running) -> None:
    head = f"POST /takes HTTP/1.1\r\n{CLOSE}Content-Length: {LARGEST}\r\n\r\n".replace("x\n", "x\r\n")
    answer = running.ask(head.replace("close\n", "close\r\n").encode() + b"x" * LARGEST)
    assert answer.endswith(f"{LARGEST} bytes")
    assert running.application.questions == ["/takes"]
    running.wait_until(lambda: not running.server.reserved)


def chunked_request(path: str, size: int) -> bytes:
    head = f"POST {path} HTTP/1.1\nHost: x\nConnection: close\nTransfer-Encoding: chunked\n\n".replace("\n", "\r\n")
    pieces = (b"%x\r\n%s\r\n" % (len(PIECE), PIECE) for _ in range(size // len(PIECE)))
    return head.encode() + b"".join(pieces) + b"0\r\n\r\n"


@pytest.mark.parametrize(
    ("path", "size", "found"),
    [
        ("/other", SMALL // 2, f"{SMALL // 2} bytes"),
        ("/other", 2 * SMALL, "refused"),
        ("/takes", 3 * SMALL, f"{3 * SMALL} bytes"),
        ("/takes", LARGEST + SMALL, "413 Request Entity Too Large"),
    ],
)
def test_a_body_in_chunks_has_the_same_limits(running: Running, path: str, size: int, found: str) -> None:
    assert found in running.ask(chunked_request(path, size))


def test_a_client_that_sends_too_much_gets_the_reason(running: Running) -> None:
    """The connection stays open until the body was sent; otherwise the client would get a reset before the answer."""
    for _ in range(5):
        assert "413 Request Entity Too Large" in running.ask(chunked_request("/takes", LARGEST + 20 * SMALL))


def test_expect_100_continue_is_confirmed_only_for_accepted_bodies(running: Running) -> None:
    head = f"Host: x\nConnection: close\nExpect: 100-continue\nContent-Length: {2 * SMALL}\n\n"
    with running.sent(f"POST /other HTTP/1.1\n{head}") as sock:
        assert sock.recv(4096).startswith(b"HTTP/1.1 403")
    with running.sent(f"POST /takes HTTP/1.1\n{head}") as sock:
        assert sock.recv(4096).startswith(b"HTTP/1.1 100 Continue")
        sock.sendall(b"x" * 2 * SMALL)
        assert read_all(sock).endswith(f"{2 * SMALL} bytes".encode())


def test_uploads_of_one_address_share_a_limit(running: Running) -> None:
    head = f"POST /takes HTTP/1.1\nHost: x\nContent-Length: {LARGEST}\n\n"
    with running.sent(head), running.sent(head):
        running.wait_until(lambda: len(running.server.reserved) == 2)
        assert "503 Service Unavailable" in running.ask(head)
    running.wait_until(lambda: not running.server.reserved)
    assert running.application.bodies == []


@pytest.mark.parametrize(
    "text",
    [
        f"GET /{'x' * 9000} HTTP/1.1\n{CLOSE}\n",
        f"GET / HTTP/1.1\nX: {'x' * 70_000}\n\n",
        f"POST / HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n{'1' * 5000}",
        "GET / HTTP/1.1\nHost: x\nContent-Length: many\n\n",
    ],
)
def test_an_invalid_request_is_refused_once(running: Running, text: str) -> None:
    assert running.ask(text).startswith("HTTP/1.1 4" if "Transfer" in text or "many" in text else "HTTP/1.")
    assert running.application.bodies == []
