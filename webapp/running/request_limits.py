"""Limits on incoming requests: their size, and which proxies are trusted about their origin."""

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
SMALL = MEGABYTE  # bytes that every view accepts
HEADERS_ONLY, UPLOAD_BYTES = "horsesense.headers_only", "horsesense.upload_bytes"  # for UploadLimit


class OurProxies:
    """Middleware: trusts forwarding headers of this site's proxies only.

    If a request comes from such a proxy, `REMOTE_ADDR` becomes the visitor's address, which rate limits use. Otherwise
    the headers are removed.
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
    """Middleware: refuses a request whose `Host` header names a port at which the site is not reached.

    Without `PUBLIC_URL`, links are made from that header, and some cached responses depend on it.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response, or raise `DisallowedHost`."""
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

    It comes before Django's CSRF check, which reads the body. The web server asks with `HEADERS_ONLY` before a large
    body is read. If the body is accepted, its maximum size is put into `UPLOAD_BYTES`.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], _arguments: Any, parts: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Return a refusal, or None if the view may answer; raise `RequestDataTooBig` for a body that is too large."""
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
    """Return whether an address is one of this site's proxies; a local socket has an empty address."""
    return sender == "" or any(_within(sender, network) for network in settings.TRUSTED_PROXIES)


def visitor(sender: str, forwarded_for: str) -> str:
    """Return the address that the outermost trusted proxy saw; entries further left are the visitor's own claims."""
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
