"""`manage.py process NAME ...`: runs one or several of the site's processes, for sites on several machines."""

import os
import signal
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from generation.making.warmup import warm
from generation.management.console import BAD_INPUT, PlainCommand
from webapp.running.housekeeping import prepare_broker
from webapp.running.network_addresses import CannotListen, check_bind
from webapp.running.processes import NAMES, child
from webapp.running.supervise import Supervisor


class Command(PlainCommand):
    help = "Run some of the site's processes: web, generation, default (background processes), beat (the clock)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="+", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
        parser.add_argument("--bind", default="127.0.0.1:8000", help="where the web server answers: host:port")

    def handle(self, *args: Any, **options: Any) -> None:
        """Replace this process by the named process, or supervise the named processes if there are several."""
        if "web" in options["names"]:
            try:
                check_bind(options["bind"])
            except CannotListen as error:
                raise CommandError(str(error), returncode=BAD_INPUT) from error
        settings.VAR_DIR.mkdir(parents=True, exist_ok=True)  # the clock stores its schedule there
        prepare_broker()
        warm()
        processes = [child(name, bind=options["bind"]) for name in dict.fromkeys(options["names"])]
        if len(processes) == 1:
            os.nice(processes[0].nice)
            os.chdir(processes[0].folder)
            os.execv(sys.executable, list(processes[0].command))  # noqa: S606  # our own command
        supervisor = Supervisor(processes, say=self.stderr.write, grace=settings.STOP_SECONDS)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, supervisor.ask_to_stop)
        try:
            supervisor.start()
            supervisor.watch()
        finally:
            supervisor.stop()
