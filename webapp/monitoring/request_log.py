"""Each request is counted for `/metrics` and, where `ACCESS_LOG` says so, written down in one line.

No line has what only a participant, or the owner of a link or token, knows: their addresses are masked as in all logs
(`webapp.monitoring.logs`), questions in addresses of accounts are left out, and of participants also their network
address.
"""

import json
import logging
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from annotations.urls import TAKING
from webapp.monitoring import metrics
from webapp.monitoring.logs import masked
from webapp.running.uploads import HEADERS_ONLY

log = logging.getLogger("webapp.access")

JSON, COMBINED, OFF = "json", "combined", "off"
PRIVATE = (f"/{TAKING}", "/login/", "/accounts/")  # whose questions in the address may hold codes
SECRETS = re.compile(r"(?i)\b(token|code|state|key|secret|password|session|signature)=[^&\s\"]*")
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\"\\]")
LONGEST = 2000  # characters of an address or of what a program calls itself


class RequestLog:
    """Middleware: measures each request from its first to its last middleware, and writes it down."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the site's answer."""
        start = time.perf_counter()
        response = self.get_response(request)
        seconds = time.perf_counter() - start
        metrics.observe(request, response.status_code, seconds)
        if settings.ACCESS_LOG != OFF and HEADERS_ONLY not in request.META:  # the request itself follows
            log.info("%s", line(request, response, seconds, form=settings.ACCESS_LOG))
        return response


def line(request: HttpRequest, response: HttpResponseBase, seconds: float, *, form: str) -> str:
    """Return what is written down of a request."""
    said = _about(request, response, seconds)
    if form == JSON:
        return json.dumps(said)
    when = datetime.now(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
    size = "-" if said["bytes"] is None else said["bytes"]
    start = f'{said["address"]} - - [{when}] "{said["method"]} {_quoted(said["path"])} {_protocol(request)}"'
    return f'{start} {said["status"]} {size} "-" "{_quoted(said["agent"])}"'


def _about(request: HttpRequest, response: HttpResponseBase, seconds: float) -> dict[str, Any]:
    is_participant = request.path_info.startswith(f"/{TAKING}")
    length = response.headers.get("Content-Length")
    return {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "address": "-" if is_participant else request.META.get("REMOTE_ADDR") or "-",
        "method": metrics.verb_of(request),
        "path": address_of(request),
        "route": metrics.route_of(request),
        "status": response.status_code,
        "bytes": int(length) if length and length.isdigit() else None,
        "seconds": round(seconds, 4),
        "agent": "-" if is_participant else request.headers.get("User-Agent", "-")[:LONGEST],
    }


def address_of(request: HttpRequest) -> str:
    if request.path_info.startswith(PRIVATE):
        return masked(_without_parts(request))[:LONGEST]
    return SECRETS.sub(r"\1=…", masked(request.get_full_path()))[:LONGEST]


def _without_parts(request: HttpRequest) -> str:
    """Return an address without its question and without the parts that say who or what: a route's arguments."""
    match = request.resolver_match
    if match is None:
        return f"/{request.path.split('/')[1]}/…"
    path = request.path
    for value in match.kwargs.values():
        path = path.replace(str(value), "…") if value else path
    return path


def _quoted(text: str) -> str:
    return UNPRINTABLE.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _protocol(request: HttpRequest) -> str:
    return _quoted(request.META.get("SERVER_PROTOCOL", "HTTP/1.1"))[:10]
