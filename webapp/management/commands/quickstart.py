"""`manage.py quickstart`: sets up and runs a whole site on one machine."""

import fcntl
import os
import signal
import socket
import time
import urllib.error
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connections

from generation.making.warmup import warm
from generation.management.console import PlainCommand
from generation.models import Dataset
from webapp.backups.before_migrating import upgrade
from webapp.leaderboards.findings.records import move_old_files
from webapp.models import LoginLink, User, address_of
from webapp.running.housekeeping import prepare_broker
from webapp.running.network_addresses import ANYWHERE, CannotListen, listen_on, names_of
from webapp.running.processes import children
from webapp.running.supervise import Supervisor

READY_WITHIN = 60.0  # seconds
DEMO, DEMO_SPEC = "clevr-mini", settings.BASE_DIR / "webapp" / "demo.json"


class Command(PlainCommand):
    """Set up the site and keep it running until the user presses Ctrl-C."""

    help = "Set up and run everything on this machine: database, demo dataset, server, background processes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to answer on; 0.0.0.0 is every one")
        parser.add_argument("--port", type=int, default=8000, help="port to answer on; 0 takes a free one")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the site until the user stops it."""
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            with only_one_here(), _listener(options["host"], options["port"]) as listener:
                self._prepare()
                self._run(listener, options["host"])
        except KeyboardInterrupt:
            self._say("Stopped.")

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def _prepare(self) -> None:
        """Prepare the database, the broker and the compiled code, and create the account `admin` and a demo dataset.

        What exists already is not created again; the demo dataset is created only if there is no dataset.
        """
        upgrade(say=self._say)
        move_old_files()
        prepare_broker()
        warm()
        administrator()
        if not Dataset.objects.exists():
            self._say(f"Making the demo dataset {DEMO} ...")
            call_command("generate", str(DEMO_SPEC), "--name", DEMO)
        connections.close_all()

    def _run(self, listener: socket.socket, host: str) -> None:
        """Start the processes and supervise them."""
        port = listener.getsockname()[1]
        names = names_of(host)
        supervisor = Supervisor(
            children(listener=listener.fileno(), hosts=names), say=self._say, grace=settings.STOP_SECONDS
        )
        signal.signal(signal.SIGTERM, supervisor.ask_to_stop)
        signal.signal(signal.SIGINT, supervisor.ask_to_stop)
        try:
            supervisor.start()
            self._wait_for_answer(supervisor, f"http://{_reachable(host, names)}:{port}/health/")
            if not supervisor.stopping.is_set():
                self._welcome([f"http://{name}:{port}" for name in names])
            supervisor.watch()
        finally:
            self._say("Stopping ...")
            supervisor.stop()
        self._say("Stopped.")

    def _wait_for_answer(self, supervisor: Supervisor, address: str) -> None:
        deadline = time.monotonic() + READY_WITHIN
        supervisor.watch(until=lambda: answers(address) or time.monotonic() > deadline)
        if not supervisor.stopping.is_set() and not answers(address):
            log = settings.VAR_DIR / "log" / "web.log"
            raise CommandError(f"Expected {address} to answer within {READY_WITHIN:.0f} s, it didn't. See {log}.")

    def _welcome(self, addresses: list[str]) -> None:
        links = [settings.PUBLIC_URL] if settings.PUBLIC_URL else addresses
        token = LoginLink.objects.make(administrator())
        connections.close_all()
        self._say("\nHorsesense is ready:")
        for link in dict.fromkeys([*links, *addresses]):
            self._say(f"  {link}/")
        self._say(f"\nLog in as admin, once, within a day:\n  {links[0]}{address_of(token)}")
        self._say(f"\nLogs are in {settings.VAR_DIR / 'log'}. Ctrl-C stops everything.\n")


def administrator() -> User:
    """Return the account `admin`; if it is missing, create it without a password."""
    user, new = User.objects.get_or_create(username="admin", defaults={"is_staff": True, "is_superuser": True})
    if new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def answers(address: str) -> bool:
    """Return whether a server answers at this address; a response with an error status is an answer too."""
    try:
        with urllib.request.urlopen(address, timeout=2):  # noqa: S310  # our own http address
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


@contextmanager
def only_one_here() -> Iterator[None]:
    """Lock VAR_DIR for this process, or raise an error: two sites in one folder would restart each other's work."""
    settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
    with (settings.VAR_DIR / "quickstart.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            other = file.read().strip() or "unknown"
            raise CommandError(
                f"Expected VAR_DIR ({settings.VAR_DIR}) to be free, but process {other} runs there already. "
                "Stop it, or name another folder in VAR_DIR.",
                returncode=2,
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


@contextmanager
def _listener(host: str, port: int) -> Iterator[socket.socket]:
    try:
        listener = listen_on(host, port)
    except CannotListen as error:
        raise CommandError(str(error), returncode=2) from error
    with listener:
        yield listener


def _reachable(host: str, names: list[str]) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, names[0]) if host in ANYWHERE else names[0]  # noqa: S104


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
