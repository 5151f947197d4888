"""A server that answers like the real site, but first gives the errors that a test asks for."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

TOKEN = "hs_secret"
DROPPED = -1  # used as a status: the connection is closed without an answer


class Asked(NamedTuple):
    """A request that the server received."""

    method: str
    path: str
    fields: dict[str, bytes]
    key: str
    token: str


class Contrary(ThreadingHTTPServer):
    """Gives one of the `troubles` (status and headers) to each of the first requests, then the `answers` by path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, list[Any]] = {}
        self.troubles: list[tuple[int, dict[str, str]]] = []
        self.asked: list[Asked] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """Records each request and answers it."""

    server: Contrary

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        parts = BytesParser(policy=HTTP).parsebytes(head + body)
        fields = {}
        for part in parts.iter_parts():
            name = re.search(r'name="(\w+)"', str(part["Content-Disposition"]))
            fields[name[1] if name else ""] = part.get_payload(decode=True)
        self._answer(fields)

    def _answer(self, fields: dict[str, bytes]) -> None:
        token = self.headers.get("Authorization", "")
        key = self.headers.get("Idempotency-Key", "")
        self.server.asked.append(Asked(self.command, self.path, fields, key, token))
        if self.server.troubles:
            status, headers = self.server.troubles.pop(0)
            if status == DROPPED:
                self.close_connection = True
                return
            self._send(status, {"error": {"code": "trouble", "message": "Not now.", "details": {}}}, headers)
            return
        waiting = self.server.answers[self.path]
        self._send(200 if self.command == "GET" else 202, waiting.pop(0) if len(waiting) > 1 else waiting[0], {})

    def _send(self, status: int, body: Any, headers: dict[str, str]) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(content))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def running() -> Iterator[Contrary]:
    """Run a server and give it."""
    server = Contrary()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
