"""Opens two hundred connections that stop sending or reading half-way, and measures how long pages take meanwhile."""

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

SOCKETS = 200
DELAY = 0.2  # seconds; limit of a page's delay compared with a quiet site
PAGES = 20


def half_headers(port: int, path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nX-Slow: ".encode()


def half_body(port: int, path: str) -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 900000\r\n\r\nlogin=".encode()


def endless_chunks(port: int, path: str) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost:{port}\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head.encode() + b"6\r\nlogin=\r\n"


def unread_download(port: int, path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode()


Kind = tuple[Callable[[int, str], bytes], str]

KINDS: list[Kind] = [
    (half_headers, "/"),
    (half_body, "/accounts/login/"),
    (endless_chunks, "/accounts/login/"),
    (unread_download, "/download/made/"),
    (unread_download, "/download/file/"),
]


@contextmanager
def slow_sockets(
    port: int, *, addresses: int, kinds: Sequence[Kind] = KINDS, count: int = SOCKETS, reads: bool = False
) -> Iterator[None]:
    """Open connections of all kinds from `addresses` addresses of this machine, and hold them without sending more.

    If `reads`, each connection with a download reads one byte a second, otherwise nothing.
    """
    downloads, is_over = [], threading.Event()
    with ExitStack() as open_ones:
        for number in range(count):
            sock = open_ones.enter_context(socket.socket())
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.bind((f"127.0.0.{2 + number % addresses}", 0))
            sock.settimeout(30)
            sock.connect(("127.0.0.1", port))
            begin, path = kinds[number % len(kinds)]
            with suppress(ConnectionError):  # the server has closed it already
                sock.sendall(begin(port, path))
            if begin is unread_download:
                downloads.append(sock)
        read_a_byte(downloads)  # each download has begun, or the server has closed it already

        def read_on() -> None:
            while not is_over.wait(1):
                read_a_byte(downloads)

        reader = threading.Thread(target=read_on)
        if reads:
            reader.start()
        try:
            yield
        finally:
            is_over.set()
            if reads:
                reader.join()


def read_a_byte(sockets: Sequence[socket.socket]) -> None:
    for sock in sockets:
        with suppress(ConnectionError):
            sock.recv(1)


def seconds_of_pages(port: int) -> list[float]:
    """Return the seconds that each of `PAGES` requests of a page takes."""
    seconds = []
    for _ in range(PAGES):
        begun = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/datasets/", headers={"Host": f"localhost:{port}"})
        response = connection.getresponse()
        response.read()
        connection.close()
        assert response.status == 200
        seconds.append(time.monotonic() - begun)
    return seconds
