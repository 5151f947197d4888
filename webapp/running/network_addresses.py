"""The addresses of this machine, the socket to listen on, and networks of other machines."""

import errno
import re
import socket
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_network

from ifaddr import get_adapters

ANYWHERE = ("0.0.0.0", "::")  # noqa: S104  # recognised if the user chooses one, but no default
BIND = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^\s:\[\]]*):(?P<port>[0-9]{1,5})")

Network = IPv4Network | IPv6Network
LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1"))


class CannotListen(Exception):
    """The server can't listen on the requested address; the message gives the reason in one line."""


def listen_on(host: str, port: int) -> socket.socket:
    """Return a listening socket for this host and port, which the server process inherits.

    Raises
    ------
    CannotListen
        If the host is not an address of this machine, or the port is not valid, in use, or needs more rights.
    """
    if not 0 <= port <= 65535:
        raise CannotListen(f"--port: expected a number from 0 to 65535, got {port}.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError) as error:
        raise CannotListen(_not_ours(host)) from error
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(2048)  # only this call fails if another process listens on the port
    except OSError as error:
        listener.close()
        raise CannotListen(_refusal(host, port, error)) from error
    return listener


def check_bind(bind: str) -> None:
    """Check a `host:port` on which the web server will listen; the port may still be in use.

    Raises
    ------
    CannotListen
        If the text is not valid, or the host is not an address of this machine.
    """
    match = BIND.fullmatch(bind)
    if match is None or int(match["port"]) > 65535:
        raise CannotListen(f"--bind: expected host:port, for example 127.0.0.1:8000, got {bind!r}.")
    try:
        listen_on(match["host"].strip("[]") or ANYWHERE[0], 0).close()
    except CannotListen as error:
        raise CannotListen(_not_ours(match["host"], option="--bind")) from error


def _refusal(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"--port: expected a free port, but {port} on {host} is taken. Try --port {min(port + 1, 65535)}."
    if error.errno == errno.EACCES:
        return f"--port: expected a port this user may open, got {port}. Ports from 1024 up need no rights."
    return _not_ours(host)


def _not_ours(host: str, *, option: str = "--host") -> str:
    ours = ", ".join(machine_addresses())
    return f"{option}: expected an address of this machine ({ours}, or 0.0.0.0 for all), got {host!r}."


def machine_addresses() -> list[str]:
    """Return this machine's addresses, IPv4 first; IPv6 loopback and link-local addresses are left out."""
    found = [ip.ip for adapter in get_adapters() for ip in adapter.ips]
    ipv4 = [address for address in found if isinstance(address, str)]
    ipv6 = [IPv6Address(address[0]) for address in found if not isinstance(address, str)]
    wide = [str(address) for address in ipv6 if not (address.is_loopback or address.is_link_local)]
    return list(dict.fromkeys(["127.0.0.1", *ipv4, *_own_name_addresses(), *wide]))


def names_of(host: str) -> list[str]:
    """Return the names and addresses under which a server on `host` can be reached, as they are written in URLs."""
    if host in ANYWHERE:
        ours = machine_addresses() if host == "::" else [name for name in machine_addresses() if ":" not in name]
        return [*map(bracket, ours), socket.gethostname()]
    return [bracket(host)]


def bracket(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def are_networks(names: list[str]) -> bool:
    # A name that is no address and no network raises ValueError.
    return all(networks(names))


def networks(names: list[str]) -> list[Network]:
    return [ip_network(name.strip(), strict=False) for name in names]  # an address is a network with one address


def _own_name_addresses() -> list[str]:
    try:
        infos = socket.getaddrinfo(socket.gethostname(), None, family=socket.AF_INET)
    except socket.gaierror:
        return []
    return [str(info[4][0]) for info in infos]
