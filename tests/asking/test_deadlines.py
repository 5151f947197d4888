"""`--timeout` bounds the whole exchange, and the memory for replies is bounded, whatever a server sends."""

import functools
import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.asking.conftest import SCRIPT, PatientClock
from tests.asking.raw_server import HEAD, Conversation, Peer, full_server, raw_server
from tests.webapp.commands import ROOT

LIMIT = 0.4  # seconds of an exchange in these tests
LATE = 3.0  # seconds that a busy machine may need in addition
SLOWLY, FAST = 0.05, 0.0
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
MEGABYTE = 1 << 20


def sends(start: bytes, piece: bytes, every: float) -> Conversation:
    """Return a conversation in which the server reads a request, and then sends the same piece for ever."""

    def talk(peer: Peer) -> None:
        peer.read_request()
        peer.sock.sendall(start)
        peer.drip(piece, every=every)

    return talk


def says_nothing(peer: Peer) -> None:
    peer.ended.wait()


def reads_slowly(peer: Peer) -> None:
    while not peer.ended.wait(SLOWLY):
        peer.sock.recv(1)


ENDLESS = {
    "nothing": says_nothing,
    "a status line, byte by byte": sends(b"HTTP/1.1 200 ", b"a", SLOWLY),
    "a header every moment": sends(HEAD, b"X-More: yes\r\n", SLOWLY),
    "a header line, byte by byte": sends(HEAD + b"X-Long: ", b"a", SLOWLY),
    "100 Continue every moment": sends(b"", b"HTTP/1.1 100 Continue\r\n\r\n", SLOWLY),
    "100 Continue without a pause": sends(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 500, FAST),
    "headers of 100 Continue": sends(b"HTTP/1.1 100 Continue\r\n", b"X-More: yes\r\n", SLOWLY),
    "a body, byte by byte": sends(HEAD + b"Content-Length: 9000\r\n\r\n", b" ", SLOWLY),
    "a body without a length, byte by byte": sends(HEAD + b"\r\n", b" ", SLOWLY),
    "chunks of one byte": sends(CHUNKED, b"1\r\n \r\n", SLOWLY),
    "a chunk extension, byte by byte": sends(CHUNKED + b"1;a=", b"a", SLOWLY),
    "chunks with extensions": sends(CHUNKED, b"1;" + b"a" * 900 + b"\r\n \r\n", SLOWLY),
    "the size of a chunk, byte by byte": sends(CHUNKED, b"0", SLOWLY),
    "trailers every moment": sends(CHUNKED + b"0\r\n", b"X-More: yes\r\n", SLOWLY),
    "trailers without a pause": sends(CHUNKED + b"0\r\n", b"X-More: yes\r\n" * 900, FAST),
    "comments of a stream of events": sends(HEAD + b"\r\n", b": still here\n\n", SLOWLY),
    "a long error, byte by byte": sends(b"HTTP/1.1 500 No\r\n\r\n", b"x", SLOWLY),
}
# These end before the time limit, because they have too many bytes.
TOO_LARGE = {
    "headers without a pause": sends(HEAD, b"X-More: yes\r\n" * 500, FAST),
    "a header line without a pause": sends(HEAD + b"X-Long: ", b"a" * 65536, FAST),
    "a chunk extension without a pause": sends(CHUNKED + b"1;a=", b"a" * 65536, FAST),
    "a body without an end": sends(HEAD + b"\r\n", b" " * 65536, FAST),
    "a stream of events without an end": sends(HEAD + b"\r\n", b"data: {}\n\n" * 6500, FAST),
    "chunks without an end": sends(CHUNKED, b"ff00\r\n" + b" " * 0xFF00 + b"\r\n", FAST),
}


def ask(script: ModuleType, address: str, body: bytes = b"{}", *, seconds: float = LIMIT) -> tuple[Any, float]:
    """Return the result of one exchange, and how long it took."""
    server = script.ModelServer(script.model_address(address), "", timeout=seconds, concurrency=64)
    began = time.monotonic()
    found = server.ask(body, now=lambda: 0.0)
    server.leave()
    return found, time.monotonic() - began


def assert_in_time(script: ModuleType, address: str, body: bytes = b"{}") -> None:
    found, took = ask(script, address, body)
    assert (found.state, found.error) == ("failed", f"TimeoutError: expected a complete reply within {LIMIT:g} s")
    assert LIMIT <= took < LIMIT + LATE


@pytest.mark.parametrize("name", ENDLESS)
def test_an_exchange_without_an_end_is_over_after_the_time_limit(name: str, script: ModuleType) -> None:
    with raw_server(ENDLESS[name]) as port:
        assert_in_time(script, f"http://127.0.0.1:{port}/v1")


@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_reply_that_is_too_large_is_over_before(name: str, script: ModuleType) -> None:
    with raw_server(TOO_LARGE[name]) as port:
        found, _ = ask(script, f"http://127.0.0.1:{port}/v1", seconds=60.0)
    assert found.state == "failed" and "TimeoutError" not in found.error


def test_the_error_names_the_largest_size_of_a_reply(script: ModuleType) -> None:
    with raw_server(TOO_LARGE["a body without an end"]) as port:
        found, _ = ask(script, f"http://127.0.0.1:{port}/v1", seconds=60.0)
    assert found.error == "HTTPException: expected a reply of at most 524,288 bytes, got a larger one"


@pytest.mark.parametrize("talk", [says_nothing, reads_slowly])
def test_a_server_that_does_not_read_the_request_is_left_after_the_time_limit(
    talk: Conversation, script: ModuleType
) -> None:
    with raw_server(talk) as port:
        assert_in_time(script, f"http://127.0.0.1:{port}/v1", bytes(32 * MEGABYTE))


def test_a_handshake_that_stops_is_over_after_the_time_limit(script: ModuleType) -> None:
    for talk in (says_nothing, functools.partial(Peer.drip, piece=b"\x16", every=SLOWLY)):
        with raw_server(talk) as port:
            found, took = ask(script, f"https://127.0.0.1:{port}/v1")
        assert found.state == "failed" and took < LIMIT + LATE


def test_a_server_that_takes_no_connection_is_left_after_the_time_limit(script: ModuleType) -> None:
    with full_server() as port:
        assert_in_time(script, f"http://127.0.0.1:{port}/v1")


def test_several_addresses_of_a_server_share_the_time_limit(script: ModuleType, monkeypatch: Any) -> None:
    with full_server() as port, raw_server(ENDLESS["nothing"]) as other:
        places = [(2, 1, 6, "", ("127.0.0.1", number)) for number in (port, port, other)]
        monkeypatch.setattr(script.socket, "getaddrinfo", lambda *_: places)
        assert_in_time(script, "http://model.example.org/v1")  # the last address was reached


def test_a_slow_look_up_of_a_name_is_over_after_the_time_limit(script: ModuleType, monkeypatch: Any) -> None:
    monkeypatch.setattr(script.socket, "getaddrinfo", lambda *_: time.sleep(20))
    assert_in_time(script, "http://model.example.org/v1")


@pytest.mark.parametrize("host", ["nowhere.invalid", "a" * 70 + ".example", "é" * 70])
def test_a_name_without_an_address_is_a_failure(host: str, script: ModuleType, monkeypatch: Any) -> None:
    def fail(*_: Any) -> None:
        raise UnicodeError("label too long") if len(host) > 60 else script.socket.gaierror(-2, "Name not known")

    monkeypatch.setattr(script.socket, "getaddrinfo", fail)
    found, _ = ask(script, f"http://{host}/v1")
    assert found.state == "failed" and found.status is None


def test_a_refusal_that_comes_before_the_whole_request_is_read(script: ModuleType) -> None:
    def refuse(peer: Peer) -> None:
        peer.sock.recv(1000)
        peer.sock.sendall(b'HTTP/1.1 413 Large\r\nContent-Length: 23\r\n\r\n{"error": "too large"}\n')
        peer.ended.wait(0.1)

    with raw_server(refuse) as port:
        found, _ = ask(script, f"http://127.0.0.1:{port}/v1", bytes(32 * MEGABYTE), seconds=20.0)
    assert found.state == "failed" and (found.status == 413 or "ConnectionResetError" in found.error)


def test_a_packed_reply_is_not_unpacked(script: ModuleType) -> None:
    packed = gzip.compress(bytes(100 * MEGABYTE))

    def talk(peer: Peer) -> None:
        peer.read_request()
        head = HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
        peer.sock.sendall(head + packed)

    with raw_server(talk) as port:
        found, _ = ask(script, f"http://127.0.0.1:{port}/v1", seconds=20.0)
    assert found.state == "failed" and "expected a chat completion" in found.error


def test_each_of_several_exchanges_has_the_whole_time(script: ModuleType) -> None:
    body = json.dumps({"choices": [{"message": {"content": "red"}, "finish_reason": "stop"}]}).encode()

    def talk(peer: Peer) -> None:
        for _ in range(4):
            peer.read_request()
            peer.ended.wait(0.6 * LIMIT)
            peer.sock.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    with raw_server(talk) as port:
        server = script.ModelServer(script.model_address(f"http://127.0.0.1:{port}/v1"), "", timeout=3 * LIMIT)
        assert [server.ask(b"{}", now=lambda: 0.0).state for _ in range(4)] == ["answered"] * 4
        server.leave()


# The site


@pytest.fixture
def quick_site(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that makes a site whose exchanges have the limit, and that is asked once."""
    monkeypatch.setattr(script, "SITE_TIMEOUT", LIMIT)
    monkeypatch.setattr(script, "TRIES", 1)
    return lambda address: script.Site(address, "", PatientClock())


@pytest.mark.parametrize("name", [name for name in ENDLESS if "request" not in name])
def test_an_answer_of_the_site_without_an_end_is_over_after_the_time_limit(
    name: str, script: ModuleType, quick_site: Any
) -> None:
    with raw_server(ENDLESS[name]) as port:
        began = time.monotonic()
        with pytest.raises((script.Unreachable, script.Refused)):
            quick_site(f"http://127.0.0.1:{port}").ask("/api/v1/")
        assert time.monotonic() - began < LIMIT + LATE


def test_a_proxy_that_does_not_answer_is_left_after_the_time_limit(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, quick_site: Any
) -> None:
    for talk in (says_nothing, sends(b"HTTP/1.1 200 OK\r\n", b"X-More: yes\r\n", SLOWLY)):
        with raw_server(talk) as port:
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
            began = time.monotonic()
            with pytest.raises(script.Unreachable, match="expected a complete reply within"):
                quick_site("https://example.org").ask("/api/v1/")
            assert time.monotonic() - began < LIMIT + LATE


def test_a_download_may_take_long_if_each_piece_comes_in_time(
    script: ModuleType, quick_site: Any, tmp_path: Path
) -> None:
    pieces = 6

    def talk(peer: Peer) -> None:
        peer.read_request()
        peer.sock.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % (pieces * script.PIECE))
        for _ in range(pieces):
            peer.ended.wait(LIMIT / 2)
            peer.sock.sendall(bytes(script.PIECE))

    with raw_server(talk) as port:
        found = quick_site(f"http://127.0.0.1:{port}").download("/file", tmp_path / "file")
    assert found.stat().st_size == pieces * script.PIECE


def test_a_line_without_an_end_in_a_file_of_the_site_is_refused(script: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl.gz"
    path.write_bytes(gzip.compress(b" " * (script.LONGEST_LINE + 2)))
    with pytest.raises(script.Refused, match="a line of more than 16,777,216 bytes"):
        list(script.lines_of(path, "questions"))


# Memory

REPLIES = {
    # replies that are too large by far
    "60 MB of text": (60 * MEGABYTE, b"red "),
    "4 MB of text": (4 * MEGABYTE - 1000, b"red "),
    "4 MB of small values": (4 * MEGABYTE - 1000, b"{},"),
    "the most values": (3 * MEGABYTE // 2 - 1000, b"{},"),  # each needs many times the memory of its text
}
MOST_MEMORY = 200  # megabytes


@pytest.mark.parametrize("name", REPLIES)
def test_the_memory_for_replies_that_are_read_at_once_is_bounded(name: str) -> None:
    size, piece = REPLIES[name]
    start, end = (b'{"choices": ["', b'"]}') if piece == b"red " else (b'{"choices": [', b"{}]}")
    body = start + piece * ((size - len(start + end)) // len(piece)) + end

    def talk(peer: Peer) -> None:
        while True:
            peer.read_request()
            peer.sock.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    program = (
        "import runpy, sys, threading\n"
        "ask = runpy.run_path(sys.argv[1])\n"
        "server = ask['ModelServer'](ask['model_address'](sys.argv[2]), '', timeout=120, concurrency=8)\n"
        "def work(): server.ask(b'{}', now=lambda: 0.0)\n"
        "threads = [threading.Thread(target=work) for _ in range(8)]\n"
        "[one.start() for one in threads]; [one.join() for one in threads]\n"
        "[peak] = [line.split() for line in open('/proc/self/status') if line.startswith('VmHWM')]\n"
        "print(int(peak[1]) // 1024)\n"
    )
    with raw_server(talk) as port:
        command = [sys.executable, "-c", program, str(SCRIPT), f"http://127.0.0.1:{port}/v1"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=300, check=True, env={"PATH": os.environ["PATH"]}
        )
    assert int(done.stdout) < MOST_MEMORY


def test_the_documentation_names_the_limits(script: ModuleType) -> None:
    page = " ".join((ROOT / "webapp/docs/asking.md").read_text().split())
    default = script.parser().parse_args(["http://a", "b/c", "--base-url", "http://d", "--model", "e"])
    server = script.ModelServer(script.model_address("http://d"), "", timeout=1.0, concurrency=default.concurrency)
    assert f"received at once have {script.ALL_REPLIES // MEGABYTE} MiB at most" in page
    assert (
        f"which is {server.most // MEGABYTE} MiB by default, and never less than {script.LEAST_REPLY // 1024} KiB"
        in page
    )
    assert f"ends after {script.SITE_TIMEOUT:g} seconds" in page and f"each {script.PIECE // 1024} KiB of it" in page
    assert f"need less than {MOST_MEMORY} MB of memory" in page and script.MOST_VALUES == MEGABYTE
    assert (
        script.ModelServer(script.model_address("http://d"), "", timeout=1.0, concurrency=5000).most
        == script.LEAST_REPLY
    )
