"""`manage.py process NAME ...`: runs one or several of the site's processes, for sites on several machines."""

import os
import signal
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connections

from generation.making.warmup import warm
from generation.management.console import BAD_INPUT, PlainCommand
from webapp.running import beat, web, worker
from webapp.running.housekeeping import prepare_broker
from webapp.running.network_addresses import CannotListen, check_bind
from webapp.running.processes import DEFAULT_BIND, NAMES, child, job_processes, niceness
from webapp.running.supervise import Supervisor


class Command(PlainCommand):
    help = "Run some of the site's processes: web, generation, default (background processes), beat (does nothing)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="+", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
        parser.add_argument("--bind", default=DEFAULT_BIND, help="where the web server answers: host:port")

    def handle(self, *args: Any, **options: Any) -> None:
        """Become the named process, or supervise the named processes if there are several."""
        if "web" in options["names"]:
            try:
                check_bind(options["bind"])
            except CannotListen as error:
                raise CommandError(str(error), returncode=BAD_INPUT) from error
        settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
        prepare_broker()
        warm()
        names = list(dict.fromkeys(options["names"]))
        if len(names) == 1:
            return _become(names[0], bind=options["bind"])
        processes = [child(name, bind=options["bind"]) for name in names]
        supervisor = Supervisor(processes, say=self.stderr.write, grace=settings.STOP_SECONDS)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, supervisor.ask_to_stop)
        try:
            supervisor.start()
            supervisor.watch()
        finally:
            supervisor.stop()


def _become(name: str, *, bind: str) -> None:
    # All that a process needs is loaded. To replace this process would load it again.
    connections.close_all()  # before it forks
    os.chdir(settings.BASE_DIR)
    if name == "web":
        web.run(bind)
    elif name == "beat":
        beat.main()
    else:
        os.nice(niceness(name))
        worker.run(name, processes=job_processes(name))
