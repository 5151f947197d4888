"""Large bodies that strangers send to a running site, with and without the shipped proxy."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.faults.caddy import Proxy
from tests.faults.servers import free_port
from tests.faults.stack import Site

SENT, PIECE = 40_000_000, b"x" * 100_000
PATHS = ("/accounts/login/", "/datasets/new/", "/api/v1/submissions/")


@pytest.fixture
def ports(embedded_site: Site, tmp_path: Path) -> Iterator[tuple[int, int]]:
    """Give the ports of a site and of its proxy."""
    port = free_port()
    embedded_site.environment["PUBLIC_URL"] = f"http://localhost:{port}"
    embedded_site.start("web")
    embedded_site.wait_for_web("/health/web/")
    with Proxy(tmp_path / "caddy", site=embedded_site.port, port=port):
        yield embedded_site.port, port


def count_spooled_bytes(site: Site) -> int:
    """Return the number of bytes that the site's processes hold in open files that are deleted."""
    found = 0
    for pid in site.alive():
        with suppress(OSError):
            for file in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    target = str(file.readlink())
                    found += file.stat().st_size if target.startswith("/") and target.endswith("(deleted)") else 0
    return found


@pytest.mark.full
def test_a_large_body_of_a_stranger_is_refused_before_it_is_stored(embedded_site: Site, ports: tuple[int, int]) -> None:
    for port in ports:
        for path in PATHS:
            for kind in (f"Content-Length: {SENT}", "Transfer-Encoding: chunked"):
                with socket.create_connection(("127.0.0.1", port), timeout=30) as sock:
                    head = f"POST {path} HTTP/1.1\r\nHost: localhost:{port}\r\n{kind}\r\n"
                    sock.sendall(f"{head}Content-Type: multipart/form-data; boundary=x\r\n\r\n".encode())
                    status, most = send(sock, chunked="chunked" in kind, site=embedded_site)
                assert status in (b"401", b"403", b"413"), (port, path, kind)
                assert most < 3_000_000, (port, path, kind)


def send(sock: socket.socket, *, chunked: bool, site: Site) -> tuple[bytes, int]:
    """Send until there is an answer; return its status and the largest number of spooled bytes meanwhile."""
    sock.setblocking(False)
    answer, most, left = b"", 0, SENT
    end = time.monotonic() + 60
    while b"\r\n" not in answer and time.monotonic() < end:
        with suppress(BlockingIOError):
            answer += sock.recv(4096)
        if left > 0:
            piece = b"%x\r\n%s\r\n" % (len(PIECE), PIECE) if chunked else PIECE
            sock.settimeout(30)
            with suppress(ConnectionError):
                sock.sendall(piece)
            sock.setblocking(False)
            left -= len(PIECE)
        if left % 2_000_000 == 0:
            most = max(most, count_spooled_bytes(site))
        os.sched_yield()
    return answer.split(b" ")[1], most
