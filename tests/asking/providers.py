"""Servers with the habits of providers, from the formats that they publish."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tests.asking.conftest import KEY
from tests.asking.model_stub import Trouble, reply_with, status

NOTHING: Mapping[str, Any] = {}


class Habit(NamedTuple):
    """What the provider does to one request, and the states of the attempts that follow from it."""

    trouble: Trouble | None
    states: tuple[str, ...]
    error: str = ""


class Provider(NamedTuple):
    """A provider: the end of its address, and what it demands of requests.

    `refuses` has the parameters that it refuses, each with the error. `write` sends a reply, and `habits` are done to
    the requests that are otherwise right, one after the other.
    """

    base: str
    path: str
    write: Callable[[str], Trouble]
    habits: Sequence[Habit]
    key: tuple[str, str] = ("Authorization", f"Bearer {KEY}")
    refuses: Mapping[str, Trouble] = NOTHING
    limit: str = "max_tokens"

    def check(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Trouble | None:
        """Return the error for a request that this provider does not take."""
        if path != self.path:
            return status(404, {"error": {"message": f"Expected {self.path}, got {path}."}})
        if headers.get(self.key[0]) != self.key[1] or ("Authorization" in headers) != (self.key[0] == "Authorization"):
            return status(401, {"error": {"message": "Wrong key."}})
        return next((error for name, error in self.refuses.items() if name in body), None)


GOOD = Habit(None, ("answered",))
REFUSED, AGAIN = ("refused",), ("failed", "answered")


def openai_error(
    message: str, *, kind: str = "invalid_request_error", param: str | None = None, code: Any = None
) -> Any:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def parts_with(*parts: Any) -> Callable[[str], Trouble]:
    return lambda text: reply_with([*parts, {"type": "text", "text": text}])


def padded(body: Any, before: bytes = b"\n \n\n") -> Trouble:
    """Send white space before the JSON, as servers do that keep a connection alive meanwhile."""
    return status(200, before + json.dumps(body).encode())


def chat(content: Any, *, finish: Any = "stop", **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    return {"object": "chat.completion", "choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}


def response(text: str | None, **more: Any) -> Trouble:
    """Return a response of OpenAI's second interface, with reasoning before the message."""
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    thoughts = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "It could be green."}]}
    body = {
        "object": "response", "status": "completed", "error": None, "incomplete_details": None, "model": "eye-1",
        "output": [thoughts, message] if text is not None else [thoughts],
        "usage": {"input_tokens": 90, "output_tokens": 7, "total_tokens": 97},
    }  # fmt: skip
    return status(200, {**body, **more})


def incomplete(reason: str) -> dict[str, Any]:
    return {"status": "incomplete", "incomplete_details": {"reason": reason}}


LIMITED = {"error": {"code": "429", "message": "Over the limit of calls."}}
FILTERED = {"choices": [{"index": 0, "finish_reason": "content_filter: PROHIBITED_CONTENT"}]}
PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(
        "/v1",
        "/v1/chat/completions",
        reply_with,
        [
            GOOD,
            Habit(status(400, openai_error("It was flagged.", code="invalid_prompt")), REFUSED, "flagged"),
            Habit(status(429, openai_error("Slow down.", code="rate_limit_exceeded")), AGAIN, "Slow"),
            Habit(reply_with(None, refusal="I can't help with that."), REFUSED, "I can't help"),
        ],
        refuses={
            "max_tokens": status(400, openai_error(
                "Unsupported parameter: 'max_tokens' is not known to this model. Use 'max_completion_tokens' instead.",
                param="max_tokens", code="unsupported_parameter",
            )),
            "temperature": status(400, openai_error(
                "Unsupported value: 'temperature' does not support 0 with this model. Only the default is supported.",
                param="temperature", code="unsupported_value",
            )),
        },
        limit="max_completion_tokens",
    ),
    "openai responses": Provider(
        "/v1/responses",
        "/v1/responses",
        response,
        [
            GOOD,
            Habit(response("It is", **incomplete("max_output_tokens")), ("cut off",)),
            Habit(response(None, **incomplete("content_filter")), REFUSED),
            Habit(
                response(None, status="failed", error={"code": "server_error", "message": "Try again."}),
                AGAIN, "Try again.",
            ),
            Habit(response(None), ("empty",)),
            Habit(
                response(None, output=[{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]),
                REFUSED, "No.",
            ),
        ],
        limit="max_output_tokens",
    ),
    "azure": Provider(
        "/openai/deployments/eye?api-version=2024-10-21",
        "/openai/deployments/eye/chat/completions?api-version=2024-10-21",
        reply_with,
        [
            GOOD,
            Habit(
                status(400, {"error": {
                    "message": "The prompt triggered the content management policy.", "type": None, "param": "prompt",
                    "code": "content_filter", "status": 400,
                    "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
                }}),
                REFUSED, "content_filter",
            ),
            Habit(status(429, LIMITED, {"Retry-After": "3"}), AGAIN),
            Habit(reply_with("It is", finish="content_filter"), REFUSED),
        ],
        key=("api-key", KEY),
    ),
    "anthropic": Provider(
        "/v1/",
        "/v1/chat/completions",
        reply_with,
        [
            GOOD,
            Habit(
                status(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
                AGAIN, "overloaded_error",
            ),
            Habit(
                status(413, {"type": "error", "error": {"type": "request_too_large", "message": "Too many bytes."}}),
                REFUSED, "request_too_large",
            ),
            Habit(
                status(400, {"error": {"type": "invalid_request_error", "message": "image exceeds 5 MB maximum"}}),
                REFUSED, "image exceeds",
            ),
        ],
    ),
    "gemini": Provider(
        "/v1beta/openai/",
        "/v1beta/openai/chat/completions",
        reply_with,
        [
            GOOD,
            Habit(
                status(429, [{"error": {"code": 429, "message": "No quota left.", "status": "RESOURCE_EXHAUSTED"}}]),
                AGAIN, "No quota left",
            ),
            Habit(
                status(400, [{"error": {"code": 400, "message": "No such image.", "status": "INVALID_ARGUMENT"}}]),
                REFUSED, "No such image",
            ),
            Habit(status(200, FILTERED), REFUSED),
            Habit(status(503, [{"error": {"code": 503, "message": "Busy.", "status": "UNAVAILABLE"}}]), AGAIN),
        ],
    ),
    "openrouter": Provider(
        "/api/v1",
        "/api/v1/chat/completions",
        lambda text: padded(chat(text, reasoning="It could be green.")),
        [
            GOOD,
            Habit(padded({"error": {"code": 502, "message": "The provider failed."}}), AGAIN, "502"),
            Habit(padded({"error": {"code": 429, "message": "Limited."}}), AGAIN, "429 Limited."),
            Habit(
                padded({"error": {"code": 403, "message": "Flagged.", "metadata": {"reasons": ["violence"]}}}),
                REFUSED, "403 Flagged. [violence]",
            ),
            Habit(
                padded({"choices": [{"error": {"code": 500, "message": "Broke off."}, "finish_reason": "error",
                                     "message": {"content": "It is red."}}]}),
                AGAIN, "Broke off.",
            ),
        ],
    ),
    "mistral": Provider(
        "/v1",
        "/v1/chat/completions",
        parts_with({"type": "thinking", "thinking": [{"type": "text", "text": "It could be green."}]}),
        [
            GOOD,
            Habit(
                status(422, {"detail": [{"type": "value_error", "loc": ["body", "messages", 0], "msg": "Bad image"}]}),
                REFUSED, "body.messages.0: Bad image",
            ),
            Habit(status(429, {"message": "Requests rate limit exceeded"}), AGAIN, "rate limit"),
            Habit(reply_with("It is", finish="model_length"), ("cut off",)),
        ],
    ),
    "deepseek": Provider(
        "",
        "/chat/completions",
        lambda text: padded(chat(text, reasoning_content="It could be green."), b"\n" * 500),
        [
            GOOD,
            Habit(status(503, openai_error("Busy.", kind="service_unavailable_error")), AGAIN, "Busy"),
            Habit(padded(chat("", finish="insufficient_system_resource")), AGAIN, "unknown finish"),
            Habit(status(400, openai_error("The context length is 4 tokens.")), REFUSED, "context length"),
        ],
    ),
    "vllm": Provider(
        "/v1",
        "/v1/chat/completions",
        lambda text: status(200, chat(text, reasoning="It could be green.")),
        [
            GOOD,
            Habit(
                status(400, {"object": "error", "type": "BadRequestError", "param": None, "code": 400,
                             "message": "The maximum context length is 2048 tokens, the prompt has 3000."}),
                REFUSED, "maximum context length",
            ),
            Habit(status(500, b"Internal Server Error"), AGAIN, "Internal Server Error"),
            Habit(padded(chat(None, finish="length", reasoning="It could")), ("cut off",)),
        ],
    ),
}  # fmt: skip
