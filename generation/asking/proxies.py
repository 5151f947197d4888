"""The HTTP proxy on the way to a server, which the environment names."""

from __future__ import annotations

import base64
import ipaddress
import urllib.parse
import urllib.request
from typing import NamedTuple

from generation.asking.console import SECRETS, Refused, printable


class Proxy(NamedTuple):
    """An HTTP proxy. `url` has its password, and `authorization` is the value of its header, or empty."""

    url: str
    host: str
    port: int
    authorization: str = ""

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def is_loopback(host: str) -> bool:
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback or address.is_unspecified


def proxy_for(address: str) -> Proxy | None:
    """Return the proxy for an address that the environment names, or None; raise `Refused` for other proxies than HTTP.

    The variables are `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`. An address of this machine never has one.
    """
    parts = urllib.parse.urlsplit(address)
    host, proxies = parts.hostname or "", urllib.request.getproxies()
    value = (proxies.get(parts.scheme) or proxies.get("all") or "").strip()
    if not value or is_loopback(host) or is_in_network(host, proxies.get("no", "")):
        return None
    if urllib.request.proxy_bypass(parts.netloc):
        return None
    name = f"{parts.scheme}_proxy" if proxies.get(parts.scheme) else "all_proxy"
    try:
        found = urllib.parse.urlsplit(value if "://" in value else f"http://{value}")
        server, port = found.hostname or "", found.port or 80
    except ValueError:
        server, port = "", 0
    if not server or found.scheme != "http":
        shown = value.rpartition("@")[2] if "@" in value else value  # without a password
        raise Refused(
            f"Expected the address of an HTTP proxy, such as http://proxy.example.org:3128, in the variable {name}, "
            f"got {printable(shown)}: change it, or name {host} in the variable no_proxy."
        )
    if found.username is None:
        return Proxy(found.geturl(), server, port)
    pair = f"{urllib.parse.unquote(found.username)}:{urllib.parse.unquote(found.password or '')}"
    packed = base64.b64encode(pair.encode()).decode()
    for secret in (packed, urllib.parse.unquote(found.password or "")):
        SECRETS.hide(secret)
    return Proxy(found.geturl(), server, port, f"Basic {packed}")


def is_in_network(host: str, names: str) -> bool:
    """Return whether `no_proxy` names a network, such as 10.0.0.0/8, that has this address."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    for name in names.replace(",", " ").split():
        try:
            if "/" in name and address in ipaddress.ip_network(name, strict=False):
                return True
        except ValueError:
            continue
    return False
