"""A server that sends any bytes at any speed, to test how long and how much `static/ask.py` reads."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
Conversation = Callable[["Peer"], None]


class Peer(NamedTuple):
    """The connection of a client; `ended` is set at the end of the test."""

    sock: socket.socket
    ended: threading.Event

    def read_request(self) -> None:
        """Read a request with a length."""
        got = b""
        while b"\r\n\r\n" not in got:
            got += self.sock.recv(65536) or b"\r\n\r\n"
        head, _, body = got.partition(b"\r\n\r\n")
        wanted = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        while len(body) < wanted:
            body += self.sock.recv(1 << 20) or bytes(wanted)

    def drip(self, piece: bytes, *, every: float) -> None:
        """Send the same piece for ever; `every` is the pause after each, in seconds."""
        while not self.ended.is_set():
            self.sock.sendall(piece)
            if every:
                self.ended.wait(every)


@contextmanager
def raw_server(talk: Conversation) -> Iterator[int]:
    """Run a server in which each connection has this conversation; give its port."""
    ended = threading.Event()

    def serve(sock: socket.socket) -> None:
        with sock, suppress(OSError):
            talk(Peer(sock, ended))

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            ended.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(5)


@contextmanager
def full_server() -> Iterator[int]:
    """Give the port of a server to which no further connection is possible: requests for it get no answer."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        fillers = [socket.socket() for _ in range(4)]
        for one in fillers:
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        try:
            yield listener.getsockname()[1]
        finally:
            for one in fillers:
                one.close()
