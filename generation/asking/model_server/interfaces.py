"""The two interfaces of OpenAI, chat completions and responses: the body of a request, and the reply in a response."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from generation.asking.digests import as_json
from generation.asking.model_server.addresses import CHAT_INTERFACE, RESPONSES_INTERFACE
from generation.asking.model_server.errors import (
    FILTERED,
    PASSING,
    QUESTION,
    ServerError,
    error_in,
    kept_error,
    kind_of,
)
from generation.asking.model_server.model_reply import (
    ANSWERED,
    CUT_OFF,
    EMPTY,
    FAILED,
    REFUSED,
    TOKENS,
    ModelReply,
)
from generation.engine.replies.thoughts import without_thoughts

REASONING = ("reasoning", "reasoning_content", "reasoning_details", "thinking", "thinking_blocks")
THINKING = ("thinking", "reasoning", "reasoning_text", "summary_text", "thought")  # kinds of parts of a content
COMPLETE = (None, "", "stop", "eos", "eos_token", "end_turn", "stop_sequence", "completed")
LENGTH = ("length", "max_tokens", "max_output_tokens", "model_length")
# The name of the limit of a reply in each interface.
LIMIT_NAMES: Mapping[str, str] = {CHAT_INTERFACE: "max_tokens", RESPONSES_INTERFACE: "max_output_tokens"}
SPOKEN = ("text", "output_text")


def loaded(text: str) -> Any:
    """Return a JSON value, or None for other texts."""
    try:
        return json.loads(text, parse_constant=lambda name: None)
    except (ValueError, RecursionError):
        return None


def request_body(interface: str, model: str, prompt: str, picture: str | None, sent: Mapping[str, Any]) -> bytes:
    """Return the body of a request. `picture` is a data URL, and `sent` has the parameters."""
    content: Any = prompt
    if interface == RESPONSES_INTERFACE:
        if picture is not None:
            content = [{"type": "input_image", "image_url": picture}, {"type": "input_text", "text": prompt}]
        messages = {"input": [{"role": "user", "content": content}], "store": False}
    else:
        if picture is not None:
            content = [{"type": "image_url", "image_url": {"url": picture}}, {"type": "text", "text": prompt}]
        messages = {"messages": [{"role": "user", "content": content}]}
    return as_json({"model": model, **messages, "stream": False, **sent})


def reply_in(text: str, interface: str) -> ModelReply:
    """Return the reply in a response with status 200; only a complete reply with text has the state `answered`.

    An error in such a response is one as with a status of its own.
    """
    found = loaded(text)
    if interface == RESPONSES_INTERFACE:
        return reply_of_response(found, text)
    return reply_of_chat(found, text)


def reply_of_chat(found: Any, text: str) -> ModelReply:
    choices = found.get("choices") if isinstance(found, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message, finish = choice.get("message"), choice.get("finish_reason")
    if message is None and state_of(finish, None, is_refused=False) == REFUSED:
        message = {}  # some servers leave out the message that their filter stops
    faulty = choice if choice.get("error") else found
    if not isinstance(found, dict) or not isinstance(message, dict) or faulty.get("error"):
        return failed_reply("a chat completion", error_in(faulty, text))
    content, refusal = content_of(message.get("content")), message.get("refusal") or refusal_in(message.get("content"))
    reasoning = {name: message[name] for name in REASONING if message.get(name)}
    thoughts = "\n".join(thoughts_in(message.get("content")))
    if thoughts:
        reasoning.setdefault("reasoning", thoughts)
    return finished_reply(found, finish, content, refusal=refusal, reasoning=reasoning)


def reply_of_response(found: Any, text: str) -> ModelReply:
    output = found.get("output") if isinstance(found, dict) else None
    status = found.get("status") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(output, list) or found.get("error"):
        return failed_reply("a response", error_in(found, text))
    items = [item for item in output if isinstance(item, dict)]
    said = [item for item in items if item.get("type") == "message" and item.get("phase") != "commentary"]
    contents = [content_of(item.get("content")) for item in said]
    refusal = next(filter(None, (refusal_in(item.get("content")) for item in said)), None)
    parts = [
        part for item in items if item.get("type") == "reasoning" for part in (item.get("summary"), item.get("content"))
    ]
    thoughts = "\n".join(one for part in parts for one in thoughts_in(part))
    details = found.get("incomplete_details")
    finish = details.get("reason") if status == "incomplete" and isinstance(details, dict) else status
    content = None if not said else "".join(one for one in contents if one is not None)
    return finished_reply(
        found, finish, content, refusal=refusal, reasoning={"reasoning": thoughts} if thoughts else {}
    )


def failed_reply(expected: str, error: ServerError) -> ModelReply:
    said, kind = kept_error(f"expected {expected}, got: {error.text}"), kind_of(error.status, error)
    is_filtered = kind == QUESTION and error.code in FILTERED
    return ModelReply(REFUSED if is_filtered else FAILED, status=error.status or 200, error=said, kind=kind)


def finished_reply(
    found: Mapping[str, Any], finish: Any, content: str | None, *, refusal: Any, reasoning: Mapping[str, Any]
) -> ModelReply:
    model = found.get("model")
    state = state_of(finish, content, is_refused=bool(refusal))
    trouble = str(refusal) if refusal else f"unknown finish reason {finish!r}" if state == FAILED else ""
    return ModelReply(
        state,
        content,
        reasoning or None,
        finish if finish is None else str(finish),
        usage_in(found.get("usage")),
        model if isinstance(model, str) else None,
        200,
        kept_error(trouble) or None,
        PASSING if state == FAILED else "",
    )


def usage_in(usage: Any) -> Mapping[str, Any] | None:
    """Return the numbers of tokens; those of the interface of responses with the names that chat completions have."""
    if not isinstance(usage, dict):
        return None
    renamed = {name: usage[other] for name, other in zip(TOKENS, ("input_tokens", "output_tokens")) if other in usage}  # noqa: B905 - Python 3.9
    return {**renamed, **usage}


def content_of(content: Any) -> str | None:
    """Return the text of a message; its content may be a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") in SPOKEN]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def refusal_in(content: Any) -> str | None:
    parts = [part.get("refusal") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return next((part for part in parts if isinstance(part, str) and part), None)


def thoughts_in(content: Any) -> Iterator[str]:
    """Yield the texts of those parts of a content that are no reply but reasoning."""
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict) or part.get("type") not in THINKING:
            continue
        inner = next((part[name] for name in ("thinking", "text", "reasoning") if part.get(name)), None)
        if isinstance(inner, str):
            yield inner
        elif isinstance(inner, list):
            yield from (one["text"] for one in inner if isinstance(one, dict) and isinstance(one.get("text"), str))


def state_of(finish: Any, content: str | None, *, is_refused: bool) -> str:
    said = finish.lower() if isinstance(finish, str) else finish
    if is_refused or (said.partition(":")[0] if isinstance(said, str) else said) in FILTERED:
        return REFUSED
    if said in LENGTH:
        return CUT_OFF
    if said not in COMPLETE:
        return FAILED
    return ANSWERED if content is not None and without_thoughts(content).strip() else EMPTY
