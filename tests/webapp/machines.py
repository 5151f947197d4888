"""Machines of a private network: network namespaces of this machine, connected by a cable.

    with two_machines("10.0.0.1", "10.0.0.2") as (first, second):
        with first.inside():
            ...                   sockets and processes that are made here belong to the first machine

Inside a machine, its loopback and its address are the only ones, and all ports are free. Nothing outside is reached.
"""

import ctypes
import os
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.skips import Unshared

CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Machine:
    """A network namespace with one address."""

    namespace: str
    address: str

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Move this thread to the machine. Processes that it starts stay there."""
        with Path("/proc/thread-self/ns/net").open() as home, Path("/run/netns", self.namespace).open() as there:
            _enter(there.fileno())
            try:
                yield
            finally:
                _enter(home.fileno())


def _enter(namespace: int) -> None:
    if LIBC.setns(namespace, CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@contextmanager
def two_machines(first: str, second: str) -> Iterator[tuple[Machine, Machine]]:
    """Give two machines with these addresses, which reach each other. Skip the test if this machine refuses them."""
    found = [Machine(f"horsesense-{uuid.uuid4().hex[:8]}", address) for address in (first, second)]
    made: list[Machine] = []
    try:
        for machine in found:
            _ip("netns", "add", machine.namespace)
            made.append(machine)
        _ip("link", "add", "eth0", "netns", found[0].namespace, "type", "veth",
            "peer", "name", "eth0", "netns", found[1].namespace)  # fmt: skip
        for machine in found:
            _ip("-netns", machine.namespace, "address", "add", f"{machine.address}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                _ip("-netns", machine.namespace, "link", "set", device, "up")
        yield found[0], found[1]
    finally:
        for machine in made:
            subprocess.run(["ip", "netns", "delete", machine.namespace], capture_output=True, check=False)


def _ip(*arguments: str) -> None:
    try:
        done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Unshared("This machine has no program ip: apt install iproute2.") from None
    if done.returncode:
        raise Unshared(f"This machine refuses network namespaces ({done.stderr.strip()}): they need root.")
