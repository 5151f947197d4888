"""The result of one request to the model's server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

ANSWERED, CUT_OFF, REFUSED, EMPTY, FAILED = STATES = ("answered", "cut off", "refused", "empty", "failed")
TOKENS = ("prompt_tokens", "completion_tokens")
LIMITS = ("max_completion_tokens", "max_output_tokens", "max_tokens")  # names of the limit of a reply


class ModelReply(NamedTuple):
    """The result of one attempt.

    `kind` is what an error means for the run, and empty without one. `wait` is the number of seconds that the server
    asks to wait.
    """

    state: str
    reply: str | None = None
    reasoning: Mapping[str, Any] | None = None
    finish_reason: str | None = None
    usage: Mapping[str, Any] | None = None
    served_model: str | None = None
    status: int | None = None
    error: str | None = None
    kind: str = ""
    wait: float | None = None


def is_at_limit(usage: Mapping[str, Any] | None, sent: Mapping[str, Any]) -> bool:
    most, tokens = next((sent[name] for name in LIMITS if name in sent), None), tokens_in(usage)[1]
    return type(most) is int and tokens is not None and tokens >= most


def tokens_in(usage: Mapping[str, Any] | None) -> list[int | None]:
    # The tokens of the request and of the reply; None if the server does not report them.
    counts = [(usage or {}).get(name) for name in TOKENS]
    return [count if type(count) is int and 0 <= count < 10**9 else None for count in counts]
