"""A bucket with the delay of a remote one: each request takes 50 ms more or, for a file, until others join it."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.services import S3

DELAY = 0.05  # seconds
AT_ONCE = 8  # requests for files that wait for each other, so that a busy machine shows the same number at once
PATIENCE = 1.0  # seconds that they wait


class Road:
    """Counts the requests to a bucket by method, and the largest number of requests at the same time."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.requests: Counter[str] = Counter()
        self.now = self.most = 0

    def forget(self) -> None:
        self.requests.clear()
        self.most = 0

    @contextmanager
    def taken(self, verb: str, *, is_file: bool) -> Iterator[None]:
        with self.changed:
            self.requests[verb] += 1
            self.now += 1
            self.most = max(self.most, self.now)
            self.changed.notify_all()
            if is_file:
                self.changed.wait_for(lambda: self.most >= AT_ONCE, PATIENCE)
        try:
            yield
        finally:
            with self.changed:
                self.now -= 1


@contextmanager
def far_away(s3: S3) -> Iterator[tuple[S3, Road]]:
    """Give the same bucket at another address, with a delay of 50 ms, and the counter of requests."""
    road, home = Road(), urlsplit(s3.endpoint)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            is_file = self.command in ("GET", "PUT") and "?" not in self.path
            with road.taken(self.command, is_file=is_file):
                time.sleep(DELAY)
                connection = HTTPConnection(str(home.hostname), home.port, timeout=60)
                headers = {name: value for name, value in self.headers.items() if name.lower() != "expect"}
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                content = answer.read()
                connection.close()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection", "content-length", "server", "date"):
                    self.send_header(name, value)
            length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
            self.send_header("Content-Length", length or "0")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Write no log."""

    for verb in ("GET", "PUT", "POST", "HEAD", "DELETE"):
        setattr(Handler, f"do_{verb}", Handler._pass_on)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield S3(endpoint=f"http://127.0.0.1:{server.server_port}"), road
    finally:
        server.shutdown()
        server.server_close()
