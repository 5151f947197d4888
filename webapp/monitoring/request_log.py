"""Counts each request for `/metrics` and, unless `ACCESS_LOG` is off, logs it in one line.

No line contains secrets of participants or of the owners of links and tokens. Addresses are masked as in all logs
(`webapp.monitoring.log_masking`). The query strings of account pages and of participants' pages are left out. For
participants, the network address and the browser's name are left out too.
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
from webapp.monitoring.log_masking import mask
from webapp.running.request_limits import HEADERS_ONLY

log = logging.getLogger("webapp.access")

JSON, COMBINED, OFF = "json", "combined", "off"
PRIVATE = (f"/{TAKING}", "/login/", "/accounts/")  # the query strings of these addresses may contain secrets
SECRETS = re.compile(r"(?i)\b(token|code|state|key|secret|password|session|signature)=[^&\s\"]*")
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\"\\]")
LONGEST = 2000  # the most characters of an address or user agent that are logged


class RequestLog:
    """Middleware: measures and logs each request. It is the outermost middleware, so that it measures all others."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        start = time.perf_counter()
        response = self.get_response(request)
        seconds = time.perf_counter() - start
        metrics.observe(request, response.status_code, seconds)
        if settings.ACCESS_LOG != OFF and HEADERS_ONLY not in request.META:  # the request with the body follows
            log.info("%s", line(request, response, seconds, form=settings.ACCESS_LOG))
        return response


def line(request: HttpRequest, response: HttpResponseBase, seconds: float, *, form: str) -> str:
    """Return the log line of a request."""
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
        return mask(_without_parts(request))[:LONGEST]
    return SECRETS.sub(r"\1=…", mask(request.get_full_path()))[:LONGEST]


def _without_parts(request: HttpRequest) -> str:
    """Return a request's path without the values of the route's arguments, and without the query string."""
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
