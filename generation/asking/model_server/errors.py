"""Errors of the model's server: their texts in many forms, and what each means for a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from generation.asking.console import KEPT_ERROR, SECRETS

# What an error means: ask later with fewer requests; ask again; this question is refused; every request would fail.
CROWDED, PASSING, QUESTION, STOP = ("crowded", "passing", "question", "stop")
KINDS: Mapping[int, str] = {
    **dict.fromkeys((429, 503, 529), CROWDED),
    **dict.fromkeys((408, 409, 425), PASSING),
    **dict.fromkeys((400, 403, 413, 422, 451), QUESTION),
}
# Names of errors that servers send in place of a status, in the order in which they are looked for.
NAMED: tuple[tuple[str, int], ...] = (
    (r"insufficient_(?:quota|balance|credit)|billing", 402),
    (r"rate.?limit|too_many_requests|resource_exhausted|throttl", 429),
    (r"overloaded|unavailable|capacity", 503),
    (r"invalid_api_key|authentication|unauthenticated|unauthorized", 401),
    (r"permission|forbidden|moderation", 403),
    (r"content.?(?:filter|policy|management)|context_length|invalid_request|invalid_argument|bad_request", 400),
    (r"not_found", 404),
    (r"too_large", 413),
    (r"timeout|timed_out|deadline", 408),
)
NO_CREDIT = re.compile(r"insufficient_(?:quota|balance|credit)", re.IGNORECASE)
FILTERED = ("content_filter", "refusal", "safety", "content_policy_violation")
NESTED_FIELDS = ("error", "errors", "detail", "fault")
LONGEST_NAME = 60


class ServerError(NamedTuple):
    """The error in a response. `code` is the server's name for it, and `status` the one that the text gives, if any."""

    code: str
    message: str
    status: int | None

    @property
    def text(self) -> str:
        return f"{self.code} {self.message}".strip()


def kept_error(text: str) -> str:
    return SECRETS.text(text)[:KEPT_ERROR]  # in this order, because the beginning of a key would not be found


def error_in(found: Any, text: str) -> ServerError:
    """Return the error in a JSON value of one of the usual forms, else in a plain text."""
    error = innermost(found)
    if not isinstance(error, dict):
        return ServerError("", text if error is None else message_text(error), None)
    said = error.get("message") or error.get("msg") or error.get("detail") or error.get("title")
    named = f" ({error['param']})" if error.get("param") else ""
    codes = [error.get(name) for name in ("code", "type", "status")]
    numbers = [number for number in map(status_in, codes) if number]
    code = next((str(one) for one in codes if one), "")
    message = f"{message_text(said) if said else text}{named}{details_of(error)}"
    status = (
        numbers[0]
        if numbers
        else next((named_status(str(one)) for one in codes if one and named_status(str(one))), None)
    )
    return ServerError(code, message, status)


def innermost(found: Any) -> Any:
    """Return the object or text that has the error: `{"error": ...}`, a list of these, or the value itself."""
    for _ in range(4):
        if isinstance(found, list) and len(found) == 1 and isinstance(found[0], dict) and "loc" not in found[0]:
            found = found[0]
        elif isinstance(found, dict) and not found.get("message") and any(found.get(name) for name in NESTED_FIELDS):
            inner = next(found[name] for name in NESTED_FIELDS if found.get(name))
            if not isinstance(inner, (dict, list, str)) or (isinstance(inner, str) and found.get("code")):
                return found
            found = inner
        elif isinstance(found, dict) and isinstance(found.get("error"), dict):
            found = found["error"]
        else:
            return found
    return found


def message_text(said: Any) -> str:
    """Return a message as text: also a list of problems, each with the place in the request and what is wrong."""
    if isinstance(said, dict):
        said = [said]
    if not isinstance(said, list) or not all(isinstance(one, dict) for one in said):
        return str(said)
    lines = []
    for one in said:
        place = one.get("loc") or one.get("path") or ""
        where = ".".join(map(str, place)) if isinstance(place, list) else str(place)
        what = one.get("msg") or one.get("message") or one
        lines.append(f"{where}: {what}" if where else str(what))
    return "; ".join(lines)


def details_of(error: Mapping[str, Any]) -> str:
    # Routers put the reasons of the provider behind them into `metadata`.
    metadata = error.get("metadata")
    if not isinstance(metadata, dict):
        return ""
    parts = [metadata.get("reasons"), metadata.get("raw")]
    said = [", ".join(map(str, part)) if isinstance(part, list) else str(part) for part in parts if part]
    return f" [{'; '.join(said)}]" if said else ""


def status_in(code: Any) -> int | None:
    number = int(code) if isinstance(code, str) and re.fullmatch(r"[3-5]\d\d", code) else code
    return number if type(number) is int and 300 <= number < 600 else None


def named_status(name: str) -> int | None:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name[:LONGEST_NAME]).lower().replace(" ", "_")
    return next((status for pattern, status in NAMED if re.search(pattern, words)), None)


def kind_of(status: int | None, error: ServerError) -> str:
    """Return what an error with this status means; None is an error that came without one."""
    if status is None:
        return PASSING
    if NO_CREDIT.search(error.text):
        return STOP
    if status in KINDS:
        return KINDS[status]
    return PASSING if status >= 500 or status < 300 else STOP
