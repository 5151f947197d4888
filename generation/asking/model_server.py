"""The model's server: one request, and the reply in its response."""

from __future__ import annotations

import http.client
import json
import selectors
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from generation.asking.console import KEPT_ERROR, SECRETS, Refused
from generation.asking.exchanges import (
    LARGEST_ERROR,
    PIECE,
    Deadline,
    TimedConnection,
    TimedSocket,
    TimedTLSConnection,
    parts_of_address,
    seconds_asked,
)
from generation.engine.replies.thoughts import without_thoughts

ANSWERED, CUT_OFF, REFUSED, EMPTY, FAILED = STATES = ("answered", "cut off", "refused", "empty", "failed")
LEAST_REPLY = 256 << 10  # bytes that one reply may have in any case
ALL_REPLIES = 32 << 20  # bytes of all replies that are read at once; each of the requests at once has an equal part
MOST_VALUES = 1 << 20  # values in a reply, which need more memory than their text


class ModelReply(NamedTuple):
    """The result of one attempt. `wait` is the number of seconds that the server asks to wait."""

    state: str
    reply: str | None = None
    reasoning: Mapping[str, Any] | None = None
    finish_reason: str | None = None
    usage: Mapping[str, Any] | None = None
    served_model: str | None = None
    status: int | None = None
    error: str | None = None
    wait: float | None = None


TOKENS = ("prompt_tokens", "completion_tokens")
REASONING = ("reasoning", "reasoning_content", "reasoning_details")
COMPLETE = (None, "", "stop", "eos", "eos_token", "end_turn", "stop_sequence")
LENGTH = ("length", "max_tokens", "max_output_tokens", "model_length")
FILTERED = ("content_filter", "refusal", "safety", "content_policy_violation")


class ModelServer:
    """A server with the interface of OpenAI's chat completions; each thread has a connection of its own.

    An exchange ends after `timeout` seconds, whatever the server does. All replies that are read at once have
    `ALL_REPLIES` bytes at most: each of `concurrency` requests has an equal part.
    """

    def __init__(self, base_url: str, key: str, *, timeout: float, concurrency: int = 1) -> None:
        parts = parts_of_address(base_url)
        if parts is None or parts.hostname is None or parts.query or parts.fragment:
            raise Refused(
                "Expected an address such as http://127.0.0.1:8000/v1 as --base-url, without keys and passwords: "
                "these come from environment variables."
            )
        self.scheme, self.host, self.port, self.timeout = parts.scheme, parts.hostname, parts.port, timeout
        path = parts.path.rstrip("/")
        self.path = path if path.endswith("/chat/completions") else f"{path}/chat/completions"
        self.address = f"{parts.scheme}://{parts.netloc}{self.path}"
        self.headers = {"Content-Type": "application/json", "User-Agent": "horsesense-ask"}
        if key:
            self.headers["Authorization"] = f"Bearer {key}"
        self.most = max(LEAST_REPLY, ALL_REPLIES // concurrency)
        self.own = threading.local()
        self.parsing = threading.Lock()  # a value of JSON needs many times the memory of its text

    def ask(self, body: bytes, *, now: Callable[[], float]) -> ModelReply:
        """Send a request once and return the result; a failure is a result too."""
        connection = self._connection()
        try:
            response, content = self._exchange(connection, body)
            with self.parsing:
                check_values(content)
                text = content.decode("utf-8", "replace")
                del content
                if response.status == 200:
                    return reply_in(text)
                code, said = error_in(loaded(text), text)
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            connection.close()
            return ModelReply(FAILED, error=kept_error(f"{type(error).__name__}: {error}"))
        said = said or f"{response.reason}"
        state = REFUSED if response.status == 400 and code in FILTERED else FAILED
        wait = seconds_asked(response.headers, now())
        return ModelReply(state, status=response.status, error=kept_error(f"{code} {said}".strip()), wait=wait)

    def leave(self) -> None:
        found: TimedConnection | None = getattr(self.own, "connection", None)
        if found is not None:
            found.close()

    def _connection(self) -> TimedConnection:
        """Return this thread's connection with a new deadline; one that the server has closed is opened again."""
        found: TimedConnection | None = getattr(self.own, "connection", None)
        if found is None:
            kind = TimedTLSConnection if self.scheme == "https" else TimedConnection
            found = self.own.connection = kind(self.host, self.port, timeout=self.timeout)
        elif found.sock is not None and has_input(found.sock):
            found.close()
        found.deadline = Deadline(self.timeout)
        return found

    def _exchange(self, connection: TimedConnection, body: bytes) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request; return the response and its content."""
        trouble: OSError | None = None
        try:
            connection.request("POST", self.path, body, self.headers)
        except (BrokenPipeError, ConnectionResetError) as error:
            trouble = error  # a server may refuse a request before it has read all of it
        try:
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            raise trouble or error from error
        content = self._content(response)
        if response.will_close or not response.isclosed() or trouble is not None:
            connection.close()
        return response, content

    def _content(self, response: http.client.HTTPResponse) -> bytes:
        """Return the body; raise an error if it is incomplete or too large. Of an error, the beginning is enough."""
        wanted, pieces, size = response.headers.get("Content-Length"), [], 0
        least = int(wanted) if wanted is not None and wanted.isdecimal() else None
        most = self.most if response.status == 200 else LARGEST_ERROR
        if response.status == 200 and least is not None and least > most:
            raise http.client.HTTPException(f"expected a reply of at most {most:,} bytes, got one of {least:,}")
        while (least is None or size < least) and (piece := response.read1(PIECE)):
            pieces.append(piece)
            size += len(piece)
            if size > most and response.status == 200:
                raise http.client.HTTPException(f"expected a reply of at most {most:,} bytes, got a larger one")
            if size > most:
                return b"".join(pieces)
        if least is not None and size < least:
            raise http.client.IncompleteRead(b"", least - size)
        if not response.isclosed():
            response.length = 0  # `read1` does not count before Python 3.13
            response.read()  # ends the response, so that the connection can be used again
        return b"".join(pieces)


def check_values(content: bytes) -> None:
    values = sum(content.count(mark) for mark in (b",", b"[", b"{"))
    if values > MOST_VALUES:
        raise http.client.HTTPException(f"expected a reply of at most {MOST_VALUES:,} values, got more")


def has_input(sock: socket.socket | TimedSocket) -> bool:
    with selectors.DefaultSelector() as found:  # `select.select` takes no file number above 1,023
        found.register(sock, selectors.EVENT_READ)
        return bool(found.select(0))


def kept_error(text: str) -> str:
    return SECRETS.text(text)[:KEPT_ERROR]  # in this order, because the beginning of a key would not be found


def loaded(text: str) -> Any:
    """Return a JSON value, or None for other texts."""
    try:
        return json.loads(text, parse_constant=lambda name: None)
    except (ValueError, RecursionError):
        return None


def error_in(found: Any, text: str) -> tuple[str, str]:
    """Return the code and the message of an error: of a JSON value in one of the usual forms, else of a plain text."""
    error = found.get("error", found) if isinstance(found, dict) else text
    if not isinstance(error, dict):
        return "", str(error)
    said = error.get("message") or error.get("detail") or text
    named = f" ({error['param']})" if error.get("param") else ""
    return str(error.get("code") or error.get("type") or ""), f"{said}{named}"


def reply_in(text: str) -> ModelReply:
    """Return the reply in a response with status 200; only a complete reply with text has the state `answered`."""
    found = loaded(text)
    choices = found.get("choices") if isinstance(found, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message, finish = choice.get("message"), choice.get("finish_reason")
    if message is None and state_of(finish, None, is_refused=False) == REFUSED:
        message = {}  # some servers leave out the message that their filter stops
    faulty = choice if choice.get("error") else found
    if not isinstance(found, dict) or not isinstance(message, dict) or faulty.get("error"):
        said = f"expected a chat completion, got: {' '.join(error_in(faulty, text)).strip()}"
        return ModelReply(FAILED, status=200, error=kept_error(said))
    content, refusal = content_of(message.get("content")), message.get("refusal") or refusal_in(message.get("content"))
    reasoning = {name: message[name] for name in REASONING if message.get(name)}
    usage, model = found.get("usage"), found.get("model")
    state = state_of(finish, content, is_refused=bool(refusal))
    trouble = str(refusal) if refusal else f"unknown finish reason {finish!r}" if state == FAILED else ""
    return ModelReply(
        state,
        content,
        reasoning or None,
        finish if finish is None else str(finish),
        usage if isinstance(usage, dict) else None,
        model if isinstance(model, str) else None,
        200,
        kept_error(trouble) or None,
    )


def content_of(content: Any) -> str | None:
    """Return the text of a message; its content may be a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def refusal_in(content: Any) -> str | None:
    parts = [part.get("refusal") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return next((part for part in parts if isinstance(part, str) and part), None)


def state_of(finish: Any, content: str | None, *, is_refused: bool) -> str:
    said = finish.lower() if isinstance(finish, str) else finish
    if is_refused or (said.partition(":")[0] if isinstance(said, str) else said) in FILTERED:
        return REFUSED
    if said in LENGTH:
        return CUT_OFF
    if said not in COMPLETE:
        return FAILED
    return ANSWERED if content is not None and without_thoughts(content).strip() else EMPTY


def is_at_limit(usage: Mapping[str, Any] | None, sent: Mapping[str, Any]) -> bool:
    most, tokens = sent.get("max_completion_tokens", sent.get("max_tokens")), tokens_in(usage)[1]
    return type(most) is int and tokens is not None and tokens >= most


def tokens_in(usage: Mapping[str, Any] | None) -> list[int | None]:
    # The tokens of the request and of the reply; None if the server does not report them.
    counts = [(usage or {}).get(name) for name in TOKENS]
    return [count if type(count) is int and 0 <= count < 10**9 else None for count in counts]
