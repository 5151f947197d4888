"""The address of this site, for links in files, mails and texts to copy; and network addresses of visitors."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest


def site_address(request: HttpRequest) -> str:
    return settings.PUBLIC_URL or request.build_absolute_uri("/").rstrip("/")


def network_of(address: str) -> str:
    """Return the network that limits count as one visitor: an IPv4 address, or the /64 network of an IPv6 address.

    A visitor with one IPv6 address usually has 2^64 of them. A text that is no address, such as a socket's name, is
    returned unchanged.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ip_network((int(found) >> 64 << 64, 64)))
    return str(found)
