"""What comes in from outside: how large it may be, and who says where it comes from."""

import logging
from collections.abc import Callable
from functools import lru_cache
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponseBase

from webapp.network import Network

log = logging.getLogger(__name__)

GetResponse = Callable[[HttpRequest], HttpResponseBase]

FORWARDED = ("HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_HOST", "HTTP_FORWARDED")
MEGABYTE = 1_000_000


class OurProxies:
    """Middleware: believes what a proxy of ours says about a request, and nobody else.

    From our proxy, `REMOTE_ADDR` becomes the visitor's address (limits on tries go by it); from anybody else, what
    such headers say is thrown away.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the site's answer."""
        sender = request.META.get("REMOTE_ADDR", "")
        if is_ours(sender):
            request.META["REMOTE_ADDR"] = visitor(sender, request.META.get("HTTP_X_FORWARDED_FOR", ""))
        else:
            disbelieve(request.META, sender)
        return self.get_response(request)


class UploadLimit:
    """Middleware: refuses a request that says it is larger than `UPLOAD_MB`, before anything of it is read."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the site's answer, or raise `RequestDataTooBig`."""
        length = request.META.get("CONTENT_LENGTH") or "0"
        if length.isdigit() and int(length) > settings.UPLOAD_MB * MEGABYTE:
            raise RequestDataTooBig(f"Expected at most {settings.UPLOAD_MB} MB, got {length} bytes.")
        return self.get_response(request)


def is_ours(sender: str) -> bool:
    """Return whether an address is that of one of our proxies; a socket of this machine has none."""
    return sender == "" or any(_within(sender, network) for network in settings.TRUSTED_PROXIES)


def visitor(sender: str, forwarded_for: str) -> str:
    """Return the address that our outermost proxy was asked from; further left stands what the visitor claims."""
    for address in reversed([part.strip() for part in forwarded_for.split(",") if part.strip()]):
        if not _is_address(address):
            break
        sender = address
        if not is_ours(address):
            break
    return sender


def disbelieve(meta: dict[str, Any], sender: str) -> None:
    """Throw away what a stranger says on behalf of others."""
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
