"""Runs the services of docker-compose.yml as processes of this machine, with their commands and variables.

    site = Compose(folder, settings={"PUBLIC_URL": "https://localhost"}, hosts={"web:8000": "127.0.0.1:20001"})
    site.start("web")                    run the command of the service
    site.run("web", "python", ...)       run another command, as `docker compose exec` does
    site.is_healthy("web")               run the health check

Several files are merged as by Docker Compose, and only services without a profile or with one of `profiles` are used.
`hosts` maps each address that the file or the Caddyfile names to an address of this machine. Volumes become folders.
"""

import functools
import os
import random
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from tests.webapp.commands import ROOT, environment_of

FILE = ROOT / "docker-compose.yml"
HOSTS_FILE = ROOT / "webapp/deploy/docker-compose.hosts.yml"
ADDED = ("ports", "volumes")
MERGE = "tag:yaml.org,2002:merge"
VARIABLE = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<name>\w+)(?::-(?P<default>[^}]*)|:\?(?P<advice>[^}]*))?\})")
SECRETS = {"POSTGRES_PASSWORD": "a-secret-of-postgresql", "REDIS_PASSWORD": "a-secret-of-redis", "SECRET_KEY": "s" * 64}


class RequiredVariable(Exception):
    """A variable without which Docker Compose refuses to start has no value."""


class StrictLoader(yaml.SafeLoader):
    """Reads YAML as Docker Compose does: a duplicate key in a mapping is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping, or raise `yaml.constructor.ConstructorError` that names the line of the second key."""
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = None if key_node.tag == MERGE else self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    "while reading a mapping", node.start_mark, f"the key {key!r} stands twice", key_node.start_mark
                )
            seen |= {key} - {None}
        return super().construct_mapping(node, deep=deep)


def read_yaml(text: str) -> Any:
    """Return the content of a YAML file; duplicate keys are errors."""
    return yaml.load(text, Loader=StrictLoader)  # a safe loader


def fill_in_variables(node: Any, settings: Mapping[str, str]) -> Any:
    """Return a part of the file with the values of its variables; an empty variable also gets its default.

    Raises
    ------
    RequiredVariable
        If a variable that the file requires has no value.
    """
    if isinstance(node, dict):
        return {key: fill_in_variables(value, settings) for key, value in node.items()}
    if isinstance(node, list):
        return [fill_in_variables(value, settings) for value in node]
    if isinstance(node, str):
        return VARIABLE.sub(lambda found: "$" if found["dollar"] else _value(found, settings), node)
    return node


def _value(found: "re.Match[str]", settings: Mapping[str, str]) -> str:
    value = settings.get(found["name"]) or found["default"] or ""
    if found["advice"] is not None and not value:
        raise RequiredVariable(f"required variable {found['name']} is missing a value: {found['advice']}")
    return value


def quiet_ports(count: int) -> list[int]:
    """Return free ports that are still free in a minute: outside of the range of ports for outgoing connections."""
    found: list[int] = []
    while len(found) < count:
        port = random.randint(20_000, 29_999)
        with suppress(OSError), socket.create_server(("", port)):
            found += [port] if port not in found else []
    return found


def read_files(*files: Path, settings: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of the files with the values of their variables; later files change the earlier ones."""
    contents = [fill_in_variables(read_yaml(file.read_text()), settings) for file in files]
    return dict(functools.reduce(merge, contents))


def merge(before: Any, after: Any, *, key: str = "") -> Any:
    """Return a part of a file after a later file changed it: mappings are merged, ports and volumes are added.

    All other values are replaced, as Docker Compose does.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        parts = {name: merge(before.get(name), value, key=name) for name, value in after.items()}
        return {**before, **parts}
    if key in ADDED and isinstance(before, list):
        return [*before, *(entry for entry in after if entry not in before)]
    return after


class Compose:
    """The services of the file. Each one is a process with a separate log."""

    def __init__(
        self,
        folder: Path,
        *,
        settings: Mapping[str, str],
        hosts: Mapping[str, str],
        files: Sequence[Path] = (FILE,),
        profiles: Collection[str] = (),
    ) -> None:
        self.folder, self.hosts = folder, hosts
        content = read_files(*files, settings=settings)
        self.services = {
            name: service
            for name, service in content["services"].items()
            if not service.get("profiles") or set(service["profiles"]) & set(profiles)
        }
        self.named_volumes = content["volumes"]
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def start(self, name: str, *more: str, **environment: str) -> None:
        """Start a service; `more` are additional arguments of its command."""
        command = [*map(self.mapper(name), shlex.split(self.services[name]["command"])), *more]
        with self.log(name).open("ab") as log:
            self.running[name] = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment(name) | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, name: str) -> None:
        """Kill a service and all processes that it started."""
        process = self.running.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        """Ask all services to stop, so that they stop their child processes, and kill them after 30 seconds."""
        for process in self.running.values():
            process.terminate()
        for name, process in list(self.running.items()):
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)
            self.kill(name)

    def run(self, name: str, *command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """Run a command in the environment of a service and return its result."""
        return subprocess.run(
            [self.mapper(name)(part) for part in command],
            cwd=ROOT,
            env=self.environment(name) | environment,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    def is_healthy(self, name: str) -> bool:
        """Run a service's health check and return whether it succeeded."""
        kind, *command = self.services[name]["healthcheck"]["test"]
        assert kind == "CMD"
        return self.run(name, *command).returncode == 0

    def patience(self, name: str) -> float:
        """Return the seconds after its start until a service that is not healthy counts as failed."""
        check = self.services[name]["healthcheck"]
        wait, interval = (float(check[part].removesuffix("s")) for part in ("start_period", "interval"))
        return wait + int(check.get("retries", 3)) * interval

    def environment(self, name: str) -> dict[str, str]:
        """Return the environment of a service: its variables in addition to those of a process of this machine."""
        mapped = self.mapper(name)
        ours = {key: mapped(value) for key, value in self.services[name].get("environment", {}).items()}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        return environment_of(self.folder) | {"PATH": path} | ours

    def volumes(self, name: str) -> dict[str, Path]:
        """Return the volumes of a service: the path in its container, and the path on this machine."""
        found = {}
        for entry in self.services[name].get("volumes", ()):
            source, target = entry.split(":")[:2]
            if source.startswith("."):
                found[target] = ROOT / source
            elif bound := self._bound_folder(source):
                found[target] = bound
            else:
                found[target] = self.folder / source
                found[target].mkdir(parents=True, exist_ok=True)
        return found

    def _bound_folder(self, volume: str) -> Path | None:
        """Return the folder of the machine that a volume is, or None if Docker keeps the volume."""
        device = (self.named_volumes.get(volume) or {}).get("driver_opts", {}).get("device")
        return Path(device) if device else None

    def published(self, name: str) -> dict[int, str]:
        """Return the ports of a service that other machines reach, and the address at which; "" is every address."""
        found = {}
        for entry in self.services[name].get("ports", ()):
            address, _, port = entry.removesuffix("/udp").rpartition(":")[0].rpartition(":")
            found[int(port)] = address
        return found

    def use_caddyfile(self, name: str, *, options: str = "") -> None:
        """Give the proxy a Caddyfile with the addresses and paths of this machine, and with more global options."""
        shipped, place = ROOT / "webapp/Caddyfile", self.folder / "Caddyfile"
        place.write_text(self.mapper(name)(shipped.read_text()).replace("{\n", "{\n" + options, 1))
        command = self.services[name]["command"]
        self.services[name]["command"] = command.replace("/etc/caddy/Caddyfile", str(place))

    def mapper(self, name: str) -> "Mapper":
        """Return a function that replaces addresses and paths of a service's container by those of this machine."""
        return Mapper({**self.hosts, **{target: str(place) for target, place in self.volumes(name).items()}})

    def log(self, name: str) -> Path:
        """Return the path of a service's log."""
        return self.folder / f"{name}.log"

    def logs(self, *, lines: int = 15) -> str:
        """Return the last lines of the logs of all services."""
        texts = {path.stem: path.read_text(errors="replace").splitlines() for path in self.folder.glob("*.log")}
        return "\n".join(f"--- {name}\n" + "\n".join(text[-lines:]) for name, text in texts.items())


class Mapper:
    """Replaces addresses and folders by others, but only whole ones, not parts of longer names."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = places
        names = sorted(places, key=len, reverse=True)
        whole = [("(?<![\\w./-])" if name.startswith("/") else "(?<![\\w.-])") + re.escape(name) for name in names]
        self.pattern = re.compile(rf"(?:{'|'.join(whole)})(?![\w-])") if whole else None

    def __call__(self, text: str) -> str:
        """Return a text in which all known addresses and folders are replaced."""
        return text if self.pattern is None else self.pattern.sub(lambda found: self.places[found[0]], text)
