"""The steps of the page for a second machine, on a private network, with the processes of the compose files."""

import json
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from tests.faults.browsers import ACCOUNT, Browser
from tests.faults.servers import PostgresCluster, own_postgres
from tests.generation import small
from tests.services import missing
from tests.webapp.commands import ROOT
from tests.webapp.compose import HOSTS_FILE, SECRETS, Compose, RequiredVariable, read_files
from tests.webapp.machines import Machine, two_machines
from webapp import documentation

FIRST, SECOND = "10.0.0.1", "10.0.0.2"  # the page has the first one
FOLDER = "/srv/horsesense/media"
SLUG = "shapes"
EVERYTHING = {"proxy", "web", "worker", "beat", "redis", "postgres"}
PATIENCE = 240.0  # seconds; long, because the machine may be busy
# `docker` writes what it would do; the test starts the processes. The others do what they do on real machines.
PROGRAMS = {
    "docker": 'echo "$@" >> docker.log',
    "sudo": 'exec "$@"',
    "scp": 'cp "$(dirname "$PWD")/first/.env" "$2"',
}


def steps() -> list[str]:
    """Return the commands of the page for the first and for each other machine."""
    text = documentation.source("running").partition("## On several machines")[2].partition("\n## ")[0]
    first, other, *_ = re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert "make env" in first and "scp" in other
    return [first, other]


def follow(commands: str, folder: Path, *, media: Path) -> dict[str, str]:
    """Run the commands of the page in a machine's folder and return its `.env`."""
    tools = folder.parent / "bin"
    tools.mkdir(exist_ok=True)
    for name, line in PROGRAMS.items():
        (tools / name).write_text(f"#!/bin/sh\n{line}\n")
        (tools / name).chmod(0o755)
    folder.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    script = commands.replace(FOLDER, str(media))
    done = subprocess.run(
        ["sh", "-ec", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "docker.log").read_text() == "compose up --build --detach\n"
    return dict(line.split("=", 1) for line in (folder / ".env").read_text().splitlines())


def compose_of(folder: Path, env: dict[str, str], *, hosts: dict[str, str]) -> Compose:
    """Return the services that `docker compose up` would start with this `.env`, on a machine of two processors."""
    files = [ROOT / name for name in env["COMPOSE_FILE"].split(":")]
    small_site = {"PUBLIC_URL": f"http://{FIRST}", "WEB_PROCESSES": "1", "GENERATION_PROCESSES": "1"}
    settings = env | small_site | {"DISK_RESERVE_GB": "0"}
    profiles = env.get("COMPOSE_PROFILES", "").split(",")
    return Compose(folder / "containers", settings=settings, hosts=hosts, files=files, profiles=profiles)


@pytest.fixture
def env(tmp_path: Path) -> list[dict[str, str]]:
    """Return the `.env` of both machines after the steps of the page."""
    names = ("first", "second")
    return [follow(step, tmp_path / name, media=tmp_path / "media") for step, name in zip(steps(), names, strict=True)]


def test_machines_have_the_same_settings_and_secrets_but_for_one_line(env: list[dict[str, str]]) -> None:
    first, second = env
    assert first.pop("COMPOSE_PROFILES") == "first"
    assert second.pop("FIRST_HOST") == FIRST
    assert first == second and {"POSTGRES_PASSWORD", "REDIS_PASSWORD", "SECRET_KEY"} <= set(first)


def test_only_the_first_machine_runs_more_than_workers(env: list[dict[str, str]], tmp_path: Path) -> None:
    first, second = (compose_of(tmp_path, one, hosts={}) for one in env)
    assert set(first.services) == EVERYTHING and set(second.services) == {"worker"}
    ours, theirs = (one.services["worker"]["environment"] for one in (first, second))
    assert {name for name in ours if ours[name] != theirs[name]} == {"DATABASE_URL", "REDIS_URL"}
    waits = second.services["worker"]["depends_on"]
    assert all(wait["required"] is False for wait in waits.values())
    assert {one.volumes("worker")["/media"] for one in (first, second)} == {tmp_path / "media"}


def test_services_are_published_only_in_the_private_network(env: list[dict[str, str]], tmp_path: Path) -> None:
    compose = compose_of(tmp_path, env[0], hosts={})
    published = {name: compose.published(name) for name in compose.services}
    assert {name: ports for name, ports in published.items() if ports} == {
        "proxy": {80: "", 443: ""}, "redis": {6379: FIRST}, "postgres": {5432: FIRST},
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", ["PRIVATE_ADDRESS", "MEDIA_FOLDER", "POSTGRES_PASSWORD", "REDIS_PASSWORD", "SECRET_KEY"]
)
def test_machines_refuse_to_start_without_a_setting_that_has_no_safe_default(name: str) -> None:
    settings = {**SECRETS, "PRIVATE_ADDRESS": FIRST, "MEDIA_FOLDER": FOLDER}
    read_files(ROOT / "docker-compose.yml", HOSTS_FILE, settings=settings)
    with pytest.raises(RequiredVariable, match=f"{name} is missing a value"):
        read_files(ROOT / "docker-compose.yml", HOSTS_FILE, settings={**settings, name: ""})


class First:
    """The first machine: six services, of which only what the compose files publish is reached from outside."""

    address = f"http://{FIRST}"

    def __init__(self, machine: Machine, compose: Compose, cluster: PostgresCluster) -> None:
        self.machine, self.compose, self.cluster = machine, compose, cluster

    def start(self) -> None:
        settings = self.compose.services["postgres"]["environment"]
        with psycopg.connect(self.cluster.url, autocommit=True) as server:  # as the image does
            name, password = settings["POSTGRES_USER"], settings["POSTGRES_PASSWORD"]
            server.execute(f"CREATE ROLE {name} SUPERUSER LOGIN PASSWORD '{password}'".encode())
            server.execute(f"CREATE DATABASE {settings['POSTGRES_DB']} OWNER {name}".encode())
        self.cluster.require_passwords()
        folder = self.compose.mapper("redis")("/data")
        addresses = ["127.0.0.1", *self.compose.published("redis").values()]
        self.compose.start("redis", "--bind", *addresses, "--dir", folder)
        self.compose.start("web")
        wait_until(lambda: self.compose.is_healthy("web"), what="the web server is healthy", composes=[self.compose])
        self.compose.start("beat")
        self.compose.use_caddyfile("proxy")
        homes = {name: self.compose.mapper("proxy")("/data") for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME")}
        self.compose.start("proxy", **homes)

    def python(self, code: str) -> str:
        with self.machine.inside():
            done = self.compose.run("web", "python", "manage.py", "shell", "--no-imports", "--command", code)
        assert done.returncode == 0, done.stderr
        return done.stdout


def wait_until(true: Callable[[], object], *, what: str, composes: list[Compose]) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        with suppress(OSError):
            if true():
                return
        ended = [name for one in composes for name, process in one.running.items() if process.poll() is not None]
        logs = "\n".join(one.logs() for one in composes)
        assert not ended and time.monotonic() < end, f"Waited until {what}. Ended: {ended}\n{logs}"
        time.sleep(0.2)


@contextmanager
def two_running_machines(tmp_path: Path, env: list[dict[str, str]]) -> Iterator[tuple[First, Machine, Compose]]:
    """Give the first machine with all services but `worker`, the second machine, and its services, not started."""
    with two_machines(FIRST, SECOND) as (first, second), ExitStack() as cleanup:
        names = {"web": 8000, "localhost": 8000, "0.0.0.0": 8000, "redis": 6379, "postgres": 5432}
        inside = {f"{name}:{port}": f"127.0.0.1:{port}" for name, port in names.items()}
        compose = compose_of(tmp_path / "first", env[0], hosts=inside)
        other = compose_of(tmp_path / "second", env[1], hosts={})
        with first.inside():
            addresses = ",".join(["127.0.0.1", *compose.published("postgres").values()])
            cluster = cleanup.enter_context(own_postgres(addresses=addresses, port=5432))
            cleanup.callback(compose.stop)
            cleanup.callback(other.stop)
            running = First(first, compose, cluster)
            running.start()
        yield running, second, other


def order_dataset(host: First) -> None:
    """Order a dataset on the web page, through the proxy."""
    with host.machine.inside():
        browser = Browser([host])
        path = f"/login/{host.python(ACCOUNT).strip()}/"
        assert browser.ask(0, path)[0] == 200
        assert browser.ask(0, path, {})[0] == 200
        spec = json.dumps({**small.SPEC, "splits": {"train": {"scenes": 2}}})
        form = {"spec": spec, "shown": spec, "last": "json", "action": "create", "slug": SLUG, "images": "on"}
        status, _ = browser.ask(0, "/datasets/new/", {**form, "visibility": "public", "licence": "CC BY 4.0"})
        assert (status, browser.address.partition("#")[0]) == (200, f"{host.address}/datasets/{SLUG}/")


def state_of(machine: Machine, env: dict[str, str]) -> Any:
    """Return the state of the dataset, read by a machine from the published PostgreSQL."""
    address = f"postgres://horsesense:{env['POSTGRES_PASSWORD']}@{FIRST}:5432/horsesense"
    with machine.inside(), psycopg.connect(address) as connection:
        rows = connection.execute("SELECT state, error FROM generation_dataset").fetchall()
    return rows[0] if rows else None


def check_that_only_the_published_ports_are_reached(machine: Machine, env: dict[str, str]) -> None:
    with machine.inside():
        for port in (8000, 8001, 22):
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((FIRST, port), timeout=10)
        with pytest.raises(redis.AuthenticationError):
            redis.from_url(f"redis://{FIRST}:6379").ping()
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(f"postgres://horsesense:horsesense@{FIRST}:5432/horsesense")
        assert redis.from_url(f"redis://:{env['REDIS_PASSWORD']}@{FIRST}:6379").ping()


@pytest.mark.full
@pytest.mark.slow
def test_a_second_machine_makes_the_datasets_that_the_first_one_orders(
    tmp_path: Path, env: list[dict[str, str]]
) -> None:
    for program, package in (("caddy", "caddy"), ("redis-server", "redis-server")):
        if shutil.which(program) is None:
            missing(program, f"apt install {package}")
    with two_running_machines(tmp_path, env) as (first, second, other):
        check_that_only_the_published_ports_are_reached(second, env[1])
        order_dataset(first)
        assert state_of(second, env[1]) == ("making", "")
        with second.inside():
            other.start("worker")
        composes = [first.compose, other]
        wait_until(lambda: state_of(second, env[1]) != ("making", ""), what="the dataset is made", composes=composes)
        assert state_of(second, env[1]) == ("complete", "")
        with second.inside():  # a visitor sees the picture that the second machine drew
            visitor = Browser([first])
            status, page = visitor.ask(0, f"/datasets/{SLUG}/train/q/0/")
            picture = re.search(rf'"(/datasets/{SLUG}/train/scene/0/[^"]*\.png)"', page)
            assert status == 200 and picture is not None
            with visitor.opener.open(first.address + picture[1], timeout=60) as answer:
                drawn = answer.read()
        assert drawn in [path.read_bytes() for path in (tmp_path / "media").rglob("*.png")]
