"""A server like one of a model: it answers from the pixels of the picture, but first gives the errors of a script."""

import base64
import io
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from PIL import Image

Trouble = Callable[["ModelHandler"], None]
Check = Callable[[str, Mapping[str, str], dict[str, Any]], "Trouble | None"]
Pixels = Image.Image | None
MODEL = "stub-2026"
NO_HEADERS: Mapping[str, str] = {}


class ModelQuestion(NamedTuple):
    """A request that the stub received."""

    body: dict[str, Any]
    prompt: str
    picture: Pixels
    key: str


class ModelStub(ThreadingHTTPServer):
    """Gives one of the `troubles` to each of the first requests, then what `reply` returns for prompt and picture.

    A trouble that is None is a reply. `check` returns the error for a request that is wrong by its path, its headers or
    its body, and `write` sends a reply; a provider has its own ones.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, reply: Callable[[str, Pixels], str], *, delay: float = 0.0) -> None:
        super().__init__(("127.0.0.1", 0), ModelHandler)
        self.reply, self.delay = reply, delay
        self.troubles: deque[Trouble | None] = deque()
        self.check: Check = check_path
        self.write: Callable[[str], Trouble] = reply_with
        self.asked: list[ModelQuestion] = []
        self.changed = threading.Condition()
        self.released = threading.Event()  # ends every hang
        self.hold_after: int | None = None  # hang from this number of requests on
        self.inside = self.most_inside = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def wait_for(self, count: int) -> None:
        """Wait until there were so many requests."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.asked) >= count, timeout=60)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # clients that leave are part of the tests


class ModelHandler(BaseHTTPRequestHandler):
    """Answers requests for chat completions."""

    server: ModelStub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        stub = self.server
        try:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = question_in(body, self.headers)
        except ValueError as error:
            status(400, {"error": {"message": str(error)}})(self)
            return
        with stub.changed:
            stub.asked.append(asked)
            number = len(stub.asked)
            stub.inside += 1
            stub.most_inside = max(stub.most_inside, stub.inside)
            trouble = stub.check(self.path, self.headers, body)
            if trouble is None and stub.troubles:
                trouble = stub.troubles.popleft()
            stub.changed.notify_all()
        if stub.hold_after is not None and number > stub.hold_after:
            stub.released.wait()
        if trouble is None:
            time.sleep(stub.delay)
            trouble = stub.write(stub.reply(asked.prompt, asked.picture))
        with stub.changed:
            stub.inside -= 1
        trouble(self)

    def send(self, code: int, content: bytes, headers: Mapping[str, str] = NO_HEADERS) -> None:
        self.send_response_only(code)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def question_in(body: dict[str, Any], headers: Any) -> ModelQuestion:
    """Return a request with its picture decoded; raise `ValueError` for other pictures than PNG data URLs."""
    [message] = body.get("messages") or body["input"]
    content = message["content"]
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    prompt = "".join(part["text"] for part in parts if part["type"] in ("text", "input_text"))
    pictures = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    pictures += [part["image_url"] for part in parts if part["type"] == "input_image"]
    picture = None
    if pictures:
        kind, _, packed = pictures[0].partition(",")
        if (len(pictures), kind) != (1, "data:image/png;base64"):
            raise ValueError(f"Expected one PNG data URL, got {len(pictures)} pictures, the first as {kind}.")
        picture = Image.open(io.BytesIO(base64.b64decode(packed, validate=True)), formats=["PNG"])
        picture.load()
    return ModelQuestion(body, prompt, picture, headers.get("Authorization", ""))


def check_path(path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Trouble | None:
    return None if path == "/v1/chat/completions" else status(404, {"error": {"message": f"no {path}"}})


def status(code: int, body: Any = None, headers: Mapping[str, str] = NO_HEADERS) -> Trouble:
    content = body if isinstance(body, bytes) else json.dumps(body or {"error": {"message": "Not now."}}).encode()
    return lambda handler: handler.send(code, content, headers)


def reply_with(content: Any, *, finish: Any = "stop", **more: Any) -> Trouble:
    """Return a chat completion with this content; `more` are further fields of the message."""
    message = {"role": "assistant", "content": content, **more}
    body = {
        "id": "chat-1",
        "object": "chat.completion",
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105},
    }
    return status(200, body)


def hang(handler: ModelHandler) -> None:
    handler.server.released.wait()


def cut(handler: ModelHandler) -> None:
    """Send half of a response and close the connection."""
    handler.send(200, b'{"choices": [{"message": {"content": "yes"', {"Content-Length": "4000"})
    handler.close_connection = True


def cut_chunks(handler: ModelHandler) -> None:
    """Send the first chunks of a response and close the connection."""
    handler.send_response_only(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b'6\r\n{"a": \r\n')
    handler.close_connection = True


def drop(handler: ModelHandler) -> None:
    handler.close_connection = True


@contextmanager
def serving(reply: Callable[[str, Pixels], str], *, delay: float = 0.0) -> Iterator[ModelStub]:
    """Run a stub and give it."""
    stub = ModelStub(reply, delay=delay)
    thread = threading.Thread(target=stub.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield stub
    finally:
        stub.released.set()
        stub.shutdown()
        thread.join()
        stub.server_close()
