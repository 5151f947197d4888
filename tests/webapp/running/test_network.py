"""The addresses of this machine, and sockets that listen on them; an error is one clear line."""

import socket

import pytest

from tests.webapp.commands import manage
from webapp.running.network_addresses import CannotListen, bracket, check_bind, listen_on, machine_addresses, names_of


def test_a_free_port_is_found() -> None:
    with listen_on("127.0.0.1", 0) as listener:
        assert listener.getsockname()[1] > 0


def test_a_taken_port_is_one_clear_line() -> None:
    with listen_on("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(CannotListen) as refusal:
            listen_on("127.0.0.1", port)
    assert str(refusal.value) == (
        f"--port: expected a free port, but {port} on 127.0.0.1 is taken. Try --port {port + 1}."
    )


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1", "not a host"])
def test_a_host_of_another_machine_is_one_clear_line(host: str) -> None:
    with pytest.raises(CannotListen, match="--host: expected an address of this machine"):
        listen_on(host, 0)


@pytest.mark.parametrize("port", [-1, 65536])
def test_an_invalid_port_is_refused(port: int) -> None:
    with pytest.raises(CannotListen, match="expected a number from 0 to 65535"):
        listen_on("127.0.0.1", port)


def test_every_address_of_the_machine_can_be_listened_on() -> None:
    addresses = machine_addresses()
    assert addresses[0] == "127.0.0.1"
    assert len(addresses) == len(set(addresses))
    for address in addresses:
        listen_on(address, 0).close()


def test_a_server_on_all_addresses_is_reached_by_each_address_and_by_name() -> None:
    assert set(names_of("::")) == {bracket(address) for address in machine_addresses()} | {socket.gethostname()}
    ipv4 = {address for address in machine_addresses() if ":" not in address}
    assert set(names_of("0.0.0.0")) == ipv4 | {socket.gethostname()}


def test_ipv6_stands_in_brackets() -> None:
    assert bracket("::1") == "[::1]"
    assert names_of("127.0.0.1") == ["127.0.0.1"]


@pytest.mark.parametrize("bind", ["127.0.0.1:8000", ":8000", "[::1]:0", "localhost:65535", "0.0.0.0:80"])
def test_a_host_and_a_port_can_be_bound(bind: str) -> None:
    check_bind(bind)


def test_a_port_that_is_taken_may_be_free_when_the_server_starts() -> None:
    with listen_on("127.0.0.1", 0) as taken:
        check_bind(f"127.0.0.1:{taken.getsockname()[1]}")


@pytest.mark.parametrize("bind", ["nonsense", "", ":99999", "127.0.0.1", "::1:8000", "a b:80", "127.0.0.1:x"])
def test_an_invalid_host_and_port_are_refused(bind: str) -> None:
    with pytest.raises(CannotListen, match=r"^--bind: expected host:port, "):
        check_bind(bind)


def test_a_bind_to_another_machine_is_refused() -> None:
    with pytest.raises(CannotListen, match=r"^--bind: expected an address of this machine"):
        check_bind("192.0.2.1:8000")


@pytest.mark.slow
@pytest.mark.parametrize("bind", ["nonsense", pytest.param(":99999", marks=pytest.mark.full)])
def test_a_process_that_cannot_listen_is_one_line(migrated_environment: dict[str, str], bind: str) -> None:
    ended = manage("process", "web", "--bind", bind, environment=migrated_environment)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert ended.stderr.startswith("--bind: expected host:port, ")
