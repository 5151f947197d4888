"""The interface of the model's server: the reply in a response."""

from __future__ import annotations

import json
from typing import Any

from generation.asking.console import KEPT_ERROR, SECRETS
from generation.asking.model_server.model_reply import ANSWERED, CUT_OFF, EMPTY, FAILED, REFUSED, ModelReply
from generation.engine.replies.thoughts import without_thoughts

REASONING = ("reasoning", "reasoning_content", "reasoning_details")
COMPLETE = (None, "", "stop", "eos", "eos_token", "end_turn", "stop_sequence")
LENGTH = ("length", "max_tokens", "max_output_tokens", "model_length")
FILTERED = ("content_filter", "refusal", "safety", "content_policy_violation")


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
