"""docker-compose.yml as processes of this machine: its own commands and variables, its host names and folders mapped.

    site = Compose(folder, settings={"PUBLIC_URL": "https://localhost"}, hosts={"web:8000": "127.0.0.1:20001"})
    site.start("web")                    what the service runs
    site.run("web", "python", ...)       as `docker compose exec` does
    site.is_healthy("web")               what its health check says

`hosts` says what stands here for each address that the file, or the Caddyfile, names. Volumes become folders.
"""

import os
import random
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from tests.webapp.commands import ROOT, environment_of

FILE = ROOT / "docker-compose.yml"
MERGE = "tag:yaml.org,2002:merge"
VARIABLE = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\})")


class StrictLoader(yaml.SafeLoader):
    """YAML as Docker Compose reads it: a key that stands twice in a mapping is an error."""

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
    """Return what a YAML file holds; duplicate keys are errors."""
    return yaml.load(text, Loader=StrictLoader)  # a safe loader


def interpolated(node: Any, settings: Mapping[str, str]) -> Any:
    """Return a part of the file with its variables filled in; a default also holds for what is empty."""
    if isinstance(node, dict):
        return {key: interpolated(value, settings) for key, value in node.items()}
    if isinstance(node, list):
        return [interpolated(value, settings) for value in node]
    if isinstance(node, str):
        return VARIABLE.sub(lambda found: "$" if found["dollar"] else _value(found, settings), node)
    return node


def _value(found: "re.Match[str]", settings: Mapping[str, str]) -> str:
    return settings.get(found["name"]) or found["default"] or ""


def quiet_ports(count: int) -> list[int]:
    """Return free ports of those that no system hands out by itself, so that they are still free in a minute."""
    found: list[int] = []
    while len(found) < count:
        port = random.randint(20_000, 29_999)
        with suppress(OSError), socket.create_server(("", port)):
            found += [port] if port not in found else []
    return found


class Compose:
    """The services of the file, each a process with a log of its own."""

    def __init__(self, folder: Path, *, settings: Mapping[str, str], hosts: Mapping[str, str]) -> None:
        self.folder, self.hosts = folder, hosts
        self.services = interpolated(read_yaml(FILE.read_text()), settings)["services"]
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def start(self, name: str, *more: str, **environment: str) -> None:
        """Start a service; `more` is put behind its command."""
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
        """Kill a service with everything it started."""
        process = self.running.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        """Stop everything: asked first, so that processes stop those they started."""
        for process in self.running.values():
            process.terminate()
        for name, process in list(self.running.items()):
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)
            self.kill(name)

    def run(self, name: str, *command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """Return how a command ended that was run where a service runs."""
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
        """Return what a service's health check says."""
        kind, *command = self.services[name]["healthcheck"]["test"]
        assert kind == "CMD"
        return self.run(name, *command).returncode == 0

    def patience(self, name: str) -> float:
        """Return how many seconds after its start a service is given up that is not healthy."""
        check = self.services[name]["healthcheck"]
        wait, interval = (float(check[part].removesuffix("s")) for part in ("start_period", "interval"))
        return wait + int(check.get("retries", 3)) * interval

    def environment(self, name: str) -> dict[str, str]:
        """Return a service's variables, over those that every process of this machine has."""
        mapped = self.mapper(name)
        ours = {key: mapped(value) for key, value in self.services[name].get("environment", {}).items()}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        return environment_of(self.folder) | {"PATH": path} | ours

    def volumes(self, name: str) -> dict[str, Path]:
        """Return what is mounted in a service: where it sees it, and where that lies here."""
        found = {}
        for entry in self.services[name].get("volumes", ()):
            source, target = entry.split(":")[:2]
            found[target] = ROOT / source if source.startswith(".") else self.folder / source
            if not source.startswith("."):
                found[target].mkdir(parents=True, exist_ok=True)
        return found

    def mapper(self, name: str) -> "Mapper":
        """Return what turns texts meant for a service's container into such for this machine."""
        return Mapper({**self.hosts, **{target: str(place) for target, place in self.volumes(name).items()}})

    def log(self, name: str) -> Path:
        """Return where a service writes."""
        return self.folder / f"{name}.log"

    def logs(self, *, lines: int = 15) -> str:
        """Return the end of what every service wrote."""
        texts = {path.stem: path.read_text(errors="replace").splitlines() for path in self.folder.glob("*.log")}
        return "\n".join(f"--- {name}\n" + "\n".join(text[-lines:]) for name, text in texts.items())


class Mapper:
    """Replaces addresses and folders by others, each where it stands as a whole."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = places
        names = sorted(places, key=len, reverse=True)
        whole = [("(?<![\\w./-])" if name.startswith("/") else "(?<![\\w.-])") + re.escape(name) for name in names]
        self.pattern = re.compile(rf"(?:{'|'.join(whole)})(?![\w-])") if whole else None

    def __call__(self, text: str) -> str:
        """Return a text with everything replaced that has another place here."""
        return text if self.pattern is None else self.pattern.sub(lambda found: self.places[found[0]], text)
