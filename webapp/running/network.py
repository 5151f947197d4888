"""The addresses of this machine, a socket on one of them, and networks of others."""

import errno
import fcntl
import re
import socket
import struct
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

SIOCGIFADDR = 0x8915  # Linux: the IPv4 address of an interface
ANYWHERE = ("0.0.0.0", "::")  # noqa: S104  # recognised, not chosen
BIND = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^\s:\[\]]*):(?P<port>[0-9]{1,5})")

Network = IPv4Network | IPv6Network
LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1"))


class CannotListen(Exception):
    """The server can't have the address it was asked to have; the text says why in one line."""


def listen_on(host: str, port: int) -> socket.socket:
    """Return a socket bound to host and port, for the server to inherit.

    Raises
    ------
    CannotListen
        When the host is not this machine's, the port is taken, or it needs rights that we lack.
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
        listener.listen(2048)  # two listeners on one port are refused only now
    except OSError as error:
        listener.close()
        raise CannotListen(_refusal(host, port, error)) from error
    return listener


def check_bind(bind: str) -> None:
    """Refuse a `host:port` that the web server could never have; that it is taken now is no reason.

    Raises
    ------
    CannotListen
        When it is none, or the host is not this machine's.
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
    found = ["127.0.0.1", *_interface_addresses(), *_own_name_addresses(), *_global_ipv6()]
    return list(dict.fromkeys(found))


def names_of(host: str) -> list[str]:
    """Return the names under which a server on `host` is reached, in the form web addresses have."""
    if host in ANYWHERE:
        ours = machine_addresses() if host == "::" else [name for name in machine_addresses() if ":" not in name]
        return [*map(bracketed, ours), socket.gethostname()]
    return [bracketed(host)]


def bracketed(host: str) -> str:
    """Return the host as it stands in a web address: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def are_networks(names: list[str]) -> bool:
    """Return whether each is an address or a network such as 10.0.0.0/8; one that isn't gives False or ValueError."""
    return all(networks(names))


def networks(names: list[str]) -> list[Network]:
    """Return networks by their names; an address is a network of one."""
    return [ip_network(name.strip(), strict=False) for name in names]


def _interface_addresses() -> list[str]:
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            try:
                found.append(socket.inet_ntoa(fcntl.ioctl(probe, SIOCGIFADDR, request)[20:24]))
            except OSError:  # no IPv4 there, or not Linux
                continue
    return found


def _own_name_addresses() -> list[str]:
    try:
        infos = socket.getaddrinfo(socket.gethostname(), None, family=socket.AF_INET)
    except socket.gaierror:
        return []
    return [str(info[4][0]) for info in infos]


def _global_ipv6() -> list[str]:
    table = Path("/proc/net/if_inet6")
    if not table.exists():
        return []
    rows = [line.split() for line in table.read_text().splitlines()]
    return [socket.inet_ntop(socket.AF_INET6, bytes.fromhex(row[0])) for row in rows if row[3] == "00"]
