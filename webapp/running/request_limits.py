"""Checks on incoming requests: their size, their port, and whether their forwarding headers can be trusted."""

import logging
from collections.abc import Callable
from functools import lru_cache
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost, RequestDataTooBig
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.http.request import split_domain_port

from generation.access import MEGABYTE, Uploads
from webapp.running.network_addresses import Network

log = logging.getLogger(__name__)

GetResponse = Callable[[HttpRequest], HttpResponseBase]

FORWARDED = ("HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_HOST", "HTTP_FORWARDED")
SMALL = MEGABYTE  # every view accepts a body of this many bytes
HEADERS_ONLY, UPLOAD_BYTES = "horsesense.headers_only", "horsesense.upload_bytes"  # keys in request.META


class OurProxies:
    """Middleware: accepts forwarding headers only from this site's trusted proxies.

    If a request comes from a trusted proxy, `REMOTE_ADDR` is set to the visitor's address, which rate limits use.
    Otherwise the forwarding headers are removed.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        sender = request.META.get("REMOTE_ADDR", "")
        if is_ours(sender):
            request.META["REMOTE_ADDR"] = visitor(sender, request.META.get("HTTP_X_FORWARDED_FOR", ""))
        else:
            disbelieve(request.META, sender)
        return self.get_response(request)


class KnownPort:
    """Middleware: refuses a request whose `Host` header contains a port at which the site can't be reached.

    The reason is that links are made from this header if `PUBLIC_URL` is not set, and some cached responses depend on
    the header.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response; raise `DisallowedHost` if the port is not known."""
        port = split_domain_port(request.get_host())[1] if "HTTP_HOST" in request.META else ""
        known = {"", "80", "443", str(urlsplit(settings.PUBLIC_URL).port or ""), request.META.get("SERVER_PORT", "")}
        if port not in known:
            raise DisallowedHost(
                f"Expected Host without a port, or with one of {', '.join(sorted(known - {''}))}, got {port}. If the "
                "site is reached there through a proxy or tunnel, set PUBLIC_URL."
            )
        return self.get_response(request)


class UploadLimit:
    """Middleware: refuses a request that is larger than its view accepts, before the body is read.

    It comes before Django's CSRF check, which reads the body. Before the web server reads a large body, it sends a
    request with the key `HEADERS_ONLY` and without the body. If the body is accepted, the largest accepted size is
    stored in the key `UPLOAD_BYTES`.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], _arguments: Any, parts: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Return a refusal, or None if the view may answer; raise `RequestDataTooBig` if the body is too large.

        A request with `HEADERS_ONLY` gets an empty response with status 204 if its body is accepted.
        """
        text = request.META.get("CONTENT_LENGTH") or "0"
        length, has_body = int(text) if text.isdigit() else 0, HEADERS_ONLY not in request.META
        if length <= SMALL and has_body:
            return None
        uploads: Uploads | None = getattr(view, "takes_uploads", None)
        most = SMALL if uploads is None else uploads.most
        if uploads is not None:
            refusal = uploads.refuse(request, **parts)
            if refusal is not None:
                return refusal
        if uploads is None or length > most:
            raise RequestDataTooBig(f"Expected at most {most:,} bytes, got more. Nothing was stored.")
        if has_body:
            return None
        request.META[UPLOAD_BYTES] = max(most, SMALL)
        return HttpResponse(status=204)


def is_ours(sender: str) -> bool:
    # A local socket has the empty address, and is trusted.
    return sender == "" or any(_within(sender, network) for network in settings.TRUSTED_PROXIES)


def visitor(sender: str, forwarded_for: str) -> str:
    """Return the address that the outermost trusted proxy saw; the visitor may have made up all entries left of it."""
    for address in reversed([part.strip() for part in forwarded_for.split(",") if part.strip()]):
        if not _is_address(address):
            break
        sender = address
        if not is_ours(address):
            break
    return sender


def disbelieve(meta: dict[str, Any], sender: str) -> None:
    said = [name for name in FORWARDED if meta.pop(name, None) is not None]
    if said:
        _warn(sender)


@lru_cache(maxsize=100)
def _warn(sender: str) -> None:
    log.warning("%s sends X-Forwarded-... headers. If it is your proxy, name it in TRUSTED_PROXIES.", sender)


def _within(address: str, network: Network) -> bool:
    if not _is_address(address):
        return False
    parsed = ip_address(address)
    return (getattr(parsed, "ipv4_mapped", None) or parsed) in network


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
