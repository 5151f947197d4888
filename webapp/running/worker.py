"""`python -m webapp.running.worker QUEUE --processes N`: the background processes of one queue on this machine."""

import argparse
import gc
import sys
import warnings
from typing import Any

import django
from celery.bootsteps import StartStopStep
from celery.platforms import SecurityWarning  # type: ignore[attr-defined]  # its stubs lack it
from django.conf import settings

from generation.queue import DEFAULT, GENERATION, outages
from webapp.celery import app

QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")


class NoteConnection(StartStopStep):
    """Notes that the broker answers, each time that the listener has connected to it."""

    requires = ("celery.worker.consumer:Connection",)

    def start(self, parent: Any) -> None:
        outages.here.end(outages.broker())


def listen(queue: str) -> None:
    # Take the messages of a queue in this process, until SIGTERM.
    warnings.filterwarnings("ignore", category=SecurityWarning)  # about root, because messages might be pickles
    app.steps["consumer"].add(NoteConnection)
    options = ["--queues", queue, "--hostname", f"{queue}@%h", "--pool", "solo", "--loglevel", settings.LOG_LEVEL]
    main: Any = app.worker_main  # its stub says that it does not return
    main(["--quiet", "worker", *options, *QUIET])
    if outages.here.is_away(outages.broker()):
        sys.exit(outages.LOGGED_STATUS)


def run(queue: str, *, processes: int) -> None:
    """Run a worker with this number of processes that do jobs, until SIGTERM."""
    app.loader.import_default_modules()  # the tasks, and with them every kind of job
    from generation.engine import numba_compiler  # noqa: F401  # loads numba once, before the processes fork
    from generation.queue.job_processes import Worker  # it needs Django's settings
    from webapp.running import housekeeping  # noqa: F401  # registers the chores

    gc.freeze()  # imported objects live as long as the process, so the garbage collector need not check them
    Worker(queue, size=processes, listen=lambda: listen(queue)).run()


def main() -> None:
    parser = argparse.ArgumentParser(description="Do the jobs of one queue.")
    parser.add_argument("queue", choices=(GENERATION, DEFAULT))
    parser.add_argument("--processes", type=int, required=True, help="number of processes that do jobs")
    options = parser.parse_args()
    django.setup()
    run(options.queue, processes=options.processes)


if __name__ == "__main__":
    main()
